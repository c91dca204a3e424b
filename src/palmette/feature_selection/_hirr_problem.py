"""Designs of all nodes, from the rows of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.exceptions import PalmetteError
from palmette.feature_selection._base import NodeTask, ScoringProblem
from palmette.feature_selection._hirr_descent import duality_gap, reach_of, row_norms
from palmette.feature_selection._hirr_design import (
    Coupling,
    DenseDesign,
    Design,
    GramDesign,
    SparseDesign,
)

__all__ = ["HirrProblem", "RowDesigns", "Solution", "Weights", "gram_designs", "make_design"]


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


IndexArray = NDArray[np.int64]

COUPLINGS = ("full", "paper")


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of one node, 0 but in some rows.

    Parameters
    ----------
    rows : int array of shape (n_rows,)
        Features, ascending.
    values : array of shape (n_rows, n_targets)
    """

    rows: IndexArray
    values: FloatArray

    @classmethod
    def none(cls, width: int) -> Weights:
        """No weights."""
        return cls(np.empty(0, dtype=np.int64), np.empty((0, width)))

    @property
    def norms(self) -> FloatArray:
        """Length of every row."""
        return row_norms(self.values)

    def toarray(self, n_features: int) -> FloatArray:
        """All weights, of shape (n_features, n_targets)."""
        full = np.zeros((n_features, self.values.shape[1]))
        full[self.rows] = self.values
        return full


@dataclass
class Solution:
    """What a solver found.

    Parameters
    ----------
    weights : list of Weights
        One for every task.
    objective : list of float
        At the start, and after every sweep over the nodes.
    dual_gap : float
        See `HirrProblem.dual_gap`.
    solver : str
    converged : bool
    """

    weights: list[Weights]
    objective: list[float]
    dual_gap: float
    solver: str
    converged: bool


class HirrProblem:
    """Row-sparse least squares at every node, with ties between parents, children and siblings.

    The objective is the sum over tasks of ``|Z W - Y|^2 + lam |W|_{2,1}``, plus `parent` times
    ``|W - W_parent|^2``, plus `sibling` times ``|W' H W_sibling|^2`` for every ordered pair of
    siblings, where ``H`` removes the means of columns.

    Parameters
    ----------
    designs : sequence of Design
        One for every task; it may make them when asked.
    parents : int array of shape (n_tasks,)
        Task above each, -1 where there is none; parents come before their children.
    lam : array of shape (n_tasks,)
        Weight of the row norms at each.
    parent, sibling : float
        The alpha and the beta of the paper. With `sibling` above 0 the objective is convex in each
        node's weights, not in all of them together.
    coupling : {"full", "paper"}
        With "full" a node feels its parent and its children. With "paper" a node below the root
        feels its parent only, as in Equations 12 and 25, which lose a term of the objective where
        the tree has more than two levels of parents.

    Examples
    --------
    >>> from palmette.feature_selection._hirr_design import GramDesign
    >>> design = GramDesign(np.eye(2), np.array([[3.0], [0.5]]), 10.0)
    >>> problem = HirrProblem([design], np.array([-1]), np.array([2.0]))
    >>> np.round(problem.assess([Weights.none(1)]), 3)  # the objective, and the gap
    array([10.   ,  4.444])
    >>> problem.assess([Weights(np.array([0]), np.array([[2.0]]))])
    (6.0, 0.0)
    """

    def __init__(
        self,
        designs: Sequence[Design],
        parents: IntArray,
        lam: FloatArray,
        parent: float = 0.0,
        sibling: float = 0.0,
        coupling: str = "full",
    ) -> None:
        if coupling not in COUPLINGS:
            raise PalmetteError(f"coupling={coupling!r} is unknown: expected one of {COUPLINGS}.")
        self.designs = designs
        self.parents = parents
        self.lam = lam
        self.parent = parent
        self.sibling = sibling
        self.coupling = coupling

    @property
    def n_tasks(self) -> int:
        """Number of nodes with weights."""
        return len(self.parents)

    @property
    def is_coupled(self) -> bool:
        """Whether the nodes feel each other."""
        return self.parent > 0 or self.sibling > 0

    @cached_property
    def energies(self) -> list[float]:
        """Objective of each task alone, without weights."""
        return [self.designs[t].energy for t in range(self.n_tasks)]

    @cached_property
    def children(self) -> list[IndexArray]:
        """Tasks right below each."""
        return [np.flatnonzero(self.parents == t) for t in range(self.n_tasks)]

    def neighbours(self, t: int) -> list[int]:
        """Tasks that pull at the weights of a task."""
        above, below = int(self.parents[t]), self.children[t].tolist()
        if above < 0:
            return [*below]
        return [above] if self.coupling == "paper" else [above, *below]

    def siblings(self, t: int) -> list[int]:
        """Tasks with the same task above them."""
        above = self.parents[t]
        return [] if above < 0 else [int(s) for s in self.children[above] if s != t]

    def couple(self, t: int, weights: Sequence[Weights]) -> Coupling | None:
        """Return what the weights of other tasks add to the objective of one."""
        if not self.is_coupled:
            return None
        cross = self.designs[t].cross
        pull, ridge, factors = np.zeros_like(cross), 0.0, [np.empty((len(cross), 0))]
        constant = 0.0
        if self.parent > 0:
            near = self.neighbours(t)
            ridge = self.parent * len(near)
            for s in near:
                pull[weights[s].rows] += self.parent * weights[s].values
                constant += self.parent * float(np.sum(weights[s].values ** 2))
        if self.sibling > 0:
            for s in self.siblings(t):
                full = weights[s].toarray(len(cross))
                factors.append(np.sqrt(2.0 * self.sibling) * (full - full.mean(axis=0)))
        return Coupling(ridge, pull, np.hstack(factors), constant)

    def assess(self, weights: Sequence[Weights]) -> tuple[float, float]:
        """Return the objective at some weights, and the duality gap.

        The gap is at least as large as what the objective is above its optimum, where the nodes are
        not coupled by `sibling`, and 0 at the optimum. With `sibling` it is 0 where no node's
        weights can be made better while those of the others stay.
        """
        parts = np.array([self._parts(t, weights) for t in range(self.n_tasks)])
        square, norms, _, _ = parts.sum(axis=0)
        if self.is_coupled:  # one factor for the residuals of all
            parts = np.append(parts[:, :3].sum(axis=0), parts[:, 3].min())[None]
        return float(square + norms), float(sum(duality_gap(*part) for part in parts))

    def _parts(self, t: int, weights: Sequence[Weights]) -> tuple[float, float, float, float]:
        """What a task adds to the arguments of `duality_gap`."""
        own, design, coupling = weights[t], self.designs[t], self.couple(t, weights)
        gradient = design.gradient(own.rows, own.values)
        square = design.loss(own.rows, own.values, gradient)
        if coupling is not None:
            gradient += coupling.gradient(own.rows, own.values)
            # each pair of siblings is met twice, each child once
            square += 0.5 * float(np.sum((coupling.factor[own.rows].T @ own.values) ** 2))
            square += self.parent * self._distance(t, weights)
        norms = float(self.lam[t] * own.norms.sum())
        slack = float(np.sum(own.values * gradient[own.rows]))
        return square, norms, slack, reach_of(gradient, self.lam[t])

    def _distance(self, t: int, weights: Sequence[Weights]) -> float:
        """``|W - W_parent|^2``"""
        if self.parent == 0 or self.parents[t] < 0:
            return 0.0
        n_features = len(self.designs[t].cross)
        above = weights[self.parents[t]].toarray(n_features)
        return float(np.sum((weights[t].toarray(n_features) - above) ** 2))
