"""Columns of one scale, in single precision: what oblique splits are found on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import row_chunks
from palmette.exceptions import PalmetteError

__all__ = ["ColumnScale", "DistinctRows", "distinct_rows"]


_SPARSE_SHARE = 0.1  # of cells other than zero, up to which sparse rows are the quicker ones
_DENSE_CELLS = 2**28  # sparse rows of more cells (1 GiB) stay sparse whatever they hold
_CELLS_AT_ONCE = 2**22  # that are computed with in double precision
_NOISE = 10 * np.finfo(np.float64).eps  # spread of a constant column, beside its size


class ColumnScale:
    """Take the mean from numeric columns and divide them by their standard deviation.

    Columns that hold nothing but 0 and 1 are nominal and stay as they are. Columns of mostly zeros,
    such as counts of words, keep their zeros: they are only divided. Rows that are mostly zeros
    come back sparse, others dense, in whatever form they came, so that the form changes nothing;
    only sparse rows too many to be made dense keep all zeros.

    Parameters
    ----------
    standardize : bool
        False: values stay as they are.

    Attributes
    ----------
    mean_, scale_ : arrays of shape (n_features,)
    spread_ : array of shape (n_features,)
        Standard deviation of every column after scaling.
    keeps_zeros_ : bool
        Whether rows come back sparse.

    Examples
    --------
    >>> X = np.array([[10.0, 0.0], [30.0, 1.0]])
    >>> ColumnScale(True).fit(X).transform(X).tolist()
    [[-1.0, 0.0], [1.0, 1.0]]
    """

    def __init__(self, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, X: Any, weights: NDArray[np.float64] | None = None) -> ColumnScale:
        """Learn means and deviations.

        Parameters
        ----------
        X : float array or CSR matrix of shape (n_samples, n_features)
        weights : array of shape (n_samples,), optional
        """
        n_rows, n_features = X.shape
        weights = np.ones(n_rows) if weights is None else weights
        weights = weights / weights.sum()
        is_huge = bool(sparse.issparse(X) and n_rows * n_features > _DENSE_CELLS)
        moments = _sparse_moments if is_huge else _dense_moments
        mean, deviation, nominal, filled = moments(X, weights)
        constant = deviation <= _NOISE * np.abs(mean)
        centred = np.zeros(n_features, dtype=bool)
        self.scale_ = np.ones(n_features)
        if self.standardize:
            centred = ~nominal & (filled > 0.5) & (not is_huge)
            self.scale_ = np.where(nominal | constant, 1.0, deviation)
        self.mean_ = np.where(centred, mean, 0.0)
        self.spread_ = np.where(constant, 0.0, deviation) / self.scale_
        is_thin = float(filled.mean()) <= _SPARSE_SHARE and not centred.any()
        self.keeps_zeros_ = is_huge or is_thin
        return self

    def transform(self, X: Any) -> Any:
        """Return the rows scaled, in single precision: a C-contiguous array or a CSR array."""
        scaled = self._sparse_rows(X) if self.keeps_zeros_ else self._dense_rows(X)
        values = scaled.data if self.keeps_zeros_ else scaled
        if not np.isfinite(values).all():
            limit = f"{np.finfo(np.float32).max:.2g}"
            raise PalmetteError(
                "X holds numbers too large for single precision: expected a size of at most "
                + (f"{limit} after scaling." if self.standardize else f"{limit}.")
            )
        return scaled

    def _dense_rows(self, X: Any) -> NDArray[np.float32]:
        scaled = np.empty(X.shape, dtype=np.float32)
        n_rows, n_features = X.shape
        for chunk in row_chunks(n_rows, n_features, at_once=_CELLS_AT_ONCE):
            part = X[chunk].toarray() if sparse.issparse(X) else X[chunk]
            with np.errstate(over="ignore"):
                scaled[chunk] = (part - self.mean_) / self.scale_
        return scaled

    def _sparse_rows(self, X: Any) -> sparse.csr_array:
        X = sparse.csr_array(X)
        with np.errstate(over="ignore"):
            data = (X.data / self.scale_[X.indices]).astype(np.float32)
        scaled = sparse.csr_array((data, X.indices, X.indptr), shape=X.shape, copy=True)
        scaled.sum_duplicates()
        return scaled


Moments = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]


def _dense_moments(X: Any, weights: NDArray[np.float64]) -> Moments:
    """Means, deviations, which columns are nominal, shares of rows that are not zero there."""
    n_rows, n_features = X.shape
    by_column = sparse.csc_array(X) if sparse.issparse(X) else None
    mean, deviation, filled = np.empty((3, n_features))
    nominal = np.empty(n_features, dtype=bool)
    for block in row_chunks(n_features, n_rows, at_once=_CELLS_AT_ONCE):
        # sparse columns and dense ones are summed up alike, so that rounding is the same
        columns = X[:, block] if by_column is None else by_column[:, block].toarray()
        columns = np.ascontiguousarray(columns, dtype=np.float64)
        nominal[block] = ((columns == 0) | (columns == 1)).all(axis=0)
        filled[block] = weights @ (columns != 0)
        mean[block] = weights @ columns
        columns = columns - mean[block]
        deviation[block] = np.sqrt(weights @ np.square(columns, out=columns))
    return mean, deviation, nominal, filled


def _sparse_moments(X: Any, weights: NDArray[np.float64]) -> Moments:
    """Return the same of sparse rows that stay so."""
    n_features, mean = X.shape[1], weights @ X
    of_row = np.repeat(weights, np.diff(X.indptr)) * (X.data != 0)
    filled = np.asarray(np.bincount(X.indices, of_row, minlength=n_features), dtype=np.float64)
    away = np.bincount(X.indices, of_row * (X.data - mean[X.indices]) ** 2, minlength=n_features)
    deviation = np.sqrt(away + np.maximum(1.0 - filled, 0.0) * mean**2)
    odd = X.indices[(X.data != 0) & (X.data != 1)]
    nominal = np.bincount(odd, minlength=n_features) == 0
    return mean, deviation, nominal, filled


_SEED = 0x5EED_0F_40_35  # of the coefficients below: any will do, as long as it stays the same
_MOST_COPIES = 32  # of a row: what is drawn from more of them, in shares, is much the same


class DistinctRows(NamedTuple):
    """Rows that differ, and how often each of them is there."""

    first: NDArray[np.intp]  # (n_distinct,) a row of each kind
    kind: NDArray[np.intp]  # (n_samples,) place in `first` of the row that equals each row
    copies: NDArray[np.int64]  # (n_distinct,)
    unit: NDArray[np.float64]  # (n_distinct,) weight of one copy


def distinct_rows(X: Any, Y: sparse.csr_array, weights: NDArray[np.float64] | None) -> DistinctRows:
    """Merge rows that are equal in features and labels.

    The order of the distinct rows depends on their values alone. What is drawn from copies by their
    place in it is therefore the same in whatever order the rows come, and a weight of k is the same
    as k copies. Weights that are on average below one are scaled up to it.

    Parameters
    ----------
    X : float array or CSR matrix of shape (n_samples, n_features)
    Y : sparse bool array of shape (n_samples, n_columns)
    weights : array of shape (n_samples,), optional
        All positive; a weight that is no integer is that of the nearest number of copies, as is one
        of very many copies.

    Returns
    -------
    DistinctRows

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [1.0]])
    >>> Y = sparse.csr_array(np.array([[True], [False], [True]]))
    >>> rows = distinct_rows(X, Y, np.array([1.0, 5.0, 2.0]))
    >>> sorted(zip(X[rows.first, 0].tolist(), rows.copies.tolist()))
    [(1.0, 3), (2.0, 5)]
    """
    _, first, kind = np.unique(_keys(X, Y), return_index=True, return_inverse=True)
    total = np.bincount(kind, weights, minlength=len(first)).astype(np.float64)
    if weights is not None:
        total /= min(1.0, float(np.mean(weights)))
    copies = np.clip(np.rint(total), 1, _MOST_COPIES)
    return DistinctRows(first, kind, copies.astype(np.int64), total / copies)


def _keys(X: Any, Y: sparse.csr_array) -> NDArray[np.uint64]:
    """Keys of rows, of 64 bits: multilinear hashes, so that no pattern in the data makes them meet.

    Numbers count as two halves of 32 bits, and zeros for nothing, whether they are stored or not.
    """
    rng = np.random.default_rng(_SEED)
    n_features = X.shape[1]
    high, low = rng.integers(0, 2**64, (2, n_features, 2), dtype=np.uint64)
    of_labels = rng.integers(0, 2**64, (Y.shape[1], 2), dtype=np.uint64)
    sums = Y.astype(np.uint64) @ of_labels
    for chunk in row_chunks(X.shape[0], 4 * n_features):
        part = X[chunk]
        if sparse.issparse(part):
            upper, lower = _halves(part.data)
            for half, coefficients in ((upper, high), (lower, low)):
                bits = sparse.csr_array((half, part.indices, part.indptr), shape=part.shape)
                sums[chunk] += bits @ coefficients
        else:
            upper, lower = _halves(part)
            sums[chunk] += upper @ high + lower @ low
    shift, mask = np.uint64(32), np.uint64(0xFFFFFFFF00000000)
    return np.asarray((sums[:, 0] & mask) | (sums[:, 1] >> shift))


def _halves(values: NDArray[np.floating]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # minus zero is zero
    return bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)
