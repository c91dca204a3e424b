"""Block coordinate descent for row-sparse least squares: one row of weights after the other.

The problem is to minimise ``quadratic(W) + lam * sum_j ||W_j||``, with `W` of shape (n_features,
n_targets). For one row, others held, the minimiser is known: with the gradient ``C`` of minus half
the quadratic and its curvature ``h``, it is ``C_j + h_j W_j`` made shorter by ``lam / 2``, over
``h_j``.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["pass_over_columns", "pass_over_gram"]


@njit(cache=True, nogil=True)
def _step(
    gradient: NDArray[np.float64],
    curvature: float,
    lam: float,
    weights: NDArray[np.float64],
    step: NDArray[np.float64],
) -> bool:
    """Move one row of weights to its minimiser; fill `step` and say if it is not 0.

    Parameters
    ----------
    gradient : float64 array of shape (n_targets,), IN
    curvature, lam : float
    weights : float64 array of shape (n_targets,), IN and OUT
    step : float64 array of shape (n_targets,), OUT
    """
    if curvature <= 0.0:  # a feature that says nothing
        return False
    n_targets = len(weights)
    length = 0.0
    for k in range(n_targets):
        step[k] = gradient[k] + curvature * weights[k]
        length += step[k] * step[k]
    length = np.sqrt(length)
    shrink = 0.0
    if 2.0 * length > lam:
        shrink = (1.0 - 0.5 * lam / length) / curvature
    moved = False
    for k in range(n_targets):
        new = shrink * step[k]
        step[k] = new - weights[k]
        weights[k] = new
        moved = moved or step[k] != 0.0
    return moved


@njit(cache=True, nogil=True)
def pass_over_gram(
    quadratic: NDArray[np.float64],
    lam: float,
    weights: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> None:
    """Move every row once, with the whole matrix of the quadratic at hand.

    Parameters
    ----------
    quadratic : float64 array of shape (n_active, n_active), IN
        Symmetric.
    lam : float
    weights : float64 array of shape (n_active, n_targets), IN and OUT
    gradient : float64 array of shape (n_active, n_targets), IN and OUT
        Of minus half the quadratic at `weights`.
    """
    n_active, n_targets = weights.shape
    step = np.empty(n_targets)
    for a in range(n_active):
        if not _step(gradient[a], quadratic[a, a], lam, weights[a], step):
            continue
        for b in range(n_active):
            along = quadratic[a, b]
            for k in range(n_targets):
                gradient[b, k] -= along * step[k]


@njit(cache=True, nogil=True)
def pass_over_columns(
    values: NDArray[np.float64],
    rows: NDArray[np.int32],
    starts: NDArray[np.int64],
    means: NDArray[np.float64],
    scales: NDArray[np.float64],
    unit: NDArray[np.float64],
    curvature: NDArray[np.float64],
    ridge: float,
    pull: NDArray[np.float64],
    factor: NDArray[np.float64],
    lam: float,
    weights: NDArray[np.float64],
    residual: NDArray[np.float64],
    along: NDArray[np.float64],
) -> None:
    """Move every row once, over sparse columns that are centred and scaled by algebra alone.

    Column ``j`` of the design is ``(x_j - means[j] * unit) / scales[j]``. The quadratic is the sum
    of squares of the residual, of `along` and of the weights times `ridge`, less twice the product
    of the weights with `pull`.

    Parameters
    ----------
    values, rows, starts : arrays, IN
        Of the matrix of active features, by columns.
    means, scales : float64 arrays of shape (n_active,), IN
        A mean is that of its column in the rows, or all are 0: then `unit` drops out.
    unit : float64 array of shape (n_rows,), IN
        The constant column; roots of the weights of rows.
    curvature : float64 array of shape (n_active,), IN
    ridge : float
    pull : float64 array of shape (n_active, n_targets), IN
    factor : float64 array of shape (n_active, n_along), IN
    lam : float
    weights : float64 array of shape (n_active, n_targets), IN and OUT
    residual : float64 array of shape (n_rows, n_targets), IN and OUT
        Of the targets, up to a multiple of `unit` for each.
    along : float64 array of shape (n_along, n_targets), IN and OUT
        ``factor.T @ weights``
    """
    n_active, n_targets = weights.shape
    n_along = along.shape[0]
    mass = np.sum(unit * unit)
    total = unit @ residual
    step, gradient = np.empty(n_targets), np.empty(n_targets)
    for a in range(n_active):
        mean, scale = means[a], 1.0 / scales[a]
        for k in range(n_targets):
            gradient[k] = -mean * total[k]
        for e in range(starts[a], starts[a + 1]):
            for k in range(n_targets):
                gradient[k] += values[e] * residual[rows[e], k]
        for k in range(n_targets):
            gradient[k] = gradient[k] * scale + pull[a, k] - ridge * weights[a, k]
        for v in range(n_along):
            for k in range(n_targets):
                gradient[k] -= factor[a, v] * along[v, k]
        if not _step(gradient, curvature[a], lam, weights[a], step):
            continue
        for v in range(n_along):
            for k in range(n_targets):
                along[v, k] += factor[a, v] * step[k]
        for k in range(n_targets):
            step[k] *= scale
            total[k] -= mean * mass * step[k]
        for e in range(starts[a], starts[a + 1]):
            for k in range(n_targets):
                residual[rows[e], k] -= values[e] * step[k]
