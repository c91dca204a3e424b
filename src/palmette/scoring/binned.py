"""Features as bins, and their mutual information with one variable; sparse rows stay sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from palmette.exceptions import PalmetteError

__all__ = ["BinnedRows", "DenseBins", "SparseBins", "bin_edges", "bin_rows"]

FloatArray = NDArray[np.float64]
Bins = int | str

_MOST_VALUES = 2**16  # distinct values of a feature; more would be a table of pairs beyond memory
_AT_ONCE = 2**24  # numbers in a table of bins by values: 128 MB


def bin_edges(X: Any, bins: Bins, width: float, weights: FloatArray) -> FloatArray | None:
    """Find where bins are cut, for every feature by itself.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
    bins : {"deviation", "round", "values"} or int
        See `MrmrScore`.
    width : float
        For ``"deviation"``: standard deviations from the mean to either edge.
    weights : array of shape (n_rows,)

    Returns
    -------
    array of shape (n_edges, n_features), ascending; None where values are bins
    """
    if bins in ("round", "values"):
        return None
    if bins == "deviation":
        mean, deviation = _moments(X, weights)
        return np.stack([mean - width * deviation, mean + width * deviation])
    if not isinstance(bins, int) or isinstance(bins, bool):
        raise PalmetteError(
            f"bins={bins!r}: expected 'deviation', 'round', 'values' or a number of bins."
        )
    if bins < 2:
        raise PalmetteError(f"bins={bins!r}: expected 2 or more.")
    if not sparse.issparse(X):
        return _quantiles(X, bins, weights)
    columns = sparse.csc_array(X)
    edges = np.empty((bins - 1, columns.shape[1]))
    for j in range(columns.shape[1]):
        cut = slice(columns.indptr[j], columns.indptr[j + 1])
        own = weights[columns.indices[cut]]
        zero = max(weights.sum() - own.sum(), 0.0)  # of all rows that are not stored
        values, shares = np.r_[columns.data[cut], 0.0], np.r_[own, zero]
        edges[:, j] = _quantiles(values[:, None], bins, shares).ravel()
    return edges


def bin_rows(X: Any, bins: Bins, edges: FloatArray | None, weights: FloatArray) -> BinnedRows:
    """Bin every feature by itself.

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
    bins : {"deviation", "round", "values"} or int
    edges : array of shape (n_edges, n_features), or None
        As `bin_edges` found them, in these rows or in more.
    weights : array of shape (n_rows,)

    Returns
    -------
    BinnedRows
    """
    if sparse.issparse(X):
        return _sparse_bins(X, bins, edges, weights)
    codes = _by_values(X, rounded=bins) if edges is None else _by_edges(X, edges)
    return DenseBins(codes, weights)


class DenseBins:
    """Bins of dense rows.

    Parameters
    ----------
    codes : int array of shape (n_features, n_rows)
        Bin of every row, feature by feature, from 0.
    weights : array of shape (n_rows,)
    """

    def __init__(self, codes: NDArray[Any], weights: FloatArray) -> None:
        self._n_bins = codes.max(axis=1).astype(np.int64) + 1
        narrow = self._n_bins.max(initial=0) <= 256
        self._codes: NDArray[np.uint8] | NDArray[np.int32] = (
            np.ascontiguousarray(codes, dtype=np.uint8)
            if narrow
            else np.ascontiguousarray(codes, dtype=np.int32)
        )
        self._weights = weights

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Whether each feature has rows in two bins at least: of shape (n_features,)."""
        return np.asarray((self._codes != self._codes[:, :1]).any(axis=1))

    def feature(self, j: int) -> tuple[NDArray[Any], int]:
        """Return the bin of every row for a feature, and the number of its bins."""
        return self._codes[j], int(self._n_bins[j])

    def information(
        self, values: NDArray[Any], n_values: int, wanted: NDArray[np.intp]
    ) -> FloatArray:
        """Mutual information of features with a variable.

        Parameters
        ----------
        values : int array of shape (n_rows,)
        n_values : int
        wanted : int array of shape (n_wanted,)
            Features.

        Returns
        -------
        array of shape (n_wanted,)
            In nats.
        """
        from palmette._kernels.mutual_information import mutual_information

        found = np.zeros(len(self._codes))
        values = np.ascontiguousarray(values, dtype=self._codes.dtype)
        mutual_information(
            self._codes, self._n_bins, values, n_values, self._weights, wanted, found
        )
        return found[wanted]


class SparseBins:
    """Bins of sparse rows: only rows outside of the bin of 0 are kept.

    Parameters
    ----------
    members : CSR array of shape ((n_bins - 1) * n_features, n_rows)
        Weight of every row in bins 1, 2, ... of every feature; bin 0 is that of the value 0. The
        rows of bin 1 of all features come first, then those of bin 2 ...
    n_features : int
    weights : array of shape (n_rows,)
    """

    def __init__(self, members: sparse.csr_array, n_features: int, weights: FloatArray) -> None:
        self._members = members
        self._n_features = n_features
        self._weights = weights
        self._n_bins = members.shape[0] // n_features + 1

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Whether each feature has rows in two bins at least: of shape (n_features,)."""
        kept = np.diff(self._members.indptr).reshape(self._n_bins - 1, self._n_features)
        n_rows = len(self._weights)
        at_zero = kept.sum(axis=0) < n_rows
        return np.asarray((kept > 0).sum(axis=0) + at_zero > 1)

    def feature(self, j: int) -> tuple[NDArray[Any], int]:
        """Return the bin of every row for a feature, and the number of its bins."""
        values = np.zeros(len(self._weights), dtype=np.int32)
        for b in range(1, self._n_bins):
            place = (b - 1) * self._n_features + j
            start, stop = self._members.indptr[place : place + 2]
            values[self._members.indices[start:stop]] = b
        return values, self._n_bins

    def information(
        self, values: NDArray[Any], n_values: int, wanted: NDArray[np.intp]
    ) -> FloatArray:
        """Mutual information of features with a variable; see `DenseBins.information`."""
        is_value = sparse.csr_array(
            (np.ones(len(values)), (np.arange(len(values)), values)), (len(values), n_values)
        )
        # options may be many: their table is made a block of values at a time
        of_values = np.bincount(values, self._weights, minlength=n_values)
        total = of_values.sum()
        joint = np.zeros(self._n_features)
        of_bins = np.zeros((self._n_bins - 1, self._n_features))
        step = max(1, _AT_ONCE // self._members.shape[0])
        for first in range(0, n_values, step):
            block = (self._members @ is_value[:, first : first + step].toarray()).reshape(
                self._n_bins - 1, self._n_features, -1
            )
            rest = np.maximum(of_values[first : first + step] - block.sum(axis=0), 0.0)
            joint += xlogy(block, block).sum(axis=(0, 2)) + xlogy(rest, rest).sum(axis=1)
            of_bins += block.sum(axis=2)
        rest = np.maximum(total - of_bins.sum(axis=0), 0.0)
        alone = xlogy(of_bins, of_bins).sum(axis=0) + xlogy(rest, rest)
        constant = xlogy(total, total) - xlogy(of_values, of_values).sum()
        return np.asarray(np.maximum((constant + joint - alone) / total, 0.0)[wanted])


BinnedRows = DenseBins | SparseBins


# ---------------------------------------------------------------------- making bins


def _moments(X: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of every feature, both of shape (n_features,)."""
    total = weights.sum()
    mean = np.asarray(X.T @ weights).ravel() / total
    if not sparse.issparse(X):
        return mean, np.sqrt(weights @ (X - mean) ** 2 / total)
    columns = sparse.csc_array(X)
    feature = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    own = weights[columns.indices]
    parts = own * (columns.data - mean[feature]) ** 2
    at_zero = np.maximum(total - np.bincount(feature, own, minlength=len(mean)), 0.0)
    power = np.bincount(feature, parts, minlength=len(mean)) + at_zero * mean**2
    return mean, np.sqrt(power / total)


def _quantiles(X: FloatArray, n_bins: int, weights: FloatArray) -> FloatArray:
    """Values of rows that cut the weight in equal parts, of shape (n_bins - 1, n_features)."""
    order = X.argsort(axis=0, kind="stable")
    below = weights[order].cumsum(axis=0) * (1.0 + 1e-12)
    shares = np.arange(1, n_bins) / n_bins * weights.sum()
    places = np.stack([(below < share).sum(axis=0) for share in shares])
    return np.take_along_axis(np.take_along_axis(X, order, axis=0), places, axis=0)


def _by_edges(X: FloatArray, edges: FloatArray) -> NDArray[np.uint8]:
    """Number of edges below each value, of shape (n_features, n_rows)."""
    codes = np.zeros(X.shape[::-1], dtype=np.uint8 if len(edges) < 256 else np.int32)
    for edge in edges:
        codes += (edge < X).T
    return codes


def _by_values(X: FloatArray, rounded: Bins) -> NDArray[np.int32]:
    """Place of each value among those of the feature, of shape (n_features, n_rows)."""
    codes = np.empty(X.shape[::-1], dtype=np.int32)
    for j, column in enumerate(X.T):
        values, codes[j] = np.unique(_round(column, rounded), return_inverse=True)
        if len(values) > _MOST_VALUES:
            raise PalmetteError(
                f"feature {j} has {len(values)} values, too many for bins={rounded!r}. Use "
                "bins='deviation' or a number of bins."
            )
    return codes


def _round(column: FloatArray, rounded: Bins) -> FloatArray:
    """Whole numbers, halves away from zero, if asked for."""
    return np.trunc(column + np.copysign(0.5, column)) if rounded == "round" else column


def _sparse_bins(X: Any, bins: Bins, edges: FloatArray | None, weights: FloatArray) -> SparseBins:
    """Bins of a CSR array; the bin of the value 0 is bin 0, and its rows are not stored."""
    columns = sparse.csc_array(X)
    n_rows, n_features = columns.shape
    feature = np.repeat(np.arange(n_features), np.diff(columns.indptr))
    if edges is None:
        codes = np.zeros(columns.nnz, dtype=np.int32)
        for j in range(n_features):
            cut = slice(columns.indptr[j], columns.indptr[j + 1])
            values = _round(columns.data[cut], bins)
            others = np.unique(values[values != 0.0])
            codes[cut] = np.where(values == 0.0, 0, np.searchsorted(others, values) + 1)
    else:
        raw = sum((edge[feature] < columns.data).astype(np.int32) for edge in edges)
        at_zero = sum((edge < 0.0).astype(np.int32) for edge in edges)[feature]
        # the bin of 0 comes first, the others keep their order
        codes = np.where(raw == at_zero, 0, np.where(raw < at_zero, raw + 1, raw))
    kept = codes > 0
    place = (codes[kept] - 1).astype(np.int64) * n_features + feature[kept]
    rows = columns.indices[kept]
    n_kinds = max(int(codes.max(initial=0)), 1)
    members = sparse.csr_array((weights[rows], (place, rows)), (n_kinds * n_features, n_rows))
    return SparseBins(members, n_features, weights)
