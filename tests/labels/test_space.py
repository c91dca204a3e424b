"""Laws of LabelSpace: the part of a tree above the labels, and sums along it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.spaces import label_spaces, numbers, probabilities, seeds
from tests.strategies import quick

from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace


@quick
@given(label_spaces())
def test_active_nodes_are_the_labels_and_their_ancestors(space):
    above = {
        int(a) for c in space.classes for a in space.hierarchy.ancestors(int(c), include_self=True)
    }
    assert set(space.nodes.tolist()) == above
    assert np.all(np.diff(space.nodes) > 0)
    assert space.nodes[space.class_place].tolist() == space.classes.tolist()
    assert np.array_equal(space.depth, space.hierarchy.depth[space.nodes])
    assert [space.place(int(node)) for node in space.nodes] == list(range(space.n_active))


@quick
@given(label_spaces())
def test_parents_are_those_of_the_hierarchy(space):
    assert space.parent[0] == -1
    above = space.nodes[space.parent[1:]]
    assert np.array_equal(above, space.hierarchy.parents[space.nodes[1:]])


@quick
@given(label_spaces())
def test_a_class_range_holds_the_labels_of_a_subtree(space):
    for node, (first, stop) in zip(space.nodes, space.class_range, strict=True):
        below = set(space.hierarchy.descendants(int(node), include_self=True).tolist())
        assert set(space.classes[first:stop].tolist()) == below & set(space.classes.tolist())


@quick
@given(label_spaces())
def test_a_family_is_a_parent_with_its_active_children_and_maybe_itself(space):
    expected = {}
    labels = set(space.classes.tolist())
    for place, node in enumerate(space.nodes.tolist()):
        children = [c for c in space.hierarchy.children(node).tolist() if c in space.nodes]
        if children:
            expected[place] = ([node] if node in labels else []) + children
    families = {parent: space.nodes[options].tolist() for parent, options in space.families}
    assert families == expected
    assert list(families) == sorted(families)
    assert np.flatnonzero(space.has_children).tolist() == sorted(families)
    assert space.largest_family == max(map(len, families.values()))


@quick
@given(label_spaces())
def test_levels_part_the_nodes_by_depth(space):
    assert np.array_equal(np.sort(np.concatenate(space.levels)), np.arange(space.n_active))
    for depth, level in enumerate(space.levels):
        assert (space.depth[level] == depth).all()


@quick
@given(label_spaces(), seeds)
def test_sum_up_equals_the_product_with_the_closure(space, seed):
    values = numbers(seed).normal(size=(5, space.n_classes))
    above = space.hierarchy.closure[space.classes].toarray()[:, space.nodes].astype(float)
    np.testing.assert_allclose(space.sum_up(values), (values @ above).T, atol=1e-12)


@quick
@given(label_spaces(), seeds)
def test_a_child_never_exceeds_its_parent_not_even_by_rounding(space, seed):
    proba = probabilities(space, 20, seed)
    for table in (space.sum_up(proba), space.marginals(proba)):
        assert (table[1:] <= table[space.parent[1:]]).all()
    assert (space.marginals(proba) <= 1.0).all()
    np.testing.assert_allclose(space.marginals(proba)[0], 1.0)


@quick
@given(label_spaces(), seeds)
def test_sums_down_and_over_children_equal_their_definitions(space, seed):
    values = numbers(seed).normal(size=(space.n_active, 3))
    down, children = space.sum_down(values), space.sum_children(values)
    for place, node in enumerate(space.nodes.tolist()):
        path = np.isin(space.nodes, space.hierarchy.ancestors(node, include_self=True))
        np.testing.assert_allclose(down[place], values[path].sum(axis=0), atol=1e-12)
        below = space.parent == place
        np.testing.assert_allclose(children[place], values[below].sum(axis=0), atol=1e-12)


@quick
@given(label_spaces(), seeds)
def test_sum_down_leaves_its_argument_alone(space, seed):
    values = numbers(seed).normal(size=(space.n_active, 2))
    before = values.copy()
    space.sum_down(values)
    space.sum_children(values)
    assert np.array_equal(values, before)


def test_a_large_taxonomy_costs_no_more_than_the_labels_used():
    hierarchy = Hierarchy.from_paths([(i, j) for i in range(300) for j in range(100)])
    space = LabelSpace(hierarchy, hierarchy.leaves[[0, 29_999]])
    assert space.n_active == 5
    assert space.marginals(np.array([[0.25, 0.75]])).shape == (5, 1)


def test_the_root_alone_is_a_space_too():
    space = LabelSpace(Hierarchy.star([]), np.array([0]))
    assert space.families == []
    assert space.largest_family == 1
    assert space.marginals(np.ones((2, 1))).tolist() == [[1.0, 1.0]]


def test_a_dag_is_refused_by_name():
    dag = Hierarchy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    with pytest.raises(HierarchyError, match="single-path classifier needs a tree"):
        LabelSpace(dag, dag.leaves)
