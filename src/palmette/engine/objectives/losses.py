"""Losses for gradient boosting: softmax over labels, over paths, logistic nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.space import LabelSpace

__all__ = ["LeafSoftmax", "Logistic", "PathSoftmax"]

Floats = NDArray[np.float32]
Sums = NDArray[np.float64]

_LEAST_SHARE = 1e-4  # a column that is always or never true would begin at infinity


class LeafSoftmax:
    """Log-likelihood of a softmax over the labels.

    Parameters
    ----------
    targets : int32 array of shape (n_samples,)
        Label of every row.
    weights : float array of shape (n_samples,)
        Positive.
    n_labels : int
    """

    def __init__(self, targets: NDArray[np.int32], weights: Sums, n_labels: int) -> None:
        self.n_columns = n_labels
        self._targets = targets
        self._shares = np.bincount(targets, weights, minlength=n_labels) / weights.sum()
        self._weights = weights.astype(np.float32)

    def start(self) -> Floats:
        """Return the logarithms of the labels' shares."""
        return np.log(self._shares).astype(np.float32)

    def gradients(self, scores: Floats, out: Floats) -> float:
        """Write the gradients; see `Loss`."""
        from palmette._kernels.softmax import softmax_gradients

        return float(softmax_gradients(scores, self._targets, self._weights, out))


class PathSoftmax:
    """Log-likelihood of paths whose scores are sums of their nodes' scores.

    Parameters
    ----------
    targets : int32 array of shape (n_samples,)
        Label of every row, as a position in ``space.classes``.
    weights : float array of shape (n_samples,)
    space : LabelSpace
        Its active nodes but the root are the columns.
    """

    def __init__(self, targets: NDArray[np.int32], weights: Sums, space: LabelSpace) -> None:
        self.n_columns = space.n_active - 1
        self._targets = (space.class_place[targets] - 1).astype(np.int32)
        self._parents = (space.parent[1:] - 1).astype(np.int32)
        self._ends = space.is_class[1:]
        self._weights = weights.astype(np.float32)

    def start(self) -> Floats:
        """Return zeros: all paths alike."""
        return np.zeros(self.n_columns, dtype=np.float32)

    def gradients(self, scores: Floats, out: Floats) -> float:
        """Write the gradients; see `Loss`."""
        from palmette._kernels.softmax import path_softmax_gradients

        return float(
            path_softmax_gradients(
                scores, self._targets, self._weights, self._parents, self._ends, out
            )
        )


class Logistic:
    """Log-likelihood of independent columns, several of which may be true of a row.

    Parameters
    ----------
    positives : sparse bool array of shape (n_samples, n_columns)
    weights : float array of shape (n_samples,)
    """

    def __init__(self, positives: sparse.csr_array, weights: Sums) -> None:
        self.n_columns = int(positives.shape[1])
        self._starts = positives.indptr.astype(np.int64)
        self._columns = positives.indices.astype(np.int32)
        shares = weights @ positives.astype(np.float64) / weights.sum()
        self._shares = np.clip(shares, _LEAST_SHARE, 1 - _LEAST_SHARE)
        self._weights = weights.astype(np.float32)

    def start(self) -> Floats:
        """Return the log-odds of the columns' shares."""
        return np.log(self._shares / (1 - self._shares)).astype(np.float32)

    def gradients(self, scores: Floats, out: Floats) -> float:
        """Write the gradients; see `Loss`."""
        from palmette._kernels.softmax import logistic_gradients

        return float(logistic_gradients(scores, self._starts, self._columns, self._weights, out))
