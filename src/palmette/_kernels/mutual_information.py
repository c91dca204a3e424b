"""Mutual information of many binned features with one."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["mutual_information"]

Codes: TypeAlias = NDArray[np.uint8] | NDArray[np.int32]
Indices: TypeAlias = NDArray[np.int64]
Sums: TypeAlias = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _spread(counts: Sums) -> float:
    """Sum of ``c log c`` over counts, 0 for none."""
    total = 0.0
    for count in counts:
        if count > 0.0:
            total += count * np.log(count)
    return total


@njit(cache=True, nogil=True)
def mutual_information(
    codes: Codes,
    n_bins: Indices,
    values: Codes,
    n_values: int,
    weights: Sums,
    wanted: Indices,
    found: Sums,
) -> None:
    """Mutual information, in nats, of some features with a variable.

    Parameters
    ----------
    codes : uint8 or int32 array of shape (n_features, n_rows), IN
        Bin of every row, feature by feature.
    n_bins : int64 array of shape (n_features,), IN
    values : uint8 or int32 array of shape (n_rows,), IN
        Value of the variable, from 0 to ``n_values - 1``.
    n_values : int, IN
    weights : float64 array of shape (n_rows,), IN
    wanted : int64 array of shape (n_wanted,), IN
        Features to look at.
    found : float64 array of shape (n_features,), OUT
        Only the places in `wanted` are written.
    """
    n_rows = len(values)
    of_values = np.zeros(n_values)
    for i in range(n_rows):
        of_values[values[i]] += weights[i]
    total = of_values.sum()
    constant = total * np.log(total) - _spread(of_values)
    for j in wanted:
        size = n_bins[j]
        joint = np.zeros(size * n_values)
        of_bins = np.zeros(size)
        for i in range(n_rows):
            joint[codes[j, i] * np.int64(n_values) + values[i]] += weights[i]
        for b in range(size):
            for v in range(n_values):
                of_bins[b] += joint[b * n_values + v]
        # rounding may leave independent features a little below nothing
        found[j] = max((constant + _spread(joint) - _spread(of_bins)) / total, 0.0)
