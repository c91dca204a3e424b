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
from palmette.base._column_units import Kind
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace, TaskRows, TaskTable


@dataclass(frozen=True, eq=False)
class NodeTask:
    """The local classification problem of one node, whose classes are its options.

    Parameters
    ----------
    node : int
        Number of the node in the hierarchy.
    rows : int array of shape (n_rows,)
        Rows below the node, ascending; a row with several true options may be there several times.
    codes : int array of shape (n_rows,)
        Option of each row, from 0 to ``n_options - 1``; empty if there are `answers`.
    options : int array of shape (n_options,)
        Node of each option, ascending; the node itself if paths end at it.
    answers : sparse bool array of shape (n_rows, n_options), optional
        True options of each row, where every option is a yes/no question.
    """

    node: int
    rows: IntArray
    codes: IntArray
    options: IntArray
    answers: sparse.csr_array | None = None

    @property
    def n_options(self) -> int:
        """Number of options."""
        return len(self.options)


class PathTasks:
    """The local problems of one path per row in a tree.

    Parameters
    ----------
    space : LabelSpace
    classes : int array of shape (n_samples,)
        Class of every row, as a position in ``space.classes``.
    """

    adds_up = True  # every row below a node is below at most one of its children

    def __init__(self, space: LabelSpace, classes: IntArray) -> None:
        self._table = TaskTable.per_parent(space)
        self._rows = TaskRows(classes, space.n_classes)
        self.hierarchy, self.n_levels = space.hierarchy, int(space.depth.max(initial=0))
        self.nodes = np.array([task.key for task in self._table.tasks], dtype=np.int32)

    def task(self, t: int) -> NodeTask:
        """Return the local problem of a task."""
        task = self._table.tasks[t]
        rows, options = self._rows.select(task)
        codes = np.searchsorted(task.options, options).astype(np.int32)
        return NodeTask(task.key, rows, codes, task.options)


class SetTasks:
    """The local problems of several paths per row, or of a DAG.

    The rows of a node are those for which it is true. Its options are the children that are true
    for some of them, and the node itself if none is true for some of them.

    Parameters
    ----------
    hierarchy : Hierarchy
    true : sparse bool array of shape (n_samples, n_nodes)
        True nodes of every row, with all of their ancestors.
    yes_no : bool
        Whether every child that is true for some rows and false for others is a yes/no question;
        otherwise a row counts once for each of its true options.
    """

    adds_up = False

    def __init__(self, hierarchy: Hierarchy, true: sparse.csr_array, yes_no: bool) -> None:
        self.hierarchy, self._yes_no = hierarchy, yes_no
        self._true = sparse.csc_array(true)
        self._n_rows = np.diff(self._true.indptr)
        edges = hierarchy.edges[np.lexsort((hierarchy.edges[:, 1], hierarchy.edges[:, 0]))]
        edges = edges[self._n_rows[edges[:, 1]] > 0]
        self._children = {
            int(node): edges[edges[:, 0] == node, 1].astype(np.int32)
            for node in np.unique(edges[:, 0])
        }
        self.n_levels = int(hierarchy.depth.max(initial=0))
        found = [node for node in self._children if self._is_task(node)]
        self.nodes = np.array(found, dtype=np.int32)

    def _rows_of(self, node: int) -> IntArray:
        if node == 0:  # also of rows without a label
            return np.arange(self._true.shape[0], dtype=np.int32)
        start, stop = self._true.indptr[node : node + 2]
        return np.sort(self._true.indices[start:stop]).astype(np.int32)

    def _is_task(self, node: int) -> bool:
        task = self._task(node)
        return task.n_options >= (1 if self._yes_no else 2)

    def task(self, t: int) -> NodeTask:
        """Return the local problem of a task."""
        return self._task(int(self.nodes[t]))

    def _task(self, node: int) -> NodeTask:
        rows, options = self._rows_of(node), self._children[node]
        answers = sparse.csr_array(sparse.csr_array(self._true[:, options])[rows])
        if self._yes_no:
            varies = self._n_rows[options] < len(rows)
            answers = sparse.csr_array(answers[:, varies])
            return NodeTask(node, rows, np.empty(0, np.int32), options[varies], answers)
        answers.sort_indices()
        counts = np.diff(answers.indptr)
        ends = (counts == 0) & (node > 0)  # at the root such rows have no label, and are left out
        places = np.concatenate([np.repeat(np.arange(len(rows)), counts), np.flatnonzero(ends)])
        shift = int(ends.any())  # the node itself comes before its children
        codes = np.concatenate([answers.indices + shift, np.zeros(ends.sum(), dtype=np.int32)])
        order = np.argsort(places, kind="stable")
        options = np.concatenate([np.full(shift, node, dtype=np.int32), options])
        return NodeTask(node, rows[places[order]], codes[order].astype(np.int32), options)


@dataclass(eq=False)
class ScoringProblem:
    """Rows, and the local problems of the nodes that have at least two options.

    Parameters
    ----------
    X : float64 array or CSR array of shape (n_samples, n_features)
    space : LabelSpace or Hierarchy
        A hierarchy for several paths per row, or a DAG.
    classes : int array of shape (n_samples,), or sparse bool array of shape (n_samples, n_nodes)
        Class of every row, as a position in ``space.classes``; with a hierarchy, the true nodes of
        every row, with all of their ancestors.
    weights : array of shape (n_samples,), optional
    n_jobs : int, optional
    seed : int
    n_wanted : int, optional
        Maximum number of features that will be selected at a node; None if unknown. Scores that
        rank features one after another may stop there.
    yes_no : bool
        See `SetTasks`; with a hierarchy only.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    >>> space = LabelSpace(h, h.leaves)
    >>> problem = ScoringProblem(np.zeros((4, 2)), space, np.array([0, 1, 2, 2], dtype=np.int32))
    >>> [(task.node, task.codes.tolist()) for task in problem.tasks()]
    [(0, [0, 0, 1, 1]), (1, [0, 1])]
    >>> problem.above
    [[], [0]]
    """

    X: Any
    space: LabelSpace | Hierarchy
    classes: Any
    weights: FloatArray | None = None
    n_jobs: int | None = None
    seed: int = 0
    n_wanted: int | None = None
    yes_no: bool = False

    def __post_init__(self) -> None:
        self._tasks: PathTasks | SetTasks
        if isinstance(self.space, LabelSpace):
            self._tasks = PathTasks(self.space, self.classes)
        else:
            self._tasks = SetTasks(self.space, self.classes, self.yes_no)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of the nodes."""
        return self._tasks.hierarchy

    @property
    def n_levels(self) -> int:
        """Depth of the deepest node."""
        return self._tasks.n_levels

    @property
    def adds_up(self) -> bool:
        """Whether every row below a node is below at most one of its children."""
        return self._tasks.adds_up

    @property
    def nodes(self) -> IntArray:
        """Nodes with a task in ascending order, of shape (n_tasks,)."""
        return self._tasks.nodes

    @cached_property
    def above(self) -> list[list[int]]:
        """Tasks of the parents of every task, ascending; several in a DAG.

        Nodes without a task are skipped: their parents take their place.
        """
        place = {int(node): t for t, node in enumerate(self.nodes)}
        edges = self.hierarchy.edges
        parents: list[list[int]] = [[] for _ in range(self.hierarchy.n_nodes)]
        for parent, child in edges.tolist():
            parents[child].append(parent)
        found = []
        for node in self.nodes.tolist():
            near, left = set(), list(parents[node])
            while left:
                parent = left.pop()
                if parent in place:
                    near.add(place[parent])
                else:
                    left.extend(parents[parent])
            found.append(sorted(near))
        return found

    @property
    def parents(self) -> IntArray:
        """First task of `above`, -1 where there is none, of shape (n_tasks,): all in a tree."""
        return np.array([min(each, default=-1) for each in self.above], dtype=np.int32)

    def task(self, t: int) -> NodeTask:
        """Return the local problem of a task."""
        return self._tasks.task(t)

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

    def _kind_of_units(self) -> Kind:
        """Return what the score makes of columns, by which they get other units if need be."""
        return "columns"

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
    answers : sparse bool array of shape (n_rows, n_options), optional
        True options of each row, if options are yes/no questions; then there are no codes.
    """

    def __init__(
        self,
        X: Any,
        codes: IntArray,
        n_options: int,
        weights: FloatArray | None = None,
        seed: int = 0,
        n_wanted: int | None = None,
        answers: sparse.csr_array | None = None,
    ) -> None:
        self.X = X
        self.codes = codes
        self.n_options = n_options
        self.weights = weights
        self.seed = seed
        self.answers = answers
        self.n_wanted = X.shape[1] if n_wanted is None else min(n_wanted, X.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def indicators(self) -> FloatArray:
        """Return 0/1 targets of the options, of shape (n_rows, n_options)."""
        if self.answers is None:
            return np.asarray(np.eye(self.n_options)[self.codes])
        return np.asarray(self.answers.toarray(), dtype=np.float64)

    def row_weights(self) -> FloatArray:
        """Return the weights, of shape (n_rows,); ones if none were given."""
        return np.ones(self.n_rows) if self.weights is None else self.weights


def node_data(problem: ScoringProblem, task: NodeTask) -> NodeData:
    """Return the rows of a node; X itself, without a copy, if the node has all rows."""
    X, weights = problem.X, problem.weights
    if len(task.rows) != X.shape[0] or not problem.adds_up:
        X = take_rows(X, task.rows)
        weights = None if weights is None else weights[task.rows]
    # the seed of a node depends neither on the other nodes nor on n_jobs
    seed = int(np.random.default_rng([problem.seed, task.node]).integers(2**31 - 1))
    settings = (weights, seed, problem.n_wanted, task.answers)
    return NodeData(X, task.codes, task.n_options, *settings)


def each_node(
    problem: ScoringProblem, rule: Callable[[NodeData], Any], *, joint: bool = False
) -> Iterator[Any]:
    """Yield the result of a function for every task, in the order of ``problem.nodes``.

    Parameters
    ----------
    problem : ScoringProblem
        ``n_jobs`` tasks are scored at a time, in threads.
    rule : callable
        Function of `NodeData`. Where options are yes/no questions it is called for each of them,
        and the mean of the scores is yielded.
    joint : bool
        Whether the function takes all yes/no questions of a node together, as ``answers``.
    """

    def result(task: NodeTask) -> Any:
        data = node_data(problem, task)
        return rule(data) if joint or data.answers is None else _mean_score(rule, data)

    if effective_n_jobs(problem.n_jobs) == 1 or len(problem.nodes) == 1:
        return (result(task) for task in problem.tasks())
    parallel = Parallel(n_jobs=problem.n_jobs, prefer="threads", return_as="generator")
    results: Iterator[Any] = parallel(delayed(result)(task) for task in problem.tasks())
    return results


def _mean_score(rule: Callable[[NodeData], Any], data: NodeData) -> FloatArray:
    """Return the mean over yes/no questions of the scores of all features."""
    answers, total = data.indicators().astype(np.int32), np.zeros(data.n_features)
    for codes in answers.T:
        total += rule(NodeData(data.X, codes, 2, data.weights, data.seed, data.n_wanted))
    mean: FloatArray = total / answers.shape[1]
    return mean
