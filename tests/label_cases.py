"""The forms in which people have `y`: builders of each, and what it means to be the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
from scipy import sparse

from palmette.hierarchy._hierarchy import Hierarchy

__all__ = ["INDICATORS", "NAMES", "NUMBERS", "NUMBER_TABLES", "PATHS", "SETS", "TABLES", "same"]


def objects(values: Any) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def index(n_rows: int) -> pd.Index:
    return pd.Index(range(100, 100 + n_rows), name="row")


# ---------------------------------------------------------------------- one label a row

# a list of strings -> y
NAMES = {
    "list": list,
    "tuple": tuple,
    "numpy": lambda y: np.array(y, dtype=str),
    "numpy objects": objects,
    "numpy strings": lambda y: np.array(y, dtype=np.dtypes.StringDType()),
    "numpy bytes": lambda y: np.array([name.encode() for name in y], dtype="S"),
    "numpy column": lambda y: np.array(y, dtype=str).reshape(-1, 1),
    "object column": lambda y: objects(y).reshape(-1, 1),
    "pandas": lambda y: pd.Series(y, index(len(y)), dtype="str", name="label"),
    "pandas objects": lambda y: pd.Series(y, index(len(y)), dtype=object),
    "pandas string": lambda y: pd.Series(y, index(len(y)), dtype="string"),
    "pandas arrow": lambda y: pd.Series(y, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": lambda y: pd.Series(y, index(len(y)), name="label").astype("category"),
    "pandas column": lambda y: pd.DataFrame({"label": y}, index(len(y)), dtype="str"),
    "polars": lambda y: pl.Series("label", y, dtype=pl.String),
    "polars category": lambda y: pl.Series("label", y, dtype=pl.Categorical),
    "polars column": lambda y: pl.DataFrame({"label": y}, schema={"label": pl.String}),
    "pyarrow": lambda y: pa.array(y, type=pa.string()),
    "pyarrow chunks": lambda y: pa.chunked_array([y], type=pa.large_string()),
    "pyarrow dictionary": lambda y: pa.array(y, type=pa.dictionary(pa.int32(), pa.string())),
    "pyarrow column": lambda y: pa.table({"label": pa.array(y, type=pa.string())}),
}

# a list of small integers -> y
NUMBERS = {
    "list": list,
    "list of floats": lambda y: [float(v) for v in y],
    "int64": lambda y: np.array(y, dtype=np.int64),
    "int8": lambda y: np.array(y, dtype=np.int8),
    "uint16": lambda y: np.array(y, dtype=np.uint16),
    "float32": lambda y: np.array(y, dtype=np.float32),
    "objects": objects,
    "column": lambda y: np.array(y, dtype=np.int32).reshape(-1, 1),
    "dates": lambda y: np.array(y, dtype="datetime64[ns]"),
    "days": lambda y: np.array(y, dtype="datetime64[D]"),
    "complex": lambda y: np.array(y, dtype=complex),
    "pandas": lambda y: pd.Series(y, index(len(y)), dtype=np.int16, name="label"),
    "pandas dates": lambda y: pd.Series(y, dtype="datetime64[us]"),
    "pandas nullable": lambda y: pd.Series(y, index(len(y)), dtype="Int64"),
    "pandas arrow": lambda y: pd.Series(y, dtype=pd.ArrowDtype(pa.int32())),
    "pandas category": lambda y: pd.Series(y, dtype=np.int64).astype("category"),
    "polars": lambda y: pl.Series("label", y, dtype=pl.UInt32),
    "pyarrow": lambda y: pa.array(y, type=pa.int8()),
}


# ---------------------------------------------------------------------- a path a row


def padded(paths: list[tuple[Any, ...]], padding: Any) -> np.ndarray:
    """Make a table of objects that is two columns wide at least."""
    width = max([2, *map(len, paths)])
    table = np.empty((len(paths), width), dtype=object)
    for i, path in enumerate(paths):
        table[i] = [*path, *[padding] * (width - len(path))]
    return table


def columns_of(table: np.ndarray) -> dict[str, list[Any]]:
    return {f"level {i}": column.tolist() for i, column in enumerate(table.T)}


# a list of tuples of strings -> y
TABLES = {
    "None": lambda y: padded(y, None),
    "NaN": lambda y: padded(y, np.nan),
    "NA": lambda y: padded(y, pd.NA),
    "empty": lambda y: padded(y, ""),
    "numpy": lambda y: padded(y, "").astype(str),
    "numpy strings": lambda y: padded(y, "").astype(np.dtypes.StringDType()),
    "pandas": lambda y: pd.DataFrame(padded(y, None), index(len(y)), dtype="str"),
    "pandas objects": lambda y: pd.DataFrame(padded(y, None), dtype=object),
    "pandas NaN": lambda y: pd.DataFrame(padded(y, np.nan), dtype=object),
    "pandas empty": lambda y: pd.DataFrame(columns_of(padded(y, "")), dtype=object),
    "pandas string": lambda y: pd.DataFrame(columns_of(padded(y, None)), dtype="string"),
    "pandas category": lambda y: pd.DataFrame(columns_of(padded(y, None))).astype("category"),
    "polars": lambda y: pl.DataFrame(
        columns_of(padded(y, None)),
        schema_overrides=dict.fromkeys(columns_of(padded(y, None)), pl.String),
    ),
    "pyarrow": lambda y: pa.table(
        {k: pa.array(v, type=pa.string()) for k, v in columns_of(padded(y, None)).items()}
    ),
    "pyarrow batch": lambda y: pa.RecordBatch.from_pydict(
        {k: pa.array(v, type=pa.string()) for k, v in columns_of(padded(y, None)).items()}
    ),
}

# a list of tuples of integers from 2 on -> y
NUMBER_TABLES = {
    "float": lambda y: padded(y, np.nan).astype(np.float64),
    "float32": lambda y: padded(y, np.nan).astype(np.float32),
    "objects": lambda y: padded(y, None),
    "int": lambda y: padded([(*path, 9)[:2] for path in y], 9).astype(np.int16),
    "pandas": lambda y: pd.DataFrame(padded(y, np.nan).astype(float), index(len(y))),
    "pandas mixed": lambda y: pd.DataFrame(
        {"top": [path[0] for path in y], "below": [*map(float, padded(y, np.nan)[:, 1])]}
    ).astype({"top": np.int64, "below": float}),
    "pandas nullable": lambda y: pd.DataFrame(padded(y, pd.NA), dtype="Int64"),
    "polars": lambda y: pl.DataFrame(
        columns_of(padded(y, None)),
        schema_overrides=dict.fromkeys(columns_of(padded(y, None)), pl.Int32),
    ),
    "pyarrow": lambda y: pa.table(
        {k: pa.array(v, type=pa.int64()) for k, v in columns_of(padded(y, None)).items()}
    ),
}

# a list of tuples -> y
PATHS = {
    "tuples": list,
    "tuple of tuples": tuple,
    "lists": lambda y: [list(path) for path in y],
    "object array of tuples": objects,
    "object array of lists": lambda y: objects([list(path) for path in y]),
    "pandas tuples": lambda y: pd.Series(y, index(len(y)), dtype=object, name="label"),
    "pandas lists": lambda y: pd.Series([list(path) for path in y], index(len(y)), dtype=object),
    "polars lists": lambda y: pl.Series(
        "label", [list(path) for path in y], dtype=pl.List(pl.String)
    ),
    "pyarrow lists": lambda y: pa.array([list(path) for path in y], type=pa.list_(pa.string())),
    "padded tuples": lambda y: [tuple(row) for row in padded(y, None)],
    "padded lists": lambda y: [list(row) for row in padded(y, "")],
}


# ---------------------------------------------------------------------- several labels a row

# a list of frozensets of nodes, and a function that writes a node -> y
SETS = {
    "sets": lambda y, write: [{*map(write, row)} for row in y],
    "frozensets": lambda y, write: [frozenset(map(write, row)) for row in y],
    "object array": lambda y, write: objects([{*map(write, row)} for row in y]),
    "pandas": lambda y, write: pd.Series(
        [{*map(write, row)} for row in y], index(len(y)), dtype=object, name="labels"
    ),
}


def dense(rows: list[frozenset[int]], columns: Any) -> np.ndarray:
    return np.array([[node in row for node in columns] for row in rows], dtype=bool).reshape(
        len(rows), len(columns)
    )


def named(h: Hierarchy, columns: Any) -> list[str]:
    return [h.path_strings[node] for node in columns]


# a list of frozensets of nodes, the nodes of the columns, the hierarchy -> y
INDICATORS = {
    "bool": lambda y, columns, h: dense(y, columns),
    "int8": lambda y, columns, h: dense(y, columns).astype(np.int8),
    "float": lambda y, columns, h: dense(y, columns).astype(float),
    "float16": lambda y, columns, h: dense(y, columns).astype(np.float16),
    "big-endian": lambda y, columns, h: dense(y, columns).astype(">i2"),
    "csr": lambda y, columns, h: sparse.csr_array(dense(y, columns).astype(np.int8)),
    "csr matrix": lambda y, columns, h: sparse.csr_matrix(dense(y, columns).astype(float)),
    "csc": lambda y, columns, h: sparse.csc_array(dense(y, columns)),
    "coo": lambda y, columns, h: sparse.coo_array(dense(y, columns).astype(np.uint8)),
    "pandas": lambda y, columns, h: pd.DataFrame(
        dense(y, columns).astype(int), index(len(y)), columns=named(h, columns)
    ),
    "pandas bool": lambda y, columns, h: pd.DataFrame(dense(y, columns), columns=named(h, columns)),
    "pandas nullable": lambda y, columns, h: pd.DataFrame(
        dense(y, columns), columns=named(h, columns), dtype="boolean"
    ),
    "pandas unnamed": lambda y, columns, h: pd.DataFrame(dense(y, columns).astype(np.uint8)),
    "polars": lambda y, columns, h: pl.DataFrame(
        dense(y, columns).astype(np.int8), schema=named(h, columns)
    ),
    "pyarrow": lambda y, columns, h: pa.table(
        [pa.array(c) for c in dense(y, columns).astype(np.int32).T], names=named(h, columns)
    ),
}


# ---------------------------------------------------------------------- the same


def same(a: Any, b: Any) -> bool:
    """Whether two objects are of one type, with equal values of equal types in them."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        alike = a.shape == b.shape and a.dtype.kind == b.dtype.kind
        exact = a.dtype == b.dtype or a.dtype.kind in "US"  # widths may differ
        return alike and exact and same(a.tolist(), b.tolist())
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, set | frozenset):
        return a == b and sorted(map(repr, a)) == sorted(map(repr, b))
    if sparse.issparse(a):
        return a.shape == b.shape and a.dtype == b.dtype and (a != b).nnz == 0
    if isinstance(a, pd.DataFrame):
        return _passes(pd.testing.assert_frame_equal, a, b)
    if isinstance(a, pd.Series):
        return _passes(pd.testing.assert_series_equal, a, b)
    if isinstance(a, pl.DataFrame):
        return _passes(pl.testing.assert_frame_equal, a, b)
    if isinstance(a, pl.Series):
        return _passes(pl.testing.assert_series_equal, a, b)
    if isinstance(a, pa.Table | pa.RecordBatch):
        return a.schema == b.schema and a.equals(b)
    if isinstance(a, pa.Array | pa.ChunkedArray):
        return a.type == b.type and a.equals(b)
    return a is b or a == b or (a != a and b != b)


def _passes(check: Any, a: Any, b: Any) -> bool:
    try:
        check(a, b)
    except AssertionError:
        return False
    return True
