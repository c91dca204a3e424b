"""The same network in torch, for machines with a graphics card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["has_torch_device", "train_with_torch"]

Array = NDArray[np.float32]


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
