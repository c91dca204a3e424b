"""Fitted models that laws share: a model is fitted once per problem, not once per law."""

from __future__ import annotations

import copy
import pickle
import zlib
from collections import OrderedDict
from typing import Any

from sklearn.base import BaseEstimator, clone

__all__ = ["a_third_of", "fit_once", "fit_to_change"]

_KEPT = 16  # laws of one estimator follow each other, so that few models are worth keeping
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
    model = clone(estimator).set_params(**parameters)
    key = pickle.dumps((model, X, y))
    if key not in _models:
        _models[key] = model.fit(X, y)
        if len(_models) > _KEPT:
            _models.popitem(last=False)
    return _models[key]


def fit_to_change(estimator: BaseEstimator, X: Any, y: Any, **parameters: Any) -> BaseEstimator:
    """Return a copy of the model of `fit_once`, which a law may change."""
    return copy.deepcopy(fit_once(estimator, X, y, **parameters))


def a_third_of(forms: dict[str, Any], estimator: BaseEstimator) -> dict[str, Any]:
    """Return a third of the forms of y for an estimator, another third for others.

    All public classifiers share the code that reads y, so that every form is tried on many of
    them. Classifiers that only the tests have, such as `NearMeans`, get all forms.
    """
    kind = type(estimator)
    if not kind.__module__.startswith("palmette."):
        return forms
    first = zlib.crc32(kind.__name__.encode()) % 3
    return dict(list(forms.items())[first::3])
