"""Newton's method for linear classifiers of few features and many rows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import LapackInt, gesv, inner, kernel
from palmette.class_tree._dual_descent import TargetRows, is_set

Floats: TypeAlias = NDArray[np.float64]

_BLOCK = 256  # number of rows whose products are computed at a time
_HALVINGS = 40
_DOUBLE = np.int8(ord("d"))
_MAX_MARGIN = 700.0  # the exponential of larger margins overflows


@kernel
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
    full = _zeros(size)
    crossed, factors = np.empty(n_rows, np.int64), np.empty(n_rows, np.float64)
    for r in range(n_rows):
        crossed[r], factors[r] = r, 2.0 * costs[r]
    _add_products(data, crossed, factors, full)
    for j in range(size):
        full[j, j] += 1.0
    w, minimizer, right_side = _vectors(size)
    margins, full_margins, new_margins = _vectors(n_rows)
    new_w, active = np.empty(size, np.float64), np.empty(n_rows, np.uint8)
    products, most = np.empty((size, size), np.float64), 0
    for target in range(signs.shape[1]):
        for j in range(size):  # loops: assignments of slices take seconds to compile
            w[j] = right_side[j] = 0.0
            for k in range(size):
                products[j, k] = full[j, k]
        for r in range(n_rows):
            _add_row(data, r, 2.0 * costs[r] * signs[member[r], target], right_side)
            margins[r], active[r] = 0.0, 1
        value = _hinge_objective(w, margins, costs)
        for step in range(max_iter):
            if is_set(data.stop):
                return most
            most = step + 1 if step + 1 > most else most
            _solve(products, right_side, minimizer)
            _margins(data, minimizer, full_margins)
            for r in range(n_rows):
                full_margins[r] *= signs[member[r], target]
            step_size, reached = 1.0, 0.0
            for _ in range(_HALVINGS):
                for j in range(size):
                    new_w[j] = w[j] + step_size * (minimizer[j] - w[j])
                for r in range(n_rows):
                    new_margins[r] = margins[r] + step_size * (full_margins[r] - margins[r])
                reached = _hinge_objective(new_w, new_margins, costs)
                if reached <= value:
                    break
                step_size *= 0.5
            gain = value - reached
            for j in range(size):
                w[j] += step_size * (minimizer[j] - w[j])
            for r in range(n_rows):
                margins[r] += step_size * (full_margins[r] - margins[r])
            value = reached
            n_crossed = 0
            for r in range(n_rows):
                short = np.uint8(margins[r] < 1.0)
                if short != active[r]:
                    active[r] = short
                    factors[r] = 2.0 * costs[r] if short else -2.0 * costs[r]
                    crossed[n_crossed] = r
                    n_crossed += 1
                    _add_row(data, r, factors[r] * signs[member[r], target], right_side)
            if (n_crossed == 0 and step_size == 1.0) or gain <= 1e-15 * value:
                break
            _add_products(data, crossed[:n_crossed], factors, products)
        for j in range(size):
            weights[j, target] = w[j]
    return most


@kernel
def logistic_newton(data: TargetRows, max_iter: int, weights: Floats) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost log(1 + exp(-sign w x))`` for every target, exactly.

    Parameters and the value returned are those of `squared_hinge_newton`.
    """
    rows, member, signs, costs = data.rows, data.member, data.signs, data.costs
    n_rows, size = len(rows), len(weights)
    every, factors = np.empty(n_rows, np.int64), np.empty(n_rows, np.float64)
    for r in range(n_rows):
        every[r] = r
    margins, changes, new_margins = _vectors(n_rows)
    w, move, slope = _vectors(size)
    new_w, most = np.empty(size, np.float64), 0
    for target in range(signs.shape[1]):
        for j in range(size):
            w[j] = 0.0
        for r in range(n_rows):
            margins[r] = 0.0
        value = _logistic_objective(w, margins, costs)
        for step in range(max_iter):
            if is_set(data.stop):
                return most
            most = step + 1 if step + 1 > most else most
            for j in range(size):
                slope[j] = -w[j]
            for r in range(n_rows):
                missing = 1.0 / (1.0 + np.exp(min(margins[r], _MAX_MARGIN)))
                factors[r] = costs[r] * missing * (1.0 - missing)
                _add_row(data, r, costs[r] * missing * signs[member[r], target], slope)
            products = _zeros(size)
            _add_products(data, every, factors, products)
            for j in range(size):
                products[j, j] += 1.0
            _solve(products, slope, move)
            _margins(data, move, changes)
            for r in range(n_rows):
                changes[r] *= signs[member[r], target]
            step_size, reached = 1.0, 0.0
            for _ in range(_HALVINGS):
                for j in range(size):
                    new_w[j] = w[j] + step_size * move[j]
                for r in range(n_rows):
                    new_margins[r] = margins[r] + step_size * changes[r]
                reached = _logistic_objective(new_w, new_margins, costs)
                if reached <= value:
                    break
                step_size *= 0.5
            if reached > value:  # at the minimum, up to rounding errors
                break
            gain, value = value - reached, reached
            for j in range(size):
                w[j] += step_size * move[j]
            for r in range(n_rows):
                margins[r] += step_size * changes[r]
            if gain <= 1e-15 * value:
                break
        for j in range(size):
            weights[j, target] = w[j]
    return most


@inner(inline="always")
def _vectors(size: int) -> tuple[Floats, Floats, Floats]:
    return np.empty(size, np.float64), np.empty(size, np.float64), np.empty(size, np.float64)


@inner
def _zeros(size: int) -> Floats:
    zeros = np.empty((size, size), np.float64)
    for j in range(size):
        for k in range(size):
            zeros[j, k] = 0.0
    return zeros


@inner
def _solve(matrix: Floats, right_side: Floats, solution: Floats) -> None:
    """Solve a system of linear equations by LAPACK, as `np.linalg.solve` does.

    That function takes five seconds to compile.
    """
    size = len(right_side)
    by_column, pivots = np.empty((size, size), np.float64), np.empty(size, LapackInt)
    finite = True
    for j in range(size):
        solution[j] = right_side[j]
        finite &= np.isfinite(right_side[j])
        for k in range(size):
            by_column[k, j] = matrix[j, k]
            finite &= np.isfinite(matrix[j, k])
    if not finite:
        raise np.linalg.LinAlgError("a linear classifier met numbers that are not finite")
    failed = gesv(_DOUBLE, size, 1, by_column.ctypes, size, pivots.ctypes, solution.ctypes, size)
    # the sizes are read here, so that no array is freed before the call
    if failed != 0 or by_column.size < pivots.size:
        raise np.linalg.LinAlgError("a linear classifier has no unique solution")


@inner(inline="always")
def _margins(data: TargetRows, w: Floats, margins: Floats) -> None:
    for r in range(len(data.rows)):
        i, start = data.rows[r], data.column_starts[r]
        margin = w[len(w) - 1]
        for e in range(data.lengths[i]):
            margin += data.values[data.value_starts[i] + e] * w[data.columns[start + e]]
        margins[r] = margin


@inner(inline="always")
def _add_row(data: TargetRows, r: int, factor: float, total: Floats) -> None:
    i, start = data.rows[r], data.column_starts[r]
    for e in range(data.lengths[i]):
        total[data.columns[start + e]] += factor * data.values[data.value_starts[i] + e]
    total[len(total) - 1] += factor


@inner
def _add_products(
    data: TargetRows, chosen: NDArray[np.int64], factors: Floats, products: Floats
) -> None:
    """Add the sum of ``factor x x'`` over the chosen positions in `rows` to `products`."""
    size = len(products)
    block, scaled = np.empty((_BLOCK, size), np.float64), np.empty((_BLOCK, size), np.float64)
    added = np.empty((size, size), np.float64)
    for begin in range(0, len(chosen), _BLOCK):
        n = len(chosen) - begin
        n = n if n < _BLOCK else _BLOCK
        for b in range(n):
            for j in range(size):
                block[b, j] = 0.0
            r = chosen[begin + b]
            i, start = data.rows[r], data.column_starts[r]
            for e in range(data.lengths[i]):
                block[b, data.columns[start + e]] += data.values[data.value_starts[i] + e]
            block[b, size - 1] = 1.0
            for j in range(size):
                scaled[b, j] = factors[r] * block[b, j]
        np.dot(block[:n].T, scaled[:n], added)
        for j in range(size):
            for k in range(size):
                products[j, k] += added[j, k]


@inner
def _hinge_objective(w: Floats, margins: Floats, costs: Floats) -> float:
    total = 0.5 * float(np.dot(w, w))
    for r in range(len(margins)):
        short = 1.0 - margins[r]
        if short > 0:
            total += costs[r] * short * short
    return total


@inner
def _logistic_objective(w: Floats, margins: Floats, costs: Floats) -> float:
    total = 0.5 * float(np.dot(w, w))
    for r in range(len(margins)):
        margin = margins[r]
        total += costs[r] * (np.log1p(np.exp(-abs(margin))) - min(margin, 0.0))
    return total
