"""Array functions of `Hierarchy`: order, neighbours, depth, closure, ancestors, distances."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from palmette._arrays import IntArray
from palmette.exceptions import HierarchyError
from palmette.hierarchy._names import is_hashable, is_padding, shown


def order_nodes(
    names: NDArray[np.object_], edge_parents: IntArray, edge_children: IntArray
) -> IntArray:
    """Order nodes root first: preorder for a tree, parents before children for a DAG.

    Parameters
    ----------
    names : object array of shape (n_nodes,)
        Only for the error messages.
    edge_parents, edge_children : int arrays of shape (n_edges,)
        Distinct edges.

    Returns
    -------
    int array of shape (n_nodes,)
        The node at each position.
    """
    n_nodes = len(names)
    n_parents = np.bincount(edge_children, minlength=n_nodes)
    root = _only_root(names, n_parents, edge_parents, edge_children)
    by_parent = np.argsort(edge_parents, kind="stable")
    stops = np.cumsum(np.bincount(edge_parents, minlength=n_nodes)).tolist()
    children = edge_children[by_parent].tolist()
    if (n_parents <= 1).all():
        order = _preorder(root, children, stops)
    else:
        order = _parents_first(root, children, stops, n_parents.tolist())
    if len(order) < n_nodes:
        raise HierarchyError(_describe_cycle(names, order, edge_parents, edge_children))
    return np.asarray(order, dtype=np.int32)


def _only_root(
    names: NDArray[np.object_], n_parents: NDArray[np.int64], parents: IntArray, children: IntArray
) -> int:
    roots = np.flatnonzero(n_parents == 0)
    if len(roots) == 1:
        return int(roots[0])
    if len(roots) == 0:
        raise HierarchyError(_describe_cycle(names, [], parents, children))
    shown = ", ".join(repr(names[i]) for i in roots[:4]) + (", ..." if len(roots) > 4 else "")
    raise HierarchyError(
        f"found {len(roots)} nodes without a parent ({shown}): expected one root. "
        "Add the missing edges, or add a root above them: root='some name' in from_edges, "
        "from_networkx and read."
    )


def _preorder(root: int, children: list[int], stops: list[int]) -> list[int]:
    order: list[int] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        start = stops[node - 1] if node else 0
        stack.extend(reversed(children[start : stops[node]]))
    return order


def _parents_first(
    root: int, children: list[int], stops: list[int], waiting: list[int]
) -> list[int]:
    order = [root]
    for node in order:  # the list grows: Kahn's algorithm, first in, first out
        for child in children[stops[node - 1] if node else 0 : stops[node]]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return order


def _describe_cycle(
    names: NDArray[np.object_], reached: list[int], parents: IntArray, children: IntArray
) -> str:
    """Follow parents among the nodes that no root reaches until a node is repeated."""
    unreached = set(range(len(names))) - set(reached)
    parent_of = {
        child: parent
        for parent, child in zip(parents.tolist(), children.tolist(), strict=True)
        if parent in unreached and child in unreached
    }
    walk: list[int] = []
    seen: set[int] = set()
    node = next(iter(parent_of))
    while node not in seen:
        seen.add(node)
        walk.append(node)
        node = parent_of[node]
    cycle = [*walk[walk.index(node) :], node][::-1]
    if len(cycle) > 6:
        text = " -> ".join(repr(names[i]) for i in cycle[:5]) + f" -> ... -> {names[cycle[-1]]!r}"
    else:
        text = " -> ".join(repr(names[i]) for i in cycle)
    return (
        f"the edges contain a cycle: {text} ({len(cycle) - 1} nodes): expected none. Delete the "
        "edge that goes up."
    )


LongArray = NDArray[np.int64]

_MAX_CLOSURE = 2**28  # entries: 1.3 GB; 100,000 nodes of depth 20 need 10 MB
_PAIRS_AT_ONCE = 2**16  # pairs of nodes whose ancestors are in memory at a time


# ---------------------------------------------------------------------- traversal


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

    def of_many(self, nodes: NDArray[np.integer]) -> tuple[IntArray, LongArray]:
        """Return the concatenated neighbours of several nodes, and the number of each."""
        starts = self.starts[nodes].astype(np.int64)
        sizes = self.starts[nodes + 1] - starts
        return self.targets[ragged_ranges(starts, sizes)], sizes


def ragged_ranges(starts: LongArray, sizes: LongArray) -> LongArray:
    """Concatenate the ranges ``start : start + size``."""
    offsets = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    return offsets + np.arange(len(offsets))


def reach(node: int, neighbours: Adjacency) -> IntArray:
    """Return a node and all nodes reachable from it, ascending."""
    seen = {node}
    frontier = [node]
    while frontier:
        found = neighbours[frontier.pop()].tolist()
        frontier.extend(n for n in found if n not in seen)
        seen.update(found)
    return np.asarray(sorted(seen), dtype=np.int32)


def longest_depth(n_nodes: int, edges: IntArray) -> IntArray:
    """Return depths by the longest path; edges are sorted by child, parents before children."""
    depth = [0] * n_nodes
    for parent, child in edges.tolist():
        if depth[child] <= depth[parent]:
            depth[child] = depth[parent] + 1
    return np.asarray(depth, dtype=np.int32)


def subtree_ends(parents: list[int]) -> IntArray:
    """Return the end of the preorder slice of every node: node + 1 + number of descendants."""
    ends = list(range(1, len(parents) + 1))
    for node in range(len(parents) - 1, 0, -1):
        parent = parents[node]
        if ends[node] > ends[parent]:
            ends[parent] = ends[node]
    return np.asarray(ends, dtype=np.int32)


# ---------------------------------------------------------------------- closure


def tree_closure(parents: IntArray, depth: IntArray) -> sparse.csr_array:
    """Return the ancestors of every node, itself included: a row is a path from the root."""
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
    return frozen_csr(indices, starts, n_nodes)


def dag_closure(n_nodes: int, edges: IntArray, depth: IntArray) -> sparse.csr_array:
    """Return the reflexive and transitive closure, computed level by level.

    All parents of a node are at smaller depths, so its row is a union of rows computed before.
    """
    parents = Adjacency.of(edges[:, 1], edges[:, 0], n_nodes)
    starts, sizes = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    flat, used = np.empty(4 * n_nodes, dtype=np.int32), 0  # rows in order of depth
    for level in np.split(np.argsort(depth, kind="stable"), np.cumsum(np.bincount(depth))[:-1]):
        above, n_parents = parents.of_many(level)
        owner = np.repeat(np.repeat(np.arange(len(level)), n_parents), sizes[above])
        ancestors = flat[ragged_ranges(starts[above], sizes[above])]
        key = np.concatenate([owner * n_nodes + ancestors, np.arange(len(level)) * n_nodes + level])
        key.sort()
        key = key[np.diff(key, prepend=-1) > 0]
        _check_closure_size(used + len(key), n_nodes)
        if used + len(key) > len(flat):
            flat = np.concatenate([flat[:used], np.empty(used + len(key), dtype=np.int32)])
        flat[used : used + len(key)] = key % n_nodes
        sizes[level] = np.bincount(key // n_nodes, minlength=len(level))
        starts[level] = used + np.cumsum(sizes[level]) - sizes[level]
        used += len(key)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return frozen_csr(flat[ragged_ranges(starts, sizes)], indptr, n_nodes)


def _check_closure_size(n_entries: int, n_nodes: int) -> None:
    if n_entries > _MAX_CLOSURE:
        raise HierarchyError(
            f"the closure of this hierarchy has {n_entries:,} entries for {n_nodes:,} nodes: "
            f"expected at most {_MAX_CLOSURE:,}. Shorten long chains of only children."
        )


def frozen_csr(indices: IntArray, starts: IntArray, n_nodes: int) -> sparse.csr_array:
    """Make a square boolean matrix with read-only arrays."""
    data = np.ones(len(indices), dtype=bool)
    for array in (data, indices, starts):
        array.setflags(write=False)
    return share_csr(sparse.csr_array((data, indices, starts), shape=(n_nodes, n_nodes)))


def share_csr(matrix: sparse.csr_array) -> sparse.csr_array:
    """Make another matrix of the same arrays, whose rows are sorted and without duplicates."""
    shared = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    shared.has_sorted_indices = True
    shared.has_canonical_format = True
    return shared


# ---------------------------------------------------------------------- common ancestors


def range_minima(parents: IntArray) -> list[IntArray]:
    """Return a sparse table over parents: entry k has the minimum of 2**k parents from each node.

    In preorder, the lowest common ancestor of a < b is the smallest parent among a+1 .. b: its
    child on the path to b is in this range, and no node of the range has a parent above it.
    """
    table = [parents]
    width = 1
    while 2 * width <= len(parents):
        last = table[-1]
        table.append(np.minimum(last[:-width], last[width:]))
        width *= 2
    return table


def tree_lca(a: IntArray, b: IntArray, table: list[IntArray]) -> IntArray:
    """Return the lowest common ancestors in a tree in preorder, elementwise."""
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
    """Return the deepest common ancestors in a DAG, elementwise; ties go to the first."""
    n_nodes = len(depth)
    pairs, which = np.unique(a.astype(np.int64) * n_nodes + b, return_inverse=True)
    # ranks sort by depth, then descending node; the root is common to all, so no row is empty
    rank = np.lexsort((-np.arange(n_nodes), depth)).argsort()
    found = np.empty(len(pairs), dtype=np.int32)
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        chunk = slice(start, start + _PAIRS_AT_ONCE)
        left, right = np.divmod(pairs[chunk], n_nodes)
        common = sparse.csr_array(closure[left].multiply(closure[right]))
        found[chunk] = np.maximum.reduceat(rank[common.indices], common.indptr[:-1])
    by_rank = np.argsort(rank).astype(np.int32)
    return by_rank[found][which].reshape(np.shape(a))


def dag_distance(a: IntArray, b: IntArray, n_nodes: int, edges: IntArray) -> IntArray:
    """Return the number of edges of shortest undirected paths between nodes of a DAG."""
    if len(np.unique(a)) > len(np.unique(b)):
        a, b = b, a  # one search per distinct node of `a`
    up, down = (edges[:, 1], edges[:, 0]), (edges[:, 0], edges[:, 1])
    ends = np.concatenate([up, down], axis=1)
    ones = np.ones(ends.shape[1], dtype=np.int8)
    links = sparse.csr_array((ones, (ends[0], ends[1])), shape=(n_nodes, n_nodes))
    order = np.argsort(a, axis=None, kind="stable")
    targets = b.ravel()[order]
    sources, starts = np.unique(a.ravel()[order], return_index=True)
    bounds = [*starts.tolist(), a.size]
    hops = np.empty(a.size, dtype=np.int32)
    for source, (first, stop) in zip(sources.tolist(), pairwise(bounds), strict=True):
        hops[order[first:stop]] = _hops_from(source, links)[targets[first:stop]]
    return hops.reshape(a.shape)


def _hops_from(source: int, links: sparse.csr_array) -> IntArray:
    """Return the number of edges from a node to every other."""
    order, before = csgraph.breadth_first_order(links, source)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    # nodes are sorted by distance, and so are the positions of their predecessors
    reached_from = place[before[order[1:]]]
    hops = np.zeros(len(order), dtype=np.int32)
    start, stop, distance = 0, 1, 0
    while stop < len(order):
        distance += 1
        start, stop = stop, 1 + int(np.searchsorted(reached_from, stop))
        hops[order[start:stop]] = distance
    return hops


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
        raise HierarchyError(
            f"got {len(node_names)} names for {len(array)} parents: expected as many names."
        )
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
