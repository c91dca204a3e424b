"""Small boosted models of every kind, and callbacks that end their fits."""

from __future__ import annotations

from functools import cache

from sklearn.base import clone
from tests.boosting.boosted import arrays_of
from tests.boosting.problems import tree_problem

import palmette as pm
from palmette.weak import CartPerClass, SharedTree, StumpPerClass, TreePerClass

__all__ = [
    "ALL_FIVE",
    "MODELS",
    "MODELS_OF_SETS",
    "InterruptAt",
    "StopAfter",
    "bits",
    "fitted",
    "make",
]

ada, mh, mi, ecc, softmax = ALL_FIVE = (
    pm.HierarchicalAdaBoostClassifier,
    pm.AdaBoostMHClassifier,
    pm.AdaBoostMIClassifier,
    pm.AdaBoostECCClassifier,
    pm.HierarchicalBoostingClassifier,
)

MODELS_OF_SETS = {
    "ada shared": (ada, {}),
    "ada best shared, per class": (
        ada,
        {"weak_learner": SharedTree(2, thresholds="best"), "coefficient": "per_class"},
    ),
    "ada stumps": (ada, {"weak_learner": "stump", "learning_rate": 1.0}),
    "ada masked stumps": (
        ada,
        {"weak_learner": "stump", "mask": "search", "coefficient": "per_class", "dag_rule": "any"},
    ),
    "ada masked trees": (
        ada,
        {"weak_learner": TreePerClass(2, max_features=2), "mask": "literal", "learning_rate": 0.5},
    ),
    "ada some rows": (ada, {"subsample": 0.6, "weight_trim": 0.05}),
    "mh": (mh, {}),
    "mh confident": (mh, {"weak_learner": StumpPerClass(2, votes="confidence")}),
    "mi": (mi, {}),
    "mi random trees": (mi, {"weak_learner": TreePerClass(2, thresholds="random")}),
    "mi full trees": (mi, {"weak_learner": CartPerClass()}),
    "logistic": (softmax, {"n_bags": 1, "loss": "logistic", "max_depth": 3}),
    "exponential": (softmax, {"n_bags": 1, "loss": "exponential", "max_depth": 3}),
    "logistic and exponential": (
        softmax,
        {"n_bags": 1, "loss": ("logistic", "exponential"), "max_depth": 2},
    ),
}

MODELS = {
    **MODELS_OF_SETS,
    "ecc": (ecc, {"weak_learner": TreePerClass(2)}),
    "ecc stumps": (ecc, {"weak_learner": "stump"}),
    "ecc full trees": (ecc, {"weak_learner": CartPerClass(resample=0.5)}),
    "ecc shared, some rows": (ecc, {"weak_learner": "shared_tree", "subsample": 0.7}),
    "leaf softmax": (softmax, {"n_bags": 1, "max_depth": 3}),
    "path softmax": (softmax, {"n_bags": 1, "loss": "path_softmax", "max_depth": 3}),
    "best thresholds": (
        softmax,
        {"n_bags": 1, "thresholds": "best", "max_depth": 2, "max_features": None},
    ),
    "bags, some rows": (
        softmax,
        {"loss": ("leaf_softmax", "path_softmax"), "n_bags": 2, "max_depth": 2, "subsample": 0.8},
    ),
}


def make(name, **parameters):
    """A model of ten rounds, unless told otherwise."""
    kind, own = MODELS[name]
    return clone(kind(**{"n_estimators": 10, "random_state": 0, **own, **parameters}))


@cache
def fitted(name):
    """A model of three rounds on `tree_problem(96)` that many tests read and none changes."""
    return make(name, n_estimators=3).fit(*tree_problem(96))


def bits(clf):
    """All that a fit leaves behind, to the last bit."""
    arrays = {
        **arrays_of("rounds", clf.rounds_),
        "start": clf.start_,
        "train_loss": clf.train_loss_,
        "edges": clf.edges_,
        "validation_loss": clf.validation_loss_,
    }
    return {name: (array.shape, array.tobytes()) for name, array in arrays.items()}


class StopAfter:
    """Callback that asks for no more rounds after some round."""

    def __init__(self, turn):
        self.turn = turn

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        return context.task_name == "round" and context.task_id == self.turn

    def teardown(self, estimator, context):
        pass


class InterruptAt(StopAfter):
    """Callback that presses Ctrl-C after some round."""

    def on_fit_task_end(self, estimator, context):
        if super().on_fit_task_end(estimator, context):
            raise KeyboardInterrupt
