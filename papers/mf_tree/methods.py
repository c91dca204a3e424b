"""The methods of Table 2, those of Table 3, and the trees that are only looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from palmette.core.hierarchy import Hierarchy

__all__ = ["TAUS", "Method", "Options", "approximations", "methods", "plain_trees", "variants"]

TAUS = (0, 3, 4, 5, 6)  # 3 to 6 as in the paper
RHOS = (0.5,)  # beside the usual .7
BRANCHINGS = (3, 5)  # beside 2
BEAM = 5
_STEPS = 100  # of liblinear: most classes of Diatoms do not settle within twice as many
_GREEDY = {"decoding": "greedy"}
_BEAM = {"decoding": "beam", "beam_width": BEAM}


@dataclass(frozen=True)
class Options:
    """What all methods take.

    Parameters
    ----------
    seed : int
    n_jobs : int or None
    """

    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class Method:
    """One fit, which may answer in several ways.

    Parameters
    ----------
    key : str
        Names it in the store and in figures.
    grow : callable or None
        Takes Options and gives the learner of the tree; None where the classifier has its own.
    make : callable or None
        Takes the tree, or None, and Options and gives the classifier; None where only the tree is
        looked at.
    answers : dict of str to dict
        Ways to answer: parameters to set on the fitted classifier, by the words for them.
    """

    key: str
    grow: Callable[[Options], Any] | None
    make: Callable[[Hierarchy | None, Options], Any] | None
    answers: dict[str, dict[str, Any]] = field(default_factory=lambda: {"": {}})


def methods() -> list[Method]:
    """Return the methods of Table 2: as published, ours, the paper's rivals, and one-vs-rest.

    Examples
    --------
    >>> [method.key for method in methods()][:3]
    ['MF-Tree as published', 'MF-Tree', 'MF-Tree, binary']
    """
    return [
        Method("MF-Tree as published", None, _mf_published),
        Method("MF-Tree", None, _mf_default),
        _routed("MF-Tree, binary", _mf_tree),
        Method("DAGSVM", None, _dag_svm),
        _routed("DRHL", _relaxed),
        _routed("CMTL", _label_embedding),
        _routed("RNMF", _nmf),
        _routed("RDM", _dependence),
        Method("one-vs-rest", _star, _follow, {"": _GREEDY}),
        Method("one-vs-rest, scikit-learn", None, _linear_svc),
    ]


def variants() -> list[Method]:
    """Return the rivals with the other settings that the paper tries, for Figure 2."""
    return [
        *(_routed(f"DRHL, rho={rho}", _changed(_relaxed, rho=rho)) for rho in RHOS),
        *(_routed(f"RNMF, p={p}", _changed(_nmf, branching=p)) for p in BRANCHINGS),
        *(_routed(f"RDM, p={p}", _changed(_dependence, branching=p)) for p in BRANCHINGS),
    ]


def approximations() -> list[Method]:
    """Return the methods of Table 3: binary trees whose first levels are divided the quick way."""
    return [_routed(f"MF-Tree, tau={tau}", _changed(_mf_tree, tau=tau)) for tau in TAUS]


def plain_trees() -> list[Method]:
    """Return the trees that Figure 4 shows beside those of the methods."""
    return [Method("average linkage", _linkage, None, {}), Method("random", _random, None, {})]


def _routed(key: str, grow: Callable[[Options], Any]) -> Method:
    """Put linear classifiers at the nodes; decide greedily, as published, or by a beam."""
    return Method(key, grow, _follow, {"greedy": _GREEDY, f"beam {BEAM}": _BEAM})


# ---------------------------------------------------------------------- trees


def _mf_tree(options: Options) -> Any:
    from palmette.class_tree.mf import MFTree

    return MFTree(random_state=options.seed)


def _changed(grow: Callable[[Options], Any], **parameters: Any) -> Callable[[Options], Any]:
    return lambda options: grow(options).set_params(**parameters)


def _label_embedding(options: Options) -> Any:
    from palmette.class_tree.label_embedding import LabelEmbeddingTree

    return LabelEmbeddingTree(random_state=options.seed, n_jobs=options.n_jobs)


def _dependence(options: Options) -> Any:
    from palmette.class_tree.dependence import DependenceTree

    return DependenceTree(random_state=options.seed)


def _nmf(options: Options) -> Any:
    from palmette.class_tree.nmf import NMFTree

    return NMFTree(random_state=options.seed)


def _relaxed(options: Options) -> Any:
    from palmette.class_tree.relaxed import RelaxedTree

    # one start and three turns instead of two and five, to save time
    return RelaxedTree(n_starts=1, max_iter=3, random_state=options.seed)


def _star(options: Options) -> Any:
    """One group of all classes: one-vs-rest by the code that follows the other trees."""
    from palmette.class_tree.random import RandomTree

    return RandomTree(leaf_size=2**31 - 1)


def _linkage(options: Options) -> Any:
    from palmette.class_tree.agglomerative import AgglomerativeTree

    return AgglomerativeTree("average", "cosine")


def _random(options: Options) -> Any:
    from palmette.class_tree.random import RandomTree

    return RandomTree(random_state=options.seed)


# ---------------------------------------------------------------------- classifiers


def _follow(tree: Hierarchy | None, options: Options) -> Any:
    from palmette.class_tree.classifier import ClassTreeClassifier

    return ClassTreeClassifier(tree, random_state=options.seed, n_jobs=options.n_jobs)


def _mf_published(tree: Hierarchy | None, options: Options) -> Any:
    from palmette.class_tree.mf_classifier import MFTreeClassifier

    return MFTreeClassifier.preset("published").set_params(
        random_state=options.seed, n_jobs=options.n_jobs
    )


def _mf_default(tree: Hierarchy | None, options: Options) -> Any:
    from palmette.class_tree.mf_classifier import MFTreeClassifier

    return MFTreeClassifier(random_state=options.seed, n_jobs=options.n_jobs)


def _dag_svm(tree: Hierarchy | None, options: Options) -> Any:
    from palmette.class_tree.dag_svm import DAGSVMClassifier

    return DAGSVMClassifier(random_state=options.seed, n_jobs=options.n_jobs)


def _linear_svc(tree: Hierarchy | None, options: Options) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(max_iter=_STEPS, random_state=options.seed)
