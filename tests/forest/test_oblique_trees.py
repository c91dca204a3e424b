"""Flat arrays of trees: the same predictions as following the nodes one by one."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from scipy import sparse

from palmette.forest import _oblique_trees as oblique_trees
from palmette.forest._growing import ForestGrower, TreeDraws
from palmette.forest._oblique_trees import ObliqueTrees, Votes, split_importances
from palmette.forest._rows import distinct_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6)).astype(np.float32)
Y = sparse.csr_array(X[:, :3] + 0.3 * RNG.normal(size=(80, 3)) > 0.4)
SETTINGS = {"router": "hellinger-owlqn", "min_samples_leaf": 3}
VOTE, PRIOR = 5.0, np.array([0.2, 0.3, 0.4])


@pytest.fixture(scope="module")
def grown():
    rows = distinct_rows(X, Y, None)
    draws = TreeDraws(0.75, 1.0, 0.7)
    grower = ForestGrower(X[rows.first], Y[rows.first], rows, draws, SETTINGS, seed=3)
    return list(grower.grow_all(0, 4))


@pytest.fixture(scope="module")
def trees(grown):
    return ObliqueTrees.of(grown)


def leaf_and_path(tree, row):
    """Leaf of a row and the nodes on its way, in double precision, one node at a time."""
    node, path = 0, [0]
    while tree.left[node] >= 0:
        own = slice(tree.weight_starts[node], tree.weight_starts[node + 1])
        values = row[tree.weight_features[own]].astype(float)
        score = values @ tree.weight_values[own].astype(float) + float(tree.bias[node])
        node = tree.right[node] if score >= 0 else tree.left[node]
        path.append(node)
    return node, path


def test_apply_equals_following_the_nodes_one_by_one(grown, trees):
    fresh = np.random.default_rng(1).normal(size=(200, 6)).astype(np.float32)
    expected = [[leaf_and_path(tree, row)[0] for tree in grown] for row in fresh]
    assert np.array_equal(trees.apply(fresh), expected)
    assert np.array_equal(trees.apply(fresh, n_jobs=2), expected)
    assert np.array_equal(trees.apply(sparse.csr_array(fresh)), expected)


def test_the_decision_path_is_the_nodes_on_the_way(grown, trees):
    path = trees.decision_path(X[:10])
    assert path.shape == (10, trees.n_nodes)
    for i, row in enumerate(X[:10]):
        nodes = [
            start + node
            for start, tree in zip(trees.tree_starts, grown, strict=False)
            for node in leaf_and_path(tree, row)[1]
        ]
        assert path[[i]].indices.tolist() == sorted(nodes)


@pytest.mark.parametrize("prior", [0.0, 1.0, 2.5])
def test_probabilities_are_weighted_means_of_leaves_and_the_prior(grown, trees, prior):
    votes = np.array([np.where(tree.drawn, VOTE, 1.0) for tree in grown])
    shares = np.array(
        [[tree.shares.toarray()[leaf_and_path(tree, row)[0]] for tree in grown] for row in X]
    )
    known = (prior * PRIOR + (votes * shares).sum(axis=1)) / (prior + votes.sum(axis=0))
    given = Votes(VOTE, prior)
    np.testing.assert_allclose(trees.proba(X, PRIOR, given), known, rtol=1e-6)
    mask = np.random.default_rng(0).random((80, 4)) < 0.6
    mask[~mask.any(axis=1)] = True
    sums = prior * PRIOR + (mask[:, :, None] * votes * shares).sum(axis=1)
    some = sums / (prior + mask @ votes)
    np.testing.assert_allclose(trees.proba(X, PRIOR, given, 1, mask), some, rtol=1e-6)
    assert np.array_equal(
        trees.proba(X, PRIOR, given, 3, mask), trees.proba(X, PRIOR, given, 1, mask)
    )


def test_blocks_of_rows_change_nothing(trees, monkeypatch):
    mask = np.random.default_rng(0).random((80, 4)) < 0.6
    mask[~mask.any(axis=1)] = True
    of_all, of_some = trees.proba(X, PRIOR, Votes(0.3)), trees.proba(X, PRIOR, Votes(0.3), 1, mask)
    monkeypatch.setattr(oblique_trees, "_CELLS_AT_ONCE", 30)
    assert np.array_equal(trees.proba(X, PRIOR, Votes(0.3)), of_all)
    assert np.array_equal(trees.proba(X, PRIOR, Votes(0.3), 1, mask), of_some)


def test_trees_may_follow_others(grown, trees):
    pieces = ObliqueTrees.of(grown[3:], ObliqueTrees.of(grown[1:3], ObliqueTrees.of(grown[:1])))
    for field in fields(ObliqueTrees):
        one, other = getattr(pieces, field.name), getattr(trees, field.name)
        assert np.array_equal(one, other), field.name
        assert one.dtype == other.dtype, field.name


def test_shares_of_leaves_are_those_of_their_rows(trees):
    totals = np.add.reduceat(trees.row_weight, trees.tree_starts[:-1])
    assert totals.tolist() == [60] * 4
    assert not trees.row_weight[~trees.is_leaf].any()
    assert (trees.row_weight[trees.is_leaf] >= 3).all()
    counts = trees.share_values * np.repeat(trees.row_weight, np.diff(trees.share_starts))
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-4)


def test_parents_are_those_whose_children_they_are(trees):
    parent = trees.parent
    assert np.array_equal(np.flatnonzero(parent < 0), trees.tree_starts[:-1])
    first = np.repeat(trees.tree_starts[:-1], np.diff(trees.tree_starts))
    for node in np.flatnonzero(parent >= 0):
        above = parent[node]
        assert node - first[node] in (trees.left[above], trees.right[above])


# ---------------------------------------------------------------------- importances


def literal_importances(grown, spread):
    importances = np.zeros(len(spread))
    for tree in grown:
        shares = tree.shares.toarray()

        def below(node, tree=tree, shares=shares):
            """Weight of rows and of positives of every label below a node."""
            if tree.left[node] < 0:
                return tree.row_weight[node], tree.row_weight[node] * shares[node]
            a, b = below(tree.left[node]), below(tree.right[node])
            return a[0] + b[0], a[1] + b[1]

        def spread_of(node, below=below):
            n, positives = below(node)
            return (positives * (1 - positives / n)).sum()

        for node in np.flatnonzero(tree.left >= 0):
            gain = spread_of(node) - spread_of(tree.left[node]) - spread_of(tree.right[node])
            own = slice(tree.weight_starts[node], tree.weight_starts[node + 1])
            sizes = np.abs(tree.weight_values[own]) * spread[tree.weight_features[own]]
            np.add.at(importances, tree.weight_features[own], gain * sizes / sizes.sum())
    return importances / importances.sum()


def test_importances_share_what_splits_gain(grown, trees):
    spread = np.array([1.0, 1.0, 0.5, 1.0, 1.0, 0.0])
    importances = split_importances(trees, spread)
    np.testing.assert_allclose(importances, literal_importances(grown, spread), rtol=1e-5)
    assert importances[5] == 0
    assert importances[:3].sum() > 0.6  # what the labels depend on


def test_trees_without_splits_find_nothing_important(grown):
    rows = distinct_rows(X[:2], Y[:2], None)
    grower = ForestGrower(X[:2], Y[:2], rows, TreeDraws(1.0, 1.0, 1.0), SETTINGS, seed=0)
    leaf = ObliqueTrees.of([grower.grow(0)])
    assert leaf.n_nodes == 1
    assert split_importances(leaf, np.ones(6)).tolist() == [0] * 6
