"""Rows returned by parsers, and their conversion to nodes and edges.

A parser returns numbered nodes and edges. Formats differ in what identifies a node (its path in a
tree, or its name) and in the treatment of several nodes without a parent:

=========== ====================================================================================
``ALWAYS``  all become children of an added root: formats of paths or codes, without a root
``SEVERAL`` a single one is the root, several become children of an added root: nested formats
``NEVER``   several are an error, since an edge may be missing: lists of edges
=========== ====================================================================================

If the caller names a root, they become its children in every format.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from reprlib import Repr
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from palmette.core.taxonomy.source import Source
from palmette.exceptions import HierarchyError

__all__ = [
    "DEFAULT_ROOT",
    "LinkRows",
    "NumberedRows",
    "PlaceRows",
    "Rows",
    "Tops",
    "check_size",
    "nodes_and_edges",
    "short",
]

DEFAULT_ROOT = "root"
MAX_NODES = 5_000_000


# names may be nested and long: a plain repr could be as long as the file
_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 80


class Tops(Enum):
    """When nodes without a parent become children of an added root."""

    ALWAYS = "always"
    SEVERAL = "several"
    NEVER = "never"


class PlaceRows:
    """Nodes of a tree, identified by parent and name; parents come first.

    Parameters
    ----------
    source : Source
        For the error messages.
    tops : Tops
    """

    by_name = False

    def __init__(self, source: Source, tops: Tops) -> None:
        self.source = source
        self.tops = tops
        self.names: list[Any] = []
        self.parents: list[int] = []
        self._declared: list[int] = []  # line of each node, 0 if it is only implied
        self._known: dict[tuple[int, Any], int] = {}

    def add(self, name: Hashable, parent: int, line: int) -> int:
        """Declare a node below `parent` (-1: none); declaring it twice is an error."""
        node = self.reach(name, parent)
        if self._declared[node]:
            place = " > ".join(short(step) for step in self._path(node))
            raise self.source.error(
                f"{place} is declared twice, first in line {self._declared[node]}. "
                "Delete or rename one: siblings need different names",
                line=line,
            )
        self._declared[node] = line
        return node

    def reach(self, name: Hashable, parent: int) -> int:
        """Return the node below `parent` with a name; it is added if it does not exist."""
        key = (parent, name)
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = len(self.names)
            check_size(self.source, node)
            self.names.append(name)
            self.parents.append(parent)
            self._declared.append(0)
        return node

    def _path(self, node: int) -> list[Any]:
        steps: list[Any] = []
        while node >= 0 and len(steps) < 6:  # enough for a message
            steps.append(self.names[node])
            node = self.parents[node]
        return steps[::-1]

    def edges(self) -> NDArray[np.int32]:
        """Return (n_edges, 2) numbers of parent and child."""
        parents = np.asarray(self.parents, dtype=np.int32)
        children = np.flatnonzero(parents >= 0)
        return np.column_stack([parents[children], children]).astype(np.int32)


class LinkRows:
    """Nodes identified by name, and edges between them: trees and DAGs.

    Parameters
    ----------
    source : Source
        For the error messages.
    tops : Tops
    """

    by_name = True

    def __init__(self, source: Source, tops: Tops) -> None:
        self.source = source
        self.tops = tops
        self._numbers: dict[Any, int] = {}
        self._links: list[int] = []  # parent, child, parent, child ...

    @property
    def names(self) -> list[Any]:
        """Names in order of appearance."""
        return list(self._numbers)

    def node(self, name: Hashable) -> int:
        """Return the number of a name; a new name gets the next number."""
        number = self._numbers.setdefault(name, len(self._numbers))
        check_size(self.source, number)
        return number

    def link(self, parent: Hashable, child: Hashable, line: int | None = None) -> None:
        """Add an edge; duplicates are ignored, a self-loop is an error."""
        if parent == child:
            raise self.source.error(f"{short(child)} is its own parent. Delete it", line=line)
        self._links.append(self.node(parent))
        self._links.append(self.node(child))

    def edges(self) -> NDArray[np.int32]:
        """Return (n_edges, 2) numbers of parent and child."""
        return np.asarray(self._links, dtype=np.int32).reshape(-1, 2)


@dataclass(frozen=True)
class NumberedRows:
    """Nodes and edges that are numbered in the file.

    Parameters
    ----------
    source : Source
    names : list
    pairs : int array of shape (n_edges, 2)
        Numbers of parent and child.
    """

    source: Source
    names: list[Any]
    pairs: NDArray[np.int32]
    tops: ClassVar[Tops] = Tops.NEVER
    by_name: ClassVar[bool] = False

    def edges(self) -> NDArray[np.int32]:
        """Return (n_edges, 2) numbers of parent and child."""
        return self.pairs


Rows = PlaceRows | LinkRows | NumberedRows


def nodes_and_edges(rows: Rows, root: Hashable | None) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the nodes and edges of parsed rows, with one root.

    Parameters
    ----------
    rows : PlaceRows, LinkRows or NumberedRows
    root : hashable or None
        Name of the root above all nodes without a parent; None depends on the format.

    Returns
    -------
    names : list of n_nodes names
    edges : int array of shape (n_edges, 2)
        Numbers of parent and child.
    """
    names, edges = rows.names, rows.edges()
    if not names:
        raise rows.source.error("the file has no nodes: expected at least one")
    has_parent = np.zeros(len(names), dtype=bool)
    has_parent[edges[:, 1]] = True
    tops = np.flatnonzero(~has_parent)
    wanted = root
    if root is None and (rows.tops is Tops.ALWAYS or (rows.tops is Tops.SEVERAL and len(tops) > 1)):
        wanted = DEFAULT_ROOT
    if wanted is not None:
        names, edges = _put_below(wanted, rows, names, edges, tops)
    return names, edges


def _put_below(
    root: Hashable, rows: Rows, names: list[Any], edges: NDArray[np.int32], tops: NDArray[np.intp]
) -> tuple[list[Any], NDArray[np.int32]]:
    """Put nodes without a parent below the root, which is added if it does not exist."""
    top_names = [names[i] for i in tops]
    is_there = root in top_names if rows.by_name else top_names == [root]
    if rows.tops is Tops.ALWAYS:
        is_there = False
    if is_there:
        number = int(tops[top_names.index(root)])
    else:
        if rows.by_name and root in names:
            raise HierarchyError(
                f"another node in this file has the name {root!r} of the root. "
                "Pass root='another name'."
            )
        number = len(names)
        names = [*names, root]
    below = tops[tops != number]
    joined = np.column_stack([np.full(len(below), number), below]).astype(np.int32)
    return names, np.concatenate([joined, edges])


def check_size(source: Source, n_nodes: int) -> None:
    """Raise an error if a file has too many nodes, before it fills the memory."""
    if n_nodes >= MAX_NODES:
        raise source.error(f"the file has more than {MAX_NODES:,} nodes. Split it")


def short(name: Any) -> str:
    """Format a name for a message; a long one is truncated."""
    return _REPR.repr(name)
