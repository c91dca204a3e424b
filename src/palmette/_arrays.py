"""Arrays: dtypes, seeds for estimators, and the selection of rows and columns of X.

Widths of dtypes are fixed: with platform integers, a model saved on one machine could be
unreadable or different on another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

NODE = np.int32
"""Number of a node, class or feature; -1 for none. The largest hierarchies have 1e5 to 1e6 nodes;
closures take half the memory of int64, and scipy's sparse matrices use int32 too."""

OFFSET = np.int64
"""Number of a row, and position in a concatenation. Rows times depth, or the entries of a sparse
matrix, can exceed 2**31."""

COUNT = np.float64
"""Counts, weights, sums and scatters. Sample weights make counts fractional, merging and
subtracting statistics loses digits, and float64 counts rows exactly up to 2**53."""

PROBABILITY = np.float64
"""Probabilities and scores. The probability of a path is a product over levels, and siblings must
sum to their parent within 1e-12; float32 is not precise enough for thousands of siblings."""

INDICATOR = np.int8
"""Entries of 0/1 label matrices that are multiplied or summed: a signed byte, since products of
bools saturate and differences of unsigned bytes wrap around."""

FLAG = np.bool_
"""Masks and the closure of a hierarchy, which only select."""

BIN = np.uint8
"""Codes of binned features: at most 255 bins and one for missing values in one byte, since reading
memory limits the speed of histograms."""

NodeArray: TypeAlias = NDArray[np.int32]
OffsetArray: TypeAlias = NDArray[np.int64]
CountArray: TypeAlias = NDArray[np.float64]
ProbabilityArray: TypeAlias = NDArray[np.float64]
IndicatorArray: TypeAlias = NDArray[np.int8]
FlagArray: TypeAlias = NDArray[np.bool_]
BinArray: TypeAlias = NDArray[np.uint8]

_Array = TypeVar("_Array", bound=NDArray[Any])


def seed_each(estimators: Sequence[Any], random_state: Any) -> None:
    """Give every estimator, and its parts that have one, a different random_state."""
    rng = check_random_state(random_state)
    for estimator in estimators:
        seeds = {
            name: int(rng.randint(np.iinfo(np.int32).max))
            for name in sorted(estimator.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        if seeds:
            estimator.set_params(**seeds)


_SPARSE_AT_ONCE = 2**22  # entries of a sparse matrix copied at once when selecting columns


def count_rows(X: Any) -> int:
    """Return the number of rows of an array, sparse matrix, table or list."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def take_rows(X: Any, rows: NDArray[np.integer[Any]] | slice) -> Any:
    """Return some rows of an array, CSR matrix, pandas, polars or pyarrow table, or list."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return X[rows] if isinstance(rows, slice) else [X[i] for i in rows.tolist()]
    if hasattr(X, "column_names") and not isinstance(rows, slice):
        return X.take(rows)  # pyarrow has no index arrays
    return X[rows]  # polars accepts slices and index arrays


def take_cells(
    X: Any, rows: NDArray[np.int32] | None = None, columns: NDArray[np.intp] | None = None
) -> Any:
    """Return some rows and columns of X, all if None, without copying others.

    Parameters
    ----------
    X : array, CSR matrix, or pandas, polars or pyarrow table of shape (n_samples, n_features)
        Without `columns`, anything that `take_rows` accepts.
    rows : int array of shape (n_rows,), optional
    columns : int array of shape (n_columns,), optional

    Returns
    -------
    X of shape (n_rows, n_columns)

    Examples
    --------
    >>> take_cells(np.arange(6).reshape(2, 3), np.array([1]), np.array([0, 2]))
    array([[3, 5]])
    """
    if columns is None:
        return X if rows is None else take_rows(X, rows)
    if sparse.issparse(X):
        return X[:, columns] if rows is None else _sparse_cells(X, rows, columns)
    if isinstance(X, np.ndarray):
        return X[:, columns] if rows is None else X[np.ix_(rows, columns)]
    if hasattr(X, "iloc"):
        chosen = X.iloc[:, columns]
    elif hasattr(X, "column_names"):
        chosen = X.select([X.column_names[j] for j in columns.tolist()])
    else:
        chosen = X[:, columns.tolist()]
    return chosen if rows is None else take_rows(chosen, rows)


def _sparse_cells(X: Any, rows: NDArray[np.int32], columns: NDArray[np.intp]) -> Any:
    """Select cells of a CSR matrix in blocks of rows, since scipy would copy whole rows first."""
    lengths = np.cumsum(np.diff(X.indptr)[rows])
    if not lengths.size or lengths[-1] <= _SPARSE_AT_ONCE:
        return X[rows][:, columns]
    bounds = np.searchsorted(lengths, np.arange(_SPARSE_AT_ONCE, lengths[-1], _SPARSE_AT_ONCE))
    blocks = [X[block][:, columns] for block in np.split(rows, np.unique(bounds)) if block.size]
    return sparse.vstack(blocks, format="csr")


def row_chunks(n_rows: int, numbers_per_row: int, at_once: int = 2**25) -> Iterator[slice]:
    """Yield slices of rows with about `at_once` numbers each, 256 MiB by default."""
    step = max(1, at_once // max(numbers_per_row, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def is_text(X: Any) -> bool:
    """Whether X has one text per row: a list, 1-D array or column of strings."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.size > 0 and isinstance(X[0], str)
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], str)
    if len(getattr(X, "shape", ())) == 1:  # a column of pandas or polars
        return len(X) > 0 and isinstance(next(iter(X)), str)
    return False


def read_only(array: _Array) -> _Array:
    """Return a read-only view of an array, for a kernel.

    numba compiles a kernel anew for arrays that are read-only, as memory maps, columns of pandas
    and arrays of model files may be. If all are passed as read-only, it is compiled once.

    Examples
    --------
    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view
