"""Number the nodes and edges of a hierarchy given as paths, named edges or parents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from palmette.core.values import is_hashable, is_padding, shown
from palmette.exceptions import HierarchyError

__all__ = [
    "check_pairs",
    "distinct_edges",
    "edges_by_name",
    "edges_of_parent_array",
    "edges_of_parent_mapping",
    "edges_of_paths",
    "strip_padding",
]

IntArray = NDArray[np.int32]


# ---------------------------------------------------------------------- paths


def strip_padding(path: Sequence[Any], where: Callable[[], str]) -> tuple[Any, ...]:
    """Remove trailing padding from a path; padding elsewhere is an error."""
    length = len(path)
    while length and is_padding(path[length - 1]):
        length -= 1
    kept = tuple(path[:length])
    if any(map(is_padding, kept)):
        raise HierarchyError(
            f"{where()} = {shown(tuple(path))} has an empty name inside the path: expected empty "
            "names only at the end, as padding. Fill it in."
        )
    return kept


def edges_of_paths(paths: Iterable[Sequence[Any]], root: Hashable) -> tuple[list[Any], IntArray]:
    """Number the nodes of paths in order of appearance."""
    names: list[Any] = [root]
    parents: list[int] = [-1]
    known: dict[tuple[int, Any], int] = {}
    for row, path in enumerate(_iterate(paths, "paths")):
        names_on_path = _as_path(path, row)
        node = 0
        for name in names_on_path:
            try:
                child = known.get((node, name))
            except TypeError:
                raise HierarchyError(_unhashable(f"paths[{row}]", name)) from None
            if child is None:
                # known names are not padding: only new ones are checked
                if is_padding(name):
                    strip_padding(names_on_path, partial("paths[{}]".format, row))
                    break
                child = len(names)
                known[(node, name)] = child
                names.append(name)
                parents.append(node)
            node = child
    children = np.arange(1, len(names), dtype=np.int32)
    return names, np.column_stack([np.asarray(parents[1:], dtype=np.int32), children])


def _as_path(path: Any, row: int) -> Sequence[Any]:
    if type(path) is tuple or type(path) is list:
        return path
    if isinstance(path, str | bytes):
        parts = tuple(str(path).split("/"))
        raise HierarchyError(
            f"paths[{row}] = {shown(path)} is a string: expected a sequence of names such as "
            f"{shown(parts)}."
        )
    if isinstance(path, np.ndarray) and path.ndim == 1:
        return path.tolist()  # type: ignore[no-any-return]
    if isinstance(path, Sequence):
        return tuple(path)
    raise HierarchyError(
        f"paths[{row}] = {shown(path)} is a {type(path).__name__}: expected a tuple or list of "
        "names, from the top down."
    )


# ---------------------------------------------------------------------- named edges


def edges_by_name(
    edges: Iterable[Any], root: Hashable | None, more_nodes: Iterable[Hashable] = ()
) -> tuple[list[Any], IntArray]:
    """Number the nodes of named edges; nodes without a parent go below `root` if it is given."""
    number: dict[Any, int] = {}
    pairs: list[tuple[int, int]] = []
    for row, edge in enumerate(_iterate(edges, "edges")):
        parent, child = _as_edge(edge, row)
        try:
            above = number.setdefault(parent, len(number))
            below = number.setdefault(child, len(number))
        except TypeError:
            bad = child if is_hashable(parent) else parent
            raise HierarchyError(_unhashable(f"edges[{row}]", bad)) from None
        if above == below:
            raise HierarchyError(f"edges[{row}] makes {shown(child)} its own parent. Delete it.")
        pairs.append((above, below))
    for node in more_nodes:
        number.setdefault(node, len(number))
    if root is not None:
        pairs.extend(_edges_from(root, number, pairs))
    return list(number), np.asarray(pairs, dtype=np.int32).reshape(-1, 2)


def _edges_from(
    root: Any, number: dict[Any, int], pairs: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return edges from `root`, which is numbered if it is new, to all nodes without a parent."""
    if not is_hashable(root):
        raise HierarchyError(_unhashable("root", root))
    has_parent = {child for _, child in pairs}
    tops = [i for i in range(len(number)) if i not in has_parent]
    top = number.setdefault(root, len(number))
    if top in has_parent:
        raise HierarchyError(f"root={root!r} has a parent in the edges. Name another root.")
    return [(top, i) for i in tops if i != top]


def _as_edge(edge: Any, row: int) -> tuple[Any, Any]:
    if isinstance(edge, Sequence | np.ndarray) and not isinstance(edge, str | bytes):
        pair = edge.tolist() if isinstance(edge, np.ndarray) else edge
        if isinstance(pair, Sequence) and len(pair) == 2:
            return pair[0], pair[1]
    raise HierarchyError(f"edges[{row}] = {shown(edge)}: expected a (parent, child) pair.")


# ---------------------------------------------------------------------- parents


def edges_of_parent_mapping(
    parents: Mapping[Hashable, Hashable | None],
) -> tuple[list[Any], IntArray]:
    """Number the nodes of a mapping from a name to the name of its parent."""
    number = {name: i for i, name in enumerate(parents)}
    pairs = []
    for name, parent in parents.items():
        if is_padding(parent):
            continue
        if not is_hashable(parent):
            raise HierarchyError(_unhashable(f"parents[{name!r}]", parent))
        if parent not in number:
            raise HierarchyError(
                f"the parent {parent!r} of {name!r} is not among the {len(number)} nodes. Add "
                f"{parent!r} with its own parent, or with None if it is the root."
            )
        pairs.append((number[parent], number[name]))
    return list(number), np.asarray(pairs, dtype=np.int32).reshape(-1, 2)


def edges_of_parent_array(
    parents: ArrayLike, names: Sequence[Hashable] | None
) -> tuple[list[Any], IntArray]:
    """Check an array of parent numbers."""
    try:
        array = np.asarray(parents)
    except ValueError:  # rows of unequal length
        array = np.asarray(parents, dtype=object)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise HierarchyError(
            f"parents has shape {array.shape} and type {array.dtype}: expected one integer per "
            "node, -1 for the root, or a mapping from a name to the name of its parent."
        )
    node_names = list(range(len(array))) if names is None else list(_iterate(names, "names"))
    if len(node_names) != len(array):
        raise HierarchyError(f"got {len(node_names)} names for {len(array)} parents: give as many.")
    array = array.astype(np.int64)
    orphans = np.flatnonzero((array < -1) | (array >= len(array)))
    if orphans.size:
        i = orphans[0]
        raise HierarchyError(
            f"the parent of {node_names[i]!r} is {array[i]}: expected a node number from 0 to "
            f"{len(array) - 1}, or -1 for the root."
        )
    children = np.flatnonzero(array >= 0)
    return node_names, np.column_stack([array[children], children]).astype(np.int32)


# ---------------------------------------------------------------------- numbered edges


def check_pairs(edges: ArrayLike, n_nodes: int) -> IntArray:
    """Return edges as an int array of shape (n_edges, 2) of valid node numbers."""
    try:
        pairs = np.asarray(edges)
    except ValueError:  # rows of unequal length
        pairs = np.asarray(edges, dtype=object)
    fits = pairs.ndim == 2 and pairs.shape[1] == 2 and pairs.dtype.kind in "iu"
    if pairs.size and not fits:
        raise HierarchyError(
            f"edges have shape {pairs.shape} and type {pairs.dtype}: expected (parent, child) node "
            "numbers of shape (n_edges, 2)."
        )
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n_nodes):
        raise HierarchyError(
            f"edges refer to nodes {pairs.min()} to {pairs.max()}: expected 0 to {n_nodes - 1}, "
            f"since there are {n_nodes} names."
        )
    return pairs.astype(np.int32).reshape(-1, 2)


def distinct_edges(pairs: IntArray) -> IntArray:
    """Drop repeated edges, keeping the order of first appearance."""
    if not len(pairs):
        return pairs
    key = pairs[:, 0].astype(np.int64) * (int(pairs.max()) + 1) + pairs[:, 1]
    _, first = np.unique(key, return_index=True)
    return pairs if len(first) == len(pairs) else pairs[np.sort(first)]


# ---------------------------------------------------------------------- checks


def _iterate(values: Any, what: str) -> Iterable[Any]:
    is_scalar = isinstance(values, str | bytes) or (hasattr(values, "ndim") and values.ndim == 0)
    if isinstance(values, Iterable) and not is_scalar:
        return values
    raise HierarchyError(
        f"{what} is {shown(values)} of type {type(values).__name__}: expected a list."
    )


def _unhashable(where: str, name: Any) -> str:
    return (
        f"{where} contains the name {shown(name)} of type {type(name).__name__}: expected a "
        "string, a number or another hashable value."
    )
