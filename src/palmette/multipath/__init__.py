"""Several paths a row, in trees and DAGs: classifiers that estimate all nodes together."""

from palmette.multipath.blend import CoherentBlendClassifier
from palmette.multipath.forest import CoherentForestClassifier, NodeExplanation
from palmette.multipath.kernel import CoherentKernelClassifier
from palmette.multipath.network import CoherentNetworkClassifier

__all__ = [
    "CoherentBlendClassifier",
    "CoherentForestClassifier",
    "CoherentKernelClassifier",
    "CoherentNetworkClassifier",
    "NodeExplanation",
]
