"""How alike two hierarchies over the same classes are: tree MSE, triplets, purity of clades."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.metrics._class_distances import (
    check_count,
    class_distance,
    distance_rows,
    draw_distinct,
    match_classes,
    reciprocal,
)

__all__ = ["clade_purity", "tree_mse", "triplet_accuracy"]

IntArray = NDArray[np.int32]
_EXACT_PAIRS = 20_000  # classes up to which all pairs are compared: some seconds
_EXACT_TRIPLETS = 5_000  # classes up to which all triplets are compared
_SAMPLED_PAIRS = 10_000_000
_SAMPLED_TRIPLETS = 2_000_000


def tree_mse(
    tree: Hierarchy,
    reference: Hierarchy,
    *,
    classes: Any = None,
    n_pairs: int | Literal["auto"] | None = "auto",
    random_state: Any = None,
) -> float:
    """Mean squared difference of the similarities that two trees give to pairs of classes.

    The similarity of two classes is 1 / (edges between them), and 0 of a class to itself; the mean
    is over all pairs, those of a class with itself included.

    Parameters
    ----------
    tree, reference : Hierarchy
        Trees with the same leaves, matched by name (or by path string where names differ).
    classes : array-like of names or paths, optional
        Compare these nodes, to be found in both, instead of all leaves.
    n_pairs : int, "auto" or None, default="auto"
        Draw so many random pairs; None takes all; "auto" all up to 20,000 classes, 10 million
        random ones beyond.
    random_state : int, RandomState instance or None
        For the random pairs.

    Returns
    -------
    float

    Notes
    -----
    Of the two values in Figure 3 of the paper, .03125 comes out exactly (see the example); .01383
    is not the value of any tree over four classes. The measure mostly tells whether two trees are
    equally deep: look at `triplet_accuracy` and `clade_purity` beside it.

    References
    ----------
    L. Liu, P.-N. Tan, X. Liu (2015). MF-Tree: matrix factorization tree for large multi-class
    learning.

    Examples
    --------
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
    >>> swapped = Hierarchy.from_paths([("p", 1), ("p", 3), ("q", 2), ("q", 4)])
    >>> tree_mse(actual, swapped)
    0.03125
    """
    nodes = match_classes(tree, reference, classes, "tree_mse")
    n_classes = len(nodes[0])
    if n_classes < 2:
        return 0.0
    if n_pairs is None or (n_pairs == "auto" and n_classes <= _EXACT_PAIRS):
        total = 0.0
        for hops, other in distance_rows((tree, reference), nodes, "hops"):
            total += float(np.square(reciprocal(hops) - reciprocal(other)).sum())
        return total / n_classes**2
    n_drawn = _SAMPLED_PAIRS if n_pairs == "auto" else check_count(n_pairs, "n_pairs")
    total = 0.0
    for first, second in draw_distinct(n_classes, 2, n_drawn, random_state):
        hops, other = (
            h.distance(at[first], at[second])
            for h, at in zip((tree, reference), nodes, strict=True)
        )
        total += float(np.square(reciprocal(hops) - reciprocal(other)).sum())
    return total / n_drawn * (n_classes - 1) / n_classes  # a class and itself are never drawn


def triplet_accuracy(
    tree: Hierarchy,
    reference: Hierarchy,
    n_triplets: int | Literal["auto"] | None = "auto",
    random_state: Any = None,
    *,
    by: Literal["hops", "lca"] = "hops",
    classes: Any = None,
) -> float:
    """Share of triplets of classes in which the tree agrees on which of two is nearer to a third.

    A triplet that the reference leaves open (both equally near) asks nothing and is left out; one
    that only the tree leaves open counts a half. So chance is 0.5.

    Parameters
    ----------
    tree, reference : Hierarchy
        Trees with the same leaves, matched by name (or by path string where names differ).
    n_triplets : int, "auto" or None, default="auto"
        Draw so many random triplets; None takes all; "auto" all up to 5,000 classes, 2 million
        random ones beyond.
    random_state : int, RandomState instance or None
        For the random triplets.
    by : {"hops", "lca"}, default="hops"
        Nearer by number of edges, or by the depth of the common ancestor (which does not depend on
        how deep a class itself lies).
    classes : array-like of names or paths, optional
        Compare these nodes, to be found in both, instead of all leaves.

    Returns
    -------
    float

    Examples
    --------
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
    >>> swapped = Hierarchy.from_paths([("p", 1), ("p", 3), ("q", 2), ("q", 4)])
    >>> triplet_accuracy(actual, actual), triplet_accuracy(swapped, actual)
    (1.0, 0.25)
    """
    if by not in ("hops", "lca"):
        raise PalmetteError(f"by={by!r}: expected 'hops' or 'lca'.")
    nodes = match_classes(tree, reference, classes, "triplet_accuracy")
    n_classes = len(nodes[0])
    if n_classes < 3:
        raise HierarchyError(f"a triplet needs three classes, got {n_classes}.")
    exact = n_triplets is None or (n_triplets == "auto" and n_classes <= _EXACT_TRIPLETS)
    if exact:
        right, asked = _all_triplets((tree, reference), nodes, by)
    else:
        n_drawn = (
            _SAMPLED_TRIPLETS if n_triplets == "auto" else check_count(n_triplets, "n_triplets")
        )
        right, asked = _some_triplets((tree, reference), nodes, by, n_drawn, random_state)
    if not asked:
        raise HierarchyError(
            "the reference puts all classes equally far apart, so that no triplet has an answer. "
            "Use a reference with some structure."
        )
    return right / asked


def clade_purity(
    tree: Hierarchy, reference: Hierarchy, *, level: int = 1, classes: Any = None
) -> float:
    """How pure the clades (subtrees) of a tree are in the groups of a reference.

    For every two classes of one group, take the smallest clade of the tree that holds both, and the
    share of its classes that are of that group; the mean over all such pairs (dendrogram purity). 1
    means that every group is a clade.

    Parameters
    ----------
    tree, reference : Hierarchy
        Trees with the same leaves, matched by name (or by path string where names differ).
    level : int, default=1
        Depth of the reference's nodes that are the groups; a shallower class is a group of its own.
    classes : array-like of names or paths, optional
        Compare these nodes, to be found in both, instead of all leaves.

    Returns
    -------
    float

    References
    ----------
    K. A. Heller, Z. Ghahramani (2005). Bayesian hierarchical clustering.

    Examples
    --------
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
    >>> swapped = Hierarchy.from_paths([("p", 1), ("p", 3), ("q", 2), ("q", 4)])
    >>> clade_purity(actual, actual), clade_purity(swapped, actual)
    (1.0, 0.5)
    """
    at, at_reference = match_classes(tree, reference, classes, "clade_purity")
    if not 1 <= level <= reference.max_depth:
        raise PalmetteError(f"level={level!r}: expected 1 to {reference.max_depth}.")
    above = at_reference.copy()
    while (deep := reference.depth[above] > level).any():
        above[deep] = reference.parents[above[deep]]
    _, group = np.unique(above, return_inverse=True)
    one_hot = sparse.csr_array(
        (np.ones(len(at)), (np.arange(len(at)), group)), shape=(len(at), group.max() + 1)
    )
    counts = sparse.csr_array(sparse.csr_array(tree.closure[at].astype(np.float64)).T @ one_hot)
    size = np.maximum(counts.sum(axis=1), 1.0)
    purity = sparse.csr_array(counts.multiply(1.0 / size[:, None]))
    # ordered pairs whose smallest clade is a node, a class and itself included: those within the
    # node less those within one of its children
    squares = counts.power(2)
    to_parent = sparse.csr_array(
        (np.ones(len(tree.edges)), (tree.edges[:, 0], tree.edges[:, 1])), shape=tree.closure.shape
    )
    pairs = sparse.csr_array(squares - to_parent @ squares)
    n_pairs = float(pairs.sum()) - len(at)
    if n_pairs <= 0:
        raise HierarchyError(
            f"every group of the reference at level {level} is one class: choose a smaller level."
        )
    of_itself = float(purity[at, group].sum())
    return (float(pairs.multiply(purity).sum()) - of_itself) / n_pairs


# ---------------------------------------------------------------------- triplets


def _all_triplets(
    trees: tuple[Hierarchy, Hierarchy], nodes: tuple[IntArray, IntArray], by: str
) -> tuple[float, float]:
    """Count right and asked triplets, class by class, from the table of its two distances."""
    right = asked = 0.0
    for i, (ours, theirs) in enumerate(distance_rows(trees, nodes, by)):
        ours, theirs = np.delete(ours, i), np.delete(theirs, i)
        ours, theirs = ours - ours.min(), theirs - theirs.min()
        width = int(ours.max()) + 1
        table = np.bincount(theirs * width + ours, minlength=(int(theirs.max()) + 1) * width)
        table = table.reshape(-1, width).astype(np.float64)
        nearer = np.cumsum(table, axis=0) - table  # strictly nearer by the reference
        agreeing = np.cumsum(nearer, axis=1) - nearer
        right += float((table * (agreeing + 0.5 * nearer)).sum())
        asked += float((table * nearer.sum(axis=1, keepdims=True)).sum())
    return right, asked


def _some_triplets(
    trees: tuple[Hierarchy, Hierarchy],
    nodes: tuple[IntArray, IntArray],
    by: str,
    n_drawn: int,
    random_state: Any,
) -> tuple[float, float]:
    right = asked = 0.0
    for anchor, first, second in draw_distinct(len(nodes[0]), 3, n_drawn, random_state):
        ours, theirs = (
            np.sign(
                class_distance(h, at[anchor], at[first], by)
                - class_distance(h, at[anchor], at[second], by)
            )
            for h, at in zip(trees, nodes, strict=True)
        )
        question = theirs != 0
        right += float((ours == theirs)[question].sum() + 0.5 * (ours == 0)[question].sum())
        asked += float(question.sum())
    return right, asked
