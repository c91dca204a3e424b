"""Losses over a hierarchy: tree-induced error, HMC-loss, H-loss, hierarchy-aware Hamming loss."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.decisions._losses import hierarchical_costs
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import count_nodes, row_overlap
from palmette.metrics._pairs import LabelPair, check_weight, pair_labels

_CELLS_AT_ONCE = 10_000_000  # (row, node) cells held while errors spread down a DAG


def tree_induced_error(
    y_true: Any, y_pred: Any, *, hierarchy: Hierarchy | None = None, sample_weight: Any = None
) -> float:
    """Mean number of edges between the true and the predicted node.

    With several paths per row, and in DAGs, a row's error is the number of nodes, ancestors among
    them, that only one of truth and prediction has. For one node of a tree that is exactly the
    number of edges between the two, and it is a metric on label sets. A row without labels counts
    as the root.

    Parameters
    ----------
    y_true, y_pred : array-like
        In any form that `NodeLabels.encode` takes.
    hierarchy : Hierarchy, optional
        By default the union of the paths of both, or a star over their names.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    References
    ----------
    O. Dekel, J. Keshet, Y. Singer (2004). Large margin hierarchical classification. ICML 2004.
    doi:10.1145/1015330.1015374

    Examples
    --------
    >>> tree_induced_error([("animal", "cat"), ("plant",)], [("animal", "dog"), ("plant",)])
    1.0
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    return pair.mean(row_overlap(pair).apart)


def hmc_ratio(y: Any, *, hierarchy: Hierarchy | None = None, sample_weight: Any = None) -> float:
    """Ratio of negative to positive pairs of a row and a node: the lambda of HMC-loss.

    Parameters
    ----------
    y : array-like
        Training labels in any form that `NodeLabels.encode` takes.
    hierarchy : Hierarchy, optional
        By default taken from `y`.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> hmc_ratio([("a", "x"), ("a", "y"), ("b",)])  # 12 pairs, 5 of them positive
    1.4
    """
    labels = NodeLabels.encode(y, hierarchy)
    weight = check_weight(sample_weight, labels.n_samples)
    positive = float((weight @ labels.closed)[1:].sum())
    return _cell_ratio(positive, float(weight.sum()) * (labels.hierarchy.n_nodes - 1))


def hmc_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    ratio: float | Literal["balanced"] = "balanced",
    costs: Any = None,
    sample_weight: Any = None,
) -> float:
    """HMC-loss: missed nodes cost alpha, false ones beta, each times the cost of the node.

    The mean over rows of ``alpha * sum(costs of missed) + beta * sum(costs of false nodes)``, where
    ``alpha = ratio * beta`` and ``alpha + beta = 2``.

    Parameters
    ----------
    y_true, y_pred, hierarchy : as in `tree_induced_error`
    ratio : float or "balanced", default="balanced"
        How much more a missed node costs than a false one. The paper takes `hmc_ratio` of the
        training labels; "balanced" takes that of `y_true`, as a metric does not get them. 1.0 gives
        both the same weight. With many nodes the balanced ratio is large, and false nodes cost
        almost nothing.
    costs : array-like of shape (n_nodes,), optional
        `hierarchical_costs` by default.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    References
    ----------
    W. Bi, J. T. Kwok (2012). Hierarchical multilabel classification with minimum Bayes risk.

    Examples
    --------
    >>> hmc_loss([("a", "x")], [("a", "y")], ratio=1.0)  # costs 1/2, 1/4, 1/4
    0.5
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    cost = _check_costs(costs, pair.hierarchy)
    counts = count_nodes(pair)
    if ratio == "balanced":
        positive = float(counts.support[1:].sum())
        value = _cell_ratio(positive, pair.total * (pair.hierarchy.n_nodes - 1))
    else:
        value = float(ratio)
    if not value >= 0:
        raise PalmetteError(f"ratio={ratio!r}: expected 'balanced' or a number of at least 0.")
    beta = 2.0 / (1.0 + value)
    alpha = 2.0 - beta
    return float(alpha * (cost @ counts.fn) + beta * (cost @ counts.fp)) / pair.total


def h_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    costs: Any = None,
    sample_weight: Any = None,
) -> float:
    """H-loss: only the first wrong node of every path counts, with its cost.

    Parameters
    ----------
    y_true, y_pred, hierarchy : as in `tree_induced_error`
    costs : array-like of shape (n_nodes,), optional
        `hierarchical_costs` by default.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        Mean over rows of the summed costs of nodes that are wrong while all above are right.

    References
    ----------
    N. Cesa-Bianchi, C. Gentile, L. Zaniboni (2006). Incremental algorithms for hierarchical
    classification.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])  # costs 1/3, 1/6, 1/6, 1/3
    >>> round(h_loss(["x"], ["b"], hierarchy=h), 4)
    0.6667
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    cost = _check_costs(costs, pair.hierarchy)
    rows, nodes = first_errors(pair)
    return float(pair.weight[rows] @ cost[nodes]) / pair.total


def hierarchical_hamming_loss(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    costs: Any = None,
    normalize: bool = True,
    sample_weight: Any = None,
) -> float:
    """Hierarchy-aware Hamming loss: a node is wrong where it or any node above it is.

    Parameters
    ----------
    y_true, y_pred, hierarchy : as in `tree_induced_error`
    costs : array-like of shape (n_nodes,), optional
        Weight of every node; equal ones by default, as in Eq. 2 and 3 of the paper.
    normalize : bool, default=True
        Mean over rows and share of the nodes (or of their costs), so that it lies between 0 and 1;
        False gives the sum of Eq. 2.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    References
    ----------
    C. Chelmis, W. Qi (2021). Hierarchical multiclass AdaBoost. IEEE Big Data 2021, 5063-5070.
    doi:10.1109/BigData52589.2021.9671291

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    >>> hierarchical_hamming_loss(["x"], ["b"], hierarchy=h)  # a, b are wrong, so x, y are too
    1.0
    >>> hierarchical_hamming_loss(["x"], ["y"], hierarchy=h)
    0.5
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    n_nodes = pair.hierarchy.n_nodes
    cost = np.ones(n_nodes) if costs is None else _check_costs(costs, pair.hierarchy)
    cost[0] = 0.0
    rows, nodes = first_errors(pair)
    if pair.hierarchy.is_tree:
        # first errors lie in disjoint subtrees, and a subtree is a slice
        running = np.concatenate([[0.0], np.cumsum(cost)])
        below = running[pair.hierarchy.subtree_end] - running[:-1]
        loss = float(pair.weight[rows] @ below[nodes])
    else:
        loss = _spread_in_dag(pair, rows, nodes, cost)
    scale = pair.total * float(cost.sum()) if normalize else 1.0
    return loss / scale if loss else 0.0


def _spread_in_dag(
    pair: LabelPair, rows: NDArray[np.int64], nodes: IntArray, cost: FloatArray
) -> float:
    """Sum the costs below first errors, each node at most once per row."""
    down = sparse.csr_array(pair.hierarchy.closure.T)
    shape = (len(pair.weight), pair.hierarchy.n_nodes)
    wrong = sparse.csr_array((np.ones(len(rows), dtype=bool), (rows, nodes)), shape=shape)
    sizes = wrong @ np.diff(down.indptr).astype(np.int64)
    chunk = np.cumsum(sizes) // _CELLS_AT_ONCE
    loss = 0.0
    for part in np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(chunk)) + 1):
        reached = wrong[part] @ down
        loss += float(pair.weight[part] @ (reached @ cost))
    return loss


def _cell_ratio(positive: float, cells: float) -> float:
    if positive <= 0:
        raise LabelError(
            "no row has a label, so the ratio of negative to positive ones is infinite. Pass "
            "ratio= as a number."
        )
    return (cells - positive) / positive


def _check_costs(costs: Any, hierarchy: Hierarchy) -> FloatArray:
    if costs is None:
        return hierarchical_costs(hierarchy)
    cost = np.array(costs, dtype=np.float64)
    if cost.shape != (hierarchy.n_nodes,):
        raise PalmetteError(
            f"costs has shape {cost.shape}, expected ({hierarchy.n_nodes},): one for every node, "
            "the root among them (its cost is ignored)."
        )
    if not np.isfinite(cost).all() or (cost < 0).any():
        raise PalmetteError(
            "costs has negative, infinite or NaN values: expected numbers of at least 0."
        )
    cost[0] = 0.0
    return cost


# ---------------------------------------------------------------------- first errors


def first_errors(pair: LabelPair) -> tuple[NDArray[np.int64], IntArray]:
    """Find the nodes that are wrong while everything above them is right.

    Returns
    -------
    rows, nodes : int arrays of shape (n_errors,)
        A node is wrong in a row where truth and prediction differ on it.
    """
    if pair.has_one_node_per_row:
        return _errors_of_nodes(pair)
    return _errors_of_sets(pair)


def first_steps(hierarchy: Hierarchy, above: IntArray, below: IntArray) -> IntArray:
    """Child of `above` on the way down to its proper descendant `below`, elementwise, in a tree.

    In preorder that is the last child of `above` that does not come after `below`.
    """
    by_parent = hierarchy.edges[np.lexsort((hierarchy.edges[:, 1], hierarchy.edges[:, 0]))]
    keys = by_parent[:, 0].astype(np.int64) * hierarchy.n_nodes + by_parent[:, 1]
    wanted = above.astype(np.int64) * hierarchy.n_nodes + below
    found: IntArray = by_parent[np.searchsorted(keys, wanted, side="right") - 1, 1]
    return found


def _errors_of_nodes(pair: LabelPair) -> tuple[NDArray[np.int64], IntArray]:
    true, pred = pair.nodes
    meeting = pair.hierarchy.lca(true, pred)
    rows, nodes = [], []
    for ends in (true, pred):
        beyond = np.flatnonzero(ends != meeting)
        rows.append(beyond)
        nodes.append(first_steps(pair.hierarchy, meeting[beyond], ends[beyond]))
    return np.concatenate(rows), np.concatenate(nodes)


def _errors_of_sets(pair: LabelPair) -> tuple[NDArray[np.int64], IntArray]:
    """In closed sets, all ancestors of a wrong node are right if none of its parents is wrong."""
    wrong = sparse.csr_array(pair.true.closed != pair.pred.closed)
    wrong.sort_indices()
    rows = np.repeat(np.arange(wrong.shape[0]), np.diff(wrong.indptr))
    nodes = wrong.indices.astype(np.int32)
    not_root = nodes > 0  # a row without labels lacks even the root, which is never wrong
    rows, nodes = rows[not_root], nodes[not_root]
    n_nodes = pair.hierarchy.n_nodes
    cells = rows * n_nodes + nodes
    # every cell once for each of the node's parents
    edges = pair.hierarchy.edges  # ordered by child
    starts = np.searchsorted(edges[:, 1], nodes, side="left")
    n_parents = np.searchsorted(edges[:, 1], nodes, side="right") - starts
    which = np.repeat(np.arange(len(cells)), n_parents)
    within = np.arange(len(which)) - np.repeat(np.cumsum(n_parents) - n_parents, n_parents)
    parents = edges[starts[which] + within, 0]
    above = rows[which] * n_nodes + parents
    place = np.minimum(np.searchsorted(cells, above), len(cells) - 1)
    under_error = np.bincount(which[cells[place] == above], minlength=len(cells))
    first = under_error == 0
    return rows[first], nodes[first]
