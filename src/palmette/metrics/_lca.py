"""LCA measures: precision, recall and F between a node and its lowest common ancestor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._pairs import LabelPair, pair_labels

IntArray = NDArray[Any]
_PAIRS_AT_ONCE = 4_000_000  # (true, predicted) nodes compared at a time


def lca_precision_recall_fscore(
    y_true: Any, y_pred: Any, *, hierarchy: Hierarchy | None = None, sample_weight: Any = None
) -> tuple[float, float, float]:
    """Precision, recall and F1 over the paths up to the lowest common ancestor.

    Ordinary hierarchical scores count all ancestors, so that deep trees reward a prediction that
    is right at the top only. Here a row's true and predicted nodes are joined by the shortest path
    through their lowest common ancestor, and only the nodes on that path count: those above the
    truth are the true ones, those above the prediction the predicted ones, and the common ancestor
    belongs to both. So a right node scores 1, and a wrong one scores less the farther it is, at
    any depth.

    With several paths per row, every true node is joined to the nearest predicted ones and vice
    versa; all equally near ones count (the original then drops connections that are not needed
    to keep every node connected, which has no unique solution).

    Parameters
    ----------
    y_true, y_pred : array-like
        In any form that `NodeLabels.encode` takes. Rows without labels stand for the root.
    hierarchy : Hierarchy, optional
        A tree. By default the union of the paths of both, or a star over their names.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    precision, recall, fscore : float
        Means over the rows.

    References
    ----------
    A. Kosmopoulos, I. Partalas, E. Gaussier, G. Paliouras, I. Androutsopoulos (2015). Evaluation
    measures for hierarchical classification: a unified view and novel approaches. Data Mining and
    Knowledge Discovery 29. doi:10.1007/s10618-014-0382-x

    Examples
    --------
    >>> lca_precision_recall_fscore([("a", "b", "c")], [("a",)])  # c, b, a against a
    (1.0, 0.3333333333333333, 0.5)
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    pair.hierarchy.require_tree("lca_precision_recall_fscore")
    if pair.has_one_node_per_row:
        true, pred, both = _paths_of_nodes(pair)
    else:
        true, pred, both = _paths_of_sets(pair)
    precision, recall = both / pred, both / true
    fscore = 2 * both / (true + pred)
    return pair.mean(precision), pair.mean(recall), pair.mean(fscore)


def lca_f1_score(
    y_true: Any, y_pred: Any, *, hierarchy: Hierarchy | None = None, sample_weight: Any = None
) -> float:
    """F1 over the paths up to the lowest common ancestor, mean over rows.

    Parameters are those of `lca_precision_recall_fscore`, which also describes what is counted.

    Returns
    -------
    float

    Examples
    --------
    >>> lca_f1_score([("a", "b", "c"), ("a", "b")], [("a",), ("a", "b")])
    0.75
    """
    return lca_precision_recall_fscore(
        y_true, y_pred, hierarchy=hierarchy, sample_weight=sample_weight
    )[2]


def _paths_of_nodes(pair: LabelPair) -> tuple[FloatArray, FloatArray, FloatArray]:
    true, pred = pair.nodes
    depth = pair.hierarchy.depth
    meeting = depth[pair.hierarchy.lca(true, pred)]
    one = np.ones(len(true))
    return depth[true] - meeting + one, depth[pred] - meeting + one, one


def _paths_of_sets(pair: LabelPair) -> tuple[FloatArray, FloatArray, FloatArray]:
    sides = [_with_root(labels.specific) for labels in (pair.true, pair.pred)]
    closure = pair.hierarchy.closure
    parts = []
    for rows in _chunks(np.diff(sides[0].indptr) * np.diff(sides[1].indptr)):
        true, pred = sides[0][rows], sides[1][rows]
        paths = _paths(pair.hierarchy, true, pred)
        on_true = sparse.csr_array(paths.multiply(true @ closure))
        on_pred = sparse.csr_array(paths.multiply(pred @ closure))
        common = sparse.csr_array(on_true.multiply(on_pred))
        parts.append([np.diff(side.indptr) for side in (on_true, on_pred, common)])
    true_sizes, pred_sizes, both_sizes = np.concatenate(parts, axis=1).astype(np.float64)
    return true_sizes, pred_sizes, both_sizes


def _with_root(specific: sparse.csr_array) -> sparse.csr_array:
    """Give rows without labels the root."""
    empty = np.flatnonzero(np.diff(specific.indptr) == 0)
    if not empty.size:
        return specific
    root = sparse.csr_array(
        (np.ones(len(empty), dtype=bool), (empty, np.zeros(len(empty), dtype=np.int32))),
        shape=specific.shape,
    )
    return sparse.csr_array(specific + root)


def _chunks(sizes: IntArray) -> Iterator[IntArray]:
    part = np.cumsum(sizes) // _PAIRS_AT_ONCE
    yield from np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(part)) + 1)


def _paths(
    hierarchy: Hierarchy, true: sparse.csr_array, pred: sparse.csr_array
) -> sparse.csr_array:
    """Nodes on the shortest paths from every true node to its nearest predicted one, and back."""
    left, right = _all_pairs(true, pred)
    rows = np.repeat(np.arange(true.shape[0]), np.diff(true.indptr))[left]
    a, b = true.indices[left], pred.indices[right]
    meeting = hierarchy.lca(a, b)
    hops = hierarchy.depth[a] + hierarchy.depth[b] - 2 * hierarchy.depth[meeting]
    near = (hops == _group_minimum(hops, left)) | (hops == _group_minimum(hops, right))
    cells = []
    for ends in (a, b):
        row, node, top = rows[near], ends[near], meeting[near]
        while len(node):
            cells.append(row.astype(np.int64) * hierarchy.n_nodes + node)
            on = node != top
            row, node, top = row[on], hierarchy.parents[node[on]], top[on]
    key = np.unique(np.concatenate(cells))
    ones = np.ones(len(key), dtype=bool)
    return sparse.csr_array((ones, np.divmod(key, hierarchy.n_nodes)), shape=true.shape)


def _all_pairs(true: sparse.csr_array, pred: sparse.csr_array) -> tuple[IntArray, IntArray]:
    """Positions in `true.indices` and `pred.indices` of every pair within a row."""
    n_pred = np.diff(pred.indptr)
    repeats = np.repeat(n_pred, np.diff(true.indptr))  # predicted nodes in each true node's row
    left = np.repeat(np.arange(true.nnz), repeats)
    within = np.arange(len(left)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    start = np.repeat(pred.indptr[:-1], np.diff(true.indptr))
    return left, start[left] + within


def _group_minimum(hops: IntArray, group: IntArray) -> IntArray:
    """Minimum within each pair's group, of shape (n_pairs,)."""
    least = np.full(group.max(initial=-1) + 1, np.iinfo(hops.dtype).max, dtype=hops.dtype)
    np.minimum.at(least, group, hops)
    return least[group]
