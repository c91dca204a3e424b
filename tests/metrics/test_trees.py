"""Likeness of trees: the paper's value, brute force, and what must not matter."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import (
    _trees,
    clade_precision_recall_fscore,
    clade_purity,
    compare_trees,
    tree_mse,
    triplet_accuracy,
)

laws = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)

ACTUAL = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
SWAPPED = Hierarchy.from_paths([("s", 1), ("s", 3), ("t", 2), ("t", 4)])


def random_pair(seed, n_classes=7):
    """Two trees over the same leaves, with other inner names and orders."""
    rng = np.random.default_rng(seed)
    both = []
    for side in "ab":
        groups = [f"{side}{i}" for i in range(4)]
        parents = {groups[0]: None}
        for i, group in enumerate(groups[1:], start=1):
            parents[group] = groups[rng.integers(i)]
        for leaf in rng.permutation(n_classes).tolist():
            parents[leaf] = groups[rng.integers(len(groups))]
        whole = Hierarchy.from_parents(parents)
        # inner nodes that got no class would be leaves of their own
        kept = [n for n in whole.leaves if isinstance(whole.names[n], int)]
        both.append(Hierarchy.from_paths([whole.path(n) for n in kept]))
    return both


def hops_between(h, names):
    at = h.index(list(names))
    return h.distance(at[:, None], at[None, :])


def test_the_value_of_figure_3_comes_out_exactly():
    assert tree_mse(ACTUAL, SWAPPED) == 0.03125


@laws
@given(seeds)
def test_tree_mse_is_its_definition(seed):
    one, other = random_pair(seed)
    with np.errstate(divide="ignore"):
        a, b = (
            np.where(d > 0, 1 / d, 0) for d in (hops_between(h, range(7)) for h in (one, other))
        )
    assert tree_mse(one, other) == pytest.approx(((a - b) ** 2).mean(), rel=1e-12)
    assert tree_mse(one, other) == pytest.approx(tree_mse(other, one), rel=1e-12)
    assert tree_mse(one, one) == 0.0


@laws
@given(seeds, st.sampled_from(["hops", "lca"]))
def test_triplet_accuracy_is_its_definition(seed, by):
    one, other = random_pair(seed)
    tables = []
    for h in (one, other):
        at = h.index(list(range(7)))
        meeting = h.depth[h.lca(at[:, None], at[None, :])]
        tables.append(hops_between(h, range(7)) if by == "hops" else -meeting)
    right = asked = 0.0
    for a in range(7):
        for b, c in combinations([x for x in range(7) if x != a], 2):
            ours, theirs = (np.sign(d[a, b] - d[a, c]) for d in tables)
            if theirs:
                asked += 1
                right += 1.0 if ours == theirs else 0.5 if ours == 0 else 0.0
    if not asked:
        with pytest.raises(HierarchyError, match="every triplet is tied"):
            triplet_accuracy(one, other, by=by)
    else:
        assert triplet_accuracy(one, other, by=by) == pytest.approx(right / asked, rel=1e-12)


@laws
@given(seeds)
def test_clade_purity_is_its_definition(seed):
    one, other = random_pair(seed)
    group = {name: other.path(name_at)[0] for name, name_at in _leaves(other).items()}
    values = []
    for a, b in permutations(range(7), 2):
        if group[a] == group[b]:
            meeting = one.lca(*one.index([a, b]).tolist())
            below = [n for n, at in _leaves(one).items() if meeting in one.ancestors(at)]
            values.append(np.mean([group[n] == group[a] for n in below]))
    if values:
        assert clade_purity(one, other) == pytest.approx(np.mean(values), rel=1e-12)
        assert clade_purity(other, other) == 1.0


def _leaves(h):
    return {h.names[at]: int(at) for at in h.leaves}


def test_order_of_siblings_and_inner_names_do_not_matter():
    mirrored = Hierarchy.from_paths([("v", 4), ("v", 3), ("u", 2), ("u", 1)])
    assert tree_mse(mirrored, ACTUAL) == 0.0
    assert triplet_accuracy(mirrored, ACTUAL) == clade_purity(mirrored, ACTUAL) == 1.0
    assert tree_mse(mirrored, SWAPPED) == 0.03125


def test_unresolved_trees():
    star = Hierarchy.star([1, 2, 3, 4])
    assert triplet_accuracy(star, ACTUAL) == 0.5  # it never says anything: chance
    with pytest.raises(HierarchyError, match="every triplet is tied"):
        triplet_accuracy(ACTUAL, star)
    # of ((1, 2), 3, 4) the triplets of 1 and of 2 with 3 or 4 are asked
    partly = Hierarchy.from_paths([("p", 1), ("p", 2), (3,), (4,)])
    assert triplet_accuracy(ACTUAL, partly, by="lca") == 1.0
    assert triplet_accuracy(partly, ACTUAL, by="lca") == (4 * 1.0 + 4 * 0.5) / 8


def test_samples_come_near_to_the_whole():
    one, other = random_pair(3, n_classes=12)
    exact = tree_mse(one, other)
    drawn = tree_mse(one, other, n_pairs=200_000, random_state=0)
    assert drawn == pytest.approx(exact, rel=0.02)
    assert drawn != exact
    assert tree_mse(one, other, n_pairs=200_000, random_state=0) == drawn
    exact = triplet_accuracy(one, other)
    drawn = triplet_accuracy(one, other, 200_000, random_state=0)
    assert drawn == pytest.approx(exact, abs=0.01)
    assert triplet_accuracy(one, other, 200_000, random_state=0) == drawn


def test_many_classes_are_sampled_unless_all_are_asked_for(monkeypatch):
    one, other = random_pair(3, n_classes=12)
    exact = tree_mse(one, other), triplet_accuracy(one, other)
    monkeypatch.setattr(_trees, "_EXACT_PAIRS", 5)
    monkeypatch.setattr(_trees, "_EXACT_TRIPLETS", 5)
    monkeypatch.setattr(_trees, "_SAMPLED_PAIRS", 1000)
    monkeypatch.setattr(_trees, "_SAMPLED_TRIPLETS", 1000)
    assert tree_mse(one, other, random_state=0) != exact[0]
    assert triplet_accuracy(one, other, random_state=0) != exact[1]
    assert (tree_mse(one, other, n_pairs=None), triplet_accuracy(one, other, None)) == exact


def test_leaves_are_matched_by_name_or_by_path():
    given_tree = Hierarchy.from_paths([("p", "x"), ("p", "y"), ("q", "x")])
    learned = Hierarchy.from_paths([("0", "p/x"), ("0", "p/y"), ("1", "q/x")])
    assert tree_mse(learned, given_tree) == tree_mse(given_tree, given_tree) == 0.0
    with pytest.raises(HierarchyError, match=r"first has 4 and the second 2 .*is in one only"):
        tree_mse(ACTUAL, Hierarchy.star([1, 2]))
    assert tree_mse(ACTUAL, Hierarchy.star([1, 2]), classes=[1, 2]) == 0.0


def test_classes_may_be_internal_nodes():
    chain = Hierarchy.from_paths([("a", "b", "c")])
    flat = Hierarchy.star(["a", "b", "c"])
    # chain: 1, 1, 2 hops; star: 2, 2, 2
    assert tree_mse(chain, flat, classes=["a", "b", "c"]) == pytest.approx(4 * 0.25 / 9)


def test_purity_of_internal_classes():
    tree = Hierarchy.from_paths([("a", "b"), ("a", "c")])
    reference = Hierarchy.from_paths([("p", "a"), ("p", "b"), ("q", "c")])
    # a and b meet at a, over a, b, c: two of three are of p
    assert clade_purity(tree, reference, classes=["a", "b", "c"]) == pytest.approx(2 / 3)


def test_bad_arguments_are_named():
    dag = Hierarchy.from_edges([("r", 1), ("r", 2), (1, 3), (2, 3)])
    for measure in (tree_mse, triplet_accuracy, clade_purity):
        with pytest.raises(HierarchyError, match=f"{measure.__name__} needs a tree"):
            measure(ACTUAL, dag)
    with pytest.raises(PalmetteError, match="n_pairs=0"):
        tree_mse(ACTUAL, SWAPPED, n_pairs=0)
    with pytest.raises(PalmetteError, match="by='up'"):
        triplet_accuracy(ACTUAL, SWAPPED, by="up")
    with pytest.raises(PalmetteError, match="level=3"):
        clade_purity(ACTUAL, SWAPPED, level=3)
    with pytest.raises(HierarchyError, match="is one class"):
        clade_purity(ACTUAL, SWAPPED, level=2)
    with pytest.raises(HierarchyError, match="three classes"):
        triplet_accuracy(Hierarchy.star([1, 2]), Hierarchy.star([1, 2]))


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
    with pytest.raises(HierarchyError, match="groups need at least two"):
        clade_precision_recall_fscore(Hierarchy.star("a"), Hierarchy.star("a"))


SPELLED = Hierarchy.from_paths([("p", "1"), ("p", "2"), ("q", "3"), ("q", "4")])


def test_a_tree_is_itself():
    found = compare_trees(SPELLED, SPELLED)
    assert (found["tree_mse"], found["edit_distance"]) == (0.0, 0.0)
    assert {found[f"clade_{word}"] for word in ("precision", "recall", "fscore", "purity")} == {1.0}


def test_numbers_match_their_digits_and_others_are_left_out():
    learned = Hierarchy.from_paths([("g", 1), ("g", 2), ("h", 3), ("h", 4), (5,), (6,)])
    found = compare_trees(learned, SPELLED)
    assert (found["n_classes"], found["n_only_tree"], found["n_only_reference"]) == (4, 2, 0)
    assert found["clade_fscore"] == 1.0
    assert found["edit_distance"] == 0.0


def test_paths_match_names():
    learned = Hierarchy.from_paths([("g", "p/x"), ("g", "p/y"), ("q/x",)])
    reference = Hierarchy.from_paths([("p", "x"), ("p", "y"), ("q", "x")])
    assert compare_trees(learned, reference)["clade_recall"] == 1.0


def test_what_says_nothing_is_none():
    star = Hierarchy.star(["1", "2", "3", "4"])
    found = compare_trees(SPELLED, star)
    assert found["triplet_accuracy"] is None
    assert found["clade_recall"] is None
    assert found["clade_precision"] == 0.0


def test_trees_that_share_nothing_and_dags_are_told():
    with pytest.raises(HierarchyError, match="0 leaves in common"):
        compare_trees(SPELLED, Hierarchy.star("xyz"))
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    with pytest.raises(HierarchyError, match="compare_trees"):
        compare_trees(dag, SPELLED)
