"""Search of an option table for the best paths of rows, and the classes of a DAG."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, read_only
from palmette.class_tree._routing import OptionTable, Routes
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.persistence.checks import numbers, require, within


def best_labels(
    table: OptionTable, routes: Routes, X: Any, n_samples: int, width: int
) -> tuple[IntArray, FloatArray]:
    """Follow the `width` best paths of every row from the root down.

    Only the nodes on these paths are evaluated. A width of 1 is a greedy search.

    Parameters
    ----------
    table : OptionTable
    routes : Routes
    X : object
        What ``routes.prepare`` returned.
    n_samples : int
    width : int

    Returns
    -------
    labels : int array of shape (n_samples, width)
        Classes, best first; -1 if there are fewer paths.
    values : array of shape (n_samples, width)
        Sums of scores along the paths; -inf if there are fewer paths.
    """
    followed = routes.follow(X, table, width)
    if followed is not None:
        return followed
    from palmette.class_tree._route_kernel import keep_best

    nodes = np.full((n_samples, width), -1, dtype=np.int32)
    labels = np.full_like(nodes, -1)
    values = np.full((n_samples, width), -np.inf)
    nodes[:, 0], values[:, 0] = 0, 0.0
    places = np.zeros((n_samples, width), dtype=np.int64)
    first, targets, ends = (read_only(table.first), read_only(table.targets), read_only(table.ends))
    unfinished = n_samples
    while unfinished:
        open_paths = np.flatnonzero(nodes.ravel() >= 0)
        open_paths = open_paths[np.argsort(nodes.ravel()[open_paths], kind="stable")]
        visited = nodes.ravel()[open_paths]
        starts = np.concatenate([[0], np.cumsum(table.sizes[visited])])
        scores = routes.score(X, open_paths // width, visited, starts)
        places.ravel()[open_paths] = starts[:-1]
        new = np.empty_like(nodes), np.empty_like(labels), np.empty_like(values)
        unfinished = keep_best(nodes, labels, values, places, scores, first, targets, ends, *new)
        nodes, labels, values = new
    return labels, values


def class_scores(table: OptionTable, routes: Routes, X: Any, n_samples: int) -> FloatArray:
    """Score every class by the best path to it, with the scores of all nodes.

    Parameters
    ----------
    table, routes, X, n_samples
        As in `best_labels`.

    Returns
    -------
    array of shape (n_samples, n_classes)
    """
    reach = np.full((table.n_nodes, n_samples), -np.inf)
    reach[0] = 0.0
    best = np.full((table.n_classes, n_samples), -np.inf)
    rows = np.arange(n_samples, dtype=np.int64)
    all_scores = routes.score_all(X)
    for node, size in enumerate(table.sizes.tolist()):
        options = slice(table.first[node], table.first[node + 1])
        if all_scores is not None:
            scores = all_scores[:, options].T + reach[node]
        else:
            starts = np.arange(n_samples + 1, dtype=np.int64) * size
            visited = np.full(n_samples, node, dtype=np.int32)
            scores = routes.score(X, rows, visited, starts).reshape(n_samples, size).T + reach[node]
        for found, into in ((table.targets[options], reach), (table.ends[options], best)):
            at = found >= 0
            into[found[at]] = np.maximum(into[found[at]], scores[at])
    return best.T


class DagSpace:
    """Classes in a DAG and their ancestors: the counterpart of `LabelSpace` for DAGs.

    Parameters
    ----------
    hierarchy : Hierarchy
    classes : int array of shape (n_classes,)
        Nodes that are labels, ascending.

    Examples
    --------
    >>> h = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x"), ("b", "y")])
    >>> DagSpace(h, h.leaves).marginals(np.array([[0.25, 0.75]])).ravel().tolist()
    [1.0, 0.25, 1.0, 0.25, 0.75]
    """

    def __init__(self, hierarchy: Hierarchy, classes: IntArray) -> None:
        self.hierarchy = hierarchy
        self.classes = np.asarray(classes, dtype=np.int32)
        above = sparse.csr_array(hierarchy.closure[self.classes])
        self.nodes = np.unique(above.indices).astype(np.int32)
        self._below = sparse.csr_array(above[:, self.nodes].T, dtype=np.float64)

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.hierarchy, Hierarchy), "the hierarchy of classes is missing")
        for each in (self.classes, self.nodes):
            nodes = numbers(each, np.int32, 1, "classes")
            require(within(nodes, self.hierarchy.n_nodes), "a class is not in the hierarchy")
            require(np.diff(nodes) > 0, "classes are not in ascending order")
        fits = self._below.shape == (len(self.nodes), len(self.classes))
        require(fits, "classes and nodes do not fit together")

    @property
    def n_classes(self) -> int:
        """Number of labels."""
        return len(self.classes)

    @property
    def n_active(self) -> int:
        """Number of nodes that are labels or have a label below them."""
        return len(self.nodes)

    def marginals(self, proba: Any) -> FloatArray:
        """Return the probability of every active node, of shape (n_active, n_samples)."""
        total = self._below @ np.asarray(proba, dtype=np.float64).T
        return np.asarray(np.minimum(total, 1.0))
