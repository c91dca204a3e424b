"""Halves drawn at random: what a learnt tree has to beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from palmette.partition.base import IntArray, Partition

__all__ = ["RandomPartition"]


class RandomPartition(Partition):
    """Divide the classes at random into groups of one size.

    Parameters
    ----------
    branching : int
        Number of groups.

    Examples
    --------
    >>> RandomPartition(branching=3)
    RandomPartition(branching=3)
    """

    def __init__(self, branching: int = 2) -> None:
        self.branching = branching

    def split(self, state: Any, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        drawn = state.rng(node).permutation(classes)
        return [np.sort(group) for group in np.array_split(drawn, self.branching) if group.size]
