"""Gradient boosting of trees for all columns: losses of scores, and Newton steps in leaves."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.space import LabelSpace

__all__ = [
    "GradientObjective",
    "LeafSoftmax",
    "Logistic",
    "Loss",
    "PathSoftmax",
    "working_dtype",
]

Floats = NDArray[np.float32]
Sums = NDArray[np.float64]

_LEAST_SHARE = 1e-4  # a column that is always or never true would begin at infinity
_SMALL = 2**16  # gradients, up to which float64 costs nothing noticeable


def working_dtype(size: int) -> type[np.floating]:
    """Return float32, or float64 for small arrays, which cost nothing.

    Small data have many splits that are equally good; in float32 rounding would choose among them,
    and copies of a row would not count as its weight.
    """
    return np.float64 if size <= _SMALL else np.float32


class Loss(Protocol):
    """A loss of scores whose gradients are ``weight (y - p)`` with p a probability."""

    n_columns: int

    def start(self) -> Floats:
        """Return the scores that all rows begin with, of shape (n_columns,)."""

    def gradients(self, scores: Floats, out: Floats) -> float:
        """Write weighted gradients, (n_samples, n_columns), and return the sum of the losses."""


class GradientObjective:
    """Scores of the training rows, moved by Newton steps.

    Parameters
    ----------
    loss : Loss
    weights : array of shape (n_samples,)
        Positive.
    learning_rate : float
    max_step : float
        Largest step of a leaf before shrinkage.

    Notes
    -----
    Holds scores and gradients: two float32 arrays of shape (n_samples, n_columns).
    """

    def __init__(
        self, loss: Loss, weights: Sums, learning_rate: float, max_step: float = 4.0
    ) -> None:
        self._loss = loss
        self._weights = weights.astype(np.float32)
        self._rate = learning_rate
        self._max_step = max_step
        self.start = loss.start()
        dtype = working_dtype(len(weights) * len(self.start))
        self._scores = np.tile(self.start.astype(dtype), (len(weights), 1))
        self._buffer = np.empty_like(self._scores)
        self.edge = np.nan
        self.loss = np.nan

    def gradients(self, turn_seed: int) -> Floats:
        """Return the weighted gradients, (n_samples, n_columns); `loss` is then that before."""
        total = self._loss.gradients(self._scores, self._buffer)
        self.loss = float(total) / float(self._weights.sum(dtype=np.float64))
        return self._buffer

    def take(self, grown: Any) -> Any:
        """Give the leaves of a tree their votes, and move the scores by them."""
        from palmette._kernels.votes import newton_sums

        shape = grown.n_leaves, self._scores.shape[1]
        sums, curvature = np.zeros(shape), np.zeros(shape)
        newton_sums(self._buffer, self._weights, grown.leaf, sums, curvature)
        # one is added to the curvature, as of a prior row, so that pure leaves stay bounded
        step = np.clip(sums / (curvature + 1.0), -self._max_step, self._max_step)
        tree = grown.hypothesis(self._rate * step.T, self._weights)
        self._move(tree.values, grown.leaf)
        return tree

    def _move(self, values: Floats, leaf: NDArray[np.int32]) -> None:
        from palmette._kernels.votes import add_leaf_values

        add_leaf_values(leaf, values, self._scores)

    def replay(self, hypothesis: Any, samples: Any) -> None:
        """Move on by a tree of an earlier fit, as `take` did when it was found."""
        hypothesis.add_scores(samples, self._scores)


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
        return np.asarray(np.log(self._shares), dtype=np.float32)

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
        return np.asarray(np.log(self._shares / (1 - self._shares)), dtype=np.float32)

    def gradients(self, scores: Floats, out: Floats) -> float:
        """Write the gradients; see `Loss`."""
        from palmette._kernels.softmax import logistic_gradients

        return float(logistic_gradients(scores, self._starts, self._columns, self._weights, out))
