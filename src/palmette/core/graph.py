"""Arrays behind `Hierarchy`: edges from every form, closure, depth, common ancestors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from palmette.exceptions import HierarchyError

IntArray = NDArray[np.int32]

_MAX_CLOSURE = 2**31 - 1  # entries of a closure with 32-bit indices
_SOURCES_AT_ONCE = 256  # rows of the distance table held at a time


def is_padding(value: Any) -> bool:
    """Whether a cell of a path is padding: None, NaN, NA or an empty string."""
    if value is None or (isinstance(value, str) and value == ""):
        return True
    if isinstance(value, float):
        return value != value
    return type(value).__name__ in ("NAType", "NaTType")


# ---------------------------------------------------------------------- edges from every form


def strip_padding(path: Sequence[Any], where: Callable[[], str]) -> tuple[Any, ...]:
    """Cut trailing padding off a path; padding in the midst of it is an error."""
    length = len(path)
    while length and is_padding(path[length - 1]):
        length -= 1
    kept = tuple(path[:length])
    if any(is_padding(name) for name in kept):
        raise HierarchyError(
            f"{where()} = {tuple(path)!r} has an empty name in the midst of the path. Fill it in: "
            "only the end of a path may be padding."
        )
    return kept


def edges_of_paths(paths: Iterable[Sequence[Any]], root: Hashable) -> tuple[list[Any], IntArray]:
    """Number the nodes of paths in order of appearance."""
    names: list[Any] = [root]
    parents: list[int] = [-1]
    known: dict[tuple[int, Any], int] = {}
    for row, path in enumerate(paths):
        if isinstance(path, str | bytes):
            raise HierarchyError(
                f"paths[{row}] = {path!r} is a string, expected a sequence of names such as "
                f"{tuple(str(path).split('/'))!r}."
            )
        node = 0
        for name in strip_padding(path, partial("paths[{}]".format, row)):
            child = known.get((node, name))
            if child is None:
                child = len(names)
                known[(node, name)] = child
                names.append(name)
                parents.append(node)
            node = child
    children = np.arange(1, len(names), dtype=np.int32)
    return names, np.column_stack([np.asarray(parents[1:], dtype=np.int32), children])


def edges_by_name(
    edges: Iterable[Any], root: Hashable | None, more_nodes: Iterable[Hashable] = ()
) -> tuple[list[Any], IntArray]:
    """Number the nodes of named edges; put parentless ones under `root` where it is given."""
    number: dict[Any, int] = {}
    pairs: list[tuple[int, int]] = []
    for row, edge in enumerate(edges):
        if isinstance(edge, str) or len(edge) != 2:
            raise HierarchyError(f"edges[{row}] = {edge!r}: expected a (parent, child) pair.")
        parent, child = edge
        if parent == child:
            raise HierarchyError(f"edges[{row}] makes {child!r} its own parent: drop it.")
        pairs.append(
            (number.setdefault(parent, len(number)), number.setdefault(child, len(number)))
        )
    for node in more_nodes:
        number.setdefault(node, len(number))
    if root is not None:
        has_parent = {child for _, child in pairs}
        tops = [i for i in range(len(number)) if i not in has_parent]
        top = number.setdefault(root, len(number))
        if top in has_parent:
            raise HierarchyError(f"root={root!r} has a parent in the edges: name another root.")
        pairs.extend((top, i) for i in tops if i != top)
    return list(number), np.asarray(pairs, dtype=np.int32).reshape(-1, 2)


def edges_of_parent_mapping(
    parents: Mapping[Hashable, Hashable | None],
) -> tuple[list[Any], IntArray]:
    """Number the nodes of a mapping from name to parent's name."""
    number = {name: i for i, name in enumerate(parents)}
    pairs = []
    for name, parent in parents.items():
        if parent is None:
            continue
        if parent not in number:
            raise HierarchyError(
                f"{name!r} is an orphan: its parent {parent!r} is not among the {len(number)} "
                f"nodes. Add {parent!r} with its own parent, or None for the root."
            )
        pairs.append((number[parent], number[name]))
    return list(number), np.asarray(pairs, dtype=np.int32).reshape(-1, 2)


def edges_of_parent_array(
    parents: ArrayLike, names: Sequence[Hashable] | None
) -> tuple[list[Any], IntArray]:
    """Check an array of parent numbers."""
    array = np.asarray(parents)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise HierarchyError(
            f"parents has shape {array.shape} and type {array.dtype}: expected one integer a node, "
            "-1 for the root, or a mapping from name to parent's name."
        )
    node_names = list(range(len(array))) if names is None else list(names)
    if len(node_names) != len(array):
        raise HierarchyError(f"got {len(node_names)} names for {len(array)} parents.")
    array = array.astype(np.int64)
    orphans = np.flatnonzero((array < -1) | (array >= len(array)))
    if orphans.size:
        i = orphans[0]
        raise HierarchyError(
            f"{node_names[i]!r} is an orphan: its parent {array[i]} is no node number "
            f"(expected -1 for the root, or 0 to {len(array) - 1})."
        )
    children = np.flatnonzero(array >= 0)
    return node_names, np.column_stack([array[children], children]).astype(np.int32)


def distinct_edges(pairs: IntArray) -> IntArray:
    """Drop repeated edges, keeping the order of first appearance."""
    if not len(pairs):
        return pairs
    key = pairs[:, 0].astype(np.int64) * (int(pairs.max()) + 1) + pairs[:, 1]
    _, first = np.unique(key, return_index=True)
    return pairs if len(first) == len(pairs) else pairs[np.sort(first)]


# ---------------------------------------------------------------------- walking


@dataclass(frozen=True)
class Adjacency:
    """Neighbours of every node: ``targets[starts[i] : starts[i + 1]]``."""

    starts: IntArray
    targets: IntArray

    @classmethod
    def of(cls, sources: IntArray, targets: IntArray, n_nodes: int) -> Adjacency:
        """Group `targets` by `sources`, each group ascending."""
        order = np.lexsort((targets, sources))
        starts = np.zeros(n_nodes + 1, dtype=np.int32)
        np.cumsum(np.bincount(sources, minlength=n_nodes), out=starts[1:])
        grouped = targets[order]
        grouped.setflags(write=False)
        return cls(starts, grouped)

    def __getitem__(self, node: int) -> IntArray:
        return self.targets[self.starts[node] : self.starts[node + 1]]


def reach_up(node: int, parents: Adjacency) -> IntArray:
    """Return a node and all above it, ascending, so the root first and the node itself last."""
    seen = {node}
    frontier = [node]
    while frontier:
        above = parents[frontier.pop()].tolist()
        frontier.extend(p for p in above if p not in seen)
        seen.update(above)
    return np.asarray(sorted(seen), dtype=np.int32)


def reach_down(node: int, children: Adjacency) -> IntArray:
    """Return a node and all below it."""
    return reach_up(node, children)


def longest_depth(n_nodes: int, edges: IntArray) -> IntArray:
    """Depth by the longest way, one pass a level over the edges that still matter."""
    depth = np.zeros(n_nodes, dtype=np.int32)
    parents, children = edges[:, 0], edges[:, 1]
    if len(edges) == n_nodes - 1:  # a tree: parents stand before children
        above = np.empty(n_nodes, dtype=np.int64)
        above[children] = parents
        levels = [0] * n_nodes
        for child, parent in enumerate(above[1:].tolist(), start=1):
            levels[child] = levels[parent] + 1
        return np.asarray(levels, dtype=np.int32)
    moved = np.ones(1, dtype=bool)
    while moved.any():
        below = depth[parents] + 1
        moved = below > depth[children]
        np.maximum.at(depth, children[moved], below[moved])
    return depth


def subtree_ends(parents: IntArray) -> IntArray:
    """End of every preorder slice: a node's start plus its number of descendants and itself."""
    ends = list(range(1, len(parents) + 1))
    for node in range(len(parents) - 1, 0, -1):
        parent = int(parents[node])
        if ends[node] > ends[parent]:
            ends[parent] = ends[node]
    return np.asarray(ends, dtype=np.int32)


# ---------------------------------------------------------------------- closure


def tree_closure(parents: IntArray, depth: IntArray) -> sparse.csr_array:
    """Ancestors of every node, itself included: a row is a path from the root."""
    n_nodes = len(parents)
    stops = np.cumsum(depth.astype(np.int64) + 1)
    _check_closure_size(int(stops[-1]), n_nodes)
    indices = np.empty(stops[-1], dtype=np.int32)
    node = np.arange(n_nodes, dtype=np.int32)
    place = stops - 1
    while node.size:
        indices[place] = node
        node = parents[node]
        kept = node >= 0
        node, place = node[kept], place[kept] - 1
    starts = np.concatenate([[0], stops]).astype(np.int32)
    return _bool_csr(indices, starts, n_nodes)


def dag_closure(n_nodes: int, edges: IntArray, max_depth: int) -> sparse.csr_array:
    """Reflexive and transitive closure by repeated products, one a level."""
    ones = np.ones(len(edges), dtype=bool)
    up = sparse.csr_array((ones, (edges[:, 1], edges[:, 0])), shape=(n_nodes, n_nodes))
    itself = sparse.eye_array(n_nodes, dtype=bool, format="csr")
    closed = itself
    for _ in range(max_depth):
        closed = itself + up @ closed
        _check_closure_size(closed.nnz, n_nodes)
    closed.sort_indices()
    return _bool_csr(closed.indices.astype(np.int32), closed.indptr.astype(np.int32), n_nodes)


def _check_closure_size(n_entries: int, n_nodes: int) -> None:
    if n_entries > _MAX_CLOSURE:
        raise HierarchyError(
            f"the closure of this hierarchy has {n_entries:,} entries for {n_nodes:,} nodes: it is "
            "too deep to be held. Cut long chains of single children."
        )


def _bool_csr(indices: IntArray, starts: IntArray, n_nodes: int) -> sparse.csr_array:
    data = np.ones(len(indices), dtype=bool)
    for array in (data, indices, starts):
        array.setflags(write=False)
    matrix = sparse.csr_array((data, indices, starts), shape=(n_nodes, n_nodes))
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


# ---------------------------------------------------------------------- common ancestors


def range_minima(parents: IntArray) -> list[IntArray]:
    """Sparse table over parents: entry k holds the minimum of 2**k parents from each place.

    In preorder the lowest common ancestor of a < b is the least parent among a+1 .. b: the child
    through which b hangs from it lies there, and no node there has a parent above it.
    """
    table = [parents]
    width = 1
    while 2 * width <= len(parents):
        last = table[-1]
        table.append(np.minimum(last[:-width], last[width:]))
        width *= 2
    return table


def tree_lca(a: IntArray, b: IntArray, table: list[IntArray]) -> IntArray:
    """Lowest common ancestors in a preordered tree, elementwise."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    found = np.array(low, dtype=np.int32, copy=True)
    apart = low < high
    start, length = low[apart] + 1, (high - low)[apart]
    level = np.frexp(length)[1] - 1  # floor of log2
    below = np.empty(len(start), dtype=np.int32)
    for k in np.unique(level):
        here = level == k
        first, last = start[here], start[here] + length[here] - (1 << int(k))
        below[here] = np.minimum(table[k][first], table[k][last])
    found[apart] = below
    return found


def dag_lca(a: IntArray, b: IntArray, closure: sparse.csr_array, depth: IntArray) -> IntArray:
    """Deepest common ancestors in a DAG, elementwise; of equally deep ones the first."""
    flat_a, flat_b = np.atleast_1d(a).ravel(), np.atleast_1d(b).ravel()
    common = sparse.csr_array(closure[flat_a].multiply(closure[flat_b]))
    common.sort_indices()
    # the root is common to all, so no row is empty; a key orders by depth, then first node
    key = depth[common.indices].astype(np.int64) * len(depth) + (len(depth) - 1 - common.indices)
    best = np.maximum.reduceat(key, common.indptr[:-1]) if len(flat_a) else key
    found = (len(depth) - 1 - best % len(depth)).astype(np.int32)
    return found.reshape(np.shape(a))


def dag_distance(a: IntArray, b: IntArray, n_nodes: int, edges: IntArray) -> IntArray:
    """Fewest edges between nodes of a DAG, going up and down freely."""
    flat_a, flat_b = np.atleast_1d(a).ravel(), np.atleast_1d(b).ravel()
    ones = np.ones(len(edges), dtype=np.int8)
    links = sparse.csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    sources, which = np.unique(flat_a, return_inverse=True)
    hops = np.empty(len(flat_a), dtype=np.int32)
    for start in range(0, len(sources), _SOURCES_AT_ONCE):
        chunk = sources[start : start + _SOURCES_AT_ONCE]
        table = csgraph.shortest_path(links, directed=False, unweighted=True, indices=chunk)
        here = (which >= start) & (which < start + len(chunk))
        hops[here] = table[which[here] - start, flat_b[here]]
    return hops.reshape(np.shape(a))
