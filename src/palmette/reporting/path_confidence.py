"""How sure a model is of single paths: one look at the probabilities of all nodes, in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy
from palmette.core.rows import count_rows, row_chunks, take_rows
from palmette.exceptions import PalmetteError
from palmette.reporting.evaluation import Evaluation

__all__ = ["PathConfidence", "ancestors_by_level", "node_tables", "read_path_confidence"]

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
