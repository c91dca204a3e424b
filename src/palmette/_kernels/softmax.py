"""Softmax of scores and the gradients of its log-likelihood, a row at a time."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["softmax_gradients"]


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
    scores : float32 array of shape (n_samples, n_labels), in
    targets : int32 array of shape (n_samples,), in
        True label of every row.
    weights : float32 array of shape (n_samples,), in
    gradients : float32 array of shape (n_samples, n_labels), out

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
