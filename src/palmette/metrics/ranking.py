"""Label-ranking metrics: how well scores order the labels of every row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from palmette.exceptions import LabelError
from palmette.metrics._indicators import truth_and_scores
from palmette.metrics._pairs import check_weight

__all__ = [
    "coverage_error",
    "label_ranking_average_precision",
    "label_ranking_loss",
    "one_error",
]

_CELLS_AT_ONCE = 4_000_000  # cells of a sparse truth made dense at a time


def one_error(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Share of rows whose highest-scored label is not true; rows without labels are left out.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
        Of equal highest scores the first counts.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> one_error(np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    0.5
    """
    true, scores = truth_and_scores(y_true, y_score)
    weight = check_weight(sample_weight, true.shape[0]) * (np.diff(true.indptr) > 0)
    if not weight.any():
        raise LabelError("no row has a label: one_error has nothing to look at.")
    rows = np.arange(true.shape[0])
    hit = np.asarray(true[rows, scores.argmax(axis=1)]).ravel()
    return float(weight @ ~hit) / float(weight.sum())


def coverage_error(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Mean number of top-scored labels that it takes to cover all true ones.

    The best value is the mean number of true labels. Others subtract one.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> coverage_error(np.array([[1, 0, 0]]), np.array([[0.5, 0.9, 0.1]]))
    2.0
    """
    from sklearn import metrics

    return _by_row(metrics.coverage_error, y_true, y_score, sample_weight)


def label_ranking_loss(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Share of (true, false) pairs of labels that are scored in the wrong order, mean over rows.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        Rows with no label or all labels count as 0, as in scikit-learn.

    Examples
    --------
    >>> label_ranking_loss(np.array([[1, 0, 0]]), np.array([[0.5, 0.9, 0.1]]))
    0.5
    """
    from sklearn import metrics

    return _by_row(metrics.label_ranking_loss, y_true, y_score, sample_weight)


def label_ranking_average_precision(
    y_true: Any, y_score: Any, *, sample_weight: Any = None
) -> float:
    """Mean over rows and true labels of the share of true ones among those scored as high.

    Parameters
    ----------
    y_true : 0/1 matrix of shape (n_samples, n_labels), dense or sparse
    y_score : array of shape (n_samples, n_labels)
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        Rows with no label or all labels count as 1, as in scikit-learn.

    Examples
    --------
    >>> label_ranking_average_precision(np.array([[1, 0, 0]]), np.array([[0.5, 0.9, 0.1]]))
    0.5
    """
    from sklearn import metrics

    return _by_row(metrics.label_ranking_average_precision_score, y_true, y_score, sample_weight)


def _by_row(score: Callable[..., float], y_true: Any, y_score: Any, sample_weight: Any) -> float:
    """Average a row-wise metric of scikit-learn over chunks of a sparse truth."""
    true, scores = truth_and_scores(y_true, y_score)
    if true.shape[1] < 2:
        raise LabelError("a ranking of labels needs at least two of them; y_true has one column.")
    weight = check_weight(sample_weight, true.shape[0])
    size = max(1, _CELLS_AT_ONCE // true.shape[1])
    total = 0.0
    for start in range(0, true.shape[0], size):
        part = slice(start, start + size)
        share = float(weight[part].sum())
        if share:
            truth = true[part].toarray()
            total += share * score(truth, scores[part], sample_weight=weight[part])
    return total / float(weight.sum())
