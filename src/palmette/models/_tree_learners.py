"""The registry of what learns a hierarchy of classes, by name."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from palmette.exceptions import PalmetteError


@dataclass(frozen=True)
class TreeLearner:
    """A learner of hierarchies by name.

    Parameters
    ----------
    name : str
    package, class_name : str
        The package of Palmette that has its class, and the name of that class.
    summary : str
        One line for a list.
    scale : bool
        Whether numbers should be standardized before it.
    label_sets : bool
        Whether it learns from the labels of rows only, not from their features.
    aliases : tuple of str
        Other names that papers use.
    """

    name: str
    package: str
    class_name: str
    summary: str
    scale: bool = True
    label_sets: bool = False
    aliases: tuple[str, ...] = ()


_LEARNERS = {
    spec.name: spec
    for spec in (
        TreeLearner(
            "agglomerative", "class_tree", "AgglomerativeTree", "dendrogram of the class means"
        ),
        TreeLearner(
            "balanced", "class_tree", "BalancedTree", "class means in groups of the same size"
        ),
        TreeLearner(
            "bhc", "class_tree", "BHCTree", "binary splits by Fisher's discriminant, annealed"
        ),
        TreeLearner(
            "dependence",
            "class_tree",
            "DependenceTree",
            "groups that rows depend on most (HSIC)",
            aliases=("rdm",),
        ),
        TreeLearner(
            "homer",
            "multilabel",
            "HOMERTree",
            "labels of the same rows, by balanced k-means",
            label_sets=True,
        ),
        TreeLearner(
            "k-means",
            "class_tree",
            "KMeansTree",
            "class means by balanced k-means, in shallow trees",
        ),
        TreeLearner(
            "label-embedding",
            "class_tree",
            "LabelEmbeddingTree",
            "classes that a classifier confuses",
            aliases=("cmtl",),
        ),
        TreeLearner(
            "margin", "class_tree", "MarginTree", "dendrogram of the margins between classes"
        ),
        TreeLearner(
            "mf-tree",
            "class_tree",
            "MFTree",
            "spectral splits, for thousands of classes",
            aliases=("mf",),
        ),
        TreeLearner(
            "nmf", "class_tree", "NMFTree", "non-negative factors of the class means", scale=False
        ),
        TreeLearner(
            "random", "class_tree", "RandomTree", "random groups: the baseline of the others"
        ),
        TreeLearner(
            "relaxed",
            "class_tree",
            "RelaxedTree",
            "margins; a class may be on both sides (a DAG)",
            aliases=("drhl",),
        ),
    )
}


def list_tree_learners() -> list[TreeLearner]:
    """Return all learners, by name."""
    return [_LEARNERS[name] for name in sorted(_LEARNERS)]


def find_tree_learner(name: str) -> TreeLearner:
    """Return the learner of a name, or of another name that papers give it.

    Examples
    --------
    >>> find_tree_learner("cmtl").name
    'label-embedding'
    """
    for spec in _LEARNERS.values():
        if name in (spec.name, *spec.aliases):
            return spec
    near = difflib.get_close_matches(name, _LEARNERS, n=2, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise PalmetteError(
        f"there is no learner of hierarchies {name!r}: expected one of "
        f"{', '.join(sorted(_LEARNERS))}.{hint}"
    )


def make_tree_learner(
    name: str,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    **parameters: Any,
) -> Any:
    """Return an unfitted learner.

    Parameters
    ----------
    name : str
    random_state : int or None
    n_jobs : int, optional
        Both for learners that have them.
    **parameters
        Of the learner.

    Returns
    -------
    estimator
        Its ``hierarchy_`` is there after ``fit(X, y)``.

    Examples
    --------
    >>> make_tree_learner("mf-tree", branching=4)
    MFTree(branching=4, random_state=0)
    """
    from importlib import import_module

    spec = find_tree_learner(name)
    learner = getattr(import_module(f"palmette.{spec.package}"), spec.class_name)()
    known = learner.get_params(deep=False)
    unknown = [key for key in parameters if key not in known]
    if unknown:
        raise PalmetteError(
            f"{spec.name} has no parameter {unknown[0]!r}: expected some of {', '.join(known)}."
        )
    given = {"random_state": random_state, "n_jobs": n_jobs, **parameters}
    return learner.set_params(**{key: value for key, value in given.items() if key in known})
