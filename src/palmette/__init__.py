"""Palmette: classification over class hierarchies, given or learned."""

from palmette import datasets, decoding, metrics
from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.exceptions import HierarchyError, LabelError, PalmetteError, ReadError
from palmette.local import (
    FlatClassifier,
    LocalPerLevelClassifier,
    LocalPerNodeClassifier,
    LocalPerParentClassifier,
)

__version__ = "0.1.0"

__all__ = [
    "FlatClassifier",
    "Hierarchy",
    "HierarchyError",
    "LabelError",
    "LocalPerLevelClassifier",
    "LocalPerNodeClassifier",
    "LocalPerParentClassifier",
    "NodeLabels",
    "PalmetteError",
    "ReadError",
    "datasets",
    "decoding",
    "metrics",
]
