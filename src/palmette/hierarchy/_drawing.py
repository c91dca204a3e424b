"""Draw a hierarchy as text, and compute the positions of its nodes in a picture."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.exceptions import HierarchyError

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

IntArray = NDArray[np.int64]
_LEVEL = "   "  # indentation of one level
_DEEPEST = 200  # levels of a drawing: the lines of a long chain would be quadratic in its length
Shown = dict[int, list[int]]  # node -> those of its children that are drawn, in their order


def draw(
    hierarchy: Hierarchy,
    max_lines: int | None = 40,
    annotations: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
) -> str:
    """Draw a tree with box characters; a node of a DAG appears once under each parent.

    Lines are allocated from the root downwards: each level is shown as long as it fits, and the
    children that are left out are counted. With `weights`, the nodes of highest weight are shown.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_lines : int or None
        Maximum number of lines, at least 3; None draws everything down to 200 levels.
    annotations : sequence of str of length n_nodes, optional
        Text to put after the name of each node.
    weights : array-like of shape (n_nodes,), optional
        Importance of each node, such as a number of rows. The lines go to the nodes of highest
        weight first, and children are sorted by weight. NaN is below any number.

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("fungus",), ("plant",)])
    >>> print(draw(h, max_lines=5, weights=[9, 6, 1, 5, 2, 1]))
    root
    ├─ animal
    │  ├─ dog
    │  └─ cat
    └─ … 2 more
    """
    if annotations is not None and len(annotations) != hierarchy.n_nodes:
        raise HierarchyError(
            f"got {len(annotations)} annotations for {hierarchy.n_nodes} nodes: expected one per "
            "node."
        )
    shown = choose_nodes(hierarchy, max_lines, weights)
    lines: list[str] = []
    # (node, prefix of its line, prefix of its children's lines)
    stack = [(0, "", "")]
    expanded: set[int] = set()
    while stack:
        node, prefix, indent = stack.pop()
        if node < 0:
            lines.append(f"{prefix}… {-node} more")
            continue
        text = one_line(hierarchy.names[node])
        if annotations is not None and annotations[node]:
            text += f"  {annotations[node]}"
        if node not in expanded:  # in a DAG a node is drawn again, but not its descendants
            expanded.add(node)
            is_cut = len(indent) >= len(_LEVEL) * _DEEPEST
            if not is_cut:
                stack.extend(reversed(_entries(hierarchy, node, indent, shown)))
            if (is_cut or not shown[node]) and not hierarchy.is_leaf[node]:
                text += f"  … {len(hierarchy.children(node))} more"
        lines.append(prefix + text)
    return "\n".join(lines)


def one_line(name: object) -> str:
    r"""Return a name without line breaks: control characters become dots.

    Examples
    --------
    >>> one_line("a\nb")
    'a·b'
    """
    return "".join(c if c.isprintable() else "·" for c in str(name))


def short_path(hierarchy: Hierarchy, node: int, most: int = 100) -> str:
    """Return the path of a node joined by "/", without the upper names of a long one.

    `Hierarchy.path_strings` holds all paths, which take too much memory for long chains.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("a", "b", "c", "d")])
    >>> short_path(h, 4), short_path(h, 4, most=2), short_path(h, 0)
    ('a/b/c/d', '…/c/d', 'root')
    """
    steps = [str(hierarchy.names[node])]
    while hierarchy.is_tree and (node := hierarchy._parent_list[node]) > 0:
        if len(steps) == most:
            steps.append("…")
            break
        steps.append(str(hierarchy.names[node]))
    return "/".join(steps[::-1])


def choose_nodes(
    hierarchy: Hierarchy, max_lines: int | None = None, weights: ArrayLike | None = None
) -> Shown:
    """Choose the nodes to draw: by weight if weights are given, else by level.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_lines : int or None
        Maximum number of nodes, each "n more" counted as one; None for all.
    weights : array-like of shape (n_nodes,), optional

    Returns
    -------
    dict of int to list of int
        For each shown node, its children that are shown, in order.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> choose_nodes(Hierarchy.star("abcdef"), max_lines=4)
    {0: [1, 2], 1: [], 2: []}
    """
    # a complete drawing of a DAG has one line per edge
    budget = len(hierarchy.edges) + 1 if max_lines is None else max(max_lines, 3)
    if weights is None:
        return _choose_by_level(hierarchy, budget)
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.shape != (hierarchy.n_nodes,):
        raise HierarchyError(
            f"weights have shape {numbers.shape}: expected ({hierarchy.n_nodes},), one number per "
            "node."
        )
    return _choose_by_weight(hierarchy, budget, np.nan_to_num(numbers, nan=-np.inf))


def _choose_by_level(hierarchy: Hierarchy, budget: int) -> Shown:
    """Choose children to show: breadth first, larger families are abbreviated first."""
    shown: Shown = {0: []}
    frontier = [0]
    left = budget - 1
    while frontier and left > 0:
        families = [(node, hierarchy.children(node)) for node in frontier]
        families = sorted(families, key=lambda family: len(family[1]))
        frontier = []
        for i, (node, children) in enumerate(families):
            # lines that small families do not need go to larger ones
            share = min(max(3, left // (len(families) - i)), left)
            # one more child takes as many lines as the line "1 more"
            n_shown = len(children) if len(children) <= share else max(share - 1, 0)
            shown[node] = children[:n_shown].tolist()
            left -= min(n_shown + 1, len(children)) if n_shown else 0
            new = [child for child in shown[node] if child not in shown]
            shown.update((child, []) for child in new)
            frontier.extend(new)
    return shown


def _choose_by_weight(hierarchy: Hierarchy, budget: int, weights: NDArray[np.float64]) -> Shown:
    """Choose children to show: repeatedly the child of highest weight below a shown node."""
    shown: Shown = {0: []}
    waiting = {0: _by_weight(hierarchy.children(0), weights)}  # by parent, in ascending weight
    heap = [(-weights[children[-1]], parent) for parent, children in waiting.items() if children]
    spent = 1
    while heap:
        _, parent = heapq.heappop(heap)
        siblings = waiting[parent]
        child = siblings[-1]
        is_new = child not in shown
        # its own line, and the line "n more" if it is the first but not the last
        cost = 1 + (len(siblings) > 1) - bool(shown[parent])
        if spent + cost > budget:
            continue  # siblings of lower weight must not come before it
        spent += cost
        shown[parent].append(siblings.pop())
        if is_new:
            shown[child] = []
            waiting[child] = _by_weight(hierarchy.children(child), weights)
            _push(heap, child, waiting, weights)
        _push(heap, parent, waiting, weights)
    return shown


def _by_weight(children: NDArray[np.int32], weights: NDArray[np.float64]) -> list[int]:
    """Sort children by ascending weight, to be popped; ties keep their order when popped."""
    order = np.argsort(-weights[children], kind="stable")
    found: list[int] = children[order[::-1]].tolist()
    return found


def _push(
    heap: list[tuple[float, int]],
    parent: int,
    waiting: dict[int, list[int]],
    weights: NDArray[np.float64],
) -> None:
    if waiting[parent]:
        heapq.heappush(heap, (-weights[waiting[parent][-1]], parent))


def _entries(
    hierarchy: Hierarchy, node: int, indent: str, shown: Shown
) -> list[tuple[int, str, str]]:
    visible = list(shown[node])
    hidden = len(hierarchy.children(node)) - len(visible)
    if hidden and visible:
        visible.append(-hidden)
    last = len(visible) - 1
    return [
        (child, indent + ("└─ " if i == last else "├─ "), indent + (_LEVEL if i == last else "│  "))
        for i, child in enumerate(visible)
    ]


def summarize(hierarchy: Hierarchy) -> str:
    """Describe a hierarchy in one line."""
    kind = "tree" if hierarchy.is_tree else "DAG"
    sizes = hierarchy.level_sizes[1:].tolist()
    levels = "/".join(map(str, sizes[:8])) + ("/..." if len(sizes) > 8 else "")
    return (
        f"{kind}, {hierarchy.n_nodes:,} nodes with the root, {hierarchy.n_leaves:,} leaves, "
        f"depth {hierarchy.max_depth}{f' ({levels} by level)' if levels else ''}"
    )


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
    """Place the nodes of a hierarchy, abbreviated as in `palmette.hierarchy._drawing.draw`.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_nodes : int or None
        Maximum number of marks; None for all.
    weights : array-like of shape (n_nodes,), optional
        Importance of each node: those of highest weight are shown.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
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
