"""Labels of a table's rows as nodes of a hierarchy that is given, found in them, or learnt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.table.schema import near_names
from palmette.table.target import Path, find_node

__all__ = ["canonical_labels", "hierarchy_of_paths", "plain_labels"]

Rows = Sequence[Any]


def hierarchy_of_paths(rows: Rows, several: bool) -> Hierarchy:
    """Return the hierarchy of the paths that occur.

    Parameters
    ----------
    rows : sequence of n_samples paths, or lists of paths
    several : bool
        Whether rows are lists of paths.

    Examples
    --------
    >>> hierarchy_of_paths([("Food", "Fruit"), ("Tools",)], several=False).n_nodes
    4
    """
    paths = dict.fromkeys(path for row in rows for path in (row if several else [row]))
    # in an order of their own, so that the order of rows does not matter
    return Hierarchy.from_paths(sorted(paths))


def canonical_labels(rows: Rows, hierarchy: Hierarchy, several: bool) -> list[Any]:
    """Name the nodes of a hierarchy as its own paths do, in a DAG by their names.

    Parameters
    ----------
    rows : sequence of n_samples paths, or lists of paths
    hierarchy : Hierarchy
    several : bool

    Returns
    -------
    list of n_samples labels, or lists of labels
    """
    known: dict[Path, Any] = {}

    def label_of(path: Path, row: int) -> Any:
        if path not in known:
            node = find_node(path, hierarchy)
            if node <= 0:
                raise HierarchyError(_unknown(path, row, hierarchy))
            known[path] = hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]
        return known[path]

    if several:
        return [[label_of(path, i) for path in row] for i, row in enumerate(rows)]
    return [label_of(path, i) for i, path in enumerate(rows)]


def plain_labels(rows: Rows, write: Any) -> list[str]:
    """Write paths as plain labels, for a hierarchy that is learnt over them.

    Parameters
    ----------
    rows : sequence of n_samples paths
    write : callable
        Turns a path into a string.
    """
    labels = {path: write(path) for path in dict.fromkeys(rows)}
    counts = Counter(labels.values())
    if len(counts) < 2:
        raise PalmetteError(
            f"the target has {len(counts)} label: a hierarchy is learnt over two at least."
        )
    return [labels[path] for path in rows]


def _unknown(path: Path, row: int, hierarchy: Hierarchy) -> str:
    names = [str(name) for name in hierarchy.names[1:5000].tolist()]
    near = near_names(str(path[-1]), names)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    shown = " > ".join(map(str, path))
    examples = ", ".join(repr(str(text)) for text in hierarchy.path_strings[hierarchy.leaves[:2]])
    return (
        f"row {row + 1} of the target has {shown!r}, which is not in the hierarchy "
        f"({hierarchy.n_nodes:,} nodes, such as {examples}).{hint} Add the node, name the "
        "separator of paths, or drop the row."
    )
