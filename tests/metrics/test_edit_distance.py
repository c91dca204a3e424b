"""Tree edit distance: against the plain recursion over forests, and what it must satisfy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import _edit_distance, tree_edit_distance

laws = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 8)


def nested(h, node=0):
    return h.names[node], tuple(nested(h, child) for child in h.children(node).tolist())


def brute_force(one, other, insert=1, delete=1, relabel=lambda a, b: a != b):
    """Delete, insert or match the last root of two forests, whichever is cheapest."""

    @cache
    def size(forest):
        return sum(1 + size(children) for _, children in forest)

    @cache
    def distance(left, right):
        if not left or not right:
            return size(left) * delete + size(right) * insert
        (a, below_a), (b, below_b) = left[-1], right[-1]
        return min(
            distance(left[:-1] + below_a, right) + delete,
            distance(left, right[:-1] + below_b) + insert,
            distance(below_a, below_b) + distance(left[:-1], right[:-1]) + relabel(a, b),
        )

    return distance((nested(one),), (nested(other),))


def random_tree(rng, n_nodes):
    """Few names, so that many agree; siblings have different ones."""
    parents = np.array([-1, *(rng.integers(i) for i in range(1, n_nodes))])
    names = []
    for node, parent in enumerate(parents):
        taken = {names[i] for i in range(1, node) if parents[i] == parent}
        free = [name for name in "abcdefgh" if name not in taken]
        names.append(free[rng.integers(min(2, len(free)))])
    return Hierarchy.from_parents(parents, names)


def two_trees(seed, n_one, n_other):
    rng = np.random.default_rng(seed)
    return random_tree(rng, n_one), random_tree(rng, n_other)


@laws
@given(seeds, sizes, sizes)
def test_distance_is_that_of_brute_force(seed, n_one, n_other):
    one, other = two_trees(seed, n_one, n_other)
    assert tree_edit_distance(one, other) == brute_force(one, other)


@laws
@given(seeds, sizes, sizes)
def test_costs_are_those_of_brute_force(seed, n_one, n_other):
    one, other = two_trees(seed, n_one, n_other)

    def relabel(a, b):
        return 0.5 * abs(ord(a) - ord(b))

    found = tree_edit_distance(one, other, insert=0.7, delete=1.3, relabel=relabel)
    assert found == pytest.approx(brute_force(one, other, 0.7, 1.3, relabel), abs=1e-9)
    found = tree_edit_distance(one, other, insert=2, delete=3, relabel=0.9)
    expected = brute_force(one, other, 2, 3, lambda a, b: 0.9 * (a != b))
    assert found == pytest.approx(expected, abs=1e-9)


@laws
@given(seeds, sizes, sizes, st.integers(1, 200))
def test_every_plan_and_batch_size_gives_the_same(seed, n_one, n_other, cells):
    one, other = two_trees(seed, n_one, n_other)
    labels, table = _edit_distance._label_costs(one, other, 1.0, "all")
    shapes = [_edit_distance._shapes(h, "given") for h in (one, other)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_edit_distance, "_FOREST_CELLS", cells)
        found = {plan.solve() for plan in _edit_distance._plans(shapes, labels, table, 1.0, 1.0)}
    assert found == {brute_force(one, other)}


@laws
@given(seeds, sizes, sizes)
def test_it_is_a_metric(seed, n_one, n_other):
    one, other = two_trees(seed, n_one, n_other)
    third = two_trees(seed + 5, n_other, n_one)[0]
    assert tree_edit_distance(one, one) == 0
    assert tree_edit_distance(one, other) == tree_edit_distance(other, one)
    around = tree_edit_distance(one, third) + tree_edit_distance(third, other)
    assert tree_edit_distance(one, other) <= around


@laws
@given(seeds, sizes, sizes)
def test_agrees_with_another_program(seed, n_one, n_other):
    zss = pytest.importorskip("zss", reason="zss is not installed")
    one, other = two_trees(seed, n_one, n_other)

    def node(tree):
        return zss.Node(tree[0], [node(child) for child in tree[1]])

    expected = zss.distance(
        node(nested(one)),
        node(nested(other)),
        zss.Node.get_children,
        lambda n: 1,
        lambda n: 1,
        lambda a, b: a.label != b.label,
    )
    assert tree_edit_distance(one, other) == expected


def test_inner_names_and_the_order_of_siblings_can_be_left_out():
    given_tree = Hierarchy.from_paths([("p", "x"), ("p", "y"), ("q", "z")])
    learned = Hierarchy.from_paths([("1", "z"), ("0", "y"), ("0", "x")], root="top")
    assert tree_edit_distance(given_tree, learned, names="leaves", order="sorted") == 0
    assert tree_edit_distance(given_tree, learned, order="sorted") == 3  # root, p and q
    assert tree_edit_distance(given_tree, learned, names="leaves") > 0


def test_a_leaf_is_never_an_unnamed_inner_node():
    leaf, inner = Hierarchy.from_paths([("x",)]), Hierarchy.from_paths([("x", "y")])
    assert tree_edit_distance(leaf, inner, names="leaves") == 2  # x to y, and one node more


def test_deep_trees_need_no_recursion():
    chain = Hierarchy.from_parents(np.arange(-1, 1499), ["n"] * 1500)
    assert tree_edit_distance(chain, Hierarchy.from_paths([("n",)], root="n")) == 1498


def test_bad_arguments_are_named(monkeypatch):
    a, b = Hierarchy.star("ab"), Hierarchy.star("bc")
    dag = Hierarchy.from_edges([("r", 1), ("r", 2), (1, 3), (2, 3)])
    with pytest.raises(HierarchyError, match="tree_edit_distance needs a tree"):
        tree_edit_distance(a, dag)
    with pytest.raises(PalmetteError, match="insert=-1"):
        tree_edit_distance(a, b, insert=-1)
    with pytest.raises(PalmetteError, match="relabel=-1"):
        tree_edit_distance(a, b, relabel=-1)
    with pytest.raises(PalmetteError, match="relabel returned a negative"):
        tree_edit_distance(a, b, relabel=lambda x, y: -1)
    with pytest.raises(PalmetteError, match="names='inner'"):
        tree_edit_distance(a, b, names="inner")
    with pytest.raises(PalmetteError, match="order='any'"):
        tree_edit_distance(a, b, order="any")
    monkeypatch.setattr(_edit_distance, "_MAX_CELLS", 8)
    with pytest.raises(HierarchyError, match="3 by 3 nodes needs too much memory"):
        tree_edit_distance(a, b)
