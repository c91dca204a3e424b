"""FsnmScore: robust feature selection by joint l2,1 norms, node by node (HierFSNM)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve
from sklearn.exceptions import ConvergenceWarning

from palmette.exceptions import PalmetteError
from palmette.scoring.base import FeatureScore, NodeScores, ScoringProblem
from palmette.scoring.each_node import NodeData, each_node
from palmette.scoring.scaled import ScaledRows

__all__ = ["FsnmScore", "NodeFit"]

FloatArray = NDArray[np.float64]

_EPS = 1e-8  # norms below it count as this large, so that no weight is infinite
_DEAD = 1e-7  # rows of W this small beside the largest are left out of the equations
_DIRECT = 4096  # larger systems are solved by conjugate gradients: a factor would be 130 MB
_ACCURACY, _MOST_STEPS = 1e-3, 100  # of conjugate gradients; the next iteration goes on from there


class NodeFit(NamedTuple):
    """What was found at a node: row norms of W, the objective by iteration, its lambda_max."""

    norms: FloatArray
    objective: list[float]
    lambda_max: float
    settled: bool


class FsnmScore(FeatureScore):
    """Row norms of W that minimises ``||Z W - Y||_2,1 + lam ||W||_2,1`` at every node: HierFSNM.

    Z are the node's rows and Y its options, one column each, 1 for the row's own. The loss is a sum
    of norms, not of squares, so that outlying rows count less. Solved by reweighted least squares,
    whose objective never rises, from a ridge start.

    Parameters
    ----------
    lam : float
        Weight of the penalty.
    relative : bool
        Whether `lam` is a share of the node's lambda_max, at and above which W is 0.
    standardize : bool
        Whether features are brought to mean 0 and variance 1 and the columns of Y to mean 0. If
        not, rows are taken as they are and there is no intercept, as in the paper.
    max_iter : int
    tol : float
        Stop when the objective falls by less than this share of it.

    Notes
    -----
    An iteration solves a system of as many equations as the node has rows, or features that are
    still in, whichever are fewer; above 4096 it is solved nearly, by conjugate gradients. Sparse X
    stays sparse, and is centred by algebra. A sample weight multiplies the row's loss. Facts:
    ``node_objectives_``, the objective after every iteration for each node, and ``lambda_max_``,
    one a node.

    References
    ----------
    Nie, Huang, Cai and Ding, "Efficient and robust feature selection via joint l2,1-norms
    minimization", NIPS (2010).

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> from palmette.core.space import LabelSpace
    >>> h = Hierarchy.star("ab")
    >>> X = np.array([[0.0, 1.0], [2.0, 0.0], [4.0, 0.0], [6.0, 1.0]])
    >>> codes = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> problem = ScoringProblem(X, LabelSpace(h, h.leaves), codes)
    >>> [row.round(3).tolist() for row in FsnmScore(lam=0.1).score(problem).rows()]
    [[0.527, 0.0]]
    """

    def __init__(
        self,
        lam: float = 0.1,
        *,
        relative: bool = True,
        standardize: bool = True,
        max_iter: int = 100,
        tol: float = 1e-5,
    ) -> None:
        self.lam = lam
        self.relative = relative
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol

    def score(self, problem: ScoringProblem) -> NodeScores:
        """Score all features at all nodes."""
        if not self.lam > 0:
            raise PalmetteError(f"lam={self.lam!r}: expected a positive number.")
        facts: dict[str, Any] = {"node_objectives_": [], "lambda_max_": []}
        fits = each_node(problem, partial(_fit_node, self))
        return NodeScores(_noting(fits, facts, self.max_iter), facts)


def _noting(fits: Iterator[NodeFit], facts: dict[str, Any], max_iter: int) -> Iterator[FloatArray]:
    """Hand on the norms, and keep what else was found; say once how many nodes did not settle."""
    n_open = 0
    for fit in fits:
        facts["node_objectives_"].append(fit.objective)
        facts["lambda_max_"].append(fit.lambda_max)
        n_open += not fit.settled
        yield fit.norms
    if n_open:
        warnings.warn(
            f"FsnmScore stopped after max_iter={max_iter} iterations, before the objective "
            f"settled, at {n_open} of {len(facts['lambda_max_'])} nodes. Raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )


def _fit_node(setting: FsnmScore, node: NodeData) -> NodeFit:
    weights = node.row_weights()
    Y = np.eye(node.n_options)[node.codes]
    if setting.standardize:
        Z = ScaledRows.standardized(node.X, weights)
        Y -= weights @ Y / weights.sum()
    else:
        Z = ScaledRows.plain(node.X)
    pull = Z.transposed_times(Y * (weights / _row_norms(Y))[:, None])
    lambda_max = float(_row_norms(pull).max(initial=0.0))
    if lambda_max == 0.0:  # constant features all
        return NodeFit(np.zeros(node.n_features), [], 0.0, True)
    lam = setting.lam * lambda_max if setting.relative else float(setting.lam)
    norms, objective, done = _reweigh(Z, Y, weights, lam, setting.max_iter, setting.tol)
    return NodeFit(norms, objective, lambda_max, done)


def _reweigh(
    Z: ScaledRows, Y: FloatArray, weights: FloatArray, lam: float, max_iter: int, tol: float
) -> tuple[FloatArray, list[float], bool]:
    """Row norms of W, the objective after every step, and whether it settled."""
    n_features = Z.shape[1]
    row_share, spread = weights / 2.0, np.full(n_features, 2.0)  # of ridge: all norms are 1
    dual = np.zeros_like(Y)
    objective: list[float] = []
    for _ in range(max_iter):
        dual = _solve(Z, Y, row_share, spread, lam, dual)
        W = spread[:, None] * Z.transposed_times(dual)
        misses, norms = _row_norms(Y - Z.times(W)), _row_norms(W)
        objective.append(float(weights @ misses + lam * norms.sum()))
        if len(objective) > 1 and objective[-2] - objective[-1] <= tol * objective[-1]:
            return norms, objective, True
        row_share = weights / (2.0 * np.maximum(misses, _EPS))
        spread = 2.0 * np.maximum(norms, _EPS)
    return norms, objective, False


def _solve(
    Z: ScaledRows,
    Y: FloatArray,
    row_share: FloatArray,
    spread: FloatArray,
    lam: float,
    start: FloatArray,
) -> FloatArray:
    """Solve ``(Z diag(spread) Z' + lam diag(1 / row_share)) A = Y``; then ``W = spread Z' A``.

    With fewer features than rows, the equations of W are solved instead, and A is the residual
    times ``row_share / lam``.
    """
    n_rows = Z.shape[0]
    alive = np.flatnonzero(spread > _DEAD * spread.max())
    if min(len(alive), n_rows) > _DIRECT:
        return _by_gradients(Z, Y, row_share, spread, lam, start)
    if len(alive) >= n_rows:
        system = Z.row_gram(spread)
        system[np.diag_indices(n_rows)] += lam / row_share
        return _definite_solve(system, Y)
    live = Z.columns(alive)
    # in the unknowns V = W / root, so that the system is well scaled where norms differ widely
    root = np.sqrt(spread[alive])
    system = live.column_gram(row_share) * root * root[:, None]
    system[np.diag_indices(len(alive))] += lam
    target = root[:, None] * live.transposed_times(row_share[:, None] * Y)
    W = root[:, None] * _definite_solve(system, target)
    return np.asarray((Y - live.times(W)) * (row_share / lam)[:, None])


def _definite_solve(system: FloatArray, target: FloatArray) -> FloatArray:
    try:
        factor = cho_factor(system, lower=True, check_finite=False)
        return np.asarray(cho_solve(factor, target, check_finite=False))
    except np.linalg.LinAlgError:  # rounding made it indefinite
        return np.asarray(solve(system, target, assume_a="sym"))


def _by_gradients(
    Z: ScaledRows,
    Y: FloatArray,
    row_share: FloatArray,
    spread: FloatArray,
    lam: float,
    start: FloatArray,
) -> FloatArray:
    """Solve the equations of the rows without writing them down, from the last answer on."""
    ridge = (lam / row_share)[:, None]
    diagonal = Z.squares(spread)[:, None] + ridge

    def product(A: FloatArray) -> FloatArray:
        return Z.times(spread[:, None] * Z.transposed_times(A)) + ridge * A

    answer = start.copy()
    rest = Y - product(answer)
    near = rest / diagonal
    step, size = near, _column_products(rest, near)
    enough = _ACCURACY**2 * _column_products(Y, Y)
    for _ in range(_MOST_STEPS):
        if (_column_products(rest, rest) <= enough).all():
            break
        image = product(step)
        length = size / np.maximum(_column_products(step, image), np.finfo(float).tiny)
        answer += length * step
        rest -= length * image
        near = rest / diagonal
        size, before = _column_products(rest, near), size
        step = near + size / np.maximum(before, np.finfo(float).tiny) * step
    return answer


def _column_products(A: FloatArray, B: FloatArray) -> FloatArray:
    products: FloatArray = np.einsum("ij,ij->j", A, B)
    return products


def _row_norms(matrix: FloatArray) -> FloatArray:
    squares: FloatArray = np.einsum("ij,ij->i", matrix, matrix)
    return np.sqrt(squares)
