"""Where the weights of a split start: least squares by conjugate gradients.

A few steps give a direction close to that of linear discriminant analysis, many the least-squares
solution; where there are more features than rows, the shortest one.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.node_block import Block, add_back, project

__all__ = ["least_squares"]

Flags: TypeAlias = NDArray[np.bool_]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Sums: TypeAlias = NDArray[np.float64]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _dot(a: Reals, b: Reals) -> float:
    total = a.dtype.type(0.0)
    for j in range(len(a)):
        total += a[j] * b[j]
    return float(total)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _centre(sums: Reals, means: Reals, total: float) -> None:
    times = means.dtype.type(total)
    for j in range(len(sums)):
        sums[j] -= times * means[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _add(target: Reals, factor: float, source: Reals) -> None:
    times = target.dtype.type(factor)
    for j in range(len(target)):
        target[j] += times * source[j]


@njit(cache=True, nogil=True, error_model="numpy")
def least_squares(
    block: Block,
    second: Flags,
    row_weights: Sums,
    max_iterations: int,
    tolerance: float,
    weights: Reals,
) -> float:
    """Fit -1 and +1 by least squares with a bias; features are centred on the way.

    Parameters
    ----------
    block : Block, in
    second : bool array of shape (n_rows,), in
        Whether a row's target is +1.
    row_weights : float64 array of shape (n_rows,), in
    max_iterations : int
    tolerance : float
        Iterations end when the normal equations' residual has shrunk by this factor.
    weights : float array of shape (n_columns,), out

    Returns
    -------
    float
        The bias.
    """
    n_rows, n_columns = len(second), len(weights)
    kind = weights.dtype.type
    counts = np.empty(n_rows, dtype=weights.dtype)
    for i in range(n_rows):
        counts[i] = row_weights[i]
    total = row_weights.sum()
    means = np.empty(n_columns, dtype=weights.dtype)
    add_back(block, counts, means)
    for j in range(n_columns):
        means[j] /= kind(total)
    target_mean = 0.0
    for i in range(n_rows):
        target_mean += row_weights[i] if second[i] else -row_weights[i]
    target_mean /= total
    residual, pulls = np.empty(n_rows, dtype=weights.dtype), np.empty(n_rows, dtype=weights.dtype)
    along = np.empty(n_rows, dtype=weights.dtype)
    for i in range(n_rows):
        residual[i] = (1.0 if second[i] else -1.0) - target_mean
        pulls[i] = residual[i] * counts[i]
    slopes = np.empty(n_columns, dtype=weights.dtype)
    add_back(block, pulls, slopes)  # the targets are centred, so nothing is to be taken off
    direction = slopes.copy()
    weights[:] = 0.0
    size, error = _dot(slopes, slopes), _dot(pulls, residual)
    enough = size * tolerance * tolerance
    for _ in range(max_iterations):
        if size <= enough:
            break
        project(block, direction, -_dot(means, direction), along)
        for i in range(n_rows):
            pulls[i] = along[i] * counts[i]
        curvature = _dot(pulls, along)
        if curvature <= 0.0:
            break
        step = size / curvature
        _add(weights, step, direction)
        _add(residual, -step, along)
        pull_sum = 0.0
        for i in range(n_rows):
            pulls[i] = residual[i] * counts[i]
            pull_sum += pulls[i]
        error_before, error = error, _dot(pulls, residual)
        if not error < error_before:  # rounding has the say from here on
            _add(weights, -step, direction)
            break
        add_back(block, pulls, slopes)
        _centre(slopes, means, pull_sum)
        size_before, size = size, _dot(slopes, slopes)
        ratio = kind(size / size_before)
        for j in range(n_columns):
            direction[j] = slopes[j] + ratio * direction[j]
    return float(target_mean - _dot(means, weights))
