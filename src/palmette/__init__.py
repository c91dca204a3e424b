"""Palmette: classification over class hierarchies, given or learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from palmette._imports import lazy_names
from palmette.exceptions import DataHomeError, HierarchyError, LabelError, PalmetteError, ReadError

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
    from palmette.hierarchy._hierarchy import Hierarchy
    from palmette.hierarchy._vocabulary import Vocabulary
    from palmette.labels._labels import NodeLabels
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
    from palmette.table import fit_table, migrate, split_table

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
    "split_table",
    "weak",
]

# libraries take over a second to import; what needs them is loaded on first use
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "palmette.base._statistics": "ClassStatistics",
        "palmette.bench": "",
        "palmette.boosting": (
            "AdaBoostECCClassifier AdaBoostMHClassifier AdaBoostMIClassifier "
            "HierarchicalAdaBoostClassifier HierarchicalBoostingClassifier"
        ),
        "palmette.boosting._checkpoint": "Checkpoint",
        "palmette.calibration": "CalibratedHierarchicalClassifier ConformalHierarchicalClassifier",
        "palmette.class_tree": (
            "AdaBoostBHCClassifier AgglomerativeTree BHCTree BalancedTree ClassTreeClassifier "
            "ClassTreeEnsemble DAGSVMClassifier DependenceTree KMeansTree LabelEmbeddingTree "
            "MFTree MFTreeClassifier MarginTree NMFTree RandomTree RelaxedTree"
        ),
        "palmette.datasets": "",
        "palmette.decoding": "",
        "palmette.feature_selection": "feature_selection HierarchicalFeatureSelector",
        "palmette.forest": "StructuredForestClassifier",
        "palmette.hierarchy._hierarchy": "Hierarchy",
        "palmette.hierarchy._vocabulary": "Vocabulary",
        "palmette.labels._labels": "NodeLabels",
        "palmette.local": (
            "FlatClassifier GlobalNaiveBayesClassifier LocalPerLevelClassifier "
            "LocalPerNodeClassifier LocalPerParentClassifier"
        ),
        "palmette.metrics": "",
        "palmette.multilabel": (
            "multilabel BinaryRelevance COCOA CalibratedLabelRanking ChainEnsemble HOMER HOMERTree "
            "IBLR LinearMultilabel MLkNN RAkEL ThresholdedMultilabel TreesMultilabel"
        ),
        "palmette.multipath": (
            "CoherentBlendClassifier CoherentForestClassifier CoherentKernelClassifier "
            "CoherentNetworkClassifier"
        ),
        "palmette.partition": "",
        "palmette.persistence": "load save",
        "palmette.plotting": "",
        "palmette.reporting": "report",
        "palmette.reviewing": "review",
        "palmette.routing": "",
        "palmette.scoring": "scoring HirrScore",
        "palmette.table": "fit_table migrate split_table",
        "palmette.weak": "",
    },
)
