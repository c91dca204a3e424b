"""Checks of the parameters that boosted classifiers share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from palmette.exceptions import PalmetteError

__all__ = ["check_boosting", "check_choice"]


def check_boosting(estimator: Any, optional: tuple[str, ...] = ()) -> None:
    """Refuse numbers that cannot be, naming the parameter and what was expected.

    Parameters named in `optional` may be None.
    """
    params = estimator.get_params(deep=False)
    checks = [
        ("n_estimators", _is_count, "a positive integer"),
        ("learning_rate", lambda v: _is_number(v) and v > 0, "a positive number"),
        ("subsample", lambda v: _is_number(v) and 0 < v <= 1, "a share above 0 and up to 1"),
        ("weight_trim", lambda v: _is_number(v) and 0 <= v < 1, "a share from 0 and below 1"),
        ("n_iter_no_change", lambda v: v is None or _is_count(v), "a positive integer or None"),
        (
            "validation_fraction",
            lambda v: _is_number(v) and 0 < v < 1,
            "a share above 0 and below 1",
        ),
        ("tol", lambda v: _is_number(v) and v >= 0, "a number of at least 0"),
    ]
    for name, fine, wanted in checks:
        if name not in params or (name in optional and params[name] is None):
            continue
        if not fine(params[name]):
            raise PalmetteError(f"{name}={params[name]!r}: expected {wanted}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a name that is none of some."""
    if value not in choices:
        wanted = ", ".join(repr(choice) for choice in choices)
        raise PalmetteError(f"{name}={value!r}: expected one of {wanted}.")


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
