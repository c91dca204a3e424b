"""The same classes in two trees, and the distances between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError, PalmetteError

__all__ = [
    "check_count",
    "class_distance",
    "distance_rows",
    "draw_distinct",
    "match_classes",
    "reciprocal",
]

IntArray = NDArray[np.int32]
_DRAWN_AT_ONCE = 1_000_000  # pairs or triplets


def match_classes(
    tree: Hierarchy, reference: Hierarchy, classes: Any, who: str
) -> tuple[IntArray, IntArray]:
    """Nodes of the same classes, in the same order, in both trees."""
    tree.require_tree(who)
    reference.require_tree(who)
    if classes is not None:
        names = list(classes)
        return tree.index(names), reference.index(names)
    leaves, others = tree.leaves, reference.leaves
    for spelled in (tree.names, tree.path_strings):
        for also in (reference.names, reference.path_strings):
            keys = dict(zip(spelled[leaves], leaves, strict=True))
            found = dict(zip(also[others], others, strict=True))
            if (
                len(keys) == len(leaves) == len(found) == len(others)
                and keys.keys() == found.keys()
            ):
                matched = np.array([found[key] for key in keys], dtype=np.int32)
                return leaves, matched
    raise HierarchyError(_describe_mismatch(tree, reference, who))


def _describe_mismatch(tree: Hierarchy, reference: Hierarchy, who: str) -> str:
    ours, theirs = set(tree.names[tree.leaves]), set(reference.names[reference.leaves])
    apart = [repr(name) for name in (*(ours - theirs), *(theirs - ours))]
    example = f" (e.g. {sorted(apart)[0]} is in one only)" if apart else " (names occur twice)"
    return (
        f"{who} compares trees over the same leaves, but the first has {tree.n_leaves} and the "
        f"second {reference.n_leaves} that do not match by name{example}. Pass classes= to compare "
        "the nodes that both have."
    )


def check_count(count: Any, what: str) -> int:
    """Check a number of things to draw."""
    if not isinstance(count, int | np.integer) or count < 1:
        raise PalmetteError(f"{what}={count!r}: expected a positive integer, 'auto' or None.")
    return int(count)


# ---------------------------------------------------------------------- distances


def reciprocal(hops: NDArray[Any]) -> NDArray[np.float64]:
    """Return 1 / hops, and 0 for a class and itself."""
    similarity = np.zeros(hops.shape)
    np.divide(1.0, hops, out=similarity, where=hops > 0)
    return similarity


def distance_rows(
    trees: tuple[Hierarchy, Hierarchy], nodes: tuple[IntArray, IntArray], by: str
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield, for every class, its distances to all classes in both trees."""
    rows = [_TreeDistances(h, at) for h, at in zip(trees, nodes, strict=True)]
    for i in range(len(nodes[0])):
        yield rows[0].row(i, by), rows[1].row(i, by)


class _TreeDistances:
    """Distances from one class to all, without a search for every pair.

    Between two nodes in preorder, the depth of their lowest common ancestor is the least of those
    of the neighbours between them: a running minimum to either side gives a row.
    """

    def __init__(self, hierarchy: Hierarchy, nodes: IntArray) -> None:
        self.order = np.argsort(nodes, kind="stable")
        self.place = np.empty_like(self.order)
        self.place[self.order] = np.arange(len(nodes))
        ordered = nodes[self.order]
        self.depth = hierarchy.depth[nodes]
        self.between = hierarchy.depth[hierarchy.lca(ordered[:-1], ordered[1:])]

    def row(self, i: int, by: str) -> NDArray[Any]:
        """Return the distances from class i, of shape (n_classes,)."""
        at = self.place[i]
        meeting = np.empty_like(self.depth)
        meeting[at] = self.depth[i]
        meeting[at + 1 :] = np.minimum.accumulate(self.between[at:])
        meeting[:at] = np.minimum.accumulate(self.between[:at][::-1])[::-1]
        meeting = meeting[self.place]
        return -meeting if by == "lca" else self.depth + self.depth[i] - 2 * meeting


def class_distance(hierarchy: Hierarchy, a: IntArray, b: IntArray, by: str) -> NDArray[Any]:
    """Return the distance between nodes, elementwise: edges, or less the deeper they meet."""
    if by == "lca":
        return np.asarray(-hierarchy.depth[hierarchy.lca(a, b)])
    return np.asarray(hierarchy.distance(a, b))


def draw_distinct(
    n_classes: int, width: int, n_drawn: int, random_state: Any
) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Draw tuples of different classes, in chunks."""
    random = check_random_state(random_state)
    while n_drawn > 0:
        size = min(n_drawn, _DRAWN_AT_ONCE)
        drawn = np.empty((width, size), dtype=np.int64)
        for place in range(width):
            drawn[place] = random.randint(n_classes - place, size=size)
            for earlier in np.sort(drawn[:place], axis=0):  # skip over those already drawn
                drawn[place] += drawn[place] >= earlier
        n_drawn -= size
        yield tuple(drawn)
