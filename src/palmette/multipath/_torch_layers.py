"""Training of a feed-forward network with torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.multipath._layers import BETAS, EPSILON, Array, NumpyNetwork

_MAX_LABELS = 2**31  # cells of labels that are kept dense on a device, a byte each


def train_with_torch(
    parts: list[Array],
    X: Any,
    Y: sparse.csr_array,
    weights: Array,
    batches: Callable[[int], list[NDArray[np.intp]]],
    rates: list[NDArray[np.float64]],
    rng: np.random.Generator,
    report: Callable[[int, float], None],
    shared: bool = False,
    *,
    dropout: float,
    decay: float,
    seed: int,
) -> list[Array]:
    """Train the weights of a `NumpyNetwork` with torch, on a CUDA device if there is one.

    Dense rows and labels are copied to the device once, sparse rows batch by batch. Nothing is read
    back within an epoch, so that the device need not wait. On a CUDA device a step is recorded once
    and replayed, where rows and labels are there: without that, steps wait for calls of Python. The
    parameters are those of `NumpyNetwork.train`, and `seed` is that of the units that each row
    drops; the new weights are returned.
    """
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    is_dense = not sparse.issparse(X) and np.prod(Y.shape) <= _MAX_LABELS
    kind = _ReplayedSteps if device.type == "cuda" and is_dense else _Steps
    drawn = NumpyNetwork(parts, dropout, decay)
    with torch.no_grad():
        steps = kind(parts, device, X, Y, weights, dropout, decay, shared)
        for epoch, sizes in enumerate(_step_sizes(rates)):
            factors = _factors_of_units(drawn, rng, len(sizes)) if shared else None
            steps.total.zero_()
            steps.take_all(batches(epoch), sizes, factors)
            report(epoch, float(steps.total) / Y.shape[0])
        return [tensor.cpu().numpy() for tensor in steps.tensors]


def _step_sizes(rates: list[NDArray[np.float64]]) -> Iterator[Array]:
    """Yield the learning rates of each epoch with Adam's bias correction."""
    step = 0
    for epoch_rates in rates:
        numbers = step + 1.0 + np.arange(len(epoch_rates))
        step += len(epoch_rates)
        correction = np.sqrt(1.0 - BETAS[1] ** numbers) / (1.0 - BETAS[0] ** numbers)
        yield (epoch_rates * correction).astype(np.float32)


def _factors_of_units(network: NumpyNetwork, rng: np.random.Generator, n_steps: int) -> Array:
    """Draw the factors of all hidden units for every step; dropped units have 0."""
    widths = [len(bias) for bias in network.parts[1:-1:2]]
    factors = np.zeros((n_steps, sum(widths)), np.float32)
    for row in factors:
        start = 0
        for units, width in zip(network.draw_units(rng)[1:-1], widths, strict=True):
            row[start : start + width][units.kept] = units.scale
            start += width
    return factors


class _Steps:
    """Steps of Adam on batches of rows, with torch.

    All weights are in one tensor, of which those of the layers are views: a step of Adam then is a
    few operations for all layers together.

    Parameters
    ----------
    parts : list of arrays
        Weights and biases of each layer in turn.
    device : torch.device
    X, Y, weights
        As in `NumpyNetwork.train`.
    dropout, decay : float
        As in `NumpyNetwork`.
    shared : bool
        Whether all rows of a batch drop the same units. Their weights are then left as they were.

    Attributes
    ----------
    tensors : list of tensors
        The weights and biases after the steps taken.
    total : tensor
        Sum of the losses of all rows since it was set to zero.
    """

    def __init__(
        self,
        parts: list[Array],
        device: Any,
        X: Any,
        Y: sparse.csr_array,
        weights: Array,
        dropout: float,
        decay: float,
        shared: bool,
    ) -> None:
        import torch

        self._torch, self.device = torch, device
        self._dropout, self._decay, self._shared = dropout, decay, shared
        flat = torch.tensor(np.concatenate([part.ravel() for part in parts]), device=device)
        self._flat, self._gradient = flat, torch.zeros_like(flat)
        self._first, self._second = torch.zeros_like(flat), torch.zeros_like(flat)
        self._moves = torch.ones_like(flat)  # 0 for the weights of dropped units
        bounds = np.cumsum([0, *(part.size for part in parts)]).tolist()
        self.tensors, self._gradients, self._moving = (
            [
                whole[low:high].view(part.shape)
                for (low, high), part in zip(pairwise(bounds), parts, strict=True)
            ]
            for whole in (flat, self._gradient, self._moves)
        )
        self._widths = [len(bias) for bias in parts[1:-1:2]]
        self.total = torch.zeros((), device=device)
        self._place(X, Y, torch.tensor(weights / np.float32(Y.shape[1]), device=device)[:, None])

    def _place(self, X: Any, Y: sparse.csr_array, weights: Any) -> None:
        """Copy to the device what fits there; weights are divided by the number of columns."""
        self._X = X
        if not sparse.issparse(X):
            self._X = self._torch.tensor(np.ascontiguousarray(X), device=self.device)
        self._labels = self._place_labels(Y)
        self._weights = weights

    def _place_labels(self, Y: sparse.csr_array) -> Any:
        return _LabelsOnDevice(Y, self.device)

    def take_all(
        self, batches: list[NDArray[np.intp]], sizes: Array, factors: Array | None
    ) -> None:
        """Take a step for every batch of rows.

        Parameters
        ----------
        batches : list of int arrays
        sizes : array of shape (n_batches,)
            Learning rates with bias correction.
        factors : array of shape (n_batches, n_hidden_units) or None
            Of the units that a batch drops; None if each row drops units of its own.
        """
        torch = self._torch
        order = torch.as_tensor(np.concatenate(batches), device=self.device)
        given = torch.as_tensor(sizes, device=self.device)
        units = None if factors is None else torch.as_tensor(factors, device=self.device)
        end = 0
        for step, rows in enumerate(batches):
            end += len(rows)
            places = order[end - len(rows) : end]
            self._take(places, rows, given[step], None if units is None else units[step])

    def _take(self, places: Any, rows: NDArray[np.intp], size: Any, units: Any) -> None:
        """Take a step; `places` are the rows of the batch, on the device."""
        if sparse.issparse(self._X):
            signal = self._torch.tensor(self._X[rows].toarray(), device=self.device)
        else:
            signal = self._X[places]
        self._step(signal, self._labels.of(places, rows), self._weights[places], size, units)

    def _step(self, signal: Any, truth: Any, weights: Any, size: Any, units: Any) -> None:
        """Compute the gradients of the mean loss of a batch, and take a step.

        Parameters
        ----------
        signal : tensor of shape (n_rows, n_features)
        truth : tensor of shape (n_rows, n_columns)
            0 or 1.
        weights : tensor of shape (n_rows, 1)
            Of the rows, divided by the number of columns.
        size : tensor of shape ()
        units : tensor of shape (n_hidden_units,) or None
        """
        torch, tensors, n_rows = self._torch, self.tensors, len(signal)
        factors = None if units is None else torch.split(units, self._widths)
        inputs = [signal]
        for layer in range(0, len(tensors) - 2, 2):
            signal = torch.relu_(torch.addmm(tensors[layer + 1], signal, tensors[layer]))
            if factors is None:
                signal = torch.nn.functional.dropout(signal, self._dropout)
            else:
                signal = signal.mul_(factors[layer // 2])
            inputs.append(signal)
        logits = torch.addmm(tensors[-1], signal, tensors[-2])
        losses = torch.addcmul(torch.nn.functional.softplus(logits), truth, logits, value=-1.0)
        self.total += (losses * weights).sum()
        error = torch.sigmoid(logits).sub_(truth).mul_(weights).div_(n_rows)
        for layer in range(len(tensors) - 2, -1, -2):
            given = inputs[layer // 2]
            torch.mm(given.T, error, out=self._gradients[layer])
            torch.sum(error, 0, out=self._gradients[layer + 1])
            if layer:
                # units of 0 were dropped or inactive; the others were multiplied by their factor
                error = torch.mm(error, tensors[layer].T)
                if factors is None:
                    error = error.mul_(1.0 / (1.0 - self._dropout))
                else:
                    error = error.mul_(factors[layer // 2 - 1])
                error = torch.ops.aten.threshold_backward(error, given, 0)
        self._update(size, units)

    def _update(self, size: Any, units: Any) -> None:
        """Take a step of Adam, as `NumpyNetwork` does."""
        (beta1, beta2), gradient = BETAS, self._gradient.add_(self._flat, alpha=self._decay)
        if units is None:
            self._first.lerp_(gradient, 1.0 - beta1)
            self._second.mul_(beta2).addcmul_(gradient, gradient, value=1.0 - beta2)
            move = self._first * size
        else:
            self._mark_moving(units)
            self._first.lerp_(gradient, self._moves * (1.0 - beta1))
            self._second.lerp_(gradient * gradient, self._moves * (1.0 - beta2))
            move = (self._moves * size).mul_(self._first)
        self._flat.addcdiv_(move, self._second.sqrt().add_(EPSILON), value=-1.0)

    def _mark_moving(self, units: Any) -> None:
        """Set the factors of all weights: 1 between units that are kept, else 0."""
        kept = self._torch.split((units > 0).to(units.dtype), self._widths)
        for layer, here in enumerate(kept):
            block = self._moving[2 * layer]
            if layer:
                self._torch.mul(kept[layer - 1][:, None], here, out=block)
            else:
                block.copy_(here.expand_as(block))
            self._moving[2 * layer + 1].copy_(here)
        self._moving[-2].copy_(kept[-1][:, None].expand_as(self._moving[-2]))


class _ReplayedSteps(_Steps):
    """The same steps, each of them one call: a CUDA graph for every number of rows."""

    def _place(self, X: Any, Y: sparse.csr_array, weights: Any) -> None:
        torch = self._torch
        super()._place(X, Y, weights)
        self._graphs: dict[int, tuple[Any, Any]] = {}
        self._size = torch.zeros((), device=self.device)
        self._units: Any = None
        if self._shared:
            self._units = torch.ones(sum(self._widths), device=self.device)

    def _place_labels(self, Y: sparse.csr_array) -> Any:
        """Return all cells as 0 and 1, a byte each: a tensor of shape (n_samples, n_columns)."""
        torch = self._torch
        found = torch.zeros(Y.shape, dtype=torch.uint8, device=self.device)
        cells = torch.as_tensor(Y.indices.astype(np.int64), device=self.device)
        rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        found[torch.as_tensor(rows, device=self.device), cells] = 1
        return found

    def _take(self, places: Any, rows: NDArray[np.intp], size: Any, units: Any) -> None:
        if len(rows) not in self._graphs:
            self._graphs[len(rows)] = self._record(places)
        graph, taken = self._graphs[len(rows)]
        self._size.copy_(size)
        if units is not None:
            self._units.copy_(units)
        taken.copy_(places)
        graph.replay()

    def _batch(self, places: Any) -> None:
        labels = self._labels[places].float()
        self._step(self._X[places], labels, self._weights[places], self._size, self._units)

    def _record(self, places: Any) -> tuple[Any, Any]:
        """Return the graph of a step and the rows that it reads; weights are left as they were."""
        torch, taken = self._torch, places.clone()
        changed = [self._flat, self._first, self._second, self.total]
        before = [tensor.clone() for tensor in changed]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # as torch asks: libraries are set up before recording
            for _ in range(3):
                self._batch(taken)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._batch(taken)
        for tensor, value in zip(changed, before, strict=True):
            tensor.copy_(value)
        return graph, taken


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
        self._sizes = np.diff(Y.indptr)  # on the host, where sizes are needed
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
