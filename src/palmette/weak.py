"""Weak learners of the AdaBoost family: what each boosting round fits.

Pass one as `weak_learner=` of a classifier, by object or by name (``"stump"``, ``"tree"``,
``"cart"``, ``"shared_tree"``).
"""

from palmette.boosting._class_trees import StumpPerClass, TreePerClass
from palmette.boosting._weak import SharedTree
from palmette.boosting._weak_answers import CartPerClass, EstimatorPerClass

__all__ = ["CartPerClass", "EstimatorPerClass", "SharedTree", "StumpPerClass", "TreePerClass"]
