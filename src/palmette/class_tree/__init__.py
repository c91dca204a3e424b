"""Class hierarchies learned from data, and classifiers that follow them."""

from palmette.class_tree._adaboost_bhc import AdaBoostBHCClassifier
from palmette.class_tree._agglomerative import AgglomerativeTree
from palmette.class_tree._classifier import ClassTreeClassifier
from palmette.class_tree._confusion import LabelEmbeddingTree
from palmette.class_tree._dag_svm import DAGSVMClassifier
from palmette.class_tree._dependence import DependenceTree
from palmette.class_tree._ensemble import ClassTreeEnsemble
from palmette.class_tree._fisher import BHCTree
from palmette.class_tree._k_means_tree import KMeansTree
from palmette.class_tree._learner import ClassTreeLearner
from palmette.class_tree._margin import MarginTree
from palmette.class_tree._mf_classifier import MFTreeClassifier
from palmette.class_tree._nmf import NMFTree
from palmette.class_tree._relaxed import RelaxedTree
from palmette.class_tree._simple import BalancedTree, RandomTree
from palmette.class_tree._spectral import MFTree

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
    "KMeansTree",
    "LabelEmbeddingTree",
    "MFTree",
    "MFTreeClassifier",
    "MarginTree",
    "NMFTree",
    "RandomTree",
    "RelaxedTree",
]
