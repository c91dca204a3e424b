"""How rows find their way down a class tree: objects that train the classifiers of its nodes."""

from palmette.routing.axis import AxisSplit
from palmette.routing.base import Router, Routes, RoutingProblem
from palmette.routing.estimator import EstimatorRouter
from palmette.routing.hellinger import Hellinger
from palmette.routing.linear import LinearRouter
from palmette.routing.logistic import LogisticSplit
from palmette.routing.options import OptionTable
from palmette.routing.spectral import SpectralRouter

__all__ = [
    "AxisSplit",
    "EstimatorRouter",
    "Hellinger",
    "LinearRouter",
    "LogisticSplit",
    "OptionTable",
    "Router",
    "Routes",
    "RoutingProblem",
    "SpectralRouter",
]
