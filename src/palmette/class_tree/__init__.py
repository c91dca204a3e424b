"""Class hierarchies learned from data, and classifiers that follow them."""

from typing import TYPE_CHECKING

from palmette._imports import lazy_names

if TYPE_CHECKING:
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

# a model that follows a tree needs none of the methods that learn one
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "palmette.class_tree._adaboost_bhc": "AdaBoostBHCClassifier",
        "palmette.class_tree._agglomerative": "AgglomerativeTree",
        "palmette.class_tree._classifier": "ClassTreeClassifier",
        "palmette.class_tree._confusion": "LabelEmbeddingTree",
        "palmette.class_tree._dag_svm": "DAGSVMClassifier",
        "palmette.class_tree._dependence": "DependenceTree",
        "palmette.class_tree._ensemble": "ClassTreeEnsemble",
        "palmette.class_tree._fisher": "BHCTree",
        "palmette.class_tree._k_means_tree": "KMeansTree",
        "palmette.class_tree._learner": "ClassTreeLearner",
        "palmette.class_tree._margin": "MarginTree",
        "palmette.class_tree._mf_classifier": "MFTreeClassifier",
        "palmette.class_tree._nmf": "NMFTree",
        "palmette.class_tree._relaxed": "RelaxedTree",
        "palmette.class_tree._simple": "BalancedTree RandomTree",
        "palmette.class_tree._spectral": "MFTree",
    },
)
