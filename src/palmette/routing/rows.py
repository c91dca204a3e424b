"""Rows as flat arrays, the same for dense and sparse matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["FlatRows"]


class FlatRows(NamedTuple):
    """Rows of a matrix as the kernels read them; nothing is copied where X is CSR or C-ordered.

    Row ``i`` has ``lengths[i]`` entries: ``values[value_starts[i]:]`` in the columns
    ``columns[column_starts[i]:]``. Rows of a dense matrix share their columns.

    Examples
    --------
    >>> rows = FlatRows.of(np.eye(2))
    >>> rows.columns.tolist(), rows.column_starts.tolist(), rows.value_starts.tolist()
    ([0, 1], [0, 0], [0, 2])
    """

    values: NDArray[np.float64]
    value_starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    columns: NDArray[np.int32]
    column_starts: NDArray[np.int64]
    n_features: int

    @classmethod
    def of(cls, X: Any) -> FlatRows:
        """Read an array or sparse matrix of shape (n_samples, n_features)."""
        if sparse.issparse(X):
            X = X.tocsr()
            starts = X.indptr.astype(np.int64, copy=False)
            values = X.data.astype(np.float64, copy=False)
            columns = X.indices.astype(np.int32, copy=False)
            return cls(values, starts[:-1], np.diff(starts), columns, starts[:-1], X.shape[1])
        X = np.ascontiguousarray(X, dtype=np.float64)
        n_samples, n_features = X.shape
        return cls(
            X.ravel(),
            np.arange(n_samples, dtype=np.int64) * n_features,
            np.full(n_samples, n_features, dtype=np.int64),
            np.arange(n_features, dtype=np.int32),
            np.zeros(n_samples, dtype=np.int64),
            n_features,
        )

    @property
    def is_dense(self) -> bool:
        """Whether all rows share their columns, which are all features in order."""
        return len(self.columns) == self.n_features and not self.column_starts.any()

    def __len__(self) -> int:
        return len(self.lengths)
