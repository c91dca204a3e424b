"""Which form is which; invalid labels are named with their row, and junk gives our errors only."""

from __future__ import annotations

import contextlib
import datetime as dt
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from tests.strategies import junk, quick

from palmette.exceptions import HierarchyError, LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.labels._readers import _distinct_rows

PETS = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
TWINS = Hierarchy.from_paths([("a", "x"), ("b", "x")])
DAG = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
nan = float("nan")


# ---------------------------------------------------------------------- telling forms apart


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (["a", "b"], "names"),
        ([1, 0], "names"),
        ([None][:0], "names"),
        (range(3), "names"),
        (pd.Index(["a", "b"]), "names"),
        (pd.Categorical(["a", "b"]), "names"),
        (np.array([[1], [0]]), "names"),
        (np.array([["a", "b"]]), "table"),
        (np.array([[0, 1], [2, 0]]), "table"),
        (np.array([[0.0, nan], [1.0, 1.0]]), "table"),
        ([["a", "b"]], "paths"),
        ([("a", "b"), ("c",)], "paths"),
        ([[0, 1], [1, 0]], "paths"),
        ([()], "paths"),
        (pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), "paths"),
        ([{"a"}, set()], "sets"),
        ([frozenset()], "sets"),
        ([[("a", "b")], []], "sets"),
        ([[["a", "b"], ["c"]]], "sets"),
        (np.array([[0, 1], [1, 0]]), "indicator"),
        (np.array([[0.0, 1.0]]), "indicator"),
        (np.array([[True, False]]), "indicator"),
        (sparse.csr_array(np.eye(2)), "indicator"),
        (sparse.csr_array(np.ones((2, 1))), "indicator"),
        (pd.DataFrame({"a": [0, 1], "b": [True, False]}), "indicator"),
        (pd.DataFrame({"a": [0, 1], "b": [0.0, 1.0]}), "indicator"),
        (pl.DataFrame({"a": [0, 1], "b": [True, False]}), "indicator"),
    ],
)
def test_kinds(y, kind):
    assert NodeLabels.encode(y).form.kind == kind


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_numpys_matrices_are_arrays():
    assert NodeLabels.encode(np.matrix([[0, 2], [1, 0]])).form.kind == "table"
    assert NodeLabels.encode(np.matrix([["a"], ["b"]])).decode().tolist() == [["a"], ["b"]]


def test_a_star_over_names_and_a_tree_from_paths():
    assert NodeLabels.encode(["b", "a", "b"]).hierarchy == Hierarchy.star(["a", "b"])
    tree = Hierarchy.from_paths([("a",), ("b", "c")])
    for y in ([("b", "c"), ("a",)], [{("b", "c"), ("a",)}], [{("b", "c"), "a"}]):
        assert NodeLabels.encode(y).hierarchy == tree
    assert NodeLabels.encode(["b/c", "a"]).hierarchy == Hierarchy.star(["a", "b/c"])


def test_the_hierarchy_does_not_depend_on_the_order_of_rows():
    y = [("b", "x"), ("a", "y"), ("a", "x"), ("b",)]
    assert NodeLabels.encode(y).hierarchy == NodeLabels.encode(y[::-1]).hierarchy


def test_names_like_that_of_the_root():
    labels = NodeLabels.encode(["root", "leaf", "stem"])
    assert labels.decode() == ["root", "leaf", "stem"]
    again = NodeLabels.encode(["stem", "root"], labels.hierarchy)
    assert again.decode() == ["stem", "root"]
    assert (again.terminals > 0).all()


def test_bare_names_of_two_branches_need_their_path():
    assert NodeLabels.encode(["a/x", "b/x"], TWINS).terminals.tolist() == [2, 4]
    assert NodeLabels.encode([("a", "x"), ("b", "x")], TWINS).terminals.tolist() == [2, 4]
    with pytest.raises(HierarchyError) as caught:
        NodeLabels.encode(["a", "x"], TWINS)
    assert str(caught.value) == "y[1] = 'x' is ambiguous: 'a/x', 'b/x'. Give the path."


def test_names_and_sets_for_dags():
    assert NodeLabels.encode(["c", "a"], DAG).terminals.tolist() == [3, 1]
    assert NodeLabels.encode([{"c"}, {"a", "b"}], DAG).decode() == [{"c"}, {"a", "b"}]
    assert NodeLabels.encode([{("a", "c")}, {("b", "c")}], DAG).terminals.tolist() == [3, 3]
    with pytest.raises(HierarchyError, match=r"y as paths .* needs a tree"):
        NodeLabels.encode([("a", "c")], DAG)


# ---------------------------------------------------------------------- errors


def test_the_message_of_the_manual():
    message = (
        "y[1] = 'animal/wolf' is not in the hierarchy (6 nodes, e.g. 'animal/cat', 'animal/dog'). "
        "Add the node or drop the row."
    )
    unknown = [("animal", "cat"), ("animal", "wolf")]
    for y in (
        unknown,
        np.array(unknown),
        pd.DataFrame(unknown),
        pl.DataFrame(unknown, orient="row"),
        ["animal/cat", "animal/wolf"],
        [[("plant", "oak")], unknown],
    ):
        with pytest.raises(HierarchyError) as caught:
            NodeLabels.encode(y, PETS)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["cat", None], r"y\[1\] is missing \(None\)"),
        (["cat", nan], r"y\[1\] is missing \(nan\)"),
        (["cat", ""], r"y\[1\] is missing \(''\)"),
        (np.array([1.0, nan]), r"y\[1\] is missing \(nan\). Fill it in or drop the row"),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]"), r"y\[1\] is missing"),
        (pd.Series(["cat", None], dtype="string"), r"y\[1\] is missing"),
        (pd.Series([1, None], dtype="Int64"), r"y\[1\] is missing \(<NA>\)"),
        (pl.Series(["cat", None]), r"y\[1\] is missing"),
        (pa.array([1, None]), r"y\[1\] is missing"),
        ([None, ("a", "b")], r"y\[0\] is missing \(None\)"),
        ([{"a"}, None], r"y\[1\] is missing"),
        (pd.Series([["a"], nan]), r"y\[1\] is missing"),
        ([{"a", None}], r"y\[0\] contains the missing label None"),
        ([{"a"}, {nan}], r"y\[1\] contains the missing label nan"),
        ([("a", None, "b")], r"y\[0\] = \('a', None, 'b'\) has an empty name inside the path"),
        ([["a"], ["", "b"]], r"y\[1\] .*inside"),
        (np.array([["a", "b"], ["", "b"]]), r"y\[1\] .*inside"),
        (np.array([[2, 3], [nan, 3]]), r"y\[1\] .*inside"),
        ([{("a", None, "b")}], r"y\[0\] .*inside"),
        ([("a", "b"), "c"], r"y\[1\] = 'c' is a str, but y\[0\] = \('a', 'b'\) is a tuple"),
        (["c", ("a", "b")], r"y\[1\] = \('a', 'b'\) is a tuple, but y\[0\] = 'c' is a str"),
        ([("a",), ["b"]], r"y\[1\] = \['b'\] is a list.*expected rows of one type"),
        ([{"a"}, ["b"]], r"y\[1\] = \['b'\] is a list"),
        ([["a", ("b", "c")]], r"y\[0\] = .* contains paths, but other members"),
        ([["a"], [("b", "c")]], r"y\[1\] = .* contains paths"),
        ([{"x": 1}], r"y\[0\] = .* of type dict is not a label"),
        (["a", {}], r"y\[1\] = {} of type dict is not a label"),
        ([("a", {})], r"y\[0\] = .* of type tuple is not a label"),
        ([[[{}]]], r"a label of y\[0\] = .* is not a label"),
        (np.array([["a", []], ["b", "c"]], dtype=object), r"y\[0, 1\] = \[\] of type list"),
        (pl.Series([{"a": 1}]), "of type dict is not a label"),
        (np.zeros((2, 2, 2)), r"y has 3 dimensions \(shape \(2, 2, 2\)"),
        (np.array(3), "y has 0 dimensions"),
        (np.float64(3), "y has 0 dimensions"),
        (np.zeros(2, dtype=[("a", int)]), "type .*'a'"),
        (np.empty((3, 0)), r"shape \(3, 0\): expected at least one column"),
        (pd.DataFrame(index=[1, 2]), "expected at least one column"),
        (sparse.coo_array(np.ones(3)), r"sparse array of shape \(3,\)"),
        ("cat", "y is 'cat' of type str: expected one label per row"),
        (b"cat", "type bytes"),
        (None, "y is None"),
        (5, "y is 5 of type int"),
        ({"a": 1}, "type dict"),
        ({"a", "b"}, "type set"),
        ((c for c in "ab"), "type generator"),
        (pd.NA, "type NAType"),
        (pd.Timestamp("2020-01-01"), "type Timestamp"),
        (pl.LazyFrame({"a": [1]}), "type LazyFrame"),
        (pa.scalar(3), "type Int64Scalar"),
        (dt.datetime(2020, 1, 1), "type datetime"),
        (len, "type builtin_function_or_method"),
    ],
)
def test_what_is_no_label(y, message):
    with pytest.raises(PalmetteError, match=message):
        NodeLabels.encode(y)


def test_an_array_that_is_none():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("on another device")

    with pytest.raises(LabelError, match="Broken has no array: on another device"):
        NodeLabels.encode(Broken())


@pytest.mark.parametrize(
    ("y", "row"),
    [
        (["cat", "dog", "wolf", "lion"], 2),
        ([("animal", "cat"), ("animal",), ("cat",)], 2),
        (np.array([["animal", "cat"], ["animal", ""], ["plant", "cat"]]), 2),
        ([{"cat", "dog"}, {"oak"}, set(), {"oak", "wolf"}], 3),
        ([[("plant",)], [("animal", "cat"), ("wolf",)]], 1),
        ([1], 0),
        ([("animal", 3)], 0),
    ],
)
def test_the_first_row_that_is_not_in_the_hierarchy_is_named(y, row):
    with pytest.raises(HierarchyError, match=re.escape(f"y[{row}] = ") + ".*not in the hierarchy"):
        NodeLabels.encode(y, PETS)


# ---------------------------------------------------------------------- junk


def encodes_or_raises(y):
    for hierarchy in (None, PETS, DAG):
        with contextlib.suppress(PalmetteError):
            labels = NodeLabels.encode(y, hierarchy)
            labels.decode()
            assert labels.closed.shape == (labels.n_samples, labels.hierarchy.n_nodes)
            assert labels.specific.nnz <= labels.given.nnz


@settings(quick, max_examples=100)
@given(junk)
def test_junk_raises_our_errors_only(y):
    encodes_or_raises(y)


@settings(quick, max_examples=100)
@given(st.lists(junk, max_size=4))
def test_rows_of_junk_raise_our_errors_only(rows):
    encodes_or_raises(rows)
    array = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        array[i] = row
    encodes_or_raises(array)
    encodes_or_raises(array.reshape(-1, 1))
    encodes_or_raises(np.array([array, array]).T)
    encodes_or_raises(pd.Series(array, dtype=object))


@settings(quick, max_examples=100)
@given(
    hnp.arrays(
        hnp.scalar_dtypes() | hnp.unicode_string_dtypes() | hnp.byte_string_dtypes(),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    )
)
def test_arrays_of_any_type_and_shape_raise_our_errors_only(y):
    encodes_or_raises(y)


@settings(quick, max_examples=60)
@given(st.lists(st.sampled_from(["cat", "animal", "dog", "", None, nan, 0, 1]), max_size=6))
def test_tables_of_junk_raise_our_errors_only(cells):
    for n_columns in (1, 2, 3):
        n_rows = len(cells) // n_columns
        table = np.array(cells[: n_rows * n_columns], dtype=object).reshape(n_rows, n_columns)
        encodes_or_raises(table)
        encodes_or_raises(pd.DataFrame(table))
        encodes_or_raises([tuple(row) for row in table])


# ---------------------------------------------------------------------- rows of codes


@quick
@given(st.integers(0, 4), st.data())
def test_distinct_rows_are_those_of_numpy(n_columns, data):
    n_rows = data.draw(st.integers(0, 8))
    table = data.draw(hnp.arrays(np.int64, (n_rows, n_columns), elements=st.integers(0, 2)))
    for size in (3, 2**40):  # with the large one the key has to be made small in between
        first, kind = _distinct_rows(list(table.T), [size] * n_columns, n_rows)
        rows = [tuple(row) for row in table.tolist()]
        assert [rows[i] for i in first] == list(dict.fromkeys(rows))
        assert [rows[first[k]] for k in kind] == rows
