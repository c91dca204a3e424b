"""The best cut of a node of C4.5's trees: by information gain or by gain ratio.

The nonzero entries of each column are stored in ascending order, so that the cuts of a feature need
one pass over them, and none over its zeros.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64
from palmette.trees._random import Word, draw_at

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Numbers: TypeAlias = NDArray[np.uint32]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32]
Sums: TypeAlias = NDArray[Any]  # float64, or int64 where all weights are whole numbers

MIN_IMPROVEMENT = 1e-9  # relative to the rows' weight: smaller differences of scores are ties
_NEAR = np.float32(1e-7)  # values at most this far apart are not split, as in scikit-learn's trees
FIRST = ~np.uint64(0)  # the rank of all cuts where ties are not drawn from: the first one wins
# numbers of J48, by which features are chosen by gain ratio
_NEAR_OF_J48 = 1e-5  # values at most this far apart are not split
TIE_OF_J48 = 1e-6  # gains in bits, ratios and weights that differ by at most this are ties
_BELOW_AVERAGE = 1e-3  # bits by which the gain of a feature may be less than the average
_MOST_PER_SIDE = 25.0  # a cut need not leave more than this weight on a side


class SortedColumns(NamedTuple):
    """The nonzero entries of all columns.

    Parameters
    ----------
    starts : int64 array of shape (n_features + 1,)
    rows : uint32 array of shape (n_entries,)
    values : float32 array of shape (n_entries,)
        Ascending within a column.
    """

    starts: Offsets
    rows: Numbers
    values: Reals


class Rows(NamedTuple):
    """Classes and weights of all rows; `logs` is a table of x log x of integers, or empty."""

    classes: Numbers
    weights: Sums
    logs: Sums


class Best(NamedTuple):
    """The best cut so far; among ties, the one with the highest random rank."""

    feature: int
    cut: float
    score: float
    rank: Word
    below: float  # weight of the rows up to the cut


@inner(error_model="numpy")
def x_log_x(x: float, logs: Sums) -> float:
    if len(logs):
        return float(logs[np.uint64(x)])
    return x * np.log(x) if x > 0 else 0.0


@inner(error_model="numpy", inline="always")
def purity_of(masses: Sums, logs: Sums) -> tuple[float, float]:
    """Return the sums over the classes of x log x and of x."""
    score, total = 0.0, 0 * masses[0]
    for k in range(len(masses)):
        score += x_log_x(masses[k], logs)
        total += masses[k]
    return score, total


@inner(error_model="numpy", inline="always")
def _cut_between(low: float, high: float) -> float:
    middle = low / 2.0 + high / 2.0
    return low if middle == high else middle


@inner(error_model="numpy", inline="always")
def _sum_zeros(
    columns: SortedColumns, bounds: Indices, rows: Rows, masses: Sums, zeros: Sums
) -> None:
    """Sum the weights per class of a node's rows without an entry in a column."""
    for k in range(len(masses)):  # assignments of slices take seconds to compile
        zeros[k] = masses[k]
    for place in range(np.uint64(bounds[0]), np.uint64(bounds[1])):
        row = columns.rows[place]
        zeros[rows.classes[row]] -= rows.weights[row]


@inner(error_model="numpy")
def better(
    best: Best, j: int, low: Any, high: Any, score: float, below: Any, margin: float, key: Word
) -> Best:
    """Return the better of two cuts; each of several equally good cuts is equally likely.

    If the best one has the highest rank, it remains the best among ties, and so does the next one.
    """
    cut, rank = _cut_between(float(low), float(high)), best.rank
    if rank != FIRST:
        place = np.int64(float(below) * 2.0**20)  # differs for a feature's cuts, in any unit
        rank = draw_at(draw_at(key, j), place)
    if score > best.score + margin or rank > best.rank:
        return Best(j, cut, score, rank, float(below))
    return best


@inner(error_model="numpy", inline="always")
def score_zeros(masses: Sums, zeros: Sums, j: int, logs: Sums) -> tuple[float, float]:
    """Return the score of the cut between zeros and nonzeros, and the weight of the zeros.

    The weights per class of the zeros are row `j` of `zeros`.
    """
    score, weight, rest = 0.0, 0 * masses[0], 0 * masses[0]
    for k in range(len(masses)):
        score += x_log_x(zeros[j, k], logs) + x_log_x(masses[k] - zeros[j, k], logs)
        weight += zeros[j, k]
        rest += masses[k] - zeros[j, k]
    return score - x_log_x(weight, logs) - x_log_x(rest, logs), weight


@inner(error_model="numpy")
def _scan(
    columns: SortedColumns,
    j: int,
    bounds: Indices,
    rows: Rows,
    masses: Sums,
    purity: tuple[float, float],
    buffers: Sums,
    min_weight: float,
    margin: float,
    near: float,
    best: Best,
    key: Word,
) -> tuple[Best, int]:
    """Score all cuts of a feature in a node; return the best, and how many cuts are allowed.

    If no cut has enough weight on both sides, none has in the descendants of the node (with `near`
    or a minimum weight that depends on the node, one may).
    """
    classes, weights, logs = rows
    left, right, zeros = buffers[0], buffers[1], buffers[2]
    low_score, (high_score, total) = 0.0, purity
    below, past_zeros = 0 * total, bounds[2] == 0
    if not past_zeros:
        _sum_zeros(columns, bounds, rows, masses, zeros)
        value = columns.values[bounds[0]]
        if value == columns.values[bounds[1] - 1]:  # two values, hence one cut
            score, below = score_zeros(masses, buffers, 2, logs)
            if value > 0.0:
                low, high = np.float32(0.0), value
            else:
                low, high, below = value, np.float32(0.0), total - below
            allowed = min(below, total - below) >= min_weight
            allowed &= float(low) + near < float(high)
            if allowed and score > best.score - margin:
                best = better(best, j, low, high, score, below, margin, key)
            return best, int64(allowed)
    for k in range(len(masses)):
        left[k], right[k] = 0.0, masses[k]
    last, value, first, n_cuts = np.float32(0.0), np.float32(0.0), True, int64(0)
    place, stop = np.uint64(bounds[0]), np.uint64(bounds[1])
    while place < stop or not past_zeros:
        at_zeros = not past_zeros and (place == stop or columns.values[place] > 0.0)
        value = np.float32(0.0) if at_zeros else columns.values[place]
        if (
            value > last + _NEAR
            and not first
            and below >= min_weight
            and total - below >= min_weight
            and float(last) + near < float(value)
        ):
            n_cuts += 1
            score = low_score + high_score - x_log_x(below, logs) - x_log_x(total - below, logs)
            if score > best.score - margin:
                best = better(best, j, last, value, score, below, margin, key)
        last, first = value, False
        if at_zeros:
            for k in range(len(zeros)):
                low_score += x_log_x(left[k] + zeros[k], logs) - x_log_x(left[k], logs)
                high_score += x_log_x(right[k] - zeros[k], logs) - x_log_x(right[k], logs)
                left[k] += zeros[k]
                right[k] -= zeros[k]
                below += zeros[k]
            past_zeros = True
            continue
        row = columns.rows[place]
        c, weight = classes[row], weights[row]
        here, there = left[c], right[c]
        low_score += x_log_x(here + weight, logs) - x_log_x(here, logs)
        high_score += x_log_x(there - weight, logs) - x_log_x(there, logs)
        left[c], right[c] = here + weight, there - weight
        below += weight
        place += np.uint64(1)
    return best, n_cuts


@inner(error_model="numpy", inline="always")
def _is_constant(columns: SortedColumns, bounds: Indices) -> bool:
    """Return whether a feature is constant in a node."""
    start, stop = bounds[0], bounds[1]
    if start == stop:
        return True
    low, high = columns.values[start], columns.values[stop - 1]
    if bounds[2]:
        low, high = min(low, np.float32(0.0)), max(high, np.float32(0.0))
    return bool(high <= low + _NEAR)


@inner(error_model="numpy", inline="always")
def choose(
    columns: SortedColumns,
    bounds: Indices,
    features: Indices,
    n_constant: int,
    rows: Rows,
    masses: Sums,
    buffers: Sums,
    min_weight: float,
    mdl: bool,
    key: Word,
) -> tuple[Best, int]:
    """Return the best cut of a node, and how many features, moved first, cannot split it.

    With `mdl` the logarithm of the number of cuts of a feature is subtracted from its score, and a
    cut without a gain is none.
    """
    nothing = Best(-1, 0.0, -np.inf, np.uint64(0), 0.0)
    purity = purity_of(masses, rows.logs)
    margin = MIN_IMPROVEMENT * purity[1]
    best = nothing
    if mdl:
        best = Best(-1, 0.0, purity[0] - x_log_x(purity[1], rows.logs) + margin, FIRST, 0.0)
    for i in range(n_constant, len(features)):
        j, n_cuts = int64(features[i]), int64(0)
        if not _is_constant(columns, bounds[j]):
            start = nothing if mdl else best
            found, n_cuts = _scan(
                columns,
                j,
                bounds[j],
                rows,
                masses,
                purity,
                buffers,
                min_weight,
                margin,
                0.0,
                start,
                key,
            )
            if not mdl:
                best = found
            elif n_cuts:
                score = found.score - np.log(n_cuts)
                tied = score > best.score - margin and found.rank > best.rank
                if score > best.score + margin or tied:
                    best = Best(found.feature, found.cut, score, found.rank, found.below)
        if not n_cuts:
            features[i], features[n_constant] = features[n_constant], features[i]
            n_constant += 1
    return best, n_constant


@inner(error_model="numpy")
def _least_per_side(total: float, n_classes: int, min_weight: float) -> float:
    """Return the least weight on each side of a cut: in large nodes, a share of the weight."""
    share = 0.1 * total / n_classes
    if share - min_weight < TIE_OF_J48:
        return min_weight
    return min(share, _MOST_PER_SIDE)


@inner(error_model="numpy", inline="always")
def choose_by_ratio(
    columns: SortedColumns,
    bounds: Indices,
    features: Indices,
    n_constant: int,
    rows: Rows,
    masses: Sums,
    buffers: Sums,
    min_weight: float,
    mdl: bool,
    are_flags: Flags,
    found: Sums,
) -> tuple[Best, int]:
    """Return the cut of the highest gain ratio, and how many features, moved first, are constant.

    The cut of a feature is that of the highest gain; features that gain less than the average do
    not count. Cuts without a gain are none, but flags without one count in the average. `found`
    has the gain, weight and cut of each feature.
    """
    purity = purity_of(masses, rows.logs)
    total = float(purity[1])
    bits = total * np.log(2.0)
    margin = TIE_OF_J48 * bits
    nothing = Best(-1, 0.0, purity[0] - x_log_x(purity[1], rows.logs), FIRST, 0.0)
    any_cut = Best(-1, 0.0, -np.inf, FIRST, 0.0)
    least = _least_per_side(total, len(masses), min_weight)
    sum_gains, n_found = 0.0, 0
    for j in range(len(features)):
        found[j, 0] = 0.0
    for i in range(n_constant, len(features)):
        j, is_out = int64(features[i]), _is_constant(columns, bounds[features[i]])
        if not is_out:
            lowest = min_weight if are_flags[j] else least
            best, n_cuts = _scan(
                columns,
                j,
                bounds[j],
                rows,
                masses,
                purity,
                buffers,
                lowest - TIE_OF_J48,
                margin,
                _NEAR_OF_J48,
                any_cut if are_flags[j] else nothing,
                np.uint64(0),
            )
            if best.feature >= 0:
                gain = (best.score - nothing.score) / bits
                gain -= np.log2(n_cuts) / total if mdl else 0.0
                if gain >= TIE_OF_J48 or are_flags[j]:
                    if gain * total < TIE_OF_J48:
                        gain = 0.0
                    found[j, 0], found[j, 1], found[j, 2] = gain, best.below, best.cut
                    sum_gains += gain
                    n_found += 1
            if not n_cuts and lowest == min_weight:  # as in all descendants
                is_out = columns.values[bounds[j, 0]] == columns.values[bounds[j, 1] - 1]
        if is_out:
            features[i], features[n_constant] = features[n_constant], features[i]
            n_constant += 1
    return highest_ratio(found, sum_gains, n_found, total), n_constant


@inner(error_model="numpy")
def highest_ratio(found: Sums, sum_gains: float, n_found: int, total: float) -> Best:
    """Return the cut of the highest gain ratio, of the features that gain at least the average.

    `found` has the gain, the weight up to the cut, and the cut of each feature.
    """
    best, highest = Best(-1, 0.0, 0.0, FIRST, 0.0), TIE_OF_J48
    for j in range(len(found)):  # in the order of the columns: the first of ties wins
        gain, below = found[j, 0], found[j, 1]
        if gain > 0.0 and gain >= sum_gains / n_found - _BELOW_AVERAGE:
            above = total - below
            spread = total * np.log2(total) - below * np.log2(below) - above * np.log2(above)
            ratio = gain * total / spread
            if ratio > highest:
                best, highest = Best(j, found[j, 2], ratio, FIRST, below), ratio + TIE_OF_J48
    return best


@inner(error_model="numpy")
def find_flags(columns: SortedColumns) -> Flags:
    """Return which columns have no other values than 0 and 1."""
    n_columns = len(columns.starts) - 1
    are_flags = np.empty(n_columns, np.bool_)
    for j in range(n_columns):
        start, stop = columns.starts[j], columns.starts[j + 1]
        is_flag = start < stop
        for e in range(start, stop):
            is_flag &= columns.values[e] == 1.0
        are_flags[j] = is_flag
    return are_flags


@inner(error_model="numpy")
def down_to_a_value(columns: SortedColumns, j: int, n_rows: int, cut: float) -> float:
    """Return the highest value of a column, in all training rows, that is not above a cut."""
    start, stop = columns.starts[j], columns.starts[j + 1]
    best = 0.0 if stop - start < n_rows and cut >= 0.0 else -np.inf
    for e in range(start, stop):
        value = float(columns.values[e])
        if best < value <= cut:
            best = value
    return best
