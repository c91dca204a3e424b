"""k-means that draws nothing: the same points give the same groups, in whatever order they come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_cut", "k_means", "two_means"]

Floats = NDArray[np.float64]
IntArray = NDArray[np.int32]
Mask = NDArray[np.bool_]

_ITERATIONS = 100
_DRAW = 1e-9  # a later start must be better by this factor, so that rounding decides no draw


def two_means(points: Floats, starts: Mask, least: int = 1) -> Mask | None:
    """Divide points in two, from several starts at once.

    Parameters
    ----------
    points : array of shape (n, n_dims)
    starts : bool array of shape (n, n_starts)
        Which points are on the right side at first; those with an empty side are passed over.
    least : int
        Fewest points on a side.

    Returns
    -------
    bool array of shape (n,) or None
        Points on the right side. None where no start leads to two sides that are large enough.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [10.0]])
    >>> two_means(points, np.array([[False], [True], [True]]))
    array([False, False,  True])
    """
    n = len(points)
    total = points.sum(axis=0)
    sides = starts[:, starts.any(axis=0) & ~starts.all(axis=0)]
    if not sides.shape[1]:
        return None
    for _ in range(_ITERATIONS):
        count = np.count_nonzero(sides, axis=0)[:, None]
        sums = sides.T.astype(np.float64) @ points
        # a side may run empty: its mean is then at the origin, and all points stay where they are
        right, left = sums / np.maximum(count, 1), (total - sums) / np.maximum(n - count, 1)
        offset = ((right**2).sum(axis=1) - (left**2).sum(axis=1)) / 2
        moved = points @ (right - left).T > offset
        if np.array_equal(moved, sides):
            break
        sides = moved
    count = np.count_nonzero(sides, axis=0)
    explained = _between(sides.T.astype(np.float64) @ points, count, total, n)
    explained[(count < least) | (count > n - least)] = -1.0
    best = int(np.argmax(explained >= explained.max() * (1 - _DRAW)))
    return sides[:, best] if explained.max() >= 0 else None


def best_cut(points: Floats, lines: Floats, least: int) -> Mask:
    """Divide points in two at the best place along the best of some lines.

    Parameters
    ----------
    points : array of shape (n, n_dims)
    lines : array of shape (n, n_lines)
        Places of the points along every line.
    least : int
        Fewest points on a side, at most n // 2.

    Returns
    -------
    bool array of shape (n,)
        Points on the right side.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> best_cut(points, points, 1), best_cut(points, points, 2)
    (array([False, False, False,  True]), array([False, False,  True,  True]))
    """
    n = len(points)
    total = points.sum(axis=0)
    order = np.argsort(lines, axis=0, kind="stable")
    sums = np.cumsum(points[order], axis=0)[least - 1 : n - least]
    count = np.arange(least, n - least + 1)[:, None]
    explained = _between(sums, count, total, n)
    cut, line = np.unravel_index(np.argmax(explained), explained.shape)
    right = np.ones(n, dtype=bool)
    right[order[: least + cut, line]] = False
    return right


def _between(sums: Floats, count: Any, total: Floats, n: int) -> Floats:
    """How much of the spread of n points the means of two sides explain.

    Parameters
    ----------
    sums : array of shape (..., n_dims)
        Of the points on one side.
    count : int array
        Points on this side, of a shape that broadcasts with all but the last axis of sums.
    total : array of shape (n_dims,)
        Sum of all points.
    n : int
    """
    here = (sums**2).sum(axis=-1) / np.maximum(count, 1)
    there = ((total - sums) ** 2).sum(axis=-1) / np.maximum(n - count, 1)
    return here + there - total @ total / n


def k_means(points: Floats, n_groups: int) -> IntArray:
    """Divide points into groups; the better of two starts that need no luck.

    One start takes the point farthest from all means chosen so far, again and again; the other
    halves the group that is spread most, across its longest axis.

    Parameters
    ----------
    points : array of shape (n, n_dims)
    n_groups : int
        At least 2; there may be fewer in the end where points are equal.

    Returns
    -------
    int array of shape (n,)
        Group of every point; groups are numbered as they first appear.

    Examples
    --------
    >>> k_means(np.array([[0.0], [10.0], [1.0], [5.0]]), 3).tolist()
    [0, 1, 0, 2]
    """
    found = [
        _lloyd(points, start)
        for start in (_farthest(points, n_groups), _bisected(points, n_groups))
    ]
    spread = [objective for _, objective in found]
    group = found[0][0] if spread[0] <= spread[1] * (1 + _DRAW) else found[1][0]
    _, firsts, group = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[group].astype(np.int32)


def _lloyd(points: Floats, means: Floats) -> tuple[IntArray, float]:
    group = np.full(len(points), -1)
    for _ in range(_ITERATIONS):
        distance = (means**2).sum(axis=1) - 2 * (points @ means.T)
        nearest = distance.argmin(axis=1)
        if np.array_equal(nearest, group):
            break
        group = nearest
        means = _means_of(points, group, means)
    spread = float(((points - means[group]) ** 2).sum())
    return group.astype(np.int32), spread


def _means_of(points: Floats, group: IntArray, means: Floats) -> Floats:
    """Means of the groups; one that has lost all its points stays where it was."""
    count = np.bincount(group, minlength=len(means))
    sums = np.stack([np.bincount(group, column, len(means)) for column in points.T], axis=1)
    return np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], means)


def _farthest(points: Floats, n_groups: int) -> Floats:
    distance = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    chosen = [int(distance.argmax())]
    distance = np.full(len(points), np.inf)
    for _ in range(n_groups - 1):
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    return points[chosen]


def _bisected(points: Floats, n_groups: int) -> Floats:
    groups = [np.arange(len(points))]
    for _ in range(n_groups - 1):
        spreads = [float(points[group].var(axis=0).sum()) * len(group) for group in groups]
        widest = groups.pop(int(np.argmax(spreads)))
        here = points[widest] - points[widest].mean(axis=0)
        axis = here @ np.linalg.eigh(here.T @ here)[1][:, -1]
        right = two_means(here, (axis > 0)[:, None])
        if right is None:  # equal points: nothing is left to divide
            groups.append(widest)
            break
        groups += [widest[~right], widest[right]]
    return np.stack([points[group].mean(axis=0) for group in groups])
