from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from tests.boosting import naive
from tests.spaces import label_spaces, seeds
from tests.strategies import quick

from palmette.boosting._votes import (
    logistic_gradients,
    path_softmax_gradients,
    softmax_gradients,
)

DTYPES = [(np.float32, 1e-5), (np.float64, 1e-12)]


def drawn(seed, n_samples, n_columns):
    """Scores, and weights of rows."""
    rng = np.random.default_rng(seed)
    return rng, rng.normal(size=(n_samples, n_columns)), rng.integers(1, 4, n_samples)


@pytest.mark.parametrize(("dtype", "close"), DTYPES)
def test_gradients_of_a_softmax(dtype, close):
    rng, scores, weights = drawn(0, 20, 5)
    targets = rng.integers(0, 5, 20).astype(np.int32)
    gradients = np.empty_like(scores, dtype=dtype)
    loss = softmax_gradients(scores.astype(dtype), targets, weights.astype(np.float32), gradients)
    p = np.exp(scores)
    p /= p.sum(axis=1, keepdims=True)
    truth = np.eye(5)[targets]
    np.testing.assert_allclose(gradients, weights[:, None] * (truth - p), atol=close)
    np.testing.assert_allclose(loss, -(weights * np.log((truth * p).sum(axis=1))).sum(), rtol=close)


def path_gradients(scores, targets, weights, parents, ends):
    gradients = np.empty_like(scores)
    loss = path_softmax_gradients(
        scores, targets, weights.astype(np.float32), parents, ends, gradients
    )
    return loss, gradients


def columns_of(space):
    return (space.parent[1:] - 1).astype(np.int32), space.is_class[1:]


@quick
@given(space=label_spaces(), seed=seeds)
def test_gradients_of_paths_are_slopes_of_their_likelihood(space, seed):
    parents, ends = columns_of(space)
    rng, scores, weights = drawn(seed, 4, len(parents))
    targets = rng.choice(np.flatnonzero(ends), 4).astype(np.int32)
    truth = targets, weights, parents, ends
    loss, gradients = path_gradients(scores, *truth)
    assert loss == pytest.approx(naive.path_log_likelihood(scores, *truth), rel=1e-9, abs=1e-9)
    steep = naive.slopes(lambda at: naive.path_log_likelihood(at, *truth), scores)
    np.testing.assert_allclose(gradients, -steep, atol=1e-7)
    own = naive.slopes(lambda at: path_gradients(at, *truth)[0], scores)
    np.testing.assert_allclose(gradients, -own, atol=1e-7)
    single, rough = path_gradients(scores.astype(np.float32), *truth)
    np.testing.assert_allclose(rough, gradients, atol=2e-5)
    assert single == pytest.approx(loss, rel=1e-4, abs=1e-4)


def test_gradients_of_paths_worked_by_hand():
    # a: columns 1 and 2 below it; column 3 alone. Paths end at 1, 2, 3, and at a itself
    parents = np.array([-1, 0, 0, -1], dtype=np.int32)
    ends = np.array([True, True, True, True])
    scores = np.log([[2.0, 3.0, 0.5, 1.0]])
    # weights of paths: a 2, a/1 6, a/2 1, 3 1
    loss, gradients = path_gradients(scores, np.array([1], np.int32), np.ones(1), parents, ends)
    assert loss == pytest.approx(-np.log(0.6))
    np.testing.assert_allclose(gradients[0], [1 - 0.9, 1 - 0.6, -0.1, -0.1], atol=1e-12)


def test_on_a_star_paths_are_labels():
    rng, scores, weights = drawn(3, 15, 6)
    targets, weights = rng.integers(0, 6, 15).astype(np.int32), weights.astype(np.float32)
    expected = np.empty_like(scores)
    loss = softmax_gradients(scores, targets, weights, expected)
    parents, ends = np.full(6, -1, dtype=np.int32), np.ones(6, dtype=bool)
    found, gradients = path_gradients(scores, targets, weights, parents, ends)
    np.testing.assert_allclose(gradients, expected, rtol=1e-12, atol=1e-15)
    assert found == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize(("dtype", "close"), DTYPES)
def test_gradients_of_logistic_columns(dtype, close):
    rng, scores, weights = drawn(1, 12, 6)
    truth = sparse.csr_array(rng.random((12, 6)) < 0.3)

    def loss_of(at):
        gradients = np.empty_like(at)
        offsets = truth.indptr.astype(np.int64), truth.indices.astype(np.int32)
        return logistic_gradients(at, *offsets, weights.astype(np.float32), gradients), gradients

    loss, gradients = loss_of(scores.astype(dtype))
    p = 1 / (1 + np.exp(-scores))
    expected = weights[:, None] * (truth.toarray() - p)
    np.testing.assert_allclose(gradients, expected, atol=close)
    slow = naive.logistic_log_likelihood(scores, truth.toarray(), weights)
    np.testing.assert_allclose(loss, slow, rtol=close)
    if dtype == np.float64:
        steep = naive.slopes(lambda at: loss_of(at)[0], scores)
        np.testing.assert_allclose(gradients, -steep, atol=1e-7)


# in float32 a loss of a score of 900 is known to 1e-4
@pytest.mark.parametrize(("dtype", "close"), [(np.float32, 1e-4), (np.float64, 1e-12)])
def test_large_scores_overflow_nowhere(dtype, close):
    scores = np.array([[500.0, -500.0, 0.0], [-900.0, 900.0, 900.0]], dtype=dtype)
    weights, targets = np.ones(2, dtype=np.float32), np.array([0, 1], dtype=np.int32)
    gradients = np.full((2, 3), np.nan, dtype=dtype)
    loss = softmax_gradients(scores, targets, weights, gradients)
    assert loss == pytest.approx(np.log(2), abs=close)
    np.testing.assert_allclose(gradients, [[0, 0, 0], [0, 0.5, -0.5]], atol=1e-6)
    parents, ends = np.array([-1, 0, -1], np.int32), np.array([False, True, True])
    # paths: 0 and 0, then 0 and 900
    loss, gradients = path_gradients(scores, np.array([1, 2], np.int32), weights, parents, ends)
    assert loss == pytest.approx(np.log(2), abs=close)
    np.testing.assert_allclose(gradients, [[0.5, 0.5, -0.5], [0, 0, 0]], atol=1e-6)
    starts, columns = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)
    loss = logistic_gradients(scores, starts, columns, weights, gradients)
    assert loss == pytest.approx(np.log(2) + 900, abs=close)
    np.testing.assert_allclose(gradients, [[0, 0, -0.5], [0, 0, -1]], atol=1e-6)
