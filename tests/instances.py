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
from palmette.weak import TreePerClass

__all__ = ["PARAMETERS", "defaults", "instances", "label", "public_estimators"]

BASES = (
    {"estimator": DecisionTreeClassifier(min_weight_fraction_leaf=0.04, random_state=0)},
    {"estimator": GaussianNB()},
)

FEW = {"n_estimators": 20, "random_state": 0}

PARAMETERS: dict[str, tuple[dict[str, Any], ...]] = {
    "AdaBoostBHCClassifier": (
        {**FEW, "n_estimators": 10},
        {**FEW, "n_estimators": 10, "tree": palmette.RandomTree(), "n_trees": 2},
    ),
    "AdaBoostECCClassifier": (
        {**FEW, "weak_learner": TreePerClass(max_features=None)},
        {**FEW, "weak_learner": "stump"},
    ),
    "AdaBoostMHClassifier": (
        FEW,
        {**FEW, "weak_learner": TreePerClass(max_features=None)},
        {**FEW, "n_estimators": 5, "weak_learner": GaussianNB()},
    ),
    "AdaBoostMIClassifier": (FEW,),
    "ClassTreeClassifier": (
        {},
        {"tree": palmette.BHCTree(), "router": "logistic", "random_state": 0},
        {"router": GaussianNB(), "decoding": "exact"},
    ),
    "ClassTreeEnsemble": ({"n_trees": 2, "random_state": 0},),
    "FlatClassifier": BASES,
    "HierarchicalAdaBoostClassifier": (
        {**FEW, "n_estimators": 40, "learning_rate": 1.0},
        {**FEW, "weak_learner": "stump", "mask": "search", "coefficient": "per_class"},
    ),
    "HierarchicalBoostingClassifier": (
        {**FEW, "n_estimators": 30},
        {**FEW, "loss": ("leaf_softmax", "path_softmax"), "n_bags": 2},
    ),
    "HierarchicalFeatureSelector": (
        {"n_features_to_select": 0.5},
        {"score": "fisher"},
    ),
    "LocalPerLevelClassifier": BASES,
    "LocalPerNodeClassifier": (*BASES, {"estimator": GaussianNB(), "negatives": "all"}),
    "LocalPerParentClassifier": (*BASES, {"estimator": LogisticRegression(C=10.0, max_iter=200)}),
    "MFTree": ({}, {"branching": 3, "leaf_size": 2}),
    "RelaxedTree": ({"n_starts": 1, "max_iter": 3},),
}


def public_estimators() -> list[type[BaseEstimator]]:
    """Every estimator class that users see."""
    names = sorted(palmette.__all__)
    found = [getattr(palmette, name) for name in names]
    classes = [each for each in found if inspect.isclass(each) and issubclass(each, BaseEstimator)]
    return [each for each in classes if hasattr(each, "fit")]  # parts of estimators have none


def instances() -> Iterator[BaseEstimator]:
    """Every public estimator with each of its rows of parameters."""
    for estimator in public_estimators():
        for parameters in PARAMETERS.get(estimator.__name__, ({},)):
            yield estimator(**parameters)


def defaults() -> Iterator[BaseEstimator]:
    """Every public estimator that `instances` has with other parameters, as users first meet it.

    Rounds are few: more of the same would only take longer.
    """
    for estimator in public_estimators():
        if {} not in PARAMETERS.get(estimator.__name__, ({},)):
            made = estimator()
            if "n_estimators" in made.get_params():
                made.set_params(n_estimators=20)
            yield made


def label(value: Any) -> str | None:
    """Name of an instance or a law in the report of pytest."""
    if isinstance(value, BaseEstimator):
        return repr(value).replace("\n", "").replace(" ", "")
    return getattr(value, "__name__", None)
