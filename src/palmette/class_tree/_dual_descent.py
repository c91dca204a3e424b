"""Dual coordinate descent for linear classifiers, several targets of the same rows at a time.

A *lane* is one target: the rows of a node are classified for all of its options together, so that a
weight line, the weights of one feature in all lanes, is one stretch of memory. Row ``i`` has
``lengths[i]`` entries, at ``values[value_starts[i]:]`` in columns ``columns[column_starts[i]:]``;
rows of a dense matrix share their columns. A constant feature of 1, last of all, is the bias, and
is regularized like the others.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette.trees._random import next_below

__all__ = ["compact_columns", "logistic_lanes", "squared_hinge_lanes"]

_SMALL = 1e-12  # of a projected gradient: no step is worth the while
_NEWTON_STEPS = 20


@njit(cache=True, nogil=True)
def compact_columns(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_features: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Number the columns that some rows use from 0 upwards.

    Parameters
    ----------
    columns, starts, lengths : arrays, IN
        Of all rows; see the module.
    rows : int64 array of shape (n_rows,), IN
        The rows that count.
    n_features : int

    Returns
    -------
    used : int32 array of shape (n_used,)
        Columns in use, ascending.
    local : int32 array
        Place in `used` of every entry of the rows, one row after the other.
    local_starts : int64 array of shape (n_rows,)
        Where the entries of a row begin in `local`.
    """
    place = np.full(n_features, -1, dtype=np.int32)
    local_starts = np.empty(len(rows), dtype=np.int64)
    n_entries = 0
    for r in range(len(rows)):
        i = rows[r]
        local_starts[r] = n_entries
        n_entries += lengths[i]
        for e in range(starts[i], starts[i] + lengths[i]):
            place[columns[e]] = 0
    n_used = 0
    for j in range(n_features):
        if place[j] == 0:
            place[j] = n_used
            n_used += 1
    used = np.empty(n_used, dtype=np.int32)
    for j in range(n_features):
        if place[j] >= 0:
            used[place[j]] = j
    local = np.empty(n_entries, dtype=np.int32)
    at = 0
    for i in rows:
        for e in range(starts[i], starts[i] + lengths[i]):
            local[at] = place[columns[e]]
            at += 1
    return used, local, local_starts


@njit(cache=True, nogil=True, inline="always")
def _margins(
    values: NDArray[np.float64],
    first: int,
    columns: NDArray[np.int32],
    start: int,
    length: int,
    lines: NDArray[np.float64],
    margins: NDArray[np.float64],
) -> None:
    n_lanes = lines.shape[1]
    bias = len(lines) - 1
    for lane in range(n_lanes):
        margins[lane] = lines[bias, lane]
    for e in range(length):
        value, j = values[first + e], columns[start + e]
        for lane in range(n_lanes):
            margins[lane] += value * lines[j, lane]


@njit(cache=True, nogil=True, inline="always")
def _move(
    values: NDArray[np.float64],
    first: int,
    columns: NDArray[np.int32],
    start: int,
    length: int,
    steps: NDArray[np.float64],
    lines: NDArray[np.float64],
) -> None:
    n_lanes = lines.shape[1]
    bias = len(lines) - 1
    for e in range(length):
        value, j = values[first + e], columns[start + e]
        for lane in range(n_lanes):
            lines[j, lane] += value * steps[lane]
    for lane in range(n_lanes):
        lines[bias, lane] += steps[lane]


@njit(cache=True, nogil=True, inline="always")
def _shuffle(order: NDArray[np.int64], n: int, state: NDArray[np.uint64]) -> None:
    for s in range(n - 1):
        other = s + next_below(state, n - s)
        order[s], order[other] = order[other], order[s]


@njit(cache=True, nogil=True)
def squared_hinge_lanes(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    member: NDArray[np.int32],
    signs: NDArray[np.int8],
    costs: NDArray[np.float64],
    tol: float,
    max_iter: int,
    state: NDArray[np.uint64],
    lines: NDArray[np.float64],
) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost max(0, 1 - sign w x)^2`` in every lane.

    A row whose multipliers are zero in all lanes, and will most likely stay so, is set aside until
    the others have settled.

    Parameters
    ----------
    values, value_starts, lengths : arrays, IN
        Of all rows; see the module.
    columns : int32 array, IN
        Lines of `lines` that the entries stand for.
    column_starts : int64 array of shape (n_rows,), IN
        Where a row of `rows` begins in `columns`.
    rows : int64 array of shape (n_rows,), IN
    member : int32 array of shape (n_rows,), IN
        Group of every row of `rows`.
    signs : int8 array of shape (n_groups, n_lanes), IN
        Target of every group in every lane, 1 or -1.
    costs : float64 array of shape (n_rows,), IN
    tol : float
        Stop where projected gradients differ by no more in any lane.
    max_iter : int
        Most passes over the rows.
    state : uint64 array of shape (1,), IN and OUT
        Of the generator that shuffles rows.
    lines : float64 array of shape (n_used + 1, n_lanes), zero in, weights out
        The last line is the bias.

    Returns
    -------
    int
        Passes made; ``max_iter`` where the descent did not settle.
    """
    n_rows, n_lanes = len(rows), signs.shape[1]
    multipliers = np.zeros((n_rows, n_lanes))
    softness = 0.5 / costs
    curvature = softness + _squared_norms(values, value_starts, lengths, rows)
    order = np.arange(n_rows)
    n_active = n_rows
    margins, steps = np.empty(n_lanes), np.empty(n_lanes)
    aside = np.full(n_lanes, np.inf)  # gradients above it set a zero multiplier aside
    highest, lowest = np.empty(n_lanes), np.empty(n_lanes)
    for passes in range(max_iter):
        highest[:], lowest[:] = -np.inf, np.inf
        _shuffle(order, n_active, state)
        s = 0
        while s < n_active:
            r = order[s]
            i = rows[r]
            _margins(values, value_starts[i], columns, column_starts[r], lengths[i], lines, margins)
            stays, moves = False, False
            for lane in range(n_lanes):
                sign, old = signs[member[r], lane], multipliers[r, lane]
                gradient = sign * margins[lane] - 1.0 + softness[r] * old
                steps[lane] = 0.0
                if old == 0.0:
                    if gradient > aside[lane]:
                        continue
                    projected = min(gradient, 0.0)
                else:
                    projected = gradient
                stays = True
                highest[lane] = max(highest[lane], projected)
                lowest[lane] = min(lowest[lane], projected)
                if abs(projected) > _SMALL:
                    new = max(old - gradient / curvature[r], 0.0)
                    multipliers[r, lane] = new
                    steps[lane] = (new - old) * sign
                    moves = True
            if not stays:
                n_active -= 1
                order[s], order[n_active] = order[n_active], order[s]
                continue
            if moves:
                _move(values, value_starts[i], columns, column_starts[r], lengths[i], steps, lines)
            s += 1
        settled = True
        for lane in range(n_lanes):
            settled &= highest[lane] - lowest[lane] <= tol
            aside[lane] = highest[lane] if highest[lane] > 0 else np.inf
        if settled:
            if n_active == n_rows:
                return passes + 1
            n_active = n_rows
            aside[:] = np.inf
    return max_iter


@njit(cache=True, nogil=True)
def _squared_norms(
    values: NDArray[np.float64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.float64]:
    norms = np.ones(len(rows))  # of the bias
    for r in range(len(rows)):
        first = starts[rows[r]]
        for e in range(first, first + lengths[rows[r]]):
            norms[r] += values[e] * values[e]
    return norms


@njit(cache=True, nogil=True)
def logistic_lanes(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    member: NDArray[np.int32],
    signs: NDArray[np.int8],
    costs: NDArray[np.float64],
    tol: float,
    max_iter: int,
    state: NDArray[np.uint64],
    lines: NDArray[np.float64],
) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost log(1 + exp(-sign w x))`` in every lane.

    A multiplier lies between zero and the cost of its row. What is kept is its distance from the
    nearer end, with a negative sign for the upper one, so that neither loses digits.

    Parameters
    ----------
    values, value_starts, lengths, columns, column_starts, rows, member, signs, costs, tol,
    max_iter, state, lines
        As in `squared_hinge_lanes`; `tol` bounds the gradients themselves.

    Returns
    -------
    int
        Passes made; ``max_iter`` where the descent did not settle.
    """
    n_rows, n_lanes = len(rows), signs.shape[1]
    curvature = _squared_norms(values, value_starts, lengths, rows)
    ends = np.empty((n_rows, n_lanes))
    margins, steps = np.empty(n_lanes), np.empty(n_lanes)
    for r in range(n_rows):
        i = rows[r]
        for lane in range(n_lanes):
            ends[r, lane] = min(0.001 * costs[r], 1e-8)
            steps[lane] = signs[member[r], lane] * ends[r, lane]
        _move(values, value_starts[i], columns, column_starts[r], lengths[i], steps, lines)
    order = np.arange(n_rows)
    for passes in range(max_iter):
        _shuffle(order, n_rows, state)
        worst = 0.0
        for s in range(n_rows):
            r = order[s]
            i = rows[r]
            _margins(values, value_starts[i], columns, column_starts[r], lengths[i], lines, margins)
            for lane in range(n_lanes):
                sign = signs[member[r], lane]
                new, step, gradient = _logistic_step(
                    ends[r, lane], costs[r], curvature[r], sign * margins[lane]
                )
                worst = max(worst, gradient)
                ends[r, lane] = new
                steps[lane] = sign * step
            _move(values, value_starts[i], columns, column_starts[r], lengths[i], steps, lines)
        if worst <= tol:
            return passes + 1
    return max_iter


@njit(cache=True, nogil=True)
def _logistic_step(
    end: float, cost: float, curvature: float, slope: float
) -> tuple[float, float, float]:
    """Solve for one multiplier by Newton's method, from the end that it lies nearer to.

    Returns its new distance, negative from the upper end, the step of the multiplier, and the size
    of the gradient before it.
    """
    low, high = (end, cost - end) if end > 0 else (cost + end, -end)
    before = abs(slope + np.log(low / high))
    # the derivative at the middle tells which half holds the solution
    from_low = curvature * (0.5 * cost - low) + slope >= 0
    start, side = (low, 1.0) if from_low else (high, -1.0)
    z = start if start < 0.5 * cost else 0.1 * start
    for _ in range(_NEWTON_STEPS):
        gradient = curvature * (z - start) + side * slope + np.log(z / (cost - z))
        if abs(gradient) < _SMALL:
            break
        move = gradient / (curvature + cost / (z * (cost - z)))
        z = z - move if move < z else 0.1 * z
    z = max(z, 1e-300)
    return side * z, side * (z - start), before
