"""Boosting over class hierarchies."""

from palmette.boosting._ecc import AdaBoostECCClassifier
from palmette.boosting._flat_ada import AdaBoostMHClassifier, AdaBoostMIClassifier
from palmette.boosting._hierarchical import HierarchicalBoostingClassifier
from palmette.boosting._hierarchical_ada import HierarchicalAdaBoostClassifier

__all__ = [
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMIClassifier",
    "HierarchicalAdaBoostClassifier",
    "HierarchicalBoostingClassifier",
]
