"""Weak learners: what a round of boosting grows from the signed weights."""

from palmette.engine.weak.answers import CartPerClass, EstimatorPerClass
from palmette.engine.weak.base import (
    ColumnMask,
    GrownColumns,
    GrownTree,
    TrainingRows,
    WeakLearner,
)
from palmette.engine.weak.class_trees import StumpPerClass, TreePerClass
from palmette.engine.weak.shared_tree import SharedTreeLearner, resolve_weak_learner

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
