"""Class trees: a partition, applied from the root down, divides classes into groups.

`ClassProblem` is what a partition reads, `Partition` is the rule, `grow_class_tree` applies it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette._arrays import canonical_rows
from palmette.base._class_moments import Run
from palmette.base._fitting import one_blas_thread
from palmette.base._statistics import ClassStatistics, Moments
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

IntArray = NDArray[np.int32]


def least_side(n_classes: int, min_side: float) -> int:
    """Return the minimum number of classes on a side: the share, rounded up, at most half.

    Parameters
    ----------
    n_classes : int
    min_side : float
        Share of the classes, from 0 to .5.

    Examples
    --------
    >>> [least_side(n, 0.25) for n in (3, 5, 8, 9)]
    [1, 2, 2, 3]
    """
    share = int(np.ceil(min_side * n_classes - 1e-9))  # .1 * 30 is a little above 3
    return max(1, min(share, n_classes // 2))


def assign_with_capacity(distances: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Assign classes to near clusters of at most `size` classes each; return their clusters.

    Every class is assigned to its nearest cluster; a cluster that is too large refuses its farthest
    classes, which are assigned to their next nearest cluster. The result does not depend on the
    order in which clusters refuse classes.

    Parameters
    ----------
    distances : array of shape (n_classes, k)
        Ties are decided in favour of the first cluster and of the first class.
    size : int

    Examples
    --------
    >>> assign_with_capacity(np.array([[1.0, 9.0], [2.0, 3.0], [3.0, 9.0]]), 2).tolist()
    [0, 0, 1]
    """
    n_classes, k = distances.shape
    preferences = np.argsort(distances, axis=1, kind="stable")
    n_refusals = np.zeros(n_classes, dtype=np.int64)  # number of clusters that refused the class
    while True:
        assigned = preferences[np.arange(n_classes), n_refusals]
        too_large = np.flatnonzero(np.bincount(assigned, minlength=k) > size)
        if not len(too_large):
            return assigned
        for cluster in too_large.tolist():
            members = np.flatnonzero(assigned == cluster)
            order = np.argsort(distances[members, cluster], kind="stable")
            n_refusals[members[order[size:]]] += 1


@dataclass(eq=False)
class ClassProblem:
    """Rows and their classes: what a partition reads.

    Most partitions need only the statistics of the classes, which are gathered once, in one pass.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    codes : int array of shape (n_samples,)
        Class of every row, from 0 to ``n_classes - 1``; every class has a row.
    n_classes : int
    weights : array of shape (n_samples,), optional
    seed : int
        For partitions that draw random numbers.
    n_jobs : int, optional
        Number of jobs, for partitions that fit several models.
    run : callable, optional
        Applies a function to items and returns the results in order, in the threads of the fit.
    exponent : int
        Of the power of two that X was multiplied by.

    Attributes
    ----------
    statistics : ClassStatistics
        Weights and sums of the classes.
    rows_of : list of int arrays
        Row numbers of every class.
    """

    X: Any
    codes: IntArray
    n_classes: int
    weights: NDArray[np.float64] | None = None
    seed: int = 0
    n_jobs: int | None = None
    run: Run | None = None
    exponent: int = 0

    def __post_init__(self) -> None:
        self.X = canonical_rows(self.X)

    @cached_property
    def statistics(self) -> ClassStatistics:
        """Weights and sums of the classes; sums are sparse where X is."""
        return self.gather("mean")

    def gather(self, moments: Moments) -> ClassStatistics:
        """Gather statistics of the classes with the given second moments."""
        return ClassStatistics.gather(
            self.X, self.codes, self.n_classes, self.weights, moments, run=self.run
        )

    @cached_property
    def rows_of(self) -> list[NDArray[np.intp]]:
        """Rows of every class."""
        order = np.argsort(self.codes, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.codes, minlength=self.n_classes))[:-1])

    def rng(self, *key: int) -> np.random.Generator:
        """Return a generator for one node; it does not depend on what other nodes draw."""
        return np.random.default_rng([self.seed, *key])


class Partition(BaseEstimator, ABC):  # type: ignore[misc]
    """A rule that divides the classes of a node.

    A partition is a scikit-learn estimator without `fit`: ``__init__`` sets the parameters, and the
    object keeps nothing else. `begin` returns what it computes once for a problem.

    Attributes
    ----------
    may_overlap : bool
        Whether a class may go to several groups.
    one_blas_thread : bool
        Whether the classes are divided with one BLAS thread, which is faster for small matrices.
    """

    may_overlap: bool = False
    one_blas_thread: bool = False

    def fork(self, state: Any) -> tuple[Any, int] | None:
        """Return a state for another thread, if groups can be divided independently of each other.

        Then `split` depends on nothing but the classes, and groups of more classes than the second
        number may be divided at the same time with one state. None if groups must be divided one
        after the other.
        """
        return None

    def begin(self, problem: ClassProblem) -> Any:
        """Compute what all nodes share; the result is passed to every call of `split`."""
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
            Number of the node in the tree; it seeds the generator of the node.

        Returns
        -------
        list of int arrays, ascending
            Two groups or more. An empty group, or one that holds all classes, means that the
            partition found no division: the classes are then divided in halves.
        """


@dataclass(frozen=True, eq=False)
class GrownTree:
    """Groups of classes; every group is a subset of its parent.

    Parameters
    ----------
    parents : list of int
        Parent of every group; -1 for the root, which comes first; parents before children.
    groups : list of int arrays
        Classes of every group, ascending.
    """

    parents: list[int]
    groups: list[IntArray]

    def to_hierarchy(self, names: NDArray[Any], others: NDArray[Any] | None = None) -> Hierarchy:
        """Make the hierarchy whose leaves are the classes.

        A group that was not divided is the parent of its classes; a group of one class is that
        class. A class in several groups, which only some partitions allow, is a node with several
        parents.

        Parameters
        ----------
        names : array of shape (n_classes,)
            Names of the classes. Groups are named "group 1", "group 2", ... in the order in which
            they were made; primes are added until these names differ from those of the classes.
        others : array of shape (n_others,), optional
            Names of classes that are in no group, such as labels without rows: children of the
            root.
        """
        apart = [] if others is None else list(others)
        taken = {str(name) for name in [*names.tolist(), *apart]}
        prime = ""
        while any(f"group {i}{prime}" in taken for i in range(len(self.groups))):
            prime += "'"
        label: list[Any] = [f"group {i}{prime}" for i in range(len(self.groups))]
        label[0] = "root" if "root" not in taken else f"root{prime or chr(39)}"
        if len(self.groups) == 1:
            return Hierarchy.star([*(names[k] for k in self.groups[0].tolist()), *apart], label[0])
        has_groups = set(self.parents)
        edges = []
        for i, (parent, group) in enumerate(zip(self.parents, self.groups, strict=True)):
            if parent >= 0 and len(group) == 1:
                edges.append((label[parent], names[group[0]]))
                continue
            if parent >= 0:
                edges.append((label[parent], label[i]))
            if i not in has_groups:
                edges.extend((label[i], names[k]) for k in group.tolist())
        edges.extend((label[0], name) for name in apart)
        return Hierarchy.from_edges(edges)


def grow_class_tree(
    partition: Partition,
    problem: Any,
    *,
    leaf_size: int = 1,
    min_side: float = 0.0,
    max_depth: int | None = None,
    run: Run | None = None,
) -> GrownTree:
    """Divide classes until the groups are small.

    Parameters
    ----------
    partition : Partition
    problem : ClassProblem
        Or another object with ``n_classes`` that the partition reads.
    leaf_size : int
        Maximum number of classes of a group that is not divided.
    min_side : float
        Minimum share of a group's classes, rounded up, outside of the largest part; 0 to .5. Where
        a partition finds a smaller share, the group is divided in halves instead, so that the depth
        of a tree of c classes is at most log(c) / -log(1 - min_side), rounded up. With 0 the tree
        may be a chain.
    max_depth : int, optional
        Groups at this depth are not divided.
    run : callable, optional
        Applies a function to items and returns the results in order, such as in threads: the tree
        is the same.
    """
    _check_limits(leaf_size, min_side, max_depth)

    def is_divided(classes: IntArray, depth: int) -> bool:
        return len(classes) > leaf_size and (max_depth is None or depth < max_depth)

    everything = np.arange(problem.n_classes, dtype=np.int32)
    parents, groups, depths = [-1], [everything], [0]
    waiting = [0]  # a stack: a chain may be deeper than Python's recursion limit
    threads = one_blas_thread() if partition.one_blas_thread else nullcontext()
    with threads:
        state = partition.begin(problem)
        found = {}
        if run is not None and partition.fork(state) is not None:
            found = _divided(partition, state, everything, min_side, is_divided, run)
        while waiting:
            node = waiting.pop()
            classes = groups[node]
            if not is_divided(classes, depths[node]):
                continue
            parts = found.get(_key(classes))
            for part in parts or _divide(partition, state, classes, node, min_side):
                parents.append(node)
                groups.append(part)
                depths.append(depths[node] + 1)
                waiting.append(len(groups) - 1)
    return GrownTree(parents, groups)


def _key(classes: IntArray) -> tuple[int, int]:
    """Return what identifies a group: groups with the same first class are inside each other."""
    return int(classes[0]), len(classes)


def _divided(
    partition: Partition,
    state: Any,
    everything: IntArray,
    min_side: float,
    is_divided: Callable[[IntArray, int], bool],
    run: Run,
) -> dict[tuple[int, int], list[IntArray]]:
    """Divide all groups in parallel: large ones level by level, then each small one to its end."""
    _, small = partition.fork(state) or (state, 0)

    def divide(item: tuple[IntArray, int]) -> list[IntArray]:
        return _divide(partition, state, item[0], 0, min_side)

    def divide_to_end(item: tuple[IntArray, int]) -> dict[tuple[int, int], list[IntArray]]:
        own, _ = partition.fork(state) or (state, 0)
        parts_of, waiting = {}, [item]
        while waiting:
            classes, depth = waiting.pop()
            if is_divided(classes, depth):
                parts = parts_of[_key(classes)] = _divide(partition, own, classes, 0, min_side)
                waiting += [(part, depth + 1) for part in parts]
        return parts_of

    found, ended, level = {}, [], [(everything, 0)]
    while level:
        large = [item for item in level if len(item[0]) > small and is_divided(*item)]
        ended += [item for item in level if len(item[0]) <= small]
        level = []
        for (classes, depth), parts in zip(large, run(divide, large), strict=True):
            found[_key(classes)] = parts
            level += [(part, depth + 1) for part in parts]
    ended.sort(key=lambda item: -len(item[0]))
    for parts_of in run(divide_to_end, ended):
        found.update(parts_of)
    return found


def _divide(
    partition: Partition, state: Any, classes: IntArray, node: int, min_side: float
) -> list[IntArray]:
    """Divide a group; in halves where the partition finds no division or too small a part."""
    if len(classes) == 2:
        return [classes[:1], classes[1:]]
    parts = [np.asarray(part, dtype=np.int32) for part in partition.split(state, classes, node)]
    parts = [part for part in parts if part.size]
    largest = max((len(part) for part in parts), default=len(classes))
    if len(parts) < 2 or largest > len(classes) - least_side(len(classes), min_side):
        half = len(classes) // 2
        return [classes[:half], classes[half:]]
    return parts


def _check_limits(leaf_size: Any, min_side: Any, max_depth: Any) -> None:
    """Raise an error for limits out of range."""
    if not isinstance(leaf_size, Integral) or leaf_size < 1:
        raise PalmetteError(
            f"leaf_size={leaf_size!r}: expected a whole number of classes, 1 or more."
        )
    if not isinstance(min_side, Real) or not 0 <= float(min_side) <= 0.5:
        raise PalmetteError(f"min_side={min_side!r}: expected a share from 0 to 0.5.")
    if max_depth is not None and (not isinstance(max_depth, Integral) or max_depth < 1):
        raise PalmetteError(f"max_depth={max_depth!r}: expected a depth, 1 or more, or None.")
