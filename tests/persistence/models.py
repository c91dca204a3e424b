"""Every public estimator, fitted on little data, and what it answers."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from tests.instances import instances, public_estimators
from tests.laws.problems import PATH_SETS, problem, several

import palmette

__all__ = ["answers", "fitted", "same", "small_instances", "stored_instances"]

_METHODS = ("predict", "predict_proba", "predict_node_proba", "transform")


def small_instances() -> list[BaseEstimator]:
    """Every public estimator with each of its rows of parameters, and very few rounds."""
    found = list(instances())
    for each in found:
        rounds = {"n_estimators": 3, "n_epochs": 3}
        each.set_params(**{n: few for n, few in rounds.items() if n in each.get_params()})
    return found


def stored_instances() -> dict[str, BaseEstimator]:
    """One instance of each public estimator, the first of its rows."""
    found: dict[str, BaseEstimator] = {}
    for each in small_instances():
        found.setdefault(type(each).__name__, each)
    assert list(found) == [each.__name__ for each in public_estimators()]
    return found


@cache
def _rows(kind: str, n_each: int) -> tuple[np.ndarray, Any]:
    if kind == "sets":
        return several(PATH_SETS, n_each)
    X, paths = problem(n_each)
    return X, paths if kind == "paths" else np.array(["/".join(path) for path in paths])


def fitted(estimator: BaseEstimator, n_each: int = 12) -> tuple[BaseEstimator, np.ndarray]:
    """Return a fitted copy, on paths or, where it takes none, on names; and the rows it saw."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            X, y = _rows("paths", n_each)
            return clone(estimator).fit(X, y), X
        except ValueError:  # learns a hierarchy of its own
            X, y = _rows("names", n_each)
            return clone(estimator).fit(X, y), X


def answers(model: Any, X: np.ndarray) -> dict[str, Any]:
    """Return all answers of a model for rows; of a learner of hierarchies, its hierarchy."""
    told = {name: getattr(model, name)(X) for name in _METHODS if hasattr(model, name)}
    if not told:
        hierarchy: palmette.Hierarchy = model.hierarchy_
        told["edges"] = hierarchy.edges
        told["names"] = hierarchy.names
    return told


def same(one: Any, other: Any) -> bool:
    """Whether two answers are the same, bit by bit."""
    if isinstance(one, np.ndarray) and one.dtype != object:
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return type(one) is type(other) and list(one) == list(other)
