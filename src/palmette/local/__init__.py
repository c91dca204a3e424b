"""Local classifiers over a given hierarchy, with any scikit-learn estimator, and the flat one."""

from palmette.local.flat import FlatClassifier
from palmette.local.per_level import LocalPerLevelClassifier
from palmette.local.per_node import LocalPerNodeClassifier
from palmette.local.per_parent import LocalPerParentClassifier

__all__ = [
    "FlatClassifier",
    "LocalPerLevelClassifier",
    "LocalPerNodeClassifier",
    "LocalPerParentClassifier",
]
