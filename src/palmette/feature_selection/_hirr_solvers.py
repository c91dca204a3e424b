"""The solver of the HiRR-FS paper: reweighted least squares, one node after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from palmette.feature_selection._hirr_descent import ROUNDING, objective_and_gap, row_norms
from palmette.feature_selection._hirr_problem import HirrProblem, Solution, Weights

__all__ = ["SHORTEST", "random_start", "ridge_start", "solve_bcd", "solve_irls"]


FloatArray = NDArray[np.float64]

SHORTEST = 1e-8  # length of a row of weights below which its norm counts as a square


def solve_irls(
    problem: HirrProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: Sequence[Weights] | None = None,
    callback: Callable[[int, float], object] | None = None,
) -> Solution:
    """Minimise the objective by sweeps over the nodes, each a system of linear equations.

    The norm of a row ``w`` is replaced by a square, ``|w|^2 / (2 |w_before|)``, which touches it
    from above; so the objective never rises. All weights of other nodes are the newest.

    Parameters
    ----------
    problem : HirrProblem
    tol : float
        The duality gap that is small enough, as a part of the objective of no weights; with 0 all
        of `max_iter` sweeps are made.
    max_iter : int
        Sweeps.
    start : sequence of Weights, optional
        `ridge_start` by default.
    callback : callable, optional
        Called with the number of the sweep and the objective after it.

    Returns
    -------
    Solution

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
    objective, enough = [value], tol * sum(problem.energies)
    while (gap > enough or tol == 0) and len(objective) <= max_iter:
        for t in range(problem.n_tasks):
            weights[t] = _reweighted_node(problem, t, weights)
        value, gap = problem.assess(weights)
        objective.append(value)
        if callback is not None:
            callback(len(objective) - 1, value)
    return Solution(weights, objective, gap, "irls", gap <= enough)


def _reweighted_node(problem: HirrProblem, t: int, weights: Sequence[Weights]) -> Weights:
    design, coupling = problem.designs[t], problem.couple(t, weights)
    everything = np.arange(len(design.cross))
    norms = np.full(len(everything), SHORTEST)
    norms[weights[t].rows] = np.maximum(weights[t].norms, SHORTEST)
    matrix, right = design.block(everything).copy(), design.cross
    diagonal = 0.5 * problem.lam[t] / norms
    if coupling is not None:
        matrix += coupling.factor @ coupling.factor.T
        diagonal += coupling.ridge
        right = right + coupling.pull
    return Weights(everything, _solve(matrix, diagonal, right))


def _solve(matrix: FloatArray, diagonal: FloatArray, right: FloatArray) -> FloatArray:
    """``(matrix + diag(diagonal))^-1 right``; `matrix` is overwritten."""
    matrix[np.diag_indices(len(matrix))] += diagonal
    factors = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    solution: FloatArray = cho_solve(factors, right, check_finite=False)
    return solution


def ridge_start(problem: HirrProblem) -> list[Weights]:
    """Weights of a ridge regression at every node, nodes not coupled."""
    found = []
    for t in range(problem.n_tasks):
        design = problem.designs[t]
        everything = np.arange(len(design.cross))
        ridge = np.full(len(everything), max(problem.lam[t], 1e-10 * float(design.squares.max())))
        values = _solve(design.block(everything).copy(), ridge, design.cross)
        found.append(Weights(everything, values))
    return found


def random_start(problem: HirrProblem, seed: int) -> list[Weights]:
    """Weights drawn evenly from 0 to 1, as the paper starts."""
    rng = np.random.default_rng(seed)
    shapes = [problem.designs[t].cross.shape for t in range(problem.n_tasks)]
    return [Weights(np.arange(shape[0]), rng.random(shape)) for shape in shapes]


IndexArray = NDArray[np.int64]

_FIRST = 64  # features that may enter at once, at the least
_LOOSE = 0.03  # part of the gap that is left over, while features that should enter are outside
_INNER = 0.3  # part of a node's tolerance that its active features are solved to
_TIGHTEST = 0.03  # part of the tolerance that a node is solved to, if it is coupled to others
_MAX_ROUNDS = 30  # of widening the active features of one node


def solve_bcd(
    problem: HirrProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: Sequence[Weights] | None = None,
    callback: Callable[[int, float], object] | None = None,
    n_jobs: int | None = None,
) -> Solution:
    """Minimise the objective by sweeps over the nodes, each solved for its own weights.

    Parameters
    ----------
    problem : HirrProblem
    tol : float
        The duality gap that is small enough, as a part of the objective of no weights.
    max_iter : int
        Sweeps; one is enough where nodes are not coupled.
    start : sequence of Weights, optional
        No weights by default.
    callback : callable, optional
        Called with the number of the sweep and the objective after it.
    n_jobs : int, optional
        Nodes that are not coupled are solved in as many threads.

    Returns
    -------
    Solution

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
    objective, enough, node_tol = [value], max(tol, ROUNDING) * sum(problem.energies), tol
    while gap > enough and len(objective) <= max_iter:
        if problem.is_coupled:
            for t in range(problem.n_tasks):
                weights[t] = _descend_node(problem, t, weights, node_tol)
            # what is left of the gap is owed to the nodes, if not to their ties
            node_tol = max(0.3 * node_tol, _TIGHTEST * tol)
        else:
            weights = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(_descend_node)(problem, t, weights, node_tol)
                for t in range(problem.n_tasks)
            )
        value, gap = problem.assess(weights)
        objective.append(value)
        if callback is not None:
            callback(len(objective) - 1, value)
    return Solution(weights, objective, gap, "bcd", gap <= enough)


def _descend_node(problem: HirrProblem, t: int, weights: Sequence[Weights], tol: float) -> Weights:
    """Minimise over the weights of one node, those of the others held."""
    design, lam = problem.designs[t], float(problem.lam[t])
    coupling = problem.couple(t, weights)
    before, active = np.inf, np.empty(0, dtype=np.int64)
    own, room, settled = weights[t], _FIRST, max(tol, ROUNDING) * design.energy
    for _ in range(_MAX_ROUNDS):
        gradient = design.gradient(own.rows, own.values)
        square = design.loss(own.rows, own.values, gradient)
        if coupling is not None:
            gradient += coupling.gradient(own.rows, own.values)
            square += coupling.value(own.rows, own.values)
        _, gap = objective_and_gap(square, lam, own.values, gradient[own.rows], gradient)
        stalled = gap > 0.5 * before and np.array_equal(active, own.rows)
        if gap <= settled or stalled:
            break
        before = gap
        lengths = row_norms(gradient)
        active = _widen(own.rows, lengths, lam, room)
        values = np.zeros((len(active), own.values.shape[1]))
        values[np.searchsorted(active, own.rows)] = own.values
        enough = max(_INNER * settled, _LOOSE * gap)
        design.descend(active, values, gradient[active], coupling, lam, enough)
        kept = values.any(axis=1)
        own, room = Weights(active[kept], values[kept]), 2 * room
    return own


def _widen(rows: IndexArray, lengths: FloatArray, lam: float, room: int) -> IndexArray:
    """Rows in use, and those that the gradient asks for most, `room` at the most: ascending."""
    asking = lengths.copy()
    asking[rows] = 0.0
    outside = np.flatnonzero(2.0 * asking > lam)
    if len(outside) > room:
        outside = outside[np.argpartition(-asking[outside], room)[:room]]
    return np.union1d(rows, outside)
