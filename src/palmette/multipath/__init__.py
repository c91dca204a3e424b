"""Classifiers for several paths per row, in trees and DAGs, that predict all nodes jointly."""

from palmette.multipath._blend import CoherentBlendClassifier
from palmette.multipath._forest import CoherentForestClassifier, NodeExplanation
from palmette.multipath._kernel import CoherentKernelClassifier
from palmette.multipath._network import CoherentNetworkClassifier

__all__ = [
    "CoherentBlendClassifier",
    "CoherentForestClassifier",
    "CoherentKernelClassifier",
    "CoherentNetworkClassifier",
    "NodeExplanation",
]
