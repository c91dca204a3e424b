"""The network's gradient is the gradient of its loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from palmette.multipath.layers import NumpyNetwork, first_weights, learning_rates


def network(dropout: float = 0.0) -> tuple[NumpyNetwork, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    parts = first_weights([4, 6, 5, 3], np.array([0.1, 0.5, 0.9]), rng)
    parts = [part.astype(np.float64) for part in parts]
    X, truth = rng.normal(size=(7, 4)), (rng.random((7, 3)) < 0.5).astype(float)
    return NumpyNetwork(parts, dropout, 0.0), X, truth, rng.random((7, 1)) + 0.5


def loss_of(net: NumpyNetwork, X, truth, weights) -> float:
    proba = net.proba(X)
    cost = -(truth * np.log(proba) + (1 - truth) * np.log(1 - proba))
    return float((weights * cost).mean())


def test_slopes_are_finite_differences_of_the_loss():
    net, X, truth, weights = network()
    loss, slopes = net._slopes(X, truth, weights, np.random.default_rng(0))
    assert loss == pytest.approx(loss_of(net, X, truth, weights))
    for part, slope in zip(net.parts, slopes, strict=True):
        for place in np.ndindex(part.shape):
            kept = part[place]
            part[place] = kept + 1e-5
            above = loss_of(net, X, truth, weights)
            part[place] = kept - 1e-5
            below = loss_of(net, X, truth, weights)
            part[place] = kept
            assert slope[place] == pytest.approx((above - below) / 2e-5, abs=1e-6)


def test_it_starts_at_the_prior():
    parts = first_weights([4, 3], np.array([0.1, 0.5, 0.9]), np.random.default_rng(0))
    assert expit(parts[-1]) == pytest.approx([0.1, 0.5, 0.9], abs=1e-6)


def test_rates_fall_along_half_a_cosine():
    rates = learning_rates(0.2, 4)
    assert rates == pytest.approx(0.1 * (1 + np.cos(np.pi * np.array([0, 0.25, 0.5, 0.75]))))


def test_sparse_rows_are_dense_rows():
    net, X, truth, weights = network()
    X[X < 0] = 0.0
    _, dense = net._slopes(X, truth, weights, np.random.default_rng(0))
    _, slopes = net._slopes(sparse.csr_array(X), truth, weights, np.random.default_rng(0))
    for one, other in zip(dense, slopes, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def test_dropped_units_leave_the_mean_signal_as_it_is():
    net, X, truth, weights = network(dropout=0.5)
    rng = np.random.default_rng(0)
    losses = [net._slopes(X, truth, weights, rng)[0] for _ in range(300)]
    assert np.std(losses) > 0
    assert np.isfinite(losses).all()
