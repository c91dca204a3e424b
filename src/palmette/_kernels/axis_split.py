"""The feature and the cut that tell a node's two clusters apart best, by information gain."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.node_block import Block

__all__ = ["best_axis"]

Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

_CLEARLY = 1e-9  # what a later cut must bring more, so that rounding decides no draw


@njit(cache=True, nogil=True, error_model="numpy")
def _entropy(first: float, second: float) -> float:
    """Return the entropy of two masses, times their sum, in nats."""
    total = first + second
    bits = 0.0
    if first > 0.0:
        bits -= first * np.log(first / total)
    if second > 0.0:
        bits -= second * np.log(second / total)
    return bits


@njit(cache=True, nogil=True, error_model="numpy")
def _by_column(block: Block, n_columns: int) -> tuple[Offsets, Indices, Reals]:
    """Return the entries of a sparse block by column: where each begins, rows, values."""
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
    """Return the best cut of one feature, and the entropy that it leaves (infinite: no cut).

    Entries may stand for several rows: those of a sparse column's zeros are one.
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
            if left < least - _CLEARLY:
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
    block : Block, in
    n_columns : int
    shares : float array of shape (2, n_rows), in
        Weights of the rows by class, one over all, as of `row_shares`.
    min_rows : int
        What each side must have at least.

    Returns
    -------
    column : int
        -1 where no cut is allowed or none gains anything.
    cut : float
        Rows from it upwards go right.
    gain : float
        In nats.
    """
    n_rows = shares.shape[1]
    totals = np.array([shares[0].sum(), shares[1].sum()])
    least, best, best_cut = _entropy(totals[0], totals[1]) - _CLEARLY, -1, 0.0
    before = least
    if block.is_sparse:
        starts, rows, entries = _by_column(block, n_columns)
    ones = np.ones(n_rows + 1, dtype=np.int32)
    for j in range(n_columns):
        if block.is_sparse:
            n_own = starts[j + 1] - starts[j]
            values = np.zeros(n_own + 1, dtype=shares.dtype)
            masses = np.empty((2, n_own + 1))
            masses[:, n_own] = totals
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
        if left < least - _CLEARLY:
            least, best, best_cut = left, j, cut
    return best, best_cut, before - least
