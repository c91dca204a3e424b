"""The solver of the HiRR-FS paper: reweighted least squares, one node after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from palmette.scoring.hirr_problem import HirrProblem, Solution, Weights

__all__ = ["SHORTEST", "random_start", "ridge_start", "solve_irls"]

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
    >>> from palmette.scoring.hirr_design import GramDesign
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
            weights[t] = _solve_node(problem, t, weights)
        value, gap = problem.assess(weights)
        objective.append(value)
        if callback is not None:
            callback(len(objective) - 1, value)
    return Solution(weights, objective, gap, "irls", gap <= enough)


def _solve_node(problem: HirrProblem, t: int, weights: Sequence[Weights]) -> Weights:
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
