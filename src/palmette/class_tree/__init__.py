"""Class hierarchies learnt from data, and classifiers that follow them."""

from palmette.class_tree.adaboost_bhc import AdaBoostBHCClassifier
from palmette.class_tree.agglomerative import AgglomerativeTree
from palmette.class_tree.balanced import BalancedTree
from palmette.class_tree.base import ClassTreeLearner
from palmette.class_tree.bhc import BHCTree
from palmette.class_tree.classifier import ClassTreeClassifier
from palmette.class_tree.dag_svm import DAGSVMClassifier
from palmette.class_tree.dependence import DependenceTree
from palmette.class_tree.ensemble import ClassTreeEnsemble
from palmette.class_tree.label_embedding import LabelEmbeddingTree
from palmette.class_tree.mf import MFTree
from palmette.class_tree.mf_classifier import MFTreeClassifier
from palmette.class_tree.nmf import NMFTree
from palmette.class_tree.random import RandomTree
from palmette.class_tree.relaxed import RelaxedTree

__all__ = [
    "AdaBoostBHCClassifier",
    "AgglomerativeTree",
    "BHCTree",
    "BalancedTree",
    "ClassTreeClassifier",
    "ClassTreeEnsemble",
    "ClassTreeLearner",
    "DAGSVMClassifier",
    "DependenceTree",
    "LabelEmbeddingTree",
    "MFTree",
    "MFTreeClassifier",
    "NMFTree",
    "RandomTree",
    "RelaxedTree",
]
