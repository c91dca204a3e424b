"""BalancedTree: balanced k-means of class means, again and again."""

from __future__ import annotations

from typing import Literal

from palmette.class_tree.base import ClassTreeLearner
from palmette.partition.balanced import BalancedPartition

__all__ = ["BalancedTree"]


class BalancedTree(ClassTreeLearner):
    """Divide classes by their means into groups of one size, so that all leaves are equally deep.

    Parameters
    ----------
    branching : int
        Groups that a group is divided into; their sizes differ by one at most.
    metric : {"euclidean", "cosine"}
        "cosine" brings all means to length one first.
    leaf_size : int
        Groups of up to as many classes are not divided.
    max_depth : int, optional
        Groups at this depth are not divided.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree

    Examples
    --------
    >>> tree = BalancedTree().fit([[0.0], [9.0], [1.0], [7.0]], list("abcd"))
    >>> print(tree.hierarchy_.draw())
    root
    ├─ group 1
    │  ├─ a
    │  └─ c
    └─ group 2
       ├─ b
       └─ d
    """

    def __init__(
        self,
        branching: int = 2,
        *,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        leaf_size: int = 1,
        max_depth: int | None = None,
    ) -> None:
        self.branching = branching
        self.metric = metric
        self.leaf_size = leaf_size
        self.max_depth = max_depth

    def _partition(self) -> BalancedPartition:
        return BalancedPartition(self.branching, metric=self.metric)
