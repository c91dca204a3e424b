"""Training of a feed-forward network, with numpy or torch.

The loss and the Adam step are compiled: they need one pass over arrays that do not fit into the
cache, instead of about ten passes in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from palmette._kernels import kernel

Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

_MAX_LABELS = 2**31  # cells of labels that are kept dense on a device, a byte each
_FACTORS = 64  # number of factors, at most 2 each, that are multiplied per logarithm
Array = NDArray[np.float32]

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8  # Adam's, as published


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
        """
        first = [np.zeros_like(part) for part in self.parts]
        second = [np.zeros_like(part) for part in self.parts]
        step = 0
        for epoch, epoch_rates in enumerate(rates):
            total = 0.0
            for rows, rate in zip(batches(epoch), epoch_rates, strict=True):
                loss, gradients = self._loss_and_gradients(X[rows], Y, rows, weights[rows], rng)
                step += 1
                self._update(gradients, first, second, step, float(rate))
                total += loss * len(rows)
            report(epoch, total / Y.shape[0])

    def _loss_and_gradients(
        self,
        X: Any,
        Y: sparse.csr_array,
        rows: NDArray[np.intp],
        weights: Array,
        rng: np.random.Generator,
    ) -> tuple[float, list[Array]]:
        """Return the mean loss of a batch and its gradients, with dropout."""
        n_layers = len(self.parts) // 2
        inputs, signal = [X], X
        masks: list[Array] = []
        for layer in range(n_layers - 1):
            signal = np.maximum(signal @ self.parts[2 * layer] + self.parts[2 * layer + 1], 0.0)
            kept = rng.random(signal.shape, dtype=np.float32) >= self.dropout
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
                error = (error @ self.parts[2 * layer].T) * masks[layer - 1]
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
        size = rate * np.sqrt(1.0 - _BETA2**step) / (1.0 - _BETA1**step)
        for part, gradient, m, v in zip(self.parts, gradients, first, second, strict=True):
            adam_step(
                *(part.ravel(), gradient.ravel(), m.ravel(), v.ravel()),
                *(size, self.decay, (_BETA1, _BETA2), _EPSILON),
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
    size32, decay32, epsilon32 = np.float32(size), np.float32(decay), np.float32(epsilon)
    beta1, beta2 = np.float32(betas[0]), np.float32(betas[1])
    rest1, rest2 = np.float32(1.0 - betas[0]), np.float32(1.0 - betas[1])
    for i in range(len(part)):
        regularised = gradient[i] + decay32 * part[i]
        mean = beta1 * first[i] + rest1 * regularised
        square = beta2 * second[i] + rest2 * regularised * regularised
        first[i], second[i] = mean, square
        part[i] = part[i] - size32 * mean / (np.sqrt(square) + epsilon32)


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


def train_with_torch(
    parts: list[Array],
    X: Any,
    Y: sparse.csr_array,
    weights: Array,
    batches: Callable[[int], list[NDArray[np.intp]]],
    rates: list[NDArray[np.float64]],
    report: Callable[[int, float], None],
    *,
    dropout: float,
    decay: float,
    seed: int,
) -> list[Array]:
    """Train the weights of a `NumpyNetwork` with torch, on a CUDA device if there is one.

    Dense rows and labels are copied to the device once, sparse rows batch by batch. Nothing is read
    back within an epoch, so that the device need not wait. On a CUDA device a step is recorded once
    and replayed, where rows and labels are there: without that, steps wait for calls of Python. The
    parameters are those of `NumpyNetwork.train`; the new weights are returned.
    """
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    tensors = [torch.tensor(part, device=device, requires_grad=True) for part in parts]
    is_dense = not sparse.issparse(X) and np.prod(Y.shape) <= _MAX_LABELS
    kind = _ReplayedSteps if device.type == "cuda" and is_dense else _Steps
    steps = kind(tensors, X, Y, weights, dropout, decay)
    for epoch, epoch_rates in enumerate(rates):
        parts_of_epoch = batches(epoch)
        order = torch.as_tensor(np.concatenate(parts_of_epoch), device=device)
        ends = np.cumsum([len(rows) for rows in parts_of_epoch]).tolist()
        steps.total.zero_()
        for rows, end, rate in zip(parts_of_epoch, ends, epoch_rates, strict=True):
            steps.take(order[end - len(rows) : end], rows, float(rate))
        report(epoch, float(steps.total) / Y.shape[0])
    return [tensor.detach().cpu().numpy() for tensor in tensors]


class _Steps:
    """Steps of Adam on batches of rows, with torch.

    Parameters
    ----------
    tensors : list of tensors
        Weights and biases of each layer in turn, which the steps change.
    X, Y, weights
        As in `NumpyNetwork.train`.
    dropout, decay : float
        As in `NumpyNetwork`.

    Attributes
    ----------
    total : tensor
        Sum of the losses of all rows since it was set to zero.
    """

    def __init__(
        self,
        tensors: list[Any],
        X: Any,
        Y: sparse.csr_array,
        weights: Array,
        dropout: float,
        decay: float,
    ) -> None:
        import torch

        self._torch, self._tensors, self._dropout, self._sparse_X = torch, tensors, dropout, X
        self.device = device = tensors[0].device
        self._X: Any = None
        if not sparse.issparse(X):
            self._X = torch.tensor(np.ascontiguousarray(X), device=device)
        self._labels = self._place_labels(Y)
        self._weights = torch.tensor(weights, device=device)[:, None]
        self._rate = torch.ones((), device=device)
        self.total = torch.zeros((), device=device)
        on_gpu = device.type == "cuda"
        # fused: one kernel for all weights, instead of about ten per layer
        self._adam = torch.optim.Adam(
            tensors,
            lr=self._rate if on_gpu else 1.0,
            weight_decay=decay,
            fused=True if on_gpu else None,
            capturable=on_gpu,
        )

    def _place_labels(self, Y: sparse.csr_array) -> Any:
        return _LabelsOnDevice(Y, self.device)

    def take(self, places: Any, rows: NDArray[np.intp], rate: float) -> None:
        """Take a step; `places` are the rows of the batch, on the device."""
        if self.device.type == "cuda":
            self._rate.fill_(rate)
        else:
            self._adam.param_groups[0]["lr"] = rate
        if self._X is None:
            signal = self._torch.tensor(self._sparse_X[rows].toarray(), device=self.device)
        else:
            signal = self._X[places]
        self._step(signal, self._labels.of(places, rows), self._weights[places])

    def _step(self, signal: Any, truth: Any, weights: Any) -> None:
        torch, tensors, n_rows = self._torch, self._tensors, len(signal)
        for layer in range(0, len(tensors) - 2, 2):
            signal = torch.relu(torch.addmm(tensors[layer + 1], signal, tensors[layer]))
            signal = torch.nn.functional.dropout(signal, self._dropout)
        logits = torch.addmm(tensors[-1], signal, tensors[-2])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, truth, weight=weights)
        self._adam.zero_grad()
        loss.backward()
        self._adam.step()
        self.total += loss.detach() * n_rows


class _ReplayedSteps(_Steps):
    """The same, each step one call: a CUDA graph for every number of rows."""

    def _place_labels(self, Y: sparse.csr_array) -> Any:
        self._graphs: dict[int, tuple[Any, Any]] = {}
        found = self._torch.zeros(Y.shape, dtype=self._torch.uint8, device=self.device)
        cells = self._torch.as_tensor(Y.indices.astype(np.int64), device=self.device)
        rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        found[self._torch.as_tensor(rows, device=self.device), cells] = 1
        return found

    def take(self, places: Any, rows: NDArray[np.intp], rate: float) -> None:
        """Take a step; `places` are the rows of the batch, on the device."""
        if len(rows) not in self._graphs:
            self._graphs[len(rows)] = self._record(places)
        graph, taken = self._graphs[len(rows)]
        self._rate.fill_(rate)
        taken.copy_(places)
        graph.replay()

    def _batch(self, places: Any) -> None:
        self._step(self._X[places], self._labels[places].float(), self._weights[places])

    def _record(self, places: Any) -> tuple[Any, Any]:
        """Return the graph of a step and the rows that it reads; weights are left as they were."""
        torch, taken = self._torch, places.clone()
        before = self._state()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # as torch asks: libraries are set up before recording
            for _ in range(3):
                self._batch(taken)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        self._adam.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self._batch(taken)
        self._restore(before)
        return graph, taken

    def _state(self) -> list[Any]:
        """Return copies of all tensors that a step changes; new ones of Adam are zero."""
        kept = [tensor.detach().clone() for tensor in (*self._tensors, self.total)]
        return [*kept, *(value.clone() for value in self._moments())]

    def _moments(self) -> list[Any]:
        states = (self._adam.state.get(tensor, {}) for tensor in self._tensors)
        return [value for state in states for value in state.values()]

    def _restore(self, before: list[Any]) -> None:
        n_kept = len(self._tensors) + 1
        with self._torch.no_grad():
            for tensor, value in zip((*self._tensors, self.total), before[:n_kept], strict=True):
                tensor.copy_(value)
            moments, earlier = self._moments(), before[n_kept:]
            for place, tensor in enumerate(moments):
                tensor.copy_(earlier[place]) if earlier else tensor.zero_()


class _LabelsOnDevice:
    """The true cells of all rows on the device of torch, and the dense labels of some rows.

    Parameters
    ----------
    Y : sparse bool array of shape (n_samples, n_columns)
    device : torch.device
    """

    def __init__(self, Y: sparse.csr_array, device: Any) -> None:
        import torch

        self._torch, self._device = torch, device
        self._n_columns = Y.shape[1]
        self._sizes = np.diff(Y.indptr)  # here too: the device is not asked for sizes
        self._starts = torch.as_tensor(Y.indptr.astype(np.int64), device=device)
        self._columns = torch.as_tensor(Y.indices.astype(np.int64), device=device)

    def of(self, places: Any, rows: NDArray[np.intp]) -> Any:
        """Return labels of shape (n_rows, n_columns) as 0 and 1; `places` are the same rows."""
        torch, total = self._torch, int(self._sizes[rows].sum())
        starts = self._starts[places]
        sizes = self._starts[places + 1] - starts
        row = torch.repeat_interleave(sizes, output_size=total)
        before = torch.cumsum(sizes, 0) - sizes
        cells = torch.arange(total, device=self._device) - before[row] + starts[row]
        truth = torch.zeros(len(rows), self._n_columns, device=self._device)
        truth.view(-1)[row * self._n_columns + self._columns[cells]] = 1.0
        return truth
