"""Newton's method for linear classifiers of few features and many rows."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["logistic_newton", "squared_hinge_newton"]

_BLOCK = 256  # rows of which a product is taken at a time
_HALVINGS = 40
_STEEPEST = 700.0  # margin beyond which the exponential overflows


@njit(cache=True, nogil=True)
def _add_products(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    chosen: NDArray[np.int64],
    factors: NDArray[np.float64],
    products: NDArray[np.float64],
) -> None:
    """Add ``factor x x'`` of the chosen places of `rows` to `products`."""
    size = len(products)
    block, scaled = np.empty((_BLOCK, size)), np.empty((_BLOCK, size))
    for begin in range(0, len(chosen), _BLOCK):
        n = min(_BLOCK, len(chosen) - begin)
        block[:n] = 0.0
        for b in range(n):
            r = chosen[begin + b]
            first, start = value_starts[rows[r]], column_starts[r]
            for e in range(lengths[rows[r]]):
                block[b, columns[start + e]] += values[first + e]
            block[b, size - 1] = 1.0
            for j in range(size):
                scaled[b, j] = factors[r] * block[b, j]
        products += np.dot(block[:n].T, scaled[:n])


@njit(cache=True, nogil=True)
def _margins(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    line: NDArray[np.float64],
    margins: NDArray[np.float64],
) -> None:
    for r in range(len(rows)):
        first, start = value_starts[rows[r]], column_starts[r]
        margin = line[len(line) - 1]
        for e in range(lengths[rows[r]]):
            margin += values[first + e] * line[columns[start + e]]
        margins[r] = margin


@njit(cache=True, nogil=True)
def _objective(
    line: NDArray[np.float64], margins: NDArray[np.float64], costs: NDArray[np.float64]
) -> float:
    total = 0.5 * float(np.dot(line, line))
    for r in range(len(margins)):
        short = 1.0 - margins[r]
        if short > 0:
            total += costs[r] * short * short
    return total


@njit(cache=True, nogil=True)
def squared_hinge_newton(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    member: NDArray[np.int32],
    signs: NDArray[np.int8],
    costs: NDArray[np.float64],
    max_iter: int,
    lines: NDArray[np.float64],
) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost max(0, 1 - sign w x)^2`` in every lane, to the digit.

    The objective is quadratic where the same rows have margins below one, so that a step to its
    minimum, shortened if need be, ends after a few. From one step to the next only the rows that
    crossed are added to the products or taken off them.

    Parameters
    ----------
    values, value_starts, lengths, columns, column_starts, rows, member, signs, costs
        As in `dual_descent.squared_hinge_lanes`.
    max_iter : int
        Most steps.
    lines : float64 array of shape (n_used + 1, n_lanes), OUT
        Weights; the last line is the bias.

    Returns
    -------
    int
        Most steps that a lane took; ``max_iter`` where one did not settle.
    """
    n_rows, size = len(rows), len(lines)
    full = np.zeros((size, size))
    every = np.arange(n_rows)
    _add_products(
        values, value_starts, lengths, columns, column_starts, rows, every, 2.0 * costs, full
    )
    for j in range(size):
        full[j, j] += 1.0
    aim, at, ahead = np.empty(size), np.empty(n_rows), np.empty(n_rows)
    active, factors = np.empty(n_rows, dtype=np.bool_), np.empty(n_rows)
    crossed = np.empty(n_rows, dtype=np.int64)
    most = 0
    for lane in range(signs.shape[1]):
        products, target = full.copy(), np.zeros(size)
        for r in range(n_rows):
            _add_row(
                values, value_starts, lengths, columns, column_starts, rows, r,
                2.0 * costs[r] * signs[member[r], lane], target,
            )  # fmt: skip
        line, at[:], active[:] = np.zeros(size), 0.0, True
        value = _objective(line, at, costs)
        for step in range(max_iter):
            most = max(most, step + 1)
            aim[:] = np.linalg.solve(products, target)
            _margins(values, value_starts, lengths, columns, column_starts, rows, aim, ahead)
            for r in range(n_rows):
                ahead[r] *= signs[member[r], lane]
            share = 1.0
            for _ in range(_HALVINGS):
                reached = _objective(line + share * (aim - line), at + share * (ahead - at), costs)
                if reached <= value:
                    break
                share *= 0.5
            gain = value - reached
            line += share * (aim - line)
            at += share * (ahead - at)
            value = reached
            n_crossed = 0
            for r in range(n_rows):
                short = at[r] < 1.0
                if short != active[r]:
                    active[r] = short
                    factors[r] = 2.0 * costs[r] if short else -2.0 * costs[r]
                    crossed[n_crossed] = r
                    n_crossed += 1
                    _add_row(
                        values, value_starts, lengths, columns, column_starts, rows, r,
                        factors[r] * signs[member[r], lane], target,
                    )  # fmt: skip
            if (n_crossed == 0 and share == 1.0) or gain <= 1e-15 * value:
                break
            _add_products(
                values, value_starts, lengths, columns, column_starts, rows,
                crossed[:n_crossed], factors, products,
            )  # fmt: skip
        lines[:, lane] = line
    return most


@njit(cache=True, nogil=True)
def _add_row(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    r: int,
    factor: float,
    total: NDArray[np.float64],
) -> None:
    first, start = value_starts[rows[r]], column_starts[r]
    for e in range(lengths[rows[r]]):
        total[columns[start + e]] += factor * values[first + e]
    total[len(total) - 1] += factor


@njit(cache=True, nogil=True)
def _log_loss(
    line: NDArray[np.float64], margins: NDArray[np.float64], costs: NDArray[np.float64]
) -> float:
    total = 0.5 * float(np.dot(line, line))
    for r in range(len(margins)):
        margin = margins[r]
        total += costs[r] * (np.log1p(np.exp(-abs(margin))) - min(margin, 0.0))
    return total


@njit(cache=True, nogil=True)
def logistic_newton(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    member: NDArray[np.int32],
    signs: NDArray[np.int8],
    costs: NDArray[np.float64],
    max_iter: int,
    lines: NDArray[np.float64],
) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost log(1 + exp(-sign w x))`` in every lane, to the digit.

    Parameters
    ----------
    values, value_starts, lengths, columns, column_starts, rows, member, signs, costs
        As in `dual_descent.squared_hinge_lanes`.
    max_iter : int
        Most steps.
    lines : float64 array of shape (n_used + 1, n_lanes), OUT
        Weights; the last line is the bias.

    Returns
    -------
    int
        Most steps that a lane took; ``max_iter`` where one did not settle.
    """
    n_rows, size = len(rows), len(lines)
    every = np.arange(n_rows)
    at, ahead, factors = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    line, move, slope = np.empty(size), np.empty(size), np.empty(size)
    products = np.empty((size, size))
    most = 0
    for lane in range(signs.shape[1]):
        line[:], at[:] = 0.0, 0.0
        value = _log_loss(line, at, costs)
        for step in range(max_iter):
            most = max(most, step + 1)
            slope[:] = -line
            for r in range(n_rows):
                missing = 1.0 / (1.0 + np.exp(min(at[r], _STEEPEST)))
                factors[r] = costs[r] * missing * (1.0 - missing)
                _add_row(
                    values, value_starts, lengths, columns, column_starts, rows, r,
                    costs[r] * missing * signs[member[r], lane], slope,
                )  # fmt: skip
            products[:] = 0.0
            _add_products(
                values, value_starts, lengths, columns, column_starts, rows, every, factors,
                products,
            )  # fmt: skip
            for j in range(size):
                products[j, j] += 1.0
            move[:] = np.linalg.solve(products, slope)
            _margins(values, value_starts, lengths, columns, column_starts, rows, move, ahead)
            for r in range(n_rows):
                ahead[r] *= signs[member[r], lane]
            share = 1.0
            for _ in range(_HALVINGS):
                reached = _log_loss(line + share * move, at + share * ahead, costs)
                if reached <= value:
                    break
                share *= 0.5
            if reached > value:  # as low as rounding lets it be
                break
            gain, value = value - reached, reached
            line += share * move
            at += share * ahead
            if gain <= 1e-15 * value:
                break
        lines[:, lane] = line
    return most
