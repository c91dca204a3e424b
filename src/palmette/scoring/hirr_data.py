"""Designs of all nodes, from the rows of a problem."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.scoring.base import NodeTask, ScoringProblem
from palmette.scoring.hirr_design import DenseDesign, Design, GramDesign, SparseDesign

__all__ = ["RowDesigns", "gram_designs", "make_design"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

_FLAT = 1e-10  # a standard deviation below this part of the root mean square is rounding
_KEPT = 2**25  # numbers: designs that take less together are kept


class RowDesigns:
    """The designs of all tasks, made from rows when they are asked for.

    Parameters
    ----------
    problem : ScoringProblem
    widths : int array of shape (n_tasks,)
        Number of targets of each.
    standardize : bool
        See `make_design`.
    keep : bool
        Keep them all, since they are asked for often; small ones are kept in any case.
    """

    def __init__(
        self, problem: ScoringProblem, widths: IntArray, standardize: bool, keep: bool
    ) -> None:
        self.problem, self.widths, self.standardize = problem, widths, standardize
        size = problem.X.nnz if sparse.issparse(problem.X) else problem.X.size
        n_levels = int(problem.space.depth.max(initial=0))
        self._kept: list[Design | None] = [None] * len(widths)
        self._keep = keep or size * n_levels <= _KEPT

    def __len__(self) -> int:
        return len(self.widths)

    def __getitem__(self, t: int) -> Design:
        design = self._kept[t]
        if design is None:
            task, width = self.problem.task(t), int(self.widths[t])
            design = make_design(self.problem, task, width, self.standardize)
            if self._keep:
                self._kept[t] = design
        return design


def make_design(problem: ScoringProblem, task: NodeTask, width: int, standardize: bool) -> Design:
    """Make the design of a task from its rows.

    Parameters
    ----------
    problem : ScoringProblem
    task : NodeTask
    width : int
        Number of targets, at least that of options; those beyond are 0.
    standardize : bool
        Give every column mean 0 and variance 1 in the rows of the node, and fit an intercept. A
        column that is constant there becomes 0.
    """
    X = problem.X[task.rows]
    unit, targets = indicators(problem, task, width)
    mass = float(unit @ unit)
    if problem.weights is not None:
        X = X.multiply(unit[:, None]).tocsr() if sparse.issparse(X) else X * unit[:, None]
    if standardize:
        targets -= np.outer(unit, unit @ targets / mass)
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        means, scales = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if standardize:
            means = X.T @ unit / mass
            scales = deviations(X.multiply(X).sum(axis=0) / mass, means)
        return SparseDesign(X, unit, targets, means, scales)
    if standardize:
        means = unit @ X / mass
        second = np.einsum("ij,ij->j", X, X) / mass
        X -= np.outer(unit, means)
        variance = np.einsum("ij,ij->j", X, X) / mass
        X /= np.where(variance > _FLAT**2 * second, np.sqrt(variance), np.inf)
    return DenseDesign(X, targets)


def indicators(
    problem: ScoringProblem, task: NodeTask, width: int
) -> tuple[FloatArray, FloatArray]:
    """Roots of the weights of rows, and indicators of the options times these roots."""
    unit = np.ones(len(task.rows))
    if problem.weights is not None:
        unit = np.sqrt(problem.weights[task.rows])
    targets = np.zeros((len(task.rows), width))
    targets[np.arange(len(task.rows)), task.codes] = unit
    return unit, targets


def deviations(second: FloatArray, means: FloatArray) -> FloatArray:
    """Standard deviations, infinite where a column is constant: it becomes 0 then."""
    variance = second - means**2
    # less digits are left after the subtraction than the square of the deviation would need
    return np.where(variance > _FLAT * second, np.sqrt(np.maximum(variance, 0.0)), np.inf)


# ---------------------------------------------------------------------- Gram matrices


def gram_designs(
    problem: ScoringProblem, widths: NDArray[np.int32], standardize: bool
) -> list[GramDesign]:
    """Make the designs of all tasks without keeping their rows.

    Takes ``n_tasks * n_features**2`` numbers.

    Parameters
    ----------
    problem : ScoringProblem
    widths : int array of shape (n_tasks,)
        Number of targets of each.
    standardize : bool
        See `make_design`.

    Returns
    -------
    list of GramDesign
    """
    X = problem.X
    if standardize and not sparse.issparse(X):
        X = X - X.mean(axis=0)  # nearer to the means of the nodes: fewer digits cancel below
    tasks = list(problem.tasks())
    grams = _sum_upwards(X, problem, tasks)
    return [
        _design(X, problem, task, gram, int(width), standardize)
        for task, gram, width in zip(tasks, grams, widths, strict=True)
    ]


def _sum_upwards(X: Any, problem: ScoringProblem, tasks: list[NodeTask]) -> list[FloatArray]:
    grams = [np.zeros((problem.n_features, problem.n_features)) for _ in tasks]
    below = [np.empty(0, dtype=np.int32) for _ in tasks]
    for t in range(len(tasks) - 1, -1, -1):  # in preorder children come after their parents
        own = np.setdiff1d(tasks[t].rows, below[t], assume_unique=True)
        grams[t] += _gram(
            X[own], problem.weights if problem.weights is None else problem.weights[own]
        )
        parent = problem.parents[t]
        if parent >= 0:
            grams[parent] += grams[t]
            below[parent] = np.concatenate([below[parent], tasks[t].rows])
    return grams


def _gram(X: Any, weights: FloatArray | None) -> FloatArray:
    weighted = X if weights is None else weights[:, None] * X
    product = X.T @ weighted
    gram: FloatArray = product.toarray() if sparse.issparse(product) else product
    return gram


def _design(
    X: Any,
    problem: ScoringProblem,
    task: NodeTask,
    gram: FloatArray,
    width: int,
    standardize: bool,
) -> GramDesign:
    """Make the design of one task; `gram` becomes its own."""
    unit, targets = indicators(problem, task, width)
    mass = float(unit @ unit)
    sums = X[task.rows].T @ (targets * unit[:, None])
    energy = mass
    if standardize:
        totals = targets.T @ unit
        means = sums.sum(axis=1) / mass
        energy -= float(totals @ totals) / mass
        sums -= np.outer(means, totals)
        scales = deviations(np.diag(gram) / mass, means)
        gram -= mass * np.outer(means, means)
        gram /= scales[:, None]
        gram /= scales
        sums /= scales[:, None]
    return GramDesign(gram, sums, energy)
