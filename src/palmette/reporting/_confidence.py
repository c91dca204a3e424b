"""Confidence of a model: node probabilities are computed once, in chunks of rows, and reduced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, count_rows, row_chunks, take_rows
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import ReliabilityCurve, likely_labels
from palmette.metrics._counts import average_precision_of_cells
from palmette.reporting._evaluation import Evaluation

_NUMBERS_AT_ONCE = 2**24  # of node tables, 128 MiB
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
    node_proba: Callable[[Any], FloatArray], X: Any, evaluation: Evaluation
) -> PathConfidence:
    """Compute and summarize the node probabilities of all rows, one chunk at a time.

    Parameters
    ----------
    node_proba : callable
        Maps rows to probabilities of the nodes of the model's hierarchy.
    X : rows
    evaluation : Evaluation
        Evaluation of the same rows, with one path per row.
    """
    hierarchy = evaluation.hierarchy
    true, predicted = evaluation.pair.nodes
    ancestors = ancestors_by_level(hierarchy)
    shape = (evaluation.n_rows, hierarchy.max_depth)
    on_path, best = np.full(shape, np.nan), np.zeros(shape)
    best_node, answer = np.zeros(shape, dtype=np.int32), np.empty(shape[0])
    given, distances = np.empty(shape[0]), np.empty((2, shape[0]))
    levels = [np.flatnonzero(hierarchy.depth == d) for d in range(1, shape[1] + 1)]
    for chunk, table in node_tables(node_proba, X, evaluation):
        rows = np.arange(len(table))
        answer[chunk] = np.where(predicted[chunk] > 0, table[rows, predicted[chunk]], np.nan)
        given[chunk] = table[rows, true[chunk]]
        distances[:, chunk] = expected_distances(table, evaluation, chunk)
        for level, nodes in enumerate(levels):
            column = ancestors[predicted[chunk], level]
            reached = np.flatnonzero(column >= 0)
            on_path[chunk.start + reached, level] = table[reached, column[reached]]
            among = table[:, nodes]
            place = among.argmax(axis=1)
            best[chunk, level], best_node[chunk, level] = among[rows, place], nodes[place]
    return PathConfidence(on_path, answer, best, best_node, given, *distances)


def expected_distances(table: FloatArray, evaluation: Evaluation, chunk: slice) -> FloatArray:
    """Compare the given and the predicted labels of rows with where the model expects the truth.

    The expected number of nodes in which a set of nodes S, closed under ancestors, differs from the
    true one is the sum of 1 - p over S plus the sum of p outside it. For one path per row in a tree
    this is the expected number of edges between S and the truth.

    Parameters
    ----------
    table : array of shape (n_rows_of_chunk, n_nodes)
        Node probabilities.
    evaluation : Evaluation
    chunk : slice

    Returns
    -------
    array of shape (2, n_rows_of_chunk)
        The expected distance of the prediction ("doubt"), and that of the given label minus it
        ("excess"): large where the given label is far from a confident answer.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from palmette.reporting._evaluation import evaluate
    >>> model = DummyClassifier(strategy="constant", constant="b").fit([[0]] * 2, ["a", "b"])
    >>> found = evaluate(model, [[0]], ["a"])
    >>> expected_distances(np.array([[1.0, 0.25, 0.75]]), found, slice(0, 1)).tolist()
    [[0.5], [1.0]]
    """
    pair = evaluation.pair
    gain = 1 - 2 * table
    gain[:, 0] = 0.0  # the root is always true
    true, pred = (
        np.asarray(sparse.csr_array(side.closed[chunk]).multiply(gain).sum(axis=1)).ravel()
        for side in (pair.true, pair.pred)
    )
    return np.stack([table[:, 1:].sum(axis=1) + pred, true - pred])


def node_tables(
    node_proba: Callable[[Any], FloatArray], X: Any, evaluation: Evaluation
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield chunks of rows with their node probabilities on the hierarchy of the evaluation."""
    place, n_nodes = evaluation.node_place, evaluation.hierarchy.n_nodes
    n_rows = count_rows(X)
    for chunk in row_chunks(n_rows, 3 * n_nodes, _NUMBERS_AT_ONCE):
        part = X if chunk == slice(0, n_rows) else take_rows(X, chunk)
        proba = node_proba(part)
        if proba.shape != (chunk.stop - chunk.start, len(place)):
            raise PalmetteError(
                f"the model gave probabilities of shape {proba.shape}: expected "
                f"({chunk.stop - chunk.start}, {len(place)}), one column per node."
            )
        if len(place) == n_nodes:
            yield chunk, proba
        else:
            table = np.zeros((len(proba), n_nodes))
            table[:, place] = proba
            yield chunk, table


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
    node_proba: Callable[[Any], FloatArray], X: Any, evaluation: Evaluation, n_bins: int = 10
) -> CellConfidence:
    """Compute and summarize node probabilities; parameters as for `read_path_confidence`."""
    hierarchy, pair = evaluation.hierarchy, evaluation.pair
    n_rows, n_nodes = evaluation.n_rows, hierarchy.n_nodes
    levels = np.zeros((hierarchy.max_depth, 3, n_bins))
    node_sums = np.zeros(n_nodes)
    by_row = np.zeros((2, n_rows, len(_EDGES)), np.int32) if n_rows <= _KEPT_ROWS else None
    counts = np.zeros((2, len(_EDGES)), dtype=np.int64)
    kept: list[FloatArray] = []
    keeps = n_rows * n_nodes <= _KEPT_CELLS
    distances = np.empty((2, n_rows))
    labels: list[tuple[NDArray[Any], ...]] = []
    for chunk, table in node_tables(node_proba, X, evaluation):
        truth = pair.true.closed[chunk].toarray()
        predicted = sparse.csr_array(pair.pred.closed[chunk])
        node_sums += (predicted.multiply(table)).sum(axis=0)
        distances[:, chunk] = expected_distances(table, evaluation, chunk)
        rows, nodes = pair.pred.specific[chunk].nonzero()
        rows, nodes = rows[nodes > 0], nodes[nodes > 0]  # an empty prediction is the root
        labels.append((rows + chunk.start, nodes, table[rows, nodes], truth[rows, nodes]))
        for depth in range(1, hierarchy.max_depth + 1):
            nodes = np.flatnonzero(hierarchy.depth == depth)
            likely = likely_labels(table[:, nodes], predicted[:, nodes].toarray())
            cells = table[:, nodes][likely], truth[:, nodes][likely]
            levels[depth - 1] += _in_bins(*cells, n_bins)
        found = _by_score(table[:, 1:], truth[:, 1:])
        counts += found.sum(axis=1)
        if by_row is not None:
            by_row[:, chunk] = found
        if keeps:
            kept.append(table[:, 1:])
    exact = None
    if keeps:
        closed = sparse.csr_array(pair.true.closed[:, 1:])
        exact = average_precision_of_cells(closed, np.concatenate(kept), None)
    rows, nodes, scores, right = (np.concatenate(part) for part in zip(*labels, strict=True))
    answers = rows.astype(np.int32), nodes.astype(np.int32), scores, right.astype(bool)
    return CellConfidence(levels, node_sums, counts, by_row, exact, answers, *distances)


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
