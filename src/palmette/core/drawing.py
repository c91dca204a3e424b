"""Draw a hierarchy as text, cut sensibly when it is large."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.exceptions import HierarchyError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["choose_nodes", "draw", "one_line", "summarize"]

Shown = dict[int, list[int]]  # by node, those of its children that are drawn, in their order


def draw(
    hierarchy: Hierarchy,
    max_lines: int | None = 40,
    annotations: Sequence[str] | None = None,
    weights: ArrayLike | None = None,
) -> str:
    """Draw a tree with box characters; a node of a DAG appears once under each parent.

    Lines are shared out from the root downwards: every level is shown as long as it fits, and
    the children that are left out are counted. With `weights` the heaviest nodes are shown,
    wherever they are.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_lines : int or None
        Lines to use at most, but for a minimum of 3; None draws everything.
    annotations : sequence of str of length n_nodes, optional
        Text to put behind each node's name.
    weights : array-like of shape (n_nodes,), optional
        How much each node matters, such as a number of rows; the lines go to the heaviest nodes
        first, and children are listed by weight. NaN is lighter than any number.

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
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
            f"got {len(annotations)} annotations for {hierarchy.n_nodes} nodes: expected one each."
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
        if node not in expanded:  # in a DAG a node is drawn again, but not what lies below it
            expanded.add(node)
            stack.extend(reversed(_entries(hierarchy, node, indent, shown)))
            if not shown[node] and not hierarchy.is_leaf[node]:
                text += f"  … {len(hierarchy.children(node))} more"
        lines.append(prefix + text)
    return "\n".join(lines)


def one_line(name: object) -> str:
    r"""Return a name that breaks no line: control characters become dots.

    Examples
    --------
    >>> one_line("a\nb")
    'a·b'
    """
    return "".join(c if c.isprintable() else "·" for c in str(name))


def choose_nodes(
    hierarchy: Hierarchy, max_lines: int | None = None, weights: ArrayLike | None = None
) -> Shown:
    """Choose the nodes of a picture: by level, or by weight where weights are given.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_lines : int or None
        Nodes at most, each "n more" counted as one; None for all.
    weights : array-like of shape (n_nodes,), optional

    Returns
    -------
    dict of int to list of int
        By node that is shown, those of its children that are shown, in their order.

    Examples
    --------
    >>> from palmette.core.hierarchy import Hierarchy
    >>> choose_nodes(Hierarchy.star("abcdef"), max_lines=4)
    {0: [1, 2], 1: [], 2: []}
    """
    # drawn whole, a DAG has a line for every edge
    budget = len(hierarchy.edges) + 1 if max_lines is None else max(max_lines, 3)
    if weights is None:
        return _choose_by_level(hierarchy, budget)
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.shape != (hierarchy.n_nodes,):
        raise HierarchyError(
            f"weights have shape {numbers.shape}: expected a number for each of the "
            f"{hierarchy.n_nodes} nodes."
        )
    return _choose_by_weight(hierarchy, budget, np.nan_to_num(numbers, nan=-np.inf))


def _choose_by_level(hierarchy: Hierarchy, budget: int) -> Shown:
    """Choose children to show: breadth first, larger families cut first."""
    shown: Shown = {0: []}
    frontier = [0]
    left = budget - 1
    while frontier and left > 0:
        families = [(node, hierarchy.children(node)) for node in frontier]
        families = sorted(families, key=lambda family: len(family[1]))
        frontier = []
        for i, (node, children) in enumerate(families):
            # what small families leave over goes to the larger ones
            share = min(max(3, left // (len(families) - i)), left)
            # one line more costs as much as the line that says "1 more"
            n_shown = len(children) if len(children) <= share else max(share - 1, 0)
            shown[node] = children[:n_shown].tolist()
            left -= min(n_shown + 1, len(children)) if n_shown else 0
            new = [child for child in shown[node] if child not in shown]
            shown.update((child, []) for child in new)
            frontier.extend(new)
    return shown


def _choose_by_weight(hierarchy: Hierarchy, budget: int, weights: NDArray[np.float64]) -> Shown:
    """Choose children to show: the heaviest node next to what is shown comes first."""
    shown: Shown = {0: []}
    waiting = {0: _by_weight(hierarchy.children(0), weights)}  # by parent, the lightest first
    heap = [(-weights[children[-1]], parent) for parent, children in waiting.items() if children]
    spent = 1
    while heap:
        _, parent = heapq.heappop(heap)
        siblings = waiting[parent]
        child = siblings[-1]
        is_new = child not in shown
        # its own line, and "n more" below it while it is neither the first nor the last
        cost = 1 + (len(siblings) > 1) - bool(shown[parent])
        if spent + cost > budget:
            continue  # nor may a lighter sibling come before it
        spent += cost
        shown[parent].append(siblings.pop())
        if is_new:
            shown[child] = []
            waiting[child] = _by_weight(hierarchy.children(child), weights)
            _push(heap, child, waiting, weights)
        _push(heap, parent, waiting, weights)
    return shown


def _by_weight(children: NDArray[np.int32], weights: NDArray[np.float64]) -> list[int]:
    """Children from the lightest to the heaviest, to be popped; equals keep their order."""
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
        (child, indent + ("└─ " if i == last else "├─ "), indent + ("   " if i == last else "│  "))
        for i, child in enumerate(visible)
    ]


def summarize(hierarchy: Hierarchy) -> str:
    """Say in one line what a hierarchy is.

    Parameters
    ----------
    hierarchy : Hierarchy

    Returns
    -------
    str
    """
    kind = "tree" if hierarchy.is_tree else "DAG"
    sizes = hierarchy.level_sizes[1:].tolist()
    levels = "/".join(map(str, sizes[:8])) + ("/..." if len(sizes) > 8 else "")
    return (
        f"{kind}, {hierarchy.n_nodes:,} nodes with the root, {hierarchy.n_leaves:,} leaves, "
        f"depth {hierarchy.max_depth}{f' ({levels} by level)' if levels else ''}"
    )
