"""Arrays: dtypes, seeds for estimators, reading X, and the selection of its rows and columns.

Widths of dtypes are fixed: with platform integers, a model saved on one machine could be
unreadable or different on another. scikit-learn is imported where it is used: it imports pandas,
which hierarchies and labels do without."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._text import caller_level
from palmette.exceptions import PalmetteError

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

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int32]
NodeArray: TypeAlias = NDArray[np.int32]
OffsetArray: TypeAlias = NDArray[np.int64]
CountArray: TypeAlias = NDArray[np.float64]
BinArray: TypeAlias = NDArray[np.uint8]

_Array = TypeVar("_Array", bound=NDArray[Any])

# floats and dates that differ from themselves are missing: NaN and NaT
_MAY_BE_NAN = (float, complex, Decimal, np.inexact, np.datetime64, np.timedelta64)
_MISSING_TYPES = {"NAType", "NaTType", "MaskedConstant"}  # names of types of pandas and numpy


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, NA or masked. Any object may be asked.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), np.datetime64("NaT"), "", [None])]
    [True, True, True, False, False]
    """
    if value is None or isinstance(value, str):
        return value is None
    if isinstance(value, _MAY_BE_NAN):
        return bool(value != value)
    return type(value).__name__ in _MISSING_TYPES


def seed_each(estimators: Sequence[Any], random_state: Any) -> None:
    """Give every estimator, and its parts that have one, a different random_state."""
    from sklearn.utils import check_random_state

    rng = check_random_state(random_state)
    for estimator in estimators:
        seeds = {
            name: int(rng.randint(np.iinfo(np.int32).max))
            for name in sorted(estimator.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        if seeds:
            estimator.set_params(**seeds)


# ---------------------------------------------------------------------- reading X


_GIB = 2**30
_UNKNOWN_MEMORY = 8.0 * _GIB


def in_memory(value: Any, *, tell: bool = False) -> Any:
    """Return a Dask array or DataFrame as an ordinary one, and anything else unchanged.

    One that is larger than the free memory is an error. The size of a DataFrame is estimated by
    that of its first partition.

    Parameters
    ----------
    value : object
    tell : bool
        Whether a warning says what is gathered, as it should of X.
    """
    if not hasattr(value, "__dask_graph__"):
        return value
    size, free = _size_of(value), free_memory()
    if size > free:
        raise PalmetteError(
            f"a Dask collection of {size / _GIB:.3g} GiB must be gathered in the memory of this "
            f"process, of which {free / _GIB:.3g} GiB are free: expected less. "
            "HierarchicalBoostingClassifier(client=...) leaves rows on the workers, partial_fit of "
            "other models takes one part after another, and palmette fit reads files in chunks."
        )
    if tell:
        warnings.warn(
            f"X is a Dask collection{_shown_size(size)}: all of it is gathered in the memory of "
            "this process. HierarchicalBoostingClassifier(client=...) leaves rows on the workers.",
            stacklevel=caller_level(),
        )
    return value.compute()


def _shown_size(size: float) -> str:
    """Return bytes in the words of a message, nothing if they are unknown.

    Examples
    --------
    >>> _shown_size(3 * 2**20), _shown_size(0.0)
    (' of 3 MiB', '')
    """
    if not size:
        return ""
    unit, name = (_GIB, "GiB") if size >= _GIB else (2**20, "MiB")
    return f" of {size / unit:.3g} {name}"


def _size_of(lazy: Any) -> float:
    """Return the bytes of a Dask collection, 0 if they are unknown."""
    if not hasattr(lazy, "_meta"):  # a delayed call, which seems to have every attribute
        return 0.0
    if hasattr(lazy, "npartitions") and hasattr(lazy, "memory_usage"):
        used = lazy.partitions[0].memory_usage(deep=True)
        return float(lazy.npartitions * np.sum(used.compute()))
    return float(np.nan_to_num(getattr(lazy, "nbytes", 0.0)))


def free_memory() -> float:
    """Return the bytes that this process could still use, as far as the system tells."""
    free = _UNKNOWN_MEMORY
    with suppress(OSError, ValueError, AttributeError, KeyError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        facts = dict(line.split(":", 1) for line in lines)
        free = int(facts["MemAvailable"].split()[0]) * 1024.0
    if free == _UNKNOWN_MEMORY:
        with suppress(OSError, ValueError, AttributeError):
            free = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):  # a container may allow less
        group = Path("/sys/fs/cgroup")
        used = int((group / "memory.current").read_text())
        free = min(free, int((group / "memory.max").read_text()) - used)
    return max(free, _GIB / 4)


_LARGEST, _SMALLEST = 1e100, 1e-150  # squares, and sums of them, are finite and above zero
_LARGEST_SINGLE = 1e37  # sums of two values are finite in single precision


def read_rows(
    X: Any,
    estimator: Any = None,
    *,
    named: Any = None,
    reset: bool = True,
    any_scale: bool = False,
    **options: Any,
) -> Any:
    """Check X as scikit-learn does, with sparse rows made canonical; all estimators read it here.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        It is never changed.
    estimator : estimator, optional
        Its number and names of features are set or compared; None only checks the array.
    named : estimator or str, optional
        Estimator, or name of a function, that the error about texts names, if not `estimator`.
    reset : bool
        Whether X has the rows of a fit.
    any_scale : bool
        Whether values may be so large that their squares overflow, or so small that they vanish.
    **options
        Of `check_array`.

    Returns
    -------
    array or CSR matrix of shape (n_samples, n_features)
    """
    from sklearn.utils.validation import check_array, validate_data

    X, options = canonical_rows(in_memory(X, tell=True)), {"accept_sparse": "csr", **options}
    try:
        if estimator is None:
            rows = check_array(X, **options)
        else:
            rows = validate_data(estimator, X, reset=reset, **options)
    except ValueError as error:
        if not any(words in str(error) for words in _OF_TEXTS):
            raise
        raise texts_error(named or estimator) from error
    if not any_scale:
        _check_scale(rows, _SMALLEST if reset else 0.0, _LARGEST)
    return rows


# what numpy and scikit-learn say of cells that are no numbers
_OF_TEXTS = ("could not convert string to float", "bytes/strings")


def texts_error(named: Any) -> PalmetteError:
    """Return the error of an estimator, or a function by name, that was given texts as X."""
    who = named if isinstance(named, str) else type(named).__name__
    return PalmetteError(
        f"{who} accepts numbers only, but X contains texts or categories. Encode them first, for "
        "example with skrub.TableVectorizer or TfidfVectorizer."
    )


def check_single_precision(X: Any) -> None:
    """Raise an error if values of an array or sparse matrix are too large for float32."""
    _check_scale(X, 0.0, _LARGEST_SINGLE)


def _check_scale(X: Any, smallest: float, largest: float) -> None:
    """Raise an error unless the largest absolute value is 0 or within the bounds."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    low, high = np.fmin.reduce(values, None, initial=0), np.fmax.reduce(values, None, initial=0)
    found = max(float(high), -float(low))  # missing values aside
    if found > largest or 0.0 < found < smallest:
        bound = f"at most {largest:g}" if found > largest else f"some of at least {smallest:g}"
        raise PalmetteError(
            f"the largest absolute value of X is {found:.3g}: expected {bound}, since squares and "
            "sums of such values overflow or vanish. Change the unit of the features, for example "
            "to X / abs(X).max(), and remove numbers that stand for missing values."
        )


def check_indices(matrix: Any) -> None:
    """Raise ValueError if an index of a CSR, CSC or BSR matrix is out of bounds.

    scipy looks at no index if the last pointer is negative.
    """
    pointers = matrix.indptr
    if len(pointers) and (pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any()):
        raise ValueError("pointers of a sparse matrix do not rise from zero")
    matrix.check_format(full_check=True)


def canonical_rows(X: Any) -> Any:
    """Return sparse rows as CSR, without duplicates and zeros, with sorted 32-bit indices.

    Values of one cell are summed, as ``X.toarray()`` does. The order is checked, whatever the
    matrix says about it. The given matrix is never changed, and not copied if it is canonical.
    Indices that need 64 bits keep them. Anything but a sparse matrix is returned unchanged.

    Examples
    --------
    >>> rows = sparse.csr_array(([1.0, 0.0, 2.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    >>> canonical_rows(rows).indices.tolist(), canonical_rows(rows).data.tolist()
    ([1], [3.0])
    """
    if not sparse.issparse(X) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return X
    given = X if X.format in ("csr", "csc") else X.asformat("csr")
    forms = (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array)
    kind = forms[2 * (given.format == "csc") + isinstance(X, sparse.sparray)]
    try:
        view = kind((given.data, given.indices, given.indptr), shape=X.shape)  # without its flags
        check_indices(view)
    except ValueError as error:
        raise PalmetteError(
            f"X is not a valid sparse matrix: {error}. Expected indices of cells within its shape "
            f"{X.shape}; build it again, for example from coordinates."
        ) from None
    rows, is_own = view.tocsr(), X.format != "csr"
    if not rows.has_canonical_format:
        rows, is_own = rows if is_own else rows.copy(), True
        rows.sum_duplicates()
    if np.count_nonzero(rows.data) < rows.nnz:
        rows = rows if is_own else rows.copy()
        rows.eliminate_zeros()
    return short_indices(rows)


def short_indices(X: Any) -> Any:
    """Return a CSR or CSC matrix with 32-bit indices, which many solvers need, if they fit."""
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    places = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)((X.data, *places), shape=X.shape)


# ---------------------------------------------------------------------- rows and columns

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
    """Return some rows and columns of X, all if None, without copying others: (n_rows, n_columns).

    Parameters
    ----------
    X : array, CSR matrix, or pandas, polars or pyarrow table of shape (n_samples, n_features)
        Without `columns`, anything that `take_rows` accepts.
    rows : int array of shape (n_rows,), optional
    columns : int array of shape (n_columns,), optional

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


def joined(parts: list[Any]) -> Any:
    """Return the labels of parts of the rows as those of all rows.

    Examples
    --------
    >>> joined([[("a",)], [("b",), ("c",)]])
    [('a',), ('b',), ('c',)]
    >>> joined([np.array(["x"]), np.array(["yes"])]).tolist()
    ['x', 'yes']
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return list(chain.from_iterable(parts))


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

    numba compiles a kernel again for arrays that are read-only, as memory maps, columns of pandas
    and arrays of model files may be. If all are passed as read-only, it is compiled once.

    Examples
    --------
    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view
