"""Fitted models that laws share: a model is fitted once per problem, not once per law."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

from joblib import parallel_config
from sklearn.base import BaseEstimator, clone

import palmette
from palmette.base import _classifier as classifier

__all__ = [
    "fit_once",
    "fit_to_change",
    "in_chunks",
    "one_of",
    "some_of",
    "two_jobs",
    "with_hierarchy",
]

_KEPT = 24  # laws of one estimator follow each other, so that few models are worth keeping
# each starts its jobs in code of its own; the others share it, or have threads anyway
_IN_PROCESSES = {
    "CalibratedHierarchicalClassifier",
    "ConformalHierarchicalClassifier",
    "LocalPerNodeClassifier",
    "LocalPerParentClassifier",
    "ThresholdedMultilabel",
}

_models: OrderedDict[bytes, BaseEstimator] = OrderedDict()


def fit_once(estimator: BaseEstimator, X: Any, y: Any, **parameters: Any) -> BaseEstimator:
    """Fit a copy of an estimator, or return the one that another law fitted to the same data.

    Other laws see the same object: a law that changes it takes `fit_to_change`.

    Parameters
    ----------
    estimator : BaseEstimator
        It stays unfitted.
    X, y : rows and labels
    **parameters
        Of the estimator, in place of those it has.

    Returns
    -------
    BaseEstimator
        Fitted.
    """
    if "hierarchy" in parameters:
        estimator = with_hierarchy(estimator, parameters.pop("hierarchy"))
    model = clone(estimator).set_params(**parameters)
    key = pickle.dumps((model, X, y))
    if key not in _models:
        _models[key] = model.fit(X, y)
        if len(_models) > _KEPT:
            _models.popitem(last=False)
    _models.move_to_end(key)
    return _models[key]


def with_hierarchy(estimator: BaseEstimator, hierarchy: Any) -> BaseEstimator:
    """Return an unfitted copy with a hierarchy, which class trees call their tree."""
    name = "hierarchy" if "hierarchy" in estimator.get_params(deep=False) else "tree"
    return clone(estimator).set_params(**{name: hierarchy})


def fit_to_change(estimator: BaseEstimator, X: Any, y: Any, **parameters: Any) -> BaseEstimator:
    """Return a copy of the model of `fit_once`, which a law may change."""
    return copy.deepcopy(fit_once(estimator, X, y, **parameters))


def _number_of(estimator: BaseEstimator) -> int | None:
    """Return the number of a public estimator, None for one that only the tests have."""
    name = type(estimator).__name__
    return sorted(palmette.__all__).index(name) if name in palmette.__all__ else None


def some_of(forms: dict[str, Any], estimator: BaseEstimator) -> dict[str, Any]:
    """Return a ninth of the forms of y for an estimator, another ninth for others.

    All public classifiers share the code that reads y, so that every form is tried on many of
    them. Classifiers that only the tests have, such as `NearMeans`, get all forms.
    """
    number = _number_of(estimator)
    return forms if number is None else dict(list(forms.items())[number % 9 :: 9])


def one_of(values: Sequence[Any], estimator: BaseEstimator) -> list[Any]:
    """Return one of the values for an estimator, others for others; all if only tests have it."""
    number = _number_of(estimator)
    return list(values) if number is None else [values[number % len(values)]]


@contextmanager
def in_chunks(n_rows: int) -> Iterator[None]:
    """Let classifiers predict a few rows at once, whatever the size of a row."""

    def chunks(total: int, numbers_per_row: int) -> list[slice]:
        return [slice(at, min(at + n_rows, total)) for at in range(0, total, n_rows)]

    with patch.object(classifier, "row_chunks", chunks):
        yield


def two_jobs(estimator: BaseEstimator) -> AbstractContextManager[Any]:
    """Run jobs in threads, as processes take seconds to start, except those of a few classes."""
    if type(estimator).__name__ in _IN_PROCESSES:
        return nullcontext()
    return parallel_config(backend="threading")
