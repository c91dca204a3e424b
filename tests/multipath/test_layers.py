"""The gradients of the network equal finite differences of its loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from palmette.multipath._layers import (
    NumpyNetwork,
    adam_step,
    adam_step_of_units,
    cross_entropy,
    initial_weights,
    learning_rates,
)


def network(dropout: float = 0.0) -> tuple[NumpyNetwork, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    parts = initial_weights([4, 6, 5, 3], np.array([0.1, 0.5, 0.9]), rng)
    parts = [part.astype(np.float64) for part in parts]
    X, truth = rng.normal(size=(7, 4)), (rng.random((7, 3)) < 0.5).astype(float)
    return NumpyNetwork(parts, dropout, 0.0), X, truth, rng.random((7, 1)) + 0.5


def loss_and_gradients(net: NumpyNetwork, X, truth, weights, rng=None):
    everything, labels = np.arange(len(truth)), sparse.csr_array(truth.astype(bool))
    return net._loss_and_gradients(
        X, labels, everything, weights[:, 0], rng or np.random.default_rng(0)
    )


def loss_of(net: NumpyNetwork, X, truth, weights) -> float:
    proba = net.proba(X)
    cost = -(truth * np.log(proba) + (1 - truth) * np.log(1 - proba))
    return float((weights * cost).mean())


def test_gradients_equal_finite_differences_of_the_loss():
    net, X, truth, weights = network()
    loss, gradients = loss_and_gradients(net, X, truth, weights)
    assert loss == pytest.approx(loss_of(net, X, truth, weights))
    for part, gradient in zip(net.parts, gradients, strict=True):
        for place in np.ndindex(part.shape):
            kept = part[place]
            part[place] = kept + 1e-5
            above = loss_of(net, X, truth, weights)
            part[place] = kept - 1e-5
            below = loss_of(net, X, truth, weights)
            part[place] = kept
            assert gradient[place] == pytest.approx((above - below) / 2e-5, abs=1e-6)


def test_a_batch_is_some_of_the_rows():
    net, X, truth, weights = network()
    rows, labels = np.array([5, 0, 3]), sparse.csr_array(truth.astype(bool))
    rng = np.random.default_rng(0)
    loss, _ = net._loss_and_gradients(X[rows], labels, rows, weights[rows, 0], rng)
    assert loss == pytest.approx(loss_of(net, X[rows], truth[rows], weights[rows]))


def test_the_loss_of_many_nodes_and_of_extreme_logits():
    rng = np.random.default_rng(1)
    logits = rng.normal(scale=40.0, size=(3, 500)).astype(np.float32)
    truth, weights = rng.random((3, 500)) < 0.1, np.array([1.0, 0.5, 2.0], dtype=np.float32)
    labels, expected = sparse.csr_array(truth), logits.astype(np.float64)
    cost = np.logaddexp(0.0, expected) - truth * expected
    gradients = weights[:, None] * (expit(expected) - truth) / logits.size
    exponentials = np.exp(-np.abs(logits))
    loss = cross_entropy(logits, exponentials, labels.indptr, labels.indices, np.arange(3), weights)
    assert loss == pytest.approx((weights[:, None] * cost).mean(), rel=1e-6)
    assert logits == pytest.approx(gradients, abs=1e-9)


def test_a_move_is_that_of_adam():
    rng = np.random.default_rng(2)
    part, first, second = (rng.random(9).astype(np.float32) for _ in range(3))
    gradient = rng.normal(size=9).astype(np.float32)
    pull = gradient + 0.1 * part
    mean, square = 0.9 * first + 0.1 * pull, 0.999 * second + 0.001 * pull**2
    expected = part - 0.02 * mean / (np.sqrt(square) + 1e-8)
    adam_step(part, gradient, first, second, 0.02, 0.1, (0.9, 0.999), 1e-8)
    assert part == pytest.approx(expected, rel=1e-5)
    assert first == pytest.approx(mean, rel=1e-5)
    assert second == pytest.approx(square, rel=1e-5)


def test_it_starts_at_the_prior():
    parts = initial_weights([4, 3], np.array([0.1, 0.5, 0.9]), np.random.default_rng(0))
    assert expit(parts[-1]) == pytest.approx([0.1, 0.5, 0.9], abs=1e-6)


def test_rates_fall_along_half_a_cosine():
    rates = learning_rates(0.2, 4)
    assert rates == pytest.approx(0.1 * (1 + np.cos(np.pi * np.array([0, 0.25, 0.5, 0.75]))))


def test_sparse_rows_are_dense_rows():
    net, X, truth, weights = network()
    X[X < 0] = 0.0
    _, dense = loss_and_gradients(net, X, truth, weights)
    _, gradients = loss_and_gradients(net, sparse.csr_array(X), truth, weights)
    for one, other in zip(dense, gradients, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def test_dropped_units_leave_the_mean_signal_as_it_is():
    net, X, truth, weights = network(dropout=0.5)
    rng = np.random.default_rng(0)
    losses = [loss_and_gradients(net, X, truth, weights, rng)[0] for _ in range(300)]
    assert np.std(losses) > 0
    assert np.isfinite(losses).all()


class SameForAll:
    """Random numbers that drop the same units in every row."""

    def __init__(self, units):
        self.units = list(units)

    def random(self, shape, dtype):
        drawn = np.zeros(shape, dtype)
        drawn[:, self.units.pop(0)] = 1.0
        return drawn


def test_units_that_a_batch_drops_have_no_gradient():
    net, X, truth, weights = network(dropout=0.5)
    rng = np.random.default_rng(3)
    net.parts = [part.astype(float) for part in initial_weights([4, 6, 8, 3], np.full(3, 0.4), rng)]
    units = net.draw_units(rng)
    hidden = [layer.kept for layer in units[1:-1]]
    assert [len(kept) for kept in hidden] == [3, 4]
    loss, found = loss_and_gradients(net._of_units(units), X, truth, weights, units)
    expected_loss, expected = loss_and_gradients(net, X, truth, weights, SameForAll(hidden))
    assert loss == pytest.approx(expected_loss)
    whole = [np.arange(4), *hidden, np.arange(3)]
    for layer in range(3):
        for place, cells in (
            (2 * layer, np.ix_(whole[layer], whole[layer + 1])),
            (2 * layer + 1, whole[layer + 1]),
        ):
            np.testing.assert_allclose(expected[place][cells], found[2 * layer + place % 2])
            expected[place][cells] = 0.0
            assert not expected[place].any()


@pytest.mark.parametrize("columns", [None, np.array([0, 2, 3], dtype=np.int32)])
def test_a_step_of_some_units_is_that_of_their_weights(columns):
    rng = np.random.default_rng(0)
    part, first = rng.normal(size=(2, 5, 4)).astype(np.float32)
    second = rng.random((5, 4), dtype=np.float32)
    rows = np.array([1, 4], dtype=np.int32)
    cells = np.ix_(rows, np.arange(4) if columns is None else columns)
    gradient = rng.normal(size=part[cells].shape).astype(np.float32)
    expected = [array.copy() for array in (part, first, second)]
    taken = [array[cells].ravel() for array in expected]
    adam_step(taken[0], gradient.ravel(), *taken[1:], 0.02, 0.1, (0.9, 0.999), 1e-8)
    adam_step_of_units(part, first, second, gradient, rows, columns, 0.02, 0.1, (0.9, 0.999), 1e-8)
    for found, array, changed in zip((part, first, second), expected, taken, strict=True):
        array[cells] = changed.reshape(gradient.shape)
        np.testing.assert_allclose(found, array, rtol=1e-6)
