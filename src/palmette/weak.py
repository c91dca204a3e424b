"""Weak learners of the AdaBoost family: what a round grows.

Pass one as `weak_learner=` of a classifier, by object or by name (``"stump"``, ``"tree"``,
``"shared_tree"``).
"""

from palmette.engine.weak import (
    EstimatorPerClass,
    StumpPerClass,
    TreePerClass,
)
from palmette.engine.weak import SharedTreeLearner as SharedTree

__all__ = ["EstimatorPerClass", "SharedTree", "StumpPerClass", "TreePerClass"]
