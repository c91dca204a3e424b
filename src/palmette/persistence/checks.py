"""Checks of arrays that come from a file, for the `check_arrays` methods of classes.

Kernels are compiled without bounds checks. A malicious file could contain a tree with indices out
of bounds, or with a cycle; a class whose arrays are passed to a kernel has a method
``check_arrays`` that raises ValueError for such arrays. `palmette.load` and the reader of
checkpoints call it on every object, wherever it is in the file, before anything uses the object.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_starts", "integers", "numbers", "require", "same_shapes", "within"]


def require(holds: Any, otherwise: str) -> None:
    """Raise ValueError with the given message unless a condition is true everywhere.

    Examples
    --------
    >>> require(np.array([1, 2]) > 0, "a number is negative")
    """
    if not np.all(holds):
        raise ValueError(otherwise)


def numbers(value: Any, dtype: Any, ndim: int, what: str) -> NDArray[Any]:
    """Return an array after a check of its dtype and number of dimensions.

    Parameters
    ----------
    value : object
        Any object from a file.
    dtype : dtype-like
    ndim : int
    what : str
        Name of the array, for the error.

    Examples
    --------
    >>> numbers([1.0], np.float64, 1, "values")
    Traceback (most recent call last):
      ...
    ValueError: values: expected an array of float64 with 1 dimension(s), got list
    """
    is_array = type(value) is np.ndarray
    if not is_array or value.dtype != np.dtype(dtype) or value.ndim != ndim:
        got = f"{value.dtype} with {value.ndim}" if is_array else type(value).__name__
        raise ValueError(
            f"{what}: expected an array of {np.dtype(dtype)} with {ndim} dimension(s), got {got}"
        )
    found: NDArray[Any] = value
    return found


def integers(value: Any, what: str, ndim: int = 1) -> NDArray[Any]:
    """Return an array after a check that it has native integers of any width."""
    is_array = type(value) is np.ndarray and value.dtype.kind in "iu" and value.dtype.isnative
    require(is_array and value.ndim == ndim, f"{what}: expected integers with {ndim} dimension(s)")
    found: NDArray[Any] = value
    return found


def within(places: NDArray[Any], n: int) -> NDArray[np.bool_]:
    """Return which indices are at least 0 and less than `n`."""
    return np.asarray((places >= 0) & (places < n))


def same_shapes(first: NDArray[Any], *others: NDArray[Any]) -> None:
    """Raise an error unless arrays have the same shape."""
    require(
        all(np.shape(each) == first.shape for each in others),
        "arrays that belong together have different shapes",
    )


def check_starts(
    starts: Any, n_parts: int | None, n_all: int | None, what: str = "starts"
) -> NDArray[np.int64]:
    """Raise an error unless consecutive parts cover an array.

    Parameters
    ----------
    starts : int array of shape (n_parts + 1,)
        Part ``i`` is at ``starts[i]:starts[i + 1]``.
    n_parts : int, optional
        Expected number of parts.
    n_all : int, optional
        Expected end of the last part.
    what : str
        Name of the array, for the error.

    Returns
    -------
    int64 array of shape (n_parts,)
        Sizes of the parts.

    Examples
    --------
    >>> check_starts(np.array([0, 2, 3]), 2, 3)
    array([2, 1])
    """
    starts = integers(starts, what)
    require(len(starts) > 0 and starts[0] == 0, f"{what}: the first part does not start at 0")
    # a comparison, since differences of unsigned numbers are never negative
    require(starts[1:] >= starts[:-1], f"{what}: a part ends before it starts")
    require(n_parts is None or len(starts) - 1 == n_parts, f"{what}: expected {n_parts} parts")
    require(n_all is None or starts[-1] == n_all, f"{what}: the last part does not end at {n_all}")
    sizes: NDArray[np.int64] = np.diff(starts).astype(np.int64)
    return sizes
