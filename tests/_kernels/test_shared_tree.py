from __future__ import annotations

import numpy as np
import pytest
from tests._kernels import naive

from palmette._kernels.random import next_below
from palmette._kernels.shared_tree import add_tree_scores, grow_random_tree, sum_leaf
from palmette._kernels.softmax import softmax_gradients


def make_problem(seed, n_samples=60, n_features=7, n_labels=4):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, size=(n_samples, n_features)).astype(np.uint8)
    weights = rng.integers(1, 4, n_samples).astype(np.float32)
    gradients = (rng.normal(size=(n_samples, n_labels)) * weights[:, None]).astype(np.float32)
    return codes, gradients, weights


def test_numbers_are_those_of_splitmix64():
    state, slow = np.array([7], dtype=np.uint64), [7]
    assert [next_below(state, 10) for _ in range(50)] == [naive.draw(slow, 10) for _ in range(50)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("max_depth", "n_draws", "min_leaf"), [(1, 1, 1), (3, 2, 1), (4, 7, 5)])
def test_a_tree_is_what_the_slow_twin_grows(seed, max_depth, n_draws, min_leaf):
    codes, gradients, weights = make_problem(seed)
    rows = np.arange(len(codes), dtype=np.int32)
    bounds = np.empty((2 ** (max_depth + 1), 2), dtype=np.int64)
    key = np.array([seed + 2**40], dtype=np.uint64)
    features, cuts = grow_random_tree(
        codes, gradients, weights, n_draws, min_leaf, key, rows, bounds
    )
    splits, leaves = naive.grow_random_tree(
        codes, gradients, weights, max_depth, n_draws, min_leaf, seed + 2**40
    )
    assert {n: (int(features[n]), int(cuts[n])) for n in np.flatnonzero(features >= 0)} == splits
    for node, members in leaves.items():
        start, stop = bounds[node]
        assert sorted(rows[start:stop].tolist()) == members.tolist()
    assert sorted(rows.tolist()) == list(range(len(codes)))


def test_walking_a_tree_ends_where_growing_put_the_row():
    codes, gradients, weights = make_problem(1)
    rows = np.arange(len(codes), dtype=np.int32)
    bounds = np.empty((16, 2), dtype=np.int64)
    key = np.array([3], dtype=np.uint64)
    features, cuts = grow_random_tree(codes, gradients, weights, 2, 1, key, rows, bounds)
    scores = np.zeros((len(codes), 1))
    place = np.arange(16, dtype=np.int32)
    add_tree_scores(
        codes, features, cuts, place, np.arange(16.0, dtype=np.float32)[:, None], scores
    )
    for node in range(1, 16):
        if features[node] < 0:
            start, stop = bounds[node]
            assert (scores[rows[start:stop], 0] == node).all()


def test_constant_features_grow_a_single_leaf():
    codes = np.zeros((5, 3), dtype=np.uint8)
    rows, bounds = np.arange(5, dtype=np.int32), np.empty((8, 2), dtype=np.int64)
    ones = np.ones((5, 2), dtype=np.float32)
    features, _ = grow_random_tree(
        codes, ones, ones[:, 0], 2, 1, np.zeros(1, np.uint64), rows, bounds
    )
    assert (features == -1).all()
    assert bounds[1].tolist() == [0, 5]


def test_gradients_and_curvature_of_a_softmax():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20, 5)).astype(np.float32)
    targets = rng.integers(0, 5, 20).astype(np.int32)
    weights = rng.integers(1, 4, 20).astype(np.float32)
    gradients = np.empty_like(scores)
    loss = softmax_gradients(scores, targets, weights, gradients)
    p = np.exp(scores.astype(float))
    p /= p.sum(axis=1, keepdims=True)
    truth = np.eye(5)[targets]
    np.testing.assert_allclose(gradients, weights[:, None] * (truth - p), atol=1e-6)
    np.testing.assert_allclose(loss, -(weights * np.log((truth * p).sum(axis=1))).sum(), rtol=1e-6)
    sums, curvature = np.empty(5), np.empty(5)
    rows = np.array([3, 8, 11], dtype=np.int32)
    sum_leaf(gradients, weights, rows, sums, curvature)
    np.testing.assert_allclose(sums, gradients[rows].sum(axis=0), atol=1e-6)
    expected = (weights[:, None] * p * (1 - p))[rows].sum(axis=0)
    np.testing.assert_allclose(curvature, expected, atol=1e-6)
