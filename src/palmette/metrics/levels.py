"""Accuracy by level, of whole labels, and the consistency of predicted indicators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.metrics._pairs import LabelPair, check_weight, pair_labels
from palmette.metrics.counts import row_overlap

__all__ = ["leaf_accuracy_score", "level_accuracy_score", "path_consistency_score"]


def leaf_accuracy_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    sample_weight: Any = None,
) -> float:
    """Share of rows whose label is predicted exactly, down to the last node of every path.

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

    Examples
    --------
    >>> leaf_accuracy_score([("a", "x"), ("a", "y")], [("a", "x"), ("a",)])
    0.5
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    return pair.mean(row_overlap(pair).apart == 0)


def level_accuracy_score(
    y_true: Any,
    y_pred: Any,
    *,
    hierarchy: Hierarchy | None = None,
    level: int | None = None,
    sample_weight: Any = None,
) -> Any:
    """Share of rows that are right at each level of the hierarchy.

    A row counts at a level that its truth or its prediction reaches, and is right where both have
    the same nodes there. So stopping short and going too deep are both errors.

    Parameters
    ----------
    y_true, y_pred : array-like
        In any form that `NodeLabels.encode` takes.
    hierarchy : Hierarchy, optional
        By default the union of the paths of both, or a star over their names.
    level : int, optional
        Only this depth, 1 being just below the root.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float array of shape (max_depth,), or float for one `level`
        NaN at a level that no row reaches.

    Examples
    --------
    >>> level_accuracy_score([("a", "x"), ("a", "y"), ("b",)], [("a", "x"), ("a", "x"), ("b",)])
    array([1. , 0.5])
    """
    pair = pair_labels(y_true, y_pred, hierarchy, sample_weight)
    if level is not None:
        return _accuracy_at(pair, level)
    return np.array([_accuracy_at(pair, one) for one in range(1, pair.hierarchy.max_depth + 1)])


def _accuracy_at(pair: LabelPair, level: int) -> float:
    overlap = row_overlap(pair, level)
    reached = overlap.true + overlap.pred > 0
    right: NDArray[np.bool_] = (overlap.apart == 0) & reached
    weight = float(pair.weight[reached].sum())
    return float(pair.weight[right].sum()) / weight if weight else float("nan")


def path_consistency_score(
    y_pred: Any, *, hierarchy: Hierarchy | None = None, sample_weight: Any = None
) -> float:
    """Share of rows in which every given node comes with all its ancestors.

    Parameters
    ----------
    y_pred : array-like
        0/1 matrix with a column for every node (or every node but the root), or sets of nodes that
        list their ancestors. The root may be missing.
    hierarchy : Hierarchy, optional
        Needed for a matrix, whose columns say nothing about parents.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> h = Hierarchy.from_paths([("a", "x"), ("b",)])
    >>> path_consistency_score(np.array([[1, 1, 0], [0, 1, 0]]), hierarchy=h)  # a, x, b
    0.5
    """
    labels = NodeLabels.encode(y_pred, hierarchy)
    weight = check_weight(sample_weight, labels.n_samples)
    ones = np.ones(labels.hierarchy.n_nodes, dtype=np.int64)
    ones[0] = 0
    consistent = labels.closed @ ones == labels.given @ ones
    return float(weight @ consistent) / float(weight.sum())
