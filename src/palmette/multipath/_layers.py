"""Training of a feed-forward network with numpy.

The loss and the Adam step are compiled: they need one pass over arrays that do not fit into the
cache, instead of about ten passes in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from palmette._kernels import inner, kernel
from palmette.persistence.checks import held

Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

_FACTORS = 64  # number of factors, at most 2 each, that are multiplied per logarithm
Array = NDArray[np.float32]

BETAS, EPSILON = (0.9, 0.999), 1e-8  # Adam's, as published


class Units(NamedTuple):
    """Units of a layer that are not dropped.

    Parameters
    ----------
    kept : int32 array of shape (n_kept,), ascending, or None for all
    scale : float
        Number of all units divided by the number of these.
    """

    kept: NDArray[np.int32] | None
    scale: float


class NumpyNetwork:
    """Feed-forward network with ReLU units, trained on the mean binary cross-entropy.

    Parameters
    ----------
    parts : list of arrays
        Weights and biases of each layer in turn.
    dropout : float
        Proportion of hidden units that are dropped in a training step.
    decay : float
        Weight decay, added to the gradient.
    """

    in_files: ClassVar = {
        "parts": held(list, each=(np.ndarray,)),
        "dropout": held(float, int),
        "decay": held(float, int),
    }

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
        report: Callable[[int, float], None],
        shared: bool = False,
    ) -> None:
        """Train for one epoch per array of rates.

        Parameters
        ----------
        X : float32 array or CSR matrix of shape (n_samples, n_features)
        Y : sparse bool array of shape (n_samples, n_columns)
        weights : array of shape (n_samples,)
            Row weights of mean 1.
        batches : callable
            Returns the rows of each batch of an epoch.
        rates : list of arrays
            Learning rates of the batches of each epoch.
        rng : Generator
        report : callable
            Called with (epoch, mean loss).
        shared : bool
            Whether all rows of a batch drop the same units. Products of matrices and steps of Adam
            then involve the other units only; moving averages of dropped units do not change.

        References
        ----------
        Graham, Reizenstein, Robinson, Efficient batchwise dropout training using submatrices, 2015.
        """
        first = [np.zeros_like(part) for part in self.parts]
        second = [np.zeros_like(part) for part in self.parts]
        step = 0
        for epoch, epoch_rates in enumerate(rates):
            total = 0.0
            for rows, rate in zip(batches(epoch), epoch_rates, strict=True):
                batch = X[rows], Y, rows, weights[rows]
                step += 1
                if shared:
                    units = self.draw_units(rng)
                    loss, gradients = self._of_units(units)._loss_and_gradients(*batch, units)
                    self._update_units(gradients, first, second, step, float(rate), units)
                else:
                    loss, gradients = self._loss_and_gradients(*batch, rng)
                    self._update(gradients, first, second, step, float(rate))
                total += loss * len(rows)
            report(epoch, total / Y.shape[0])

    def _loss_and_gradients(
        self,
        X: Any,
        Y: sparse.csr_array,
        rows: NDArray[np.intp],
        weights: Array,
        drawn: np.random.Generator | list[Units],
    ) -> tuple[float, list[Array]]:
        """Return the mean loss of a batch and its gradients, with dropout.

        Units are dropped by a generator for each row, or have been dropped: then `drawn` has the
        units that are left of every layer.
        """
        n_layers = len(self.parts) // 2
        inputs, signal = [X], X
        masks: list[Any] = []
        for layer in range(n_layers - 1):
            signal = np.maximum(signal @ self.parts[2 * layer] + self.parts[2 * layer + 1], 0.0)
            if isinstance(drawn, list):
                masks.append(np.float32(drawn[layer + 1].scale))
            else:
                kept = drawn.random(signal.shape, dtype=np.float32) >= self.dropout
                masks.append((kept / np.float32(1.0 - self.dropout)).astype(np.float32))
            signal = signal * masks[-1]
            inputs.append(signal)
        logits = signal @ self.parts[-2] + self.parts[-1]
        exponentials = np.exp(-np.abs(logits))
        loss = cross_entropy(logits, exponentials, Y.indptr, Y.indices, rows, weights)
        # the loss is a mean over nodes; for a sum, Adam steps would differ only by its epsilon
        error = logits
        gradients: list[Array] = [np.empty(0, np.float32)] * len(self.parts)
        for layer in range(n_layers - 1, -1, -1):
            gradients[2 * layer] = np.asarray(inputs[layer].T @ error)
            gradients[2 * layer + 1] = error.sum(axis=0)
            if layer:
                error = error @ self.parts[2 * layer].T
                error *= masks[layer - 1]
                error *= inputs[layer] > 0
        return loss, gradients

    def _update(
        self,
        gradients: list[Array],
        first: list[Array],
        second: list[Array],
        step: int,
        rate: float,
    ) -> None:
        size = rate * np.sqrt(1.0 - BETAS[1] ** step) / (1.0 - BETAS[0] ** step)
        for part, gradient, m, v in zip(self.parts, gradients, first, second, strict=True):
            adam_step(
                *(part.ravel(), gradient.ravel(), m.ravel(), v.ravel()),
                *(size, self.decay, BETAS, EPSILON),
            )

    def draw_units(self, rng: np.random.Generator) -> list[Units]:
        """Draw the units that are kept: those of the input, of hidden layers and of the output."""
        hidden = []
        for bias in self.parts[1:-1:2]:
            n_kept = max(1, round(len(bias) * (1.0 - self.dropout)))
            kept = np.sort(rng.permutation(len(bias))[:n_kept]).astype(np.int32)
            hidden.append(Units(kept, len(bias) / n_kept))
        return [Units(None, 1.0), *hidden, Units(None, 1.0)]

    def _of_units(self, units: list[Units]) -> NumpyNetwork:
        """Return the network that has some of the units."""
        parts: list[Array] = []
        for (above, below), weight, bias in zip(
            pairwise(units), self.parts[::2], self.parts[1::2], strict=True
        ):
            rows = weight if above.kept is None else weight[above.kept]
            parts += [rows, bias] if below.kept is None else [rows[:, below.kept], bias[below.kept]]
        return NumpyNetwork(parts, self.dropout, self.decay)

    def _update_units(
        self,
        gradients: list[Array],
        first: list[Array],
        second: list[Array],
        step: int,
        rate: float,
        units: list[Units],
    ) -> None:
        """Take a step of Adam with the weights of some units."""
        size = rate * np.sqrt(1.0 - BETAS[1] ** step) / (1.0 - BETAS[0] ** step)
        common = size, self.decay, BETAS, EPSILON
        for layer, (above, below) in enumerate(pairwise(units)):
            rows = np.arange(len(self.parts[2 * layer]), dtype=np.int32)
            for place, kept in (
                (2 * layer, rows if above.kept is None else above.kept),
                (2 * layer + 1, rows[:1]),
            ):
                width = self.parts[place].shape[-1]
                adam_step_of_units(
                    self.parts[place].reshape(-1, width),
                    first[place].reshape(-1, width),
                    second[place].reshape(-1, width),
                    gradients[place].reshape(len(kept), -1),
                    *(kept, below.kept, *common),
                )

    def proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of shape (n_samples, n_columns)."""
        signal = X
        for layer in range(len(self.parts) // 2 - 1):
            signal = np.maximum(signal @ self.parts[2 * layer] + self.parts[2 * layer + 1], 0.0)
        return np.asarray(expit((signal @ self.parts[-2] + self.parts[-1]).astype(np.float64)))


@kernel(error_model="numpy")
def cross_entropy(
    logits: Reals,
    exponentials: Reals,
    starts: Indices,
    columns: Indices,
    rows: Indices,
    weights: Reals,
) -> float:
    """Return the mean binary cross-entropy of a batch; `logits` is overwritten by its gradient.

    Parameters
    ----------
    logits : float array of shape (n_rows, n_columns), IN and OUT
    exponentials : float array of shape (n_rows, n_columns), IN
        ``exp(-abs(logits))``, computed by numpy with vector instructions.
    starts, columns : int arrays, IN
        True cells of a sparse matrix (CSR).
    rows : int array of shape (n_rows,), IN
        Rows of that matrix in the batch.
    weights : float array of shape (n_rows,), IN
    """
    n_rows, n_columns = logits.shape
    loss, none, one = 0.0, logits.dtype.type(0.0), logits.dtype.type(1.0)
    for i in range(n_rows):
        row_logits, row_exponentials = logits[i], exponentials[i]
        scale = weights[i] / logits.dtype.type(logits.size)
        total, product = 0.0, 1.0
        for k in range(n_columns):
            total += max(row_logits[k], none)
            product *= 1.0 + row_exponentials[k]
            if k % _FACTORS == _FACTORS - 1:
                total += np.log(product)
                product = 1.0
        total += np.log(product)
        first, after = starts[rows[i]], starts[rows[i] + 1]
        for place in range(first, after):
            total -= row_logits[columns[place]]
        for k in range(n_columns):
            share = one / (one + row_exponentials[k])
            row_logits[k] = scale * (share if row_logits[k] >= 0 else one - share)
        for place in range(first, after):
            row_logits[columns[place]] -= scale
        loss += weights[i] * total
    return loss / logits.size


@kernel(error_model="numpy")
def adam_step(
    part: Reals,
    gradient: Reals,
    first: Reals,
    second: Reals,
    size: float,
    decay: float,
    betas: tuple[float, float],
    epsilon: float,
) -> None:
    """Update weights by one step of Adam.

    Parameters
    ----------
    part : float32 array of shape (n,), IN and OUT
        The weights.
    gradient : float32 array of shape (n,), IN
    first, second : float32 arrays of shape (n,), IN and OUT
        Moving averages of the gradient and of its square.
    size : float
        Learning rate with bias correction.
    decay : float
        Weight decay, added to the gradient.
    betas : (float, float)
        Decay rates of the moving averages.
    epsilon : float
    """
    constants = _constants(size, decay, betas, epsilon)
    for i in range(len(part)):
        _adam(part, gradient[i], first, second, i, constants)


@kernel(error_model="numpy")
def adam_step_of_units(
    part: Array,
    first: Array,
    second: Array,
    gradient: Array,
    rows: NDArray[np.int32],
    columns: NDArray[np.int32] | None,
    size: float,
    decay: float,
    betas: tuple[float, float],
    epsilon: float,
) -> None:
    """Update some rows and columns of a matrix of weights by one step of Adam.

    Parameters
    ----------
    part, first, second : float32 arrays of shape (n_in, n_out), IN and OUT
        The weights, and moving averages of the gradient and of its square.
    gradient : float32 array of shape (n_rows, n_columns), IN
    rows : int32 array of shape (n_rows,), IN
    columns : int32 array of shape (n_columns,), IN, or None for all
    size, decay, betas, epsilon
        As of `adam_step`.
    """
    constants = _constants(size, decay, betas, epsilon)
    for i in range(len(rows)):
        weights, means, squares = part[rows[i]], first[rows[i]], second[rows[i]]
        changes = gradient[i]
        if columns is None:
            for j in range(len(changes)):
                _adam(weights, changes[j], means, squares, j, constants)
        else:
            for j in range(len(changes)):
                _adam(weights, changes[j], means, squares, columns[j], constants)


@inner(inline="always")
def _constants(size: float, decay: float, betas: tuple[float, float], epsilon: float) -> Any:
    """Return the numbers of a step in single precision."""
    return (
        (np.float32(size), np.float32(decay), np.float32(epsilon)),
        (np.float32(betas[0]), np.float32(1.0 - betas[0])),
        (np.float32(betas[1]), np.float32(1.0 - betas[1])),
    )


@inner(inline="always")
def _adam(part: Any, change: Any, first: Any, second: Any, i: int, constants: Any) -> None:
    """Update one weight."""
    (size, decay, epsilon), (beta1, rest1), (beta2, rest2) = constants
    regularized = change + decay * part[i]
    mean = beta1 * first[i] + rest1 * regularized
    square = beta2 * second[i] + rest2 * regularized * regularized
    first[i], second[i] = mean, square
    part[i] = part[i] - size * mean / (np.sqrt(square) + epsilon)


def initial_weights(sizes: list[int], prior: Array, rng: np.random.Generator) -> list[Array]:
    """Return initial weights and biases; the last biases are the log-odds of the prior."""
    parts: list[Array] = []
    for n_in, n_out in pairwise(sizes):
        bound = 1.0 / np.sqrt(n_in)
        parts.append(rng.uniform(-bound, bound, (n_in, n_out)).astype(np.float32))
        parts.append(rng.uniform(-bound, bound, n_out).astype(np.float32))
    share = np.clip(prior, 1e-5, 1 - 1e-5)
    parts[-1] = np.log(share / (1 - share)).astype(np.float32)
    return parts


def learning_rates(first: float, n_steps: int) -> NDArray[np.float64]:
    """Return learning rates per step, by cosine annealing to 0."""
    return first * 0.5 * (1.0 + np.cos(np.pi * np.arange(n_steps) / max(1, n_steps)))
