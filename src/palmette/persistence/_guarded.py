"""Estimators that were read from a file: parameters that it lacks, and errors of their parts.

A file that was changed may lack any part, or have one of another model. What compiled code uses is
checked when it is read, and so is what classes state (see `checks`); an error of numpy or Python in
whatever such an estimator does is one of Palmette that names the method and its cause. Estimators
that were not read from a file are not affected.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, wraps
from typing import Any, cast
from weakref import WeakSet

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from palmette.exceptions import PalmetteError
from palmette.persistence.names import is_of_palmette

_READ: WeakSet[Any] = WeakSet()
_FITS = ("fit", "partial_fit", "set_", "check_arrays")  # prefixes of what gives no answer
_SHOWN = ("__repr__", "_repr_html_", "_repr_html_inner", "_repr_mimebundle_")  # in notebooks
_SPECIAL = (*_SHOWN, "__sklearn_tags__", "__sklearn_clone__", "__getstate__")


def guard(estimator: BaseEstimator) -> None:
    """Make an estimator that is read from a file raise a PalmetteError if parts do not fit."""
    kind: Any = type(estimator)
    _guard_class(kind)
    _READ.add(estimator)


@cache
def _guard_class(kind: type) -> None:
    for name in dir(kind):
        if name.startswith(_FITS) or (name.startswith("_") and name not in _SPECIAL):
            continue
        owner = next(each for each in kind.__mro__ if name in vars(each))
        # what scikit-learn defines is replaced in our class only
        target = owner if is_of_palmette(owner) else kind
        method = vars(owner)[name]
        if owner is object or name in _GUARDED.setdefault(target, set()):
            continue
        _GUARDED[target].add(name)
        if inspect.isfunction(method):
            setattr(target, name, _guarded(method))
        elif isinstance(method, property) and method.fget is not None:
            setattr(target, name, method.getter(_guarded(method.fget, is_attribute=True)))
        elif isinstance(method, cached_property):
            method.func = _guarded(method.func, is_attribute=True)
        elif hasattr(method, "fn"):  # made by `available_if`
            method.fn = _guarded(method.fn)


_GUARDED: dict[type, set[str]] = {}


def _guarded(method: Callable[..., Any], is_attribute: bool = False) -> Any:
    """Return a method that raises errors of its estimator's file as such."""
    if inspect.isgeneratorfunction(method):

        @wraps(method)
        def stages(self: Any, *args: Any, **settings: Any) -> Iterator[Any]:
            with of_a_file(self, method.__name__, is_attribute):
                yield from method(self, *args, **settings)

        return stages

    @wraps(method)
    def answer(self: Any, *args: Any, **settings: Any) -> Any:
        with of_a_file(self, method.__name__, is_attribute):
            return method(self, *args, **settings)

    return answer


class _LacksError(PalmetteError, AttributeError):
    """A file lacks what an attribute is made of."""


@contextmanager
def of_a_file(estimator: Any, doing: str, is_attribute: bool = False) -> Iterator[None]:
    """Turn errors of an estimator that was read from a file into a PalmetteError.

    Parameters
    ----------
    estimator : object
        Errors of one that was not read from a file are left as they are.
    doing : str
        What it does, for the error.
    is_attribute : bool, default=False
        Whether it gives an attribute: an error by which it says that there is none is left as it
        is, and every other one is an AttributeError too, so that `hasattr` answers.
    """
    try:
        yield
    except (PalmetteError, NotFittedError, MemoryError, Warning):
        raise
    except Exception as error:
        was_read = isinstance(estimator, BaseEstimator) and estimator in _READ
        says_none = is_attribute and isinstance(error, AttributeError) and error.name is None
        if not was_read or says_none or _is_of_the_rows(error):
            raise
        lacks = is_attribute and isinstance(error, AttributeError)
        raise (_LacksError if lacks else PalmetteError)(
            f"{type(estimator).__name__}: {doing} failed ({type(error).__name__}: "
            f"{str(error)[:300]}). The model was loaded from a file: if X is like the rows of its "
            "fit, the file was changed, or is from another version of a library (see "
            "palmette.persistence.inspect). Use another copy of it, or fit the model again."
        ) from error


def _is_of_the_rows(error: Exception) -> bool:
    """Return whether scikit-learn refused X."""
    frames = traceback.extract_tb(error.__traceback__)
    at_reading = any(each.name == "_read_rows" for each in frames)
    last = frames[-1]
    is_refusal = last.filename.endswith("validation.py") and (last.line or "").startswith("raise")
    return at_reading and is_refusal


# ---------------------------------------------------------------------- parameters


def add_new_parameters(estimator: BaseEstimator) -> None:
    """Give an estimator the parameters that its file lacks, such as one of an earlier version.

    Raises
    ------
    ValueError
        If a parameter without a default is missing.
    """
    known, kind = vars(estimator), cast(Any, type(estimator))
    for name, default in _parameters(kind).items():
        if name not in known:
            if default is inspect.Parameter.empty:
                raise ValueError(f"{kind.__name__} has no {name}")
            object.__setattr__(estimator, name, default)


@cache
def _parameters(kind: type) -> dict[str, Any]:
    """Return the defaults of parameters, those in the class for files that do not know them."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = {}
    for name, each in inspect.signature(kind).parameters.items():
        if each.kind not in variable:
            of_class = inspect.getattr_static(kind, name, each.default)
            found[name] = each.default if hasattr(of_class, "__get__") else of_class
    return found
