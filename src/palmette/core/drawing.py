"""Draw a hierarchy as text, cut sensibly when it is large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["draw", "summarize"]


def draw(
    hierarchy: Hierarchy,
    max_lines: int | None = 40,
    annotations: Sequence[str] | None = None,
) -> str:
    """Draw a tree with box characters; a node of a DAG appears once under each parent.

    Lines are shared out from the root downwards: every level is shown as long as it fits, and
    what is left out is counted.

    Parameters
    ----------
    hierarchy : Hierarchy
    max_lines : int or None
        Lines to use, about; None draws everything.
    annotations : sequence of str of length n_nodes, optional
        Text to put behind each node's name.

    Returns
    -------
    str
    """
    budget = hierarchy.n_nodes if max_lines is None else max(max_lines, 3)
    shown = _choose(hierarchy, budget)
    lines: list[str] = []
    # (node, prefix of its line, prefix of its children's lines)
    stack = [(0, "", "")]
    expanded: set[int] = set()
    while stack:
        node, prefix, indent = stack.pop()
        if node < 0:
            lines.append(f"{prefix}… {-node} more")
            continue
        note = f"  {annotations[node]}" if annotations is not None and annotations[node] else ""
        lines.append(f"{prefix}{hierarchy.names[node]}{note}")
        if node not in expanded:  # in a DAG a node is drawn again, but not what lies below it
            expanded.add(node)
            stack.extend(reversed(_entries(hierarchy, node, indent, shown)))
    return "\n".join(lines)


def _choose(hierarchy: Hierarchy, budget: int) -> dict[int, int]:
    """How many children of each node to show: breadth first, larger families cut first."""
    counts = {0: 0}
    frontier = [0]
    spent = 1
    while frontier and spent < budget:
        wanting = [node for node in frontier if not hierarchy.is_leaf[node]]
        share = max(2, (budget - spent) // max(len(wanting), 1))
        frontier = []
        for node in wanting:
            if spent >= budget:
                break
            children = hierarchy.children(node)
            # one line more costs as much as the line that says "1 more"
            n_shown = len(children) if len(children) <= share + 1 else share
            counts[node] = n_shown
            new = [int(c) for c in children[:n_shown] if int(c) not in counts]
            counts.update(dict.fromkeys(new, 0))
            frontier.extend(new)
            spent += n_shown + (n_shown < len(children))
    return counts


def _entries(
    hierarchy: Hierarchy, node: int, indent: str, shown: dict[int, int]
) -> list[tuple[int, str, str]]:
    children = hierarchy.children(node)
    visible = children[: shown.get(node, 0)].tolist()
    hidden = len(children) - len(visible)
    if hidden:
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
    levels = "/".join(str(n) for n in np.bincount(hierarchy.depth)[1:][:8])
    more = "/..." if hierarchy.max_depth > 8 else ""
    return (
        f"{kind}, {hierarchy.n_nodes:,} nodes with the root, {hierarchy.n_leaves:,} leaves, "
        f"depth {hierarchy.max_depth} ({levels}{more} by level)"
    )
