"""Reweighted least squares of HiRR-FS on a device of torch, for many nodes at once.

What a node adds to its own matrix is known before a sweep, so that the matrices of all nodes are
factorized together; weights of siblings, which come later, add a few columns times their transpose,
by the formula of Sherman, Morrison and Woodbury. All numbers are float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from palmette._arrays import FloatArray
from palmette.base._devices import on_host, placed
from palmette.feature_selection._hirr_device import DeviceGrams
from palmette.feature_selection._hirr_problem import (
    HirrProblem,
    Solution,
    Weights,
)
from palmette.feature_selection._hirr_solvers import SHORTEST

Tensor: TypeAlias = Any  # of torch, which is imported where it is used

_PANEL = 256  # columns of a matrix that are eliminated together
_AT_ONCE = 2**29  # numbers of matrices that are factorized together
_FEW = 0.25  # columns of siblings, relative to the features, that are added after a factorization


# ---------------------------------------------------------------------------- linear equations


class Cholesky:
    """Factors of positive definite matrices, all computed at once.

    Columns are eliminated by panels: nearly all of the work are products of matrices, which a
    device does much faster than it factorizes. Diagonal blocks are inverted.

    Parameters
    ----------
    matrices : tensor of shape (n_systems, n, n)
        Overwritten.
    """

    def __init__(self, matrices: Tensor) -> None:
        import torch

        n = matrices.shape[1]
        self._lower, self._inverses = matrices, []
        self._panels = [(k, min(k + _PANEL, n)) for k in range(0, n, _PANEL)]
        self._is_bad = torch.zeros(len(matrices), dtype=torch.bool, device=matrices.device)
        for k, stop in self._panels:
            panel, before = matrices[:, k:, k:stop], matrices[:, k:, :k]
            if k:
                panel -= before @ before[:, : stop - k].mT
            factor, fault = torch.linalg.cholesky_ex(panel[:, : stop - k])
            self._is_bad |= fault != 0
            one = torch.eye(stop - k, dtype=factor.dtype, device=factor.device).expand_as(factor)
            inverse = torch.linalg.solve_triangular(factor, one, upper=False)
            panel[:, stop - k :] = panel[:, stop - k :] @ inverse.mT
            self._inverses.append(inverse)

    def solve(self, right: Tensor, own: slice = slice(None)) -> Tensor:
        """Solve some of the systems of equations.

        Parameters
        ----------
        right : tensor of shape (n_some, n, n_right)
        own : slice
            The systems; all by default.

        Returns
        -------
        tensor of shape (n_some, n, n_right)
            NaN if a matrix is not positive definite.
        """
        import torch

        lower, found = self._lower[own], right.clone()
        inverses = [inverse[own] for inverse in self._inverses]
        for (k, stop), inverse in zip(self._panels, inverses, strict=True):
            here = found[:, k:stop]
            if k:
                here = torch.baddbmm(here, lower[:, k:stop, :k], found[:, :k], alpha=-1)
            found[:, k:stop] = inverse @ here
        for (k, stop), inverse in zip(self._panels[::-1], inverses[::-1], strict=True):
            here = found[:, k:stop]
            if stop < found.shape[1]:
                here = torch.baddbmm(here, lower[:, stop:, k:stop].mT, found[:, stop:], alpha=-1)
            found[:, k:stop] = inverse.mT @ here
        return found.masked_fill_(self._is_bad[own, None, None], torch.nan)


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
        n_tasks, (_, n_features, n_targets) = problem.n_tasks, designs.crosses.shape
        pulls = np.zeros((n_tasks, n_tasks))
        for t in range(n_tasks) if problem.has_parents else ():
            for s in problem.neighbours(t):
                pulls[t, s] = problem.tie(t, s)
        siblings = [problem.siblings(t) if problem.has_siblings else [] for t in range(n_tasks)]
        shape = n_tasks, max(map(len, siblings), default=0)
        others, strengths = np.zeros(shape, np.int64), np.zeros(shape)
        for t, own in enumerate(siblings):
            others[t, : len(own)] = own
            each = [problem.repulsions[t] * problem.repulsions[s] for s in own]
            strengths[t, : len(own)] = np.sqrt(2.0 * np.sqrt(each))
        edges = [(t, parent) for t, above in enumerate(problem.above) for parent in above]
        below, above = np.array(edges, dtype=np.int64).reshape(-1, 2).T
        lam, energies = (
            np.asarray(each, dtype=np.float64) for each in (problem.lam, designs.energies)
        )
        arrays = (pulls, pulls.sum(axis=1), lam, energies, others, strengths)
        self._pulls, self._ridges, self._lam, self._energies, self._siblings, self._strengths = (
            placed(each, self._device) for each in arrays
        )
        self._below, self._above, self._ties = (
            placed(each, self._device) for each in (below, above, np.asarray(problem.ties)[below])
        )
        n_along = shape[1] * n_targets
        self._is_few = n_along <= _FEW * n_features
        self._n_at_once = max(1, _AT_ONCE // max(n_features * max(n_features, n_along), 1))
        self._windows = self._divided(independent_tasks(problem))

    def _divided(self, groups: list[list[int]]) -> list[list[Tensor]]:
        """Return windows of groups, of tasks whose matrices are factorized together."""
        windows: list[list[Tensor]] = []
        n_left = 0
        for group in groups:
            for i in range(0, len(group), self._n_at_once):
                tasks = np.asarray(group[i : i + self._n_at_once])
                if len(tasks) > n_left or not self._is_few:
                    windows.append([])
                    n_left = self._n_at_once
                windows[-1].append(placed(tasks, self._device))
                n_left -= len(tasks)
        return windows

    def place(self, start: Sequence[Weights]) -> Tensor:
        """Copy weights to the device."""
        _, n_features, width = self._designs.crosses.shape
        full = np.zeros((len(start), n_features, width))
        for values, own in zip(full, start, strict=True):
            values[own.rows, : own.values.shape[1]] = own.values
        return placed(full, self._device)

    def fetch(self, weights: Tensor) -> list[Weights]:
        """Copy weights from the device."""
        rows = np.arange(weights.shape[1])
        found = zip(on_host(weights), self._designs.widths.tolist(), strict=True)
        return [Weights(rows, np.ascontiguousarray(own[:, :width])) for own, width in found]

    def ridge(self) -> Tensor:
        """Return the weights of `ridge_start`."""
        import torch

        crosses = self._designs.crosses
        largest = self._designs.grams.diagonal(dim1=1, dim2=2).amax(1)
        ridges = torch.maximum(self._lam, 1e-10 * largest)[:, None].expand(crosses.shape[:2])
        found = torch.empty_like(crosses)
        for some in self._chunks():
            found[some] = Cholesky(self._matrices(some, ridges[some])).solve(crosses[some])
        return found

    def _chunks(self) -> tuple[Tensor, ...]:
        import torch

        tasks: Tensor = torch.arange(self._problem.n_tasks, device=self._device)
        return tuple(tasks.split(self._n_at_once))

    def _matrices(self, tasks: Tensor, diagonals: Tensor) -> Tensor:
        """Return the Gram matrices of some tasks, with additions to their diagonals."""
        matrices = self._designs.grams[tasks]  # a copy
        matrices.diagonal(dim1=1, dim2=2).add_(diagonals)
        return matrices

    def sweep(self, weights: Tensor) -> None:
        """Update the weights of all tasks, as `solve_irls` does."""
        import torch

        for groups in self._windows:
            tasks, stop = torch.cat(groups), 0
            lengths = weights[tasks].square().sum(2).sqrt().clamp(min=SHORTEST)
            diagonals = 0.5 * self._lam[tasks, None] / lengths + self._ridges[tasks, None]
            matrices = self._matrices(tasks, diagonals)
            if not self._is_few:
                factors = self._factors(tasks, weights)
                matrices.baddbmm_(factors, factors.mT)
            cholesky = Cholesky(matrices)
            for group in groups:
                own, stop = slice(stop, stop + len(group)), stop + len(group)
                right = self._designs.crosses[group] + self._pull(group, weights)
                factors = self._factors(group, weights) if self._is_few else right[:, :, :0]
                weights[group] = _solved(cholesky, own, right, factors)

    def _pull(self, tasks: Any, weights: Tensor) -> Tensor:
        """Return ``Coupling.pull`` of some tasks: (n_some, n_features, n_targets)."""
        pulled = self._pulls[tasks] @ weights.reshape(len(weights), -1)
        return pulled.reshape(-1, *weights.shape[1:])

    def _factors(self, tasks: Tensor, weights: Tensor) -> Tensor:
        """Return ``Coupling.factor`` of some tasks: (n_some, n_features, n_along).

        There are columns of zeros where a task has fewer siblings.
        """
        centred = weights - weights.mean(1, keepdim=True)
        own = centred[self._siblings[tasks]] * self._strengths[tasks][:, :, None, None]
        return own.transpose(1, 2).reshape(len(own), weights.shape[1], -1)

    def assess(self, weights: Tensor) -> tuple[float, float]:
        """Return the objective and the gap; see `HirrProblem.assess`."""
        value, gap = self._problem.assess_parts(self._parts(weights))
        if not np.isfinite(value):
            raise np.linalg.LinAlgError("the matrix of a node is not positive definite")
        return value, gap

    def _parts(self, weights: Tensor) -> FloatArray:
        """Return what `HirrProblem.assess_parts` takes: (n_tasks, 4)."""
        import torch

        crosses = self._designs.crosses
        gradients = crosses - self._designs.grams @ weights
        squares = self._energies - ((crosses + gradients) * weights).sum((1, 2))
        if self._problem.has_parents:
            gradients += self._pull(slice(None), weights)
            gradients -= self._ridges[:, None, None] * weights
            apart = weights[self._below] - weights[self._above]
            squares.index_add_(0, self._below, self._ties * apart.square().sum((1, 2)))
        for some in self._chunks() if self._problem.has_siblings else ():
            factors = self._factors(some, weights)
            along = factors.mT @ weights[some]
            gradients[some] -= factors @ along
            squares[some] += 0.5 * along.square().sum((1, 2))  # each pair is counted twice
        norms = self._lam * weights.square().sum(2).sqrt().sum(1)
        largest = 2.0 * gradients.square().sum(2).sqrt().amax(1)
        scales = torch.where(largest <= self._lam, 1.0, self._lam / largest)
        slack = (weights * gradients).sum((1, 2))
        return on_host(torch.stack([squares, norms, slack, scales], dim=1))


def _solved(cholesky: Cholesky, own: slice, right: Tensor, factors: Tensor) -> Tensor:
    """Solve some systems with matrices ``A + F F'``, given factors of A, and F."""
    import torch

    n_right = right.shape[2]
    both = cholesky.solve(torch.cat([right, factors], dim=2), own)
    found, beside = both[:, :, :n_right], both[:, :, n_right:]
    if not factors.shape[2]:
        return found
    small = torch.eye(factors.shape[2], dtype=right.dtype, device=right.device)
    small = small + factors.mT @ beside
    return found - beside @ torch.linalg.solve_ex(small, factors.mT @ found).result


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
