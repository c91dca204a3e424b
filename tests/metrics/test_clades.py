"""Groups that two trees share: exact, whatever the order, and the measures together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError
from palmette.metrics import clade_precision_recall_fscore, compare_trees


def naive_groups(tree):
    """Return the sets of leaves below nodes, without single ones and without all."""
    sets = set()
    for node in range(tree.n_nodes):
        below = [n for n in tree.descendants(node, include_self=True) if tree.is_leaf[n]]
        names = frozenset(tree.names[n] for n in below)
        if 1 < len(names) < tree.n_leaves:
            sets.add(names)
    return sets


@st.composite
def pairs(draw):
    """Return two random trees over the same leaves."""
    n = draw(st.integers(3, 9))

    def tree():
        groups = draw(st.integers(1, 6))
        above = [draw(st.integers(0, i)) for i in range(groups)]  # of group i + 1: a group before
        edges = [(f"g{a}", f"g{i + 1}") for i, a in enumerate(above)]
        edges += [(f"g{draw(st.integers(0, groups))}", leaf) for leaf in range(n)]
        empty = {c for _, c in edges if isinstance(c, str)} - {p for p, _ in edges}
        while empty:
            edges = [(p, c) for p, c in edges if c not in empty]
            empty = {c for _, c in edges if isinstance(c, str)} - {p for p, _ in edges}
        return Hierarchy.from_edges(edges)

    return tree(), tree()


@settings(max_examples=80, deadline=None)
@given(pairs())
def test_shares_are_those_of_sets(both):
    tree, reference = both
    ours, theirs = naive_groups(tree), naive_groups(reference)
    precision, recall, fscore = clade_precision_recall_fscore(tree, reference)
    shared = len(ours & theirs)
    assert precision == pytest.approx(shared / len(ours) if ours else np.nan, nan_ok=True)
    assert recall == pytest.approx(shared / len(theirs) if theirs else np.nan, nan_ok=True)
    total = len(ours) + len(theirs)
    assert fscore == pytest.approx(2 * shared / total if total else np.nan, nan_ok=True)


def test_one_class_has_no_groups():
    with pytest.raises(HierarchyError, match="two classes at least"):
        clade_precision_recall_fscore(Hierarchy.star("a"), Hierarchy.star("a"))


ACTUAL = Hierarchy.from_paths([("p", "1"), ("p", "2"), ("q", "3"), ("q", "4")])


def test_a_tree_is_itself():
    found = compare_trees(ACTUAL, ACTUAL)
    assert (found["tree_mse"], found["edit_distance"]) == (0.0, 0.0)
    assert {found[f"clade_{word}"] for word in ("precision", "recall", "fscore", "purity")} == {1.0}


def test_numbers_match_their_digits_and_others_are_left_out():
    learnt = Hierarchy.from_paths([("g", 1), ("g", 2), ("h", 3), ("h", 4), (5,), (6,)])
    found = compare_trees(learnt, ACTUAL)
    assert (found["n_classes"], found["n_only_tree"], found["n_only_reference"]) == (4, 2, 0)
    assert found["clade_fscore"] == 1.0
    assert found["edit_distance"] == 0.0


def test_paths_match_names():
    learnt = Hierarchy.from_paths([("g", "p/x"), ("g", "p/y"), ("q/x",)])
    reference = Hierarchy.from_paths([("p", "x"), ("p", "y"), ("q", "x")])
    assert compare_trees(learnt, reference)["clade_recall"] == 1.0


def test_what_says_nothing_is_none():
    star = Hierarchy.star(["1", "2", "3", "4"])
    found = compare_trees(ACTUAL, star)
    assert found["triplet_accuracy"] is None
    assert found["clade_recall"] is None
    assert found["clade_precision"] == 0.0


def test_trees_that_share_nothing_and_dags_are_told():
    with pytest.raises(HierarchyError, match="0 leaves in common"):
        compare_trees(ACTUAL, Hierarchy.star("xyz"))
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(HierarchyError, match="compare_trees"):
        compare_trees(dag, ACTUAL)
