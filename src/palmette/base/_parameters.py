"""Checks of parameters that estimators of several methods have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from palmette.exceptions import PalmetteError

__all__ = [
    "check_branching",
    "check_classifier",
    "check_counts",
    "check_not_negative",
    "check_positive",
    "from_paper",
    "is_count",
    "is_number",
]


def is_number(value: Any) -> bool:
    """Return whether a parameter is a number, and no bool.

    Examples
    --------
    >>> [is_number(value) for value in (2, 0.5, "2", None, True)]
    [True, True, False, False, False]
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: Any, least: int = 1) -> bool:
    """Return whether a parameter is an integer of at least some value.

    Examples
    --------
    >>> [is_count(value) for value in (2, 0, 2.0, "2", True)]
    [True, False, False, False, False]
    """
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def check_branching(branching: Any, name: str = "branching") -> None:
    """Raise an error unless a group has two parts or more."""
    if not is_count(branching, 2):
        raise PalmetteError(f"{name}={branching!r}: expected an integer of at least 2.")


def check_positive(estimator: Any, *names: str, words: tuple[str, ...] = ()) -> None:
    """Raise an error for the first parameter that is neither a positive number nor a word."""
    for name in names:
        given = getattr(estimator, name)
        if isinstance(given, str) and given in words:
            continue
        if not (is_number(given) and given > 0):
            choice = "".join(f"{word!r} or " for word in words)
            raise PalmetteError(f"{name}={given!r}: expected {choice}a positive number.")


def check_not_negative(estimator: Any, *names: str) -> None:
    """Raise an error for the first parameter that is not a number of at least zero."""
    for name in names:
        given = getattr(estimator, name)
        if not (is_number(given) and given >= 0):
            raise PalmetteError(f"{name}={given!r}: expected a number of at least 0.")


def check_counts(estimator: Any, *names: str) -> None:
    """Raise an error for the first parameter that is not a positive integer."""
    for name in names:
        if not is_count(given := getattr(estimator, name)):
            raise PalmetteError(f"{name}={given!r}: expected a positive integer.")


def check_classifier(estimator: Any, name: str = "estimator") -> None:
    """Raise an error unless a parameter is an unfitted classifier that can be cloned, or None."""
    is_estimator = hasattr(estimator, "fit") and hasattr(estimator, "get_params")
    if estimator is not None and (inspect.isclass(estimator) or not is_estimator):
        what = (
            f"the class {estimator.__name__}"
            if inspect.isclass(estimator)
            else f"a {type(estimator).__name__}, {estimator!r}"
        )
        raise PalmetteError(
            f"{name} is {what}: expected a scikit-learn classifier, such as "
            "LogisticRegression(), or None for the default."
        )


_Init = TypeVar("_Init", bound=Callable[..., None])


def from_paper(**letters: str) -> Callable[[_Init], _Init]:
    """Let the error for a letter of the paper name the parameter that it stands for.

    Parameters
    ----------
    **letters
        Name of the parameter by the letter of the paper, as it would be written in Python.

    Returns
    -------
    callable
        Decorator of an ``__init__``; its signature stays as it is.

    Examples
    --------
    >>> class Model:
    ...     @from_paper(alpha="strength")
    ...     def __init__(self, strength=1.0):
    ...         self.strength = strength
    >>> Model(alpha=2.0)
    Traceback (most recent call last):
        ...
    TypeError: Model has no parameter 'alpha': the alpha of the paper is strength.
    """

    def decorate(init: _Init) -> _Init:
        @wraps(init)
        def checked(self: Any, *args: Any, **parameters: Any) -> None:
            for letter in letters.keys() & parameters.keys():
                raise TypeError(
                    f"{type(self).__name__} has no parameter {letter!r}: the {letter} of the paper "
                    f"is {letters[letter]}."
                )
            init(self, *args, **parameters)

        return cast(_Init, checked)

    return decorate
