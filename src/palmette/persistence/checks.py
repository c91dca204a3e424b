"""Checks of arrays that come from a file, for the `check_arrays` methods of classes.

Kernels are compiled without bounds checks. A malicious file could contain a tree with indices out
of bounds, or with a cycle; a class whose arrays are passed to a kernel has a method
``check_arrays`` that raises ValueError for such arrays. `palmette.load` and the reader of
checkpoints call it on every object, wherever it is in the file, before anything uses the object.

Before that, an object must be what its class states: a dictionary ``in_files`` says of attributes
what they are and how their sizes fit together (see `Held`), and a data class has the types of its
fields.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, lru_cache
from types import MemberDescriptorType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette.exceptions import PalmetteError

__all__ = [
    "STATED",
    "Held",
    "array",
    "check_attributes",
    "check_object",
    "check_starts",
    "held",
    "integers",
    "is_stated",
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


# ---------------------------------------------------------------------- what classes state


@dataclass(frozen=True)
class Held:
    """What an attribute of a class is, wherever an object of the class is read from a file.

    A class states its attributes in a dictionary ``in_files``, by name, or by the path of an
    attribute of an attribute. An object that lacks one, or has another thing there, is refused; an
    estimator may lack all of them, since it may not be fitted.

    Parameters
    ----------
    kinds : tuple of types
    dtype : str
        Kinds of the dtype of an array or sparse matrix, such as ``"iu"``; "" for any.
    shape : tuple of int, str or None, optional
        Of an array or sparse matrix, or the length of a list. A text is the path of an attribute
        of the owner: a number, or something with a length. None is any length.
    below : int or str, optional
        Numbers are at least 0 and less than this.
    among : collection
        The values that it may have; empty for any.
    each : tuple of types
        Of the parts of a list or tuple, or of the values of a dictionary.
    same : str
        Path of an attribute of the owner that is the same object.
    or_none : bool
        Whether None is allowed, too.
    or_absent : bool
        Whether the attribute may be missing, as in files of earlier versions.
    """

    kinds: tuple[type, ...] = (object,)
    dtype: str = ""
    shape: tuple[int | str | None, ...] | None = None
    below: int | str | None = None
    among: Collection[Any] = ()
    each: tuple[type, ...] = ()
    same: str = ""
    or_none: bool = False
    or_absent: bool = False


def held(*kinds: type, **more: Any) -> Held:
    """State an attribute of some types; see `Held` for more."""
    return Held(kinds, **more)


def array(dtype: str = "", *shape: int | str | None, **more: Any) -> Held:
    """State an attribute that is an array; see `Held` for more."""
    return Held((np.ndarray,), dtype, shape or None, **more)


def check_object(made: Any) -> None:
    """Raise ValueError if an object from a file is not what its class states.

    Examples
    --------
    >>> class Box:
    ...     in_files = {"sizes": array("i", 2), "names": held(list, shape=("sizes",), each=(str,))}
    >>> box = Box()
    >>> box.sizes, box.names = np.array([3, 4]), ["a", 5]
    >>> check_object(box)
    Traceback (most recent call last):
      ...
    ValueError: Box.names has a part of type int: expected str
    """
    kind: Any = type(made)
    stated = _stated(kind)
    if not (isinstance(made, BaseEstimator) and stated.keys().isdisjoint(vars(made))):
        for path, one in stated.items():
            value = _at(made, path)
            if (value is _ABSENT and one.or_absent) or (value is None and one.or_none):
                continue
            wrong = "is missing" if value is _ABSENT else _wrong(value, one, made)
            if wrong:
                raise ValueError(f"{kind.__name__}.{path} {wrong}")
    if hasattr(kind, "check_arrays"):
        made.check_arrays()


@cache
def is_stated(kind: Any) -> bool:
    """Return whether there is anything to check of the objects of a class."""
    return bool(_stated(kind)) or hasattr(kind, "check_arrays")


_ABSENT = type("Nothing", (), {})()


def _wrong(value: Any, stated: Held, owner: Any) -> str | None:
    """Return what is wrong with an attribute, and what was expected; None if nothing is."""
    kinds: Any = stated.kinds
    if not isinstance(value, kinds):
        names = " or ".join(each.__name__ for each in stated.kinds)
        return f"is of type {type(value).__name__}: expected {names}"
    if stated.same and value is not _at(owner, stated.same):
        return f"is another object than {stated.same}"
    if stated.dtype and value.dtype.kind not in stated.dtype:
        return f"has the dtype {value.dtype}: expected one of the kinds {stated.dtype}"
    if stated.shape is not None:
        found = np.shape(value) if hasattr(value, "shape") else (len(value),)
        wanted = tuple(None if n is None else _number(owner, n) for n in stated.shape)
        fits = [n is None or n == size for n, size in zip(wanted, found, strict=False)]
        if len(found) != len(wanted) or not all(fits):
            return f"has the shape {found}: expected {wanted} (of {stated.shape})"
    if stated.among and value not in stated.among:
        return f"is {str(value)[:60]!r}: expected one of {', '.join(map(repr, stated.among))}"
    if stated.each:
        inside = value.values() if isinstance(value, dict) else value
        for each in inside:
            if not isinstance(each, stated.each):
                names = " or ".join(kind.__name__ for kind in stated.each)
                return f"has a part of type {type(each).__name__}: expected {names}"
    if stated.below is not None:
        limit = _number(owner, stated.below)
        if not np.all(within(np.asarray(value), limit)):
            return f"has a number that is not from 0 to {limit - 1:,} (below {stated.below})"
    return None


def _number(owner: Any, path: int | str) -> int:
    """Return a number, or the length of what is at a path."""
    found = _at(owner, path) if isinstance(path, str) else path
    return int(found) if isinstance(found, int | np.integer) else len(found)


def _at(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name, _ABSENT)
    return owner


@cache
def _stated(kind: type) -> dict[str, Held]:
    """Return what a class and its bases state by path; of a data class, what its fields are."""
    found = _of_fields(kind) if is_dataclass(kind) else {}
    for each in kind.__mro__[::-1]:
        found |= STATED.get(each, vars(each).get("in_files", {}))
    return found


# of classes in folders that cannot import this module
STATED: dict[type, dict[str, Held]] = {}


def _of_fields(kind: Any) -> dict[str, Held]:
    try:
        hints = get_type_hints(kind)
    except NameError:  # a type that is imported for type checkers only
        hints = {}
    found = {}
    for each in fields(kind):
        kinds = _types_of(hints.get(each.name, Any))
        absent = not inspect.ismemberdescriptor(vars(kind).get(each.name)) and hasattr(
            kind, each.name
        )
        found[each.name] = Held(
            tuple(k for k in kinds if k is not NoneType),
            or_none=NoneType in kinds,
            or_absent=absent,
        )
    return found


def _types_of(hint: Any) -> tuple[type, ...]:
    """Return the types that an annotation allows at run time."""
    found: list[type] = []
    for each in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        kind = get_origin(each) or each
        if kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
            return (object, NoneType)
        found += _AT_RUN_TIME.get(kind, (kind,))
    return tuple(found)


# numbers of numpy are where Python's are expected
_AT_RUN_TIME: dict[type, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
}
