"""All measures of how alike two hierarchies are, at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError
from palmette.metrics.clades import clade_precision_recall_fscore
from palmette.metrics.edit_distance import tree_edit_distance
from palmette.metrics.trees import clade_purity, tree_mse, triplet_accuracy

__all__ = ["compare_trees"]

IntArray = NDArray[np.int32]
_MOST_EDITED = 1_500  # nodes: an edit distance of more takes minutes


def compare_trees(
    tree: Hierarchy, reference: Hierarchy, *, random_state: Any = None
) -> dict[str, Any]:
    """Compare a tree with another over the classes that both have as leaves.

    Parameters
    ----------
    tree, reference : Hierarchy
        Trees. Leaves are matched by name, or by path string where names repeat; leaves of one
        alone are left out.
    random_state : int, RandomState instance or None
        For what is drawn from many classes; see `tree_mse` and `triplet_accuracy`.

    Returns
    -------
    dict
        ``n_classes``, ``n_only_tree`` and ``n_only_reference``: leaves compared and left out;
        ``tree_mse``; ``edit_distance`` between the trees cut to these classes, names of leaves
        alone and siblings in any order; ``clade_precision``, ``clade_recall`` and
        ``clade_fscore``: agreement of splits; ``triplet_accuracy``; ``clade_purity``. None where a
        measure says nothing about these trees, such as triplets of a star, or costs too much.

    Examples
    --------
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4)])
    >>> swapped = Hierarchy.from_paths([("p", 1), ("p", 3), ("q", 2), ("q", 4)])
    >>> found = compare_trees(swapped, actual)
    >>> found["edit_distance"], found["clade_fscore"], found["triplet_accuracy"]
    (2.0, 0.0, 0.25)
    """
    for h in (tree, reference):
        h.require_tree("compare_trees")
    first, second = _shared_leaves(tree, reference)
    cut, cut_reference = _cut_to(tree, first), _cut_to(reference, second)
    precision, recall, fscore = (
        None if np.isnan(value) else value
        for value in clade_precision_recall_fscore(cut, cut_reference)
    )
    return {
        "n_classes": len(first),
        "n_only_tree": tree.n_leaves - len(first),
        "n_only_reference": reference.n_leaves - len(first),
        "tree_mse": tree_mse(cut, cut_reference, random_state=random_state),
        "edit_distance": _edits(cut, cut_reference),
        "clade_precision": precision,
        "clade_recall": recall,
        "clade_fscore": fscore,
        "triplet_accuracy": _or_none(
            lambda: triplet_accuracy(cut, cut_reference, random_state=random_state)
        ),
        "clade_purity": _or_none(lambda: clade_purity(cut, cut_reference)),
    }


def _shared_leaves(tree: Hierarchy, reference: Hierarchy) -> tuple[IntArray, IntArray]:
    """Leaves of the same classes in both, in the same order; numbers match their digits."""
    best: list[tuple[int, int]] = []
    for ours in (_leaves_by(tree, tree.names), _leaves_by(tree, tree.path_strings)):
        for spelled in (reference.names, reference.path_strings):
            theirs = _leaves_by(reference, spelled)
            pairs = [(leaf, theirs[name]) for name, leaf in ours.items() if name in theirs]
            best = pairs if len(pairs) > len(best) else best
    if len(best) < 2:
        raise HierarchyError(
            f"the trees have {len(best)} leaves in common, expected two at least: the first has "
            f"{_some(tree)}, the second {_some(reference)}. Use the same names in both."
        )
    pairs_array = np.array(best, dtype=np.int32)
    return pairs_array[:, 0], pairs_array[:, 1]


def _leaves_by(hierarchy: Hierarchy, spelled: NDArray[Any]) -> dict[str, int]:
    """Leaves by a spelling of their name, without those that share it."""
    names = [str(spelled[leaf]) for leaf in hierarchy.leaves]
    counts = Counter(names)
    leaves = hierarchy.leaves.tolist()
    return {n: leaf for n, leaf in zip(names, leaves, strict=True) if counts[n] == 1}


def _some(hierarchy: Hierarchy) -> str:
    shown = ", ".join(repr(str(hierarchy.names[leaf])) for leaf in hierarchy.leaves[:3])
    return shown + (", ..." if hierarchy.n_leaves > 3 else "")


def _cut_to(hierarchy: Hierarchy, leaves: IntArray) -> Hierarchy:
    """Keep some leaves, called 0, 1, ... in their order, and what is above them."""
    kept = np.unique(hierarchy.closure[leaves].indices)
    place = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    names: list[Any] = [f"node {node}" for node in kept.tolist()]
    for number, leaf in enumerate(leaves.tolist()):
        names[place[leaf]] = number
    below = kept[hierarchy.parents[kept] >= 0]
    return Hierarchy(names, np.column_stack([place[hierarchy.parents[below]], place[below]]))


def _or_none(measure: Callable[[], float]) -> float | None:
    try:
        return measure()
    except HierarchyError:
        return None


def _edits(tree: Hierarchy, reference: Hierarchy) -> float | None:
    if max(tree.n_nodes, reference.n_nodes) > _MOST_EDITED:
        return None
    return tree_edit_distance(tree, reference, names="leaves", order="sorted")
