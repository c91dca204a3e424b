"""ColumnScale: standardize the numeric columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, row_chunks
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import numbers, same_shapes

_SPARSE_SHARE = 0.1  # up to this proportion of nonzero values, sparse rows are faster
_DENSE_CELLS = 2**28  # sparse matrices of more cells (1 GiB) stay sparse
_CELLS_AT_ONCE = 2**22  # cells that are processed at a time in double precision
_NOISE = 10 * np.finfo(np.float64).eps  # relative deviation of a constant column by rounding


class ColumnScale:
    """Standardize numeric columns to mean 0 and standard deviation 1.

    Columns that contain only 0 and 1 are nominal and left unchanged. Columns of mostly zeros, such
    as word counts, are scaled but not centred. The result is sparse if most values are zero, else
    dense, whatever the form of the input, so that the form does not change the model; only sparse
    matrices too large to be made dense are never centred.

    Parameters
    ----------
    standardize : bool
        False: values are left unchanged.

    Attributes
    ----------
    mean_, scale_ : arrays of shape (n_features,)
    spread_ : array of shape (n_features,)
        Standard deviation of every column after scaling.
    keeps_zeros_ : bool
        Whether transformed rows are sparse.

    Examples
    --------
    >>> X = np.array([[10.0, 0.0], [30.0, 1.0]])
    >>> ColumnScale(True).fit(X).transform(X).tolist()
    [[-1.0, 0.0], [1.0, 1.0]]
    """

    def __init__(self, standardize: bool = True) -> None:
        self.standardize = standardize

    def fit(self, X: Any, weights: FloatArray | None = None) -> ColumnScale:
        """Compute means and standard deviations.

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
        """Return scaled rows in single precision: a C-contiguous array or a CSR array."""
        scaled = self._sparse_rows(X) if self.keeps_zeros_ else self._dense_rows(X)
        values = scaled.data if self.keeps_zeros_ else scaled
        if not np.isfinite(values).all():
            limit = f"{np.finfo(np.float32).max:.2g}"
            raise PalmetteError(
                "X contains values too large for single precision: expected absolute values of at "
                "most " + (f"{limit} after scaling." if self.standardize else f"{limit}.")
            )
        return scaled

    def transform_table(self, X: FloatArray) -> FloatArray:
        """Return the scaled rows of a dense table, dense and in double precision."""
        return np.asarray((X - self.mean_) / self.scale_)

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if hasattr(self, "scale_"):
            mean = numbers(self.mean_, np.float64, 1, "mean_")
            same_shapes(mean, numbers(self.scale_, np.float64, 1, "scale_"))

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


Moments = tuple[FloatArray, FloatArray, NDArray[np.bool_], FloatArray]


def _dense_moments(X: Any, weights: FloatArray) -> Moments:
    """Return means, standard deviations, which columns are nominal, and nonzero proportions."""
    n_rows, n_features = X.shape
    by_column = sparse.csc_array(X) if sparse.issparse(X) else None
    mean, deviation, filled = np.empty((3, n_features))
    nominal = np.empty(n_features, dtype=bool)
    for block in row_chunks(n_features, n_rows, at_once=_CELLS_AT_ONCE):
        # sparse columns are made dense, so that rounding does not depend on the form of X
        columns = X[:, block] if by_column is None else by_column[:, block].toarray()
        columns = np.ascontiguousarray(columns, dtype=np.float64)
        nominal[block] = ((columns == 0) | (columns == 1)).all(axis=0)
        filled[block] = weights @ (columns != 0)
        mean[block] = weights @ columns
        columns = columns - mean[block]
        deviation[block] = np.sqrt(weights @ np.square(columns, out=columns))
    return mean, deviation, nominal, filled


def _sparse_moments(X: Any, weights: FloatArray) -> Moments:
    """Return the same for sparse rows that stay sparse."""
    n_features, mean = X.shape[1], weights @ X
    of_row = np.repeat(weights, np.diff(X.indptr)) * (X.data != 0)
    filled = np.asarray(np.bincount(X.indices, of_row, minlength=n_features), dtype=np.float64)
    away = np.bincount(X.indices, of_row * (X.data - mean[X.indices]) ** 2, minlength=n_features)
    deviation = np.sqrt(away + np.maximum(1.0 - filled, 0.0) * mean**2)
    odd = X.indices[(X.data != 0) & (X.data != 1)]
    nominal = np.bincount(odd, minlength=n_features) == 0
    return mean, deviation, nominal, filled
