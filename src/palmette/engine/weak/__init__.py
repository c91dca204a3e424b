"""Weak learners: what a round of boosting grows from the signed weights."""

from palmette.engine.weak.any_estimator import EstimatorPerClass
from palmette.engine.weak.base import (
    ColumnMask,
    GrownColumns,
    GrownTree,
    TrainingRows,
    WeakLearner,
)
from palmette.engine.weak.cart import CartPerClass
from palmette.engine.weak.class_trees import StumpPerClass, TreePerClass
from palmette.engine.weak.registry import resolve_weak_learner
from palmette.engine.weak.shared_tree import SharedTreeLearner

__all__ = [
    "CartPerClass",
    "ColumnMask",
    "EstimatorPerClass",
    "GrownColumns",
    "GrownTree",
    "SharedTreeLearner",
    "StumpPerClass",
    "TrainingRows",
    "TreePerClass",
    "WeakLearner",
    "resolve_weak_learner",
]
