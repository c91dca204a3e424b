"""Array functions of `Hierarchy`: neighbours, depth, closure, common ancestors, distances."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from palmette.exceptions import HierarchyError

IntArray = NDArray[np.int32]
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
