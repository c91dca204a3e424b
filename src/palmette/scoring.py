"""Feature scores: objects that score the features at every node of a hierarchy."""

from palmette.feature_selection._base import FeatureScore, NodeScores, NodeTask, ScoringProblem
from palmette.feature_selection._fsnm import FsnmScore
from palmette.feature_selection._hirr import HirrScore, lambda_path
from palmette.feature_selection._mrmr import MrmrScore
from palmette.feature_selection._univariate import FisherScore, UnivariateScore

__all__ = [
    "FeatureScore",
    "FisherScore",
    "FsnmScore",
    "HirrScore",
    "MrmrScore",
    "NodeScores",
    "NodeTask",
    "ScoringProblem",
    "UnivariateScore",
    "lambda_path",
]
