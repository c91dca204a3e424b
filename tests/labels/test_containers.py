"""Tables and columns are unwrapped and wrapped again, with their types, names and indexes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from tests.label_cases import NAMES, NUMBER_TABLES, NUMBERS, TABLES, same

from palmette.exceptions import LabelError
from palmette.labels._containers import (
    Container,
    column_names,
    row_index,
    stack_columns,
    to_pandas,
    to_polars,
    to_pyarrow,
    unwrap,
)

COLUMNS = [
    *((f"names: {k}", build(["b", "a", "b"])) for k, build in NAMES.items()),
    *((f"numbers: {k}", build([3, 1, 3])) for k, build in NUMBERS.items()),
    *((f"tables: {k}", build([("a",), ("a", "b")])) for k, build in TABLES.items()),
    *((f"number tables: {k}", build([(2,), (2, 3)])) for k, build in NUMBER_TABLES.items()),
]


@pytest.mark.parametrize("y", [y for _, y in COLUMNS], ids=[name for name, _ in COLUMNS])
def test_what_is_unwrapped_is_wrapped_again(y):
    values, container = unwrap(y)
    if isinstance(values, list):
        array = np.empty(len(values), dtype=object)
        array[:] = values
        values = array
    assert values.ndim in (1, 2)
    assert len(values) == len(y)
    assert same(container.wrap(values, row_index(y)), y)


def test_missing_cells_stay_missing():
    values, _ = unwrap(pd.DataFrame({"a": ["x", None], "b": [1, pd.NA]}))
    assert pd.isna(values).tolist() == [[False, False], [True, True]]
    values, _ = unwrap(pl.DataFrame({"a": [1, None]}))
    assert values.tolist() == [[1], [None]]
    values, _ = unwrap(pa.array([1.5, None]))
    assert values.tolist() == [1.5, None]


@pytest.mark.parametrize(
    ("columns", "dtype"),
    [
        ([np.array([1, 2]), np.array([True, False])], np.int64),
        ([np.array([1], np.int8), np.array([1], np.int16)], np.int16),
        ([np.array([0.5]), np.array([0.5], np.float32)], np.float64),
        ([np.array([1]), np.array([0.0])], np.float64),  # zeros and ones: an indicator
        ([np.array([2]), np.array([0.0])], object),
        ([np.array([2**63], np.uint64), np.array([-1])], object),
        ([np.array(["a"], dtype=object), np.array([1])], object),
        ([], object),
    ],
)
def test_columns_are_stacked_without_loss(columns, dtype):
    table = stack_columns(columns, 1 if columns else 3)
    assert table.dtype == dtype
    for i, column in enumerate(columns):
        assert table[:, i].tolist() == column.tolist()


def test_dates_in_tables_stay_dates():
    moment = np.array(["2020-01-01T00:00:00.000000001"], dtype="datetime64[ns]")
    table = stack_columns([moment, np.array(["a"], dtype=object)], 1)
    assert table[0, 0] == moment[0]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_matrices_remember_their_class(kind):
    values, container = unwrap(kind(np.eye(2)))
    assert isinstance(values, sparse.csr_array)
    assert container.kind is kind


def test_columns_that_cannot_hold_the_values_change_their_type():
    mixed = np.array([1, "a"], dtype=object)
    assert to_pandas(mixed, np.dtype(int), None).tolist() == [1, "a"]
    assert to_pandas(mixed, pd.CategoricalDtype([1]), None).tolist() == [1, "a"]
    assert to_pandas(np.array(["a"], dtype=object), None, None).dtype == pd.Series(["a"]).dtype
    assert to_polars(mixed, pl.Int64, "x").to_list() == [1, "a"]
    assert to_polars(np.array([1, 300]), pl.Int8, "x").to_list() == [1, 300]
    assert to_pyarrow(mixed, pa.int64()).to_pylist() == ["1", "a"]
    assert to_pyarrow(np.array([1, 300]), pa.int8()).to_pylist() == [1, 300]


def test_a_plain_container_wraps_nothing():
    values = np.array([1, 2])
    assert Container("numpy").wrap(values) is values
    assert Container("list").wrap(values) == [1, 2]
    assert Container("list", kind=tuple).wrap(values) == (1, 2)


def test_column_names():
    assert column_names(pd.DataFrame({"a": [1], "b": [2]})) == ["a", "b"]
    assert column_names(pl.DataFrame({"a": [1]})) == ["a"]
    assert column_names(pa.table({"a": [1]})) == ["a"]
    assert column_names(pa.RecordBatch.from_pydict({"a": [1]})) == ["a"]
    assert column_names(np.eye(2)) is None
    assert column_names([1]) is None


def test_row_indexes_are_those_of_pandas():
    assert row_index(pd.Series([1], index=[5])).tolist() == [5]
    assert row_index(pd.DataFrame({"a": [1]}, index=[5])).tolist() == [5]
    for other in (np.eye(2), [1], pl.Series([1]), pa.array([1]), pd.Index([1]), pd.NA):
        assert row_index(other) is None


@pytest.mark.parametrize("y", ["ab", None, 3, {}, iter([1]), memoryview(b"ab"), bytearray(b"ab")])
def test_what_is_no_container(y):
    with pytest.raises(LabelError, match="expected one label per row"):
        unwrap(y)
