"""Positions of nodes in a picture of a hierarchy, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.core.drawing import Shown, choose_nodes

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["TreeLayout", "lay_out"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class TreeLayout:
    """Marks of a picture, parents before children: nodes, and marks for omitted children.

    Attributes
    ----------
    nodes : int array of shape (n_marks,)
        Node numbers; -1 for a mark of omitted children.
    parents : int array of shape (n_marks,)
        Positions in these arrays; -1 for the root. A node with several parents is below the first.
    depth : int array of shape (n_marks,)
        Number of edges from the root in the picture.
    across : float array of shape (n_marks,)
        Coordinates across the depth: marks without children have 0, 1, 2, ..., and a parent is
        midway between its first and its last child.
    hidden : int array of shape (n_marks,)
        Number of omitted children, of a node none of whose children is shown or of a mark for them.
    links : int array of shape (n_links, 2)
        Positions of further parents and their children.
    """

    nodes: IntArray
    parents: IntArray
    depth: IntArray
    across: NDArray[np.float64]
    hidden: IntArray
    links: IntArray

    @property
    def n_marks(self) -> int:
        """Number of marks."""
        return len(self.nodes)

    @property
    def n_ends(self) -> int:
        """Number of marks without children."""
        return self.n_marks - len(np.unique(self.parents[self.parents >= 0]))


def lay_out(
    hierarchy: Hierarchy, max_nodes: int | None = 200, weights: ArrayLike | None = None
) -> TreeLayout:
    """Place the nodes of a hierarchy, abbreviated as in `palmette.core.drawing.draw`.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_nodes : int or None
        Maximum number of marks; None for all.
    weights : array-like of shape (n_nodes,), optional
        Importance of each node: those of highest weight are shown.

    Returns
    -------
    TreeLayout

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> found = lay_out(Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)]))
    >>> found.depth.tolist(), found.across.tolist()
    ([0, 1, 2, 2, 1], [1.25, 0.5, 0.0, 1.0, 2.0])
    """
    shown = choose_nodes(hierarchy, max_nodes, weights)
    nodes, parents, depth, hidden, links = _walk(hierarchy, shown)
    return TreeLayout(
        np.array(nodes, dtype=np.int64),
        np.array(parents, dtype=np.int64),
        np.array(depth, dtype=np.int64),
        _across(parents),
        np.array(hidden, dtype=np.int64),
        np.array(links, dtype=np.int64).reshape(-1, 2),
    )


def _walk(
    hierarchy: Hierarchy, shown: Shown
) -> tuple[list[int], list[int], list[int], list[int], list[tuple[int, int]]]:
    """List the marks in preorder; edges to a node already listed become links."""
    nodes: list[int] = []
    parents: list[int] = []
    depth: list[int] = []
    hidden: list[int] = []
    places: dict[int, int] = {}
    later: list[tuple[int, int]] = []  # place of a further parent, and its child
    stack = [(0, -1, 0)]  # node or minus the number of omitted ones, place of the parent, depth
    while stack:
        node, parent, level = stack.pop()
        if node in places:
            later.append((parent, node))
            continue
        place = len(nodes)
        nodes.append(max(node, -1))
        parents.append(parent)
        depth.append(level)
        hidden.append(-node if node < 0 else 0)
        if node < 0:
            continue
        places[node] = place
        children = shown.get(node, [])
        left_out = len(hierarchy.children(node)) - len(children)
        if children and left_out:
            stack.append((-left_out, place, level + 1))
        elif left_out:
            hidden[place] = left_out
        stack.extend((child, place, level + 1) for child in reversed(children))
    return nodes, parents, depth, hidden, [(above, places[node]) for above, node in later]


def _across(parents: list[int]) -> NDArray[np.float64]:
    """Number the marks without children; a parent is midway between its first and last child."""
    first, last = np.full(len(parents), np.inf), np.full(len(parents), -np.inf)
    has_child = np.zeros(len(parents), dtype=bool)
    has_child[[parent for parent in parents if parent >= 0]] = True
    ends = np.flatnonzero(~has_child)
    first[ends] = last[ends] = np.arange(len(ends))
    for place in range(len(parents) - 1, 0, -1):
        middle, above = (first[place] + last[place]) / 2, parents[place]
        first[above], last[above] = min(first[above], middle), max(last[above], middle)
    middles: NDArray[np.float64] = (first + last) / 2
    return middles
