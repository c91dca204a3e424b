"""NodeLabels: what comes in any form goes out the same; views equal brute force."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.label_cases import (
    INDICATORS,
    NAMES,
    NUMBER_TABLES,
    NUMBERS,
    PATHS,
    SETS,
    TABLES,
    same,
)
from tests.strategies import any_names, hierarchies, label_sets, node_lists, quick, texts, trees

from palmette.exceptions import HierarchyError, LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

PETS = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
few = settings(quick, max_examples=8)


# ---------------------------------------------------------------------- out as it came in


@st.composite
def labelled(draw, **options):
    """A tree and a node for every row, the root left out."""
    h = draw(trees(max_nodes=8))
    return h, draw(node_lists(h, root=False, **options))


@few
@given(labelled())
def test_names(case):
    h, nodes = case
    for form, build in NAMES.items():
        note(form)
        y = build([h.path_strings[node] for node in nodes])
        assert same(NodeLabels.encode(y).decode(), y)
        if form != "numpy bytes":
            labels = NodeLabels.encode(y, h)
            assert labels.terminals.tolist() == nodes
            assert same(labels.decode(), y)


@few
@given(st.lists(st.integers(1, 9), max_size=8))
def test_numbers_stay_numbers(values):
    h = Hierarchy.from_paths([("odd" if i % 2 else "even", i) for i in range(1, 10)])
    for form, build in NUMBERS.items():
        note(form)
        y = build(values)
        labels = NodeLabels.encode(y)
        assert same(labels.decode(), y)
        if not any(word in form for word in ("float", "dates", "days", "complex")):
            assert all(type(name) is int for name in labels.hierarchy.names[1:])
            given_labels = NodeLabels.encode(y, h)
            assert same(given_labels.decode(), y)
            assert given_labels.terminals.tolist() == [h.index(value) for value in values]


@few
@given(labelled())
def test_tables(case):
    h, nodes = case
    for form, build in TABLES.items():
        note(form)
        y = build([h.path(node) for node in nodes])
        assert same(NodeLabels.encode(y).decode(), y)
        labels = NodeLabels.encode(y, h)
        assert labels.terminals.tolist() == nodes
        assert same(labels.decode(), y)


@few
@given(st.lists(st.lists(st.integers(2, 8), min_size=1, max_size=2).map(tuple), max_size=6))
def test_tables_of_numbers(paths):
    for form, build in NUMBER_TABLES.items():
        note(form)
        y = build(paths)
        labels = NodeLabels.encode(y)
        assert same(labels.decode(), y)
        if paths and form in ("objects", "int", "pandas nullable", "polars", "pyarrow"):
            assert all(type(name) is int for name in labels.hierarchy.names[1:])


def test_columns_of_a_table_keep_their_types():
    y = pd.DataFrame({"top": [1, 1, 2], "below": [0.5, np.nan, 1.5], "name": ["x", None, None]})
    labels = NodeLabels.encode(y)
    assert labels.hierarchy.path(1) == (1,)
    assert labels.hierarchy.index((1, 0.5, "x")) == 3
    assert same(labels.decode(), y)


@few
@given(st.data())
def test_paths(data):
    h = data.draw(trees(max_nodes=8))
    nodes = data.draw(node_lists(h, root=True))
    for form, build in PATHS.items():
        note(form)
        y = build([h.path(node) for node in nodes])
        if len(y) == 0 and form not in ("tuples", "tuple of tuples"):
            continue  # an empty column does not tell paths from names
        assert same(NodeLabels.encode(y).decode(), y)
        labels = NodeLabels.encode(y, h)
        assert labels.terminals.tolist() == nodes
        assert same(labels.decode(), y)


@pytest.mark.parametrize("names", [texts, any_names], ids=["text", "any"])
@quick
@given(st.data())
def test_paths_of_any_names(names, data):
    h = data.draw(trees(names=names, max_nodes=8))
    nodes = data.draw(node_lists(h))
    y = [h.path(node) for node in nodes]
    if any(isinstance(name, tuple) for path in y for name in path):
        return  # a tuple in a row is a path
    labels = NodeLabels.encode(y, h)
    assert labels.terminals.tolist() == nodes
    assert same(labels.decode(), y)
    assert same(NodeLabels.encode(y).decode(), y)


@quick
@given(st.lists(any_names.filter(lambda name: not isinstance(name, tuple)), max_size=8))
def test_names_of_any_type_in_lists_and_object_arrays(y):
    first = {name: name for name in reversed(y)}  # 1 and 1.0 are one label
    y = [first[name] for name in y]
    array = np.empty(len(y), dtype=object)
    array[:] = y
    labels = NodeLabels.encode(y)
    assert same(labels.decode(), y)
    assert same(NodeLabels.encode(array).decode(), array)
    # and the hierarchy that was made of them finds them again
    again = NodeLabels.encode(y, labels.hierarchy)
    assert again.terminals.tolist() == labels.terminals.tolist()


@quick
@given(st.sampled_from(["path", "tuple", "name"]), st.data())
def test_sets(written, data):
    h = data.draw(trees(max_nodes=8))
    if written == "name":
        h = Hierarchy.from_parents(h.parents, range(h.n_nodes))
    rows = data.draw(label_sets(h).filter(len))
    write = {"path": h.path_strings.__getitem__, "tuple": h.path, "name": h.names.__getitem__}
    for form, build in SETS.items():
        note(form)
        y = build(rows, write[written])
        assert same(NodeLabels.encode(y).decode(), y)
        labels = NodeLabels.encode(y, h)
        given = labels.given
        assert [set(row) for row in np.split(given.indices, given.indptr[1:-1])] == rows
        assert same(labels.decode(), y)


@pytest.mark.parametrize("row_type", [list, tuple])
@few
@given(st.data())
def test_lists_of_paths_keep_their_order(row_type, data):
    h = data.draw(trees(max_nodes=8))
    nodes = st.lists(st.integers(0, h.n_nodes - 1), unique=True, max_size=4)
    rows = data.draw(st.lists(nodes, max_size=6))
    y = [row_type(h.path(node) for node in row) for row in rows]
    if not any(rows):
        return  # nothing tells that these are no paths
    for labels in (NodeLabels.encode(y), NodeLabels.encode(y, h)):
        assert same(labels.decode(), y)
    given = labels.given
    assert [row.tolist() for row in np.split(given.indices, given.indptr[1:-1])] == [
        sorted(row) for row in rows
    ]
    inner_lists = [[list(path) for path in row] for row in y]
    assert NodeLabels.encode(inner_lists, h).given.indices.tolist() == given.indices.tolist()


@settings(quick, max_examples=25)
@given(st.data())
def test_indicators(data):
    h = data.draw(trees(max_nodes=8).filter(lambda h: h.n_nodes > 3))
    shuffled = data.draw(st.permutations(range(1, h.n_nodes)))
    rows = data.draw(label_sets(h, root=True))
    # each form with one choice of columns, another in the next example
    first = data.draw(st.integers(0, 3))
    choices = [range(h.n_nodes), range(1, h.n_nodes), h.leaves.tolist(), shuffled]
    for i, (form, build) in enumerate(INDICATORS.items(), first):
        columns = choices[i % 4]
        is_named = form in ("pandas", "pandas bool", "pandas nullable", "polars", "pyarrow")
        if len(columns) < 2 or (columns is shuffled and not is_named):
            continue
        if is_named and h.names[0] in h.names[1:]:
            continue  # the name of the root would be another node's
        note(form)
        y = build(rows, columns, h)
        labels = NodeLabels.encode(y, h)
        kept = [sorted(row & set(columns)) for row in rows]
        given = labels.given
        assert [row.tolist() for row in np.split(given.indices, given.indptr[1:])][:-1] == kept
        assert same(labels.decode(), y)
        star = NodeLabels.encode(y)
        assert star.hierarchy.n_nodes == len(columns) + 1
        assert same(star.decode(), y)


def test_labels_without_rows():
    for y in (
        [],
        (),
        np.empty(0),
        np.empty(0, dtype=int),
        np.empty(0, dtype="U3"),
        np.empty((0, 2)),
        np.empty((0, 3), dtype=object),
        np.empty((0, 2), dtype="U3"),
        np.empty((0, 1), dtype=object),
        pd.Series([], dtype="str"),
        pd.DataFrame({"a": [], "b": []}, dtype=object),
    ):
        for hierarchy in (None, PETS):
            labels = NodeLabels.encode(y, hierarchy)
            assert labels.n_samples == len(labels) == 0
            assert labels.closed.shape == labels.specific.shape == (0, labels.hierarchy.n_nodes)
            assert labels.terminals.tolist() == []
            assert labels.is_single_path
            assert same(labels.decode(), y)


def test_a_node_in_two_spellings_is_one_label():
    labels = NodeLabels.encode([{"cat", "animal/cat"}, {("animal", "cat"), "dog"}], PETS)
    assert labels.given.toarray().sum(axis=1).tolist() == [1, 2]
    assert NodeLabels.encode(["animal/cat", "cat"], PETS).decode() == ["animal/cat"] * 2
    assert NodeLabels.encode([[("plant",), ("plant",)]], PETS).decode() == [[("plant",)]]


def test_rows_of_arrays_are_lists():
    y = [np.array(["animal", "cat"]), np.array(["plant"])]
    assert NodeLabels.encode(y, PETS).decode() == [["animal", "cat"], ["plant"]]
    y = [np.array([["animal", "cat"], ["plant", "oak"]])]
    assert NodeLabels.encode(y, PETS).given.indices.tolist() == [2, 5]


def test_the_index_of_pandas_can_be_another():
    y = pd.Series(["cat", "dog"], index=[7, 8])
    labels = NodeLabels.encode(y, PETS)
    assert labels.decode().index.tolist() == [7, 8]
    assert labels.decode(index=pd.Index([1, 2])).index.tolist() == [1, 2]


def test_masked_cells_are_padding():
    y = np.ma.array([["animal", "cat"], ["plant", "?"]], mask=[[0, 0], [0, 1]], dtype=object)
    assert NodeLabels.encode(y, PETS).terminals.tolist() == [2, 4]
    with pytest.raises(LabelError, match=r"y\[1\] is missing"):
        NodeLabels.encode(np.ma.array([1, 2], mask=[0, 1]))


# ---------------------------------------------------------------------- views


def brute_force(h, rows):
    closed = np.zeros((len(rows), h.n_nodes), dtype=bool)
    specific = np.zeros((len(rows), h.n_nodes), dtype=bool)
    for i, row in enumerate(rows):
        for node in row:
            closed[i, h.ancestors(node, include_self=True)] = True
            specific[i, node] = not row & set(h.descendants(node).tolist())
    return closed, specific


def test_closed_labels_of_a_star_are_those_of_its_closure():
    h = Hierarchy.star("abcdef")
    rng = np.random.default_rng(0)
    for share in (0.0, 0.3, 0.9):
        listed = sparse.csr_array(rng.random((20, h.n_nodes)) < share)  # the root, too
        labels = NodeLabels(h, listed, NodeLabels.encode([{"a"}], h).form)
        wanted = sparse.csr_array(listed @ h.closure)
        wanted.sort_indices()
        for part in ("data", "indices", "indptr"):
            found, expected = getattr(labels.closed, part), getattr(wanted, part)
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype


@quick
@given(st.data())
def test_closed_and_specific_labels(data):
    h = data.draw(hierarchies())
    rows = data.draw(label_sets(h, root=True))
    names = [{h.path_strings[node] if h.is_tree else h.names[node] for node in row} for row in rows]
    if 0 in set().union(*rows) and h.names[0] in h.names[1:]:
        return
    labels = NodeLabels.encode(names or [set()], h)
    closed, specific = brute_force(h, rows or [set()])
    np.testing.assert_array_equal(labels.closed.toarray(), closed)
    np.testing.assert_array_equal(labels.specific.toarray(), specific)
    for view in (labels.given, labels.closed, labels.specific):
        assert view.dtype == bool
        assert view.has_canonical_format
        assert view.data.all()
    # with every label all that lies above it, and no two specific ones on one path
    above = labels.closed.astype(int) @ h.closure.astype(int)
    assert ((above > 0) != labels.closed).nnz == 0
    assert labels.is_single_path == bool((specific.sum(axis=1) == 1).all())
    if labels.is_single_path:
        assert labels.terminals.tolist() == specific.argmax(axis=1).tolist()
        assert labels.terminals.dtype == np.int32


def test_internal_nodes_and_the_root_are_labels():
    labels = NodeLabels.encode([("animal",), ("animal", "cat"), ()], PETS)
    assert labels.terminals.tolist() == [1, 2, 0]
    assert labels.closed.toarray().astype(int).tolist() == [
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0, 0],
    ]


def test_ancestors_that_are_listed_do_not_make_a_second_path():
    labels = NodeLabels.encode([{"animal", "cat"}, {"oak"}], PETS)
    assert labels.is_single_path
    assert labels.terminals.tolist() == [2, 5]
    assert labels.decode() == [{"animal", "cat"}, {"oak"}]


def test_rows_without_labels():
    labels = NodeLabels.encode([set(), {"cat"}], PETS)
    assert labels.closed.toarray().sum(axis=1).tolist() == [0, 3]
    assert not labels.is_single_path
    with pytest.raises(
        LabelError, match=r"1 of 2 rows do not have one path \(row 0 has no label\)"
    ):
        _ = labels.terminals
    assert NodeLabels.encode([set(), set()]).decode() == [set(), set()]


def test_several_paths_are_no_single_one():
    with pytest.raises(LabelError, match=r"row 1 has 2 paths.*several paths"):
        _ = NodeLabels.encode([{"cat"}, {"cat", "oak"}], PETS).terminals


@pytest.mark.parametrize(
    ("y", "lists"),
    [
        ([{"animal", "cat"}, {"plant"}], True),
        ([{"cat"}, {"plant"}], False),
        ([{"animal", "cat"}, {"oak"}], False),
        ([{"animal"}, {"plant"}], False),  # nothing lies above but the root
        (np.array([[0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0]]), False),  # the root has a column
        (np.array([[1, 1, 0, 0, 0], [0, 0, 0, 1, 0]]), True),
        (np.array([[0, 1, 0, 0, 0], [0, 0, 0, 1, 0]]), False),
    ],
)
def test_whether_rows_list_ancestors(y, lists):
    assert NodeLabels.encode(y, PETS).form.lists_ancestors is lists


def test_from_terminals():
    form = NodeLabels.encode(["cat"], PETS).form
    labels = NodeLabels.from_terminals(np.array([2, 1]), PETS, form)
    assert labels.decode() == ["cat", "animal"]
    assert labels.closed.toarray().sum() == 5


def test_labels_are_pickled():
    labels = NodeLabels.encode(pd.Series(["cat", "dog"]), PETS)
    again = pickle.loads(pickle.dumps(labels))
    assert same(again.decode(), labels.decode())


def test_a_hierarchy_is_asked_for():
    with pytest.raises(HierarchyError, match=r"hierarchy is 'a' of type str: expected a palmette"):
        NodeLabels.encode(["a"], "a")


def test_y_is_left_as_it_was():
    array = np.array([["animal", "cat"], ["plant", None]], dtype=object)
    matrix = np.eye(5, dtype=np.int8)
    for y in (array, matrix):
        before = y.copy()
        labels = NodeLabels.encode(y, PETS)
        labels.decode()
        _ = labels.closed, labels.specific
        assert same(y, before)
