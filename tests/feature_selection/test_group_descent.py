"""Passes over rows of weights: both kernels, compared with a reference implementation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.feature_selection._hirr_descent import pass_over_columns, pass_over_gram


def literal_pass(Q, linear, lam, W):
    """Set each row in turn to the minimizer of tr(W'QW) - 2 tr(L'W) + lam sum |W_j|."""
    W = W.copy()
    for j in range(len(W)):
        if Q[j, j] == 0:
            continue
        rest = linear[j] - Q[j] @ W + Q[j, j] * W[j]
        length = np.linalg.norm(rest)
        W[j] = max(0.0, 1 - lam / (2 * length)) * rest / Q[j, j]
    return W


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 8)) < 0.5, rng.normal(size=(30, 8)), 0.0)
    X[:, 2] = 0.0
    return X, rng.normal(size=(30, 3)), rng.normal(size=(8, 3)), rng.normal(size=(8, 4))


@pytest.mark.parametrize("lam", [0.0, 10.0, 1e6])
def test_gram(rows, lam):
    X, Y, W, _ = rows
    Q, linear = X.T @ X, X.T @ Y
    W[2] = 0.0  # weights of a constant feature do not change
    expected = literal_pass(Q, linear, lam, W)
    gradient = linear - Q @ W
    pass_over_gram(Q, lam, W, gradient)
    np.testing.assert_allclose(W, expected, atol=1e-12)
    np.testing.assert_allclose(gradient, linear - Q @ W, atol=1e-10)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_columns_are_as_if_centred_and_scaled(rows, centred, ties):
    X, Y, W, factor = rows
    rng = np.random.default_rng(1)
    unit = rng.random(30) + 0.5
    means = X.T @ unit / (unit @ unit) if centred else np.zeros(8)
    scales = rng.random(8) + 0.5
    Z = (X - np.outer(unit, means)) / scales
    ridge, pull = (2.0, rng.normal(size=(8, 3))) if ties else (0.0, np.zeros((8, 3)))
    factor = factor if ties else np.empty((8, 0))
    Q = Z.T @ Z + ridge * np.eye(8) + factor @ factor.T
    if not ties:
        W[2] = 0.0
    expected = literal_pass(Q, Z.T @ Y + pull, 10.0, W)
    thin = sparse.csc_array(X)
    residual, along = Y - X @ (W / scales[:, None]), factor.T @ W
    pass_over_columns(
        thin.data, thin.indices.astype(np.int32), thin.indptr.astype(np.int64), means, scales, unit,
        np.diag(Q).copy(), ridge, pull, factor, 10.0, W, residual, along,
    )  # fmt: skip
    np.testing.assert_allclose(W, expected, atol=1e-12)
    np.testing.assert_allclose(residual, Y - X @ (W / scales[:, None]), atol=1e-12)
    np.testing.assert_allclose(along, factor.T @ W, atol=1e-12)
