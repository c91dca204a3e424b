"""Ordered tree edit distance, by Zhang and Shasha's recurrence, vectorized over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import sorted_labels

IntArray = NDArray[np.int64]
_MAX_CELLS = 150_000_000  # of the table of distances between subtrees
_FOREST_CELLS = 20_000_000  # of the table of distances between forests, held at a time


def tree_edit_distance(
    tree: Hierarchy,
    reference: Hierarchy,
    *,
    insert: float = 1.0,
    delete: float = 1.0,
    relabel: float | Callable[[Any, Any], float] = 1.0,
    names: Literal["all", "leaves"] = "all",
    order: Literal["given", "sorted"] = "given",
) -> float:
    """Minimum cost of turning one tree into another by inserting, deleting and relabelling nodes.

    Deleting a node gives its children to its parent, in their order; inserting is the inverse.

    Parameters
    ----------
    tree, reference : Hierarchy
        Trees. Nodes are compared by bare name: with paths, one change at the top would count
        again in every node below.
    insert, delete : float, default=1.0
        Cost per node.
    relabel : float or callable, default=1.0
        Cost of a change of name, or a function of two names that gives it.
    names : {"all", "leaves"}, default="all"
        Which names are compared. The internal nodes of a learned tree have generated names: compare
        only the leaves then (a leaf that replaces an internal node is a relabelling, for which
        `relabel` gets None).
    order : {"given", "sorted"}, default="given"
        The distance depends on the order of siblings. If it has no meaning, "sorted" first orders
        siblings by the smallest leaf name below them.

    Returns
    -------
    float
        Exact for integer costs; to about 1e-9 for others.

    Notes
    -----
    Time is that of Zhang and Shasha: the product, over both trees, of the summed sizes of the
    subtrees of nodes that have a left sibling (or a right one, if that is less). Two random
    trees of 1,000 nodes take about a second. Memory is the product of the numbers of nodes.

    References
    ----------
    K. Zhang, D. Shasha (1989). Simple fast algorithms for the editing distance between trees and
    related problems. SIAM Journal on Computing 18. doi:10.1137/0218082

    Examples
    --------
    >>> one = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    >>> other = Hierarchy.from_paths([("x",), ("y",), ("c",)])
    >>> tree_edit_distance(one, other)  # delete a, turn b into c
    2.0
    """
    for h in (tree, reference):
        h.require_tree("tree_edit_distance")
    if tree.n_nodes * reference.n_nodes > _MAX_CELLS:
        raise HierarchyError(
            f"tree_edit_distance of {tree.n_nodes:,} by {reference.n_nodes:,} nodes needs too much "
            f"memory (at most {_MAX_CELLS:,} pairs). Use triplet_accuracy or tree_mse."
        )
    if not (insert >= 0 and delete >= 0):
        raise PalmetteError(f"insert={insert!r}, delete={delete!r}: expected costs of at least 0.")
    labels, table = _label_costs(tree, reference, relabel, names)
    shapes = [_shapes(h, order) for h in (tree, reference)]
    return min(_plans(shapes, labels, table, insert, delete), key=lambda plan: plan.effort).solve()


# ---------------------------------------------------------------------- labels


def _label_costs(
    tree: Hierarchy, reference: Hierarchy, relabel: float | Callable[[Any, Any], float], names: str
) -> tuple[list[IntArray], FloatArray]:
    """Codes of the nodes' labels in both trees, and the cost between any two codes."""
    if names not in ("all", "leaves"):
        raise PalmetteError(f"names={names!r}: expected 'all' or 'leaves'.")
    codes: dict[tuple[bool, Any], int] = {}
    labels = []
    for h in (tree, reference):
        keys = [
            (True, name) if leaf or names == "all" else (False, None)
            for name, leaf in zip(h.names.tolist(), h.is_leaf.tolist(), strict=True)
        ]
        labels.append(np.array([codes.setdefault(key, len(codes)) for key in keys]))
    if not callable(relabel):
        cost = float(relabel)
        if not cost >= 0:
            raise PalmetteError(f"relabel={relabel!r}: expected costs of at least 0.")
        return labels, np.array([cost])
    known = [name for _, name in codes]
    table = np.array([[float(relabel(a, b)) if a != b else 0.0 for b in known] for a in known])
    if not (table >= 0).all():
        raise PalmetteError(
            "relabel returned a negative or NaN cost: expected numbers of at least 0."
        )
    return labels, table


# ---------------------------------------------------------------------- shapes


@dataclass(frozen=True)
class _Shape:
    """A tree in postorder: the node at each place, and the first place of its subtree.

    The places whose subtree does not start a larger one are the key roots: those of the root and of
    all nodes with a left sibling.
    """

    nodes: IntArray
    first: IntArray

    @property
    def key_roots(self) -> IntArray:
        """Last place for each first one, ascending."""
        starts, place = np.unique(self.first[::-1], return_index=True)
        return np.sort(len(self.first) - 1 - place[: len(starts)])

    @property
    def work(self) -> int:
        """Summed sizes of the subtrees of the key roots."""
        roots = self.key_roots
        return int((roots - self.first[roots] + 1).sum())

    def key_levels(self) -> list[IntArray]:
        """Key roots by nesting: those of one level hold only key roots of lower levels."""
        roots = self.key_roots
        level = np.zeros(len(self.first), dtype=np.int64)
        open_roots: list[int] = []  # finished key roots not yet inside a larger one
        for root in roots.tolist():
            while open_roots and open_roots[-1] >= self.first[root]:
                level[root] = max(level[root], level[open_roots.pop()] + 1)
            open_roots.append(root)
        by_level = level[roots]
        return [roots[by_level == one] for one in range(int(by_level.max()) + 1)]


def _shapes(hierarchy: Hierarchy, order: str) -> tuple[_Shape, _Shape]:
    """Return the tree from left to right and from right to left."""
    if order not in ("given", "sorted"):
        raise PalmetteError(f"order={order!r}: expected 'given' or 'sorted'.")
    children = [hierarchy.children(node).tolist() for node in range(hierarchy.n_nodes)]
    if order == "sorted":
        rank = _smallest_leaf(hierarchy)
        children = [sorted(family, key=rank.__getitem__) for family in children]
    return _postorder(children, False), _postorder(children, True)


def _smallest_leaf(hierarchy: Hierarchy) -> list[int]:
    """Rank of the smallest leaf name below every node."""
    leaves = hierarchy.leaves.tolist()
    names = hierarchy.names[leaves].tolist()
    place = {name: i for i, name in enumerate(sorted_labels(set(names)))}
    rank = [len(place)] * hierarchy.n_nodes
    for leaf, name in zip(leaves, names, strict=True):
        rank[leaf] = place[name]
    parents = hierarchy.parents.tolist()
    for node in range(hierarchy.n_nodes - 1, 0, -1):
        rank[parents[node]] = min(rank[parents[node]], rank[node])
    return rank


def _postorder(children: list[list[int]], mirrored: bool) -> _Shape:
    # a preorder from the other side, read backwards, is a postorder
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(children[node]) if mirrored else children[node])
    order.reverse()
    size = [1] * len(children)
    for node in order:
        size[node] += sum(size[child] for child in children[node])
    nodes = np.array(order, dtype=np.int64)
    return _Shape(nodes, np.arange(len(nodes)) - np.array(size)[nodes] + 1)


# ---------------------------------------------------------------------- the recurrence


@dataclass(frozen=True)
class _Plan:
    """One order of computation: which tree gives the rows, and from which side both are read."""

    rows: _Shape
    columns: _Shape
    row_labels: IntArray
    column_labels: IntArray
    table: FloatArray
    insert: float
    delete: float

    @property
    def effort(self) -> float:
        """Estimated cost: steps over rows of numpy, and cells."""
        steps = self.rows.work * len(self.columns.key_levels())
        return steps * 2e-5 + self.rows.work * self.columns.work * 1e-8

    def solve(self) -> float:
        """Fill the table of distances between subtrees, smaller ones first."""
        distance = np.zeros((len(self.rows.first), len(self.columns.first)))
        for level in self.columns.key_levels():
            for batch in _batches(level, self.columns, len(self.rows.first)):
                for root in self.rows.key_roots.tolist():
                    self._fill(root, batch, distance)
        return float(distance[-1, -1])

    def relabel(self, row: int, columns: IntArray) -> FloatArray:
        """Cost of relabelling one node into each of others."""
        ours, theirs = self.row_labels[row], self.column_labels[columns]
        if self.table.ndim == 1:
            return np.where(theirs == ours, 0.0, self.table[0])
        costs: FloatArray = self.table[ours, theirs]
        return costs

    def _fill(self, root: int, batch: _Batch, distance: FloatArray) -> None:
        """Compare the forests below one key root of the rows with those of a batch of columns."""
        start = int(self.rows.first[root])
        inserted = batch.width * self.insert
        # with a gap between segments larger than any value, one running minimum is enough for all
        gap = len(self.rows.first) * self.delete + 2 * len(self.columns.first) * self.insert + 1.0
        offset = inserted + batch.segment * gap
        forest = np.empty((root - start + 2, len(inserted)))
        forest[0] = inserted
        for step in range(1, root - start + 2):
            row = start + step - 1
            inner = int(self.rows.first[row]) - start
            best = forest[inner, batch.before]
            best[batch.cells] += distance[row, batch.places]
            if inner == 0:  # a tree against a tree, where the column's is one too
                spine = batch.spine
                best[spine] = forest[step - 1, spine - 1] + self.relabel(row, batch.spine_places)
            best[batch.edges] = np.inf
            np.minimum(best, forest[step - 1] + self.delete, out=best)
            best -= offset
            np.minimum.accumulate(best, out=best)
            best += offset
            forest[step] = best
            if inner == 0:
                distance[row, batch.spine_places] = best[batch.spine]


@dataclass(frozen=True)
class _Batch:
    """Columns of several key roots side by side: a segment is its forests, the empty one first.

    Of shape (n_cells_with_edges,): `width`, number of nodes in the forest; `segment`; `before`, the
    forest that remains without its last tree. `edges` are the empty forests, `cells` the others
    and `places` the nodes that come last in them. `spine` are the forests that are one tree.
    """

    width: IntArray
    segment: IntArray
    before: IntArray
    edges: IntArray
    cells: IntArray
    places: IntArray
    spine: IntArray
    spine_places: IntArray


def _batches(level: IntArray, shape: _Shape, n_rows: int) -> list[_Batch]:
    """Split the key roots of a level so that a batch's forests fit in memory."""
    sizes = level - shape.first[level] + 2
    part = np.cumsum(sizes) * (n_rows + 1) // _FOREST_CELLS
    groups = np.split(level, np.flatnonzero(np.diff(part)) + 1)
    return [_batch(group, shape.first) for group in groups]


def _batch(roots: IntArray, first: IntArray) -> _Batch:
    sizes = roots - first[roots] + 2
    edges = np.cumsum(sizes) - sizes
    segment = np.repeat(np.arange(len(roots)), sizes)
    width = np.arange(int(sizes.sum())) - edges[segment]
    cells = np.flatnonzero(width > 0)
    starts = first[roots][segment]
    places = (starts + width - 1)[cells]
    before = edges[segment]
    before[cells] += first[places] - starts[cells]
    on_spine = first[places] == starts[cells]
    return _Batch(width, segment, before, edges, cells, places, cells[on_spine], places[on_spine])


def _plans(
    shapes: list[tuple[_Shape, _Shape]],
    labels: list[IntArray],
    table: FloatArray,
    insert: float,
    delete: float,
) -> list[_Plan]:
    plans = []
    for rows, columns in zip(*shapes, strict=True):
        ours, theirs = labels[0][rows.nodes], labels[1][columns.nodes]
        plans.append(_Plan(rows, columns, ours, theirs, table, insert, delete))
        turned = table.T if table.ndim == 2 else table
        plans.append(_Plan(columns, rows, theirs, ours, turned, delete, insert))
    return plans
