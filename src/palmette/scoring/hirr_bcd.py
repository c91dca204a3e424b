"""Active-set block coordinate descent for HiRR-FS: rows of weights that stay 0 cost nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from palmette.scoring.hirr_gap import ROUNDING, objective_and_gap, row_norms
from palmette.scoring.hirr_problem import HirrProblem, Solution, Weights

__all__ = ["solve_bcd"]

FloatArray = NDArray[np.float64]
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
    >>> from palmette.scoring.hirr_design import GramDesign
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
                weights[t] = _solve_node(problem, t, weights, node_tol)
            # what is left of the gap is owed to the nodes, if not to their ties
            node_tol = max(0.3 * node_tol, _TIGHTEST * tol)
        else:
            weights = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(_solve_node)(problem, t, weights, node_tol) for t in range(problem.n_tasks)
            )
        value, gap = problem.assess(weights)
        objective.append(value)
        if callback is not None:
            callback(len(objective) - 1, value)
    return Solution(weights, objective, gap, "bcd", gap <= enough)


def _solve_node(problem: HirrProblem, t: int, weights: Sequence[Weights], tol: float) -> Weights:
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
