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
from palmette import routing
from palmette.weak import TreePerClass

__all__ = [
    "PARAMETERS",
    "as_first_met",
    "expected_failures",
    "instances",
    "label",
    "public_estimators",
]

BASES = (
    {"estimator": DecisionTreeClassifier(min_weight_fraction_leaf=0.04, random_state=0)},
    {"estimator": GaussianNB()},
)

FEW = {"n_estimators": 12, "random_state": 0}
_ALL_MODELS = routing.AverageRouter(
    [
        routing.FlatRouter(),
        routing.KernelRouter(gamma=0.5, ridge=1e-3),
        routing.ForestRouter(3),
    ]
)

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
    "BinaryRelevance": ({**BASES[0], "random_state": 0}, {"estimator": GaussianNB()}),
    "CalibratedHierarchicalClassifier": (
        {"estimator": palmette.LocalPerNodeClassifier(GaussianNB()), "cv": 2, "random_state": 0},
        {"estimator": GaussianNB(), "method": "temperature", "cv": 2, "random_state": 0},
    ),
    "CalibratedLabelRanking": ({"random_state": 0},),
    "ClassTreeClassifier": (
        {"router": "linear"},
        {"router": routing.ChosenRouter(n_estimators=3)},
        {"router": "linear", "standardize": False},
        {"tree": palmette.BHCTree(), "router": "logistic", "random_state": 0},
        {"router": GaussianNB(), "decoding": "exact"},
        {"router": _ALL_MODELS},
    ),
    "ClassTreeEnsemble": ({"n_trees": 2, "random_state": 0},),
    "ConformalHierarchicalClassifier": (
        {"estimator": palmette.LocalPerNodeClassifier(GaussianNB()), "random_state": 0},
        {"estimator": GaussianNB(), "method": "cross", "cv": 2, "random_state": 0},
    ),
    "COCOA": ({"n_couplings": 2, "n_models": 1, "random_state": 0},),
    "ChainEnsemble": ({"n_chains": 2, "sampling": None, "random_state": 0},),
    "CoherentBlendClassifier": (
        {
            "estimators": [
                ("forest", palmette.CoherentForestClassifier(3, min_samples_leaf=1)),
                ("kernel", palmette.CoherentKernelClassifier(0.1, 2.0)),
            ],
            "random_state": 0,
        },
    ),
    "CoherentForestClassifier": ({**FEW, "n_estimators": 10, "min_samples_leaf": 3},),
    "CoherentKernelClassifier": ({"ridge": 0.01, "gamma": 4.0},),
    "CoherentNetworkClassifier": (
        {
            "hidden": (32,),
            "n_epochs": 50,
            "batch_size": 64,
            "learning_rate": 0.03,
            "dropout": 0.0,
            "random_state": 0,
        },
    ),
    "FlatClassifier": BASES,
    "HierarchicalAdaBoostClassifier": (
        {**FEW, "n_estimators": 25, "learning_rate": 1.0},
        {**FEW, "weak_learner": "stump", "mask": "search", "coefficient": "per_class"},
    ),
    "HierarchicalBoostingClassifier": (
        {**FEW, "n_estimators": 30, "n_bags": 1},
        {**FEW, "loss": ("leaf_softmax", "path_softmax"), "n_bags": 2},
    ),
    "HierarchicalFeatureSelector": (
        {"n_features_to_select": 0.5},
        {"score": "fisher"},
    ),
    "HOMER": ({"branching": 2, "random_state": 0},),
    "HOMERTree": ({"branching": 3},),
    "IBLR": ({"n_neighbors": 3, "C": 10.0},),
    "LinearMultilabel": ({"C": 1000.0, "random_state": 0}, {"max_iter": 20, "random_state": 0}),
    "LocalPerLevelClassifier": BASES,
    "LocalPerNodeClassifier": (*BASES, {"estimator": GaussianNB(), "negatives": "all"}),
    "LocalPerParentClassifier": (*BASES, {"estimator": LogisticRegression(C=10.0, max_iter=200)}),
    "MFTree": ({}, {"branching": 3, "leaf_size": 2}),
    "MLkNN": ({"n_neighbors": 3},),
    "RAkEL": ({"n_models": 8, "random_state": 0},),
    "StructuredForestClassifier": (
        {**FEW, "min_samples_leaf": 1},
        {**FEW, "n_estimators": 10, "router": "axis", "min_samples_leaf": 1},
    ),
    "ThresholdedMultilabel": (
        {"estimator": palmette.BinaryRelevance(GaussianNB()), "cv": 2, "random_state": 0},
    ),
    "TreesMultilabel": ({**FEW, "n_estimators": 5},),
    "RelaxedTree": ({"n_starts": 1, "max_iter": 3},),
}


_SURE = {
    "check_classifiers_multilabel_output_format_predict_proba": (
        "leaves of one kind of rows are sure, and so are predictions cut to [0, 1]: the check "
        "wants more than 0 and less than 1"
    )
}
_DRAWS_ROWS = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "rows are drawn, in bags, batches or validation parts: copies of a row are drawn each by "
        "itself, a row with a weight once"
    )
    for kind in ("dense", "sparse")
}
_SINGLE_PRECISION = dict.fromkeys(
    _DRAWS_ROWS,
    "matrices of kernels are single precision, so that weights are copies up to 1e-4 only",
)

_SINGLE_PRODUCTS = {
    "check_methods_subset_invariance": (
        "products in single precision differ in the seventh digit by the number of rows"
    )
}

# checks of scikit-learn that an estimator cannot pass, and why
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "BinaryRelevance": _SURE,
    "CalibratedLabelRanking": _SURE,
    "ClassTreeClassifier": _SURE,
    "ClassTreeEnsemble": _SURE,
    "CoherentBlendClassifier": {**_DRAWS_ROWS, **_SURE, **_SINGLE_PRODUCTS},
    "CoherentForestClassifier": _DRAWS_ROWS,
    "CoherentKernelClassifier": {**_SINGLE_PRECISION, **_SURE, **_SINGLE_PRODUCTS},
    "CoherentNetworkClassifier": _DRAWS_ROWS,
    "ConformalHierarchicalClassifier": _DRAWS_ROWS,
    "FlatClassifier": _SURE,
    "LocalPerLevelClassifier": _SURE,
    "LocalPerNodeClassifier": _SURE,
    "MFTreeClassifier": _SURE,
    "TreesMultilabel": {**_DRAWS_ROWS, **_SURE},
}


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    """Checks of scikit-learn that fail for a reason, with the reason."""
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


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


# those that would take long with their defaults, which differ in size or in the classifier inside;
# `LocalPerParentClassifier` shows what all local classifiers do with their default classifier
_SMALLER = {
    "BinaryRelevance",
    "COCOA",
    "CalibratedHierarchicalClassifier",
    "ChainEnsemble",
    "ClassTreeClassifier",
    "ClassTreeEnsemble",
    "CoherentBlendClassifier",
    "CoherentKernelClassifier",
    "CoherentNetworkClassifier",
    "ConformalHierarchicalClassifier",
    "FlatClassifier",
    "IBLR",
    "LocalPerLevelClassifier",
    "LocalPerNodeClassifier",
    "RAkEL",
    "RelaxedTree",
    "TreesMultilabel",
    "ThresholdedMultilabel",
}


def as_first_met() -> Iterator[BaseEstimator]:
    """Every public estimator with its defaults, as users first meet it.

    Rounds are few: more of the same would only take longer.
    """
    for estimator in public_estimators():
        if estimator.__name__ in _SMALLER:
            yield estimator(**PARAMETERS[estimator.__name__][0])
            continue
        made = estimator()
        if "n_estimators" in made.get_params():
            made.set_params(n_estimators=5)
        yield made


_labels: dict[int, tuple[BaseEstimator, str]] = {}


def label(value: Any) -> str | None:
    """Name of an instance or a law in the report of pytest."""
    if not isinstance(value, BaseEstimator):
        return getattr(value, "__name__", None)
    key = id(value)  # an instance is tried with many laws, and to write its name takes long
    if key not in _labels:
        _labels[key] = value, repr(value).replace("\n", "").replace(" ", "")
    return _labels[key][1]
