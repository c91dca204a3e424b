"""Samples of the trees of a structured forest, and out-of-bag scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.forest._growing import ForestGrower, TreeDraws
from palmette.forest._oblique_trees import ObliqueTrees, Votes
from palmette.forest._rows import distinct_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 8)).astype(np.float32)
ALWAYS = np.ones((40, 1), dtype=bool)
Y = sparse.csr_array(np.hstack([X[:, :4] > 0, ALWAYS]))


def grower_of(X, Y, draws, weights=None, seed=0):
    rows = distinct_rows(X, Y, weights)
    settings = {"router": "axis", "min_samples_leaf": 2}
    return ForestGrower(X[rows.first], Y[rows.first], rows, draws, settings, seed), rows


def test_a_tree_draws_its_part_of_rows_features_and_labels():
    grower, _ = grower_of(X, Y, TreeDraws(0.75, "sqrt", 0.5))
    for tree in range(5):
        draw = grower._draw(tree)
        assert draw.times.sum() == 30
        assert set(draw.times.tolist()) <= {0, 1}
        assert len(draw.features) == 3
        assert len(draw.labels) == 2  # of the four that vary
        assert 4 not in draw.labels
        for part in (draw.features, draw.labels):
            assert (np.diff(part) > 0).all()


def test_what_a_tree_draws_depends_on_the_seed_and_its_number_alone():
    draws = TreeDraws(20, 0.5, 3)
    one, other = grower_of(X, Y, draws)[0], grower_of(X, Y, draws)[0]
    one._draw(0)
    for tree in (3, 1):
        for a, b in zip(one._draw(tree), other._draw(tree), strict=True):
            assert np.array_equal(a, b)
    assert not np.array_equal(one._draw(0).times, one._draw(1).times)
    elsewhere = grower_of(X, Y, draws, seed=1)[0]
    assert not np.array_equal(one._draw(0).times, elsewhere._draw(0).times)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_copies_are_drawn_one_by_one(bootstrap):
    weights = np.r_[np.full(20, 3.0), np.ones(20)]
    grower, rows = grower_of(X, Y, TreeDraws(0.5, 1.0, 1.0, bootstrap), weights)
    times = np.array([grower._draw(tree).times for tree in range(300)])
    assert (times.sum(axis=1) == 40).all()
    if not bootstrap:
        assert (times <= rows.copies).all()
    drawn = times.mean(axis=0)[rows.kind]
    assert drawn[:20].mean() == pytest.approx(1.5, abs=0.05)
    assert drawn[20:].mean() == pytest.approx(0.5, abs=0.05)


def test_out_of_bag_scores_by_hand():
    X2, Y2 = np.vstack([X, X[:5]]), sparse.vstack([Y, Y[:5]], format="csr")  # some rows twice
    grower, rows = grower_of(X2, Y2, TreeDraws(0.5, 1.0, 0.5))
    grown = [grower.grow(tree) for tree in range(3)]
    trees = ObliqueTrees.of(grown)
    scores = grower.out_of_bag(trees, Votes(label=5.0))
    leaves = trees.apply(X2)
    prior = Y2.toarray().mean(axis=0)
    n_without_trees = 0
    for i in range(len(X2)):
        own = rows.kind[i]
        used = [t for t in range(3) if grower._draw(t).times[own] < rows.copies[own]]
        n_without_trees += not used
        said, votes = prior.copy(), np.ones(5)
        for t in used or range(3):
            vote = np.where(grown[t].drawn, 5.0, 1.0)
            said += vote * grown[t].shares.toarray()[leaves[i, t]]
            votes += vote
        np.testing.assert_allclose(scores[i], said / votes, rtol=1e-6)
    assert n_without_trees > 0


def test_a_label_that_never_varies_is_sure():
    grower, _ = grower_of(X, Y, TreeDraws(0.75, 1.0, 1.0))
    trees = ObliqueTrees.of(list(grower.grow_all(0, 3)))
    assert (grower.out_of_bag(trees, Votes(5.0))[:, 4] == 1).all()


def test_threads_and_order_change_nothing():
    grower, _ = grower_of(X, Y, TreeDraws(0.75, 0.5, 0.5))
    alone = ObliqueTrees.of([grower.grow(tree) for tree in range(6)])
    together = ObliqueTrees.of(list(grower.grow_all(0, 6, n_jobs=3)))
    for name in ("left", "right", "weight_features", "weight_values", "bias", "share_values"):
        assert np.array_equal(getattr(alone, name), getattr(together, name))
