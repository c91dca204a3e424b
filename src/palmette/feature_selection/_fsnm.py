"""FsnmScore: joint l2,1-norm regression at every node (HierFSNM)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, solve
from sklearn.exceptions import ConvergenceWarning

from palmette._arrays import FloatArray
from palmette._text import caller_level
from palmette.base._parameters import check_counts, check_not_negative, check_positive
from palmette.feature_selection._base import (
    FeatureScore,
    NodeData,
    NodeScores,
    ScoringProblem,
    each_node,
)

_EPS = 1e-8  # lower bound of norms, so that all weights are finite
_DEAD = 1e-7  # rows of W below this share of the largest are left out of the equations
_DIRECT = 4096  # larger systems are solved by conjugate gradients, as factors take over 130 MB
_ACCURACY, _MAX_STEPS = 1e-3, 100  # of conjugate gradients; the next iteration continues there
_NOTHING = 1e-12  # features whose relative standard deviation is smaller are constant


class FsnmScore(FeatureScore):
    """Row norms of W that minimizes ``||Z W - Y||_2,1 + lam ||W||_2,1`` at every node: HierFSNM.

    Z contains the node's rows, and Y one indicator column per option. The loss is a sum of norms,
    not of squares, so that outliers count less. It is minimized by iteratively reweighted least
    squares, whose objective never increases, from a ridge regression on.

    Parameters
    ----------
    lam : float
        Weight of the penalty.
    relative : bool
        Whether `lam` is relative to the node's lambda_max, the smallest value at which W is 0.
    standardize : bool
        Whether features are scaled to mean 0 and variance 1, and the columns of Y to mean 0. If
        False, rows are used as they are and there is no intercept, as in the paper.
    max_iter : int
        Maximum number of iterations.
    tol : float
        The iterations end when the objective decreases by less than this share of it.

    Notes
    -----
    An iteration solves a linear system with as many equations as the node has rows, or features
    with weights, whichever number is smaller; above 4096 equations the solution is approximate, by
    conjugate gradients. Sparse X stays sparse and is centred implicitly. A sample weight multiplies
    the loss of the row. Further attributes of the selector: ``node_objectives_``, the objective
    after every iteration at each node, and ``lambda_max_``, one value per node.

    References
    ----------
    Nie, Huang, Cai and Ding, "Efficient and robust feature selection via joint l2,1-norms
    minimization", NIPS (2010).

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> from palmette.labels._space import LabelSpace
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
        check_positive(self, "lam")
        check_counts(self, "max_iter")
        check_not_negative(self, "tol")
        facts: dict[str, Any] = {"node_objectives_": [], "lambda_max_": []}
        fits = each_node(problem, partial(_fit_node, self), joint=True)
        return NodeScores(_norms(fits, facts, self.max_iter), facts)


class NodeFit(NamedTuple):
    """Solution of a node: row norms of W, objective per iteration, lambda_max, and convergence."""

    norms: FloatArray
    objective: list[float]
    lambda_max: float
    settled: bool


def _norms(fits: Iterator[NodeFit], facts: dict[str, Any], max_iter: int) -> Iterator[FloatArray]:
    """Yield the norms and append the rest to `facts`; warn once if nodes did not converge."""
    n_failed = 0
    for fit in fits:
        facts["node_objectives_"].append(fit.objective)
        facts["lambda_max_"].append(fit.lambda_max)
        n_failed += not fit.settled
        yield fit.norms
    if n_failed:
        warnings.warn(
            f"FsnmScore did not converge within max_iter={max_iter} iterations at {n_failed} of "
            f"{len(facts['lambda_max_'])} nodes. Increase max_iter or tol.",
            ConvergenceWarning,
            stacklevel=caller_level(),
        )


def _fit_node(setting: FsnmScore, node: NodeData) -> NodeFit:
    weights = node.row_weights()
    Y = node.indicators()
    if setting.standardize:
        Z = ScaledRows.standardized(node.X, weights)
        Y -= weights @ Y / weights.sum()
    else:
        Z = ScaledRows.plain(node.X)
    pull = Z.transposed_times(Y * (weights / np.maximum(_row_norms(Y), _EPS))[:, None])
    lambda_max = float(_row_norms(pull).max(initial=0.0))
    if lambda_max == 0.0:  # all features are constant
        return NodeFit(np.zeros(node.n_features), [], 0.0, True)
    lam = setting.lam * lambda_max if setting.relative else float(setting.lam)
    norms, objective, converged = _reweight(Z, Y, weights, lam, setting.max_iter, setting.tol)
    return NodeFit(norms, objective, lambda_max, converged)


def _reweight(
    Z: ScaledRows, Y: FloatArray, weights: FloatArray, lam: float, max_iter: int, tol: float
) -> tuple[FloatArray, list[float], bool]:
    """Return row norms of W, the objective after every iteration, and whether it converged."""
    n_features = Z.shape[1]
    row_share, spread = weights / 2.0, np.full(n_features, 2.0)  # ridge regression: all norms are 1
    dual = np.zeros_like(Y)
    objective: list[float] = []
    for _ in range(max_iter):
        dual = _solve(Z, Y, row_share, spread, lam, dual)
        W = spread[:, None] * Z.transposed_times(dual)
        residuals, norms = _row_norms(Y - Z.times(W)), _row_norms(W)
        objective.append(float(weights @ residuals + lam * norms.sum()))
        if len(objective) > 1 and objective[-2] - objective[-1] <= tol * objective[-1]:
            return norms, objective, True
        row_share = weights / (2.0 * np.maximum(residuals, _EPS))
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

    If there are fewer features than rows, the equations of W are solved instead, and A is the
    residual times ``row_share / lam``.
    """
    n_rows = Z.shape[0]
    alive = np.flatnonzero(spread > _DEAD * spread.max())
    if min(len(alive), n_rows) > _DIRECT:
        return _conjugate_gradients(Z, Y, row_share, spread, lam, start)
    if len(alive) >= n_rows:
        system = Z.row_gram(spread)
        system[np.diag_indices(n_rows)] += lam / row_share
        return _definite_solve(system, Y)
    live = Z.columns(alive)
    # the unknowns are V = W / root, so that the system is well scaled if norms differ widely
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
    except np.linalg.LinAlgError:  # indefinite by rounding errors
        return np.asarray(solve(system, target, assume_a="sym"))


def _conjugate_gradients(
    Z: ScaledRows,
    Y: FloatArray,
    row_share: FloatArray,
    spread: FloatArray,
    lam: float,
    start: FloatArray,
) -> FloatArray:
    """Solve the equations of the rows by conjugate gradients, from the last solution on."""
    ridge = (lam / row_share)[:, None]
    diagonal = Z.squares(spread)[:, None] + ridge

    def product(A: FloatArray) -> FloatArray:
        return Z.times(spread[:, None] * Z.transposed_times(A)) + ridge * A

    solution = start.copy()
    residual = Y - product(solution)
    scaled = residual / diagonal
    step, size = scaled, _column_products(residual, scaled)
    tolerance = _ACCURACY**2 * _column_products(Y, Y)
    for _ in range(_MAX_STEPS):
        if (_column_products(residual, residual) <= tolerance).all():
            break
        image = product(step)
        length = size / np.maximum(_column_products(step, image), np.finfo(float).tiny)
        solution += length * step
        residual -= length * image
        scaled = residual / diagonal
        size, before = _column_products(residual, scaled), size
        step = scaled + size / np.maximum(before, np.finfo(float).tiny) * step
    return solution


def _column_products(A: FloatArray, B: FloatArray) -> FloatArray:
    products: FloatArray = np.einsum("ij,ij->j", A, B)
    return products


def _row_norms(matrix: FloatArray) -> FloatArray:
    squares: FloatArray = np.einsum("ij,ij->i", matrix, matrix)
    return np.sqrt(squares)


class ScaledRows:
    """The matrix ``Z = S - 1 shift'``, with S dense or sparse; sparse Z is never formed.

    It is made by `standardized` or `plain`.

    Parameters
    ----------
    stored : array or CSR array of shape (n_rows, n_features)
    shift : array of shape (n_features,), or None for no shift
    """

    def __init__(self, stored: Any, shift: FloatArray | None = None) -> None:
        self._stored = stored
        self._shift = shift
        self.shape: tuple[int, int] = stored.shape

    @classmethod
    def plain(cls, X: Any) -> ScaledRows:
        """Return the rows unchanged."""
        return cls(X)

    @classmethod
    def standardized(cls, X: Any, weights: FloatArray) -> ScaledRows:
        """Scale every feature to mean 0 and variance 1; constant features become 0.

        Parameters
        ----------
        X : array or CSR array of shape (n_rows, n_features)
        weights : array of shape (n_rows,)
        """
        total = weights.sum()
        mean = np.asarray(X.T @ weights).ravel() / total
        if sparse.issparse(X):
            # the mean of squares minus the squared mean is accurate, as sparse data are near zero
            power = np.asarray(X.multiply(X).T @ weights).ravel() / total
            variance = np.maximum(power - mean**2, 0.0)
        else:
            centred = X - mean
            power = np.einsum("i,ij,ij->j", weights, centred, centred) / total
            variance = power
        deviation = np.sqrt(variance)
        size = np.sqrt(variance + mean**2)
        floor = 1e-7 if sparse.issparse(X) else _NOTHING
        scale = np.divide(1.0, deviation, out=np.zeros_like(mean), where=deviation > floor * size)
        if sparse.issparse(X):
            return cls(sparse.csr_array(X @ sparse.diags_array(scale)), mean * scale)
        centred *= scale
        return cls(centred)

    def times(self, W: FloatArray) -> FloatArray:
        """Return Z W, of shape (n_rows, n_columns)."""
        product = np.asarray(self._stored @ W)
        return product if self._shift is None else product - self._shift @ W

    def transposed_times(self, V: FloatArray) -> FloatArray:
        """Return Z' V, of shape (n_features, n_columns)."""
        product = np.asarray(self._stored.T @ V)
        if self._shift is None:
            return product
        return product - np.outer(self._shift, V.sum(axis=0))

    def columns(self, chosen: NDArray[np.intp]) -> ScaledRows:
        """Return some of the features."""
        shift = None if self._shift is None else self._shift[chosen]
        return ScaledRows(self._stored[:, chosen], shift)

    def row_gram(self, weights: FloatArray) -> FloatArray:
        """Return Z diag(weights) Z', of shape (n_rows, n_rows), for weights of features."""
        root = np.sqrt(weights)
        if self._shift is None and not sparse.issparse(self._stored):
            half = self._stored * root
            return np.asarray(half @ half.T)
        half = sparse.csr_array(self._stored @ sparse.diags_array(root))
        gram = _dense(half @ half.T)
        if self._shift is not None:
            cross = np.asarray(self._stored @ (weights * self._shift))
            gram += self._shift @ (weights * self._shift) - cross[:, None] - cross
        return gram

    def column_gram(self, weights: FloatArray) -> FloatArray:
        """Return Z' diag(weights) Z, of shape (n_features, n_features), for weights of rows."""
        root = np.sqrt(weights)[:, None]
        if self._shift is None and not sparse.issparse(self._stored):
            half = self._stored * root
            return np.asarray(half.T @ half)
        half = sparse.csr_array(sparse.diags_array(root.ravel()) @ self._stored)
        gram = _dense(half.T @ half)
        if self._shift is not None:
            cross = np.outer(np.asarray(self._stored.T @ weights), self._shift)
            gram += weights.sum() * np.outer(self._shift, self._shift) - cross - cross.T
        return gram

    def squares(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of `row_gram`, of shape (n_rows,)."""
        S = self._stored
        power = (S.multiply(S) if sparse.issparse(S) else S**2) @ weights
        if self._shift is None:
            return np.asarray(power)
        cross = np.asarray(S @ (weights * self._shift))
        return np.asarray(power - 2.0 * cross + self._shift @ (weights * self._shift))


def _dense(matrix: Any) -> FloatArray:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
