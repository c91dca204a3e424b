"""The best stump of every column, found by counting: sums of many columns in a feature's bins.

A candidate takes the lead only where it is better than the leader by the factor 1.00001: sums in
float32 agree to six digits or so, and which of two equal splits wins must not depend on rounding.
So that the winner does not depend on how features are shared out to threads, this is done in two
steps: the cuts of one feature compete in ascending order, then the features in the order given.
Small data, where equal candidates are common, are summed in float64 (`exact_stump_edges`).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.lanes import LANES, add_lanes, aligned_floats, copy_lanes, lead_lanes

__all__ = [
    "BINS",
    "CLEARLY",
    "GROUP",
    "best_stumps",
    "column_totals",
    "exact_stump_edges",
    "pack_columns",
    "pick_stumps",
    "stump_edges",
    "sum_bins",
]

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Columns: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]

CLEARLY = np.float32(1.00001)
_CLEARLY_EXACT = 1.00001

GROUP = 4  # features whose sums are taken in one pass over the rows: 64 KiB of bins
BINS = 256 * LANES  # room for the bins of one feature


@njit(cache=True, nogil=True)
def column_totals(signed: Columns) -> Sums:
    """Sum every column of an array of shape (n_samples, n_columns), in float64."""
    totals = np.zeros(signed.shape[1])
    for i in range(signed.shape[0]):
        for k in range(signed.shape[1]):
            totals[k] += signed[i, k]
    return totals


@njit(cache=True, nogil=True)
def pack_columns(columns: Columns, rows: Indices | None, first: int, packed: Floats) -> None:
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
def sum_bins(codes: Codes, members: Indices, packed: Floats, bins: Floats) -> None:
    """Add packed rows to the bins of up to four features, each of which has room for 256.

    Parameters
    ----------
    codes : uint8 array of shape (n_features, n_rows), IN
    members : int32 array, IN
        The features; four of them share one pass, and what is read of the rows.
    packed : float32 array of shape (n_rows * LANES,), IN
    bins : float32 array of shape (GROUP * BINS,), IN and OUT
    """
    if len(members) == GROUP:
        a, b, c, d = codes[members[0]], codes[members[1]], codes[members[2]], codes[members[3]]
        for i in range(codes.shape[1]):
            places = (
                a[i] * LANES,
                b[i] * LANES + BINS,
                c[i] * LANES + 2 * BINS,
                d[i] * LANES + 3 * BINS,
            )
            add_lanes(bins, packed, i * LANES, places)
        return
    for g in range(len(members)):
        a = codes[members[g]]
        for i in range(codes.shape[1]):
            add_lanes(bins, packed, i * LANES, (a[i] * LANES + g * BINS,))


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
    codes_by_feature : uint8 array of shape (n_features, n_samples), IN
    signed : float32 or float64 array of shape (n_samples, n_columns), IN
        In C order. Summed in float32, whatever it is.
    totals : float64 array of shape (n_columns,), IN
        From `column_totals`.
    features : int32 array of shape (n_candidates,), IN
    out_cuts : uint8 array of shape (n_candidates, n_columns), OUT
    out_edges : float32 array of shape (n_candidates, n_columns), OUT
        0 where a feature does not vary.
    """
    n_samples, n_columns = signed.shape
    packed = aligned_floats(n_samples * LANES)
    bins = aligned_floats(GROUP * BINS)
    halves, edges = aligned_floats(LANES), aligned_floats(LANES)
    cuts = np.zeros(LANES, dtype=np.int32)
    out_cuts[:] = 0
    out_edges[:] = 0.0
    if n_samples == 0:
        return
    for first in range(0, n_columns, LANES):
        n_here = min(LANES, n_columns - first)
        pack_columns(signed, None, first, packed)
        for k in range(n_here):
            halves[k] = 0.5 * totals[first + k]
        for start in range(0, len(features), GROUP):
            members = features[start : start + GROUP]
            sum_bins(codes_by_feature, members, packed, bins)
            for g in range(len(members)):
                low, high = _range(codes_by_feature[members[g]])
                lead_lanes(bins, g * BINS, low, high, halves, CLEARLY, edges, cuts)
                for k in range(n_here):
                    out_cuts[start + g, first + k] = cuts[k]
                    out_edges[start + g, first + k] = 2.0 * edges[k] / CLEARLY


@njit(cache=True, nogil=True)
def exact_stump_edges(
    codes_by_feature: NDArray[np.uint8],
    signed: NDArray[np.float64],
    totals: NDArray[np.float64],
    features: NDArray[np.int32],
    out_cuts: NDArray[np.uint8],
    out_edges: NDArray[np.float64],
) -> None:
    """Find the best cut of every feature for every column; as `stump_edges`, in float64.

    Where a column's weights almost cancel, sums in float32 would leave a choice between equal
    candidates to rounding.
    """
    n_samples, n_columns = signed.shape
    for q in range(len(features)):
        codes = codes_by_feature[features[q]]
        bins = np.zeros((256, n_columns))
        seen = np.zeros(256, dtype=np.bool_)
        for i in range(n_samples):
            seen[codes[i]] = True
            for k in range(n_columns):
                bins[codes[i], k] += signed[i, k]
        last = 255
        while last > 0 and not seen[last]:
            last -= 1
        for k in range(n_columns):
            left, best, best_cut = 0.0, 0.0, 0
            for cut in range(last):
                if seen[cut]:
                    left += bins[cut, k]
                    edge = abs(2 * left - totals[k])
                    if edge > best * _CLEARLY_EXACT:
                        best, best_cut = edge, cut
            out_cuts[q, k] = best_cut
            out_edges[q, k] = best


@njit(cache=True, nogil=True)
def pick_stumps(
    features: Indices, cuts: Codes, edges: Floats, totals: Sums
) -> tuple[Indices, Codes, Floats]:
    """Choose for every column among the best cuts of the features, and no split at all.

    Features compete in the order given, see above; not to split, which has the edge ``|T|``, comes
    first.

    Parameters
    ----------
    features : int32 array of shape (n_candidates,), IN
    cuts, edges : uint8 and float32 arrays of shape (n_candidates, n_columns), IN
        From `stump_edges`.
    totals : float64 array of shape (n_columns,), IN

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
            if edges[q, k] > edge[k] * CLEARLY:
                feature[k], cut[k], edge[k] = features[q], cuts[q, k], edges[q, k]
    return feature, cut, edge


def best_stumps(
    codes_by_feature: Codes, signed: Columns, features: Indices
) -> tuple[Indices, Codes, Floats]:
    """Find the stump of largest edge for every column: `stump_edges`, then `pick_stumps`.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), IN
    signed : float32 or float64 array of shape (n_samples, n_columns), IN
    features : int32 array of shape (n_candidates,), IN

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
