"""Local classifiers over a given hierarchy, with any scikit-learn estimator, and the flat one."""

from palmette.local._classifiers import (
    FlatClassifier,
    LocalPerLevelClassifier,
    LocalPerParentClassifier,
)
from palmette.local._global_naive_bayes import GlobalNaiveBayesClassifier
from palmette.local._naive_bayes import MixedNaiveBayes
from palmette.local._passes import fit_in_passes
from palmette.local._per_node import LocalPerNodeClassifier

__all__ = [
    "FlatClassifier",
    "GlobalNaiveBayesClassifier",
    "LocalPerLevelClassifier",
    "LocalPerNodeClassifier",
    "LocalPerParentClassifier",
    "MixedNaiveBayes",
    "fit_in_passes",
]
