"""The leading directions of a matrix of labels: many nodes in few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

__all__ = ["leading_directions"]


def leading_directions(
    Y: sparse.csr_array,
    n_directions: int,
    weights: NDArray[np.float64] | None = None,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Project the centred rows of a label matrix on its leading right singular vectors.

    Parameters
    ----------
    Y : sparse bool array of shape (n_samples, n_columns)
    n_directions : int
        All of them where there are no more.
    weights : array of shape (n_samples,), optional
        Of the rows, in the mean and in what counts as leading.
    seed : int
        Of the vector that the search starts with.

    Returns
    -------
    array of shape (n_samples, n_kept)
        Distances between rows are those between the label sets, as far as so many numbers can tell.
    """
    labels = Y.astype(np.float64)
    root = np.ones(Y.shape[0]) if weights is None else np.sqrt(weights / weights.mean())
    mean = np.asarray(labels.T @ (root**2)).ravel() / (root**2).sum()
    smaller = min(Y.shape)
    if n_directions >= smaller - 1 or smaller < 64:
        centred = labels.toarray() - mean
        right = np.linalg.svd(root[:, None] * centred, full_matrices=False)[2][:n_directions]
        return np.asarray(centred @ right.T)

    def times(v: Any) -> Any:
        return root * (labels @ v.ravel() - mean @ v.ravel())

    def transposed(u: Any) -> Any:
        weighted = root * u.ravel()
        return labels.T @ weighted - mean * weighted.sum()

    centred = LinearOperator(Y.shape, times, rmatvec=transposed, dtype=np.float64)
    start = np.random.default_rng(seed).normal(size=smaller)
    right = svds(centred, k=n_directions, v0=start, return_singular_vectors="vh")[2][::-1]
    return np.asarray(labels @ right.T - mean @ right.T)
