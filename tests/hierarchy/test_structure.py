"""Laws of the shape of a hierarchy and of the relatives of a node."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from tests.strategies import dags, hierarchies, parent_lists, quick, trees

from palmette.hierarchy._hierarchy import Hierarchy


def as_digraph(h):
    digraph = nx.DiGraph()
    digraph.add_nodes_from(range(h.n_nodes))
    digraph.add_edges_from(h.edges.tolist())
    return digraph


@quick
@given(trees())
def test_a_tree_is_numbered_in_preorder_and_a_subtree_is_a_slice(h):
    assert h.is_tree
    digraph = as_digraph(h)
    for node in range(h.n_nodes):
        below = {node, *nx.descendants(digraph, node)}
        assert sorted(below) == list(range(node, h.subtree_end[node]))
        assert h.descendants(node, include_self=True).tolist() == sorted(below)


@quick
@given(hierarchies())
def test_parents_come_before_children(h):
    assert (h.edges[:, 0] < h.edges[:, 1]).all()
    assert h.parents_of(0).size == 0
    assert set(h.edges[:, 1]) == set(range(1, h.n_nodes))  # one root only


@quick
@given(dags())
def test_it_is_a_tree_where_no_node_has_two_parents(h):
    assert h.is_tree == all(len(h.parents_of(node)) <= 1 for node in range(h.n_nodes))


@quick
@given(hierarchies())
def test_relatives_are_those_of_the_graph(h):
    digraph = as_digraph(h)
    for node in range(h.n_nodes):
        above, below = nx.ancestors(digraph, node), nx.descendants(digraph, node)
        assert h.ancestors(node).tolist() == sorted(above)
        assert h.ancestors(node, include_self=True).tolist() == sorted({node, *above})
        assert h.descendants(node).tolist() == sorted(below)
        assert h.descendants(node, include_self=True).tolist() == sorted({node, *below})
        assert h.children(node).tolist() == sorted(digraph.successors(node))
        assert h.parents_of(node).tolist() == sorted(digraph.predecessors(node))
        family = {c for p in digraph.predecessors(node) for c in digraph.successors(p)}
        assert h.siblings(node).tolist() == sorted(family - {node})
        for relatives in (h.ancestors, h.descendants, h.children, h.parents_of, h.siblings):
            assert relatives(node).dtype == np.int32


@quick
@given(hierarchies())
def test_relations_are_mutual(h):
    for node in range(h.n_nodes):
        assert all(node in h.parents_of(child) for child in h.children(node))
        assert all(node in h.siblings(other) for other in h.siblings(node))
        assert all(node in h.descendants(above) for above in h.ancestors(node))


@quick
@given(hierarchies())
def test_depth_is_the_longest_way_from_the_root(h):
    depth = {0: 0}
    for parent, child in h.edges.tolist():  # by child, and parents stand before children
        depth[child] = max(depth.get(child, 0), depth[parent] + 1)
    assert h.depth.tolist() == [depth[node] for node in range(h.n_nodes)]
    assert h.max_depth == max(depth.values())
    assert h.level_sizes.tolist() == np.bincount(list(depth.values())).tolist()


@quick
@given(hierarchies())
def test_leaves_are_the_nodes_without_children(h):
    leaves = [node for node in range(h.n_nodes) if not len(h.children(node))]
    assert h.leaves.tolist() == leaves
    assert h.n_leaves == len(leaves)
    assert np.flatnonzero(h.is_leaf).tolist() == leaves


@quick
@given(parent_lists())
def test_parents_survive_the_renumbering(parents):
    h = Hierarchy.from_parents(parents)
    place = {name: node for node, name in enumerate(h.names.tolist())}
    for node, parent in enumerate(parents):
        assert h.parents[place[node]] == (-1 if parent < 0 else place[parent])


def test_by_hand():
    h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    assert h.parents.tolist() == [-1, 0, 1, 1, 0, 4]
    assert h.depth.tolist() == [0, 1, 2, 2, 1, 2]
    assert h.subtree_end.tolist() == [6, 4, 3, 4, 6, 6]
    assert h.siblings("animal/cat").tolist() == [3]
    assert h.siblings("root").tolist() == []
