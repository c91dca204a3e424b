"""Scores that look at one node at a time: its rows, its options, its weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from palmette.core.rows import take_rows
from palmette.scoring.base import NodeTask, ScoringProblem

__all__ = ["NodeData", "each_node", "node_data"]

FloatArray = NDArray[np.float64]


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
        For this node; it does not depend on the order in which nodes are scored.
    n_wanted : int
        How many features will be chosen, at most.
    """

    def __init__(
        self,
        X: Any,
        codes: NDArray[np.int32],
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
        """Return the weights, ones where there are none: of shape (n_rows,)."""
        return np.ones(self.n_rows) if self.weights is None else self.weights


def node_data(problem: ScoringProblem, task: NodeTask) -> NodeData:
    """Cut out the rows of a node; the data themselves where it has all of them."""
    X, weights = problem.X, problem.weights
    if len(task.rows) < X.shape[0]:
        X = take_rows(X, task.rows)
        weights = None if weights is None else weights[task.rows]
    # a seed of its own for every node, however many jobs share the work
    seed = int(np.random.default_rng([problem.seed, task.node]).integers(2**31 - 1))
    return NodeData(X, task.codes, task.n_options, weights, seed, problem.n_wanted)


def each_node(problem: ScoringProblem, rule: Callable[[NodeData], Any]) -> Iterator[Any]:
    """Yield what a rule gives for every task, in the order of ``problem.nodes``.

    Parameters
    ----------
    problem : ScoringProblem
        Its ``n_jobs`` tasks are scored at a time, in threads.
    rule : callable
        Takes `NodeData`.
    """
    if effective_n_jobs(problem.n_jobs) == 1 or len(problem.nodes) == 1:
        return (rule(node_data(problem, task)) for task in problem.tasks())
    parallel = Parallel(n_jobs=problem.n_jobs, prefer="threads", return_as="generator")
    answers: Iterator[Any] = parallel(
        delayed(rule)(node_data(problem, task)) for task in problem.tasks()
    )
    return answers
