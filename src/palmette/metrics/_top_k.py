"""Top-k measures: of the k best-scored nodes of all levels, and of the classes of one level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import IntArray, row_chunks
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.metrics._counts import check_level
from palmette.metrics._pairs import check_weight

Pick = Callable[[NDArray[np.int64]], NDArray[Any]]  # rows -> their scores in the ranked columns
_CELLS_AT_ONCE = 8_000_000  # scores compared at a time


def hierarchical_top_k_accuracy_score(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy,
    k: int | None = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> float:
    """Number of true nodes among the k best-scored nodes, divided by k, averaged over rows.

    The nodes of all levels but the root are ranked together, and labels imply their ancestors.

    Parameters
    ----------
    y_true : array-like
        One or several paths per row, in any form that `NodeLabels.encode` takes.
    y_score : array-like of shape (n_samples, n_columns)
        Scores of all nodes (`predict_node_proba`), or probabilities of classes (`predict_proba`),
        which are added up to the probabilities of all nodes.
    hierarchy : Hierarchy
        Tree or DAG.
    k : int, optional
        By default the depth of the hierarchy, as in H-Ada.MH.
    classes : array-like of shape (n_columns,), optional
        Labels of the columns (`classes_`), in any 1-D form or paths. By default the columns are
        all nodes, all but the root, or the leaves, whichever their number fits.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        From 0 to 1. A row with fewer than k true nodes cannot reach 1.

    See Also
    --------
    level_top_k_accuracy_score : Share of rows whose true class is among the k best of its level.

    Notes
    -----
    Of equal scores the earlier node goes first, so an ancestor precedes its descendants.

    References
    ----------
    W. Bi, J. T. Kwok (2015). Bayes-optimal hierarchical multilabel classification.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])
    >>> proba = np.array([[0.3, 0.3, 0.4], [0.1, 0.6, 0.3]])  # x, y, z
    >>> hierarchical_top_k_accuracy_score(["x", "y"], proba, hierarchy=h)  # {a, b} and {a, y}
    0.75
    """
    labels = NodeLabels.encode(y_true, hierarchy)
    weight = check_weight(sample_weight, labels.n_samples)
    table = _read_scores(y_score, labels.n_samples, hierarchy, classes)
    k = hierarchy.max_depth if k is None else _check_k(k)
    n_ranked = min(k, hierarchy.n_nodes - 1)
    total = 0.0
    for part in row_chunks(labels.n_samples, hierarchy.n_nodes, _CELLS_AT_ONCE):
        best = np.argsort(-table.of_all_nodes(part), axis=1, kind="stable")[:, :n_ranked]
        true = labels.closed[part][:, 1:].toarray()
        total += float(weight[part] @ np.take_along_axis(true, best, axis=1).sum(axis=1))
    return total / (k * float(weight.sum()))


def level_top_k_accuracy_score(
    y_true: Any,
    y_score: Any,
    *,
    hierarchy: Hierarchy,
    k: int = 2,
    level: int | Literal["each"] | None = None,
    classes: Any = None,
    sample_weight: Any = None,
) -> Any:
    """Share of rows whose true node is among the k most probable classes, or nodes of a level.

    Parameters
    ----------
    y_true : array-like
        One path per row, in any form that `NodeLabels.encode` takes.
    y_score : array-like of shape (n_samples, n_columns)
        Probabilities of all nodes (`predict_node_proba`), or of classes (`predict_proba`).
    hierarchy : Hierarchy
        A tree if `level` is given.
    k : int, default=2
    level : int, "each" or None
        With None the classes are ranked. With a depth the nodes of that depth are ranked, over the
        rows whose true path reaches it; probabilities of classes are added up to these nodes.
        "each" does so for every depth and returns an array of shape (max_depth,).
    classes, sample_weight : as in `hierarchical_top_k_accuracy_score`

    Returns
    -------
    float, or float array of shape (max_depth,)
        NaN at a level that no row reaches.

    See Also
    --------
    hierarchical_top_k_accuracy_score : Share of true nodes among the k best of all levels.

    Notes
    -----
    With scores of all nodes the classes ranked by ``level=None`` are the leaves. If the true
    node is not a class itself (an internal node under scores of leaves), a row is right when one of
    its k most probable classes lies below it. Of equal scores the later column goes first, as in
    scikit-learn's `top_k_accuracy_score`.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "z")])
    >>> proba = np.array([[0.3, 0.3, 0.4], [0.1, 0.6, 0.3]])  # x, y, z
    >>> level_top_k_accuracy_score(["x", "y"], proba, hierarchy=h, k=1)
    0.5
    >>> level_top_k_accuracy_score(["x", "y"], proba, hierarchy=h, k=1, level="each")
    array([1. , 0.5])
    """
    labels = NodeLabels.encode(y_true, hierarchy)
    weight = check_weight(sample_weight, labels.n_samples)
    table = _read_scores(y_score, labels.n_samples, hierarchy, classes)
    _check_k(k)
    truth = labels.terminals
    if level is None:
        right = _ranks_of_classes(truth, table) < k
        return float(weight @ right) / float(weight.sum())
    hierarchy.require_tree("level_top_k_accuracy_score with level")
    levels = range(1, hierarchy.max_depth + 1) if level == "each" else [level]
    shares = []
    for one in levels:
        rows, ranks = _ranks_at(truth, table, one)
        total = float(weight[rows].sum())
        shares.append(float(weight[rows] @ (ranks < k)) / total if total else float("nan"))
    return np.array(shares) if level == "each" else shares[0]


def _check_k(k: Any) -> int:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise PalmetteError(f"k={k!r}: expected an integer of at least 1.")
    return int(k)


@dataclass(frozen=True)
class _ScoreTable:
    """Scores and the node of each column; `of_nodes` says that columns are nodes, not classes."""

    scores: NDArray[Any]
    columns: IntArray
    of_nodes: bool
    hierarchy: Hierarchy

    def of_all_nodes(self, rows: slice) -> NDArray[Any]:
        """Scores of all nodes but the root: shape (n_rows, n_nodes - 1)."""
        scores = self.scores[rows].astype(np.float64)
        if self.of_nodes:
            return scores[:, scores.shape[1] - self.hierarchy.n_nodes + 1 :]
        return np.asarray(scores @ self.hierarchy.closure[self.columns][:, 1:].astype(np.float64))

    def nodes_of(self, nodes: NDArray[np.int64]) -> Pick:
        """Select the columns of nodes, if the columns are all nodes."""
        places = nodes - self.columns[0]
        return lambda rows: self.scores[np.ix_(rows, places)]

    def sums_below(self, nodes: NDArray[np.int64]) -> Pick:
        """Add up the scores of the classes below each node of a level."""
        level = self.hierarchy.depth[nodes[0]]
        deep = np.flatnonzero(self.hierarchy.depth[self.columns] >= level)
        place = _places(nodes, self.columns[deep])
        order = np.argsort(place, kind="stable")
        reached, starts = np.unique(place[order], return_index=True)

        def pick(rows: NDArray[np.int64]) -> NDArray[Any]:
            summed = np.zeros((len(rows), len(nodes)))
            if len(reached):
                grouped = self.scores[np.ix_(rows, deep[order])].astype(np.float64)
                summed[:, reached] = np.add.reduceat(grouped, starts, axis=1)
            return summed

        return pick


def _read_scores(y_score: Any, n_samples: int, hierarchy: Hierarchy, classes: Any) -> _ScoreTable:
    scores = np.asarray(y_score)
    if scores.ndim != 2 or scores.shape[0] != n_samples or scores.dtype.kind not in "biuf":
        raise LabelError(
            f"y_score has shape {scores.shape} and type {scores.dtype}, expected numbers of shape "
            f"({n_samples}, n_columns): one row per row of y_true."
        )
    if np.isnan(scores).any():
        raise LabelError("y_score has NaN, which cannot be ranked: expected numbers.")
    width, n_nodes, n_leaves = scores.shape[1], hierarchy.n_nodes, hierarchy.n_leaves
    if classes is not None:
        nodes = NodeLabels.encode(classes, hierarchy).terminals
        if len(nodes) != width:
            raise LabelError(
                f"y_score has {width} columns for {len(nodes)} classes: expected one column per "
                "class."
            )
        return _ScoreTable(scores, nodes, False, hierarchy)
    if width in (n_nodes, n_nodes - 1):
        nodes = np.arange(n_nodes - width, n_nodes, dtype=np.int32)
        return _ScoreTable(scores, nodes, True, hierarchy)
    if width == n_leaves:
        return _ScoreTable(scores, hierarchy.leaves, False, hierarchy)
    raise LabelError(
        f"y_score has {width} columns: expected {n_nodes} (all nodes), {n_nodes - 1} (all but the "
        f"root) or {n_leaves} (leaves), or classes= naming them."
    )


def _ranks_of_classes(truth: IntArray, table: _ScoreTable) -> NDArray[np.int64]:
    """Rank of every row's true class, from 0, among the classes."""
    scores, columns, hierarchy = table.scores, table.columns, table.hierarchy
    if table.of_nodes:
        kept = hierarchy.is_leaf[columns]
        scores, columns = scores[:, kept], columns[kept]
    own = np.full(hierarchy.n_nodes, -1)
    own[columns] = np.arange(len(columns))
    target = own[truth]
    below = sparse.csc_array(hierarchy.closure[columns])  # class by ancestor
    others = target < 0
    for node in np.unique(truth[others]):  # only internal nodes and nodes without a column
        candidates = below.indices[below.indptr[node] : below.indptr[node + 1]][::-1]
        rows = np.flatnonzero(others & (truth == node))
        if candidates.size:  # the best class below; among ties the last, which ranks first
            target[rows] = candidates[scores[np.ix_(rows, candidates)].argmax(axis=1)]
    ranks = np.full(
        len(truth), scores.shape[1]
    )  # last rank if there is no class below the true node
    known = np.flatnonzero(target >= 0)
    ranks[known] = _rank(scores.__getitem__, known, target[known], scores.shape[1])
    return ranks


def _ranks_at(
    truth: IntArray, table: _ScoreTable, level: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows whose truth reaches a level, and the rank of their node among the nodes there."""
    hierarchy = table.hierarchy
    check_level(hierarchy, level)
    nodes = np.flatnonzero(hierarchy.depth == level)
    rows = np.flatnonzero(hierarchy.depth[truth] >= level)
    target = _places(nodes, truth[rows])
    pick = table.nodes_of if table.of_nodes else table.sums_below
    return rows, _rank(pick(nodes), rows, target, table.scores.shape[1])


def _places(nodes: NDArray[np.int64], below: IntArray) -> NDArray[np.int64]:
    """Place among the nodes of a level of the one above each node that reaches it.

    In preorder that is the last node of the level that does not come after it.
    """
    return np.searchsorted(nodes, below, side="right") - 1


def _rank(
    pick: Pick, rows: NDArray[np.int64], target: NDArray[np.int64], width: int
) -> NDArray[np.int64]:
    """Count the columns ahead of each row's target column, some rows at a time."""
    ranks = np.empty(len(rows), dtype=np.int64)
    size = max(1, _CELLS_AT_ONCE // max(width, 1))
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        table, goal = pick(rows[part]), target[part, None]
        own = np.take_along_axis(table, goal, axis=1)
        later = np.arange(table.shape[1])[None, :] > goal
        ranks[part] = ((table > own) | ((table == own) & later)).sum(axis=1)
    return ranks
