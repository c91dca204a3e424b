"""A split's loss with an l1 penalty, minimised by limited-memory quasi-Newton orthant steps.

Weights that a step would carry through zero stop there, so that they become zero for good reasons
and early. ``point`` is the weights with the bias behind them; the bias is not penalised.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.hellinger import hellinger_loss, hellinger_pulls, soft_rates
from palmette._kernels.logistic_split import logistic_loss, logistic_pulls
from palmette._kernels.node_block import Block, add_back, project

__all__ = ["HELLINGER", "LOGISTIC", "minimise"]

Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

HELLINGER = 0
LOGISTIC = 1

_MEMORY = 4  # pairs of steps and changes of slopes that are remembered
_DECREASE = 1e-4  # share of the promised decrease that a step must bring
_TRIALS = 12  # halvings of a step


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _dot(a: Reals, b: Reals) -> float:
    total = a.dtype.type(0.0)
    for j in range(len(a)):
        total += a[j] * b[j]
    return float(total)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _add(target: Reals, factor: float, source: Reals) -> None:
    times = target.dtype.type(factor)
    for j in range(len(target)):
        target[j] += times * source[j]


@njit(cache=True, nogil=True, error_model="numpy")
def _penalty(point: Reals, gamma: float, ridge: float) -> float:
    absolute, squares = 0.0, 0.0
    for j in range(len(point) - 1):
        absolute += abs(point[j])
        squares += point[j] * point[j]
    return gamma * absolute + 0.5 * ridge * squares


@njit(cache=True, nogil=True, error_model="numpy")
def _loss(
    kind: int, block: Block, shares: Reals, alpha: float, point: Reals, scores: Reals, bent: Reals
) -> tuple[float, float, float]:
    """Return the loss and, for Hellinger's, the soft rates; write the scores."""
    project(block, point[:-1], point[-1], scores)
    if kind == LOGISTIC:
        return logistic_loss(scores, shares), 0.0, 0.0
    true_rate, false_rate = soft_rates(scores, shares, alpha, False, bent)
    return hellinger_loss(true_rate, false_rate), true_rate, false_rate


@njit(cache=True, nogil=True, error_model="numpy")
def _slopes(
    kind: int,
    block: Block,
    shares: Reals,
    alpha: float,
    ridge: float,
    rates: tuple[float, float],
    point: Reals,
    scores: Reals,
    bent: Reals,
    slopes: Reals,
) -> None:
    """Write the gradient of the smooth part at the point whose loss was asked for last."""
    pulls = np.empty_like(scores)
    if kind == LOGISTIC:
        logistic_pulls(scores, shares, pulls)
    else:
        hellinger_pulls(rates[0], rates[1], shares, bent, alpha, pulls)
    add_back(block, pulls, slopes[:-1])
    slopes[-1] = pulls.sum()
    if ridge > 0.0:
        _add(slopes[:-1], ridge, point[:-1])


@njit(cache=True, nogil=True, error_model="numpy")
def _steepest(slopes: Reals, point: Reals, gamma: float, steepest: Reals) -> None:
    """Write the gradient of the whole objective; at zero weights, its smallest subgradient."""
    for j in range(len(point) - 1):
        slope = slopes[j]
        if point[j] > 0.0 or (point[j] == 0.0 and slope < -gamma):
            steepest[j] = slope + gamma
        elif point[j] < 0.0 or slope > gamma:
            steepest[j] = slope - gamma
        else:
            steepest[j] = 0.0
    steepest[-1] = slopes[-1]


@njit(cache=True, nogil=True, error_model="numpy")
def _bend(
    steps: Reals, changes: Reals, products: Reals, n_pairs: int, newest: int, direction: Reals
) -> None:
    """Multiply a direction by the estimate of the inverse second derivatives (two loops)."""
    factors = np.empty(_MEMORY)
    for age in range(n_pairs):
        k = (newest - age) % _MEMORY
        factors[k] = _dot(steps[k], direction) / products[k]
        _add(direction, -factors[k], changes[k])
    scale = direction.dtype.type(products[newest] / _dot(changes[newest], changes[newest]))
    for j in range(len(direction)):
        direction[j] *= scale
    for age in range(n_pairs - 1, -1, -1):
        k = (newest - age) % _MEMORY
        _add(direction, factors[k] - _dot(changes[k], direction) / products[k], steps[k])


@njit(cache=True, nogil=True, error_model="numpy")
def _move(
    point: Reals, direction: Reals, step: float, steepest: Reals, gamma: float, moved: Reals
) -> float:
    """Write the point a step away, stopped at zeros; return what the slope promises of it."""
    promise, size = 0.0, point.dtype.type(step)
    last = len(point) - 1
    for j in range(len(point)):
        value = point[j] + size * direction[j]
        if gamma > 0.0 and j < last:
            home = point[j] if point[j] != 0.0 else -steepest[j]
            if value * home <= 0.0:
                value = point.dtype.type(0.0)
        moved[j] = value
        promise += steepest[j] * (value - point[j])
    return promise


@njit(cache=True, nogil=True, error_model="numpy")
def minimise(
    kind: int,
    block: Block,
    shares: Reals,
    alpha: float,
    gamma: float,
    ridge: float,
    max_iterations: int,
    tolerance: float,
    point: Reals,
) -> float:
    """Minimise ``loss + gamma * |weights| + ridge / 2 * |weights|**2``.

    Parameters
    ----------
    kind : int
        HELLINGER or LOGISTIC.
    block : Block, in
    shares : float array of shape (2, n_rows), in
        As of `class_shares` or `row_shares`.
    alpha : float
        Sharpness of Hellinger's sigmoid.
    gamma, ridge : float
    max_iterations : int
    tolerance : float
        Iterations end when one brings less than this, relative to the loss.
    point : float array of shape (n_columns + 1,), in and out

    Returns
    -------
    float
        The loss without the penalties.
    """
    n_rows, size = shares.shape[1], len(point)
    scores, bent = np.empty(n_rows, point.dtype), np.empty(n_rows, point.dtype)
    slopes, steepest = np.empty_like(point), np.empty_like(point)
    direction, moved, slopes_before = np.empty_like(point), np.empty_like(point), slopes.copy()
    steps, changes = np.empty((_MEMORY, size), point.dtype), np.empty((_MEMORY, size), point.dtype)
    products = np.empty(_MEMORY)
    n_pairs, newest = 0, 0
    loss, true_rate, false_rate = _loss(kind, block, shares, alpha, point, scores, bent)
    value = loss + _penalty(point, gamma, ridge)
    rates = (true_rate, false_rate)
    _slopes(kind, block, shares, alpha, ridge, rates, point, scores, bent, slopes)
    for _ in range(max_iterations):
        _steepest(slopes, point, gamma, steepest)
        length = np.sqrt(_dot(steepest, steepest))
        if length <= 1e-12:
            break
        for j in range(size):
            direction[j] = -steepest[j]
        step = 1.0
        if n_pairs > 0:
            _bend(steps, changes, products, n_pairs, newest, direction)
            for j in range(size):
                if direction[j] * steepest[j] >= 0.0:
                    direction[j] = 0.0
        else:
            step = max(0.5 * np.sqrt(_dot(point, point)), 1e-3) / length
        accepted, trial = False, 0.0
        for _trial in range(_TRIALS):
            promise = _move(point, direction, step, steepest, gamma, moved)
            loss, true_rate, false_rate = _loss(kind, block, shares, alpha, moved, scores, bent)
            trial = loss + _penalty(moved, gamma, ridge)
            if trial <= value + _DECREASE * promise and promise < 0.0:
                accepted = True
                break
            step *= 0.4
        if not accepted:
            if n_pairs == 0:
                break
            n_pairs = 0  # forget, and try the steepest way
            continue
        slopes_before[:] = slopes
        rates = (true_rate, false_rate)
        _slopes(kind, block, shares, alpha, ridge, rates, moved, scores, bent, slopes)
        place = (newest + 1) % _MEMORY if n_pairs > 0 else 0
        for j in range(size):
            steps[place, j] = moved[j] - point[j]
            changes[place, j] = slopes[j] - slopes_before[j]
            point[j] = moved[j]
        products[place] = _dot(steps[place], changes[place])
        if products[place] > 1e-10 * _dot(changes[place], changes[place]):
            newest, n_pairs = place, min(n_pairs + 1, _MEMORY)
        else:  # the oldest pair, if the memory was full, has been written over
            n_pairs = min(n_pairs, _MEMORY - 1)
        gained, value = value - trial, trial
        if gained <= tolerance * max(abs(value), 1e-3):
            break
    return value - _penalty(point, gamma, ridge)
