"""Weak learners by name."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from palmette.engine.weak.any_estimator import EstimatorPerClass
from palmette.engine.weak.base import WeakLearner
from palmette.engine.weak.cart import CartPerClass
from palmette.engine.weak.class_trees import StumpPerClass, TreePerClass
from palmette.engine.weak.shared_tree import SharedTreeLearner
from palmette.exceptions import PalmetteError

__all__ = ["resolve_weak_learner"]

_BY_NAME = {
    "cart": CartPerClass,
    "shared_tree": SharedTreeLearner,
    "stump": StumpPerClass,
    "tree": TreePerClass,
}


def resolve_weak_learner(weak_learner: Any) -> WeakLearner:
    """Return the weak learner that a name, an object or a scikit-learn classifier stands for.

    Examples
    --------
    >>> resolve_weak_learner("stump")
    StumpPerClass()
    """
    if isinstance(weak_learner, WeakLearner):
        learner = weak_learner
    elif isinstance(weak_learner, str) and weak_learner in _BY_NAME:
        learner = _BY_NAME[weak_learner]()
    elif hasattr(weak_learner, "fit") and is_classifier(weak_learner):
        learner = EstimatorPerClass(weak_learner)
    else:
        raise PalmetteError(
            f"weak_learner={weak_learner!r} is unknown: expected one of {sorted(_BY_NAME)}, an "
            "object of palmette.weak, or a scikit-learn classifier that takes sample_weight."
        )
    learner.check()
    return learner
