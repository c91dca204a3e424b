"""How nodes are found by their names, and what is said where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import any_names, quick, trees

from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import check_names, join_paths

PETS = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])


def message_of(hierarchy, node):
    with pytest.raises(HierarchyError) as caught:
        hierarchy.index(node)
    return str(caught.value)


def test_examples_are_near_misses_then_leaves():
    assert message_of(PETS, "plant/oka") == (
        "'plant/oka' is not in the hierarchy (6 nodes, e.g. 'animal/cat', 'plant/oak'). "
        "Add the node or drop the row."
    )
    assert "e.g. 'animal/cat', 'animal/dog')" in message_of(PETS, "zebra")
    assert "e.g. 'animal/cat', 'animal/dog')" in message_of(PETS, ("animal", "catt"))


def test_examples_are_written_as_they_would_be_found():
    assert "'1' is not in the hierarchy (3 nodes, e.g. 1, 2)" in message_of(
        Hierarchy.from_edges([(0, 1), (0, 2)], root=0), ("1",)
    )
    assert "e.g. 'root'" in message_of(Hierarchy.star([]), "x")


def test_long_labels_are_cut():
    assert len(message_of(PETS, "x" * 10_000)) < 300


def test_ambiguous_names_list_their_paths():
    h = Hierarchy.from_paths([("a", "x"), ("b", "x"), ("c", "x"), ("d", "x")])
    assert message_of(h, "x") == "'x' is ambiguous: 'a/x', 'b/x', 'c/x'. Give the path."
    assert h.index("b/x") == 4


def test_slashes_in_names():
    h = Hierarchy.from_paths([("a", "b"), ("a/b",), ("c/d", "e")])
    assert "'a/b' is ambiguous: several nodes have this path string" in message_of(h, "a/b")
    assert h.index(("a", "b")) == 2
    assert h.index(("a/b",)) == 3
    assert h.index("c/d/e") == h.index("e") == 5
    assert h.index("c/d") == 4


def test_a_string_goes_before_a_number_that_looks_like_it():
    h = Hierarchy.from_paths([(1, "x"), ("1", "x"), (2, 3)])
    assert h.index("1") == h.index(("1",)) == 3
    assert h.index(1) == 1
    assert h.index("1/x") == 4
    assert h.index("2/3") == 6


def test_in_a_dag_a_name_goes_before_one_that_looks_like_it():
    h = Hierarchy.from_edges([("1", 2), ("1", 1), (2, 1)])
    assert [h.index(name) for name in ("1", 2, 1, "2")] == [0, 1, 2, 1]


def test_a_name_that_is_a_tuple():
    h = Hierarchy.from_paths([("a", ("b", "c"))])
    assert h.index(("a", ("b", "c"))) == 2
    assert h.index(("b", "c")) == 2  # no such path, but a name that occurs once
    h = Hierarchy.from_edges([("r", "a"), ("a", "b"), ("r", "b"), ("r", ("a", "b"))])
    assert h.names[h.index(("a", "b"))] == ("a", "b")  # names are the identities of a DAG
    assert h.names[h.index(("a",))] == "a"


@quick
@given(trees(names=any_names))
def test_paths_are_joined(h):
    joined = join_paths(h.names, h.parents.tolist())
    assert joined[0] == str(h.names[0])
    for node in range(1, h.n_nodes):
        assert joined[node] == "/".join(map(str, h.path(node)))
    assert join_paths(h.names, None).tolist() == [str(name) for name in h.names]


def test_names_become_plain_values():
    names = check_names([np.str_("a"), np.int8(3), np.float32(0.5), np.bool_(True), ("x", "y")])
    assert names.tolist() == ["a", 3, 0.5, True, ("x", "y")]
    assert [type(name) for name in names] == [str, int, float, bool, tuple]
    date = np.datetime64("2020-01-01T00:00:00.000000001")
    assert check_names([date])[0] == date  # and no bare number of nanoseconds
    assert check_names([("a", "b"), ("c", "d")]).shape == (2,)


@pytest.mark.parametrize("name", [None, float("nan"), np.float32("nan"), "", np.datetime64("NaT")])
def test_missing_names(name):
    with pytest.raises(HierarchyError, match=r"node 1 has the name .*: expected a non-empty name"):
        check_names(["a", name])


@pytest.mark.parametrize("name", [[], {}, set(), (1, [])])
def test_unhashable_names(name):
    with pytest.raises(HierarchyError, match=r"node 1 has the name .* hashable value"):
        check_names(["a", name])


@pytest.mark.parametrize("h", [PETS, Hierarchy.from_edges([(1, 2), (1, 3), (2, 4), (3, 4)])])
def test_get_tells_by_none(h):
    lookup = h._lookup
    assert lookup.get("no such name") is None
    assert lookup.get({}) is None
    assert lookup.get(({},)) is None
    assert lookup.get(h.names[1]) == 1
