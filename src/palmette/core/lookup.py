"""Names of nodes: checking them, joining them to paths, finding a node by any of its names."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.graph import is_padding
from palmette.exceptions import HierarchyError

if TYPE_CHECKING:
    from palmette.core.hierarchy import Hierarchy

__all__ = ["SEPARATOR", "NodeLookup", "check_names", "join_paths", "require_distinct"]

SEPARATOR = "/"
_AMBIGUOUS = -1
_MAX_JOINED = 2**30  # characters of all path strings: a chain of 100,000 nodes would need 10**10
_SEARCHED = 5_000  # names compared for a suggestion: more would make an error slow


def check_names(names: Sequence[Any]) -> NDArray[np.object_]:
    """Return names as an object array of plain Python values, all hashable and not missing."""
    array = np.empty(len(names), dtype=object)
    array[:] = [name.item() if isinstance(name, np.generic) else name for name in names]
    for i, name in enumerate(array):
        if is_padding(name):
            raise HierarchyError(f"node {i} has the name {name!r}: every node needs a name.")
        try:
            hash(name)
        except TypeError:
            raise HierarchyError(
                f"node {i} has the name {name!r} of type {type(name).__name__}: expected a string, "
                "a number or another hashable value."
            ) from None
    return array


def require_distinct(names: NDArray[np.object_]) -> None:
    """Raise where a name occurs twice: outside of paths the name is a node's identity."""
    seen: set[Any] = set()
    for name in names.tolist():
        if name in seen:
            raise HierarchyError(
                f"the name {name!r} stands for two nodes. Here names are identities: rename one, "
                "or give paths (Hierarchy.from_paths), which may repeat names."
            )
        seen.add(name)


def join_paths(
    names: NDArray[np.object_], parents: NDArray[np.int32] | None
) -> NDArray[np.object_]:
    """Join names along every path; without `parents` (a DAG) a name stands for itself."""
    joined = [str(name) for name in names]
    length = 0
    for node, parent in enumerate([] if parents is None else parents.tolist()):
        if parent > 0:
            joined[node] = joined[parent] + SEPARATOR + joined[node]
            length += len(joined[node])
            if length > _MAX_JOINED:
                raise HierarchyError(
                    f"the paths of this hierarchy of {len(names):,} nodes are too long to be "
                    "spelled out. Cut long chains of single children."
                )
    result = np.empty(len(names), dtype=object)
    result[:] = joined
    return result


class NodeLookup:
    """Find nodes by path string, by name where it is unique, or by path tuple."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._by_path = _unique(hierarchy.path_strings)
        self._by_name = _unique(hierarchy.names)
        self._by_step: dict[tuple[int, Any], int] = {
            (parent, hierarchy.names[child]): child for parent, child in hierarchy.edges.tolist()
        }

    def get(self, node: Any) -> int | None:
        """Return the number of a node, None where there is no such node or name is ambiguous."""
        found = self._search(node)
        return None if found is None or found == _AMBIGUOUS else found

    def find(self, node: Any) -> int:
        """Return the number of a node, or raise an error that says what would have been found."""
        found = self._search(node)
        if found == _AMBIGUOUS:
            raise HierarchyError(self._describe_ambiguity(node))
        if found is None:
            raise HierarchyError(self.describe_missing(node))
        return found

    def _search(self, node: Any) -> int | None:
        if isinstance(node, tuple):
            found = self._walk(node)
            return self._by_name.get(node) if found is None else found
        try:
            if isinstance(node, str) and node in self._by_path:
                return self._by_path[node]
            return self._by_name.get(node)
        except TypeError:  # unhashable
            return None

    def _walk(self, path: tuple[Any, ...]) -> int | None:
        node: int | None = 0
        for name in path:
            node = self._by_step.get((node, name)) if node is not None else None
        return node

    def describe_missing(self, node: Any) -> str:
        """Say that a node is not there, with examples or near misses of those that are."""
        hierarchy = self._hierarchy
        shown = SEPARATOR.join(map(str, node)) if isinstance(node, tuple) else node
        known = hierarchy.path_strings
        near = difflib.get_close_matches(str(shown), known[:_SEARCHED].tolist(), n=2, cutoff=0.75)
        examples = sorted([*near, *known[hierarchy.leaves[:2]].tolist()[: 2 - len(near)]])
        return (
            f"{shown!r} is not in the hierarchy ({hierarchy.n_nodes} nodes, e.g. "
            f"{', '.join(map(repr, examples))}). Add the node or drop the row."
        )

    def _describe_ambiguity(self, node: Any) -> str:
        hierarchy = self._hierarchy
        same = [i for i, name in enumerate(hierarchy.names.tolist()) if name == node]
        if len(same) > 1:
            paths = ", ".join(repr(hierarchy.path_strings[i]) for i in same[:3])
            return f"the name {node!r} is ambiguous: {paths}. Give the path."
        return (
            f"the path string {node!r} is ambiguous, since a name holds {SEPARATOR!r}. Give the "
            "path as a tuple of names."
        )


def _unique(names: NDArray[np.object_]) -> dict[Any, int]:
    numbers: dict[Any, int] = {}
    for i, name in enumerate(names.tolist()):
        numbers[name] = _AMBIGUOUS if name in numbers else i
    return numbers
