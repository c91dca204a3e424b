"""Confidence of a model: node probabilities are computed once, in chunks of rows, and reduced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import ReliabilityCurve, likely_labels
from palmette.metrics._counts import average_precision_of_cells
from palmette.reporting._evaluation import Evaluation
from palmette.reporting._parts import in_parts

# scores are binned by their log-odds: most are near 0, where precision is decided
_EDGES = np.r_[0.0, 1 / (1 + np.exp(-np.linspace(-9, 9, 198)))]
_MOST_ANCESTORS = 2**28  # 1 GiB
_KEPT_CELLS = 2**24  # for the exact area: 128 MiB
_KEPT_ROWS = 100_000  # for the interval of the area: two tables of rows x bins


@dataclass(frozen=True)
class PathConfidence:
    """Summary of the node probabilities of a model that predicts one path per row.

    Parameters
    ----------
    on_path : array of shape (n_samples, max_depth)
        Probability of the node on the predicted path at each level, NaN below its end.
    answer : array of shape (n_samples,)
        Probability of the predicted node; NaN where only the root, that is nothing, is predicted.
    best : array of shape (n_samples, max_depth)
        Highest probability of any node at each level.
    best_node : int array of shape (n_samples, max_depth)
        The node with that probability.
    given : array of shape (n_samples,)
        Probability of the true node.
    doubt, excess : arrays of shape (n_samples,)
        See `expected_distances`.
    """

    on_path: FloatArray
    answer: FloatArray
    best: FloatArray
    best_node: IntArray
    given: FloatArray
    doubt: FloatArray
    excess: FloatArray

    def deepest_confident(self, threshold: float) -> IntArray:
        """Return the deepest node per row with a probability of at least `threshold`.

        As `palmette.decoding.Confident`: of equally deep nodes the most probable one; the root, 0,
        where no node reaches the threshold.
        """
        reaches = self.best >= threshold
        levels = np.arange(1, reaches.shape[1] + 1)
        deepest = np.where(reaches, levels, 0).max(axis=1, initial=0)
        found = np.zeros(len(reaches), dtype=np.int32)
        below = np.flatnonzero(deepest)
        found[below] = self.best_node[below, deepest[below] - 1]
        return found


def read_path_confidence(
    node_proba: Callable[[Any], FloatArray], X: Any, evaluation: Evaluation, client: Any = None
) -> PathConfidence:
    """Compute and summarize the node probabilities of all rows, one part of them at a time.

    Parameters
    ----------
    node_proba : callable
        Maps rows to probabilities of the nodes of the model's hierarchy.
    X : rows
    evaluation : Evaluation
        Evaluation of the same rows, with one path per row.
    client : distributed.Client, optional
        The cluster whose workers compute and summarize; see `in_parts`.
    """
    hierarchy = evaluation.hierarchy
    levels = [
        np.flatnonzero(hierarchy.depth == d).astype(np.int32)
        for d in range(1, hierarchy.max_depth + 1)
    ]
    tables = _NodeTables(node_proba, evaluation)
    summary = _PathSummary(tables, ancestors_by_level(hierarchy), hierarchy.closure, levels)
    whole: list[NDArray[Any]] = []
    start = 0
    for part in in_parts(summary, X, hierarchy.n_nodes, client, evaluation.pair.nodes):
        if not start:
            whole = [np.empty((evaluation.n_rows, *each.shape[1:]), each.dtype) for each in part]
        stop = start + len(part[0])
        for each, found in zip(whole, part, strict=True):
            each[start:stop] = found
        start = stop
    return PathConfidence(*whole)


def _labels_of(evaluation: Evaluation) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the true and the predicted nodes, closed under ancestors: (n_samples, n_nodes)."""
    pair = evaluation.pair
    return sparse.csr_array(pair.true.closed), sparse.csr_array(pair.pred.closed)


class _NodeTables:
    """Node probabilities of some rows, on the hierarchy of the report.

    Parameters
    ----------
    node_proba : callable
    evaluation : Evaluation
        Only its nodes are kept.
    """

    def __init__(self, node_proba: Callable[[Any], FloatArray], evaluation: Evaluation) -> None:
        self._proba = node_proba
        self._place, self._n_nodes = evaluation.node_place, evaluation.hierarchy.n_nodes

    def of(self, X: Any, n_rows: int) -> FloatArray:
        """Return an array of shape (n_rows, n_nodes)."""
        place, proba = self._place, self._proba(X)
        if proba.shape != (n_rows, len(place)):
            raise PalmetteError(
                f"the model gave probabilities of shape {proba.shape}: expected "
                f"({n_rows}, {len(place)}), one column per node."
            )
        if len(place) == self._n_nodes:
            return proba
        table = np.zeros((n_rows, self._n_nodes))
        table[:, place] = proba
        return table


@dataclass(frozen=True)
class _PathSummary:
    """Summarizes the probabilities of some rows that have one path.

    Parameters
    ----------
    tables : _NodeTables
    ancestors : int array of shape (n_nodes, max_depth)
        See `ancestors_by_level`.
    closure : CSR array of bool, of shape (n_nodes, n_nodes)
        Nodes and their ancestors.
    levels : list of max_depth int arrays
        Nodes of each level.
    """

    tables: _NodeTables
    ancestors: IntArray
    closure: sparse.csr_array
    levels: list[IntArray]

    def __call__(self, X: Any, given: IntArray, predicted: IntArray) -> tuple[NDArray[Any], ...]:
        """Return the arrays of `PathConfidence`, given the true and the predicted nodes."""
        table = self.tables.of(X, len(given))
        rows, shape = np.arange(len(table)), (len(table), len(self.levels))
        on_path, best, best_node = (
            np.full(shape, np.nan),
            np.zeros(shape),
            np.zeros(shape, np.int32),
        )
        for level, nodes in enumerate(self.levels):
            column = self.ancestors[predicted, level]
            reached = np.flatnonzero(column >= 0)
            on_path[reached, level] = table[reached, column[reached]]
            among = table[:, nodes]
            place = among.argmax(axis=1)
            best[:, level], best_node[:, level] = among[rows, place], nodes[place]
        answer = np.where(predicted > 0, table[rows, predicted], np.nan)
        distances = expected_distances(table, self.closure[given], self.closure[predicted])
        return on_path, answer, best, best_node, table[rows, given], *distances


def expected_distances(
    table: FloatArray, true: sparse.csr_array, pred: sparse.csr_array
) -> FloatArray:
    """Compare the given and the predicted labels of rows with where the model expects the truth.

    The expected number of nodes in which a set of nodes S, closed under ancestors, differs from the
    true one is the sum of 1 - p over S plus the sum of p outside it. For one path per row in a tree
    this is the expected number of edges between S and the truth.

    Parameters
    ----------
    table : array of shape (n_rows, n_nodes)
        Node probabilities.
    true, pred : CSR arrays of bool, of shape (n_rows, n_nodes)
        Given and predicted nodes with their ancestors.

    Returns
    -------
    array of shape (2, n_rows)
        The expected distance of the prediction ("doubt"), and that of the given label minus it
        ("excess"): large where the given label is far from a confident answer.

    Examples
    --------
    >>> true, pred = (sparse.csr_array([row]) > 0 for row in ([1, 1, 0], [1, 0, 1]))
    >>> expected_distances(np.array([[1.0, 0.25, 0.75]]), true, pred).tolist()
    [[0.5], [1.0]]
    """
    gain = 1 - 2 * table
    gain[:, 0] = 0.0  # the root is always true
    of_true, of_pred = (
        np.asarray(sparse.csr_array(side).multiply(gain).sum(axis=1)).ravel()
        for side in (true, pred)
    )
    return np.stack([table[:, 1:].sum(axis=1) + of_pred, of_true - of_pred])


def ancestors_by_level(hierarchy: Hierarchy) -> IntArray:
    """Return the ancestor of every node of a tree at each level: (n_nodes, max_depth).

    A node is its own ancestor at its own level; levels below it hold -1.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("b",)])
    >>> ancestors_by_level(h).tolist()  # root, a, a/x, b
    [[-1, -1], [1, -1], [1, 2], [3, -1]]
    """
    if hierarchy.n_nodes * hierarchy.max_depth > _MOST_ANCESTORS:
        raise PalmetteError(
            f"the hierarchy has {hierarchy.n_nodes:,} nodes and {hierarchy.max_depth:,} levels: a "
            f"report needs a table of both, of at most {_MOST_ANCESTORS:,} cells. Shorten chains."
        )
    above = np.full((hierarchy.n_nodes, hierarchy.max_depth), -1, dtype=np.int32)
    for depth in range(1, hierarchy.max_depth + 1):
        nodes = np.flatnonzero(hierarchy.depth == depth)
        above[nodes] = above[hierarchy.parents[nodes]]
        above[nodes, depth - 1] = nodes
    return above


@dataclass(frozen=True)
class CellConfidence:
    """Summary of the node probabilities of a model that predicts several paths per row.

    A cell is a pair of a row and a node.

    Parameters
    ----------
    levels : float array of shape (max_depth, 3, n_bins)
        Number of likely cells (see `palmette.metrics.likely_labels`), sum of their probabilities
        and number of true ones per level, in bins of probability.
    node_sums : array of shape (n_nodes,)
        Sum of the probabilities of each node over the rows that it is predicted for.
    counts : int array of shape (2, n_score_bins)
        Number of all cells and of true cells, by score.
    row_counts : int array of shape (2, n_samples, n_score_bins) or None
        The same per row; None where there are too many rows.
    exact_area : float or None
        Area under the precision-recall curve; None where there are too many cells.
    labels : arrays of shape (n_predicted_labels,)
        Row, node, probability and correctness of every predicted label, ancestors left out.
    doubt, excess : arrays of shape (n_samples,)
        See `expected_distances`.
    """

    levels: FloatArray
    node_sums: FloatArray
    counts: NDArray[np.int64]
    row_counts: NDArray[Any] | None
    exact_area: float | None
    labels: tuple[IntArray, IntArray, FloatArray, NDArray[np.bool_]]
    doubt: FloatArray
    excess: FloatArray

    def curves(self) -> list[ReliabilityCurve]:
        """Return the reliability curve of the likely cells of each level."""
        return [_curve(table) for table in self.levels]

    def curve_of_all(self) -> ReliabilityCurve:
        """Return the reliability curve of the likely cells of all levels together."""
        return _curve(self.levels.sum(axis=0))

    def area(self) -> float:
        """Return the area under the precision-recall curve, exact or from binned scores."""
        if self.exact_area is not None:
            return self.exact_area
        return float(_area(self.counts[0][None], self.counts[1][None])[0])

    def average_precision(self, drawn: NDArray[np.int64]) -> FloatArray:
        """Return the area from binned scores per resample, of shape (n_draws,)."""
        assert self.row_counts is not None  # callers draw rows only where their counts were kept
        cells, true = (drawn @ side for side in self.row_counts)
        return _area(cells, true)

    def precision_and_recall(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return thresholds with precision and recall at each of them, of shape (n_bins,)."""
        predicted, true = (np.cumsum(side[::-1])[::-1] for side in self.counts)
        precision = np.divide(
            true, predicted, out=np.full(len(predicted), np.nan), where=predicted > 0
        )
        recall = true / max(int(true[0]), 1)
        return _EDGES.copy(), precision, recall


def read_cell_confidence(
    node_proba: Callable[[Any], FloatArray],
    X: Any,
    evaluation: Evaluation,
    n_bins: int = 10,
    client: Any = None,
) -> CellConfidence:
    """Compute and summarize node probabilities; parameters as for `read_path_confidence`."""
    hierarchy, pair = evaluation.hierarchy, evaluation.pair
    n_rows, n_nodes = evaluation.n_rows, hierarchy.n_nodes
    levels, node_sums = np.zeros((hierarchy.max_depth, 3, n_bins)), np.zeros(n_nodes)
    counts = np.zeros((2, len(_EDGES)), dtype=np.int64)
    by_row = np.zeros((2, n_rows, len(_EDGES)), np.int32) if n_rows <= _KEPT_ROWS else None
    keeps = n_rows * n_nodes <= _KEPT_CELLS
    summary = _CellSummary(
        _NodeTables(node_proba, evaluation), hierarchy.depth, n_bins, by_row is not None, keeps
    )
    beside = (*_labels_of(evaluation), sparse.csr_array(pair.pred.specific))
    kept: list[Any] = []
    distances: list[FloatArray] = []
    of_rows: list[tuple[NDArray[Any], ...]] = []
    start = 0
    for found in in_parts(summary, X, n_nodes, client, beside):
        levels += found.levels
        node_sums += found.node_sums
        counts += found.counts
        stop = start + found.distances.shape[1]
        if by_row is not None:
            by_row[:, start:stop] = found.by_row
        kept.append(found.table)
        rows, *rest = found.labels
        of_rows.append((rows + start, *rest))
        start = stop
        distances.append(found.distances)
    exact = None
    if keeps:
        closed = sparse.csr_array(pair.true.closed[:, 1:])
        exact = average_precision_of_cells(closed, np.concatenate(kept), None)
    rows, nodes, scores, right = (np.concatenate(part) for part in zip(*of_rows, strict=True))
    answers = rows.astype(np.int32), nodes.astype(np.int32), scores, right.astype(bool)
    doubt, excess = np.concatenate(distances, axis=1)
    return CellConfidence(levels, node_sums, counts, by_row, exact, answers, doubt, excess)


class _Cells(NamedTuple):
    """What a report keeps of the probabilities of some rows; see `CellConfidence`."""

    levels: FloatArray
    node_sums: FloatArray
    counts: NDArray[np.int64]
    by_row: NDArray[Any] | None
    table: FloatArray | None  # without the root
    labels: tuple[NDArray[Any], ...]  # rows, nodes, probabilities, whether they are true
    distances: FloatArray


@dataclass(frozen=True)
class _CellSummary:
    """Summarizes the probabilities of some rows that may have several paths.

    Parameters
    ----------
    tables : _NodeTables
    depth : int array of shape (n_nodes,)
    n_bins : int
        Of probabilities.
    by_row : bool
        Whether cells are also counted row by row.
    keeps : bool
        Whether the probabilities themselves are returned.
    """

    tables: _NodeTables
    depth: IntArray
    n_bins: int
    by_row: bool
    keeps: bool

    def __call__(
        self, X: Any, true: sparse.csr_array, pred: sparse.csr_array, specific: sparse.csr_array
    ) -> _Cells:
        table, truth = self.tables.of(X, true.shape[0]), true.toarray()
        levels = np.zeros((int(self.depth.max()), 3, self.n_bins))
        for depth in range(1, len(levels) + 1):
            nodes = np.flatnonzero(self.depth == depth)
            likely = likely_labels(table[:, nodes], pred[:, nodes].toarray())
            levels[depth - 1] = _in_bins(
                table[:, nodes][likely], truth[:, nodes][likely], self.n_bins
            )
        rows, nodes = specific.nonzero()
        rows, nodes = rows[nodes > 0], nodes[nodes > 0]  # an empty prediction is the root
        found = _by_score(table[:, 1:], truth[:, 1:])
        return _Cells(
            levels,
            np.asarray(pred.multiply(table).sum(axis=0)),
            found.sum(axis=1),
            found.astype(np.int32) if self.by_row else None,
            table[:, 1:] if self.keeps else None,
            (rows, nodes, table[rows, nodes], truth[rows, nodes]),
            expected_distances(table, true, pred),
        )


def _in_bins(table: FloatArray, truth: NDArray[np.bool_], n_bins: int) -> FloatArray:
    """Count cells, sum probabilities and count true cells in the bins of `reliability_curve`."""
    inner = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
    place = np.searchsorted(inner, table, side="left")
    weights = (None, table, truth)
    return np.stack([np.bincount(place, each, minlength=n_bins) for each in weights])


def _curve(table: FloatArray) -> ReliabilityCurve:
    filled = np.flatnonzero(table[0])
    edges = np.linspace(0.0, 1.0, table.shape[1] + 1)
    cells, sums, true = table[:, filled]
    return ReliabilityCurve(edges[filled], edges[filled + 1], sums / cells, true / cells, cells)


def _by_score(table: FloatArray, truth: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count cells and true cells per row by score: (2, n_rows, n_score_bins)."""
    n_rows, n_bins = len(table), len(_EDGES)
    place = np.searchsorted(_EDGES, table, side="right") - 1
    place += n_bins * np.arange(n_rows)[:, None]
    sides = (place.ravel(), place[truth])
    counted = [np.bincount(side, minlength=n_rows * n_bins) for side in sides]
    return np.stack(counted).reshape(2, n_rows, n_bins)


def _area(cells: NDArray[Any], true: NDArray[Any]) -> FloatArray:
    """Return the average precision, all cells of a bin having the same score: (n_draws,)."""
    predicted = np.cumsum(cells[:, ::-1], axis=1)
    hits = np.cumsum(true[:, ::-1], axis=1)
    precision = np.divide(hits, predicted, out=np.zeros(hits.shape), where=predicted > 0)
    steps = (true[:, ::-1] * precision).sum(axis=1)
    total = hits[:, -1]
    area: FloatArray = np.divide(steps, total, out=np.full(len(total), np.nan), where=total > 0)
    return area
