"""The table from which scores are computed: true and false positives and negatives per node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, row_chunks
from palmette.exceptions import HierarchyError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._pairs import LabelPair, pair_labels


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
        """Weight of the rows in which the node is neither true nor predicted."""
        return self.total - self.tp - self.fp - self.fn

    @property
    def support(self) -> FloatArray:
        """Weight of the rows in which the node is true."""
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
    y_true: Any, y_pred: Any, *, hierarchy: Hierarchy | None = None, sample_weight: Any = None
) -> NodeCounts:
    """Count, for every node, its true and false positives and negatives.

    Labels imply their ancestors.

    Parameters
    ----------
    y_true, y_pred, hierarchy, sample_weight : as in `leaf_accuracy_score`

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
    """Compute the table from encoded labels."""
    if pair.has_one_node_per_row:
        true, pred, both = _count_one_node_per_row(pair)
    else:
        true, pred, both = _count_sets(pair)
    return NodeCounts(pair.hierarchy, both, pred - both, true - both, pair.total)


def _count_one_node_per_row(pair: LabelPair) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Count at the nodes and at their common ancestors, then sum up the tree.
    The ancestors of single rows are never listed."""
    hierarchy, weight = pair.hierarchy, pair.weight
    true, pred = pair.nodes
    table = np.empty((3, hierarchy.n_nodes))
    for row, nodes in enumerate((true, pred, hierarchy.lca(true, pred))):
        table[row] = np.bincount(nodes, weight, minlength=hierarchy.n_nodes)
    rolled = table @ hierarchy.closure
    # sums in another order than the truth's may differ by rounding and go below zero
    both = np.minimum(rolled[2], np.minimum(rolled[0], rolled[1]))
    return rolled[0], rolled[1], both


def _count_sets(pair: LabelPair) -> tuple[FloatArray, FloatArray, FloatArray]:
    true, pred = pair.true.closed, pair.pred.closed
    both = sparse.csr_array(true.multiply(pred))
    return pair.weight @ true, pair.weight @ pred, pair.weight @ both


@dataclass(frozen=True)
class RowOverlap:
    """Number of true, predicted and common nodes per row; arrays of shape (n_samples,)."""

    true: NDArray[np.int64]
    pred: NDArray[np.int64]
    both: NDArray[np.int64]

    @property
    def apart(self) -> NDArray[np.int64]:
        """Nodes that are either true or predicted, but not both: the symmetric difference."""
        return self.true + self.pred - 2 * self.both


def row_overlap(
    pair: LabelPair, level: int | None = None, include_root: bool = False
) -> RowOverlap:
    """Count the nodes per row, all but the root or those of one level."""
    if pair.has_one_node_per_row:
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
    """Raise an error unless some node has this depth; the root, at depth 0, is not a level."""
    whole = isinstance(level, int | np.integer) and not isinstance(level, bool)
    if not whole or not 1 <= level <= hierarchy.max_depth:
        raise HierarchyError(
            f"level={level!r}: expected an integer from 1 (below the root) to "
            f"{hierarchy.max_depth}, the depth of the hierarchy."
        )


# ---------------------------------------------------------------------- average precision


def average_precision_of_cells(
    truth: sparse.csr_array, scores: NDArray[Any], weight: FloatArray | None = None
) -> float:
    """Average precision of all cells together, equal to scikit-learn's for the flattened tables.

    Only the scores of true cells are sorted, because recall changes only there. So the memory
    needed besides the scores grows with the number of true cells, not with the table.

    Parameters
    ----------
    truth : sparse bool array of shape (n_samples, n_columns)
    scores : array of shape (n_samples, n_columns)
    weight : array of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        0.0 if no cell is true.

    Examples
    --------
    >>> truth = sparse.csr_array(np.array([[True, False], [False, True]]))
    >>> average_precision_of_cells(truth, np.array([[0.9, 0.2], [0.3, 0.1]]))
    0.75
    """
    rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    levels, place = np.unique(scores[rows, truth.indices], return_inverse=True)
    weights = np.ones(truth.shape[0]) if weight is None else weight
    true_at = np.bincount(place, weights[rows], minlength=len(levels))
    if not true_at.sum():
        return 0.0
    above = (
        _counts_from(levels, scores) if weight is None else _weights_from(levels, scores, weight)
    )
    found, above = np.cumsum(true_at[::-1]), above[::-1]
    precision = np.divide(found, above, out=np.zeros_like(found), where=above > 0)
    return float(np.sum(true_at[::-1] * precision) / found[-1])


def _counts_from(levels: NDArray[Any], scores: NDArray[Any]) -> FloatArray:
    """Number of the cells from each level upwards: shape (n_levels,)."""
    counts = np.zeros(len(levels))
    for chunk in row_chunks(len(scores), scores.shape[1], 2**22):
        values = np.sort(scores[chunk], axis=None)
        counts += len(values) - np.searchsorted(values, levels, side="left")
    return counts


def _weights_from(levels: NDArray[Any], scores: NDArray[Any], weight: FloatArray) -> FloatArray:
    """Weight of the cells from each level upwards: shape (n_levels,)."""
    between = np.zeros(len(levels) + 1)
    for chunk in row_chunks(len(scores), scores.shape[1], 2**22):
        values = scores[chunk].ravel()
        order = np.argsort(values)  # searching for sorted values is faster
        above = np.searchsorted(levels, values[order], side="right")
        each = np.repeat(weight[chunk], scores.shape[1])[order]
        between += np.bincount(above, each, minlength=len(between))
    return np.asarray(np.cumsum(between[:0:-1])[::-1])
