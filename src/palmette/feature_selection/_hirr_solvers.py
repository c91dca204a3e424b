"""Solvers of HirrProblem: block coordinate descent, and the reweighted least squares (IRLS)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from palmette._arrays import FloatArray
from palmette.feature_selection._hirr_descent import (
    MEMORY,
    ROUNDING,
    State,
    extrapolate,
    objective_and_gap,
    row_norms,
)
from palmette.feature_selection._hirr_problem import HirrProblem, Solution, Weights

IndexArray = NDArray[np.int64]
SHORTEST = 1e-8  # rows of weights with smaller norms are regarded as zero
_FIRST = 64  # number of features that may become active in the first round; it doubles each round
_LOOSE = 0.03  # tolerance of a round relative to the gap, while inactive features are missing
_INNER = 0.3  # tolerance of the active features relative to that of the node
_TIGHTEST = 0.03  # smallest tolerance of a coupled node, relative to that of all
_MAX_ROUNDS = 30  # maximum number of times that features of one node become active


def solve_bcd(
    problem: HirrProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: Sequence[Weights] | None = None,
    callback: Callable[[int, float], object] | None = None,
    n_jobs: int | None = None,
) -> Solution:
    """Minimize the objective by sweeps over the nodes, each solved by block coordinate descent.

    Parameters
    ----------
    problem : HirrProblem
    tol : float
        Maximum duality gap at convergence, relative to the objective of zero weights.
    max_iter : int
        Maximum number of sweeps; one is enough if nodes are not coupled.
    start : sequence of Weights, optional
        Zero weights by default.
    callback : callable, optional
        Function that is called with the number of each sweep and the objective after it.
    n_jobs : int, optional
        Number of threads, if nodes are not coupled.

    Examples
    --------
    >>> from palmette.feature_selection._hirr_design import GramDesign
    >>> design = GramDesign(np.eye(2), np.array([[3.0], [0.5]]), 10.0)
    >>> problem = HirrProblem([design], np.array([-1]), np.array([2.0]))
    >>> solve_bcd(problem).weights[0].values
    array([[2.]])
    """
    if start is None:
        start = [Weights.none(problem.designs[t].cross.shape[1]) for t in range(problem.n_tasks)]
    weights = list(start)
    value, gap = problem.assess(weights)
    objective, tolerance, node_tol = [value], max(tol, ROUNDING) * sum(problem.energies), tol
    past = [list(weights)]
    while gap > tolerance and len(objective) <= max_iter:
        if problem.is_coupled:
            for t in range(problem.n_tasks):
                weights[t] = _descend_node(problem, t, weights, node_tol)
            # part of the gap remains because the nodes are not solved exactly
            node_tol = max(0.3 * node_tol, _TIGHTEST * tol)
            past.append(list(weights))
        else:
            weights = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(_descend_node)(problem, t, weights, node_tol)
                for t in range(problem.n_tasks)
            )
        value, gap = problem.assess(weights)
        if len(past) > MEMORY:  # sweeps of strongly coupled nodes converge slowly
            ahead = weights_ahead(past)
            if ahead is not None:
                value_ahead, gap_ahead = problem.assess(ahead)
                if value_ahead < value:
                    weights, value, gap = ahead, value_ahead, gap_ahead
            past = [list(weights)]
        objective.append(value)
        if callback is not None:
            callback(len(objective) - 1, value)
    return Solution(weights, objective, gap, "bcd", gap <= tolerance)


def weights_ahead(past: Sequence[Sequence[Weights]]) -> list[Weights] | None:
    """Return the weights to which those of some sweeps seem to lead; None if they do not."""
    n_tasks = len(past[0])
    rows = [np.unique(np.concatenate([each[t].rows for each in past])) for t in range(n_tasks)]
    widths = [past[0][t].values.shape[1] for t in range(n_tasks)]
    states: list[State] = []
    for each in past:
        full = []
        for t, own in enumerate(each):
            values = np.zeros((len(rows[t]), widths[t]))
            values[np.searchsorted(rows[t], own.rows)] = own.values
            full.append(values.ravel())
        states.append((np.concatenate(full),))
    found = extrapolate(states)
    if found is None:
        return None
    ends = np.cumsum([len(own) * width for own, width in zip(rows, widths, strict=True)])
    parts = np.split(found[0], ends[:-1])
    return [
        Weights(own, part.reshape(len(own), width))
        for own, part, width in zip(rows, parts, widths, strict=True)
    ]


def _descend_node(problem: HirrProblem, t: int, weights: Sequence[Weights], tol: float) -> Weights:
    """Minimize over the weights of one node, with those of the others fixed."""
    design, lam = problem.designs[t], float(problem.lam[t])
    coupling = problem.couple(t, weights)
    before, active = np.inf, np.empty(0, dtype=np.int64)
    own, n_new, node_tolerance = weights[t], _FIRST, max(tol, ROUNDING) * design.energy
    for _ in range(_MAX_ROUNDS):
        gradient = design.gradient(own.rows, own.values)
        square = design.loss(own.rows, own.values, gradient)
        if coupling is not None:
            gradient += coupling.gradient(own.rows, own.values)
            square += coupling.value(own.rows, own.values)
        _, gap = objective_and_gap(square, lam, own.values, gradient[own.rows], gradient)
        stalled = gap > 0.5 * before and np.array_equal(active, own.rows)
        if gap <= node_tolerance or stalled:
            break
        before = gap
        active = _add_features(own.rows, row_norms(gradient), lam, n_new)
        values = np.zeros((len(active), own.values.shape[1]))
        values[np.searchsorted(active, own.rows)] = own.values
        tolerance = max(_INNER * node_tolerance, _LOOSE * gap)
        design.descend(active, values, gradient[active], coupling, lam, tolerance)
        kept = values.any(axis=1)
        own, n_new = Weights(active[kept], values[kept]), 2 * n_new
    return own


def _add_features(rows: IndexArray, norms: FloatArray, lam: float, n_new: int) -> IndexArray:
    """Return the nonzero rows and up to `n_new` others with the largest gradients, ascending."""
    norms = norms.copy()
    norms[rows] = 0.0
    new = np.flatnonzero(2.0 * norms > lam)
    if len(new) > n_new:
        new = new[np.argpartition(-norms[new], n_new)[:n_new]]
    return np.union1d(rows, new)


def solve_irls(
    problem: HirrProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: Sequence[Weights] | None = None,
    callback: Callable[[int, float], object] | None = None,
) -> Solution:
    """Minimize the objective by sweeps over the nodes, each a system of linear equations.

    The norm of a row ``w`` is replaced by ``|w|^2 / (2 |w_before|)``, up to a constant an upper
    bound, so that the objective never increases. A node uses the latest weights of the others.

    Parameters
    ----------
    problem, tol, max_iter, callback
        As in `solve_bcd`; with a tolerance of 0 all `max_iter` sweeps are made.
    start : sequence of Weights, optional
        `ridge_start` by default.

    Examples
    --------
    >>> from palmette.feature_selection._hirr_design import GramDesign
    >>> design = GramDesign(np.eye(2), np.array([[3.0], [0.5]]), 10.0)
    >>> problem = HirrProblem([design], np.array([-1]), np.array([2.0]))
    >>> solve_irls(problem).weights[0].values.round(3)
    array([[2.],
           [0.]])
    """
    weights = list(ridge_start(problem) if start is None else start)
    value, gap = problem.assess(weights)
    objective, tolerance = [value], tol * sum(problem.energies)
    while (gap > tolerance or tol == 0) and len(objective) <= max_iter:
        for t in range(problem.n_tasks):
            weights[t] = _reweighted_node(problem, t, weights)
        value, gap = problem.assess(weights)
        objective.append(value)
        if callback is not None:
            callback(len(objective) - 1, value)
    return Solution(weights, objective, gap, "irls", gap <= tolerance)


def _reweighted_node(problem: HirrProblem, t: int, weights: Sequence[Weights]) -> Weights:
    design, coupling = problem.designs[t], problem.couple(t, weights)
    features = np.arange(len(design.cross))
    norms = np.full(len(features), SHORTEST)
    norms[weights[t].rows] = np.maximum(weights[t].norms, SHORTEST)
    matrix, right = design.block(features).copy(), design.cross
    diagonal = 0.5 * problem.lam[t] / norms
    if coupling is not None:
        matrix += coupling.block(features)
        diagonal += coupling.ridge
        right = right + coupling.pull
    return Weights(features, _solve(matrix, diagonal, right))


def _solve(matrix: FloatArray, diagonal: FloatArray, right: FloatArray) -> FloatArray:
    """Return ``(matrix + diag(diagonal))^-1 right``; `matrix` is overwritten."""
    matrix[np.diag_indices(len(matrix))] += diagonal
    factors = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    solution: FloatArray = cho_solve(factors, right, check_finite=False)
    return solution


def ridge_start(problem: HirrProblem) -> list[Weights]:
    """Return the weights of a ridge regression at every node, without coupling."""
    found = []
    for t in range(problem.n_tasks):
        design = problem.designs[t]
        features = np.arange(len(design.cross))
        ridge = np.full(len(features), max(problem.lam[t], 1e-10 * float(design.squares.max())))
        values = _solve(design.block(features).copy(), ridge, design.cross)
        found.append(Weights(features, values))
    return found


def random_start(problem: HirrProblem, seed: int) -> list[Weights]:
    """Return weights drawn uniformly from 0 to 1, the initial weights of the paper."""
    rng = np.random.default_rng(seed)
    shapes = [problem.designs[t].cross.shape for t in range(problem.n_tasks)]
    return [Weights(np.arange(shape[0]), rng.random(shape)) for shape in shapes]
