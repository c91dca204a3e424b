"""The best split of a node for one column, by the Gini gain of its weighted two-class problem."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner
from palmette.boosting._histogram import add_pairs
from palmette.trees._random import State, next_below

Codes: TypeAlias = NDArray[np.uint8]
Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]

_CLEARLY = 1.00001  # equally good splits may differ by rounding

_FEATURE_STRIDE = np.uint64(0x8CB92BA72F3D8DD7)  # odd, far from the strides of nodes and generator

_GROUP = 4  # features whose sums are taken in one pass over the rows
_BINS = 512  # numbers per feature: two sums for each of 256 codes


@inner(inline="always")
def _pair_weights(signed: Floats, rows: Indices, pairs: Sums) -> tuple[float, float]:
    """Write the negative and positive weight of every row, interleaved; return their sums."""
    negative, positive = 0.0, 0.0
    for i in range(len(rows)):
        value = np.float64(signed[rows[i]])
        # exact, and without an unpredictable branch on the sign
        pairs[2 * i], pairs[2 * i + 1] = 0.5 * (abs(value) - value), 0.5 * (abs(value) + value)
        negative += pairs[2 * i]
        positive += pairs[2 * i + 1]
    return negative, positive


@inner
def _sum_bins(codes: Codes, members: Indices, rows: Indices, pairs: Sums, bins: Sums) -> None:
    """Sum the weights of the rows by code, for up to four features.

    Parameters
    ----------
    codes : uint8 array of shape (n_features, n_samples), IN
    members : int32 array, IN
        The features; four of them share one pass.
    rows : int32 array of shape (n_rows,), IN
    pairs : float64 array of shape (2 * n_rows,), IN
    bins : float64 array of shape (_GROUP * _BINS,), OUT
    """
    for i in range(len(bins)):
        bins[i] = 0.0
    if len(members) == _GROUP:
        a, b, c, d = codes[members[0]], codes[members[1]], codes[members[2]], codes[members[3]]
        for i in range(len(rows)):
            row = rows[i]
            places = (
                2 * a[row],
                2 * b[row] + _BINS,
                2 * c[row] + 2 * _BINS,
                2 * d[row] + 3 * _BINS,
            )
            add_pairs(bins, pairs, 2 * i, places)
        return
    for g in range(len(members)):
        a = codes[members[g]]
        for i in range(len(rows)):
            add_pairs(bins, pairs, 2 * i, (2 * a[rows[i]] + g * _BINS,))


@inner(inline="always")
def _range(bins: Sums) -> tuple[int, int]:
    """Return the lowest and the highest code with any weight."""
    low, high = 0, len(bins) // 2 - 1
    while bins[2 * low] + bins[2 * low + 1] == 0.0:
        low += 1
    while bins[2 * high] + bins[2 * high + 1] == 0.0:
        high -= 1
    return low, high


@inner(error_model="numpy")
def _best_cut(
    bins: Sums,
    counts: Counts,
    cuts: tuple[int, int],
    n_rows: int,
    total: tuple[float, float],
    min_leaf: int,
) -> tuple[int, float]:
    """Return the best cut in a range and its gain; cut -1 if none is allowed.

    Parameters
    ----------
    bins : float64 array of shape (512,), IN
    counts : int64 array of shape (256,), IN
        Number of rows of every code; used only where `min_leaf` exceeds 1.
    cuts : (int, int)
        First and last cut of the range.
    n_rows : int
    total : (float, float)
        Negative and positive weight of the node.
    min_leaf : int
    """
    best, best_scaled, best_scale = -1, 0.0, 1.0
    size, negative, positive = 0, 0.0, 0.0
    for code in range(cuts[1] + 1):
        size += counts[code]
        negative += bins[2 * code]
        positive += bins[2 * code + 1]
        if code < cuts[0] or (min_leaf > 1 and (size < min_leaf or n_rows - size < min_leaf)):
            continue
        # rounding may make a remainder of zero negative
        rest_negative, rest_positive = abs(total[0] - negative), abs(total[1] - positive)
        left, right = positive - negative, rest_positive - rest_negative
        weight, rest = positive + negative, rest_positive + rest_negative
        # gain = left**2 / weight + right**2 / rest = scaled / scale, compared without dividing
        scaled, scale = left * left * rest + right * right * weight, weight * rest
        if scale > 0.0 and (best < 0 or scaled * best_scale > best_scaled * _CLEARLY * scale):
            best, best_scaled, best_scale = code, scaled, scale
    return best, best_scaled / best_scale


@inner
def choose_class_split(
    codes_by_feature: Codes,
    signed: Floats,
    rows: Indices,
    features: Indices,
    n_draws: int,
    random_cuts: bool,
    min_leaf: int,
    seed: State,
) -> tuple[int, int]:
    """Return the feature and cut of the best split of a node; feature -1 if it is not split.

    See `grow_heap_tree` for the arguments; `seed` is the state of the node. The random cut of a
    feature depends only on the seed and the feature.
    """
    best_feature, best_cut, best_gain = -1, 0, 0.0
    pairs = np.empty(2 * len(rows), np.float64)
    total = _pair_weights(signed, rows, pairs)
    if total[0] == 0.0 or total[1] == 0.0:
        return best_feature, best_cut
    bins, counts = np.empty(_GROUP * _BINS, np.float64), np.empty(256, np.int64)
    for code in range(256):
        counts[code] = 0
    order = np.empty(len(features), np.int32)
    for j in range(len(features)):
        order[j] = features[j]
    state, own = np.empty(1, np.uint64), np.empty(1, np.uint64)
    state[0] = seed[0]
    n_seen, n_drawn = 0, 0
    while n_drawn < n_draws and n_seen < len(order):
        n_new = n_draws - n_drawn if n_draws - n_drawn < _GROUP else _GROUP
        n_new = len(order) - n_seen if len(order) - n_seen < n_new else n_new
        if n_draws < len(order):
            for place in range(n_seen, n_seen + n_new):
                other = place + next_below(state, len(order) - place)
                order[place], order[other] = order[other], order[place]
        members = order[n_seen : n_seen + n_new]
        n_seen += n_new
        _sum_bins(codes_by_feature, members, rows, pairs, bins)
        for g in range(n_new):
            feature, here = members[g], bins[g * _BINS : (g + 1) * _BINS]
            low, high = _range(here)
            if low == high:
                continue
            n_drawn += 1
            first, last = low, high - 1
            if random_cuts:
                own[0] = seed[0] + np.uint64(feature + 1) * _FEATURE_STRIDE
                first += next_below(own, high - low)
                last = first
            if min_leaf > 1:
                for code in range(256):
                    counts[code] = 0
                for row in rows:
                    counts[codes_by_feature[feature, row]] += 1
            cut, gain = _best_cut(here, counts, (first, last), len(rows), total, min_leaf)
            if cut >= 0 and (best_feature < 0 or gain > best_gain * _CLEARLY):
                best_feature, best_cut, best_gain = feature, cut, gain
    return best_feature, best_cut
