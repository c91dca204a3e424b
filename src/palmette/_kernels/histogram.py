"""Best splits found by counting: sums of many columns in the bins of a feature.

A candidate takes the lead only where it is better than the leader by the factor 1.00001: sums in
float32 agree to six digits or so, and which of two equal splits wins must not hang on rounding. So
that the winner does not depend on how features are dealt out to threads, this is done in two steps:
the cuts of one feature compete in ascending order, then the features in the order given.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.lanes import LANES, add_lanes, aligned_floats, copy_lanes, lead_lanes

__all__ = ["best_shared_split", "best_stumps", "column_totals", "pick_stumps", "stump_edges"]

Codes: TypeAlias = NDArray[np.uint8]
Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]
Columns: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]

_CLEARLY = np.float32(1.00001)

_GROUP = 4  # features whose sums are taken in one pass over the rows: 64 KiB of bins
_BINS = 256 * LANES  # room for the bins of one feature


@njit(cache=True, nogil=True)
def column_totals(signed: Columns) -> Sums:
    """Sum every column of an array of shape (n_samples, n_columns), in float64."""
    totals = np.zeros(signed.shape[1])
    for i in range(signed.shape[0]):
        for k in range(signed.shape[1]):
            totals[k] += signed[i, k]
    return totals


@njit(cache=True, nogil=True)
def _pack(columns: Columns, rows: Indices | None, first: int, packed: Floats) -> None:
    """Copy the columns from `first` on, as many as there are lanes, side by side.

    Lanes without a column are zero. With `rows`, only those rows, in their order.
    """
    n_columns = columns.shape[1]
    n_here = min(LANES, n_columns - first)
    for i in range(len(packed) // LANES):
        row = i if rows is None else rows[i]
        if n_here == LANES:
            copy_lanes(packed, i * LANES, columns, row * n_columns + first)
            continue
        for k in range(LANES):
            packed[i * LANES + k] = columns[row, first + k] if k < n_here else 0.0


@njit(cache=True, nogil=True)
def _sum_bins(codes: Codes, members: Indices, packed: Floats, bins: Floats) -> None:
    """Add packed rows to the bins of up to four features, each of which has room for 256.

    Parameters
    ----------
    codes : uint8 array of shape (n_features, n_rows), in
    members : int32 array, in
        The features; four of them share one pass, and what is read of the rows.
    packed : float32 array of shape (n_rows * LANES,), in
    bins : float32 array of shape (_GROUP * _BINS,), in and out
    """
    if len(members) == _GROUP:
        a, b, c, d = codes[members[0]], codes[members[1]], codes[members[2]], codes[members[3]]
        for i in range(codes.shape[1]):
            places = (
                a[i] * LANES,
                b[i] * LANES + _BINS,
                c[i] * LANES + 2 * _BINS,
                d[i] * LANES + 3 * _BINS,
            )
            add_lanes(bins, packed, i * LANES, places)
        return
    for g in range(len(members)):
        a = codes[members[g]]
        for i in range(codes.shape[1]):
            add_lanes(bins, packed, i * LANES, (a[i] * LANES + g * _BINS,))


@njit(cache=True, nogil=True)
def _range(codes: Codes) -> tuple[int, int]:
    """Return the lowest and the highest code."""
    low = high = codes[0]
    for code in codes:
        low, high = min(low, code), max(high, code)
    return low, high


@njit(cache=True, nogil=True)
def stump_edges(
    codes_by_feature: Codes,
    signed: Columns,
    totals: Sums,
    features: Indices,
    out_cuts: Codes,
    out_edges: Floats,
) -> None:
    """Find the best cut of every feature for every column.

    The edge of a cut is ``|2 L - T|``: L is the sum of the column over the rows whose code is at
    most the cut, T its total. Cuts compete in ascending order, see above. What is found for one
    feature does not depend on the others, so threads may share them out.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), in
    signed : float32 or float64 array of shape (n_samples, n_columns), in
        In C order. Summed in float32, whatever it is.
    totals : float64 array of shape (n_columns,), in
        From `column_totals`.
    features : int32 array of shape (n_candidates,), in
    out_cuts : uint8 array of shape (n_candidates, n_columns), out
    out_edges : float32 array of shape (n_candidates, n_columns), out
        0 where a feature does not vary.
    """
    n_samples, n_columns = signed.shape
    packed = aligned_floats(n_samples * LANES)
    bins = aligned_floats(_GROUP * _BINS)
    halves, edges = aligned_floats(LANES), aligned_floats(LANES)
    cuts = np.zeros(LANES, dtype=np.int32)
    out_cuts[:] = 0
    out_edges[:] = 0.0
    if n_samples == 0:
        return
    for first in range(0, n_columns, LANES):
        n_here = min(LANES, n_columns - first)
        _pack(signed, None, first, packed)
        for k in range(n_here):
            halves[k] = 0.5 * totals[first + k]
        for start in range(0, len(features), _GROUP):
            members = features[start : start + _GROUP]
            _sum_bins(codes_by_feature, members, packed, bins)
            for g in range(len(members)):
                low, high = _range(codes_by_feature[members[g]])
                lead_lanes(bins, g * _BINS, low, high, halves, _CLEARLY, edges, cuts)
                for k in range(n_here):
                    out_cuts[start + g, first + k] = cuts[k]
                    out_edges[start + g, first + k] = 2.0 * edges[k] / _CLEARLY


@njit(cache=True, nogil=True)
def pick_stumps(
    features: Indices, cuts: Codes, edges: Floats, totals: Sums
) -> tuple[Indices, Codes, Floats]:
    """Choose for every column among the best cuts of the features, and no split at all.

    Features compete in the order given, see above; not to split, which has the edge ``|T|``, comes
    first.

    Parameters
    ----------
    features : int32 array of shape (n_candidates,), in
    cuts, edges : uint8 and float32 arrays of shape (n_candidates, n_columns), in
        From `stump_edges`.
    totals : float64 array of shape (n_columns,), in

    Returns
    -------
    feature : int32 array of shape (n_columns,)
        -1 where no split is better.
    cut : uint8 array of shape (n_columns,)
    edge : float32 array of shape (n_columns,)
    """
    n_columns = len(totals)
    feature = np.full(n_columns, -1, dtype=np.int32)
    cut = np.zeros(n_columns, dtype=np.uint8)
    edge = np.abs(totals).astype(np.float32)
    for q in range(len(features)):
        for k in range(n_columns):
            if edges[q, k] > edge[k] * _CLEARLY:
                feature[k], cut[k], edge[k] = features[q], cuts[q, k], edges[q, k]
    return feature, cut, edge


def best_stumps(
    codes_by_feature: Codes, signed: Columns, features: Indices
) -> tuple[Indices, Codes, Floats]:
    """Find the stump of largest edge for every column: `stump_edges`, then `pick_stumps`.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), in
    signed : float32 or float64 array of shape (n_samples, n_columns), in
    features : int32 array of shape (n_candidates,), in

    Returns
    -------
    feature, cut, edge : arrays of shape (n_columns,)
        As of `pick_stumps`.

    Examples
    --------
    >>> codes = np.array([[0, 1, 1, 2]], dtype=np.uint8)
    >>> signed = np.array([[-0.1, 0.1], [-0.2, 0.2], [-0.3, 0.3], [0.4, 0.4]])
    >>> feature, cut, edge = best_stumps(codes, signed, np.array([0], dtype=np.int32))
    >>> feature.tolist(), cut.tolist(), edge.round(3).tolist()
    ([0, -1], [1, 0], [1.0, 1.0])
    """
    totals = column_totals(signed)
    cuts = np.empty((len(features), signed.shape[1]), dtype=np.uint8)
    edges = np.empty((len(features), signed.shape[1]), dtype=np.float32)
    stump_edges(codes_by_feature, signed, totals, features, cuts, edges)
    return pick_stumps(features, cuts, edges, totals)


@njit(cache=True, nogil=True)
def _gather_codes(
    codes_by_feature: Codes, weights: Floats, rows: Indices, features: Indices
) -> tuple[Codes, Codes, Counts, Counts, Sums]:
    """Number the codes that occur among some rows, so that there are no empty bins.

    Returns
    -------
    ranks : uint8 array of shape (n_candidates, n_rows)
        Place of every row's code among those that occur.
    present : uint8 array of shape (n_candidates, 256)
        The codes that occur, ascending.
    n_present : int64 array of shape (n_candidates,)
        How many they are.
    sizes : int64 array of shape (n_candidates, 256)
        Rows with each of them.
    masses : float64 array of shape (n_candidates, 256)
        Their weights.
    """
    ranks = np.empty((len(features), len(rows)), dtype=np.uint8)
    present = np.zeros((len(features), 256), dtype=np.uint8)
    sizes = np.zeros((len(features), 256), dtype=np.int64)
    masses = np.zeros((len(features), 256))
    n_present = np.zeros(len(features), dtype=np.int64)
    rank = np.zeros(256, dtype=np.uint8)
    for q in range(len(features)):
        codes = codes_by_feature[features[q]]
        rank[:] = 0
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


@njit(cache=True, nogil=True, fastmath=True)
def _add_gains(bins: Floats, absolute: bool, left_gains: Sums, right_gains: Sums) -> None:
    """Add what the lanes say for every cut, and clear the bins.

    Parameters
    ----------
    bins : float32 array of shape (n_bins * LANES,), in and out
    absolute : bool
        Whether sums count by their absolute values, or by their squares.
    left_gains, right_gains : float64 arrays of shape (n_bins,), in and out
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
    bins[:] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def best_shared_split(
    codes_by_feature: Codes,
    gradients: Floats,
    weights: Floats,
    rows: Indices,
    features: Indices,
    criterion: int,
    min_leaf: int,
) -> tuple[int, int, float, int]:
    """Find the split that parts the gradients of all columns best.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), in
    gradients : float32 array of shape (n_samples, n_columns), in
        In C order. Multiplied by the weights of their rows.
    weights : float32 array of shape (n_samples,), in
        Above zero.
    rows : int32 array of shape (n_rows,), in
        The rows to split.
    features : int32 array of shape (n_candidates,), in
    criterion : 0 or 1
        With G the sum of a column on a side and W the weight there, a split is worth the sum over
        columns and sides of ``G**2 / W`` (0) or of ``|G|`` (1).
    min_leaf : int
        Least rows on a side.

    Returns
    -------
    feature : int
        -1 where no split is allowed.
    cut : int
    gain : float
    size_left : int
        Rows that go left.
    """
    n_features, n_rows = len(features), len(rows)
    ranks, present, n_bins, sizes, masses = _gather_codes(codes_by_feature, weights, rows, features)
    left_gains, right_gains = np.zeros((n_features, 256)), np.zeros((n_features, 256))
    packed, bins = aligned_floats(n_rows * LANES), aligned_floats(_GROUP * _BINS)
    order = np.arange(n_features, dtype=np.int32)
    for first in range(0, gradients.shape[1], LANES):
        _pack(gradients, rows, first, packed)
        for start in range(0, n_features, _GROUP):
            members = order[start : start + _GROUP]
            _sum_bins(ranks, members, packed, bins)
            for g in range(len(members)):
                q, base = members[g], g * _BINS
                n_here = n_bins[q]
                _add_gains(
                    bins[base : base + n_here * LANES],
                    criterion == 1,
                    left_gains[q, :n_here],
                    right_gains[q, :n_here],
                )
    best_feature, best_cut, best_gain, best_size = -1, 0, 0.0, 0
    for q in range(n_features):
        rank, gain, size = _lead(
            sizes[q, : n_bins[q]],
            masses[q],
            left_gains[q],
            right_gains[q],
            criterion == 1,
            min_leaf,
        )
        if rank >= 0 and (best_feature < 0 or gain > best_gain * _CLEARLY):
            best_feature, best_cut = features[q], present[q, rank]
            best_gain, best_size = gain, size
    return best_feature, best_cut, best_gain, best_size


@njit(cache=True, nogil=True, error_model="numpy")
def _lead(
    sizes: Counts,
    masses: Sums,
    left_gains: Sums,
    right_gains: Sums,
    absolute: bool,
    min_leaf: int,
) -> tuple[int, float, int]:
    """Return the bin after which a feature is best cut, the gain, and how many rows go left."""
    best, best_gain, best_size = -1, 0.0, 0
    n_rows, mass = sizes.sum(), masses.sum()
    size_left, mass_left = 0, 0.0
    for cut in range(len(sizes) - 1):
        size_left += sizes[cut]
        mass_left += masses[cut]
        if size_left < min_leaf or n_rows - size_left < min_leaf:
            continue
        gain = left_gains[cut] + right_gains[cut]
        if not absolute:
            gain = left_gains[cut] / mass_left + right_gains[cut] / (mass - mass_left)
        if best < 0 or gain > best_gain * _CLEARLY:
            best, best_gain, best_size = cut, gain, size_left
    return best, best_gain, best_size
