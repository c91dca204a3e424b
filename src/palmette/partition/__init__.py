"""How classes split: objects that divide the classes of a node into groups."""

from palmette.partition.agglomerative import AgglomerativePartition
from palmette.partition.balanced import BalancedPartition
from palmette.partition.base import ClassProblem, Partition
from palmette.partition.confusion import ConfusionPartition
from palmette.partition.dependence import DependencePartition
from palmette.partition.fisher import FisherPartition
from palmette.partition.label_two_means import LabelTwoMeans
from palmette.partition.nmf import NMFPartition
from palmette.partition.random import RandomPartition
from palmette.partition.relaxed import RelaxedPartition
from palmette.partition.spectral import SpectralPartition

__all__ = [
    "AgglomerativePartition",
    "BalancedPartition",
    "ClassProblem",
    "ConfusionPartition",
    "DependencePartition",
    "FisherPartition",
    "LabelTwoMeans",
    "NMFPartition",
    "Partition",
    "RandomPartition",
    "RelaxedPartition",
    "SpectralPartition",
]
