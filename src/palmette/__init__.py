"""Palmette: classification over class hierarchies, given or learned."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from palmette.exceptions import DataHomeError, HierarchyError, LabelError, PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

if TYPE_CHECKING:
    from palmette import (
        bench,
        datasets,
        decoding,
        feature_selection,
        metrics,
        multilabel,
        partition,
        plotting,
        routing,
        scoring,
        weak,
    )
    from palmette.base._statistics import ClassStatistics
    from palmette.boosting import (
        AdaBoostECCClassifier,
        AdaBoostMHClassifier,
        AdaBoostMIClassifier,
        HierarchicalAdaBoostClassifier,
        HierarchicalBoostingClassifier,
    )
    from palmette.boosting._checkpoint import Checkpoint
    from palmette.calibration import (
        CalibratedHierarchicalClassifier,
        ConformalHierarchicalClassifier,
    )
    from palmette.class_tree import (
        AdaBoostBHCClassifier,
        AgglomerativeTree,
        BalancedTree,
        BHCTree,
        ClassTreeClassifier,
        ClassTreeEnsemble,
        DAGSVMClassifier,
        DependenceTree,
        LabelEmbeddingTree,
        MFTree,
        MFTreeClassifier,
        NMFTree,
        RandomTree,
        RelaxedTree,
    )
    from palmette.feature_selection import HierarchicalFeatureSelector
    from palmette.forest import StructuredForestClassifier
    from palmette.local import (
        FlatClassifier,
        LocalPerLevelClassifier,
        LocalPerNodeClassifier,
        LocalPerParentClassifier,
    )
    from palmette.multilabel import (
        COCOA,
        HOMER,
        IBLR,
        BinaryRelevance,
        CalibratedLabelRanking,
        ChainEnsemble,
        HOMERTree,
        MLkNN,
        RAkEL,
        ThresholdedMultilabel,
        TreesMultilabel,
    )
    from palmette.multipath import (
        CoherentBlendClassifier,
        CoherentForestClassifier,
        CoherentKernelClassifier,
        CoherentNetworkClassifier,
    )
    from palmette.persistence import load, save
    from palmette.reporting import report
    from palmette.scoring import HirrScore
    from palmette.table import fit_table

__version__ = "0.1.0"

__all__ = [
    "COCOA",
    "HOMER",
    "IBLR",
    "AdaBoostBHCClassifier",
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMIClassifier",
    "AgglomerativeTree",
    "BHCTree",
    "BalancedTree",
    "BinaryRelevance",
    "CalibratedHierarchicalClassifier",
    "CalibratedLabelRanking",
    "ChainEnsemble",
    "Checkpoint",
    "ClassStatistics",
    "ClassTreeClassifier",
    "ClassTreeEnsemble",
    "CoherentBlendClassifier",
    "CoherentForestClassifier",
    "CoherentKernelClassifier",
    "CoherentNetworkClassifier",
    "ConformalHierarchicalClassifier",
    "DAGSVMClassifier",
    "DataHomeError",
    "DependenceTree",
    "FlatClassifier",
    "HOMERTree",
    "HierarchicalAdaBoostClassifier",
    "HierarchicalBoostingClassifier",
    "HierarchicalFeatureSelector",
    "Hierarchy",
    "HierarchyError",
    "HirrScore",
    "LabelEmbeddingTree",
    "LabelError",
    "LocalPerLevelClassifier",
    "LocalPerNodeClassifier",
    "LocalPerParentClassifier",
    "MFTree",
    "MFTreeClassifier",
    "MLkNN",
    "NMFTree",
    "NodeLabels",
    "PalmetteError",
    "RAkEL",
    "RandomTree",
    "ReadError",
    "RelaxedTree",
    "StructuredForestClassifier",
    "ThresholdedMultilabel",
    "TreesMultilabel",
    "bench",
    "datasets",
    "decoding",
    "feature_selection",
    "fit_table",
    "load",
    "metrics",
    "multilabel",
    "partition",
    "plotting",
    "report",
    "routing",
    "save",
    "scoring",
    "weak",
]

# scikit-learn takes over a second to import; what stands on it is loaded when first used
_MODULES = {
    "bench",
    "datasets",
    "decoding",
    "feature_selection",
    "metrics",
    "multilabel",
    "partition",
    "plotting",
    "routing",
    "scoring",
    "weak",
}
_HOMES = {
    "AdaBoostBHCClassifier": "palmette.class_tree",
    "AdaBoostECCClassifier": "palmette.boosting",
    "AdaBoostMHClassifier": "palmette.boosting",
    "AdaBoostMIClassifier": "palmette.boosting",
    "AgglomerativeTree": "palmette.class_tree",
    "BHCTree": "palmette.class_tree",
    "BalancedTree": "palmette.class_tree",
    "BinaryRelevance": "palmette.multilabel",
    "COCOA": "palmette.multilabel",
    "CalibratedHierarchicalClassifier": "palmette.calibration",
    "CalibratedLabelRanking": "palmette.multilabel",
    "ChainEnsemble": "palmette.multilabel",
    "Checkpoint": "palmette.boosting._checkpoint",
    "ClassStatistics": "palmette.base._statistics",
    "ClassTreeClassifier": "palmette.class_tree",
    "ClassTreeEnsemble": "palmette.class_tree",
    "CoherentBlendClassifier": "palmette.multipath",
    "CoherentForestClassifier": "palmette.multipath",
    "CoherentKernelClassifier": "palmette.multipath",
    "CoherentNetworkClassifier": "palmette.multipath",
    "ConformalHierarchicalClassifier": "palmette.calibration",
    "DAGSVMClassifier": "palmette.class_tree",
    "DependenceTree": "palmette.class_tree",
    "FlatClassifier": "palmette.local",
    "HOMER": "palmette.multilabel",
    "HOMERTree": "palmette.multilabel",
    "HierarchicalAdaBoostClassifier": "palmette.boosting",
    "HierarchicalBoostingClassifier": "palmette.boosting",
    "HierarchicalFeatureSelector": "palmette.feature_selection",
    "HirrScore": "palmette.scoring",
    "IBLR": "palmette.multilabel",
    "LabelEmbeddingTree": "palmette.class_tree",
    "LocalPerLevelClassifier": "palmette.local",
    "LocalPerNodeClassifier": "palmette.local",
    "LocalPerParentClassifier": "palmette.local",
    "MFTree": "palmette.class_tree",
    "MFTreeClassifier": "palmette.class_tree",
    "MLkNN": "palmette.multilabel",
    "NMFTree": "palmette.class_tree",
    "RAkEL": "palmette.multilabel",
    "RandomTree": "palmette.class_tree",
    "RelaxedTree": "palmette.class_tree",
    "StructuredForestClassifier": "palmette.forest",
    "ThresholdedMultilabel": "palmette.multilabel",
    "TreesMultilabel": "palmette.multilabel",
    "fit_table": "palmette.table",
    "load": "palmette.persistence",
    "report": "palmette.reporting",
    "save": "palmette.persistence",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"palmette.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'palmette' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
