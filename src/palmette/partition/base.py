"""What a partition sees, and what it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette.core.statistics import ClassStatistics, Moments

__all__ = ["ClassProblem", "Partition", "least_side"]

IntArray = NDArray[np.int32]


def least_side(n_classes: int, min_side: float) -> int:
    """Fewest classes on the smaller side of a group: its share, rounded up, and never above half.

    Examples
    --------
    >>> [least_side(n, 0.25) for n in (3, 5, 8, 9)]
    [1, 2, 2, 3]
    """
    share = int(np.ceil(min_side * n_classes - 1e-9))  # .1 * 30 is a little above 3
    return max(1, min(share, n_classes // 2))


class ClassProblem:
    """Rows and their classes, read as often as a partition asks and no more.

    Most partitions need the statistics of the classes only, which are gathered once, in one pass.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    codes : int array of shape (n_samples,)
        Class of every row, from 0 to ``n_classes - 1``; every class has a row.
    n_classes : int
    weights : array of shape (n_samples,), optional
    seed : int
        For partitions that draw.
    n_jobs : int, optional
    """

    def __init__(
        self,
        X: Any,
        codes: IntArray,
        n_classes: int,
        weights: NDArray[np.float64] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.X = X
        self.codes = codes
        self.n_classes = n_classes
        self.weights = weights
        self.seed = seed
        self.n_jobs = n_jobs

    @cached_property
    def statistics(self) -> ClassStatistics:
        """Weights and sums of the classes; sums are sparse where X is."""
        return self.gather("mean")

    def gather(self, moments: Moments) -> ClassStatistics:
        """Gather statistics of the classes with the second moments named."""
        return ClassStatistics.gather(self.X, self.codes, self.n_classes, self.weights, moments)

    @cached_property
    def rows_of(self) -> list[NDArray[np.intp]]:
        """Rows of every class."""
        order = np.argsort(self.codes, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.codes, minlength=self.n_classes))[:-1])

    def rng(self, *key: int) -> np.random.Generator:
        """Return a generator for one place of the tree: the same whatever was drawn elsewhere."""
        return np.random.default_rng([self.seed, *key])


class Partition(BaseEstimator, ABC):
    """A rule that divides the classes of a node.

    A partition is a scikit-learn estimator without `fit`: parameters are set in ``__init__`` and
    nothing else is kept on it. What it computes once for a problem it returns from `begin`.
    """

    may_overlap = False  # whether a class may go to several groups
    one_blas_thread = False  # whether its many small matrices are quicker without threads

    def begin(self, problem: ClassProblem) -> Any:
        """Compute what all nodes share; it is handed to `split` again and again."""
        return problem

    @abstractmethod
    def split(self, state: Any, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node.

        Parameters
        ----------
        state : object
            What `begin` returned.
        classes : int array of shape (n_here,), ascending
            At least three, all different.
        node : int
            Number of the node, in the order in which nodes are split; for generators.

        Returns
        -------
        list of int arrays, ascending
            Two groups or more. An empty group, or one that holds all classes, means that no
            division was found: the engine then falls back on halves.
        """
