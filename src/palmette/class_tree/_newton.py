"""Newton's method for linear classifiers of few features and many rows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette.class_tree._dual_descent import TargetRows, is_set

Floats: TypeAlias = NDArray[np.float64]

_BLOCK = 256  # number of rows whose products are computed at a time
_HALVINGS = 40
_MAX_MARGIN = 700.0  # the exponential of larger margins overflows


@njit(cache=True, nogil=True)
def squared_hinge_newton(data: TargetRows, max_iter: int, weights: Floats) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost max(0, 1 - sign w x)^2`` for every target, exactly.

    The objective is quadratic as long as the same rows have margins below one, so that a few steps
    to its minimum, with a line search, are enough. From one step to the next, only the rows whose
    margins cross one are added to the products or subtracted from them.

    Parameters
    ----------
    data : TargetRows, IN
    max_iter : int
        Maximum number of steps per target.
    weights : float64 array of shape (n_used + 1, n_targets), OUT
        The last row is the bias.

    Returns
    -------
    int
        Maximum number of steps of a target; ``max_iter`` if one did not converge.
    """
    rows, member, signs, costs = data.rows, data.member, data.signs, data.costs
    n_rows, size = len(rows), len(weights)
    full = np.zeros((size, size))
    every = np.arange(n_rows)
    _add_products(data, every, 2.0 * costs, full)
    for j in range(size):
        full[j, j] += 1.0
    minimizer, margins, full_margins = np.empty(size), np.empty(n_rows), np.empty(n_rows)
    active, factors = np.empty(n_rows, dtype=np.bool_), np.empty(n_rows)
    crossed = np.empty(n_rows, dtype=np.int64)
    most = 0
    for target in range(signs.shape[1]):
        products, right_side = full.copy(), np.zeros(size)
        for r in range(n_rows):
            _add_row(data, r, 2.0 * costs[r] * signs[member[r], target], right_side)
        w, margins[:], active[:] = np.zeros(size), 0.0, True
        value = _hinge_objective(w, margins, costs)
        for step in range(max_iter):
            if is_set(data.stop):
                return most
            most = max(most, step + 1)
            minimizer[:] = np.linalg.solve(products, right_side)
            _margins(data, minimizer, full_margins)
            for r in range(n_rows):
                full_margins[r] *= signs[member[r], target]
            step_size = 1.0
            for _ in range(_HALVINGS):
                reached = _hinge_objective(
                    w + step_size * (minimizer - w),
                    margins + step_size * (full_margins - margins),
                    costs,
                )
                if reached <= value:
                    break
                step_size *= 0.5
            gain = value - reached
            w += step_size * (minimizer - w)
            margins += step_size * (full_margins - margins)
            value = reached
            n_crossed = 0
            for r in range(n_rows):
                short = margins[r] < 1.0
                if short != active[r]:
                    active[r] = short
                    factors[r] = 2.0 * costs[r] if short else -2.0 * costs[r]
                    crossed[n_crossed] = r
                    n_crossed += 1
                    _add_row(data, r, factors[r] * signs[member[r], target], right_side)
            if (n_crossed == 0 and step_size == 1.0) or gain <= 1e-15 * value:
                break
            _add_products(data, crossed[:n_crossed], factors, products)
        weights[:, target] = w
    return most


@njit(cache=True, nogil=True)
def logistic_newton(data: TargetRows, max_iter: int, weights: Floats) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost log(1 + exp(-sign w x))`` for every target, exactly.

    Parameters and the value returned are those of `squared_hinge_newton`.
    """
    rows, member, signs, costs = data.rows, data.member, data.signs, data.costs
    n_rows, size = len(rows), len(weights)
    every = np.arange(n_rows)
    margins, changes, factors = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    w, move, slope = np.empty(size), np.empty(size), np.empty(size)
    products = np.empty((size, size))
    most = 0
    for target in range(signs.shape[1]):
        w[:], margins[:] = 0.0, 0.0
        value = _logistic_objective(w, margins, costs)
        for step in range(max_iter):
            if is_set(data.stop):
                return most
            most = max(most, step + 1)
            slope[:] = -w
            for r in range(n_rows):
                missing = 1.0 / (1.0 + np.exp(min(margins[r], _MAX_MARGIN)))
                factors[r] = costs[r] * missing * (1.0 - missing)
                _add_row(data, r, costs[r] * missing * signs[member[r], target], slope)
            products[:] = 0.0
            _add_products(data, every, factors, products)
            for j in range(size):
                products[j, j] += 1.0
            move[:] = np.linalg.solve(products, slope)
            _margins(data, move, changes)
            for r in range(n_rows):
                changes[r] *= signs[member[r], target]
            step_size = 1.0
            for _ in range(_HALVINGS):
                reached = _logistic_objective(
                    w + step_size * move, margins + step_size * changes, costs
                )
                if reached <= value:
                    break
                step_size *= 0.5
            if reached > value:  # at the minimum, up to rounding errors
                break
            gain, value = value - reached, reached
            w += step_size * move
            margins += step_size * changes
            if gain <= 1e-15 * value:
                break
        weights[:, target] = w
    return most


@njit(cache=True, nogil=True)
def _margins(data: TargetRows, w: Floats, margins: Floats) -> None:
    for r in range(len(data.rows)):
        i, start = data.rows[r], data.column_starts[r]
        margin = w[len(w) - 1]
        for e in range(data.lengths[i]):
            margin += data.values[data.value_starts[i] + e] * w[data.columns[start + e]]
        margins[r] = margin


@njit(cache=True, nogil=True)
def _add_row(data: TargetRows, r: int, factor: float, total: Floats) -> None:
    i, start = data.rows[r], data.column_starts[r]
    for e in range(data.lengths[i]):
        total[data.columns[start + e]] += factor * data.values[data.value_starts[i] + e]
    total[len(total) - 1] += factor


@njit(cache=True, nogil=True)
def _add_products(
    data: TargetRows, chosen: NDArray[np.int64], factors: Floats, products: Floats
) -> None:
    """Add the sum of ``factor x x'`` over the chosen positions in `rows` to `products`."""
    size = len(products)
    block, scaled = np.empty((_BLOCK, size)), np.empty((_BLOCK, size))
    for begin in range(0, len(chosen), _BLOCK):
        n = min(_BLOCK, len(chosen) - begin)
        block[:n] = 0.0
        for b in range(n):
            r = chosen[begin + b]
            i, start = data.rows[r], data.column_starts[r]
            for e in range(data.lengths[i]):
                block[b, data.columns[start + e]] += data.values[data.value_starts[i] + e]
            block[b, size - 1] = 1.0
            for j in range(size):
                scaled[b, j] = factors[r] * block[b, j]
        products += np.dot(block[:n].T, scaled[:n])


@njit(cache=True, nogil=True)
def _hinge_objective(w: Floats, margins: Floats, costs: Floats) -> float:
    total = 0.5 * float(np.dot(w, w))
    for r in range(len(margins)):
        short = 1.0 - margins[r]
        if short > 0:
            total += costs[r] * short * short
    return total


@njit(cache=True, nogil=True)
def _logistic_objective(w: Floats, margins: Floats, costs: Floats) -> float:
    total = 0.5 * float(np.dot(w, w))
    for r in range(len(margins)):
        margin = margins[r]
        total += costs[r] * (np.log1p(np.exp(-abs(margin))) - min(margin, 0.0))
    return total
