"""The Hellinger loss, its gradient and its minimizers against the equations and other solvers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.forest import literal_soshf as literal
from tests.strategies import quick

from palmette._kernels import kernel
from palmette.forest import _split_losses as losses
from palmette.forest._node_block import DenseBlock, SparseBlock, project, transpose_product
from palmette.forest._settings import AdamSettings
from palmette.forest._split_losses import (
    class_shares,
    exact_tanh,
    hellinger_derivatives,
    hellinger_loss,
    logistic_derivatives,
    logistic_loss,
    row_shares,
    soft_rates,
)
from palmette.forest._split_solvers import (
    alpha_at,
    least_squares,
    minimize_by_adam,
    minimize_by_owlqn,
    smooth_l1,
)

# The others run uncompiled, as do all functions here that only kernels call; float64 shows whether
# they are the equations. test_structured_tree.py compares compiled splits with those of Python.
approximate_tanh = kernel(error_model="numpy", fastmath=True)(losses.approximate_tanh.py_func)
best_cut = kernel(error_model="numpy")(losses.best_cut.py_func)

PUBLISHED = (0.1, 1.5, 4.0, 10)  # sharpness of the sigmoid


def adam_settings(n_steps, eta=1e6, batch_size=1000):
    return AdamSettings(-1.0, *PUBLISHED, n_steps, eta, 0.05, batch_size)


def sparse_block(X):
    rows, columns = np.nonzero(X)
    starts = np.searchsorted(rows, np.arange(len(X) + 1)).astype(np.int64)
    return SparseBlock(starts, columns.astype(np.int32), X[rows, columns])


BLOCKS = {"dense": DenseBlock, "sparse": sparse_block}


def problem(seed, n_rows=40, n_columns=5, kind=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.8)
    second = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n_rows) > 0.3
    second[:2] = [False, True]
    return X.astype(kind), second


def shares_of(second, kind=np.float64, weights=None, write=class_shares):
    shares = np.empty((2, len(second)), dtype=kind)
    write(second, np.ones(len(second)) if weights is None else weights, shares)
    return shares


def loss_and_slopes(block, shares, alpha, point):
    n_rows = shares.shape[1]
    tanhs, derivatives = np.empty(n_rows, point.dtype), np.empty(n_rows, point.dtype)
    project(block, point[:-1], point[-1], tanhs)
    exact_tanh(tanhs, alpha, tanhs)
    true_rate, false_rate = soft_rates(shares, tanhs)
    hellinger_derivatives(true_rate, false_rate, shares, tanhs, alpha, derivatives)
    gradient = np.empty(len(point), point.dtype)
    transpose_product(block, derivatives, gradient[:-1])
    gradient[-1] = derivatives.sum()
    return hellinger_loss(true_rate, false_rate), gradient


def slopes_by_differences(function, point, step=1e-6):
    moves = np.eye(len(point)) * step
    return np.array([(function(point + m) - function(point - m)) / (2 * step) for m in moves])


# ---------------------------------------------------------------------- loss and gradient


@pytest.mark.parametrize("form", BLOCKS)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 4.0]), st.sampled_from([0.0, 0.3, 3.0]))
@quick
def test_loss_and_gradient_are_the_equations(form, seed, alpha, size):
    X, second = problem(seed)
    point = np.random.default_rng(seed).normal(size=X.shape[1] + 1) * size
    found, gradient = loss_and_slopes(BLOCKS[form](X), shares_of(second), alpha, point)
    ones, y = np.column_stack([X, np.ones(len(X))]), np.where(second, 1, -1)
    assert found == pytest.approx(literal.loss(alpha, point, ones, y), abs=1e-12)
    np.testing.assert_allclose(gradient, literal.loss_gradient(alpha, point, ones, y), atol=1e-10)


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 4.0]))
@quick
def test_the_literal_gradient_is_that_of_finite_differences(seed, alpha):
    X, second = problem(seed)
    ones, y = np.column_stack([X, np.ones(len(X))]), np.where(second, 1, -1)
    point = np.random.default_rng(seed).normal(size=ones.shape[1]) * 0.5
    by_differences = slopes_by_differences(lambda w: literal.loss(alpha, w, ones, y), point)
    np.testing.assert_allclose(
        literal.loss_gradient(alpha, point, ones, y), by_differences, atol=1e-7
    )


@pytest.mark.parametrize(
    ("bias", "tpr", "fpr"), [(60.0, 1.0, 1.0), (-60.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
)
def test_rates_of_nought_and_one_give_finite_slopes(bias, tpr, fpr):
    X = np.array([[40.0], [50.0], [-40.0], [-50.0]])
    second = np.array([True, True, False, False])
    point = np.array([1.0, bias * 2])
    ones, y = np.column_stack([X, np.ones(4)]), np.where(second, 1, -1)
    assert literal.soft_rates(4.0, point, ones, y) == pytest.approx((tpr, fpr))
    found, gradient = loss_and_slopes(DenseBlock(X), shares_of(second), 4.0, point)
    by_differences = slopes_by_differences(lambda w: literal.loss(4.0, w, ones, y), point)
    assert found == pytest.approx(-2.0 if tpr != fpr else 0.0, abs=1e-3)
    np.testing.assert_allclose(gradient, by_differences, atol=1e-8)
    np.testing.assert_allclose(literal.loss_gradient(4.0, point, ones, y), gradient, atol=1e-12)


@given(st.floats(-12, 12), st.sampled_from([1.0, 100.0, 1e6]))
@quick
def test_the_smooth_norm_is_close_to_the_norm_and_does_not_overflow(weight, eta):
    weights = np.array([weight])
    norm = smooth_l1(weights, eta)
    assert norm == pytest.approx(literal.smooth_l1(weights, eta), rel=1e-12)
    assert abs(weight) <= norm <= abs(weight) + 2 * np.log(2) / eta + 1e-12
    if eta < 1e6:
        step = 1e-5
        by_differences = slopes_by_differences(lambda w: literal.smooth_l1(w, eta), weights, step)
        assert literal.smooth_l1_gradient(weights, eta) == pytest.approx(by_differences, abs=1e-4)


def test_far_from_zero_the_smooth_norm_of_a_huge_eta_has_slopes_of_signs():
    weights = np.array([-3.0, -1e-4, 1e-4, 2.0])
    assert literal.smooth_l1_gradient(weights, 1e6).tolist() == [-1.0, -1.0, 1.0, 1.0]
    by_differences = slopes_by_differences(lambda w: literal.smooth_l1(w, 1e6), weights, 1e-5)
    np.testing.assert_allclose(by_differences, [-1, -1, 1, 1], atol=1e-6)


@given(st.floats(-200, 200), st.sampled_from([0.1, 1.0, 4.0]))
@quick
def test_the_quick_tangent_is_right_to_float32(score, alpha):
    scores, tanh_scores = np.array([score], dtype=np.float32), np.empty(1, dtype=np.float32)
    approximate_tanh(scores, alpha, tanh_scores)
    assert tanh_scores[0] == pytest.approx(np.tanh(alpha * float(scores[0])), abs=3e-7)
    assert abs(tanh_scores[0]) <= 1.0


def test_weights_are_copies():
    X, second = problem(3)
    times = np.random.default_rng(0).integers(1, 4, len(X))
    point = np.linspace(-1, 1, X.shape[1] + 1)
    weighed = loss_and_slopes(
        DenseBlock(X), shares_of(second, weights=times.astype(float)), 1.0, point
    )
    copies = np.repeat(np.arange(len(X)), times)
    copied = loss_and_slopes(DenseBlock(X[copies]), shares_of(second[copies]), 1.0, point)
    assert weighed[0] == pytest.approx(copied[0])
    np.testing.assert_allclose(weighed[1], copied[1], atol=1e-12)


# ---------------------------------------------------------------------- adam


@pytest.mark.parametrize("form", BLOCKS)
@pytest.mark.parametrize(("penalty", "eta"), [(0.0, 1e6), (0.05, 10.0), (0.05, 1e6)])
def test_adam_goes_the_literal_way(form, penalty, eta):
    X, second = problem(5)
    y, ones = np.where(second, 1, -1), np.column_stack([X, np.ones(len(X))])
    point = np.linalg.lstsq(ones, y.astype(float), rcond=None)[0]
    sharpness = literal.alphas(*PUBLISHED, 30)
    expected = literal.adam(ones, y, point, penalty, eta, sharpness)
    state = np.zeros(1, dtype=np.uint64)
    moved = point.copy()
    settings = adam_settings(30, eta)
    minimize_by_adam(settings, BLOCKS[form](X), second, np.ones(len(X)), penalty, state, moved)
    np.testing.assert_allclose(moved, expected, atol=1e-9)
    single = point.astype(np.float32)
    block = BLOCKS[form](X.astype(np.float32))
    minimize_by_adam(settings, block, second, np.ones(len(X)), penalty, state, single)
    np.testing.assert_allclose(single, expected, atol=2e-2 if penalty else 1e-5)


def test_the_sigmoid_sharpens_up_to_its_last_alpha():
    found = [alpha_at(adam_settings(120), k) for k in range(120)]
    assert found == pytest.approx(literal.alphas(*PUBLISHED, 120))
    assert found[0] == 0.1
    assert found[10] == pytest.approx(0.15)
    assert found[-1] == 4.0


def test_batches_learn_what_all_rows_teach():
    X, second = problem(1, n_rows=900)
    point, state = np.full(X.shape[1] + 1, 0.1), np.array([7], dtype=np.uint64)
    block, settings = DenseBlock(X), adam_settings(100, batch_size=100)
    whole = np.full(X.shape[1] + 1, 0.1)
    with np.errstate(over="ignore"):  # random numbers are made by products modulo 2**64
        minimize_by_adam(settings, block, second, np.ones(900), 0.0, state, point)
        minimize_by_adam(adam_settings(100), block, second, np.ones(900), 0.0, state, whole)
    shares = shares_of(second)
    by_batches, by_all = (-loss_and_slopes(block, shares, 4.0, w)[0] for w in (point, whole))
    assert by_batches > 0.9 * by_all > 0.2


# ---------------------------------------------------------------------- quasi-Newton


def proximal_gradient(X, second, alpha, penalty, point, n_steps=4000, step=0.05):
    """Minimize loss plus penalty by small steps: slow, and right where it ends."""
    ones, y = np.column_stack([X, np.ones(len(X))]), np.where(second, 1, -1)
    for _ in range(n_steps):
        point = point - step * literal.loss_gradient(alpha, point, ones, y)
        shrunk = np.sign(point[:-1]) * np.maximum(np.abs(point[:-1]) - step * penalty, 0)
        point = np.append(shrunk, point[-1])
    return point, literal.loss(alpha, point, ones, y) + penalty * np.abs(point[:-1]).sum()


@pytest.mark.parametrize(("seed", "penalty"), [(0, 0.01), (2, 0.2)])
def test_quasi_newton_ends_no_higher_than_proximal_gradients(seed, penalty):
    X, second = problem(seed, n_rows=80, n_columns=8)
    ones, y = np.column_stack([X, np.ones(len(X))]), np.where(second, 1, -1)
    start = np.linalg.lstsq(ones, y.astype(float), rcond=None)[0]
    _, expected = proximal_gradient(X, second, 1.0, penalty, start)
    for form in BLOCKS.values():
        point = start.copy()
        block, shares = form(X), shares_of(second)
        found = minimize_by_owlqn(block, shares, 1.0, penalty, None, 500, 1e-12, point)
        assert found == pytest.approx(literal.loss(1.0, point, ones, y), abs=1e-6)
        assert found + penalty * np.abs(point[:-1]).sum() <= expected + 1e-5


def test_a_large_penalty_leaves_exact_zeros_and_the_bias():
    X, second = problem(2, n_rows=80, n_columns=8)
    point = np.full(9, 0.3)
    minimize_by_owlqn(DenseBlock(X), shares_of(second), 1.0, 0.1, None, 100, 1e-9, point)
    assert 0 < np.count_nonzero(point[:-1]) < 8
    point = np.full(9, 0.3)
    minimize_by_owlqn(DenseBlock(X), shares_of(second), 1.0, 5.0, None, 100, 1e-9, point)
    assert not point[:-1].any()


@pytest.mark.parametrize("form", BLOCKS)
def test_logistic_regression_is_that_of_another_solver(form):
    X, second = problem(4, n_rows=60)
    shares, y = shares_of(second, write=row_shares), np.where(second, 1, -1)
    ones = np.column_stack([X, np.ones(len(X))])

    def objective(w):
        return np.logaddexp(0, -y * (ones @ w)).mean() + 0.005 * (w[:-1] ** 2).sum()

    expected = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-8}).x
    point = np.zeros(6)
    minimize_by_owlqn(BLOCKS[form](X), shares, None, 0.0, 0.01, 200, 1e-14, point)
    np.testing.assert_allclose(point, expected, atol=1e-4)


@given(st.integers(0, 10**6))
@quick
def test_logistic_derivatives_equal_finite_differences(seed):
    rng = np.random.default_rng(seed)
    scores, second = rng.normal(size=6) * 20, rng.random(6) < 0.5
    shares, derivatives = (
        shares_of(second, weights=rng.random(6) + 0.1, write=row_shares),
        np.empty(6),
    )
    logistic_derivatives(scores, shares, derivatives)
    by_differences = slopes_by_differences(lambda z: logistic_loss(z, shares), scores)
    np.testing.assert_allclose(derivatives, by_differences, atol=1e-7)


# ---------------------------------------------------------------------- start and cut


@pytest.mark.parametrize("form", BLOCKS)
@given(st.integers(0, 10**6), st.booleans())
@quick
def test_the_start_is_weighted_least_squares(form, seed, weighed):
    X, second = problem(seed)
    rng = np.random.default_rng(seed)
    row_weights = rng.integers(1, 4, len(X)).astype(float) if weighed else np.ones(len(X))
    weights = np.empty(X.shape[1])
    bias = least_squares(BLOCKS[form](X), second, row_weights, 100, 1e-12, weights)
    root = np.sqrt(row_weights)
    ones = np.column_stack([X, np.ones(len(X))]) * root[:, None]
    expected = np.linalg.lstsq(ones, np.where(second, 1.0, -1.0) * root, rcond=None)[0]
    np.testing.assert_allclose([*weights, bias], expected, atol=1e-8)


def test_with_more_features_than_rows_the_start_fits():
    rng = np.random.default_rng(0)
    X, second = rng.normal(size=(10, 40)), np.arange(10) % 3 == 0
    weights = np.empty(40)
    bias = least_squares(DenseBlock(X), second, np.ones(10), 100, 1e-12, weights)
    np.testing.assert_allclose(X @ weights + bias, np.where(second, 1.0, -1.0), atol=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
@quick
def test_the_cut_is_the_best_of_all(seed, min_rows, ties):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=15).astype(np.float32)
    scores = np.round(scores) if ties else scores
    second = rng.random(15) < 0.4
    second[:2] = [False, True]
    shares = shares_of(second, np.float32)
    cut, distance = best_cut(scores, shares, min_rows)
    best = -1.0
    for threshold in np.unique(scores)[1:]:
        right = scores >= threshold
        if min_rows <= right.sum() <= 15 - min_rows:
            rates = right[second].mean(), right[~second].mean()
            best = max(best, literal.squared_distance(*rates))
    assert distance == pytest.approx(best, abs=1e-6)
    if best >= 0:
        right = scores + np.float32(-cut) >= 0
        rates = right[second].mean(), right[~second].mean()
        assert literal.squared_distance(*rates) == pytest.approx(best, abs=1e-6)
