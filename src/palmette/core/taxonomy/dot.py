"""The DOT language of Graphviz, for drawing; it is written, not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy


__all__ = ["to_dot"]

_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\0": ""})


def to_dot(hierarchy: Hierarchy) -> str:
    """Return a tree or DAG in the DOT language, with node numbers as nodes and names as labels.

    Parameters
    ----------
    hierarchy : Hierarchy

    Returns
    -------
    str

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> print(to_dot(Hierarchy.star(["cat"])), end="")
    digraph hierarchy {
      0 [label="root"];
      1 [label="cat"];
      0 -> 1;
    }
    """
    nodes = [
        f'  {i} [label="{str(name).translate(_ESCAPED)}"];'
        for i, name in enumerate(hierarchy.names.tolist())
    ]
    edges = [f"  {parent} -> {child};" for parent, child in hierarchy.edges.tolist()]
    return "\n".join(["digraph hierarchy {", *nodes, *edges, "}", ""])
