"""Laws of closure, common ancestors and distances, against brute force and networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import dags, hierarchies, quick, trees

from palmette.exceptions import HierarchyError
from palmette.hierarchy import _graph as graph
from palmette.hierarchy._hierarchy import Hierarchy


def as_digraph(h):
    digraph = nx.DiGraph()
    digraph.add_nodes_from(range(h.n_nodes))
    digraph.add_edges_from(h.edges.tolist())
    return digraph


@quick
@given(hierarchies())
def test_the_closure_is_reachability(h):
    reachable = np.eye(h.n_nodes, dtype=bool)
    for node in range(h.n_nodes):
        reachable[node, h.ancestors(node)] = True
    up = np.zeros((h.n_nodes, h.n_nodes), dtype=int)
    up[h.edges[:, 1], h.edges[:, 0]] = 1
    power = np.linalg.matrix_power(up + np.eye(h.n_nodes, dtype=int), h.n_nodes) > 0
    closure = h.closure
    np.testing.assert_array_equal(closure.toarray(), power)
    np.testing.assert_array_equal(closure.toarray(), reachable)
    assert closure.dtype == bool
    assert closure.indices.dtype == closure.indptr.dtype == np.int32
    fresh = closure.copy()
    fresh.has_sorted_indices = fresh.has_canonical_format = False
    fresh.sum_duplicates()
    np.testing.assert_array_equal(fresh.indices, closure.indices)  # sorted and without repeats


@quick
@given(dags())
def test_both_ways_to_the_closure_of_a_tree_agree(h):
    if h.is_tree:
        one, other = graph.tree_closure(h.parents, h.depth), h.closure
        assert (one != graph.dag_closure(h.n_nodes, h.edges, h.depth)).nnz == 0
        assert (one != other).nnz == 0


@quick
@given(trees())
def test_lca_of_a_tree_is_the_deepest_common_ancestor(h):
    a, b = (grid.ravel() for grid in np.mgrid[: h.n_nodes, : h.n_nodes])
    found = h.lca(a, b)
    digraph = as_digraph(h)
    for x, y, lowest in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        common = ({x} | nx.ancestors(digraph, x)) & ({y} | nx.ancestors(digraph, y))
        assert lowest == max(common)  # in preorder the deepest is the last
    if h.n_nodes > 1:
        expected = dict(nx.tree_all_pairs_lowest_common_ancestor(digraph, root=0))
        assert all(lowest == found[x * h.n_nodes + y] for (x, y), lowest in expected.items())


@quick
@given(dags())
def test_lca_of_a_dag_is_the_deepest_common_ancestor_and_the_first_of_these(h):
    a, b = (grid.ravel() for grid in np.mgrid[: h.n_nodes, : h.n_nodes])
    found = h.lca(a, b)
    for x, y, lowest in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
        common = set(h.ancestors(x, True).tolist()) & set(h.ancestors(y, True).tolist())
        assert lowest == min(common, key=lambda node: (-h.depth[node], node))
        # no common ancestor lies below it
        assert not common & set(h.descendants(lowest).tolist())


@quick
@given(hierarchies())
def test_distance_is_that_of_networkx(h):
    expected = dict(nx.all_pairs_shortest_path_length(as_digraph(h).to_undirected()))
    a, b = (grid.ravel() for grid in np.mgrid[: h.n_nodes, : h.n_nodes])
    found = h.distance(a, b).tolist()
    assert found == [expected[x][y] for x, y in zip(a.tolist(), b.tolist(), strict=True)]


@quick
@given(hierarchies(), st.data())
def test_elementwise_and_in_any_shape(h, data):
    nodes = st.integers(0, h.n_nodes - 1)
    a, b = (np.array(data.draw(st.lists(nodes, min_size=6, max_size=6))) for _ in range(2))
    for measure in (h.lca, h.distance):
        singly = [measure(int(x), int(y)) for x, y in zip(a, b, strict=True)]
        assert measure(a, b).tolist() == singly
        assert measure(b, a).tolist() == singly
        assert measure(a.reshape(2, 3), b.reshape(2, 3)).ravel().tolist() == singly
        assert measure(int(a[0]), b).tolist() == [measure(int(a[0]), int(y)) for y in b]
        assert measure(a, b).dtype == np.int32
        assert measure([], []).tolist() == []


def test_many_chunks_give_what_one_does(monkeypatch):
    rng = np.random.default_rng(0)
    edges = [(rng.integers(0, child), child) for child in range(1, 60) for _ in range(2)]
    h = Hierarchy(range(60), edges)
    a, b = rng.integers(0, 60, (2, 500))
    whole = h.lca(a, b)
    monkeypatch.setattr(graph, "_PAIRS_AT_ONCE", 7)
    np.testing.assert_array_equal(h.lca(a, b), whole)


def test_by_hand():
    diamond = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")])
    assert diamond.lca("b", "c") == "a"
    assert diamond.lca("d", "e") == "d"
    assert diamond.distance("b", "c") == 2
    assert diamond.distance("a", "e") == 3
    assert diamond.depth.tolist() == [0, 1, 1, 2, 3]
    crossed = Hierarchy.from_edges([*zip("aabcbc", "bcddee", strict=True)])
    assert crossed.lca("d", "e") == "b"  # c is as deep, but comes later


@pytest.mark.parametrize("is_tree", [True, False])
def test_a_closure_too_large_is_refused_before_it_is_made(monkeypatch, is_tree):
    edges = [(i, i + 1) for i in range(40)] + [] if is_tree else [(0, 1), (0, 2), (1, 2), (2, 3)]
    n_nodes = 41 if is_tree else 4
    h = Hierarchy(range(n_nodes), edges)
    monkeypatch.setattr(graph, "_MAX_CLOSURE", 8)
    with pytest.raises(HierarchyError, match=rf"entries for {n_nodes} nodes: expected at most 8"):
        _ = h.closure


@quick
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4)), max_size=6))
def test_ragged_ranges_are_ranges_in_a_row(pairs):
    starts = np.array([start for start, _ in pairs], dtype=np.int64)
    sizes = np.array([size for _, size in pairs], dtype=np.int64)
    expected = [i for start, size in pairs for i in range(start, start + size)]
    assert graph.ragged_ranges(starts, sizes).tolist() == expected
