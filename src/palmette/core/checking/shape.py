"""Statistics of a hierarchy, and notes about its shape and names."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from palmette.core.checking.findings import Findings
from palmette.core.drawing import summarize
from palmette.core.hierarchy import Hierarchy
from palmette.core.taxonomy.rows import short

__all__ = ["note_shape", "statistics_of", "statistics_text"]


def statistics_of(hierarchy: Hierarchy) -> dict[str, Any]:
    """Count nodes, leaves, levels, children and names.

    Parameters
    ----------
    hierarchy : Hierarchy

    Returns
    -------
    dict
        ``n_nodes``, ``n_leaves``, ``n_edges``, ``depth``, ``is_tree``; ``nodes_by_level`` and
        ``leaves_by_level``, from the root; ``children_min``, ``children_mean``, ``children_max``
        of internal nodes, and ``largest_family``, the path of the node with the most children;
        ``n_only_children``; ``n_distinct_names``; ``n_several_parents``.

    Examples
    --------
    >>> found = statistics_of(Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x")]))
    >>> found["leaves_by_level"], found["children_mean"], found["n_only_children"]
    ([0, 0, 3], 1.6666666666666667, 1)
    """
    n_children = np.bincount(hierarchy.edges[:, 0], minlength=hierarchy.n_nodes)
    n_parents = np.bincount(hierarchy.edges[:, 1], minlength=hierarchy.n_nodes)
    families = n_children[n_children > 0]
    levels = len(hierarchy.level_sizes)
    leaves = np.bincount(hierarchy.depth[hierarchy.leaves], minlength=levels)
    return {
        "n_nodes": hierarchy.n_nodes,
        "n_leaves": hierarchy.n_leaves,
        "n_edges": len(hierarchy.edges),
        "depth": hierarchy.max_depth,
        "is_tree": hierarchy.is_tree,
        "nodes_by_level": hierarchy.level_sizes.tolist(),
        "leaves_by_level": leaves.tolist(),
        "children_min": int(families.min()) if families.size else 0,
        "children_mean": float(families.mean()) if families.size else 0.0,
        "children_max": int(families.max()) if families.size else 0,
        "largest_family": str(hierarchy.path_strings[int(n_children.argmax())]),
        "n_only_children": int((n_children == 1).sum()),
        "n_distinct_names": len({repr(name) for name in hierarchy.names.tolist()}),
        "n_several_parents": int((n_parents > 1).sum()),
    }


def statistics_text(hierarchy: Hierarchy, facts: dict[str, Any]) -> str:
    """Return the statistics as a few lines of text."""
    leaves = [
        f"{count:,} at {level}" for level, count in enumerate(facts["leaves_by_level"]) if count
    ]
    lines = [
        summarize(hierarchy),
        f"  leaves by depth: {', '.join(leaves[:12])}{', ...' if len(leaves) > 12 else ''}",
        f"  children per internal node: {facts['children_min']:,} to "
        f"{facts['children_max']:,}, {facts['children_mean']:.1f} on average; most below "
        f"{short(facts['largest_family'])}; nodes with one child: {facts['n_only_children']:,}",
        f"  distinct names: {facts['n_distinct_names']:,} of {facts['n_nodes']:,}",
    ]
    if facts["n_several_parents"]:
        lines.append(f"  nodes with several parents: {facts['n_several_parents']:,}")
    return "\n".join(lines)


def note_shape(hierarchy: Hierarchy, found: Findings) -> None:
    """Note only children, siblings with nearly equal names, and nodes named like their parent."""
    for node in range(hierarchy.n_nodes):
        children = hierarchy.children(node).tolist()
        if len(children) == 1 and node:
            found.note(
                "only child",
                f"{short(hierarchy.path_strings[children[0]])} is the only child of its parent, so "
                "there is no decision to learn",
                _line_of(hierarchy, children[0], found),
            )
        _note_alike(hierarchy, node, children, found)


def _note_alike(hierarchy: Hierarchy, node: int, children: list[int], found: Findings) -> None:
    parent = str(hierarchy.names[node])
    seen: dict[str, int] = {}
    for child in children:
        name = str(hierarchy.names[child])
        if name == parent:
            found.note(
                "parent's name",
                f"{short(hierarchy.path_strings[child])} has the same name as its parent",
                _line_of(hierarchy, child, found),
            )
        plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        if plain in seen:
            found.note(
                "similar siblings",
                f"{short(name)} and {short(str(hierarchy.names[seen[plain]]))} below "
                f"{short(parent)} differ only in case or spaces: are they the same class?",
                _line_of(hierarchy, child, found),
            )
        seen.setdefault(plain, child)


def _line_of(hierarchy: Hierarchy, node: int, found: Findings) -> int | None:
    """Return the line of a node, found by its path with or without the root, or by its name."""
    if not found.lines:
        return None
    if hierarchy.is_tree:
        path = hierarchy.path(node)
        for key in (path, (hierarchy.names[0], *path)):
            if key in found.lines:
                return found.lines[key]
    return found.lines.get(hierarchy.names[node])
