"""LinearRouter: the linear classifiers of all nodes, by dual coordinate descent."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from palmette.class_tree._linear_routes import FlatRows, LinearRoutes
from palmette.class_tree._routing import Router, RoutingProblem
from palmette.exceptions import PalmetteError

__all__ = ["LinearRouter"]

FloatArray = NDArray[np.float64]
_Lines: TypeAlias = tuple[sparse.csr_array, FloatArray]  # weights and biases of classifiers

# up to as many features, and fewer than rows, Newton's method is quicker
_NEWTON_FEATURES = {"squared_hinge": 512, "logistic": 128}
_FEW_FEATURES = 32  # it is quick for as many whatever the rows, and exact
_COSTS = (1e-100, 1e6)  # bounds of C: rows may be next to nothing
_LANES = 16  # classifiers of a node that are trained at a time: two cache lines of weights


class LinearRouter(Router):
    """Tell the options of every node apart by linear classifiers.

    All classifiers of a node are trained together, on the rows below it, by coordinate descent in
    the dual or, where there are few features and more rows, by Newton's method; two options that
    share no class need one classifier only. The objective is that of scikit-learn's LinearSVC and
    of liblinear: the bias is regularized like a weight.

    Parameters
    ----------
    loss : {"squared_hinge", "logistic"}
        With "squared_hinge" an option scores ``-max(0, 1 - margin)^2``, with "logistic" the
        logarithm of its share of the sigmoids at the node.
    against : {"rest", "each"}
        Whether a classifier tells an option from the rest of the node, or every two options have
        one of their own, on the rows below these: more dot products, and more accuracy where there
        are few features. With "each" an option scores the mean over the others; the loss is then
        "squared_hinge".
    C : "scale" or float
        Weight of the loss against the squared norm of the weights. "scale" is 3 for rows of length
        one, such as tf-idf, and less for longer ones: 3 over the mean squared length to the power
        3/4, found by cross-validation on text, measurements and drawings.
    prune : float
        Weights of at most this size are dropped after training. Predictions are quicker and the
        model smaller, and accuracy suffers once it is a good part of the typical weight.
    tol : float
        Where to stop: the spread of the projected gradients.
    max_iter : int
        Most passes over the rows of a node.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale
    linear SVM, ICML 2008.
    Yu, Huang, Lin, Dual coordinate descent methods for logistic regression and maximum entropy
    models, Machine Learning 85, 2011.

    Examples
    --------
    >>> LinearRouter(loss="logistic", C=10.0)
    LinearRouter(C=10.0, loss='logistic')
    """

    def __init__(
        self,
        loss: str = "squared_hinge",
        *,
        against: str = "rest",
        C: float | str = "scale",
        prune: float = 0.0,
        tol: float = 0.01,
        max_iter: int = 1000,
    ) -> None:
        self.loss = loss
        self.against = against
        self.C = C
        self.prune = prune
        self.tol = tol
        self.max_iter = max_iter

    def train(self, problem: RoutingProblem) -> LinearRoutes:
        """Train the classifiers of all nodes; see `Router.train`."""
        tasks_of = _pairs_of if self.against == "each" else _tasks_of
        nodes = range(problem.table.n_nodes)
        return self._train(problem, [task for node in nodes for task in tasks_of(problem, node)])

    def train_pairs(self, problem: RoutingProblem, pairs: NDArray[np.int32]) -> LinearRoutes:
        """Train a classifier of two classes at every node, on the rows of these two alone.

        Parameters
        ----------
        problem : RoutingProblem
            Nodes have two options each.
        pairs : int array of shape (n_nodes, 2)
            Classes that the first option and the second of every node stand for.
        """
        signs = np.array([[-1], [1]], dtype=np.int8)
        return self._train(problem, [_Task(node, pair, signs) for node, pair in enumerate(pairs)])

    def _train(self, problem: RoutingProblem, tasks: list[_Task]) -> LinearRoutes:
        self._check()
        rows = FlatRows.of(problem.X)
        C = _scaled_cost(rows, problem.weights) if self.C == "scale" else float(self.C)
        with threadpool_limits(1, user_api="blas"):  # small matrices: threads get in the way
            trained = problem.run(lambda task: self._solve(problem, rows, task, C), tasks)
        unsettled = sum(passes >= self.max_iter for _, _, passes in trained)
        if unsettled:
            warnings.warn(
                f"{unsettled} of {len(tasks)} descents did not settle within max_iter="
                f"{self.max_iter} passes. Scale the features, or raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        blocks: list[list[_Lines]] = [[] for _ in range(problem.table.n_nodes)]
        for task, (weights, bias, _) in zip(tasks, trained, strict=True):
            blocks[task.node].append((weights, bias))
        joined = [_join(parts, rows.n_features) for parts in blocks]
        most = max((passes for _, _, passes in trained), default=0)
        link = "pairs" if self.against == "each" else self.loss
        return LinearRoutes(problem.table, joined, rows.n_features, link, most)

    def _check(self) -> None:
        if self.loss not in ("squared_hinge", "logistic"):
            raise PalmetteError(
                f"loss={self.loss!r} is unknown: expected 'squared_hinge' or 'logistic'."
            )
        if self.against not in ("rest", "each"):
            raise PalmetteError(f"against={self.against!r} is unknown: expected 'rest' or 'each'.")
        if self.against == "each" and self.loss != "squared_hinge":
            raise PalmetteError(
                f"against='each' with loss={self.loss!r}: expected loss='squared_hinge'."
            )
        if isinstance(self.C, str) and self.C != "scale":
            raise PalmetteError(f"C={self.C!r}: expected 'scale' or a positive number.")
        for name in ("C", "tol", "max_iter"):
            given = getattr(self, name)
            if not isinstance(given, str) and not given > 0:
                raise PalmetteError(f"{name}={given!r}: expected a positive number.")
        if not self.prune >= 0:
            raise PalmetteError(f"prune={self.prune!r}: expected a number of at least 0.")

    def _solve(
        self, problem: RoutingProblem, X: FlatRows, task: _Task, C: float
    ) -> tuple[sparse.csr_array, FloatArray, int]:
        """Train some classifiers of one node: weights (n_features, n_lanes), biases, passes."""
        from palmette.class_tree._dual_descent import (
            compact_columns,
            logistic_lanes,
            squared_hinge_lanes,
        )
        from palmette.class_tree._newton import logistic_newton, squared_hinge_newton

        rows, member = problem.rows_of(task.classes)
        if X.is_dense:
            used, local, starts = X.columns, X.columns, X.column_starts[rows]
        else:
            used, local, starts = compact_columns(
                X.columns, X.column_starts, X.lengths, rows, X.n_features
            )
        costs = np.full(len(rows), C)
        if problem.weights is not None:
            costs *= problem.weights[rows]
        lines = np.zeros((len(used) + 1, task.signs.shape[1]))
        data = (X.values, X.value_starts, X.lengths, local, starts, rows, member, task.signs, costs)
        hinge = self.loss == "squared_hinge"
        if len(used) <= max(_FEW_FEATURES, min(_NEWTON_FEATURES[self.loss], len(rows) - 1)):
            newton = squared_hinge_newton if hinge else logistic_newton
            passes = newton(*data, int(self.max_iter), lines)
        else:
            state = np.array([problem.seed or 0], dtype=np.uint64)
            descend = squared_hinge_lanes if hinge else logistic_lanes
            passes = descend(*data, float(self.tol), int(self.max_iter), state, lines)
        return _pack(lines[:-1], used, X.n_features, self.prune), lines[-1].copy(), passes


class _Task(NamedTuple):
    """Some classifiers of a node: its classes, and their targets (n_classes, n_lanes)."""

    node: int
    classes: NDArray[np.int32]
    signs: NDArray[np.int8]


def _scaled_cost(rows: FlatRows, weights: FloatArray | None) -> float:
    """What C="scale" comes to; 1 where all rows are zero."""
    squares = np.append(np.cumsum(rows.values**2), 0.0)  # place -1 is what precedes the first
    ends = rows.value_starts + rows.lengths
    mean = float(np.average(squares[ends - 1] - squares[rows.value_starts - 1], weights=weights))
    return float(np.clip(3.0 / mean**0.75, *_COSTS)) if mean > 0 else 1.0


def _tasks_of(problem: RoutingProblem, node: int) -> list[_Task]:
    """The classifiers of a node, so many at a time that their weights stay near."""
    if problem.table.sizes[node] < 2:
        return []
    classes, within = problem.table.family(node)
    if problem.table.sizes[node] == 2 and within.nnz == len(classes):
        within = within[1:]  # no class on both sides: one classifier serves
    tasks = []
    for start in range(0, within.shape[0], _LANES):
        reached = within[start : start + _LANES].toarray().T
        tasks.append(_Task(node, classes, np.where(reached, 1, -1).astype(np.int8)))
    return tasks


def _pairs_of(problem: RoutingProblem, node: int) -> list[_Task]:
    """A classifier for every two options of a node, over the classes that only one of them has."""
    classes, within = problem.table.family(node)
    member = within.toarray().astype(bool)
    tasks = []
    for k, other in combinations(range(len(member)), 2):
        apart = member[k] != member[other]
        signs = np.where(member[other][apart], 1, -1).astype(np.int8)
        tasks.append(_Task(node, classes[apart], signs[:, None]))
    return tasks


def _pack(
    lines: FloatArray, used: NDArray[np.int32], n_features: int, prune: float
) -> sparse.csr_array:
    """Weights above a size as a sparse array of shape (n_features, n_lanes)."""
    kept = np.abs(lines) > prune
    counts = np.zeros(n_features + 1, dtype=np.int64)
    counts[used + 1] = kept.sum(axis=1)
    indices = np.nonzero(kept)[1].astype(np.int32)
    shape = (n_features, lines.shape[1])
    return sparse.csr_array((lines[kept], indices, np.cumsum(counts)), shape=shape)


def _join(parts: list[_Lines], n_features: int) -> _Lines:
    """All classifiers of a node side by side."""
    if not parts:
        return sparse.csr_array((n_features, 0)), np.empty(0)
    if len(parts) == 1:
        return parts[0]
    weights = sparse.hstack([weights for weights, _ in parts], format="csr")
    return weights, np.concatenate([bias for _, bias in parts])
