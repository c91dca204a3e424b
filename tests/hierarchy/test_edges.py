"""What is no path, edge or parent is named with its place."""

from __future__ import annotations

import contextlib

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from tests.strategies import junk, quick

from palmette.exceptions import HierarchyError
from palmette.hierarchy._graph import strip_padding
from palmette.hierarchy._hierarchy import Hierarchy

nan = float("nan")


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["a/b"], r"paths\[0\] = 'a/b' is a string: expected .*\('a', 'b'\)"),
        ([("a",), "b"], r"paths\[1\] = 'b' is a string"),
        ([b"ab"], "is a string"),
        ([("a", None, "b")], r"paths\[0\] = \('a', None, 'b'\) has an empty name inside"),
        ([("a",), (nan, "b")], r"paths\[1\] .*inside"),
        ([("a", "", nan, "b")], "inside"),
        ([{"a", "b"}], r"paths\[0\] .* is a set: expected a tuple or list"),
        ([3], r"paths\[0\] = 3 is a int"),
        ([None], "NoneType"),
        ([np.zeros((2, 2))], r"paths\[0\]"),
        ([("a", [])], r"paths\[0\] contains the name \[\] of type list: expected a string"),
        ("ab", "paths is 'ab' of type str: expected a list"),
        (5, "paths is 5"),
        (None, "paths is None"),
        (np.array(3), "paths is"),
    ],
)
def test_no_paths(paths, message):
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_paths(paths)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "a")], r"edges\[0\] makes 'a' its own parent. Delete it"),
        ([("a", "b"), ("a",)], r"edges\[1\] = \('a',\): expected a \(parent, child\) pair"),
        ([("a", "b", "c")], "pair"),
        (["ab"], r"edges\[0\] = 'ab'"),
        ([3], r"edges\[0\] = 3"),
        ([{"a", "b"}], "pair"),
        ([None], "pair"),
        ([("a", [])], r"edges\[0\] contains the name \[\] of type list"),
        ([({}, "a")], r"edges\[0\] contains the name {} of type dict"),
        ([("a", None)], "node 1 has the name None: expected a non-empty name"),
        ([("a", nan)], "has the name nan"),
        ([("", "a")], "has the name ''"),
        ([], "empty"),
        (3, "edges is 3"),
        (None, "edges is None"),
        ("ab", "edges is 'ab'"),
    ],
)
def test_no_edges(edges, message):
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_edges(edges)


def test_no_root():
    with pytest.raises(HierarchyError, match="root='b' has a parent in the edges"):
        Hierarchy.from_edges([("a", "b")], root="b")
    with pytest.raises(HierarchyError, match=r"root contains the name \[\]"):
        Hierarchy.from_edges([("a", "b")], root=[])
    with pytest.raises(HierarchyError, match="node 0 has the name"):
        Hierarchy.from_paths([("a",)], root=nan)


@pytest.mark.parametrize(
    ("parents", "names", "message"),
    [
        ({"a": None, "b": "x"}, None, "the parent 'x' of 'b' is not among the 2 nodes"),
        ({"a": None, "b": []}, None, r"parents\['b'\] contains the name \[\]"),
        ({"a": None, "b": None}, None, "found 2 nodes without a parent"),
        ({"a": "a"}, None, "cycle: 'a' -> 'a'"),
        ({}, None, "empty"),
        ([-1, 5], None, "the parent of 1 is 5: expected a node number from 0 to 1"),
        ([-1, -2], ["r", "x"], "the parent of 'x' is"),
        ([-1, 0], ["a"], "got 1 names for 2 parents"),
        ([-1, 0], "ab", "names is 'ab'"),
        ([-1, 0], 5, "names is 5"),
        ([-1, 0.5], None, "type float64: expected one integer per node"),
        ([None, 0], None, "type object"),
        ([[-1, 0]], None, r"shape \(1, 2\)"),
        ([[-1], [0, 1]], None, "expected one integer per node"),
        ("ab", None, "expected one integer per node"),
        (None, None, "expected one integer per node"),
        ([-1, -1], None, "found 2 nodes"),
        ([-1, 0, 0], ["r", "a", "a"], "two children of 'r' have the name 'a'"),
        ([-1, 0], ["r", {}], "node 1 has the name {} of type dict"),
        ([], None, "empty"),
    ],
)
def test_no_parents(parents, names, message):
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_parents(parents, names)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 2)], "refer to nodes 0 to 2: expected 0 to 1, since there are 2 names"),
        ([(-1, 0)], "nodes -1 to 0"),
        ([(0.0, 1.0)], "type float64"),
        ([0, 1], r"shape \(2,\)"),
        ([(0, 1), (0,)], "expected .parent, child. node numbers"),
        (["ab"], "expected .parent, child. node numbers"),
        ([(0, 0)], "found 1 |cycle|without a parent"),
    ],
)
def test_no_numbered_edges(edges, message):
    with pytest.raises(HierarchyError, match=message):
        Hierarchy(["a", "b"], edges)


def test_names_of_stars_and_dags_are_distinct():
    with pytest.raises(HierarchyError, match="two children of 'root' have the name 'a'"):
        Hierarchy.star(["a", "b", "a"])
    with pytest.raises(HierarchyError, match="two nodes have the name 'x'"):
        Hierarchy(["r", "x", "x", "y"], [(0, 1), (0, 2), (1, 3), (2, 3)])
    with pytest.raises(HierarchyError, match="names is 5"):
        Hierarchy.star(5)


def test_no_graphs():
    with pytest.raises(HierarchyError, match=r"undirected.*bfs_tree"):
        Hierarchy.from_networkx(nx.Graph([("a", "b")]))
    with pytest.raises(HierarchyError, match=r"got 5: expected a networkx\.DiGraph"):
        Hierarchy.from_networkx(5)
    with pytest.raises(HierarchyError, match="its own parent"):
        Hierarchy.from_networkx(nx.DiGraph([("a", "a")]))
    with pytest.raises(HierarchyError, match="empty"):
        Hierarchy.from_networkx(nx.DiGraph())


@quick
@given(junk)
def test_junk_raises_our_errors_only(anything):
    for build in (
        Hierarchy.from_paths,
        Hierarchy.from_edges,
        Hierarchy.from_parents,
        Hierarchy.from_networkx,
        Hierarchy.star,
        lambda x: Hierarchy.from_parents([-1, 0], x),
        lambda x: Hierarchy(["a", "b"], x),
        lambda x: Hierarchy.from_paths([("a", x)]),
        lambda x: Hierarchy.from_edges([("a", x)]),
        lambda x: Hierarchy.from_edges([("a", "b")], root=x),
    ):
        with contextlib.suppress(HierarchyError):
            assert isinstance(build(anything), Hierarchy)


def test_padding_is_cut_off_the_end():
    def nowhere():
        raise AssertionError

    assert strip_padding(("a", "b", None, ""), nowhere) == ("a", "b")
    assert strip_padding([None, nan], nowhere) == ()
    assert strip_padding((0, False), nowhere) == (0, False)
