"""Checks of arrays that come from a file, for the `check_arrays` methods of classes.

Kernels are compiled without bounds checks. A malicious file could contain a tree with indices out
of bounds, or with a cycle; a class whose arrays are passed to a kernel has a method
``check_arrays`` that raises ValueError for such arrays. `palmette.load` and the reader of
checkpoints call it on every object, wherever it is in the file, before anything uses the object.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from types import MemberDescriptorType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.exceptions import PalmetteError

__all__ = [
    "check_attributes",
    "check_starts",
    "integers",
    "numbers",
    "refused_unless_whole",
    "require",
    "same_shapes",
    "within",
]


def require(holds: Any, otherwise: str) -> None:
    """Raise ValueError with the given message unless a condition is true everywhere.

    Examples
    --------
    >>> require(np.array([1, 2]) > 0, "a number is negative")
    """
    if not np.all(holds):
        raise ValueError(otherwise)


@contextmanager
def refused_unless_whole(what: str) -> Iterator[None]:
    """Turn errors about parts that are missing or do not fit together into a PalmetteError."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise PalmetteError(
            f"{what} cannot be used ({error or type(error).__name__}). The file that it is from "
            "was changed: use another copy of it, or delete it to start over."
        ) from error


def numbers(value: Any, dtype: Any, ndim: int, what: str) -> NDArray[Any]:
    """Return an array after a check of its dtype, number of dimensions and order (C).

    An array that a kernel gets has exactly the dtype that a fit gives it.

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
    # for another order or alignment kernels would be compiled again
    require(value.flags.c_contiguous and value.flags.aligned, f"{what}: expected an array by rows")
    found: NDArray[Any] = value
    return found


def integers(value: Any, what: str, ndim: int = 1) -> NDArray[np.int64]:
    """Return integers of any width as int64, in which sums and differences do not wrap.

    Examples
    --------
    >>> np.diff(integers(np.array([0, 200, 100], dtype=np.uint8), "starts"))
    array([ 200, -100])
    """
    is_array = type(value) is np.ndarray and value.dtype.kind in "iu" and value.dtype.isnative
    require(is_array and value.ndim == ndim, f"{what}: expected integers with {ndim} dimension(s)")
    ends = [int(value.min()), int(value.max())] if value.size else []
    require(all(abs(end) < 2**62 for end in ends), f"{what}: an integer is too large")
    return np.asarray(value, dtype=np.int64)


def within(places: NDArray[Any], n: int) -> NDArray[np.bool_]:
    """Return which indices are at least 0 and less than `n`."""
    return np.asarray((places >= 0) & (places < int(n)))


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
    require(starts[1:] >= starts[:-1], f"{what}: a part ends before it starts")
    require(n_parts is None or len(starts) - 1 == n_parts, f"{what}: expected {n_parts} parts")
    require(n_all is None or starts[-1] == n_all, f"{what}: the last part does not end at {n_all}")
    sizes: NDArray[np.int64] = np.diff(starts)
    return sizes


# ---------------------------------------------------------------------- attributes


def check_attributes(kind: type, state: Any) -> None:
    """Raise an error for names that would hide a method or are special to Python."""
    if not isinstance(state, dict):
        raise ValueError(f"an object of {kind.__name__} has no dict of attributes")
    for name in state:
        if not _can_be_set(kind, name):
            raise ValueError(f"{kind.__name__} has no attribute {name[:60]!r} that can be set")


@lru_cache(maxsize=2**14)
def _can_be_set(kind: type, name: str) -> bool:
    of_class = inspect.getattr_static(kind, name, None)
    is_method = hasattr(of_class, "__get__") and not isinstance(of_class, MemberDescriptorType)
    is_dunder = name.startswith("__") and name.endswith("__")
    if not name.isidentifier() or is_dunder:
        return False
    return not is_method or name in _parameters_of(kind)


@cache
def _parameters_of(kind: type) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(kind).parameters)
    except (TypeError, ValueError):  # compiled classes may have no signature
        return frozenset()
