"""Laws of the order of nodes, and what is no hierarchy is named."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import parent_lists, quick

from palmette.exceptions import HierarchyError
from palmette.hierarchy._graph import order_nodes
from palmette.hierarchy._hierarchy import Hierarchy


def order(n_nodes, edges):
    names = np.array([f"n{i}" for i in range(n_nodes)], dtype=object)
    pairs = np.array(edges, dtype=np.int32).reshape(-1, 2)
    return order_nodes(names, pairs[:, 0], pairs[:, 1]).tolist()


@st.composite
def shuffled_dags(draw):
    """Edges of a rooted DAG whose nodes are numbered at random."""
    parents = draw(parent_lists())
    edges = {(parent, child) for child, parent in enumerate(parents) if child}
    more = draw(st.lists(st.tuples(*[st.integers(0, len(parents) - 1)] * 2), max_size=10))
    edges |= {(a, b) for a, b in more if a < b}
    number = draw(st.permutations(range(len(parents))))
    shuffled = draw(st.permutations(sorted(edges)))
    return len(parents), [(number[a], number[b]) for a, b in shuffled]


@quick
@given(shuffled_dags())
def test_every_node_once_and_parents_first(dag):
    n_nodes, edges = dag
    found = order(n_nodes, edges)
    assert sorted(found) == list(range(n_nodes))
    place = {node: i for i, node in enumerate(found)}
    assert all(place[a] < place[b] for a, b in edges)


@quick
@given(shuffled_dags())
def test_ordering_twice_is_ordering_once(dag):
    n_nodes, edges = dag
    place = {node: i for i, node in enumerate(order(n_nodes, edges))}
    again = sorted(((place[a], place[b]) for a, b in edges), key=lambda edge: edge[::-1])
    assert order(n_nodes, again) == list(range(n_nodes))


def test_trees_are_walked_depth_first_and_dags_by_readiness():
    assert order(5, [(0, 1), (0, 2), (1, 3), (2, 4)]) == [0, 1, 3, 2, 4]
    assert order(5, [(0, 1), (0, 2), (1, 3), (2, 4), (2, 3)]) == [0, 1, 2, 4, 3]


@quick
@given(shuffled_dags(), st.data())
def test_an_edge_upwards_makes_a_cycle_which_is_named(dag, data):
    n_nodes, edges = dag
    if not edges:
        return
    above = {(a, b) for a, b in edges}
    for _ in range(n_nodes):
        above |= {(a, d) for a, b in above for c, d in edges if b == c}
    top, bottom = data.draw(st.sampled_from(sorted(above)))
    edges = [*edges, (bottom, top)]
    with pytest.raises(HierarchyError, match="cycle") as caught:
        order(n_nodes, edges)
    text, length = re.search(r"cycle: (.*) \((\d+) nodes\)", str(caught.value)).groups()
    names = [int(name) for name in re.findall(r"'n(\d+)'", text)]
    assert names[0] == names[-1]
    if " ... " not in text:
        assert len(names) == int(length) + 1
        assert all(
            step in edges for step in pairwise(names)
        )  # from parent to child, all of them there


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("b", "a")], "'b' -> 'a' -> 'b' (2 nodes)"),
        ([("r", "a"), ("a", "b"), ("b", "a")], "'b' -> 'a' -> 'b'"),
        ([(i, (i + 1) % 9) for i in range(9)], "-> ... ->"),
    ],
)
def test_cycles_are_named(edges, message):
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_edges(edges)
    assert message in str(caught.value)
    assert "Delete the edge that goes up" in str(caught.value)


def test_a_cycle_beside_the_root():
    with pytest.raises(HierarchyError, match=r"cycle: 2 -> 1 -> 2|cycle: 1 -> 2 -> 1"):
        Hierarchy.from_parents([-1, 2, 1])
    with pytest.raises(HierarchyError, match="cycle"):
        Hierarchy.from_edges([("a", "b"), ("b", "a")], root="r")


def test_two_roots_are_named_with_what_to_do():
    message = r"found 2 nodes without a parent \('a', 'c'\): expected one root.*root='some name'"
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_edges([("a", "b"), ("c", "d")])
    with pytest.raises(HierarchyError, match=r"found 6 .*'n3', \.\.\."):
        order(6, [])
