"""How sure a model is of single paths: one look at the probabilities of all nodes, in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import count_rows, row_chunks, take_rows
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics import ReliabilityCurve
from palmette.metrics._counts import average_precision_of_cells
from palmette.reporting._evaluation import Evaluation

__all__ = [
    "CellConfidence",
    "PathConfidence",
    "ancestors_by_level",
    "node_tables",
    "read_cell_confidence",
    "read_path_confidence",
]


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_NUMBERS_AT_ONCE = 2**24  # of node tables, 128 MiB


@dataclass(frozen=True)
class PathConfidence:
    """What is kept of the probabilities of nodes, for one path a row.

    Parameters
    ----------
    on_path : array of shape (n_samples, max_depth)
        Probability of the predicted path's node at each level, NaN below its end.
    answer : array of shape (n_samples,)
        Probability of the predicted node.
    best : array of shape (n_samples, max_depth)
        Highest probability at each level.
    best_node : int array of shape (n_samples, max_depth)
        The node that has it.
    """

    on_path: FloatArray
    answer: FloatArray
    best: FloatArray
    best_node: IntArray

    def deepest_sure(self, threshold: float) -> IntArray:
        """Deepest node of every row that is sure enough; the root, 0, where none is.

        The answer of `palmette.decoding.Confident`: of equally deep nodes the most probable.
        """
        sure = self.best >= threshold
        levels = np.arange(1, sure.shape[1] + 1)
        deepest = np.where(sure, levels, 0).max(axis=1, initial=0)
        found = np.zeros(len(sure), dtype=np.int32)
        below = np.flatnonzero(deepest)
        found[below] = self.best_node[below, deepest[below] - 1]
        return found


def read_path_confidence(
    node_proba: Callable[[Any], FloatArray], X: Any, evaluation: Evaluation
) -> PathConfidence:
    """Look at the probabilities of all rows, a chunk at a time.

    Parameters
    ----------
    node_proba : callable
        From rows to probabilities of the nodes of the model's hierarchy.
    X : rows
    evaluation : Evaluation
        Of the same rows, with one path each.

    Returns
    -------
    PathConfidence
    """
    hierarchy = evaluation.hierarchy
    predicted = evaluation.pair.nodes[1]
    above = ancestors_by_level(hierarchy)
    shape = (evaluation.n_rows, hierarchy.max_depth)
    on_path, best = np.full(shape, np.nan), np.zeros(shape)
    best_node, answer = np.zeros(shape, dtype=np.int32), np.empty(shape[0])
    levels = [np.flatnonzero(hierarchy.depth == d) for d in range(1, shape[1] + 1)]
    for chunk, table in node_tables(node_proba, X, evaluation):
        rows = np.arange(len(table))
        answer[chunk] = table[rows, predicted[chunk]]
        for level, nodes in enumerate(levels):
            column = above[predicted[chunk], level]
            there = np.flatnonzero(column >= 0)
            on_path[chunk.start + there, level] = table[there, column[there]]
            among = table[:, nodes]
            place = among.argmax(axis=1)
            best[chunk, level], best_node[chunk, level] = among[rows, place], nodes[place]
    return PathConfidence(on_path, answer, best, best_node)


def node_tables(
    node_proba: Callable[[Any], FloatArray], X: Any, evaluation: Evaluation
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield chunks of rows with their probabilities on the evaluation's hierarchy."""
    place, n_nodes = evaluation.node_place, evaluation.hierarchy.n_nodes
    n_rows = count_rows(X)
    for chunk in row_chunks(n_rows, 3 * n_nodes, _NUMBERS_AT_ONCE):
        part = X if chunk == slice(0, n_rows) else take_rows(X, chunk)
        proba = node_proba(part)
        if proba.shape != (chunk.stop - chunk.start, len(place)):
            raise PalmetteError(
                f"the model gave probabilities of shape {proba.shape}: expected "
                f"({chunk.stop - chunk.start}, {len(place)}), a column for every node."
            )
        if len(place) == n_nodes:
            yield chunk, proba
        else:
            table = np.zeros((len(proba), n_nodes))
            table[:, place] = proba
            yield chunk, table


def ancestors_by_level(hierarchy: Hierarchy) -> IntArray:
    """Node at each level above every node of a tree: (n_nodes, max_depth), -1 below its end.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("b",)])
    >>> ancestors_by_level(h).tolist()  # root, a, a/x, b
    [[-1, -1], [1, -1], [1, 2], [3, -1]]
    """
    above = np.full((hierarchy.n_nodes, hierarchy.max_depth), -1, dtype=np.int32)
    for depth in range(1, hierarchy.max_depth + 1):
        nodes = np.flatnonzero(hierarchy.depth == depth)
        above[nodes] = above[hierarchy.parents[nodes]]
        above[nodes, depth - 1] = nodes
    return above


# scores are binned by their log-odds: most are near 0, where precision is decided
_EDGES = np.r_[0.0, 1 / (1 + np.exp(-np.linspace(-9, 9, 198)))]
_KEPT_CELLS = 2**24  # for the exact area: 128 MiB
_KEPT_ROWS = 100_000  # for the interval of the area: two tables of rows x bins


@dataclass(frozen=True)
class CellConfidence:
    """What is kept of the probabilities of nodes, for several paths a row.

    Parameters
    ----------
    levels : float array of shape (max_depth, 3, n_bins)
        Cells, sums of probabilities and true cells of every level, in bins of probability.
    node_sums : array of shape (n_nodes,)
        Sum of the probabilities of each node over the rows that it is predicted for.
    counts : int array of shape (2, n_score_bins)
        All cells and true cells, by score.
    row_counts : int array of shape (2, n_samples, n_score_bins) or None
        The same for every row; None where there are too many rows.
    exact_area : float or None
        Area under the precision-recall curve; None where there are too many cells.
    """

    levels: FloatArray
    node_sums: FloatArray
    counts: NDArray[np.int64]
    row_counts: NDArray[Any] | None
    exact_area: float | None

    def curves(self) -> list[ReliabilityCurve]:
        """Reliability of the cells of each level."""
        return [_curve(table) for table in self.levels]

    def curve_of_all(self) -> ReliabilityCurve:
        """Reliability of all cells together."""
        return _curve(self.levels.sum(axis=0))

    def area(self) -> float:
        """Area under the precision-recall curve: exact, or from scores in bins."""
        if self.exact_area is not None:
            return self.exact_area
        return float(_area(self.counts[0][None], self.counts[1][None])[0])

    def average_precision(self, drawn: NDArray[np.int64]) -> FloatArray:
        """Area from scores in bins for numbers of each row, of shape (n_draws,)."""
        assert self.row_counts is not None  # callers draw rows only where their counts were kept
        cells, true = (drawn @ side for side in self.row_counts)
        return _area(cells, true)

    def precision_and_recall(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Thresholds, and precision and recall of the cells that are as probable: (n_bins,)."""
        told, true = (np.cumsum(side[::-1])[::-1] for side in self.counts)
        precision = np.divide(true, told, out=np.full(len(told), np.nan), where=told > 0)
        recall = true / max(int(true[0]), 1)
        return _EDGES.copy(), precision, recall


def read_cell_confidence(
    node_proba: Callable[[Any], FloatArray], X: Any, evaluation: Evaluation, n_bins: int = 10
) -> CellConfidence:
    """Look at the probabilities of all rows, a chunk at a time; parameters as for paths."""
    hierarchy, pair = evaluation.hierarchy, evaluation.pair
    n_rows, n_nodes = evaluation.n_rows, hierarchy.n_nodes
    levels = np.zeros((hierarchy.max_depth, 3, n_bins))
    node_sums = np.zeros(n_nodes)
    by_row = np.zeros((2, n_rows, len(_EDGES)), np.int32) if n_rows <= _KEPT_ROWS else None
    counts = np.zeros((2, len(_EDGES)), dtype=np.int64)
    kept: list[FloatArray] = []
    keeps = n_rows * n_nodes <= _KEPT_CELLS
    for chunk, table in node_tables(node_proba, X, evaluation):
        truth = pair.true.closed[chunk].toarray()
        predicted = sparse.csr_array(pair.pred.closed[chunk])
        node_sums += (predicted.multiply(table)).sum(axis=0)
        for depth in range(1, hierarchy.max_depth + 1):
            nodes = np.flatnonzero(hierarchy.depth == depth)
            levels[depth - 1] += _in_bins(table[:, nodes], truth[:, nodes], n_bins)
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
    return CellConfidence(levels, node_sums, counts, by_row, exact)


def _in_bins(table: FloatArray, truth: NDArray[np.bool_], n_bins: int) -> FloatArray:
    """Cells, sums of probabilities and true cells, in the bins of `reliability_curve`."""
    inner = np.linspace(0.0, 1.0, n_bins + 1)[1:-1]
    place = np.searchsorted(inner, table.ravel(), side="left")
    weights = (None, table.ravel(), truth.ravel())
    return np.stack([np.bincount(place, each, minlength=n_bins) for each in weights])


def _curve(table: FloatArray) -> ReliabilityCurve:
    filled = np.flatnonzero(table[0])
    edges = np.linspace(0.0, 1.0, table.shape[1] + 1)
    cells, sums, true = table[:, filled]
    return ReliabilityCurve(edges[filled], edges[filled + 1], sums / cells, true / cells, cells)


def _by_score(table: FloatArray, truth: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Cells and true cells of every row by score: (2, n_rows, n_score_bins)."""
    n_rows, n_bins = len(table), len(_EDGES)
    place = np.searchsorted(_EDGES, table, side="right") - 1
    place += n_bins * np.arange(n_rows)[:, None]
    sides = (place.ravel(), place[truth])
    counted = [np.bincount(side, minlength=n_rows * n_bins) for side in sides]
    return np.stack(counted).reshape(2, n_rows, n_bins)


def _area(cells: NDArray[Any], true: NDArray[Any]) -> FloatArray:
    """Average precision where all cells of a bin have one score: (n_draws,)."""
    told = np.cumsum(cells[:, ::-1], axis=1)
    hits = np.cumsum(true[:, ::-1], axis=1)
    precision = np.divide(hits, told, out=np.zeros(hits.shape), where=told > 0)
    steps = (true[:, ::-1] * precision).sum(axis=1)
    total = hits[:, -1]
    area: FloatArray = np.divide(steps, total, out=np.full(len(total), np.nan), where=total > 0)
    return area
