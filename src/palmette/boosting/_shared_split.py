"""Splits of a node for all columns together: the best of some random cuts, and the best cut.

A split is a feature and a cut; a code up to the cut goes left. A split replaces the best one so far
only if it is better by a factor: sums agree to about six digits, and the choice between two equally
good splits must not depend on rounding.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64, kernel
from palmette.boosting._histogram import (
    BINS,
    CLEARLY,
    GROUP,
    LANES,
    add_lanes,
    aligned_floats,
    pack_columns,
    sum_bins,
)
from palmette.trees._random import State, next_below

Codes: TypeAlias = NDArray[np.uint8]
Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]

_CLEARLY = 1.00001  # the factor for sums in float64; `_histogram.CLEARLY` is for float32

# share of the weight of a node that a side has at least: differences of sums may be zero
_LEAST = 1e-12

_MISSING = 255  # code of missing values, the largest one


# ------------------------------------------------------------------------------ random cuts


@inner(inline="always")
def _draw_split(
    codes: Codes, rows: Indices, perm: Indices, n_left: int, state: State
) -> tuple[int, int, int]:
    """Draw a feature that varies among the rows, and one of its cuts, uniformly from their range.

    Returns (feature, cut, number of features left to draw from); feature -1 if none varies.
    """
    while n_left > 0:
        place = next_below(state, n_left)
        feature = perm[place]
        n_left -= 1
        perm[place] = perm[n_left]
        perm[n_left] = feature
        low = high = int64(codes[rows[0], feature])
        for i in range(1, len(rows)):
            code = int64(codes[rows[i], feature])
            low = code if code < low else low
            high = code if code > high else high
        if low < high == _MISSING:
            # counts as the largest known code plus one: else most cuts only separate missing values
            high = low + 1
            for i in range(len(rows)):
                code = int64(codes[rows[i], feature])
                high = code + 1 if high <= code < _MISSING else high
        if low < high:
            return feature, low + next_below(state, high - low), n_left
    return -1, 0, 0


@inner(fastmath=True)
def _best_random_split(
    codes: Codes,
    gradients: Floats,
    weights: Floats,
    rows: Indices,
    features: Indices,
    cuts: Codes,
    absolute: bool,
    workspace: Floats,
) -> tuple[int, int]:
    """Return the split of largest gain, and its number of rows on the left.

    The gain is that of `grow_heap_tree`; `workspace` is that of `random_shared_split`.
    """
    n_drawn, n_labels = len(features), gradients.shape[1]
    total, left = workspace[n_drawn], workspace[:n_drawn]
    size_left, weight_left = np.empty(n_drawn, np.int64), np.empty(n_drawn, np.float64)
    for q in range(n_drawn):
        size_left[q], weight_left[q] = 0, 0.0
    for q in range(n_drawn + 1):
        for k in range(n_labels):
            workspace[q, k] = 0.0
    weight = 0.0
    for row in rows:
        weight += weights[row]
        for k in range(n_labels):
            total[k] += gradients[row, k]
        for q in range(n_drawn):
            if codes[row, features[q]] <= cuts[q]:
                size_left[q] += 1
                weight_left[q] += weights[row]
                for k in range(n_labels):
                    left[q, k] += gradients[row, k]
    best, best_gain = 0, 0.0
    for q in range(n_drawn):
        gain_left, gain_right = 0.0, 0.0
        if absolute:
            for k in range(n_labels):
                gain_left += abs(left[q, k])
                gain_right += abs(total[k] - left[q, k])
            gain = gain_left + gain_right
        else:
            for k in range(n_labels):
                gain_left += left[q, k] * left[q, k]
                gain_right += (total[k] - left[q, k]) * (total[k] - left[q, k])
            rest = max(weight - weight_left[q], _LEAST * weight)
            gain = gain_left / weight_left[q] + gain_right / rest
        # if two features separate the rows equally well, the first one drawn wins despite rounding
        if gain > best_gain * _CLEARLY:
            best, best_gain = q, gain
    return best, size_left[best]


@inner(inline="always")
def random_shared_split(
    codes: Codes,
    gradients: Floats,
    weights: Floats,
    rows: Indices,
    candidates: Indices,
    n_draws: int,
    absolute: bool,
    min_leaf: int,
    state: State,
    workspace: Floats,
) -> tuple[int, int]:
    """Draw some features that vary among the rows and one cut of each; return the best split.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    gradients, weights, candidates, n_draws, absolute, min_leaf
        As of `grow_heap_tree`, IN.
    rows : int32 array of shape (n_rows,), IN
        The rows of the node.
    state : uint64 array of shape (1,), IN and OUT
    workspace : float array of shape (n_draws + 1, n_columns)
        Buffer of the dtype of the gradients.

    Returns
    -------
    feature : int
        -1 where the node is not split.
    cut : int
    """
    drawn_features, drawn_cuts = np.empty(n_draws, np.int32), np.empty(n_draws, np.uint8)
    perm = np.empty(len(candidates), np.int32)
    for j in range(len(candidates)):
        perm[j] = candidates[j]
    n_drawn, n_left = 0, len(candidates)
    while n_drawn < n_draws and n_left > 0:
        feature, cut, n_left = _draw_split(codes, rows, perm, n_left, state)
        if feature >= 0:
            drawn_features[n_drawn] = feature
            drawn_cuts[n_drawn] = cut
            n_drawn += 1
    if n_drawn == 0:
        return -1, 0
    features, cuts = drawn_features[:n_drawn], drawn_cuts[:n_drawn]
    best, size = _best_random_split(
        codes, gradients, weights, rows, features, cuts, absolute, workspace
    )
    if size < min_leaf or len(rows) - size < min_leaf:
        return -1, 0
    return drawn_features[best], drawn_cuts[best]


# -------------------------------------------------------------------------------- best cuts


@inner
def draw_features(
    codes: Codes, rows: Indices, candidates: Indices, n_draws: int, state: State
) -> Indices:
    """Draw some of the features that vary among the rows; return them in ascending order.

    Parameters
    ----------
    codes : uint8 array of shape (n_features, n_samples), IN
    rows : int32 array of shape (n_rows,), IN
    candidates : int32 array, IN
        Features that may be drawn.
    n_draws : int
    state : uint64 array of shape (1,), IN and OUT
    """
    perm, drawn = np.empty(len(candidates), np.int32), np.empty(n_draws, np.int32)
    for j in range(len(candidates)):
        perm[j] = candidates[j]
    n_drawn, n_left = 0, len(candidates)
    while n_drawn < n_draws and n_left > 0:
        place = next_below(state, n_left)
        feature = perm[place]
        n_left -= 1
        perm[place] = perm[n_left]
        first = codes[feature, rows[0]]
        for row in rows[1:]:
            if codes[feature, row] != first:
                drawn[n_drawn] = feature
                n_drawn += 1
                break
    return np.sort(drawn[:n_drawn])


@inner
def _gather_codes(
    codes_by_feature: Codes, weights: Floats, rows: Indices, features: Indices
) -> tuple[Codes, Codes, Counts, Counts, Sums]:
    """Renumber the codes that occur among some rows, so that there are no empty bins.

    Returns
    -------
    ranks : uint8 array of shape (n_candidates, n_rows)
        Rank of every row's code among the codes that occur.
    present : uint8 array of shape (n_candidates, 256)
        The codes that occur, in ascending order.
    n_present : int64 array of shape (n_candidates,)
        Number of codes that occur.
    sizes : int64 array of shape (n_candidates, 256)
        Number of rows with each of them.
    masses : float64 array of shape (n_candidates, 256)
        Weight of the rows with each of them.
    """
    ranks = np.empty((len(features), len(rows)), dtype=np.uint8)
    present = np.zeros((len(features), 256), dtype=np.uint8)
    sizes = np.zeros((len(features), 256), dtype=np.int64)
    masses = np.zeros((len(features), 256))
    n_present = np.zeros(len(features), dtype=np.int64)
    rank = np.zeros(256, dtype=np.uint8)
    for q in range(len(features)):
        codes = codes_by_feature[features[q]]
        for code in range(256):
            rank[code] = 0
        for row in rows:
            rank[codes[row]] = 1
        for code in range(256):
            if rank[code]:
                present[q, n_present[q]] = code
                rank[code] = n_present[q]
                n_present[q] += 1
        for i in range(len(rows)):
            here = rank[codes[rows[i]]]
            ranks[q, i] = here
            sizes[q, here] += 1
            masses[q, here] += weights[rows[i]]
    return ranks, present, n_present, sizes, masses


@inner(fastmath=True)
def _add_gains(bins: Floats, absolute: bool, left_gains: Sums, right_gains: Sums) -> None:
    """Add the gains of sixteen columns to those of every cut, and clear the bins.

    Parameters
    ----------
    bins : float32 array of shape (n_bins * LANES,), IN and OUT
    absolute : bool
        Whether the gain uses absolute values instead of squares.
    left_gains, right_gains : float64 arrays of shape (n_bins,), IN and OUT
        For the cut after every bin.
    """
    n_bins = len(left_gains)
    for at in range(LANES, n_bins * LANES, LANES):
        add_lanes(bins, bins, at - LANES, (at,))
    totals = bins[(n_bins - 1) * LANES :]
    for cut in range(n_bins - 1):
        sums = bins[cut * LANES : (cut + 1) * LANES]
        left, right = np.float32(0.0), np.float32(0.0)
        if absolute:
            for k in range(LANES):
                left += abs(sums[k])
                right += abs(totals[k] - sums[k])
        else:
            for k in range(LANES):
                left += sums[k] * sums[k]
                right += (totals[k] - sums[k]) * (totals[k] - sums[k])
        left_gains[cut] += left
        right_gains[cut] += right
    for i in range(len(bins)):
        bins[i] = 0.0


@inner(error_model="numpy")
def _best_cut(
    sizes: Counts,
    masses: Sums,
    left_gains: Sums,
    right_gains: Sums,
    absolute: bool,
    min_leaf: int,
) -> tuple[int, float, int]:
    """Return the best cut of a feature, as a bin, its gain, and the number of rows on the left."""
    best, best_gain, best_size = -1, 0.0, 0
    n_rows, mass = np.int64(0), 0.0
    for cut in range(len(sizes)):
        n_rows += sizes[cut]
    for cut in range(len(masses)):
        mass += masses[cut]
    size_left, mass_left = 0, 0.0
    for cut in range(len(sizes) - 1):
        size_left += sizes[cut]
        mass_left += masses[cut]
        if size_left < min_leaf or n_rows - size_left < min_leaf:
            continue
        gain = left_gains[cut] + right_gains[cut]
        if not absolute:
            rest = max(mass - mass_left, _LEAST * mass)
            gain = left_gains[cut] / mass_left + right_gains[cut] / rest
        if best < 0 or gain > best_gain * CLEARLY:
            best, best_gain, best_size = cut, gain, size_left
    return best, best_gain, best_size


@kernel(error_model="numpy")
def best_shared_split(
    codes_by_feature: Codes,
    gradients: Floats,
    weights: Floats,
    rows: Indices,
    features: Indices,
    criterion: int,
    min_leaf: int,
) -> tuple[int, int, float, int]:
    """Find the split of largest gain for the gradients of all columns.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), IN
    gradients : float32 array of shape (n_samples, n_columns), IN
        In C order, multiplied by the weights of the rows.
    weights : float32 array of shape (n_samples,), IN
        Positive.
    rows : int32 array of shape (n_rows,), IN
        The rows to split.
    features : int32 array of shape (n_candidates,), IN
    criterion : 0 or 1
        With G the sum of a column on a side and W the weight there, the gain is the sum over
        columns and sides of ``G**2 / W`` (0) or of ``|G|`` (1).
    min_leaf : int
        Minimum number of rows on a side.

    Returns
    -------
    feature : int
        -1 if no split is allowed.
    cut : int
    gain : float
    size_left : int
        Number of rows that go left.
    """
    n_features, n_rows = len(features), len(rows)
    ranks, present, n_bins, sizes, masses = _gather_codes(codes_by_feature, weights, rows, features)
    left_gains, right_gains = np.zeros((n_features, 256)), np.zeros((n_features, 256))
    packed, bins = aligned_floats(n_rows * LANES), aligned_floats(GROUP * BINS)
    order = np.empty(n_features, np.int32)
    for q in range(n_features):
        order[q] = q
    for first in range(0, gradients.shape[1], LANES):
        pack_columns(gradients, rows, first, packed)
        for start in range(0, n_features, GROUP):
            members = order[start : start + GROUP]
            sum_bins(ranks, members, packed, bins)
            for g in range(len(members)):
                q, base = members[g], g * BINS
                n_here = n_bins[q]
                _add_gains(
                    bins[base : base + n_here * LANES],
                    criterion == 1,
                    left_gains[q, :n_here],
                    right_gains[q, :n_here],
                )
    best_feature, best_cut, best_gain, best_size = -1, 0, 0.0, 0
    for q in range(n_features):
        rank, gain, size = _best_cut(
            sizes[q, : n_bins[q]],
            masses[q],
            left_gains[q],
            right_gains[q],
            criterion == 1,
            min_leaf,
        )
        if rank >= 0 and (best_feature < 0 or gain > best_gain * CLEARLY):
            best_feature, best_cut = features[q], present[q, rank]
            best_gain, best_size = gain, size
    return best_feature, best_cut, best_gain, best_size
