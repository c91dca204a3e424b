"""Training of a feed-forward network with torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.multipath._layers import Array

_MAX_LABELS = 2**31  # cells of labels that are kept dense on a device, a byte each


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
