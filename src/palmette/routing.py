"""Routers: objects that train the classifiers of the nodes of a class tree."""

from palmette.class_tree._chosen_router import ChosenRouter
from palmette.class_tree._forest_router import ForestRouter
from palmette.class_tree._kernel_router import KernelRouter
from palmette.class_tree._linear import LinearRouter
from palmette.class_tree._routers import EstimatorRouter, SpectralRouter
from palmette.class_tree._routing import OptionTable, Router, Routes, RoutingProblem
from palmette.class_tree._shared_router import AverageRouter, FlatRouter
from palmette.forest._splits import AxisSplit, Hellinger, LogisticSplit

__all__ = [
    "AverageRouter",
    "AxisSplit",
    "ChosenRouter",
    "EstimatorRouter",
    "FlatRouter",
    "ForestRouter",
    "Hellinger",
    "KernelRouter",
    "LinearRouter",
    "LogisticSplit",
    "OptionTable",
    "Router",
    "Routes",
    "RoutingProblem",
    "SpectralRouter",
]
