"""A small network in numpy: rectified layers, sigmoids at the end, Adam."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from palmette._kernels.network_steps import adam_move, cross_entropy

__all__ = ["NumpyNetwork", "first_weights", "learning_rates"]

Array = NDArray[np.float32]
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8  # Adam's, as published


def first_weights(sizes: list[int], prior: Array, rng: np.random.Generator) -> list[Array]:
    """Weights and biases of all layers; the last biases are the log-odds of the prior."""
    parts: list[Array] = []
    for n_in, n_out in pairwise(sizes):
        bound = 1.0 / np.sqrt(n_in)
        parts.append(rng.uniform(-bound, bound, (n_in, n_out)).astype(np.float32))
        parts.append(rng.uniform(-bound, bound, n_out).astype(np.float32))
    share = np.clip(prior, 1e-5, 1 - 1e-5)
    parts[-1] = np.log(share / (1 - share)).astype(np.float32)
    return parts


def learning_rates(first: float, n_steps: int) -> NDArray[np.float64]:
    """Rates that fall along half a cosine, one a step."""
    return first * 0.5 * (1.0 + np.cos(np.pi * np.arange(n_steps) / max(1, n_steps)))


class NumpyNetwork:
    """Weights that learn by gradients of the mean binary cross-entropy.

    Parameters
    ----------
    parts : list of arrays
        Weights and biases of the layers in turn.
    dropout : float
        Share of hidden units that a step leaves out.
    decay : float
        Weight decay, taken off the weights at each step, times the learning rate.
    """

    def __init__(self, parts: list[Array], dropout: float, decay: float) -> None:
        self.parts, self.dropout, self.decay = parts, dropout, decay

    def train(
        self,
        X: Any,
        Y: sparse.csr_array,
        weights: Array,
        batches: Callable[[int], list[NDArray[np.intp]]],
        rates: list[NDArray[np.float64]],
        rng: np.random.Generator,
        watch: Callable[[int, float], None],
    ) -> None:
        """Go through the rows once for every array of rates.

        Parameters
        ----------
        X : float32 array or CSR matrix of shape (n_samples, n_features)
        Y : sparse bool array of shape (n_samples, n_columns)
        weights : array of shape (n_samples,)
            Of mean 1.
        batches : callable
            Rows of the batches of an epoch.
        rates : list of arrays
            Learning rates of the batches of every epoch.
        rng : Generator
        watch : callable
            Called with (epoch, mean loss).
        """
        first = [np.zeros_like(part) for part in self.parts]
        second = [np.zeros_like(part) for part in self.parts]
        step = 0
        for epoch, epoch_rates in enumerate(rates):
            total = 0.0
            for rows, rate in zip(batches(epoch), epoch_rates, strict=True):
                loss, slopes = self._slopes(X[rows], Y, rows, weights[rows], rng)
                step += 1
                self._move(slopes, first, second, step, float(rate))
                total += loss * len(rows)
            watch(epoch, total / Y.shape[0])

    def _slopes(
        self,
        X: Any,
        Y: sparse.csr_array,
        rows: NDArray[np.intp],
        weights: Array,
        rng: np.random.Generator,
    ) -> tuple[float, list[Array]]:
        """Mean loss of a batch, some rows of all, and its gradient; hidden units are left out."""
        n_layers = len(self.parts) // 2
        inputs, signal = [X], X
        masks: list[Array] = []
        for layer in range(n_layers - 1):
            signal = np.maximum(signal @ self.parts[2 * layer] + self.parts[2 * layer + 1], 0.0)
            kept = rng.random(signal.shape, dtype=np.float32) >= self.dropout
            masks.append((kept / np.float32(1.0 - self.dropout)).astype(np.float32))
            signal = signal * masks[-1]
            inputs.append(signal)
        odds = signal @ self.parts[-2] + self.parts[-1]
        powers = np.exp(-np.abs(odds))
        loss = cross_entropy(odds, powers, Y.indptr, Y.indices, rows, weights)
        # summed over nodes, not averaged, the step of Adam would be the same: only its epsilon sees
        error = odds
        slopes: list[Array] = [np.empty(0, np.float32)] * len(self.parts)
        for layer in range(n_layers - 1, -1, -1):
            slopes[2 * layer] = np.asarray(inputs[layer].T @ error)
            slopes[2 * layer + 1] = error.sum(axis=0)
            if layer:
                error = (error @ self.parts[2 * layer].T) * masks[layer - 1]
                error *= inputs[layer] > 0
        return loss, slopes

    def _move(
        self, slopes: list[Array], first: list[Array], second: list[Array], step: int, rate: float
    ) -> None:
        size = rate * np.sqrt(1.0 - _BETA2**step) / (1.0 - _BETA1**step)
        for part, slope, m, v in zip(self.parts, slopes, first, second, strict=True):
            adam_move(
                *(part.ravel(), slope.ravel(), m.ravel(), v.ravel()),
                *(size, self.decay, (_BETA1, _BETA2), _EPSILON),
            )

    def proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of shape (n_samples, n_columns)."""
        signal = X
        for layer in range(len(self.parts) // 2 - 1):
            signal = np.maximum(signal @ self.parts[2 * layer] + self.parts[2 * layer + 1], 0.0)
        return np.asarray(expit((signal @ self.parts[-2] + self.parts[-1]).astype(np.float64)))
