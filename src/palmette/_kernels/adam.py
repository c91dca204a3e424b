"""The published way to minimise the sparse Hellinger loss: Adam with a sharpening sigmoid.

``point`` is the weights of a split with the bias behind them. The smooth l1 norm of Eq. 8 is
``|w| + (2 / eta) log1p(exp(-eta |w|))``, its derivative ``tanh(eta w / 2)``; the bias is free.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.hellinger import class_shares, hellinger_loss, hellinger_pulls, soft_rates
from palmette._kernels.node_block import Block, add_back, project, take_rows
from palmette._kernels.random import next_below

__all__ = ["adam", "alpha_at", "smooth_l1", "soft_distance"]

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
State: TypeAlias = NDArray[np.uint64]
Sums: TypeAlias = NDArray[np.float64]

_FIRST_DECAY = 0.9
_SECOND_DECAY = 0.999
_TINY = 1e-8


@njit(cache=True, nogil=True, error_model="numpy")
def smooth_l1(weights: Reals, eta: float) -> float:
    """Return the smooth l1 norm of weights (Eq. 8).

    Parameters
    ----------
    weights : float array of shape (n_columns,), in
    eta : float
        The larger, the closer to the l1 norm.
    """
    norm = 0.0
    for j in range(len(weights)):
        size = abs(float(weights[j]))
        norm += size + 2.0 / eta * np.log1p(np.exp(-eta * size))
    return norm


@njit(cache=True, nogil=True, error_model="numpy")
def alpha_at(
    iteration: int, first: float, factor: float, last: float, stage_iterations: int
) -> float:
    """Return the sharpness of the sigmoid: it grows by a factor after every stage."""
    return float(min(first * factor ** (iteration // stage_iterations), last))


@njit(cache=True, nogil=True, error_model="numpy")
def soft_distance(block: Block, shares: Reals, alpha: float, point: Reals) -> float:
    """Return the squared soft Hellinger distance of a split."""
    scores = np.empty(shares.shape[1], dtype=point.dtype)
    project(block, point[:-1], point[-1], scores)
    true_rate, false_rate = soft_rates(scores, shares, alpha, True, scores)
    return -hellinger_loss(true_rate, false_rate)


@njit(cache=True, nogil=True, error_model="numpy")
def _shuffle(order: Indices, state: State) -> None:
    for i in range(len(order) - 1, 0, -1):
        j = next_below(state, i + 1)
        order[i], order[j] = order[j], order[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _slopes(
    block: Block, shares: Reals, alpha: float, gamma: float, eta: float, point: Reals, slopes: Reals
) -> None:
    """Write the gradient of Eq. 9."""
    n_columns = len(point) - 1
    scores, pulls = np.empty(shares.shape[1], point.dtype), np.empty(shares.shape[1], point.dtype)
    project(block, point[:-1], point[-1], scores)
    true_rate, false_rate = soft_rates(scores, shares, alpha, True, scores)
    hellinger_pulls(true_rate, false_rate, shares, scores, alpha, pulls)
    add_back(block, pulls, slopes[:-1])
    slopes[n_columns] = pulls.sum()
    if gamma > 0.0:
        for j in range(n_columns):
            slopes[j] += gamma * np.tanh(0.5 * eta * point[j])


@njit(cache=True, nogil=True, error_model="numpy")
def adam(
    block: Block,
    second: Flags,
    row_weights: Sums,
    gamma: float,
    eta: float,
    schedule: tuple[float, float, float, int],
    learning_rate: float,
    batch_size: int,
    max_iterations: int,
    state: State,
    point: Reals,
) -> None:
    """Minimise Eq. 9 by Adam; an iteration is a step, on a batch of the rows.

    Parameters
    ----------
    block : Block, in
    second : bool array of shape (n_rows,), in
    row_weights : float64 array of shape (n_rows,), in
    gamma : float
        Weight of the smooth l1 norm.
    eta : float
    schedule : tuple
        The first three arguments of `alpha_at` after the iteration, and the fourth.
    learning_rate : float
    batch_size : int
        Rows are shuffled and cut into even batches of at most so many.
    max_iterations : int
    state : uint64 array of shape (1,), in and out
    point : float array of shape (n_columns + 1,), in and out
    """
    n_rows = len(second)
    n_batches = (n_rows + batch_size - 1) // batch_size
    order = np.arange(n_rows).astype(np.int32)
    shares = np.empty((2, n_rows), dtype=point.dtype)
    class_shares(second, row_weights, shares)
    slopes, mean, spread = np.empty_like(point), np.zeros_like(point), np.zeros_like(point)
    batch = block
    for iteration in range(max_iterations):
        if n_batches > 1:
            turn = iteration % n_batches
            if turn == 0:
                _shuffle(order, state)
            own = order[turn * n_rows // n_batches : (turn + 1) * n_rows // n_batches]
            if second[own].all() or not second[own].any():
                continue  # a rate is missing: the batch says nothing
            batch = take_rows(block, own)
            shares = np.empty((2, len(own)), dtype=point.dtype)
            class_shares(second[own], row_weights[own], shares)
        first, factor, last, stage_iterations = schedule
        alpha = alpha_at(iteration, first, factor, last, stage_iterations)
        _slopes(batch, shares, alpha, gamma, eta, point, slopes)
        first_scale = 1.0 - _FIRST_DECAY ** (iteration + 1)
        second_scale = 1.0 - _SECOND_DECAY ** (iteration + 1)
        for j in range(len(point)):
            mean[j] = _FIRST_DECAY * mean[j] + (1.0 - _FIRST_DECAY) * slopes[j]
            spread[j] = _SECOND_DECAY * spread[j] + (1.0 - _SECOND_DECAY) * slopes[j] * slopes[j]
            size = np.sqrt(spread[j] / second_scale) + _TINY
            point[j] -= learning_rate * (mean[j] / first_scale) / size
