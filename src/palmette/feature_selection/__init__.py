"""Selection of features for every node of a hierarchy, its stability, and its size."""

from palmette.feature_selection._number import ChosenNumber, choose_n_features, one_standard_error
from palmette.feature_selection._selector import HierarchicalFeatureSelector
from palmette.feature_selection._stability import (
    NodeStability,
    Stability,
    node_stability,
    selection_stability,
)

__all__ = [
    "ChosenNumber",
    "HierarchicalFeatureSelector",
    "NodeStability",
    "Stability",
    "choose_n_features",
    "node_stability",
    "one_standard_error",
    "selection_stability",
]
