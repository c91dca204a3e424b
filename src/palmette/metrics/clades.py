"""Clades (sets of classes below one node) that two hierarchies have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError
from palmette.metrics._class_distances import match_classes

__all__ = ["clade_precision_recall_fscore"]

IntArray = NDArray[np.int64]


def clade_precision_recall_fscore(
    tree: Hierarchy, reference: Hierarchy, *, classes: Any = None
) -> tuple[float, float, float]:
    """Say how far two trees agree on their splits, by the groups of classes that both have.

    The groups are the sets of classes below a node, but for single classes and for all of them,
    which every tree has. A binary tree over a reference of many branches can have full recall,
    but no full precision.

    Parameters
    ----------
    tree, reference : Hierarchy
        Trees with the same leaves, matched by name (or by path string where names differ).
    classes : array-like of names or paths, optional
        Compare these nodes, to be found in both, instead of all leaves.

    Returns
    -------
    precision : float
        Share of the tree's groups that the reference has too.
    recall : float
        Share of the reference's groups that the tree has too.
    fscore : float
        Harmonic mean; 1 less it is the distance of Robinson and Foulds over its maximum. NaN, as
        the others, where there is no group to share.

    References
    ----------
    W. H. E. Day (1985). Optimal algorithms for comparing trees with labeled leaves.

    Examples
    --------
    >>> binary = Hierarchy.from_edges([("root", "p"), ("root", "q"), ("p", 1), ("p", 2),
    ...                                ("q", 3), ("q", "r"), ("r", 4), ("r", 5)])
    >>> actual = Hierarchy.from_paths([("p", 1), ("p", 2), ("q", 3), ("q", 4), ("q", 5)])
    >>> precision, recall, fscore = clade_precision_recall_fscore(binary, actual)
    >>> round(precision, 3), recall, fscore
    (0.667, 1.0, 0.8)
    """
    nodes, at_reference = match_classes(tree, reference, classes, "clade_precision_recall_fscore")
    if len(nodes) < 2:
        raise HierarchyError(f"groups of classes need two classes at least, got {len(nodes)}.")
    # classes in the order of the reference: there the classes of a group stand side by side
    order = np.empty(len(nodes), dtype=np.int64)
    order[np.argsort(at_reference, kind="stable")] = np.arange(len(nodes))
    groups = _groups(reference, at_reference.astype(np.int64), order)
    found = _groups(tree, nodes.astype(np.int64), order)
    shared = len(groups & found)
    if not groups and not found:
        return (float("nan"),) * 3
    precision = shared / len(found) if found else float("nan")
    recall = shared / len(groups) if groups else float("nan")
    return precision, recall, 2 * shared / (len(groups) + len(found))


def _groups(hierarchy: Hierarchy, nodes: IntArray, order: IntArray) -> set[tuple[int, ...]]:
    """Return the groups of a tree as (first, last) places where they are unbroken.

    Other groups are none of the reference's: the number of their node tells them apart.
    """
    n = len(nodes)
    first = np.full(hierarchy.n_nodes, n, dtype=np.int64)
    last = np.full(hierarchy.n_nodes, -1, dtype=np.int64)
    size = np.zeros(hierarchy.n_nodes, dtype=np.int64)
    first[nodes], last[nodes], size[nodes] = order, order, 1
    parents = hierarchy.parents
    for node in range(hierarchy.n_nodes - 1, 0, -1):  # children before their parents
        above = parents[node]
        first[above] = min(first[above], first[node])
        last[above] = max(last[above], last[node])
        size[above] += size[node]
    found: set[tuple[int, ...]] = set()
    for node in np.flatnonzero((size > 1) & (size < n)).tolist():
        place = (int(first[node]), int(last[node]))
        if place[1] - place[0] + 1 == size[node]:
            found.add(place)
        elif size[parents[node]] != size[node]:  # a chain of only children is one group
            found.add((*place, node))
    return found
