"""Shortcuts through other libraries, with the same answers, for a run of many small tests.

scikit-learn asks of every array whether it is a data frame of any library, and reads the signature
of an estimator whenever it is cloned or checked: together a tenth of the time of small fits. numba
compares all options of a compilation at every call that it compiles. Nothing is changed where a
later version of a library has no such function.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

__all__ = ["shorten_checks", "shorten_compilation"]


def shorten_checks() -> None:
    """Answer at once that an array is no data frame, and what the parameters of a class are."""
    import numpy as np
    from scipy import sparse
    from sklearn.base import BaseEstimator

    arrays = frozenset({np.ndarray, sparse.csr_array, sparse.csr_matrix, list, type(None)})

    def answered(asks: Callable[[Any], bool]) -> Callable[[Any], bool]:
        return lambda value: type(value) not in arrays and asks(value)

    with suppress(ImportError, AttributeError):
        from narwhals.stable.v2 import dependencies

        dependencies.is_into_dataframe = answered(dependencies.is_into_dataframe)
        dependencies.is_into_series = answered(dependencies.is_into_series)

    with suppress(AttributeError):
        names_of = cache(BaseEstimator._get_param_names.__func__)  # of a class
        BaseEstimator._get_param_names = classmethod(lambda kind: list(names_of(kind)))


def shorten_compilation() -> None:
    """Compare the options that are set, before all of them."""
    with suppress(ImportError, AttributeError):
        from numba.core.targetconfig import TargetConfig

        are_equal = TargetConfig.__eq__
        hash_of = cache(lambda kind: hash(tuple(sorted(kind.options))))

        def equal(self: Any, other: Any) -> Any:
            is_same = type(self) is type(other) and self._values == other._values
            return is_same or are_equal(self, other)

        if hash(TargetConfig()) == hash_of(TargetConfig):  # it depends on the names only
            TargetConfig.__eq__ = equal
            TargetConfig.__hash__ = lambda self: hash_of(type(self))
