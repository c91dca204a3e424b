"""Search of an option table: the best paths of every row, or the best path to every class."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette._arrays import FloatArray, IntArray, read_only
from palmette.class_tree._routing import OptionTable, Routes


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
