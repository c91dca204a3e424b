"""Linear classifiers of many labels of the same rows: squared hinge, by descent or by Newton.

Every label minimizes ``|w|^2 / 2 + sum of cost max(0, 1 - sign w x)^2``, the objective of
scikit-learn's LinearSVC, where the bias is the weight of a constant feature 1. The labels of a
block are solved together, so that the weights of one feature are adjacent in memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, read_only
from palmette._kernels import kernel
from palmette._stopping import raise_if_stopped

Singles = NDArray[np.float32]

_FEW_FEATURES = 128  # up to this number Newton's method is fast, and exact
_ENTRIES_AT_ONCE = 2**21  # of the rows between two looks at the stop flag
_NEWTON_STEPS = 100
_HALVINGS = 40


class LabelProblem(NamedTuple):
    """The rows of some binary problems.

    Parameters
    ----------
    X : float64 array or CSR matrix of shape (n_samples, n_features)
    costs : float64 array of shape (n_samples,)
        Weight of the loss of every row.
    stop : uint8 array of shape (1,)
        See `palmette._stopping.stop_flag`.
    """

    X: Any
    costs: FloatArray
    stop: NDArray[np.uint8]

    @classmethod
    def of(cls, X: Any, costs: FloatArray, stop: NDArray[np.uint8]) -> LabelProblem:
        """Return the problem with X in the form that its solver takes."""
        if X.shape[1] > _FEW_FEATURES and not sparse.issparse(X):
            X = sparse.csr_array(X)
        return cls(X, costs, stop)

    @property
    def is_exact(self) -> bool:
        """Whether it is solved exactly, by Newton's method."""
        return bool(self.X.shape[1] <= _FEW_FEATURES)


def fit_labels(
    problem: LabelProblem,
    signs: NDArray[np.int8],
    factors: FloatArray,
    tol: float,
    max_iter: int,
    seed: int,
) -> tuple[Any, FloatArray, int]:
    """Fit a linear classifier per label.

    Parameters
    ----------
    problem : LabelProblem
    signs : int8 array of shape (n_samples, n_labels)
        1 if a label is true, else -1.
    factors : array of shape (2, n_labels)
        Factors of the costs of negative and of positive rows.
    tol : float
        Rows whose projected gradients are below it are left out until all others are.
    max_iter : int
        Maximum number of passes over the rows.
    seed : int
        Of the order of the rows.

    Returns
    -------
    weights : float64 or float32 array of shape (n_features, n_labels)
    bias : float64 array of shape (n_labels,)
    n_iter : int
        Number of passes, or largest number of steps of Newton's method.
    """
    if problem.is_exact:
        solved = [
            _newton(problem, signs[:, j].astype(np.float64), factors[:, j])
            for j in range(signs.shape[1])
        ]
        both = np.column_stack([w for w, _ in solved])
        return both[:-1], both[-1], max(steps for _, steps in solved)
    weights, passes = _descent(problem, signs, factors, tol, max_iter, seed)
    return weights[:-1], weights[-1].astype(np.float64), passes


# ---------------------------------------------------------------------- coordinate descent


def _descent(
    problem: LabelProblem,
    signs: NDArray[np.int8],
    factors: FloatArray,
    tol: float,
    max_iter: int,
    seed: int,
) -> tuple[Singles, int]:
    """Return weights of shape (n_features + 1, n_labels), the last row the bias, and passes."""
    X = problem.X
    signs, factors = np.ascontiguousarray(signs), np.ascontiguousarray(factors)
    n_rows, n_labels = signs.shape
    weights = np.zeros((X.shape[1] + 1, n_labels), dtype=np.float32)
    duals = np.zeros((n_rows, n_labels), dtype=np.float32)
    starts = X.indptr.astype(np.int64, copy=False)
    squares = np.append(0.0, np.cumsum(X.data * X.data))
    norms = 1.0 + squares[starts[1:]] - squares[starts[:-1]]
    gaps = np.empty(n_rows)
    rng = np.random.default_rng(seed)
    at_once = max(1, _ENTRIES_AT_ONCE // max(1, X.nnz // max(n_rows, 1)))
    active = np.arange(n_rows)
    for passes in range(max_iter):  # noqa: B007 (used after the loop)
        order = rng.permutation(active)
        for start in range(0, len(order), at_once):
            raise_if_stopped(problem.stop)
            sweep(
                read_only(X.data), read_only(starts), read_only(X.indices),
                order[start : start + at_once], signs, problem.costs, factors, norms,
                weights, duals, gaps,
            )  # fmt: skip
        was_whole, active = len(active) == n_rows, order[gaps[order] > tol]
        if not len(active):
            if was_whole:
                break
            active = np.arange(n_rows)
    return weights, passes + 1


@kernel
def sweep(
    values: FloatArray,
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    order: NDArray[np.int64],
    signs: NDArray[np.int8],
    costs: FloatArray,
    factors: FloatArray,
    norms: FloatArray,
    weights: Singles,
    duals: Singles,
    gaps: FloatArray,
) -> None:
    """Optimize the dual variables of some rows, one row after the other.

    Parameters
    ----------
    values, starts, columns : arrays, IN
        Rows as in a CSR matrix.
    order : int64 array, IN
        The rows to visit.
    signs : int8 array of shape (n_samples, n_labels), IN
    costs, norms : float64 arrays of shape (n_samples,), IN
        Costs, and squared lengths with the constant feature.
    factors : float64 array of shape (2, n_labels), IN
    weights : float32 array of shape (n_features + 1, n_labels), IN and OUT
    duals : float32 array of shape (n_samples, n_labels), IN and OUT
    gaps : float64 array of shape (n_samples,), OUT
        Largest projected gradient of the labels, before the step.
    """
    n_labels, bias = signs.shape[1], len(weights) - 1
    margins = np.empty(n_labels, dtype=np.float32)
    for i in order:
        for t in range(n_labels):
            margins[t] = weights[bias, t]
        for e in range(starts[i], starts[i + 1]):
            value, j = np.float32(values[e]), columns[e]
            for t in range(n_labels):
                margins[t] += value * weights[j, t]
        worst = 0.0
        for t in range(n_labels):
            sign, old = signs[i, t], duals[i, t]
            softness = 0.5 / (costs[i] * factors[(sign + 1) // 2, t])
            gradient = sign * margins[t] - 1.0 + softness * old
            worst = max(worst, abs(gradient) if old > 0.0 else -gradient)
            new = max(old - gradient / (softness + norms[i]), 0.0)
            duals[i, t] = new
            margins[t] = (duals[i, t] - old) * sign  # from here on the step
        gaps[i] = worst
        if worst > 0.0:
            for e in range(starts[i], starts[i + 1]):
                value, j = np.float32(values[e]), columns[e]
                for t in range(n_labels):
                    weights[j, t] += value * margins[t]
            for t in range(n_labels):
                weights[bias, t] += margins[t]


# ---------------------------------------------------------------------- Newton's method


def _newton(
    problem: LabelProblem, signs: FloatArray, factors: FloatArray
) -> tuple[FloatArray, int]:
    """Return exact weights of one label, (n_features + 1,) with the bias last, and steps.

    The objective is quadratic as long as the same rows have margins below one.
    """
    X, n_features = problem.X, problem.X.shape[1]
    costs = problem.costs * np.where(signs > 0, factors[1], factors[0])
    w, margins = np.zeros(n_features + 1), np.zeros(len(signs))

    def objective(point: FloatArray, at: FloatArray) -> float:
        return float(0.5 * point @ point + costs @ np.maximum(0.0, 1.0 - signs * at) ** 2)

    value = objective(w, margins)
    for steps in range(_NEWTON_STEPS):  # noqa: B007 (used after the loop)
        raise_if_stopped(problem.stop)
        short = np.flatnonzero(signs * margins < 1.0)
        rows, double = X[short], 2.0 * costs[short]
        gram = np.empty((n_features + 1, n_features + 1))
        scaled = rows.multiply(double[:, None]).tocsr() if sparse.issparse(X) else (
            rows * double[:, None]
        )  # fmt: skip
        products = rows.T @ scaled
        gram[:-1, :-1] = products.toarray() if sparse.issparse(products) else products
        gram[-1, :-1] = gram[:-1, -1] = rows.T @ double
        gram[-1, -1] = double.sum()
        gram[np.diag_indices(n_features + 1)] += 1.0
        right = double * signs[short]
        aim = _solve(gram, np.append(rows.T @ right, right.sum()))
        toward = X @ aim[:-1] + aim[-1]
        step = 1.0
        for _ in range(_HALVINGS):
            reached = objective(w + step * (aim - w), margins + step * (toward - margins))
            if reached <= value:
                break
            step *= 0.5
        gain = value - reached
        if gain <= 1e-14 * max(value, 1e-300):
            break
        w, margins, value = w + step * (aim - w), margins + step * (toward - margins), reached
    return w, steps + 1


def _solve(gram: FloatArray, right: FloatArray) -> FloatArray:
    """Solve for the weights; if values are so large that the penalty is lost, for the shortest."""
    try:
        return np.asarray(np.linalg.solve(gram, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(gram, right)[0])
