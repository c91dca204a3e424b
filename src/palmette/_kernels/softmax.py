"""Gradients of the log-likelihoods of scores, a row at a time: softmax, over paths, logistic."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["logistic_gradients", "path_softmax_gradients", "softmax_gradients"]

_LOWEST = np.finfo(np.float32).min  # not infinite: fast mathematics does not know infinity


@njit(cache=True, nogil=True, fastmath=True)
def softmax_gradients(
    scores: NDArray[np.float32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float32],
    gradients: NDArray[np.float32],
) -> float:
    """Gradients ``weight (y - p)`` of the log-likelihood by the scores; returns its negative.

    Parameters
    ----------
    scores : float32 array of shape (n_samples, n_labels), IN
    targets : int32 array of shape (n_samples,), IN
        True label of every row.
    weights : float32 array of shape (n_samples,), IN
    gradients : float32 array of shape (n_samples, n_labels), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the true labels.
    """
    n_samples, n_labels = scores.shape
    loss = 0.0
    for i in range(n_samples):
        top = scores[i, 0]
        for k in range(1, n_labels):
            top = max(top, scores[i, k])
        total = np.float32(0.0)
        for k in range(n_labels):
            gradients[i, k] = np.exp(scores[i, k] - top)
            total += gradients[i, k]
        loss -= weights[i] * (scores[i, targets[i]] - top - np.log(total))
        share = weights[i] / total
        for k in range(n_labels):
            gradients[i, k] *= -share
        gradients[i, targets[i]] += weights[i]
    return loss


@njit(cache=True, nogil=True, fastmath=True)
def path_softmax_gradients(
    scores: NDArray[np.float32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float32],
    parents: NDArray[np.int32],
    ends: NDArray[np.bool_],
    gradients: NDArray[np.float32],
) -> float:
    """Gradients of the log-likelihood of paths, whose scores are sums over their nodes.

    Parameters
    ----------
    scores : float32 array of shape (n_samples, n_columns), IN
        Of the nodes.
    targets : int32 array of shape (n_samples,), IN
        Column at which the true path of every row ends.
    weights : float32 array of shape (n_samples,), IN
    parents : int32 array of shape (n_columns,), IN
        Column of every node's parent, smaller than its own; -1 below the root.
    ends : bool array of shape (n_columns,), IN
        Whether a path may end at a node.
    gradients : float32 array of shape (n_samples, n_columns), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the true paths.
    """
    n_samples, n_columns = scores.shape
    path = np.empty(n_columns, dtype=scores.dtype)
    loss = 0.0
    for i in range(n_samples):
        top = _LOWEST
        for k in range(n_columns):
            path[k] = scores[i, k]
            if parents[k] >= 0:
                path[k] += path[parents[k]]
            if ends[k]:
                top = max(top, path[k])
        total = np.float32(0.0)
        for k in range(n_columns):
            gradients[i, k] = np.exp(path[k] - top) if ends[k] else np.float32(0.0)
            total += gradients[i, k]
        loss -= weights[i] * (path[targets[i]] - top - np.log(total))
        for k in range(n_columns - 1, -1, -1):
            if parents[k] >= 0:
                gradients[i, parents[k]] += gradients[i, k]
        share = weights[i] / total
        for k in range(n_columns):
            gradients[i, k] *= -share
        k = targets[i]
        while k >= 0:
            gradients[i, k] += weights[i]
            k = parents[k]
    return loss


@njit(cache=True, nogil=True, fastmath=True)
def logistic_gradients(
    scores: NDArray[np.float32],
    starts: NDArray[np.int64],
    positives: NDArray[np.int32],
    weights: NDArray[np.float32],
    gradients: NDArray[np.float32],
) -> float:
    """Gradients ``weight (y - p)`` of independent logistic columns; returns the loss.

    Parameters
    ----------
    scores : float32 array of shape (n_samples, n_columns), IN
    starts : int array of shape (n_samples + 1,), IN
    positives : int array, IN
        Columns true of row ``i`` are ``positives[starts[i]:starts[i + 1]]``.
    weights : float32 array of shape (n_samples,), IN
    gradients : float32 array of shape (n_samples, n_columns), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the truth, over all cells.
    """
    n_samples, n_columns = scores.shape
    one = np.float32(1.0)
    loss = 0.0
    for i in range(n_samples):
        row_loss = 0.0
        for k in range(n_columns):
            small = np.exp(-abs(scores[i, k]))
            share = one / (one + small)
            row_loss += np.log1p(small) + max(scores[i, k], np.float32(0.0))
            gradients[i, k] = -weights[i] * (share if scores[i, k] > 0 else small * share)
        for place in range(starts[i], starts[i + 1]):
            k = positives[place]
            row_loss -= scores[i, k]
            gradients[i, k] += weights[i]
        loss += weights[i] * row_loss
    return loss
