"""Cuts of a group of classes in two, by a score that every class has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palmette.partition.base import IntArray, least_side

__all__ = ["cut_at_floor", "median_cut", "two_sides"]

Mask = NDArray[np.bool_]
Scores = NDArray[np.float64]


def two_sides(classes: IntArray, right: Mask) -> list[IntArray]:
    """Groups off and on the mask; the group of the first class comes first.

    Examples
    --------
    >>> two_sides(np.array([3, 5, 8]), np.array([True, False, True]))
    [array([3, 8]), array([5])]
    """
    right = right != right[0]
    return [classes[~right], classes[right]]


def median_cut(scores: Scores) -> Mask:
    """Mask of the upper half; draws go by place, so that it is a half even where all are equal.

    Examples
    --------
    >>> median_cut(np.array([5.0, 1.0, 1.0, 1.0]))
    array([ True, False, False,  True])
    """
    right = np.ones(len(scores), dtype=bool)
    right[np.argsort(scores, kind="stable")[: len(scores) // 2]] = False
    return right


def cut_at_floor(scores: Scores, min_side: float) -> Mask:
    """Mask of the positive scores, moved as little as it takes for both sides to be large enough.

    Parameters
    ----------
    scores : array of shape (n_here,)
        How far a class is to the right of the cut; negative to the left.
    min_side : float
        Least share of a side. A side with no class at all makes a cut at the median instead: one
        class a side would be the start of a chain.

    Examples
    --------
    >>> cut_at_floor(np.array([-3.0, -1.0, -2.0, 1.0]), 0.5)
    array([False,  True, False,  True])
    """
    right = scores > 0
    n_right = int(np.count_nonzero(right))
    if n_right in (0, len(scores)):
        return median_cut(scores)
    least = least_side(len(scores), min_side)
    wanted = min(max(n_right, least), len(scores) - least)
    if wanted == n_right:
        return right
    moved = np.ones(len(scores), dtype=bool)
    moved[np.argsort(scores, kind="stable")[: len(scores) - wanted]] = False
    return moved
