"""Choose and count rows of whatever scikit-learn takes as X."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["count_rows", "is_text", "row_chunks", "take_rows"]


def count_rows(X: Any) -> int:
    """Return the number of rows of an array, sparse matrix, table or list."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def take_rows(X: Any, rows: NDArray[np.int32] | slice) -> Any:
    """Return some rows of an array, CSR matrix, pandas, polars or pyarrow table, or list."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return X[rows] if isinstance(rows, slice) else [X[i] for i in rows.tolist()]
    if hasattr(X, "column_names") and not isinstance(rows, slice):
        return X.take(rows)  # pyarrow has no index arrays
    return X[rows]  # polars takes slices and index arrays alike


def row_chunks(n_rows: int, numbers_a_row: int, at_once: int = 2**25) -> Iterator[slice]:
    """Slices of rows such that one holds about `at_once` numbers, 256 MiB by default."""
    step = max(1, at_once // max(numbers_a_row, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def is_text(X: Any) -> bool:
    """Whether X is a sequence of texts, one a row: a list, 1-D array or column of strings."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.size > 0 and isinstance(X[0], str)
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], str)
    if len(getattr(X, "shape", ())) == 1:  # a column of pandas or polars
        return len(X) > 0 and isinstance(next(iter(X)), str)
    return False
