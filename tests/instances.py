"""Public estimators as the laws and scikit-learn's checks try them, with small parameters.

An estimator is found through ``palmette.__all__``, so that a new one is tested unasked, with its
defaults; a row of `PARAMETERS` gives it other ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import palmette

__all__ = ["PARAMETERS", "instances", "label", "public_estimators"]

BASES = (
    {"estimator": DecisionTreeClassifier(min_weight_fraction_leaf=0.04, random_state=0)},
    {"estimator": GaussianNB()},
)

PARAMETERS: dict[str, tuple[dict[str, Any], ...]] = {
    "FlatClassifier": BASES,
    "HierarchicalBoostingClassifier": ({"n_estimators": 30, "random_state": 0},),
    "LocalPerLevelClassifier": BASES,
    "LocalPerNodeClassifier": (*BASES, {"estimator": GaussianNB(), "negatives": "all"}),
    "LocalPerParentClassifier": (*BASES, {"estimator": LogisticRegression(C=10.0, max_iter=200)}),
}


def public_estimators() -> list[type[BaseEstimator]]:
    """Every estimator class that users see."""
    names = sorted(palmette.__all__)
    found = [getattr(palmette, name) for name in names]
    return [each for each in found if inspect.isclass(each) and issubclass(each, BaseEstimator)]


def instances() -> Iterator[BaseEstimator]:
    """Every public estimator with each of its rows of parameters."""
    for estimator in public_estimators():
        for parameters in PARAMETERS.get(estimator.__name__, ({},)):
            yield estimator(**parameters)


def label(value: Any) -> str | None:
    """Name of an instance or a law in the report of pytest."""
    if isinstance(value, BaseEstimator):
        return repr(value).replace("\n", "").replace(" ", "")
    return getattr(value, "__name__", None)
