"""HiRR-FS on a device of torch: the rows, and the designs of nodes.

All numbers are float64. Designs on a device answer as those of `_hirr_design` do, with arrays of
numpy, so that block coordinate descent is the same: the products with all rows or all features are
computed there, and the few features in use are updated here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray, IntArray
from palmette.base._devices import on_host, placed, require_memory
from palmette.feature_selection._base import NodeTask, ScoringProblem
from palmette.feature_selection._hirr_design import Design
from palmette.feature_selection._hirr_problem import (
    FLAT,
    Scaling,
    indicators,
    own_rows,
)

IndexArray = NDArray[np.int64]
Tensor: TypeAlias = Any  # of torch, which is imported where it is used


# ---------------------------------------------------------------------------- designs


class DeviceDesign(Design):
    """A design with dense rows on a device.

    Parameters
    ----------
    Z : float64 tensor of shape (n_rows, n_features)
    targets : float64 tensor of shape (n_rows, n_targets)
    """

    def __init__(self, Z: Tensor, targets: Tensor) -> None:
        self._Z, self._targets = Z, targets
        self.cross = on_host(Z.T @ targets)
        self.energy = float(targets.square().sum())
        self.squares = on_host(Z.square().sum(0))

    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        own, weights = (placed(each, self._Z.device) for each in (rows, values))
        return on_host(self._Z.T @ (self._targets - self._Z[:, own] @ weights))

    def block(self, rows: IndexArray) -> FloatArray:
        columns = self._Z[:, placed(rows, self._Z.device)]
        return on_host(columns.T @ columns)


class RowsOnDevice:
    """Makes designs from rows that are copied to a device once; see `make_design`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    device : torch.device
    """

    def __init__(self, X: Any, device: Any) -> None:
        require_memory(device, 2 * 8 * X.size, f"{X.shape[0]} rows of {X.shape[1]} features")
        self.X = placed(X, device).double()

    def __call__(
        self, problem: ScoringProblem, task: NodeTask, width: int, standardize: Scaling
    ) -> DeviceDesign:
        """Return the design of a task."""
        import torch

        device = self.X.device
        Z = self.X[placed(task.rows.astype(np.int64), device)]
        unit, targets = (placed(each, device) for each in indicators(problem, task, width))
        mass = unit @ unit
        if problem.weights is not None:
            Z *= unit[:, None]
        if standardize:
            targets -= torch.outer(unit, unit @ targets / mass)
            second = Z.square().sum(0) / mass
            Z -= torch.outer(unit, unit @ Z / mass)
            variance = Z.square().sum(0) / mass
            lengths = torch.ones_like(variance) if standardize == "center" else variance.sqrt()
            Z /= torch.where(variance > FLAT**2 * second, lengths, torch.inf)
        return DeviceDesign(Z, targets)

    def grams(self, problem: ScoringProblem, widths: IntArray, standardize: Scaling) -> DeviceGrams:
        """Return the designs of all tasks as Gram matrices; see `gram_designs`."""
        import torch

        X, device = self.X, self.X.device
        if standardize:
            X = X - X.mean(0)  # closer to the means of the nodes: less cancellation below
        tasks = list(problem.tasks())
        shape = (len(tasks), X.shape[1])
        require_memory(device, 2 * 8 * shape[0] * shape[1] ** 2, f"matrices of {shape[0]} nodes")
        grams = torch.zeros((*shape, shape[1]), dtype=torch.float64, device=device)
        crosses = torch.zeros((*shape, int(widths.max(initial=0))), dtype=X.dtype, device=device)
        weights = None if problem.weights is None else placed(problem.weights, device)
        for t, own in own_rows(problem, tasks):
            rows = placed(own, device)
            some = X[rows]
            grams[t] += some.T @ (some if weights is None else weights[rows][:, None] * some)
            for parent in problem.above[t] if problem.adds_up else ():
                grams[parent] += grams[t]
        energies = np.zeros(len(tasks))
        for t, task in enumerate(tasks):
            unit, targets = (
                placed(each, device) for each in indicators(problem, task, crosses.shape[2])
            )
            rows = placed(task.rows.astype(np.int64), device)
            energies[t] = self._scale(X[rows], unit, targets, grams[t], crosses[t], standardize)
        return DeviceGrams(grams, crosses, energies, widths)

    @staticmethod
    def _scale(
        X: Tensor, unit: Tensor, targets: Tensor, gram: Tensor, cross: Tensor, standardize: Scaling
    ) -> float:
        """Write the cross products of a task, and scale its Gram matrix; return its energy."""
        import torch

        mass = unit @ unit
        cross.copy_(X.T @ (targets * unit[:, None]))
        energy = targets.square().sum()
        if standardize:
            totals = targets.T @ unit
            means = X.T @ unit.square() / mass
            energy -= totals @ totals / mass
            cross -= torch.outer(means, totals)
            second = gram.diagonal() / mass
            variance = second - means**2
            lengths = (
                torch.ones_like(means) if standardize == "center" else variance.clamp(0).sqrt()
            )
            # the tolerance is not squared, as the subtraction loses digits
            scales = torch.where(variance > FLAT * second, lengths, torch.inf)
            gram -= mass * torch.outer(means, means)
            gram /= scales[:, None]
            gram /= scales
            cross /= scales[:, None]
        return float(energy)


class DeviceGrams(Sequence[Design]):
    """Designs of all tasks, given by their Gram matrices on a device.

    Parameters
    ----------
    grams : float64 tensor of shape (n_tasks, n_features, n_features)
    crosses : float64 tensor of shape (n_tasks, n_features, n_targets)
        Zeros in the targets that a task does not have.
    energies : array of shape (n_tasks,)
    widths : int array of shape (n_tasks,)
        Number of targets of each task.
    """

    def __init__(
        self, grams: Tensor, crosses: Tensor, energies: FloatArray, widths: IntArray
    ) -> None:
        self.grams, self.crosses, self.energies, self.widths = grams, crosses, energies, widths

    def __len__(self) -> int:
        return len(self.widths)

    def __getitem__(self, t: Any) -> Any:
        width = int(self.widths[t])
        return _DeviceGram(self.grams[t], self.crosses[t, :, :width], float(self.energies[t]))


class _DeviceGram(Design):
    """A design given by its Gram matrix on a device."""

    def __init__(self, gram: Tensor, cross: Tensor, energy: float) -> None:
        self._gram, self.energy = gram, energy
        self.cross, self.squares = on_host(cross), on_host(gram.diagonal())

    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        own, weights = (placed(each, self._gram.device) for each in (rows, values))
        return self.cross - on_host(self._gram[:, own] @ weights)

    def block(self, rows: IndexArray) -> FloatArray:
        own = placed(rows, self._gram.device)
        return on_host(self._gram[own][:, own])
