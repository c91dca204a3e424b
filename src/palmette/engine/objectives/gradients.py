"""Gradient boosting of trees for all columns: scores, their gradients, Newton steps in leaves."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from palmette.engine.objectives.precision import working_dtype

__all__ = ["GradientObjective", "Loss"]

Floats = NDArray[np.float32]
Sums = NDArray[np.float64]


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
        from palmette._kernels.shared_tree import newton_sums

        shape = grown.n_leaves, self._scores.shape[1]
        sums, curvature = np.zeros(shape), np.zeros(shape)
        newton_sums(self._buffer, self._weights, grown.leaf, sums, curvature)
        # one is added to the curvature, as of a prior row, so that pure leaves stay bounded
        step = np.clip(sums / (curvature + 1.0), -self._max_step, self._max_step)
        tree = grown.hypothesis(self._rate * step.T, self._weights)
        self._move(tree.values, grown.leaf)
        return tree

    def _move(self, values: Floats, leaf: NDArray[np.int32]) -> None:
        from palmette._kernels.shared_tree import add_leaf_values

        add_leaf_values(leaf, values, self._scores)

    def replay(self, hypothesis: Any, samples: Any) -> None:
        """Move on by a tree of an earlier fit, as `take` did when it was found."""
        hypothesis.add_scores(samples, self._scores)
