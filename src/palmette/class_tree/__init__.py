"""Class hierarchies learnt from data."""

from palmette.class_tree.agglomerative import AgglomerativeTree
from palmette.class_tree.balanced import BalancedTree
from palmette.class_tree.base import ClassTreeLearner
from palmette.class_tree.bhc import BHCTree
from palmette.class_tree.dependence import DependenceTree
from palmette.class_tree.label_embedding import LabelEmbeddingTree
from palmette.class_tree.mf import MFTree
from palmette.class_tree.nmf import NMFTree
from palmette.class_tree.random import RandomTree
from palmette.class_tree.relaxed import RelaxedTree

__all__ = [
    "AgglomerativeTree",
    "BHCTree",
    "BalancedTree",
    "ClassTreeLearner",
    "DependenceTree",
    "LabelEmbeddingTree",
    "MFTree",
    "NMFTree",
    "RandomTree",
    "RelaxedTree",
]
