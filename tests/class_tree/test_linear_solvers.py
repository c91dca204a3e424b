"""Coordinate descent in the dual and Newton's method find the same minimum, that of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from palmette._arrays import read_only
from palmette._stopping import stop_flag
from palmette.class_tree import ClassTreeClassifier
from palmette.class_tree._dual_descent import (
    TargetRows,
    compact_columns,
    logistic_descent,
    squared_hinge_descent,
)
from palmette.class_tree._newton import logistic_newton, squared_hinge_newton
from palmette.routing import LinearRouter

SOLVERS = {
    "squared_hinge": (squared_hinge_descent, squared_hinge_newton),
    "logistic": (logistic_descent, logistic_newton),
}
SIGNS = np.array([[1, -1], [-1, 1], [-1, -1], [1, 1]], dtype=np.int8)  # four groups, two lanes


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 9)) * (rng.random((50, 9)) < 0.5)
    chosen = rng.choice(50, size=40, replace=False)
    member = rng.integers(4, size=40).astype(np.int32)
    return X, chosen, member, rng.gamma(2.0, size=40)


def solve(descend, rows, *arguments, dtype=np.float64):
    X, chosen, member, costs = rows
    flat = sparse.csr_array(X)
    starts = flat.indptr.astype(np.int64)
    lengths, columns = np.diff(starts), flat.indices.astype(np.int32)
    used, local, local_starts = compact_columns(columns, starts[:-1], lengths, chosen, 9)
    lines = np.zeros((len(used) + 1, 2), dtype)
    # read-only, as fits pass them: others would be compiled for this test alone
    entries = map(read_only, (flat.data.astype(dtype), starts[:-1], lengths, local))
    data = TargetRows(*entries, local_starts, chosen, member, SIGNS, costs, stop_flag())
    taken = descend(data, *arguments, lines)
    whole = np.zeros((10, 2))
    whole[np.append(used, 9)] = lines
    return whole, taken


def least(loss, rows, lane):
    """Return the minimum of the objective by scipy."""
    X, chosen, member, costs = rows
    Z = np.column_stack([X[chosen], np.ones(len(chosen))])
    signs = SIGNS[member, lane]

    def objective(line):
        margins = signs * (Z @ line)
        if loss == "squared_hinge":
            lost, slope = np.maximum(0, 1 - margins) ** 2, -2 * np.maximum(0, 1 - margins)
        else:
            lost, slope = np.logaddexp(0, -margins), -1 / (1 + np.exp(margins))
        return line @ line / 2 + costs @ lost, line + Z.T @ (costs * slope * signs)

    return minimize(objective, np.zeros(10), jac=True, method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize("loss", SOLVERS)
def test_both_methods_find_the_minimum(loss, rows):
    descend, newton = SOLVERS[loss]
    by_descent, passes = solve(descend, rows, 1e-9, 100_000, np.zeros(1, dtype=np.uint64))
    by_newton, steps = solve(newton, rows, 100)
    for lane in range(2):
        expected = least(loss, rows, lane)
        np.testing.assert_allclose(by_newton[:, lane], expected, atol=1e-6)
        np.testing.assert_allclose(by_descent[:, lane], expected, atol=1e-6)
    assert 1 < steps < 20
    assert passes < 100_000


def test_label_sets_in_float32_have_the_same_minimum(rows):
    state = np.zeros(1, dtype=np.uint64)
    found, _ = solve(squared_hinge_descent, rows, 1e-3, 1000, state, dtype=np.float32)
    for lane in range(2):
        np.testing.assert_allclose(found[:, lane], least("squared_hinge", rows, lane), atol=2e-3)


@pytest.mark.parametrize("loss", SOLVERS)
def test_returns_max_iter_without_convergence(loss, rows):
    descend, newton = SOLVERS[loss]
    assert solve(descend, rows, 1e-12, 2, np.zeros(1, dtype=np.uint64))[1] == 2
    assert solve(newton, rows, 1)[1] == 1


@pytest.mark.parametrize("loss", SOLVERS)
def test_the_order_of_visits_changes_little(loss, rows):
    descend = SOLVERS[loss][0]
    one, other = (
        solve(descend, rows, 1e-6, 10_000, np.array([seed], dtype=np.uint64))[0] for seed in (0, 9)
    )
    assert not np.array_equal(one, other)
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_columns_in_use_are_numbered_in_order():
    X = sparse.csr_array(np.array([[0, 2, 0, 0, 5], [1, 0, 0, 0, 0], [0, 0, 0, 3, 4]], dtype=float))
    starts = X.indptr.astype(np.int64)
    used, local, local_starts = compact_columns(
        X.indices.astype(np.int32), starts[:-1], np.diff(starts), np.array([2, 0]), 5
    )
    assert used.tolist() == [1, 3, 4]
    assert local.tolist() == [1, 2, 0, 2]
    assert local_starts.tolist() == [0, 2]


@pytest.mark.parametrize("per_row", [3, 60])
def test_texts_of_few_words_are_not_solved_exactly_if_that_takes_longer(per_row, monkeypatch):
    steps = []

    def newton(data, n_steps, weights):
        steps.append(len(weights))
        return squared_hinge_newton(data, n_steps, weights)

    monkeypatch.setattr("palmette.class_tree._newton.squared_hinge_newton", newton)
    rng = np.random.default_rng(0)
    X = np.zeros((1000, 100))
    words = rng.permuted(np.tile(np.arange(100), (1000, 1)), axis=1)
    np.put_along_axis(X, words[:, :per_row], 1.0, axis=1)
    y = X[:, :20].sum(axis=1) > per_row / 5
    scores = []
    for max_iter in ("auto", 1000):
        tree = ClassTreeClassifier(router=LinearRouter(tol=0.1, max_iter=max_iter))
        scores.append(tree.fit(sparse.csr_array(X), y).score(sparse.csr_array(X), y))
    assert len(steps) == (1 if per_row == 3 else 2)
    assert scores[0] > scores[1] - 0.02
