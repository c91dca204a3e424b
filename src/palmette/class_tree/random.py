"""RandomTree: a hierarchy that knows nothing, to compare with."""

from __future__ import annotations

from typing import Any

from palmette.class_tree.base import ClassTreeLearner
from palmette.partition.random import RandomPartition

__all__ = ["RandomTree"]


class RandomTree(ClassTreeLearner):
    """Divide the classes at random.

    Parameters
    ----------
    branching : int
        Groups that a group is divided into.
    leaf_size : int
        Groups of up to as many classes are not divided.
    random_state : int, RandomState or None

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> tree = RandomTree(random_state=0).fit(np.zeros((4, 1)), list("abcd"))
    >>> sorted(tree.hierarchy_.names[tree.hierarchy_.leaves].tolist())
    ['a', 'b', 'c', 'd']
    """

    def __init__(self, branching: int = 2, *, leaf_size: int = 1, random_state: Any = None) -> None:
        self.branching = branching
        self.leaf_size = leaf_size
        self.random_state = random_state

    def _partition(self) -> RandomPartition:
        return RandomPartition(self.branching)
