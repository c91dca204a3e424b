"""HiRR-FS on a device of torch: designs of nodes, and reweighted least squares of many at once.

All numbers are float64. Designs on a device answer as those of `_hirr_design` do, with arrays of
numpy, so that block coordinate descent is the same: the products with all rows or all features are
computed there, and the few features in use are updated here. Reweighted least squares stays on the
device altogether.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray, IntArray
from palmette.base._devices import require_memory
from palmette.feature_selection._base import NodeTask, ScoringProblem
from palmette.feature_selection._hirr_design import Design
from palmette.feature_selection._hirr_problem import (
    FLAT,
    HirrProblem,
    Scaling,
    Solution,
    Weights,
    indicators,
    own_rows,
)
from palmette.feature_selection._hirr_solvers import SHORTEST

IndexArray = NDArray[np.int64]
Tensor: TypeAlias = Any  # of torch, which is imported where it is used

_PANEL = 256  # columns of a matrix that are eliminated together
_AT_ONCE = 2**29  # numbers of matrices that are factorized together


def _placed(values: Any, device: Any) -> Tensor:
    import torch

    return torch.as_tensor(np.ascontiguousarray(values), device=device)


def _here(values: Tensor) -> FloatArray:
    return np.asarray(values.cpu().numpy())


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
        self.cross = _here(Z.T @ targets)
        self.energy = float(targets.square().sum())
        self.squares = _here(Z.square().sum(0))

    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        own, weights = (_placed(each, self._Z.device) for each in (rows, values))
        return _here(self._Z.T @ (self._targets - self._Z[:, own] @ weights))

    def block(self, rows: IndexArray) -> FloatArray:
        columns = self._Z[:, _placed(rows, self._Z.device)]
        return _here(columns.T @ columns)


class RowsOnDevice:
    """Makes designs from rows that are copied to a device once; see `make_design`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    device : torch.device
    """

    def __init__(self, X: Any, device: Any) -> None:
        require_memory(device, 2 * 8 * X.size, f"{X.shape[0]} rows of {X.shape[1]} features")
        self.X = _placed(X, device).double()

    def __call__(
        self, problem: ScoringProblem, task: NodeTask, width: int, standardize: Scaling
    ) -> DeviceDesign:
        """Return the design of a task."""
        import torch

        device = self.X.device
        Z = self.X[_placed(task.rows.astype(np.int64), device)]
        unit, targets = (_placed(each, device) for each in indicators(problem, task, width))
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
        weights = None if problem.weights is None else _placed(problem.weights, device)
        for t, own in own_rows(problem, tasks):
            rows = _placed(own, device)
            some = X[rows]
            grams[t] += some.T @ (some if weights is None else weights[rows][:, None] * some)
            if problem.parents[t] >= 0:
                grams[problem.parents[t]] += grams[t]
        energies = np.zeros(len(tasks))
        for t, task in enumerate(tasks):
            unit, targets = (
                _placed(each, device) for each in indicators(problem, task, crosses.shape[2])
            )
            rows = _placed(task.rows.astype(np.int64), device)
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
        energy = mass
        if standardize:
            totals = targets.T @ unit
            means = cross.sum(1) / mass
            energy = mass - totals @ totals / mass
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
        self.cross, self.squares = _here(cross), _here(gram.diagonal())

    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        own, weights = (_placed(each, self._gram.device) for each in (rows, values))
        return self.cross - _here(self._gram[:, own] @ weights)

    def block(self, rows: IndexArray) -> FloatArray:
        own = _placed(rows, self._gram.device)
        return _here(self._gram[own][:, own])


# ---------------------------------------------------------------------------- linear equations


def solve_positive(matrices: Tensor, right: Tensor) -> Tensor:
    """Solve systems of linear equations with positive definite matrices, all at once.

    A Cholesky factorization by panels: nearly all of its work are products of matrices, which a
    device does much faster than it factorizes. Diagonal blocks are inverted.

    Parameters
    ----------
    matrices : tensor of shape (n_systems, n, n)
        Overwritten.
    right : tensor of shape (n_systems, n, n_right)

    Returns
    -------
    tensor of shape (n_systems, n, n_right)
        NaN if a matrix is not positive definite.
    """
    import torch

    n, found, inverses = matrices.shape[1], right.clone(), []
    is_bad = torch.zeros(len(matrices), dtype=torch.bool, device=matrices.device)
    for k in range(0, n, _PANEL):
        stop = min(k + _PANEL, n)
        panel = matrices[:, k:, k:stop]
        before = matrices[:, k:, :k]
        if k:
            panel -= before @ before[:, : stop - k].mT
            found[:, k:stop] -= before[:, : stop - k] @ found[:, :k]
        factor, fault = torch.linalg.cholesky_ex(panel[:, : stop - k])
        is_bad |= fault != 0
        one = torch.eye(stop - k, dtype=factor.dtype, device=factor.device).expand_as(factor)
        inverse = torch.linalg.solve_triangular(factor, one, upper=False)
        panel[:, stop - k :] = panel[:, stop - k :] @ inverse.mT
        found[:, k:stop] = inverse @ found[:, k:stop]
        inverses.append(inverse)
    for k, inverse in zip(range(0, n, _PANEL)[::-1], inverses[::-1], strict=True):
        stop = min(k + _PANEL, n)
        if stop < n:
            found[:, k:stop] -= matrices[:, stop:, k:stop].mT @ found[:, stop:]
        found[:, k:stop] = inverse.mT @ found[:, k:stop]
    return found.masked_fill_(is_bad[:, None, None], torch.nan)


# ---------------------------------------------------------------------------- sweeps


def independent_tasks(problem: HirrProblem) -> list[list[int]]:
    """Return groups of tasks: updates of a group at once, group by group, are those of a sweep.

    In a sweep a task sees new weights of earlier tasks and old weights of later ones.

    Examples
    --------
    >>> problem = HirrProblem([], np.array([-1, 0, 1, 0]), np.ones(4), parent=1.0)
    >>> independent_tasks(problem)
    [[0], [1, 3], [2]]
    """
    level = [0] * problem.n_tasks
    sees: list[set[int]] = []
    for t in range(problem.n_tasks):
        sees.append(set(problem.neighbours(t)) if problem.has_parents else set())
        sees[t] |= set(problem.siblings(t)) if problem.has_siblings else set()
        level[t] = max([level[s] + 1 for s in sees[t] if s < t], default=0)
        level[t] = max([level[t], *(level[s] for s in range(t) if t in sees[s])])
    groups: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for t, own in enumerate(level):
        groups[own].append(t)
    return groups


class _Sweeps:
    """Sweeps of reweighted least squares over weights of shape (n_tasks, n_features, n_targets)."""

    def __init__(self, problem: HirrProblem, designs: DeviceGrams) -> None:
        self._problem, self._designs = problem, designs
        self._device = designs.grams.device
        n_tasks = problem.n_tasks
        self._pulls = np.zeros((n_tasks, n_tasks))
        for t in range(n_tasks) if problem.has_parents else ():
            for s in problem.neighbours(t):
                self._pulls[t, s] = problem.ties[t if s == problem.parents[t] else s]
        self._lam = _placed(np.asarray(problem.lam, dtype=np.float64), self._device)
        self._ridges = _placed(self._pulls.sum(axis=1), self._device)
        n_at_once = max(1, _AT_ONCE // max(designs.grams[:1].numel(), 1))
        self._groups = [
            group[i : i + n_at_once]
            for group in independent_tasks(problem)
            for i in range(0, len(group), n_at_once)
        ]

    def place(self, start: Sequence[Weights]) -> Tensor:
        """Copy weights to the device."""
        _, n_features, width = self._designs.crosses.shape
        full = np.zeros((len(start), n_features, width))
        for values, own in zip(full, start, strict=True):
            values[own.rows, : own.values.shape[1]] = own.values
        return _placed(full, self._device)

    def fetch(self, weights: Tensor) -> list[Weights]:
        """Copy weights from the device."""
        rows = np.arange(weights.shape[1])
        found = zip(_here(weights), self._designs.widths.tolist(), strict=True)
        return [Weights(rows, np.ascontiguousarray(own[:, :width])) for own, width in found]

    def ridge(self) -> Tensor:
        """Return the weights of `ridge_start`."""
        import torch

        crosses = self._designs.crosses
        largest = self._designs.grams.diagonal(dim1=1, dim2=2).amax(1)
        ridges = torch.maximum(self._lam, 1e-10 * largest)[:, None].expand(crosses.shape[:2])
        found = torch.empty_like(crosses)
        for tasks in self._chunks():
            found[tasks] = self._solved(tasks, ridges[tasks], crosses[tasks], [])
        return found

    def _chunks(self) -> Iterator[list[int]]:
        n_at_once = max(map(len, self._groups), default=1)
        for i in range(0, self._problem.n_tasks, n_at_once):
            yield list(range(self._problem.n_tasks))[i : i + n_at_once]

    def sweep(self, weights: Tensor) -> None:
        """Update the weights of all tasks, as `solve_irls` does."""
        for tasks in self._groups:
            lengths = weights[tasks].square().sum(2).sqrt().clamp(min=SHORTEST)
            diagonals = 0.5 * self._lam[tasks][:, None] / lengths + self._ridges[tasks][:, None]
            right = self._designs.crosses[tasks] + self._pull(tasks, weights)
            factors = [(i, self._factor(t, weights)) for i, t in enumerate(tasks)]
            weights[tasks] = self._solved(tasks, diagonals, right, factors)

    def _solved(
        self, tasks: list[int], diagonals: Tensor, right: Tensor, factors: list[tuple[int, Any]]
    ) -> Tensor:
        """Solve for weights, given additions to the Gram matrices of some tasks."""
        matrices = self._designs.grams[tasks]  # a copy
        for i, factor in factors:
            if factor is not None:
                matrices[i].addmm_(factor, factor.T)
        matrices.diagonal(dim1=1, dim2=2).add_(diagonals)
        return solve_positive(matrices, right)

    def _pull(self, tasks: list[int], weights: Tensor) -> Tensor:
        """Return ``Coupling.pull`` of some tasks: (n_some, n_features, n_targets)."""
        pulls = _placed(self._pulls[tasks], self._device)
        return (pulls @ weights.reshape(len(weights), -1)).reshape(-1, *weights.shape[1:])

    def _factor(self, t: int, weights: Tensor) -> Tensor | None:
        """Return ``Coupling.factor`` of a task: (n_features, n_along)."""
        import torch

        problem = self._problem
        siblings = problem.siblings(t) if problem.has_siblings else []
        if not siblings:
            return None
        strengths = [2.0 * np.sqrt(problem.repulsions[t] * problem.repulsions[s]) for s in siblings]
        centred = weights[siblings] - weights[siblings].mean(1, keepdim=True)
        centred *= _placed(np.sqrt(strengths), self._device)[:, None, None]
        return torch.cat(list(centred), dim=1)

    def assess(self, weights: Tensor) -> tuple[float, float]:
        """Return the objective and the gap; see `HirrProblem.assess`."""
        value, gap = self._problem.assess_parts(self._parts(weights))
        if not np.isfinite(value):
            raise np.linalg.LinAlgError("the matrix of a node is not positive definite")
        return value, gap

    def _parts(self, weights: Tensor) -> FloatArray:
        """Return what `HirrProblem.assess_parts` takes: (n_tasks, 4)."""
        import torch

        problem, crosses = self._problem, self._designs.crosses
        gradients = crosses - self._designs.grams @ weights
        squares = _placed(self._designs.energies, self._device)
        squares = squares - ((crosses + gradients) * weights).sum((1, 2))
        if problem.has_parents:
            gradients += self._pull(list(range(len(weights))), weights)
            gradients -= self._ridges[:, None, None] * weights
            below = np.flatnonzero(problem.parents >= 0)
            apart = weights[below] - weights[problem.parents[below]]
            ties = _placed(np.asarray(problem.ties)[below], self._device)
            squares[below] += ties * apart.square().sum((1, 2))
        for t in range(len(weights)):
            factor = self._factor(t, weights)
            if factor is not None:  # each pair of siblings is counted twice
                along = factor.T @ weights[t]
                gradients[t] -= factor @ along
                squares[t] += 0.5 * along.square().sum()
        norms = self._lam * weights.square().sum(2).sqrt().sum(1)
        largest = 2.0 * gradients.square().sum(2).sqrt().amax(1)
        scales = torch.where(largest <= self._lam, 1.0, self._lam / largest)
        slack = (weights * gradients).sum((1, 2))
        return _here(torch.stack([squares, norms, slack, scales], dim=1))


def solve_irls_on_device(
    problem: HirrProblem,
    designs: DeviceGrams,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    start: Sequence[Weights] | None = None,
    callback: Callable[[int, float], object] | None = None,
) -> Solution:
    """Minimize the objective as `solve_irls` does, with all weights on the device.

    `designs` are those of the problem; the other parameters are those of `solve_irls`.
    """
    sweeps = _Sweeps(problem, designs)
    weights = sweeps.ridge() if start is None else sweeps.place(start)
    value, gap = sweeps.assess(weights)
    objective, tolerance = [value], tol * float(designs.energies.sum())
    while (gap > tolerance or tol == 0) and len(objective) <= max_iter:
        sweeps.sweep(weights)
        value, gap = sweeps.assess(weights)
        objective.append(value)
        if callback is not None:
            callback(len(objective) - 1, value)
    return Solution(sweeps.fetch(weights), objective, gap, "irls", gap <= tolerance)
