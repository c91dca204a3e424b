"""Class hierarchies learnt from data, and classifiers that follow them."""

from palmette.class_tree._agglomerative import AgglomerativeTree
from palmette.class_tree._balanced import BalancedTree
from palmette.class_tree._confusion import LabelEmbeddingTree
from palmette.class_tree._dependence import DependenceTree
from palmette.class_tree._fisher import BHCTree
from palmette.class_tree._learner import ClassTreeLearner
from palmette.class_tree._nmf import NMFTree
from palmette.class_tree._random import RandomTree
from palmette.class_tree._relaxed import RelaxedTree
from palmette.class_tree._spectral import MFTree
from palmette.class_tree.adaboost_bhc import AdaBoostBHCClassifier
from palmette.class_tree.classifier import ClassTreeClassifier
from palmette.class_tree.dag_svm import DAGSVMClassifier
from palmette.class_tree.ensemble import ClassTreeEnsemble
from palmette.class_tree.mf_classifier import MFTreeClassifier

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
