"""What a router sees, and what it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette.core.rows import take_rows
from palmette.routing.options import OptionTable

__all__ = ["Router", "Routes", "RoutingProblem"]

FloatArray = NDArray[np.float64]
Run = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]


def _one_by_one(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    return [function(item) for item in items]


class RoutingProblem:
    """Rows, their classes, and the options that lead to them.

    Parameters
    ----------
    X : rows
        Whatever the router takes: it is never copied per node.
    codes : int array of shape (n_samples,)
        Class of every row; every class has a row.
    table : OptionTable
    weights : array of shape (n_samples,), optional
    seed : int or None
        None leaves the seeds of estimators alone.
    run : callable, optional
        Applies a function to items and gives the answers in order: in threads, say.
    """

    def __init__(
        self,
        X: Any,
        codes: NDArray[np.int32],
        table: OptionTable,
        weights: FloatArray | None = None,
        seed: int | None = None,
        run: Run = _one_by_one,
    ) -> None:
        self.X = X
        self.codes = codes
        self.table = table
        self.weights = weights
        self.seed = seed
        self.run = run

    def restrict(self, rows: NDArray[np.int64]) -> RoutingProblem:
        """Return the problem of some rows, one of every class among them."""
        weights = None if self.weights is None else self.weights[rows]
        X, codes = take_rows(self.X, rows), self.codes[rows]
        return RoutingProblem(X, codes, self.table, weights, self.seed, self.run)

    @cached_property
    def _rows_by_class(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self.codes, kind="stable").astype(np.int64)
        counts = np.bincount(self.codes, minlength=self.table.n_classes)
        return order, np.concatenate([[0], np.cumsum(counts)])

    def rows_of(self, classes: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Rows of some classes, in their order, and the position in `classes` of each row."""
        order, starts = self._rows_by_class
        sizes = starts[classes + 1] - starts[classes]
        member = np.repeat(np.arange(len(classes), dtype=np.int32), sizes)
        within = np.arange(len(member)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return order[starts[classes][member] + within], member


class Routes(ABC):
    """Fitted classifiers of all nodes: they score the options of a node.

    Scores add up along a path, and the path of the greatest sum is the best.
    """

    are_log_proba = True  # whether scores are logarithms of shares that sum to one at every node

    def prepare(self, X: Any) -> Any:
        """Read rows once, in the form that `score` takes."""
        return X

    @abstractmethod
    def score(
        self, X: Any, rows: NDArray[np.int64], nodes: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> FloatArray:
        """Score the options of a node for every pair of a row and a node.

        Parameters
        ----------
        X : object
            What `prepare` returned.
        rows, nodes : int arrays of shape (n_pairs,)
            Ordered by node.
        starts : int array of shape (n_pairs + 1,)
            Scores of pair ``p`` are to stand at ``starts[p]:starts[p + 1]``.

        Returns
        -------
        array of shape (starts[-1],)
        """

    def score_all(self, X: Any) -> FloatArray | None:
        """Score the options of all nodes for every row, where that is quicker than node by node.

        Parameters
        ----------
        X : object
            What `prepare` returned.

        Returns
        -------
        array of shape (n_samples, n_options), or None
        """
        return None


class Router(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that trains the classifiers of the nodes of a class tree.

    A router is a scikit-learn estimator without `fit`: parameters are set in ``__init__`` and
    nothing else is kept on it. What it learns it returns from `train`.
    """

    takes_any_rows = False  # whether rows may be tables or texts, not only numbers
    takes_sparse = True  # whether rows may be a sparse matrix

    @abstractmethod
    def train(self, problem: RoutingProblem) -> Routes:
        """Train the classifiers of all nodes."""
