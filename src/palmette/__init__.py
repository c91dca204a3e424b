"""Palmette: classification over class hierarchies, given or learned."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from palmette.exceptions import DataHomeError, HierarchyError, LabelError, PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._vocabulary import Vocabulary
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
        KMeansTree,
        LabelEmbeddingTree,
        MarginTree,
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
        GlobalNaiveBayesClassifier,
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
        LinearMultilabel,
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
    from palmette.reviewing import review
    from palmette.scoring import HirrScore
    from palmette.table import fit_table, migrate

__version__ = "0.2.0"

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
    "GlobalNaiveBayesClassifier",
    "HOMERTree",
    "HierarchicalAdaBoostClassifier",
    "HierarchicalBoostingClassifier",
    "HierarchicalFeatureSelector",
    "Hierarchy",
    "HierarchyError",
    "HirrScore",
    "KMeansTree",
    "LabelEmbeddingTree",
    "LabelError",
    "LinearMultilabel",
    "LocalPerLevelClassifier",
    "LocalPerNodeClassifier",
    "LocalPerParentClassifier",
    "MFTree",
    "MFTreeClassifier",
    "MLkNN",
    "MarginTree",
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
    "Vocabulary",
    "bench",
    "datasets",
    "decoding",
    "feature_selection",
    "fit_table",
    "load",
    "metrics",
    "migrate",
    "multilabel",
    "partition",
    "plotting",
    "report",
    "review",
    "routing",
    "save",
    "scoring",
    "weak",
]

# scikit-learn takes over a second to import; what needs it is loaded on first use
_NAMES = {
    "base._statistics": "ClassStatistics",
    "boosting": (
        "AdaBoostECCClassifier AdaBoostMHClassifier AdaBoostMIClassifier "
        "HierarchicalAdaBoostClassifier HierarchicalBoostingClassifier"
    ),
    "boosting._checkpoint": "Checkpoint",
    "calibration": "CalibratedHierarchicalClassifier ConformalHierarchicalClassifier",
    "class_tree": (
        "AdaBoostBHCClassifier AgglomerativeTree BHCTree BalancedTree ClassTreeClassifier "
        "ClassTreeEnsemble DAGSVMClassifier DependenceTree KMeansTree LabelEmbeddingTree MFTree "
        "MFTreeClassifier MarginTree NMFTree RandomTree RelaxedTree"
    ),
    "feature_selection": "HierarchicalFeatureSelector",
    "forest": "StructuredForestClassifier",
    "local": (
        "FlatClassifier GlobalNaiveBayesClassifier LocalPerLevelClassifier "
        "LocalPerNodeClassifier LocalPerParentClassifier"
    ),
    "multilabel": (
        "BinaryRelevance COCOA CalibratedLabelRanking ChainEnsemble HOMER HOMERTree IBLR "
        "LinearMultilabel MLkNN RAkEL ThresholdedMultilabel TreesMultilabel"
    ),
    "multipath": (
        "CoherentBlendClassifier CoherentForestClassifier CoherentKernelClassifier "
        "CoherentNetworkClassifier"
    ),
    "persistence": "load save",
    "reporting": "report",
    "reviewing": "review",
    "scoring": "HirrScore",
    "table": "fit_table migrate",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"palmette.{_HOMES[name]}"), name)
    if name in __all__:  # all other names are modules
        return import_module(f"palmette.{name}")
    raise AttributeError(f"module 'palmette' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
