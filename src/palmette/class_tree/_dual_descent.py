"""Dual coordinate descent for linear classifiers, several targets of the same rows at a time.

A *target* is one binary problem, such as one option against the rest. All targets of a node are
fitted together, so that the weights of one feature are adjacent in memory. Row ``i`` has
``lengths[i]`` entries, ``values[value_starts[i]:]``, in the columns ``columns[column_starts[i]:]``;
rows of a dense matrix share their columns. The bias is the weight of a constant feature 1, the last
one, and is regularized like the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from palmette._kernels import inner, kernel
from palmette.class_tree._lane_sums import Floats, add_products, hinge_steps, move_weights
from palmette.trees._random import next_below

_SMALL = 1e-12  # gradients below this value are regarded as zero
_NEWTON_STEPS = 20


class TargetRows(NamedTuple):
    """The rows of a node and their targets, as the kernels take them.

    Parameters
    ----------
    values, value_starts, lengths : arrays
        Of all rows; see the module.
    columns : int32 array
        Row of `weights` of every entry.
    column_starts : int64 array of shape (n_rows,)
        Where a row of `rows` begins in `columns`.
    rows : int64 array of shape (n_rows,)
    member : int32 array of shape (n_rows,)
        Group of every row of `rows`.
    signs : int8 array of shape (n_groups, n_targets)
        Sign of every group for every target, 1 or -1.
    costs : float64 array of shape (n_rows,)
    stop : uint8 array of shape (1,)
        The kernels return early once it is 1; see `palmette._stopping.stop_flag`.
    """

    values: Floats
    value_starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    columns: NDArray[np.int32]
    column_starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    member: NDArray[np.int32]
    signs: NDArray[np.int8]
    costs: NDArray[np.float64]
    stop: NDArray[np.uint8]


def _read_flag(typing_context: Any, flag: Any) -> Any:
    """Return whether a flag, a uint8 array, is set; another thread may set it at any time.

    The flag is read atomically: a plain read may be moved out of the loop by the compiler.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        found = builder.load_atomic(array.data, "acquire", 1)
        return builder.icmp_unsigned("!=", found, found.type(0))

    return types.boolean(flag), generate


is_set: Any = intrinsic(_read_flag)


@kernel
def squared_hinge_descent(
    data: TargetRows,
    tol: float,
    max_iter: int,
    state: NDArray[np.uint64],
    weights: Floats,
) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost max(0, 1 - sign w x)^2`` for every target.

    Shrinking: a row whose dual variables are zero for all targets, and will most likely stay zero,
    is left out until the others have converged.

    Parameters
    ----------
    data : TargetRows, IN
    tol : float
        Maximum range of the projected gradients of a target at convergence.
    max_iter : int
        Maximum number of passes over the rows.
    state : uint64 array of shape (1,), IN and OUT
        State of the random number generator that shuffles rows.
    weights : array of shape (n_used + 1, n_targets), IN and OUT
        Zero at first; the last row is the bias. Of the type of the values of the rows, float64 or
        float32, in which all sums are computed.

    Returns
    -------
    int
        Number of passes; ``max_iter`` if the descent did not converge.
    """
    values, value_starts, lengths, columns, column_starts, rows, member, signs, costs, stop = data
    n_rows, n_targets = len(rows), signs.shape[1]
    number = values.dtype
    duals, softness = np.empty((n_rows, n_targets), number), np.empty(n_rows, number)
    curvature, order = np.empty(n_rows, number), np.empty(n_rows, np.int64)
    norms = _squared_norms(values, value_starts, lengths, rows)
    for r in range(n_rows):  # loops: expressions of whole arrays take longer to compile
        softness[r], order[r] = 0.5 / costs[r], r
        curvature[r] = norms[r] + 0.5 / costs[r]
        for target in range(n_targets):
            duals[r, target] = 0.0
    n_active = n_rows
    margins, steps = np.empty(n_targets, number), np.empty(n_targets, number)
    # zero dual variables with gradients above the threshold are shrunk
    threshold = np.empty(n_targets, number)
    highest, lowest = np.empty(n_targets, number), np.empty(n_targets, number)
    for target in range(n_targets):
        threshold[target] = np.inf
    for passes in range(max_iter):
        for target in range(n_targets):
            highest[target], lowest[target] = -np.inf, np.inf
        _shuffle(order, n_active, state)
        s = 0
        while s < n_active:
            if is_set(stop):
                return passes
            r = order[s]
            i = rows[r]
            _margins(
                values, value_starts[i], columns, column_starts[r], lengths[i], weights, margins
            )
            found = hinge_steps(
                signs, n_targets * member[r], duals, n_targets * r, margins, threshold,
                highest, lowest, softness[r], curvature[r], n_targets, steps,
            )  # fmt: skip
            if not found & 1:
                n_active -= 1
                order[s], order[n_active] = order[n_active], order[s]
                continue
            if found & 2:
                _move(
                    values, value_starts[i], columns, column_starts[r], lengths[i], steps, weights
                )
            s += 1
        converged = True
        for target in range(n_targets):
            converged &= highest[target] - lowest[target] <= tol
            threshold[target] = highest[target] if highest[target] > 0 else np.inf
        if converged:
            if n_active == n_rows:
                return passes + 1
            n_active = n_rows
            for target in range(n_targets):
                threshold[target] = np.inf
    return max_iter


@kernel
def logistic_descent(
    data: TargetRows,
    tol: float,
    max_iter: int,
    state: NDArray[np.uint64],
    weights: NDArray[np.float64],
) -> int:
    """Minimize ``|w|^2 / 2 + sum of cost log(1 + exp(-sign w x))`` for every target.

    A dual variable is between zero and the cost of its row. Its distance from the nearer bound is
    stored, with a negative sign for the upper bound, so that it is accurate near both.

    Parameters and the value returned are those of `squared_hinge_descent`; `tol` is the maximum
    gradient at convergence.
    """
    values, value_starts, lengths, columns, column_starts, rows, member, signs, costs, stop = data
    n_rows, n_targets = len(rows), signs.shape[1]
    curvature = _squared_norms(values, value_starts, lengths, rows)
    distances = np.empty((n_rows, n_targets), np.float64)
    margins, steps = np.empty(n_targets, np.float64), np.empty(n_targets, np.float64)
    for r in range(n_rows):
        i = rows[r]
        for target in range(n_targets):
            distances[r, target] = min(0.001 * costs[r], 1e-8)
            steps[target] = signs[member[r], target] * distances[r, target]
        _move(values, value_starts[i], columns, column_starts[r], lengths[i], steps, weights)
    order = np.empty(n_rows, np.int64)
    for r in range(n_rows):
        order[r] = r
    for passes in range(max_iter):
        _shuffle(order, n_rows, state)
        worst = 0.0
        for s in range(n_rows):
            if is_set(stop):
                return passes
            r = order[s]
            i = rows[r]
            _margins(
                values, value_starts[i], columns, column_starts[r], lengths[i], weights, margins
            )
            for target in range(n_targets):
                sign = signs[member[r], target]
                new, step, gradient = _logistic_step(
                    distances[r, target], costs[r], curvature[r], sign * margins[target]
                )
                worst = max(worst, gradient)
                distances[r, target] = new
                steps[target] = sign * step
            _move(values, value_starts[i], columns, column_starts[r], lengths[i], steps, weights)
        if worst <= tol:
            return passes + 1
    return max_iter


@inner(inline="always")
def _logistic_step(
    distance: float, cost: float, curvature: float, slope: float
) -> tuple[float, float, float]:
    """Solve for one dual variable by Newton's method, from the bound that it is nearer to.

    Return its new distance, negative from the upper bound, the step of the dual variable, and the
    absolute value of the gradient before the step.
    """
    low, high = (distance, cost - distance) if distance > 0 else (cost + distance, -distance)
    before = abs(slope + np.log(low / high))
    # the sign of the derivative at the middle determines the half that contains the solution
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


@inner(inline="always")
def _margins(
    values: Floats,
    first: int,
    columns: NDArray[np.int32],
    start: int,
    length: int,
    weights: Floats,
    margins: Floats,
) -> None:
    n_targets = weights.shape[1]
    bias = len(weights) - 1
    for target in range(n_targets):
        margins[target] = weights[bias, target]
    add_products(values, first, columns, start, length, weights, 0, n_targets, margins)


@inner(inline="always")
def _move(
    values: Floats,
    first: int,
    columns: NDArray[np.int32],
    start: int,
    length: int,
    steps: Floats,
    weights: Floats,
) -> None:
    n_targets = weights.shape[1]
    bias = len(weights) - 1
    move_weights(values, first, columns, start, length, weights, n_targets, steps)
    for target in range(n_targets):
        weights[bias, target] += steps[target]


@inner(inline="always")
def _shuffle(order: NDArray[np.int64], n: int, state: NDArray[np.uint64]) -> None:
    for s in range(n - 1):
        other = s + next_below(state, n - s)
        order[s], order[other] = order[other], order[s]


@inner(inline="always")
def _squared_norms(
    values: Floats,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.float64]:
    norms = np.empty(len(rows), np.float64)
    for r in range(len(rows)):
        norm = 1.0  # the constant feature of the bias
        first = starts[rows[r]]
        for e in range(first, first + lengths[rows[r]]):
            norm += values[e] * values[e]
        norms[r] = norm
    return norms


def compact_columns(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_features: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Renumber the columns that occur in some rows from 0.

    Parameters
    ----------
    columns, starts, lengths : arrays
        Entries of all rows; see the module.
    rows : int64 array of shape (n_rows,)
        The selected rows.
    n_features : int

    Returns
    -------
    used : int32 array of shape (n_used,)
        Columns that occur, ascending.
    local : int32 array
        Position in `used` of every entry of the rows, one row after the other.
    local_starts : int64 array of shape (n_rows,)
        Where the entries of a row begin in `local`.
    """
    used = used_columns(columns, starts, lengths, rows, n_features)
    return used, *local_columns(columns, starts, lengths, rows, used, n_features)


@kernel
def used_columns(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_features: int,
) -> NDArray[np.int32]:
    """Return the columns that occur in some rows, ascending; see `compact_columns`."""
    seen = np.zeros(n_features, np.uint8)
    n_used = 0
    for i in rows:
        for e in range(starts[i], starts[i] + lengths[i]):
            n_used += 1 - seen[columns[e]]
            seen[columns[e]] = 1
    used = np.empty(n_used, np.int32)
    at = 0
    for column in range(n_features):
        if seen[column]:
            used[at] = column
            at += 1
    return used


@kernel
def local_columns(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    rows: NDArray[np.int64],
    used: NDArray[np.int32],
    n_features: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the position of every entry of some rows in the columns used, and starts of rows.

    Parameters
    ----------
    columns, starts, lengths, rows : arrays, IN
        As in `compact_columns`.
    used : int32 array, IN
        All columns of these rows, and perhaps others.
    n_features : int

    Returns
    -------
    local, local_starts
        As in `compact_columns`.
    """
    place, local_starts = np.empty(n_features, np.int32), np.empty(len(rows), np.int64)
    for k in range(len(used)):  # other columns are never read
        place[used[k]] = k
    n_entries = 0
    for r in range(len(rows)):
        local_starts[r] = n_entries
        n_entries += lengths[rows[r]]
    local = np.empty(n_entries, np.int32)
    at = 0
    for i in rows:
        for e in range(starts[i], starts[i] + lengths[i]):
            local[at] = place[columns[e]]
            at += 1
    return local, local_starts
