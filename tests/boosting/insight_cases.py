"""Boosted models and problems of every kind, for importances and explanations."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.laws.problems import DAG, DAG_SETS, PATH_SETS, problem, several

import palmette as pm
from palmette.weak import SharedTree, StumpPerClass, TreePerClass

__all__ = [
    "DAG",
    "MODELS",
    "MODELS_OF_SETS",
    "dag",
    "fit",
    "fitted",
    "paths",
    "sets",
    "with_gaps",
]

FEW = {"n_estimators": 4, "random_state": 0}

ada, mh, mi = (
    pm.HierarchicalAdaBoostClassifier,
    pm.AdaBoostMHClassifier,
    pm.AdaBoostMIClassifier,
)
ecc, softmax = pm.AdaBoostECCClassifier, pm.HierarchicalBoostingClassifier

MODELS_OF_SETS: dict[str, Any] = {
    "ada": ada(**FEW),
    "ada stump": ada(weak_learner="stump", **FEW),
    "ada literal mask": ada(weak_learner="stump", mask="literal", **FEW),
    "ada masked trees": ada(weak_learner=TreePerClass(2, max_features=None), mask="search", **FEW),
    "ada masked estimators": ada(
        weak_learner=DecisionTreeClassifier(max_depth=1), mask="search", **FEW
    ),
    "ada best thresholds": ada(weak_learner=SharedTree(2, thresholds="best"), **FEW),
    "mh": mh(**FEW),
    "mh confident trees": mh(weak_learner=TreePerClass(votes="confidence"), **FEW),
    "mh estimators": mh(weak_learner=RidgeClassifier(), **FEW),
    "mi": mi(**FEW),
    "mi trees": mi(weak_learner="tree", **FEW),
    "mi full trees": mi(weak_learner="cart", **FEW),
    "ada masked full trees": ada(weak_learner="cart", mask="search", **FEW),
    "logistic": softmax(n_bags=1, loss="logistic", max_depth=3, **FEW),
    "exponential": softmax(n_bags=1, loss="exponential", **FEW),
    "logistic and exponential": softmax(
        n_bags=1, loss=("logistic", "exponential"), max_depth=2, **FEW
    ),
}

MODELS: dict[str, Any] = {
    **MODELS_OF_SETS,
    "ecc": ecc(**FEW),
    "ecc stump": ecc(weak_learner=StumpPerClass(), **FEW),
    "ecc shared": ecc(weak_learner="shared_tree", **FEW),
    "ecc full trees": ecc(weak_learner="cart", **FEW),
    "ecc estimators": ecc(weak_learner=DecisionTreeClassifier(max_depth=2), **FEW),
    "softmax": softmax(n_bags=1, **FEW),
    "path softmax": softmax(n_bags=1, loss="path_softmax", **FEW),
    "accurate": softmax.preset("accurate", max_depth=2, **FEW),
}


@cache
def paths() -> tuple[np.ndarray, list[Any]]:
    """One path a row."""
    return problem()


@cache
def sets() -> tuple[np.ndarray, list[Any]]:
    """Several paths a row, or none."""
    return several(PATH_SETS)


@cache
def dag() -> tuple[np.ndarray, list[Any]]:
    """Several nodes of `DAG`, which models are to be given."""
    return several(DAG_SETS)


def fit(name: str, X: Any, y: Any, **parameters: Any) -> Any:
    """Return a model of its own, fitted."""
    return clone(MODELS[name]).set_params(**parameters).fit(X, y)


@cache
def fitted(name: str, problem: str = "paths", rule: str = "all") -> Any:
    """Return a model that many tests read and none changes."""
    X, y = {"paths": paths, "sets": sets, "dag": dag}[problem]()
    if problem != "dag":
        return fit(name, X, y)
    return fit(name, X, y, hierarchy=DAG, dag_rule=rule)


def with_gaps(X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Features of which a tenth is missing."""
    return np.where(np.random.default_rng(seed).random(X.shape) < 0.1, np.nan, X)
