"""How rows find their way down a class tree: objects that train the classifiers of its nodes."""

from palmette.routing.base import Router, Routes, RoutingProblem
from palmette.routing.estimator import EstimatorRouter
from palmette.routing.linear import LinearRouter
from palmette.routing.options import OptionTable
from palmette.routing.spectral import SpectralRouter

__all__ = [
    "EstimatorRouter",
    "LinearRouter",
    "OptionTable",
    "Router",
    "Routes",
    "RoutingProblem",
    "SpectralRouter",
]
