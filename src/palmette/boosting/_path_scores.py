"""Scores of paths, computed from scores of nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palmette.labels._space import LabelSpace

_DEPTH_POWER = 0.75


def path_scores(scores: NDArray[np.float64], space: LabelSpace) -> NDArray[np.float64]:
    """Return the scores of the paths to all classes: sums over their nodes, scaled by length.

    Sums favour short paths if scores are negative, as most are; a mean is the same for a label and
    its parent if all scores on the path are equal. So sums are divided by a power, between 0 and 1,
    of the length. If all paths have the same length, they are plain sums.

    Parameters
    ----------
    scores : array of shape (n_samples, n_active - 1)
        Scores of the active nodes, without the root.
    space : LabelSpace

    Returns
    -------
    array of shape (n_samples, n_classes)

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> path_scores(np.array([[1.0, -0.5, -0.1, -1.0, 3.0]]), LabelSpace(h, h.leaves)).tolist()
    [[0.5, 0.9, 2.0]]
    """
    at_nodes = np.zeros((space.n_active, len(scores)))
    at_nodes[1:] = scores.T
    lengths = np.maximum(space.depth[space.class_place], 1)
    scale = (lengths.mean() / lengths) ** _DEPTH_POWER
    paths: NDArray[np.float64] = space.sum_down(at_nodes)[space.class_place] * scale[:, None]
    return paths.T


def best_positive_path(scores: NDArray[np.float64], space: LabelSpace) -> NDArray[np.int32]:
    """Return the end of the best path of positive nodes per row (eq. 12 with eq. 4).

    Among the paths from the root on which all scores are positive, the one with the largest sum is
    chosen; it may end at any node. If no child of the root is positive, the best one is chosen.

    Parameters
    ----------
    scores : array of shape (n_samples, n_active - 1)
        Scores of the active nodes, without the root.
    space : LabelSpace

    Returns
    -------
    int array of shape (n_samples,)
        Node numbers of the hierarchy.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> space = LabelSpace(h, h.leaves)
    >>> chosen = best_positive_path(np.array([[1.0, -0.5, -0.1, -1.0, 3.0]]), space)
    >>> h.path_strings[chosen].tolist()
    ['animal']
    """
    at_nodes = np.zeros((space.n_active, len(scores)))
    at_nodes[1:] = scores.T
    at_nodes[1:][at_nodes[1:] <= 0] = -np.inf
    sums = space.sum_down(at_nodes)
    best = 1 + sums[1:].argmax(axis=0)
    nowhere = ~np.isfinite(sums[best, np.arange(len(scores))])
    if nowhere.any():
        tops = space.levels[1]
        best[nowhere] = tops[scores[nowhere][:, tops - 1].argmax(axis=1)]
    return np.asarray(space.nodes[best], dtype=np.int32)
