"""The search for stumps in float64, for small data, where equal candidates are common."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["exact_stump_edges"]

_CLEARLY = 1.00001


@njit(cache=True, nogil=True)
def exact_stump_edges(
    codes_by_feature: NDArray[np.uint8],
    signed: NDArray[np.float64],
    totals: NDArray[np.float64],
    features: NDArray[np.int32],
    out_cuts: NDArray[np.uint8],
    out_edges: NDArray[np.float64],
) -> None:
    """Find the best cut of every feature for every column; see `histogram.stump_edges`.

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
                    if edge > best * _CLEARLY:
                        best, best_cut = edge, cut
            out_cuts[q, k] = best_cut
            out_edges[q, k] = best
