"""Routers: objects that train the classifiers of the nodes of a class tree."""

from typing import TYPE_CHECKING

from palmette._imports import lazy_names

if TYPE_CHECKING:
    from palmette.class_tree._chosen_router import ChosenRouter
    from palmette.class_tree._forest_router import ForestRouter
    from palmette.class_tree._kernel_router import KernelRouter
    from palmette.class_tree._linear import LinearRouter
    from palmette.class_tree._routers import EstimatorRouter
    from palmette.class_tree._routing import OptionTable, Router, Routes, RoutingProblem
    from palmette.class_tree._shared_router import AverageRouter, FlatRouter
    from palmette.class_tree._spectral_router import SpectralRouter
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

# a prediction needs one of them
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "palmette.class_tree._chosen_router": "ChosenRouter",
        "palmette.class_tree._forest_router": "ForestRouter",
        "palmette.class_tree._kernel_router": "KernelRouter",
        "palmette.class_tree._linear": "LinearRouter",
        "palmette.class_tree._routers": "EstimatorRouter",
        "palmette.class_tree._routing": "OptionTable Router Routes RoutingProblem",
        "palmette.class_tree._shared_router": "AverageRouter FlatRouter",
        "palmette.class_tree._spectral_router": "SpectralRouter",
        "palmette.forest._splits": "AxisSplit Hellinger LogisticSplit",
    },
)
