"""Draws of rows that depend on what the rows hold, not on where they stand.

A row of weight two is drawn like two rows that hold the same; neither the order of the rows nor
whether they are stored sparse matters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._kernels.random import STRIDE, mix_array
from palmette.core.rows import row_chunks

__all__ = ["RowDraws", "hash_rows"]

FloatArray = NDArray[np.float64]
Hashes = NDArray[np.uint64]
IntArray = NDArray[np.intp]
Drawn = tuple[IntArray, "FloatArray | None"]

_MOST_DRAWS = 20  # of one unit in a bootstrap: more have a chance below 1e-18
_MOST_UNITS = 64  # of one row, however much it weighs


class RowDraws:
    """Samples of weighted rows.

    A row is drawn in units of weight one, and a last one of what is left of its weight.

    Parameters
    ----------
    X : float array or CSR matrix of shape (n_samples, n_features)
    weights : array of shape (n_samples,), optional
        All positive.

    Notes
    -----
    Each sample is a pair: the rows, and their weights or None. Without weights rows that were drawn
    twice stand there twice, so that any estimator can learn from them.

    Examples
    --------
    >>> draws = RowDraws(np.arange(8.0)[:, None])
    >>> rows, weights = draws.subsample(seed=0, share=0.5)
    >>> len(rows), weights
    (4, None)
    """

    def __init__(self, X: Any, weights: FloatArray | None = None) -> None:
        hashes = hash_rows(X)
        self._weights = weights
        if weights is None:
            self._rows = np.arange(len(hashes))
            self._sizes = np.ones(len(hashes))
        else:
            counts = np.minimum(np.ceil(weights - 1e-9), _MOST_UNITS).astype(np.int64).clip(min=1)
            self._rows = np.repeat(np.arange(len(hashes)), counts)
            self._sizes = np.ones(len(self._rows))
            last = np.cumsum(counts) - 1
            whole = np.minimum(weights, counts) - (counts - 1)  # what is left for the last unit
            self._sizes[last] = whole
            self._sizes *= (weights / np.minimum(weights, counts))[self._rows]
        self._hashes = _mix(hashes[self._rows] + _earlier_equals(hashes[self._rows]))

    def bootstrap(self, seed: int) -> Drawn:
        """Draw as many units as there are, with replacement: each a number that is Poisson of 1."""
        factorials = np.cumprod(np.r_[1.0, np.arange(1.0, _MOST_DRAWS)])
        up_to = np.cumsum(np.exp(-1.0) / factorials)
        return self._take(np.searchsorted(up_to, self._even(seed), side="right"))

    def subsample(self, seed: int, share: float) -> Drawn:
        """Draw units, without replacement, until they weigh a share of all; at least one."""
        everything = np.zeros(len(self._weights) if self._weights is not None else len(self._rows))
        return self.balanced(seed, everything.astype(np.int8), share * float(self._sizes.sum()))

    def balanced(self, seed: int, codes: NDArray[np.int8], size: float) -> Drawn:
        """Draw units of every class, without replacement, until they weigh `size` or are all.

        Parameters
        ----------
        seed : int
        codes : int array of shape (n_samples,)
            Class of every row.
        size : float
        """
        draws, of_units = self._even(seed), codes[self._rows]
        counts = np.zeros(len(draws), dtype=np.int64)
        for code in np.unique(codes).tolist():
            units = np.flatnonzero(of_units == code)
            units = units[np.argsort(draws[units], kind="stable")]
            reached = np.cumsum(self._sizes[units])
            counts[units[: int(np.searchsorted(reached, size * (1.0 - 1e-9))) + 1]] = 1
        return self._take(counts)

    def _even(self, seed: int) -> FloatArray:
        """Draw a number from 0 to 1 for every unit."""
        return _mix(self._hashes ^ _mix(np.array([seed], dtype=np.uint64))) / 2.0**64

    def _take(self, counts: NDArray[np.int64]) -> Drawn:
        """Make a sample of units; of all where none was drawn."""
        if not counts.any():
            counts = np.ones_like(counts)
        if self._weights is None:
            return np.repeat(self._rows, counts), None
        sizes = counts * self._sizes
        drawn = np.asarray(
            np.bincount(self._rows, sizes, minlength=len(self._weights)), dtype=np.float64
        )
        rows = np.flatnonzero(drawn)
        return rows, drawn[rows]


def hash_rows(X: Any) -> Hashes:
    """Return a number for every row that follows from its values, of shape (n_samples,).

    Parameters
    ----------
    X : float array or CSR matrix of shape (n_samples, n_features)

    Examples
    --------
    >>> a, b, c = hash_rows(np.array([[0.0, 2.0], [0.0, 2.0], [2.0, 0.0]]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    n_rows, n_columns = X.shape
    hashes = np.empty(n_rows, dtype=np.uint64)
    for rows in row_chunks(n_rows, n_columns, at_once=2**20):
        part = sparse.csr_array(X[rows])
        part.sum_duplicates()
        part.eliminate_zeros()
        bits = part.data.astype(np.float64).view(np.uint64)
        mixed = _mix(bits ^ _mix(part.indices.astype(np.uint64)))
        # sums modulo 2**64: differences of running sums are right whatever overflows
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        hashes[rows] = running[part.indptr[1:]] - running[part.indptr[:-1]]
    return hashes


def _earlier_equals(hashes: Hashes) -> Hashes:
    """How many before each have the same number."""
    order = np.argsort(hashes, kind="stable")
    new = np.r_[True, np.diff(hashes[order]) != 0]
    starts = np.flatnonzero(new)[np.cumsum(new) - 1]
    earlier = np.empty(len(hashes), dtype=np.uint64)
    earlier[order] = np.arange(len(hashes)) - starts
    return earlier


def _mix(values: Hashes) -> Hashes:
    """Scramble 64-bit numbers one to one."""
    return np.asarray(mix_array(values + STRIDE))
