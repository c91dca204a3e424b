"""Palmette: classification over class hierarchies, given or learned."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.exceptions import (
    DataHomeError,
    HierarchyError,
    LabelError,
    PalmetteError,
    ReadError,
)

if TYPE_CHECKING:
    from palmette import bench, datasets, decoding, metrics, weak
    from palmette.boosting import (
        AdaBoostECCClassifier,
        AdaBoostMHClassifier,
        AdaBoostMIClassifier,
        HierarchicalAdaBoostClassifier,
        HierarchicalBoostingClassifier,
    )
    from palmette.core.statistics import ClassStatistics
    from palmette.engine.checkpoint import Checkpoint
    from palmette.local import (
        FlatClassifier,
        LocalPerLevelClassifier,
        LocalPerNodeClassifier,
        LocalPerParentClassifier,
    )

__version__ = "0.1.0"

__all__ = [
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMIClassifier",
    "Checkpoint",
    "ClassStatistics",
    "DataHomeError",
    "FlatClassifier",
    "HierarchicalAdaBoostClassifier",
    "HierarchicalBoostingClassifier",
    "Hierarchy",
    "HierarchyError",
    "LabelError",
    "LocalPerLevelClassifier",
    "LocalPerNodeClassifier",
    "LocalPerParentClassifier",
    "NodeLabels",
    "PalmetteError",
    "ReadError",
    "bench",
    "datasets",
    "decoding",
    "metrics",
    "weak",
]

# scikit-learn takes over a second to import; what stands on it is loaded when first used
_MODULES = {"bench", "datasets", "decoding", "metrics", "weak"}
_HOMES = {
    "AdaBoostECCClassifier": "palmette.boosting",
    "AdaBoostMHClassifier": "palmette.boosting",
    "AdaBoostMIClassifier": "palmette.boosting",
    "Checkpoint": "palmette.engine.checkpoint",
    "ClassStatistics": "palmette.core.statistics",
    "FlatClassifier": "palmette.local",
    "HierarchicalAdaBoostClassifier": "palmette.boosting",
    "HierarchicalBoostingClassifier": "palmette.boosting",
    "LocalPerLevelClassifier": "palmette.local",
    "LocalPerNodeClassifier": "palmette.local",
    "LocalPerParentClassifier": "palmette.local",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"palmette.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'palmette' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
