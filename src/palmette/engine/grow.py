"""The growing engine: a partition, applied from the root down, makes a class tree."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from palmette.core.hierarchy import Hierarchy
from palmette.exceptions import PalmetteError
from palmette.partition.base import ClassProblem, Partition, least_side

__all__ = ["GrownTree", "grow_class_tree"]

IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class GrownTree:
    """Groups of classes, each within its parent's.

    Parameters
    ----------
    parents : list of int
        Parent of every group; -1 for the root, which comes first; parents before children.
    groups : list of int arrays
        Classes of every group, ascending.
    """

    parents: list[int]
    groups: list[IntArray]

    def to_hierarchy(self, names: NDArray[Any]) -> Hierarchy:
        """Make the hierarchy whose leaves are the classes.

        Groups without smaller groups in them are the parents of their classes; a group of one class
        is that class. A class in several groups, which only some partitions allow, is a node with
        several parents.

        Parameters
        ----------
        names : array of shape (n_classes,)
            Of the classes. Groups are named "group 1", "group 2", ... in the order in which they
            were made, with as many primes as it takes to differ from the classes.
        """
        taken = {str(name) for name in names.tolist()}
        prime = ""
        while any(f"group {i}{prime}" in taken for i in range(len(self.groups))):
            prime += "'"
        label: list[Any] = [f"group {i}{prime}" for i in range(len(self.groups))]
        label[0] = "root" if "root" not in taken else f"root{prime or chr(39)}"
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
        return Hierarchy.from_edges(edges)


def grow_class_tree(
    partition: Partition,
    problem: ClassProblem,
    *,
    leaf_size: int = 1,
    min_side: float = 0.0,
    max_depth: int | None = None,
) -> GrownTree:
    """Divide classes until groups are small.

    Parameters
    ----------
    partition : Partition
    problem : ClassProblem
    leaf_size : int
        Groups of up to as many classes are not divided.
    min_side : float
        Least share of a group's classes, rounded up, that is parted from the largest part; 0 to
        .5. Where a partition offers less the group is halved instead, so that a tree of c classes
        is no deeper than log(c) / -log(1 - min_side), rounded up. With 0 it may be a chain.
    max_depth : int, optional
        Groups at this depth are not divided.

    Returns
    -------
    GrownTree
    """
    _check_limits(leaf_size, min_side, max_depth)
    everything = np.arange(problem.n_classes, dtype=np.int32)
    parents, groups, depths = [-1], [everything], [0]
    waiting = [0]  # a stack, since chains may be deeper than Python's recursion
    threads = threadpool_limits(1, user_api="blas") if partition.one_blas_thread else nullcontext()
    with threads:
        state = partition.begin(problem)
        while waiting:
            node = waiting.pop()
            classes = groups[node]
            if len(classes) <= leaf_size or (max_depth is not None and depths[node] >= max_depth):
                continue
            for part in _divide(partition, state, classes, node, min_side):
                parents.append(node)
                groups.append(part)
                depths.append(depths[node] + 1)
                waiting.append(len(groups) - 1)
    return GrownTree(parents, groups)


def _divide(
    partition: Partition, state: Any, classes: IntArray, node: int, min_side: float
) -> list[IntArray]:
    """Divide a group, into halves where the partition finds nothing or too little."""
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
    if not isinstance(leaf_size, Integral) or leaf_size < 1:
        raise PalmetteError(
            f"leaf_size={leaf_size!r}: expected a whole number of classes, 1 or more."
        )
    if not isinstance(min_side, Real) or not 0 <= min_side <= 0.5:
        raise PalmetteError(f"min_side={min_side!r}: expected a share from 0 to 0.5.")
    if max_depth is not None and (not isinstance(max_depth, Integral) or max_depth < 1):
        raise PalmetteError(f"max_depth={max_depth!r}: expected a depth, 1 or more, or None.")
