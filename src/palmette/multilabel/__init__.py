"""Multi-label classification: classifiers, tuned thresholds, stratified splits, resampling."""

from palmette.multilabel._binary_relevance import BinaryRelevance
from palmette.multilabel._c45 import C45Tree
from palmette.multilabel._chains import ChainEnsemble
from palmette.multilabel._cocoa import COCOA
from palmette.multilabel._homer import HOMER, HOMERTree
from palmette.multilabel._label_ranking import CalibratedLabelRanking
from palmette.multilabel._linear import LinearMultilabel
from palmette.multilabel._neighbours import IBLR, MLkNN
from palmette.multilabel._rakel import RAkEL
from palmette.multilabel._resampling import MLROS, MLRUS, MLSMOTE
from palmette.multilabel._splits import (
    IterativeStratifiedKFold,
    IterativeStratifiedShuffleSplit,
    iterative_train_test_split,
)
from palmette.multilabel._thresholded import ThresholdedMultilabel
from palmette.multilabel._trees import TreesMultilabel

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
    "LinearMultilabel",
    "MLkNN",
    "RAkEL",
    "ThresholdedMultilabel",
    "TreesMultilabel",
    "iterative_train_test_split",
]
