"""The split of a node, which separates its two clusters, and the side of each row.

The split is one feature and a cut, chosen by information gain, or a linear split that is fitted.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette.forest._node_block import Block, project_in_order
from palmette.forest._settings import ADAM, AXIS, LOGISTIC_ROUTER, TreeSettings
from palmette.forest._split_losses import best_cut, class_shares, row_shares
from palmette.forest._split_solvers import (
    HELLINGER,
    LOGISTIC,
    adam,
    alpha_at,
    least_squares,
    minimise,
    soft_distance,
)
from palmette.trees._random import State

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Sums: TypeAlias = NDArray[np.float64]

_MIN_IMPROVEMENT = 1e-9  # a later cut must be better by this, so that rounding decides no tie


# -------------------------------------------------------------------------------------- one feature


@njit(cache=True, nogil=True, error_model="numpy")
def _entropy(first: float, second: float) -> float:
    """Return the entropy of two weights, times their sum, in nats."""
    total = first + second
    entropy = 0.0
    if first > 0.0:
        entropy -= first * np.log(first / total)
    if second > 0.0:
        entropy -= second * np.log(second / total)
    return entropy


@njit(cache=True, nogil=True, error_model="numpy")
def _by_column(block: Block, n_columns: int) -> tuple[Offsets, Indices, Reals]:
    """Return the entries of a sparse block by column (CSC): starts, rows, values."""
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for column in block.columns:
        starts[column + 1] += 1
    for j in range(n_columns):
        starts[j + 1] += starts[j]
    nexts = starts[:-1].copy()
    rows, values = np.empty(len(block.columns), dtype=np.int32), np.empty_like(block.values)
    for i in range(len(block.starts) - 1):
        for k in range(block.starts[i], block.starts[i + 1]):
            place = nexts[block.columns[k]]
            rows[place], values[place] = i, block.values[k]
            nexts[block.columns[k]] += 1
    return starts, rows, values


@njit(cache=True, nogil=True, error_model="numpy")
def _scan(
    values: Reals, counts: Indices, masses: Reals, totals: Reals, n_rows: int, min_rows: int
) -> tuple[float, float]:
    """Return the best cut of one feature, and the entropy after it (infinite: no cut).

    An entry may represent several rows: all zeros of a sparse column are one entry.
    """
    order = np.argsort(values)
    below = np.zeros(2)
    n_below, least, cut = 0, np.inf, 0.0
    for place in range(len(values) - 1):
        i = order[place]
        below[0] += masses[0, i]
        below[1] += masses[1, i]
        n_below += counts[i]
        low, high = values[i], values[order[place + 1]]
        if low < high and n_below >= min_rows and n_rows - n_below >= min_rows:
            left = _entropy(below[0], below[1])
            left += _entropy(totals[0] - below[0], totals[1] - below[1])
            if left < least - _MIN_IMPROVEMENT:
                least = left
                middle = values.dtype.type(0.5 * low + 0.5 * high)
                cut = float(middle if middle > low else high)
    return cut, least


@njit(cache=True, nogil=True, error_model="numpy")
def best_axis(
    block: Block, n_columns: int, shares: Reals, min_rows: int
) -> tuple[int, float, float]:
    """Find the column and the cut with the largest information gain.

    Parameters
    ----------
    block : Block, IN
    n_columns : int
    shares : float array of shape (2, n_rows), IN
        Weights of the rows by class, as `row_shares` writes them.
    min_rows : int
        Minimum number of rows on each side.

    Returns
    -------
    column : int
        -1 if no cut is allowed or none has a gain.
    cut : float
        Rows with values of at least the cut go right.
    gain : float
        In nats.
    """
    n_rows = shares.shape[1]
    totals = np.array([shares[0].sum(), shares[1].sum()])
    least, best, best_cut = _entropy(totals[0], totals[1]) - _MIN_IMPROVEMENT, -1, 0.0
    before = least
    if block.is_sparse:
        starts, rows, entries = _by_column(block, n_columns)
    ones = np.ones(n_rows + 1, dtype=np.int32)
    for j in range(n_columns):
        if block.is_sparse:
            n_own = starts[j + 1] - starts[j]
            values = np.zeros(n_own + 1, dtype=shares.dtype)
            masses = np.empty((2, n_own + 1))
            masses[0, n_own], masses[1, n_own] = totals[0], totals[1]
            for k in range(n_own):
                i = rows[starts[j] + k]
                values[k] = entries[starts[j] + k]
                for side in range(2):
                    masses[side, k] = shares[side, i]
                    masses[side, n_own] -= shares[side, i]
            counts = ones[: n_own + 1].copy()
            counts[n_own] = n_rows - n_own
            kept = n_own + 1 if n_own < n_rows else n_own
            cut, left = _scan(values[:kept], counts, masses, totals, n_rows, min_rows)
        else:
            column = block.dense[:, j].copy()
            cut, left = _scan(column, ones, shares.astype(np.float64), totals, n_rows, min_rows)
        if left < least - _MIN_IMPROVEMENT:
            least, best, best_cut = left, j, cut
    return best, best_cut, before - least


# -------------------------------------------------------------------------------------- a direction


@njit(cache=True, nogil=True, error_model="numpy")
def _mark_right(scores: Reals, bias: float, right: Flags) -> int:
    """Write which rows go right; return their number."""
    shift, n_right = scores.dtype.type(bias), 0
    for i in range(len(scores)):
        right[i] = scores[i] + shift >= 0.0
        n_right += right[i]
    return n_right


@njit(cache=True, nogil=True, error_model="numpy")
def _send_rows(
    block: Block, shares: Reals, refit: bool, min_rows: int, point: Reals, right: Flags
) -> bool:
    """Write the side of each row, after refitting the bias; return whether both are allowed."""
    scores = np.empty(len(right), dtype=point.dtype)
    project_in_order(block, point[:-1], scores)
    if refit:
        cut, distance = best_cut(scores, shares, min_rows)
        if distance < 0.0:
            return False
        point[-1] = -cut
    n_right = _mark_right(scores, point[-1], right)
    return min_rows <= n_right <= len(right) - min_rows


@njit(cache=True, nogil=True, error_model="numpy")
def _rho(settings: TreeSettings, n_features: int, n_rows: int) -> float:
    if settings.rho >= 0.0:
        return settings.rho
    return float(min(np.log1p(n_features / n_rows), 0.4))


@njit(cache=True, nogil=True, error_model="numpy")
def _gamma(rho: float, distance: float, point: Reals) -> float:
    """Return the strength of the penalty (Eq. 10)."""
    norm = 0.0
    for j in range(len(point) - 1):
        norm += abs(point[j])
    return rho * distance / norm if norm > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _drop_small(part: float, point: Reals) -> None:
    """Set weights to zero that are smaller than a fraction of the largest."""
    largest = 0.0
    for j in range(len(point) - 1):
        largest = max(largest, abs(point[j]))
    for j in range(len(point) - 1):
        if abs(point[j]) < part * largest:
            point[j] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _learn_direction(
    settings: TreeSettings,
    block: Block,
    second: Flags,
    weights: Sums,
    shares: Reals,
    n_features: int,
    state: State,
    point: Reals,
) -> None:
    """Minimise the loss of the router, starting from the least-squares solution."""
    rho = _rho(settings, n_features, len(second))
    if settings.router == ADAM:
        schedule = (
            settings.alpha_first,
            settings.alpha_factor,
            settings.alpha_last,
            settings.alpha_stage,
        )
        gamma, rate, size = 0.0, settings.learning_rate, settings.batch_size
        n = settings.max_iterations
        alpha = alpha_at(max(n - 1, 0), *schedule)
        adam(block, second, weights, 0.0, settings.eta, schedule, rate, size, n, state, point)
        gamma = _gamma(rho, soft_distance(block, shares, alpha, point), point)
        if gamma > 0.0:
            adam(block, second, weights, gamma, settings.eta, schedule, rate, size, n, state, point)
        return
    tolerance = settings.tolerance
    if settings.router == LOGISTIC_ROUTER:
        all_shares = np.empty_like(shares)
        row_shares(second, weights, all_shares)
        n = settings.max_iterations
        minimise(LOGISTIC, block, all_shares, 1.0, 0.0, settings.ridge, n, tolerance, point)
        return
    n, alpha = settings.scale_iterations, settings.alpha_first
    loss = minimise(HELLINGER, block, shares, alpha, 0.0, 0.0, n, tolerance, point)
    gamma = _gamma(rho, -loss, point)
    done = 0
    while True:
        is_last = alpha >= settings.alpha_last
        n = settings.max_iterations - done if is_last else settings.alpha_stage
        minimise(HELLINGER, block, shares, alpha, gamma, 0.0, n, tolerance, point)
        done += n
        if is_last or done >= settings.max_iterations:
            break
        alpha = min(alpha * settings.alpha_factor, settings.alpha_last)
    _drop_small(settings.prune, point)


@njit(cache=True, nogil=True, error_model="numpy")
def split_node(
    settings: TreeSettings,
    block: Block,
    n_columns: int,
    n_features: int,
    second: Flags,
    weights: Sums,
    state: State,
    right: Flags,
) -> tuple[bool, Reals]:
    """Fit the split of a node to its two clusters.

    Parameters
    ----------
    settings : TreeSettings
    block : Block, IN
        The features of the node's rows.
    n_columns : int
        Number of columns of the block.
    n_features : int
        Number of features drawn; a sparse block may have fewer columns.
    second : bool array of shape (n_rows,), IN
        Whether a row is in the second cluster; neither cluster is empty.
    weights : float64 array of shape (n_rows,), IN
    state : uint64 array of shape (1,), IN and OUT
    right : bool array of shape (n_rows,), OUT
        Whether a row goes right.

    Returns
    -------
    found : bool
        Whether both sides have enough rows, with the fitted split or with its initial value.
    point : float array of shape (n_columns + 1,)
        The weights, followed by the bias.
    """
    min_rows, kind = settings.min_samples_leaf, block.dense.dtype
    point, shares = np.zeros(n_columns + 1, dtype=kind), np.empty((2, len(second)), dtype=kind)
    if settings.router == AXIS:
        row_shares(second, weights, shares)
        column, cut, _ = best_axis(block, n_columns, shares, min_rows)
        if column < 0:
            return False, point
        point[column], point[n_columns] = 1.0, -cut
        return _send_rows(block, shares, False, min_rows, point, right), point
    class_shares(second, weights, shares)
    point[n_columns] = least_squares(
        block, second, weights, settings.start_iterations, settings.start_tolerance, point[:-1]
    )
    start = point.copy()
    _learn_direction(settings, block, second, weights, shares, n_features, state, point)
    if _send_rows(block, shares, settings.refit_bias, min_rows, point, right):
        return True, point
    return _send_rows(block, shares, settings.refit_bias, min_rows, start, right), start
