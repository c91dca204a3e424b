"""How the direction of a split is found: its least-squares start, and two ways to minimise a loss.

``point`` is the weights of a split with the bias behind them; the bias is not penalised.

- `least_squares`, by conjugate gradients: a few steps give a direction close to that of linear
  discriminant analysis, many the least-squares solution; where there are more features than rows,
  the shortest one.
- `minimise`: a loss with an l1 penalty, by limited-memory quasi-Newton orthant steps. Weights that
  a step would carry through zero stop there, so that they become zero early.
- `adam`, the published way to minimise the sparse Hellinger loss, with a sharpening sigmoid. The
  smooth l1 norm of Eq. 8 is ``|w| + (2 / eta) log1p(exp(-eta |w|))``, its derivative
  ``tanh(eta w / 2)``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette.forest._node_block import Block, add_back, project, take_rows
from palmette.forest._split_losses import (
    class_shares,
    hellinger_loss,
    hellinger_pulls,
    logistic_loss,
    logistic_pulls,
    soft_rates,
)
from palmette.trees._random import State, next_below

__all__ = [
    "HELLINGER",
    "LOGISTIC",
    "adam",
    "alpha_at",
    "least_squares",
    "minimise",
    "smooth_l1",
    "soft_distance",
]

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Sums: TypeAlias = NDArray[np.float64]

HELLINGER = 0
LOGISTIC = 1

_MEMORY = 4  # pairs of steps and changes of slopes that are remembered
_DECREASE = 1e-4  # share of the promised decrease that a step must bring
_TRIALS = 12  # halvings of a step

_FIRST_DECAY = 0.9
_SECOND_DECAY = 0.999
_TINY = 1e-8


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


# ------------------------------------------------------------------------------------ least squares


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _centre(sums: Reals, means: Reals, total: float) -> None:
    times = means.dtype.type(total)
    for j in range(len(sums)):
        sums[j] -= times * means[j]


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
    block : Block, IN
    second : bool array of shape (n_rows,), IN
        Whether a row's target is +1.
    row_weights : float64 array of shape (n_rows,), IN
    max_iterations : int
    tolerance : float
        Iterations end when the normal equations' residual has shrunk by this factor.
    weights : float array of shape (n_columns,), OUT

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
        if not error < error_before:  # from here on only rounding errors remain
            _add(weights, -step, direction)
            break
        add_back(block, pulls, slopes)
        _centre(slopes, means, pull_sum)
        size_before, size = size, _dot(slopes, slopes)
        ratio = kind(size / size_before)
        for j in range(n_columns):
            direction[j] = slopes[j] + ratio * direction[j]
    return float(target_mean - _dot(means, weights))


# ------------------------------------------------------------------------------- quasi-Newton steps


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
def _smooth_slopes(
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
    block : Block, IN
    shares : float array of shape (2, n_rows), IN
        As of `class_shares` or `row_shares`.
    alpha : float
        Sharpness of Hellinger's sigmoid.
    gamma, ridge : float
    max_iterations : int
    tolerance : float
        Iterations end when one brings less than this, relative to the loss.
    point : float array of shape (n_columns + 1,), IN and OUT

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
    _smooth_slopes(kind, block, shares, alpha, ridge, rates, point, scores, bent, slopes)
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
        _smooth_slopes(kind, block, shares, alpha, ridge, rates, moved, scores, bent, slopes)
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


# --------------------------------------------------------------------------------------------- Adam


@njit(cache=True, nogil=True, error_model="numpy")
def smooth_l1(weights: Reals, eta: float) -> float:
    """Return the smooth l1 norm of weights (Eq. 8).

    Parameters
    ----------
    weights : float array of shape (n_columns,), IN
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
def _batch_slopes(
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
    block : Block, IN
    second : bool array of shape (n_rows,), IN
    row_weights : float64 array of shape (n_rows,), IN
    gamma : float
        Weight of the smooth l1 norm.
    eta : float
    schedule : tuple
        The first three arguments of `alpha_at` after the iteration, and the fourth.
    learning_rate : float
    batch_size : int
        Rows are shuffled and cut into even batches of at most so many.
    max_iterations : int
    state : uint64 array of shape (1,), IN and OUT
    point : float array of shape (n_columns + 1,), IN and OUT
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
        _batch_slopes(batch, shares, alpha, gamma, eta, point, slopes)
        first_scale = 1.0 - _FIRST_DECAY ** (iteration + 1)
        second_scale = 1.0 - _SECOND_DECAY ** (iteration + 1)
        for j in range(len(point)):
            mean[j] = _FIRST_DECAY * mean[j] + (1.0 - _FIRST_DECAY) * slopes[j]
            spread[j] = _SECOND_DECAY * spread[j] + (1.0 - _SECOND_DECAY) * slopes[j] * slopes[j]
            size = np.sqrt(spread[j] / second_scale) + _TINY
            point[j] -= learning_rate * (mean[j] / first_scale) / size
