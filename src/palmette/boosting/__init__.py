"""Boosting over class hierarchies."""

from palmette.boosting.ecc import AdaBoostECCClassifier
from palmette.boosting.hierarchical import HierarchicalBoostingClassifier
from palmette.boosting.hierarchical_ada import HierarchicalAdaBoostClassifier
from palmette.boosting.mh import AdaBoostMHClassifier
from palmette.boosting.mi import AdaBoostMIClassifier

__all__ = [
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMIClassifier",
    "HierarchicalAdaBoostClassifier",
    "HierarchicalBoostingClassifier",
]
