"""Solvers for the direction of a split: least squares, quasi-Newton and Adam.

``point`` holds the weights of a split, followed by the bias; the bias is not penalized.

- `least_squares`, by conjugate gradients: a few steps give a direction close to that of linear
  discriminant analysis, many steps the least-squares solution; with more features than rows, the
  one of minimum norm.
- `minimize_by_owlqn`: a loss with an l1 penalty, by the orthant-wise limited-memory quasi-Newton
  method (OWL-QN). A weight whose sign a step would change is set to zero.
- `minimize_by_adam`, the published solver of the sparse Hellinger loss, with a sigmoid of
  increasing slope. The smooth l1 norm of Eq. 8 is ``|w| + (2 / eta) log1p(exp(-eta |w|))``, its
  derivative is ``tanh(eta w / 2)``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner
from palmette.forest._node_block import Block, project, take_rows, transpose_product
from palmette.forest._settings import AdamSettings
from palmette.forest._split_losses import (
    approximate_tanh,
    class_shares,
    exact_tanh,
    hellinger_derivatives,
    hellinger_loss,
    logistic_derivatives,
    logistic_loss,
    soft_rates,
)
from palmette.trees._random import State, next_below

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Sums: TypeAlias = NDArray[np.float64]

_MEMORY = 4  # pairs of steps and changes of the gradient that are stored
_MIN_DECREASE = 1e-4  # fraction of the predicted decrease that a step must attain (Armijo)
_MAX_TRIALS = 12  # step sizes tried per line search

_FIRST_DECAY = 0.9
_SECOND_DECAY = 0.999
_EPSILON = 1e-8


@inner(error_model="numpy", fastmath=True)
def _dot(a: Reals, b: Reals) -> float:
    total = a.dtype.type(0.0)
    for j in range(len(a)):
        total += a[j] * b[j]
    return float(total)


@inner(error_model="numpy", fastmath=True)
def _add_scaled(target: Reals, factor: float, source: Reals) -> None:
    times = target.dtype.type(factor)
    for j in range(len(target)):
        target[j] += times * source[j]


# ------------------------------------------------------------------------------------ least squares


@inner(error_model="numpy", fastmath=True)
def _centre(sums: Reals, means: Reals, total: float) -> None:
    times = means.dtype.type(total)
    for j in range(len(sums)):
        sums[j] -= times * means[j]


@inner(error_model="numpy")
def least_squares(
    block: Block,
    second: Flags,
    row_weights: Sums,
    max_iterations: int,
    tolerance: float,
    weights: Reals,
) -> float:
    """Fit targets -1 and +1 by least squares with a bias; features are centred implicitly.

    Parameters
    ----------
    block : DenseBlock or SparseBlock, IN
    second : bool array of shape (n_rows,), IN
        Whether the target of a row is +1.
    row_weights : float64 array of shape (n_rows,), IN
    max_iterations : int
    tolerance : float
        Iterations stop when the residual of the normal equations has shrunk by this factor.
    weights : float array of shape (n_columns,), OUT

    Returns
    -------
    float
        The bias.
    """
    n_rows, n_columns = len(second), len(weights)
    kind = weights.dtype.type
    counts = np.empty(n_rows, weights.dtype)
    for i in range(n_rows):
        counts[i] = row_weights[i]
    total = 0.0
    for i in range(n_rows):
        total += row_weights[i]
    means = np.empty(n_columns, weights.dtype)
    transpose_product(block, counts, means)
    for j in range(n_columns):
        means[j] /= kind(total)
    target_mean = 0.0
    for i in range(n_rows):
        target_mean += row_weights[i] if second[i] else -row_weights[i]
    target_mean /= total
    residual = np.empty(n_rows, weights.dtype)
    derivatives = np.empty(n_rows, weights.dtype)
    projected = np.empty(n_rows, weights.dtype)
    for i in range(n_rows):
        residual[i] = (1.0 if second[i] else -1.0) - target_mean
        derivatives[i] = residual[i] * counts[i]
    gradient = np.empty(n_columns, weights.dtype)
    transpose_product(block, derivatives, gradient)  # targets are centred: no correction needed
    direction = np.empty(n_columns, weights.dtype)
    for j in range(n_columns):
        direction[j] = gradient[j]
        weights[j] = 0.0
    size, error = _dot(gradient, gradient), _dot(derivatives, residual)
    stop_size = size * tolerance * tolerance
    for _ in range(max_iterations):
        if size <= stop_size:
            break
        project(block, direction, -_dot(means, direction), projected)
        for i in range(n_rows):
            derivatives[i] = projected[i] * counts[i]
        curvature = _dot(derivatives, projected)
        if curvature <= 0.0:
            break
        step = size / curvature
        _add_scaled(weights, step, direction)
        _add_scaled(residual, -step, projected)
        derivative_sum = 0.0
        for i in range(n_rows):
            derivatives[i] = residual[i] * counts[i]
            derivative_sum += derivatives[i]
        error_before, error = error, _dot(derivatives, residual)
        if not error < error_before:  # from here on only rounding errors remain
            _add_scaled(weights, -step, direction)
            break
        transpose_product(block, derivatives, gradient)
        _centre(gradient, means, derivative_sum)
        size_before, size = size, _dot(gradient, gradient)
        ratio = kind(size / size_before)
        for j in range(n_columns):
            direction[j] = gradient[j] + ratio * direction[j]
    return float(target_mean - _dot(means, weights))


# ------------------------------------------------------------------------------- quasi-Newton steps


@inner(error_model="numpy")
def _penalty(point: Reals, gamma: float, ridge: float | None) -> float:
    absolute, squares = 0.0, 0.0
    for j in range(len(point) - 1):
        absolute += abs(point[j])
        squares += point[j] * point[j]
    penalty = gamma * absolute
    if ridge is not None:
        penalty += 0.5 * ridge * squares
    return penalty


@inner(error_model="numpy")
def _loss(
    block: Block,
    shares: Reals,
    alpha: float | None,
    ridge: float | None,
    point: Reals,
    scores: Reals,
    tanhs: Reals,
) -> tuple[float, float, float]:
    """Return the loss and the soft rates (0 for the logistic loss); write the scores."""
    project(block, point[:-1], point[-1], scores)
    loss, true_rate, false_rate = 0.0, 0.0, 0.0
    if alpha is not None:
        approximate_tanh(scores, alpha, tanhs)
        true_rate, false_rate = soft_rates(shares, tanhs)
        loss = hellinger_loss(true_rate, false_rate)
    if ridge is not None:
        loss = logistic_loss(scores, shares)
    return loss, true_rate, false_rate


@inner(error_model="numpy")
def _smooth_gradient(
    block: Block,
    shares: Reals,
    alpha: float | None,
    ridge: float | None,
    rates: tuple[float, float],
    point: Reals,
    scores: Reals,
    tanhs: Reals,
    gradient: Reals,
) -> None:
    """Write the gradient of the smooth part at the point of the last call of `_loss`."""
    derivatives = np.empty(len(scores), scores.dtype)
    if alpha is not None:
        hellinger_derivatives(rates[0], rates[1], shares, tanhs, alpha, derivatives)
    if ridge is not None:
        logistic_derivatives(scores, shares, derivatives)
    transpose_product(block, derivatives, gradient[:-1])
    total = scores.dtype.type(0.0)
    for i in range(len(derivatives)):
        total += derivatives[i]
    gradient[-1] = total
    if ridge is not None:
        _add_scaled(gradient[:-1], ridge, point[:-1])


@inner(error_model="numpy")
def _subgradient(gradient: Reals, point: Reals, gamma: float, subgradient: Reals) -> None:
    """Write the gradient of the objective; at zero weights its subgradient of minimum norm."""
    for j in range(len(point) - 1):
        partial = gradient[j]
        if point[j] > 0.0 or (point[j] == 0.0 and partial < -gamma):
            subgradient[j] = partial + gamma
        elif point[j] < 0.0 or partial > gamma:
            subgradient[j] = partial - gamma
        else:
            subgradient[j] = 0.0
    subgradient[-1] = gradient[-1]


@inner(error_model="numpy")
def _apply_inverse_hessian(
    steps: Reals, changes: Reals, products: Reals, n_pairs: int, newest: int, direction: Reals
) -> None:
    """Multiply a direction by the estimate of the inverse Hessian (two-loop recursion)."""
    factors = np.empty(_MEMORY, np.float64)
    for age in range(n_pairs):
        k = (newest - age) % _MEMORY
        factors[k] = _dot(steps[k], direction) / products[k]
        _add_scaled(direction, -factors[k], changes[k])
    scale = direction.dtype.type(products[newest] / _dot(changes[newest], changes[newest]))
    for j in range(len(direction)):
        direction[j] *= scale
    for age in range(n_pairs - 1, -1, -1):
        k = (newest - age) % _MEMORY
        _add_scaled(direction, factors[k] - _dot(changes[k], direction) / products[k], steps[k])


@inner(error_model="numpy")
def _take_step(
    point: Reals, direction: Reals, step: float, subgradient: Reals, gamma: float, candidate: Reals
) -> float:
    """Write the point after a step within its orthant; return the predicted change of the loss."""
    predicted, size = 0.0, point.dtype.type(step)
    last = len(point) - 1
    for j in range(len(point)):
        value = point[j] + size * direction[j]
        if gamma > 0.0 and j < last:
            orthant = point[j] if point[j] != 0.0 else -subgradient[j]
            if value * orthant <= 0.0:
                value = point.dtype.type(0.0)
        candidate[j] = value
        predicted += subgradient[j] * (value - point[j])
    return predicted


@inner(error_model="numpy")
def minimize_by_owlqn(
    block: Block,
    shares: Reals,
    alpha: float | None,
    gamma: float,
    ridge: float | None,
    max_iterations: int,
    tolerance: float,
    point: Reals,
) -> float:
    """Minimize ``loss + gamma * |weights| + ridge / 2 * |weights|**2``.

    Parameters
    ----------
    block : DenseBlock or SparseBlock, IN
    shares : float array of shape (2, n_rows), IN
        As of `class_shares` for the Hellinger loss, or `row_shares` for the logistic loss.
    alpha : float or None
        Slope of the sigmoid of the Hellinger loss; None for the logistic loss.
    gamma : float
    ridge : float or None
        For the logistic loss; None for the Hellinger loss. Numba leaves out what a None rules out.
    max_iterations : int
    tolerance : float
        Iterations stop when the relative decrease of the loss is smaller than this.
    point : float array of shape (n_columns + 1,), IN and OUT

    Returns
    -------
    float
        The loss without the penalties.
    """
    n_rows, size = shares.shape[1], len(point)
    scores, tanhs = np.empty(n_rows, point.dtype), np.empty(n_rows, point.dtype)
    gradient, gradient_before = np.empty(size, point.dtype), np.empty(size, point.dtype)
    subgradient, direction = np.empty(size, point.dtype), np.empty(size, point.dtype)
    candidate = np.empty(size, point.dtype)
    steps = np.empty((_MEMORY, size), point.dtype)
    changes = np.empty((_MEMORY, size), point.dtype)
    products = np.empty(_MEMORY, np.float64)
    n_pairs, newest = 0, 0
    loss, true_rate, false_rate = _loss(block, shares, alpha, ridge, point, scores, tanhs)
    value = loss + _penalty(point, gamma, ridge)
    rates = (true_rate, false_rate)
    _smooth_gradient(block, shares, alpha, ridge, rates, point, scores, tanhs, gradient)
    for _ in range(max_iterations):
        _subgradient(gradient, point, gamma, subgradient)
        length = np.sqrt(_dot(subgradient, subgradient))
        if length <= 1e-12:
            break
        for j in range(size):
            direction[j] = -subgradient[j]
        step = 1.0
        if n_pairs > 0:
            _apply_inverse_hessian(steps, changes, products, n_pairs, newest, direction)
            for j in range(size):
                if direction[j] * subgradient[j] >= 0.0:
                    direction[j] = 0.0
        else:
            step = max(0.5 * np.sqrt(_dot(point, point)), 1e-3) / length
        accepted, trial = False, 0.0
        for _trial in range(_MAX_TRIALS):
            predicted = _take_step(point, direction, step, subgradient, gamma, candidate)
            loss, true_rate, false_rate = _loss(
                block, shares, alpha, ridge, candidate, scores, tanhs
            )
            trial = loss + _penalty(candidate, gamma, ridge)
            if trial <= value + _MIN_DECREASE * predicted and predicted < 0.0:
                accepted = True
                break
            step *= 0.4
        if not accepted:
            if n_pairs == 0:
                break
            n_pairs = 0  # discard the memory, and try steepest descent
            continue
        for j in range(len(gradient)):
            gradient_before[j] = gradient[j]
        rates = (true_rate, false_rate)
        _smooth_gradient(block, shares, alpha, ridge, rates, candidate, scores, tanhs, gradient)
        place = (newest + 1) % _MEMORY if n_pairs > 0 else 0
        for j in range(size):
            steps[place, j] = candidate[j] - point[j]
            changes[place, j] = gradient[j] - gradient_before[j]
            point[j] = candidate[j]
        products[place] = _dot(steps[place], changes[place])
        if products[place] > 1e-10 * _dot(changes[place], changes[place]):
            newest = place
            if n_pairs < _MEMORY:
                n_pairs += 1
        elif n_pairs == _MEMORY:  # the oldest pair has been overwritten
            n_pairs -= 1
        decrease, value = value - trial, trial
        if decrease <= tolerance * max(abs(value), 1e-3):
            break
    return value - _penalty(point, gamma, ridge)


# --------------------------------------------------------------------------------------------- Adam


@inner(error_model="numpy")
def smooth_l1(weights: Reals, eta: float) -> float:
    """Return the smooth l1 norm of weights (Eq. 8).

    Parameters
    ----------
    weights : float array of shape (n_columns,), IN
    eta : float
        Sharpness: larger values are closer to the l1 norm.
    """
    norm = 0.0
    for j in range(len(weights)):
        size = abs(float(weights[j]))
        norm += size + 2.0 / eta * np.log1p(np.exp(-eta * size))
    return norm


@inner(error_model="numpy")
def alpha_at(settings: AdamSettings, iteration: int) -> float:
    """Return the slope of the sigmoid, which grows by a factor after every stage."""
    alpha = settings.alpha_first * settings.alpha_factor ** (iteration // settings.alpha_stage)
    return alpha if alpha < settings.alpha_last else settings.alpha_last


@inner(error_model="numpy")
def soft_distance(block: Block, shares: Reals, alpha: float, point: Reals) -> float:
    """Return the squared soft Hellinger distance of a split."""
    scores = np.empty(shares.shape[1], point.dtype)
    project(block, point[:-1], point[-1], scores)
    exact_tanh(scores, alpha, scores)
    true_rate, false_rate = soft_rates(shares, scores)
    return -hellinger_loss(true_rate, false_rate)


@inner(error_model="numpy")
def _shuffle(order: Indices, state: State) -> None:
    for i in range(len(order) - 1, 0, -1):
        j = next_below(state, i + 1)
        order[i], order[j] = order[j], order[i]


@inner(error_model="numpy")
def _batch_gradient(
    block: Block,
    shares: Reals,
    alpha: float,
    gamma: float,
    eta: float,
    point: Reals,
    gradient: Reals,
) -> None:
    """Write the gradient of Eq. 9."""
    n_columns = len(point) - 1
    scores = np.empty(shares.shape[1], point.dtype)
    derivatives = np.empty(shares.shape[1], point.dtype)
    project(block, point[:-1], point[-1], scores)
    exact_tanh(scores, alpha, scores)
    true_rate, false_rate = soft_rates(shares, scores)
    hellinger_derivatives(true_rate, false_rate, shares, scores, alpha, derivatives)
    transpose_product(block, derivatives, gradient[:-1])
    total = scores.dtype.type(0.0)
    for i in range(len(derivatives)):
        total += derivatives[i]
    gradient[n_columns] = total
    if gamma > 0.0:
        for j in range(n_columns):
            gradient[j] += gamma * np.tanh(0.5 * eta * point[j])


@inner(error_model="numpy")
def minimize_by_adam(
    settings: AdamSettings,
    block: Block,
    second: Flags,
    row_weights: Sums,
    gamma: float,
    state: State,
    point: Reals,
) -> None:
    """Minimize Eq. 9 by Adam; each iteration is one step on a batch of rows.

    Parameters
    ----------
    settings : AdamSettings
        Rows are shuffled and split evenly into batches of at most ``batch_size`` rows.
    block : DenseBlock or SparseBlock, IN
    second : bool array of shape (n_rows,), IN
    row_weights : float64 array of shape (n_rows,), IN
    gamma : float
        Strength of the smooth l1 penalty.
    state : uint64 array of shape (1,), IN and OUT
    point : float array of shape (n_columns + 1,), IN and OUT
    """
    n_rows = len(second)
    n_batches = (n_rows + settings.batch_size - 1) // settings.batch_size
    order, n_columns = np.empty(n_rows, np.int32), len(point)
    for i in range(n_rows):
        order[i] = i
    shares = np.empty((2, n_rows), point.dtype)
    class_shares(second, row_weights, shares)
    gradient = np.empty(n_columns, point.dtype)
    first_moment, second_moment = np.empty(n_columns, point.dtype), np.empty(n_columns, point.dtype)
    for j in range(n_columns):
        first_moment[j] = second_moment[j] = 0.0
    batch, batch_second, batch_weights = block, second, row_weights
    for iteration in range(settings.max_iterations):
        if n_batches > 1:
            turn = iteration % n_batches
            if turn == 0:
                _shuffle(order, state)
            batch_rows = order[turn * n_rows // n_batches : (turn + 1) * n_rows // n_batches]
            size, n_second = len(batch_rows), 0
            batch_second, batch_weights = np.empty(size, np.bool_), np.empty(size, np.float64)
            for i in range(size):
                batch_second[i] = second[batch_rows[i]]
                batch_weights[i] = row_weights[batch_rows[i]]
                n_second += batch_second[i]
            if n_second == 0 or n_second == size:
                continue  # the batch has rows of one class only: a rate is undefined
            batch = take_rows(block, batch_rows)
            shares = np.empty((2, size), point.dtype)
            class_shares(batch_second, batch_weights, shares)
        alpha = alpha_at(settings, iteration)
        _batch_gradient(batch, shares, alpha, gamma, settings.eta, point, gradient)
        first_scale = 1.0 - _FIRST_DECAY ** (iteration + 1)
        second_scale = 1.0 - _SECOND_DECAY ** (iteration + 1)
        for j in range(n_columns):
            first_moment[j] = _FIRST_DECAY * first_moment[j] + (1.0 - _FIRST_DECAY) * gradient[j]
            second_moment[j] = (
                _SECOND_DECAY * second_moment[j] + (1.0 - _SECOND_DECAY) * gradient[j] * gradient[j]
            )
            scale = np.sqrt(second_moment[j] / second_scale) + _EPSILON
            point[j] -= settings.learning_rate * (first_moment[j] / first_scale) / scale
