"""The one table from which scores are made: true and false positives and negatives per node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import HierarchyError
from palmette.metrics._pairs import LabelPair, pair_labels

__all__ = ["NodeCounts", "RowOverlap", "count_nodes", "node_counts", "row_overlap"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class NodeCounts:
    """Weighted confusion counts of every node; ``tp + fp + fn + tn == total`` for each.

    Tables of two parts of the data add up (``+``) to the table of the whole.

    Parameters
    ----------
    hierarchy : Hierarchy
    tp, fp, fn : float arrays of shape (n_nodes,)
        The root is counted too; leave it out with `select`.
    total : float
        Weight of all rows.
    """

    hierarchy: Hierarchy
    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    total: float

    @property
    def tn(self) -> FloatArray:
        """Weight of the rows that neither have nor are given the node."""
        return self.total - self.tp - self.fp - self.fn

    @property
    def support(self) -> FloatArray:
        """Weight of the rows that truly have the node."""
        return self.tp + self.fn

    def select(self, level: int | None = None, include_root: bool = False) -> IntArray:
        """Return the nodes to score: all but the root, or those of one level (depth)."""
        return select_nodes(self.hierarchy, level, include_root)

    def __add__(self, other: NodeCounts) -> NodeCounts:
        if self.hierarchy != other.hierarchy:
            raise HierarchyError(
                "counts on different hierarchies cannot be added: pass the same hierarchy= to both."
            )
        return NodeCounts(
            self.hierarchy,
            self.tp + other.tp,
            self.fp + other.fp,
            self.fn + other.fn,
            self.total + other.total,
        )


def node_counts(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    sample_weight: Any = None,
) -> NodeCounts:
    """Count, for every node, the rows in which it is rightly or wrongly predicted.

    Labels imply their ancestors.

    Parameters
    ----------
    y_true, y_pred : array-like
        In any form that `NodeLabels.encode` takes.
    hierarchy : Hierarchy, optional
        By default the union of the paths of both, or a star over their names.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    NodeCounts

    Examples
    --------
    >>> counts = node_counts([("a", "x"), ("a", "y")], [("a", "x"), ("a", "x")])
    >>> counts.hierarchy.path_strings.tolist()
    ['root', 'a', 'a/x', 'a/y']
    >>> counts.tp.tolist(), counts.fp.tolist(), counts.fn.tolist(), counts.tn.tolist()
    ([2.0, 2.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0])
    """
    return count_nodes(pair_labels(y_true, y_pred, hierarchy, sample_weight))


def count_nodes(pair: LabelPair) -> NodeCounts:
    """Make the table from encoded labels."""
    if pair.has_one_node_a_row:
        true, pred, both = _count_one_node_a_row(pair)
    else:
        true, pred, both = _count_sets(pair)
    return NodeCounts(pair.hierarchy, both, pred - both, true - both, pair.total)


def _count_one_node_a_row(pair: LabelPair) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count at the nodes and at their common ancestors, then add up the tree: no row is closed."""
    hierarchy, weight = pair.hierarchy, pair.weight
    true, pred = pair.nodes
    table = np.empty((3, hierarchy.n_nodes))
    for row, nodes in enumerate((true, pred, hierarchy.lca(true, pred))):
        table[row] = np.bincount(nodes, weight, minlength=hierarchy.n_nodes)
    rolled = table @ hierarchy.closure
    # summed in another order than the truth, weights may leave a residue of rounding below zero
    both = np.minimum(rolled[2], np.minimum(rolled[0], rolled[1]))
    return rolled[0], rolled[1], both


def _count_sets(pair: LabelPair) -> tuple[FloatArray, FloatArray, FloatArray]:
    true, pred = pair.true.closed, pair.pred.closed
    both = sparse.csr_array(true.multiply(pred))
    return pair.weight @ true, pair.weight @ pred, pair.weight @ both


@dataclass(frozen=True)
class RowOverlap:
    """Number of nodes that each row truly has, is given, and both; arrays of shape (n_samples,)."""

    true: NDArray[np.int64]
    pred: NDArray[np.int64]
    both: NDArray[np.int64]

    @property
    def apart(self) -> NDArray[np.int64]:
        """Nodes that only one side has: the size of the symmetric difference."""
        return self.true + self.pred - 2 * self.both


def row_overlap(
    pair: LabelPair, level: int | None = None, include_root: bool = False
) -> RowOverlap:
    """Count a row's nodes, all but the root or those of one level."""
    if pair.has_one_node_a_row:
        true, pred = pair.nodes
        depth = pair.hierarchy.depth
        sides = (depth[true], depth[pred], depth[pair.hierarchy.lca(true, pred)])
        if level is not None:
            check_level(pair.hierarchy, level)
            return RowOverlap(*((side >= level).astype(np.int64) for side in sides))
        return RowOverlap(*(side.astype(np.int64) + include_root for side in sides))
    true, pred = pair.true.closed, pair.pred.closed
    keep = np.zeros(pair.hierarchy.n_nodes, dtype=np.int64)
    keep[select_nodes(pair.hierarchy, level, include_root)] = 1
    return RowOverlap(true @ keep, pred @ keep, sparse.csr_array(true.multiply(pred)) @ keep)


def select_nodes(
    hierarchy: Hierarchy, level: int | None = None, include_root: bool = False
) -> IntArray:
    """Return the nodes to score: all but the root, or those of one level (depth)."""
    if level is not None:
        check_level(hierarchy, level)
        return np.flatnonzero(hierarchy.depth == level).astype(np.int32)
    return np.arange(0 if include_root else 1, hierarchy.n_nodes, dtype=np.int32)


def check_level(hierarchy: Hierarchy, level: int) -> None:
    """Raise unless nodes have this depth; the root, at depth 0, is no level."""
    whole = isinstance(level, int | np.integer) and not isinstance(level, bool)
    if not whole or not 1 <= level <= hierarchy.max_depth:
        raise HierarchyError(
            f"level={level!r}: expected an integer from 1 (below the root) to "
            f"{hierarchy.max_depth}, the depth of the hierarchy."
        )
