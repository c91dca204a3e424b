"""HirrProblem: the objective of HiRR-FS over all nodes, and the designs of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.exceptions import PalmetteError
from palmette.feature_selection._base import NodeTask, ScoringProblem
from palmette.feature_selection._hirr_descent import dual_scale, duality_gap, row_norms
from palmette.feature_selection._hirr_design import (
    Coupling,
    DenseDesign,
    Design,
    GramDesign,
    SparseDesign,
)

IndexArray = NDArray[np.int64]
Scaling = bool | Literal["center"]
COUPLINGS = ("full", "paper")
FLAT = 1e-10  # features whose relative standard deviation is smaller are constant
_KEPT = 2**25  # total size of the designs, in numbers, up to which they stay in memory


@dataclass(eq=False)
class HirrProblem:
    """Row-sparse least squares at every node, with coupling of parents, children and siblings.

    The objective is the sum over tasks of ``|Z W - Y|^2 + lam |W|_{2,1}``, plus `parent` times
    ``|W - W_parent|^2`` for every parent of a task, plus `sibling` times ``|W' H W_sibling|^2`` for
    every ordered pair of siblings, where ``H`` removes the means of columns. Siblings have a parent
    in common. The weight of a pair of siblings is the geometric mean of theirs.

    Parameters
    ----------
    designs : sequence of Design
        One per task.
    parents : int array of shape (n_tasks,), or list of lists of int
        Parent of each task, -1 if there is none; or all of its parents, where there may be several.
        Parents come before their children.
    lam : array of shape (n_tasks,)
        Weight of the row norms of each task.
    parent, sibling : float, or array of shape (n_tasks,)
        The alpha and the beta of the paper, which are the same for all tasks there. With `sibling`
        above 0 the objective is convex in the weights of each node, but not jointly.
    coupling : {"full", "paper"}
        With "full", the update of a node depends on its parent and its children. With "paper", that
        of a node below the root depends on its parent only, as in Equations 12 and 25, which omit a
        term of the objective if the tree has more than two levels of parents.

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

    designs: Sequence[Design]
    parents: IntArray | Sequence[Sequence[int]]
    lam: FloatArray
    parent: float | FloatArray = 0.0
    sibling: float | FloatArray = 0.0
    coupling: str = "full"

    def __post_init__(self) -> None:
        if self.coupling not in COUPLINGS:
            raise PalmetteError(
                f"coupling={self.coupling!r} is unknown: expected one of {COUPLINGS}."
            )

    @property
    def n_tasks(self) -> int:
        """Number of nodes with weights."""
        return len(self.parents)

    @property
    def is_coupled(self) -> bool:
        """Whether the objective couples the nodes."""
        return self.has_parents or self.has_siblings

    @property
    def has_parents(self) -> bool:
        """Whether weights depend on those of the parent."""
        return bool(np.any(self.parent))

    @property
    def has_siblings(self) -> bool:
        """Whether weights depend on those of siblings."""
        return bool(np.any(self.sibling))

    @cached_property
    def ties(self) -> list[float]:
        """Weight of the distance between each task and its parent."""
        return [float(each) for each in np.broadcast_to(self.parent, self.n_tasks)]

    @cached_property
    def repulsions(self) -> list[float]:
        """Weight of each task in its pairs of siblings."""
        return [float(each) for each in np.broadcast_to(self.sibling, self.n_tasks)]

    @cached_property
    def energies(self) -> list[float]:
        """Objective of each task at zero weights."""
        return [self.designs[t].energy for t in range(self.n_tasks)]

    @cached_property
    def above(self) -> list[list[int]]:
        """Parents of each task."""
        if isinstance(self.parents, np.ndarray):
            return [[parent] if parent >= 0 else [] for parent in self.parents.tolist()]
        return [list(each) for each in self.parents]

    @cached_property
    def children(self) -> list[list[int]]:
        """Children of each task."""
        found: list[list[int]] = [[] for _ in range(self.n_tasks)]
        for t, above in enumerate(self.above):
            for parent in above:
                found[parent].append(t)
        return found

    @cached_property
    def _products(self) -> dict[tuple[int, ...], _Products]:
        return {}

    def neighbours(self, t: int) -> list[int]:
        """Return the tasks that the update of a task depends on, by `parent`."""
        above, below = self.above[t], self.children[t]
        if not above:
            return [*below]
        return [*above] if self.coupling == "paper" else [*above, *below]

    def tie(self, t: int, s: int) -> float:
        """Return the weight of the distance between two neighbours: that of the child."""
        return self.ties[t if s in self.above[t] else s]

    def siblings(self, t: int) -> list[int]:
        """Return the tasks that have a parent in common with a task."""
        return sorted({s for parent in self.above[t] for s in self.children[parent]} - {t})

    def couple(self, t: int, weights: Sequence[Weights]) -> Coupling | None:
        """Return the terms of a task's objective that depend on the weights of other tasks."""
        if not self.is_coupled:
            return None
        cross = self.designs[t].cross
        pull, ridge, constant = np.zeros_like(cross), 0.0, 0.0
        if self.has_parents:
            for s in self.neighbours(t):
                strength = self.tie(t, s)
                ridge += strength
                pull[weights[s].rows] += strength * weights[s].values
                constant += strength * float(np.sum(weights[s].values ** 2))
        siblings = self.siblings(t) if self.has_siblings else []
        if sum(weights[s].values.shape[1] for s in siblings) > len(cross):
            products = self._products_of(t, siblings, len(cross))
            matrix = 2.0 * np.sqrt(self.repulsions[t]) * products.without(t, weights)
            return Coupling(ridge, pull, constant, matrix=matrix)
        factors = [np.empty((len(cross), 0))]
        for s in siblings:
            full = weights[s].toarray(len(cross))
            strength = float(np.sqrt(self.repulsions[t] * self.repulsions[s]))
            factors.append(np.sqrt(2.0 * strength) * (full - full.mean(axis=0)))
        return Coupling(ridge, pull, constant, factor=np.hstack(factors))

    def _products_of(self, t: int, siblings: list[int], n_features: int) -> _Products:
        """Return the sum over a task and its siblings, which all of them share in a tree."""
        group = tuple(sorted([t, *siblings]))
        if group not in self._products:
            while self._products and (1 + len(self._products)) * n_features**2 > _KEPT:
                del self._products[next(iter(self._products))]
            strengths = {s: float(np.sqrt(self.repulsions[s])) for s in group}
            self._products[group] = _Products(strengths, n_features)
        return self._products[group]

    def assess(self, weights: Sequence[Weights]) -> tuple[float, float]:
        """Return the objective at some weights, and the duality gap.

        Without `sibling`, the gap is an upper bound of the distance between the objective and its
        optimum, and 0 at the optimum. With `sibling`, it is 0 if the weights of every node are
        optimal given those of the others.
        """
        return self.assess_parts(np.array([self._parts(t, weights) for t in range(self.n_tasks)]))

    def assess_parts(self, parts: FloatArray) -> tuple[float, float]:
        """Return the objective and the gap, given the parts of every task, (n_tasks, 4)."""
        square, norms, _, _ = parts.sum(axis=0)
        if self.is_coupled:  # one dual scale for all tasks
            parts = np.append(parts[:, :3].sum(axis=0), parts[:, 3].min())[None]
        return float(square + norms), float(sum(duality_gap(*part) for part in parts))

    def _parts(self, t: int, weights: Sequence[Weights]) -> tuple[float, float, float, float]:
        """Return the contributions of a task to the arguments of `duality_gap`."""
        own, design, coupling = weights[t], self.designs[t], self.couple(t, weights)
        gradient = design.gradient(own.rows, own.values)
        square = design.loss(own.rows, own.values, gradient)
        if coupling is not None:
            gradient += coupling.gradient(own.rows, own.values)
            square += self.coupling_square(t, weights, coupling)
        norms = float(self.lam[t] * own.norms.sum())
        slack = float(np.sum(own.values * gradient[own.rows]))
        return square, norms, slack, dual_scale(gradient, self.lam[t])

    def coupling_square(self, t: int, weights: Sequence[Weights], coupling: Coupling) -> float:
        """Return the contribution of a task to the terms of the objective that couple tasks."""
        own = weights[t]
        # each pair of siblings is counted twice, each child once
        along = 0.5 * coupling.quadratic(own.rows, own.values)
        return along + self.ties[t] * self._distance(t, weights)

    def _distance(self, t: int, weights: Sequence[Weights]) -> float:
        """Return the sum of ``|W - W_parent|^2`` over the parents of a task."""
        if self.ties[t] == 0 or not self.above[t]:
            return 0.0
        n_features = len(self.designs[t].cross)
        own, total = weights[t].toarray(n_features), 0.0
        for parent in self.above[t]:
            total += float(np.sum((own - weights[parent].toarray(n_features)) ** 2))
        return total


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of one node, given by their nonzero rows.

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
        """Return zero weights."""
        return cls(np.empty(0, dtype=np.int64), np.empty((0, width)))

    @property
    def norms(self) -> FloatArray:
        """Norm of every row."""
        return row_norms(self.values)

    def toarray(self, n_features: int) -> FloatArray:
        """Return all weights, of shape (n_features, n_targets)."""
        full = np.zeros((n_features, self.values.shape[1]))
        full[self.rows] = self.values
        return full


class _Products:
    """The sum over siblings of their centred weights times the transpose, kept up to date.

    Weights of a task that have changed since the last call are replaced in the sum, so that a sweep
    forms a few products per task and not one per pair of siblings.

    Parameters
    ----------
    strengths : dict of int to float
        Factor of each task of the sum.
    n_features : int
    """

    def __init__(self, strengths: dict[int, float], n_features: int) -> None:
        self._strengths, self._n_features = strengths, n_features
        self._known: dict[int, Weights] = {}
        self._total: FloatArray = np.zeros((n_features, n_features))
        self._n_replaced = 0

    def without(self, t: int, weights: Sequence[Weights]) -> FloatArray:
        """Return the sum over all tasks but one, of shape (n_features, n_features)."""
        for s in self._strengths:
            before = self._known.get(s)
            if weights[s] is before:
                continue
            if before is not None:
                self._total -= self._product(s, before)
                self._n_replaced += 1
            self._total += self._product(s, weights[s])
            self._known[s] = weights[s]
        if self._n_replaced > len(self._strengths):  # rounding errors must not add up
            self._known, self._n_replaced = {}, 0
            self._total[...] = 0.0
            return self.without(t, weights)
        return self._total - self._product(t, weights[t])

    def _product(self, s: int, weights: Weights) -> FloatArray:
        full = weights.toarray(self._n_features)
        full -= full.mean(axis=0)
        product: FloatArray = self._strengths[s] * (full @ full.T)
        return product


@dataclass
class Solution:
    """Result of a solver.

    Parameters
    ----------
    weights : list of Weights
        One per task.
    objective : list of float
        At the start, and after every sweep over the nodes.
    dual_gap : float
        See `HirrProblem.assess`.
    solver : str
    converged : bool
    """

    weights: list[Weights]
    objective: list[float]
    dual_gap: float
    solver: str
    converged: bool


class RowDesigns:
    """The designs of all tasks, made from rows when they are accessed.

    Parameters
    ----------
    problem : ScoringProblem
    widths : int array of shape (n_tasks,)
        Number of targets of each.
    standardize : bool or "center"
        See `make_design`.
    keep : bool
        Whether all designs stay in memory; small ones do in any case.
    make : callable, optional
        Makes a design, with the parameters of `make_design`, which is the default.
    """

    def __init__(
        self,
        problem: ScoringProblem,
        widths: IntArray,
        standardize: Scaling,
        keep: bool,
        make: Callable[[ScoringProblem, NodeTask, int, Scaling], Design] | None = None,
    ) -> None:
        self.problem, self.widths, self.standardize = problem, widths, standardize
        self._make = make or make_design
        size = problem.X.nnz if sparse.issparse(problem.X) else problem.X.size
        self._kept: list[Design | None] = [None] * len(widths)
        self._keep = keep or size * problem.n_levels <= _KEPT

    def __len__(self) -> int:
        return len(self.widths)

    def __getitem__(self, t: int) -> Design:
        design = self._kept[t]
        if design is None:
            task, width = self.problem.task(t), int(self.widths[t])
            design = self._make(self.problem, task, width, self.standardize)
            if self._keep:
                self._kept[t] = design
        return design


def make_design(
    problem: ScoringProblem, task: NodeTask, width: int, standardize: Scaling
) -> Design:
    """Return the design of a task, made from its rows.

    Parameters
    ----------
    problem : ScoringProblem
    task : NodeTask
    width : int
        Number of targets, at least the number of options; additional targets are 0.
    standardize : bool or "center"
        Whether to scale every column to mean 0 and variance 1 in the rows of the node, and to fit
        an intercept; "center" gives it mean 0 and keeps its variance. A constant column becomes 0.
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
            scales = _scales(X.multiply(X).sum(axis=0) / mass, means, standardize)
        return SparseDesign(X, unit, targets, means, scales)
    if standardize:
        means = unit @ X / mass
        second = np.einsum("ij,ij->j", X, X) / mass
        X -= np.outer(unit, means)
        variance = np.einsum("ij,ij->j", X, X) / mass
        lengths = np.ones_like(variance) if standardize == "center" else np.sqrt(variance)
        X /= np.where(variance > FLAT**2 * second, lengths, np.inf)
    return DenseDesign(X, targets)


def gram_designs(
    problem: ScoringProblem, widths: IntArray, standardize: Scaling
) -> list[GramDesign]:
    """Return the designs of all tasks as Gram matrices, ``n_tasks * n_features**2`` numbers.

    Parameters are those of `RowDesigns`.
    """
    X = problem.X
    if standardize and not sparse.issparse(X):
        X = X - X.mean(axis=0)  # closer to the means of the nodes: less cancellation below
    tasks = list(problem.tasks())
    grams = _grams(X, problem, tasks)
    return [
        _gram_design(X, problem, task, gram, int(width), standardize)
        for task, gram, width in zip(tasks, grams, widths, strict=True)
    ]


def _grams(X: Any, problem: ScoringProblem, tasks: list[NodeTask]) -> list[FloatArray]:
    grams = [np.zeros((problem.n_features, problem.n_features)) for _ in tasks]
    for t, own in own_rows(problem, tasks):
        grams[t] += _gram(
            X[own], problem.weights if problem.weights is None else problem.weights[own]
        )
        for parent in problem.above[t] if problem.adds_up else ():
            grams[parent] += grams[t]
    return grams


def own_rows(problem: ScoringProblem, tasks: list[NodeTask]) -> Iterator[tuple[int, IndexArray]]:
    """Yield every task, children before their parents, and the rows that no child of it has.

    Where rows may be below several children, all rows of a task are yielded.
    """
    below = [np.empty(0, dtype=np.int32) for _ in tasks]
    for t in range(len(tasks) - 1, -1, -1):  # in preorder children come after their parents
        if not problem.adds_up:
            yield t, tasks[t].rows.astype(np.int64)
            continue
        yield t, np.setdiff1d(tasks[t].rows, below[t], assume_unique=True).astype(np.int64)
        for parent in problem.above[t]:
            below[parent] = np.concatenate([below[parent], tasks[t].rows])


def _gram(X: Any, weights: FloatArray | None) -> FloatArray:
    weighted = X if weights is None else weights[:, None] * X
    product = X.T @ weighted
    gram: FloatArray = product.toarray() if sparse.issparse(product) else product
    return gram


def _gram_design(
    X: Any,
    problem: ScoringProblem,
    task: NodeTask,
    gram: FloatArray,
    width: int,
    standardize: Scaling,
) -> GramDesign:
    """Return the design of one task; `gram` is overwritten and belongs to it."""
    unit, targets = indicators(problem, task, width)
    mass = float(unit @ unit)
    sums = X[task.rows].T @ (targets * unit[:, None])
    energy = float(np.sum(targets**2))
    if standardize:
        totals = targets.T @ unit
        means = X[task.rows].T @ unit**2 / mass
        energy -= float(totals @ totals) / mass
        sums -= np.outer(means, totals)
        scales = _scales(np.diag(gram) / mass, means, standardize)
        gram -= mass * np.outer(means, means)
        gram /= scales[:, None]
        gram /= scales
        sums /= scales[:, None]
    return GramDesign(gram, sums, energy)


def indicators(
    problem: ScoringProblem, task: NodeTask, width: int
) -> tuple[FloatArray, FloatArray]:
    """Return the square roots of sample weights, and 0/1 targets of the options times these."""
    unit = np.ones(len(task.rows))
    if problem.weights is not None:
        unit = np.sqrt(problem.weights[task.rows])
    targets = np.zeros((len(task.rows), width))
    if task.answers is None:
        targets[np.arange(len(task.rows)), task.codes] = unit
    else:
        targets[:, : task.n_options] = unit[:, None] * task.answers.toarray()
    return unit, targets


def _scales(second: FloatArray, means: FloatArray, standardize: Scaling) -> FloatArray:
    """Return the divisors of columns, infinite for constant ones, which become 0 by scaling."""
    variance = second - means**2
    scales = 1.0 if standardize == "center" else np.sqrt(np.maximum(variance, 0.0))
    # the tolerance is not squared, as the subtraction loses digits
    return np.where(variance > FLAT * second, scales, np.inf)
