"""Scores of features at the nodes of a hierarchy, as objects."""

from palmette.scoring.base import FeatureScore, NodeScores, NodeTask, ScoringProblem
from palmette.scoring.fisher import FisherScore
from palmette.scoring.fsnm import FsnmScore
from palmette.scoring.hirr import HirrScore
from palmette.scoring.hirr_path import lambda_path
from palmette.scoring.mrmr import MrmrScore
from palmette.scoring.univariate import UnivariateScore

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
