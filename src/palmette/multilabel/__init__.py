"""Multi-label learning: classifiers, tuned thresholds, stratified splits, resampling."""

from palmette.multilabel.binary_relevance import BinaryRelevance
from palmette.multilabel.c45 import C45Tree
from palmette.multilabel.chains import ChainEnsemble
from palmette.multilabel.cocoa import COCOA
from palmette.multilabel.homer import HOMER
from palmette.multilabel.homer_tree import HOMERTree
from palmette.multilabel.iblr import IBLR
from palmette.multilabel.label_ranking import CalibratedLabelRanking
from palmette.multilabel.ml_knn import MLkNN
from palmette.multilabel.ml_ros import MLROS
from palmette.multilabel.ml_rus import MLRUS
from palmette.multilabel.mlsmote import MLSMOTE
from palmette.multilabel.rakel import RAkEL
from palmette.multilabel.splits import (
    IterativeStratifiedKFold,
    IterativeStratifiedShuffleSplit,
    iterative_train_test_split,
)
from palmette.multilabel.thresholded import ThresholdedMultilabel
from palmette.multilabel.trees import TreesMultilabel

__all__ = [
    "COCOA",
    "HOMER",
    "IBLR",
    "MLROS",
    "MLRUS",
    "MLSMOTE",
    "BinaryRelevance",
    "C45Tree",
    "CalibratedLabelRanking",
    "ChainEnsemble",
    "HOMERTree",
    "IterativeStratifiedKFold",
    "IterativeStratifiedShuffleSplit",
    "MLkNN",
    "RAkEL",
    "ThresholdedMultilabel",
    "TreesMultilabel",
    "iterative_train_test_split",
]
