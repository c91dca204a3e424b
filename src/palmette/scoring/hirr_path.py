"""HiRR-FS over a range of lambdas, each solved from the solution before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from palmette.exceptions import PalmetteError
from palmette.scoring.base import ScoringProblem
from palmette.scoring.hirr import HirrScore
from palmette.scoring.hirr_irls import SHORTEST
from palmette.scoring.hirr_problem import Weights

__all__ = ["LambdaPath", "lambda_path"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(eq=False)
class LambdaPath:
    """Solutions from the largest lambda to the smallest.

    Parameters
    ----------
    lams : array of shape (n_lams,)
        Falling; in the unit of `HirrScore.lam`.
    lambda_max : array of shape (n_tasks,)
    n_nonzero : int array of shape (n_lams, n_tasks)
        Features with weights.
    entered : array of shape (n_tasks, n_features)
        The largest lambda of the path at which a feature has weights; 0 if there is none.
    objective, dual_gap : arrays of shape (n_lams,)
    weights : list of Weights
        Of all tasks at the smallest lambda.
    """

    lams: FloatArray
    lambda_max: FloatArray
    n_nonzero: IntArray
    entered: FloatArray
    objective: FloatArray
    dual_gap: FloatArray
    weights: list[Weights]


def lambda_path(
    problem: ScoringProblem,
    lams: Sequence[float] | None = None,
    *,
    score: HirrScore | None = None,
    n_lams: int = 20,
    smallest: float = 0.01,
) -> LambdaPath:
    """Solve for a range of lambdas.

    Parameters
    ----------
    problem : ScoringProblem
    lams : sequence of float, optional
        In the unit of `HirrScore.lam`; by default `n_lams` of them, in equal ratios, from
        lambda_max (left out) down to `smallest` times it.
    score : HirrScore, optional
        Everything else; its `lam` is not used.
    n_lams : int
    smallest : float

    Returns
    -------
    LambdaPath

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> from palmette.core.space import LabelSpace
    >>> h = Hierarchy.star(["x", "y"])
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    >>> problem = ScoringProblem(X, LabelSpace(h, h.leaves), np.array([0, 0, 1, 1]))
    >>> lambda_path(problem, [0.9, 0.1, 0.5]).n_nonzero.ravel().tolist()
    [1, 1, 1]
    """
    score = HirrScore() if score is None else clone(score)
    if not score.relative and lams is None:
        raise PalmetteError("lams is None with relative=False: give the lambdas.")
    steps = np.geomspace(1.0, smallest, n_lams + 1)[1:] if lams is None else np.sort(lams)[::-1]
    if not len(steps) or not steps[-1] > 0:
        raise PalmetteError(f"lams={lams!r}: expected numbers above 0, one at least.")
    # one solver for the whole path: the one for its end
    hirr, maxima = score.set_params(lam=float(steps[-1])).pose(problem, keep=True)
    path = LambdaPath(
        lams=np.asarray(steps, dtype=np.float64),
        lambda_max=maxima,
        n_nonzero=np.zeros((len(steps), len(maxima)), dtype=np.int64),
        entered=np.zeros((len(maxima), problem.n_features)),
        objective=np.zeros(len(steps)),
        dual_gap=np.zeros(len(steps)),
        weights=[],
    )
    start = None
    for i, lam in enumerate(path.lams):
        hirr.lam = lam * maxima if score.relative else np.full(len(maxima), lam)
        solution = score.solve(hirr, start=start, seed=problem.seed, n_jobs=problem.n_jobs)
        start = path.weights = solution.weights
        path.objective[i], path.dual_gap[i] = solution.objective[-1], solution.dual_gap
        for t, weights in enumerate(solution.weights):
            used = weights.rows[weights.norms > SHORTEST]
            path.n_nonzero[i, t] = len(used)
            path.entered[t, used] = np.maximum(path.entered[t, used], lam)
    return path
