"""What a step of a network costs besides its products: the loss, and Adam's move.

Both go once through arrays that do not fit the cache, where numpy would go through them ten times.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

__all__ = [
    "NumpyNetwork",
    "adam_move",
    "cross_entropy",
    "first_weights",
    "has_torch_device",
    "learning_rates",
    "train_with_torch",
]


Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

_FACTORS = 64  # factors of at most 2 that are multiplied before a logarithm is taken


@njit(cache=True, nogil=True, error_model="numpy")
def cross_entropy(
    odds: Reals, powers: Reals, starts: Indices, columns: Indices, rows: Indices, weights: Reals
) -> float:
    """Return the mean binary cross-entropy of a batch; `odds` become its gradient.

    Parameters
    ----------
    odds : float array of shape (n_rows, n_columns), IN and OUT
    powers : float array of shape (n_rows, n_columns), IN
        ``exp(-abs(odds))``, which numpy takes many at a time.
    starts, columns : int arrays, IN
        True cells of a sparse matrix by rows.
    rows : int array of shape (n_rows,), IN
        Those of that matrix that are the batch.
    weights : float array of shape (n_rows,), IN
    """
    n_rows, n_columns = odds.shape
    loss, none, one = 0.0, odds.dtype.type(0.0), odds.dtype.type(1.0)
    for i in range(n_rows):
        own, small = odds[i], powers[i]
        scale = weights[i] / odds.dtype.type(odds.size)
        total, product = 0.0, 1.0
        for k in range(n_columns):
            total += max(own[k], none)
            product *= 1.0 + small[k]
            if k % _FACTORS == _FACTORS - 1:
                total += np.log(product)
                product = 1.0
        total += np.log(product)
        first, after = starts[rows[i]], starts[rows[i] + 1]
        for place in range(first, after):
            total -= own[columns[place]]
        for k in range(n_columns):
            share = one / (one + small[k])
            own[k] = scale * (share if own[k] >= 0 else one - share)
        for place in range(first, after):
            own[columns[place]] -= scale
        loss += weights[i] * total
    return loss / odds.size


@njit(cache=True, nogil=True, error_model="numpy")
def adam_move(
    part: Reals,
    slope: Reals,
    first: Reals,
    second: Reals,
    size: float,
    decay: float,
    betas: tuple[float, float],
    tiny: float,
) -> None:
    """Move weights by a step of Adam.

    Parameters
    ----------
    part : float32 array of shape (n,), IN and OUT
        The weights.
    slope : float32 array of shape (n,), IN
    first, second : float32 arrays of shape (n,), IN and OUT
        Running means of the slope and of its square.
    size : float
        Learning rate, corrected for the start of the means.
    decay : float
        Share of a weight that joins its slope.
    betas : (float, float)
        Shares of the means that stay.
    tiny : float
    """
    size32, decay32, tiny32 = np.float32(size), np.float32(decay), np.float32(tiny)
    stay1, stay2 = np.float32(betas[0]), np.float32(betas[1])
    join1, join2 = np.float32(1.0 - betas[0]), np.float32(1.0 - betas[1])
    for i in range(len(part)):
        pull = slope[i] + decay32 * part[i]
        mean = stay1 * first[i] + join1 * pull
        square = stay2 * second[i] + join2 * pull * pull
        first[i], second[i] = mean, square
        part[i] = part[i] - size32 * mean / (np.sqrt(square) + tiny32)


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


def has_torch_device() -> bool:
    """Whether torch is installed and has a graphics card."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def train_with_torch(
    parts: list[Array],
    X: Any,
    Y: sparse.csr_array,
    weights: Array,
    batches: Callable[[int], list[NDArray[np.intp]]],
    rates: list[NDArray[np.float64]],
    watch: Callable[[int, float], None],
    *,
    dropout: float,
    decay: float,
    seed: int,
) -> list[Array]:
    """Train the weights of `NumpyNetwork`, on the graphics card where there is one.

    Rows and labels go there once; sparse rows are sent batch by batch. The parameters are those of
    `NumpyNetwork.train`; returned are the new weights.
    """
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    tensors = [torch.tensor(part, device=device, requires_grad=True) for part in parts]
    optimizer = torch.optim.Adam(tensors, lr=1.0, weight_decay=decay)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    is_sparse = sparse.issparse(X)
    rows_there = None if is_sparse else torch.tensor(np.ascontiguousarray(X), device=device)
    for epoch, epoch_rates in enumerate(rates):
        total = 0.0
        for rows, rate in zip(batches(epoch), epoch_rates, strict=True):
            places = torch.as_tensor(rows, device=device)
            if rows_there is None:
                signal = torch.tensor(X[rows].toarray(), device=device)
            else:
                signal = rows_there[places]
            for layer in range(0, len(tensors) - 2, 2):
                signal = torch.relu(signal @ tensors[layer] + tensors[layer + 1])
                signal = torch.nn.functional.dropout(signal, dropout)
            odds = signal @ tensors[-2] + tensors[-1]
            truth = torch.tensor(Y[rows].toarray().astype(np.float32), device=device)
            weight = torch.tensor(weights[rows, None], device=device)
            loss = loss_of(odds, truth, weight=weight.expand_as(odds))
            optimizer.param_groups[0]["lr"] = float(rate)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(rows)
        watch(epoch, total / Y.shape[0])
    return [tensor.detach().cpu().numpy() for tensor in tensors]
