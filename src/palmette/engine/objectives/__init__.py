"""Objectives: from what has been learnt to the signed weights that the next round follows."""

from palmette.engine.objectives.adaboost import AdaBoostWeights, ColouringWeights
from palmette.engine.objectives.gradients import (
    GradientObjective,
    LeafSoftmax,
    Logistic,
    PathSoftmax,
)

__all__ = [
    "AdaBoostWeights",
    "ColouringWeights",
    "GradientObjective",
    "LeafSoftmax",
    "Logistic",
    "PathSoftmax",
]
