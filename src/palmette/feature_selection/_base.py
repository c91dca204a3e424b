"""FeatureScore: the problem that a score is given, and the scores that it returns per node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import Parallel, delayed

from palmette._arrays import FloatArray, IntArray, take_rows
from palmette.labels._space import LabelSpace, TaskRows, TaskTable


@dataclass(frozen=True, eq=False)
class NodeTask:
    """The local classification problem of one node, whose classes are its options.

    Parameters
    ----------
    node : int
        Number of the node in the hierarchy.
    rows : int array of shape (n_rows,)
        Rows below the node, ascending.
    codes : int array of shape (n_rows,)
        Option of each row, from 0 to ``n_options - 1``.
    options : int array of shape (n_options,)
        Node of each option, ascending; the node itself if paths end at it.
    """

    node: int
    rows: IntArray
    codes: IntArray
    options: IntArray

    @property
    def n_options(self) -> int:
        """Number of options."""
        return len(self.options)


@dataclass(eq=False)
class ScoringProblem:
    """Rows, and the local problems of the nodes that have at least two options.

    Parameters
    ----------
    X : float64 array or CSR array of shape (n_samples, n_features)
    space : LabelSpace
    classes : int array of shape (n_samples,)
        Class of every row, as a position in ``space.classes``.
    weights : array of shape (n_samples,), optional
    n_jobs : int, optional
    seed : int
    n_wanted : int, optional
        Maximum number of features that will be selected at a node; None if unknown. Scores that
        rank features one after another may stop there.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    >>> space = LabelSpace(h, h.leaves)
    >>> problem = ScoringProblem(np.zeros((4, 2)), space, np.array([0, 1, 2, 2], dtype=np.int32))
    >>> [(task.node, task.codes.tolist()) for task in problem.tasks()]
    [(0, [0, 0, 1, 1]), (1, [0, 1])]
    >>> problem.parents.tolist()
    [-1, 0]
    """

    X: Any
    space: LabelSpace
    classes: IntArray
    weights: FloatArray | None = None
    n_jobs: int | None = None
    seed: int = 0
    n_wanted: int | None = None

    def __post_init__(self) -> None:
        self._table = TaskTable.per_parent(self.space)
        self._rows = TaskRows(self.classes, self.space.n_classes)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @cached_property
    def nodes(self) -> IntArray:
        """Nodes with a task in preorder, of shape (n_tasks,)."""
        return np.array([task.key for task in self._table.tasks], dtype=np.int32)

    @cached_property
    def parents(self) -> IntArray:
        """Task of the nearest ancestor that has one, of shape (n_tasks,); -1 if there is none.

        Nodes with one option have no task and are skipped.
        """
        place = {int(node): t for t, node in enumerate(self.nodes)}
        above = self.space.hierarchy.parents
        found = np.full(len(self.nodes), -1, dtype=np.int32)
        for t, node in enumerate(self.nodes.tolist()):
            parent = int(above[node])
            while parent >= 0 and parent not in place:
                parent = int(above[parent])
            found[t] = place.get(parent, -1)
        return found

    def task(self, t: int) -> NodeTask:
        """Return the local problem of a task."""
        task = self._table.tasks[t]
        rows, options = self._rows.select(task)
        codes = np.searchsorted(task.options, options).astype(np.int32)
        return NodeTask(task.key, rows, codes, task.options)

    def tasks(self) -> Iterator[NodeTask]:
        """Yield the local problems in the order of `nodes`."""
        return (self.task(t) for t in range(len(self.nodes)))


@dataclass
class NodeScores:
    """Scores of features at nodes.

    Parameters
    ----------
    values : iterator or sequence of arrays of shape (n_features,)
        One array per task, in the order of ``ScoringProblem.nodes``; larger is better, all values
        are finite and at least 0. Or a CSR array of shape (n_tasks, n_features).
    facts : dict
        Further results: attributes of the fitted selector by name, such as ``objective_`` or
        ``dual_gap_``.
    sparse_is_final : bool
        Whether features of score 0 are never selected, as in sparse models, even if fewer features
        than requested are left.
    """

    values: Any
    facts: dict[str, Any]
    sparse_is_final: bool = False

    def rows(self) -> Iterator[FloatArray]:
        """Yield the scores of one task after another."""
        if sparse.issparse(self.values):
            matrix = sparse.csr_array(self.values)
            for t in range(matrix.shape[0]):
                yield matrix[[t]].toarray()[0]
        else:
            yield from self.values


class FeatureScore(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that scores the features of every node.

    A score is a scikit-learn estimator without `fit`: it stores nothing but the parameters of
    ``__init__``. The results are returned by `score`.
    """

    takes_sparse = True  # whether X may be sparse; otherwise sparse X raises an error

    @abstractmethod
    def score(self, problem: ScoringProblem) -> NodeScores:
        """Score all features at all nodes.

        Parameters
        ----------
        problem : ScoringProblem

        Returns
        -------
        NodeScores
        """


class NodeData:
    """The rows of one node's local problem.

    Parameters
    ----------
    X : float64 array or CSR array of shape (n_rows, n_features)
    codes : int array of shape (n_rows,)
        Option of each row.
    n_options : int
    weights : array of shape (n_rows,), optional
    seed : int
        Seed of this node; it does not depend on the order in which nodes are scored.
    n_wanted : int, optional
        Maximum number of features that will be selected; all by default.
    """

    def __init__(
        self,
        X: Any,
        codes: IntArray,
        n_options: int,
        weights: FloatArray | None = None,
        seed: int = 0,
        n_wanted: int | None = None,
    ) -> None:
        self.X = X
        self.codes = codes
        self.n_options = n_options
        self.weights = weights
        self.seed = seed
        self.n_wanted = X.shape[1] if n_wanted is None else min(n_wanted, X.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def row_weights(self) -> FloatArray:
        """Return the weights, of shape (n_rows,); ones if none were given."""
        return np.ones(self.n_rows) if self.weights is None else self.weights


def node_data(problem: ScoringProblem, task: NodeTask) -> NodeData:
    """Return the rows of a node; X itself, without a copy, if the node has all rows."""
    X, weights = problem.X, problem.weights
    if len(task.rows) < X.shape[0]:
        X = take_rows(X, task.rows)
        weights = None if weights is None else weights[task.rows]
    # the seed of a node depends neither on the other nodes nor on n_jobs
    seed = int(np.random.default_rng([problem.seed, task.node]).integers(2**31 - 1))
    return NodeData(X, task.codes, task.n_options, weights, seed, problem.n_wanted)


def each_node(problem: ScoringProblem, rule: Callable[[NodeData], Any]) -> Iterator[Any]:
    """Yield the result of a function for every task, in the order of ``problem.nodes``.

    Parameters
    ----------
    problem : ScoringProblem
        ``n_jobs`` tasks are scored at a time, in threads.
    rule : callable
        Function of `NodeData`.
    """
    if effective_n_jobs(problem.n_jobs) == 1 or len(problem.nodes) == 1:
        return (rule(node_data(problem, task)) for task in problem.tasks())
    parallel = Parallel(n_jobs=problem.n_jobs, prefer="threads", return_as="generator")
    results: Iterator[Any] = parallel(
        delayed(rule)(node_data(problem, task)) for task in problem.tasks()
    )
    return results
