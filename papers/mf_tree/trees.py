"""The learners of trees that the methods of the paper are compared by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from papers.cells import Options

__all__ = [
    "PLAIN",
    "changed",
    "dependence",
    "label_embedding",
    "mf_tree",
    "nmf",
    "random_tree",
    "relaxed",
    "star",
]


# ---------------------------------------------------------------------- of the methods


def mf_tree(options: Options) -> Any:
    """Return a learner of the binary MFTree, by 2-means."""
    from palmette.class_tree import MFTree

    return MFTree(random_state=options.seed)


def changed(grow: Callable[[Options], Any], **parameters: Any) -> Callable[[Options], Any]:
    """Return a maker of the same learner with other parameters."""
    return lambda options: grow(options).set_params(**parameters)


def label_embedding(options: Options) -> Any:
    """Return a learner of CMTL's tree."""
    from palmette.class_tree import LabelEmbeddingTree

    return LabelEmbeddingTree(random_state=options.seed, n_jobs=options.n_jobs)


def dependence(options: Options) -> Any:
    """Return a learner of RDM's tree, over classes."""
    from palmette.class_tree import DependenceTree

    return DependenceTree(random_state=options.seed)


def nmf(options: Options) -> Any:
    """Return a learner of RNMF's tree, over classes."""
    from palmette.class_tree import NMFTree

    return NMFTree(random_state=options.seed)


def relaxed(options: Options) -> Any:
    """Return a learner of DRHL's tree."""
    from palmette.class_tree import RelaxedTree

    return RelaxedTree(random_state=options.seed)


def star(options: Options) -> Any:
    """One group of all classes: one-vs-rest by the code that follows the other trees."""
    from palmette.class_tree import RandomTree

    return RandomTree(leaf_size=2**31 - 1)


# ---------------------------------------------------------------------- only looked at


def _linkage(options: Options) -> Any:
    from palmette.class_tree import AgglomerativeTree

    return AgglomerativeTree("average", "cosine")


def _ward(options: Options) -> Any:
    from palmette.class_tree import AgglomerativeTree

    return AgglomerativeTree()


def _random(options: Options) -> Any:
    return random_tree(options.seed)


def random_tree(seed: int) -> Any:
    """Return a learner of a tree by chance."""
    from palmette.class_tree import RandomTree

    return RandomTree(random_state=seed)


def _fisher(options: Options) -> Any:
    from palmette.class_tree import BHCTree

    return BHCTree()


def _margin(options: Options) -> Any:
    from palmette.class_tree import MarginTree

    return MarginTree()


def _k_means(options: Options) -> Any:
    from palmette.class_tree import KMeansTree

    return KMeansTree(2, leaf_size=1, random_state=options.seed)


def _balanced(options: Options) -> Any:
    from palmette.class_tree import BalancedTree

    return BalancedTree()


def _homer(options: Options) -> Any:
    from palmette.multilabel import HOMERTree

    return HOMERTree(random_state=options.seed)


PLAIN: dict[str, Callable[[Options], Any]] = {
    "average linkage": _linkage,
    "random": _random,
    "Ward linkage": _ward,
    "BHCTree": _fisher,
    "MarginTree": _margin,
    "KMeansTree, binary": _k_means,
    "BalancedTree": _balanced,
    "HOMERTree": _homer,
}
