"""Groups of classes from scores or from points: cuts in two, and k-means without random starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.base._grow import IntArray, least_side

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ITERATIONS = 100
_TIE = 1e-9  # a later start must be better by this factor, so that rounding does not decide ties


# ---------------------------------------------------------------------- labels and scores


def two_sides(classes: IntArray, right: Mask) -> list[IntArray]:
    """Return the classes outside and inside of a mask; the group of the first class comes first.

    Examples
    --------
    >>> two_sides(np.array([3, 5, 8]), np.array([True, False, True]))
    [array([3, 8]), array([5])]
    """
    right = right != right[0]
    return [classes[~right], classes[right]]


def median_cut(scores: Floats) -> Mask:
    """Return the mask of the upper half; equal scores are divided by their order.

    Examples
    --------
    >>> median_cut(np.array([5.0, 1.0, 1.0, 1.0]))
    array([ True, False, False,  True])
    """
    right = np.ones(len(scores), dtype=bool)
    right[np.argsort(scores, kind="stable")[: len(scores) // 2]] = False
    return right


def cut_with_min_side(scores: Floats, min_side: float) -> Mask:
    """Return the mask of the positive scores, or of a cut near zero if a side would be too small.

    Parameters
    ----------
    scores : array of shape (n_here,)
        Signed distances of the classes from the cut.
    min_side : float
        Minimum share of the classes on a side. Where a side has no class at all, the cut is at the
        median instead: a side of one class would be the start of a chain.

    Returns
    -------
    bool array of shape (n_here,)

    Examples
    --------
    >>> cut_with_min_side(np.array([-3.0, -1.0, -2.0, 1.0]), 0.5)
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


def groups_of(classes: IntArray, labels: NDArray[np.intp] | None, k: int) -> list[IntArray]:
    """Return the classes of every label that occurs, the group of the first class first.

    Without labels the classes are cut, in their order, in k groups of equal size.

    Examples
    --------
    >>> [group.tolist() for group in groups_of(np.arange(4), np.array([2, 0, 2, 0]), 2)]
    [[0, 2], [1, 3]]
    """
    if labels is None:
        return ordered_groups(classes, np.arange(len(classes)), k)
    first = np.unique(labels, return_index=True)[1]
    return [classes[labels == labels[i]] for i in np.sort(first)]


def ordered_groups(classes: IntArray, keys: NDArray[Any], k: int) -> list[IntArray]:
    """Return k groups of equal size, cut in the order of the keys of the classes.

    Examples
    --------
    >>> [group.tolist() for group in ordered_groups(np.arange(5), np.array([3, 1, 1, 9, 0]), 2)]
    [[0, 3], [1, 2, 4]]
    """
    order = np.argsort(keys, kind="stable")
    groups = [np.sort(part) for part in np.array_split(classes[order], k) if part.size]
    return sorted(groups, key=lambda group: int(group[0]))


# ---------------------------------------------------------------------- points


def near_groups(points: Floats, k: int, rng: np.random.Generator) -> NDArray[np.intp] | None:
    """Group points by scikit-learn's k-means, with random starts.

    Parameters
    ----------
    points : array of shape (n, d)
    k : int
    rng : Generator

    Returns
    -------
    int array of shape (n,), or None
        Group of every point; None where fewer than two points differ.
    """
    rounded = np.round(points, 9) + 0.0  # points that differ by rounding errors are equal
    n_distinct = len(np.unique(rounded, axis=0))
    if n_distinct < 2:
        return None
    from sklearn.cluster import KMeans  # takes long to import

    model = KMeans(min(k, n_distinct), n_init=5, random_state=int(rng.integers(2**31 - 1)))
    return np.asarray(model.fit(rounded).labels_, dtype=np.intp)


def two_means(points: Floats, starts: Mask, least: int = 1) -> Mask | None:
    """Divide points in two, from several starts at once.

    Parameters
    ----------
    points : array of shape (n, n_dims)
    starts : bool array of shape (n, n_starts)
        Points on the right side at first; starts with an empty side are ignored.
    least : int
        Minimum number of points on a side.

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
        # a side may become empty: its mean is then the origin, and no point moves
        right, left = sums / np.maximum(count, 1), (total - sums) / np.maximum(n - count, 1)
        offset = ((right**2).sum(axis=1) - (left**2).sum(axis=1)) / 2
        moved = points @ (right - left).T > offset
        if np.array_equal(moved, sides):
            break
        sides = moved
    count = np.count_nonzero(sides, axis=0)
    explained = _between(sides.T.astype(np.float64) @ points, count, total, n)
    explained[(count < least) | (count > n - least)] = -1.0
    best = int(np.argmax(explained >= explained.max() * (1 - _TIE)))
    return sides[:, best] if explained.max() >= 0 else None


def best_cut(points: Floats, lines: Floats, least: int) -> Mask:
    """Divide points in two at the best place along the best of some lines.

    Parameters
    ----------
    points : array of shape (n, n_dims)
    lines : array of shape (n, n_lines)
        Places of the points along every line.
    least : int
        Minimum number of points on a side, at most n // 2.

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
    """Return how much of the variation of n points the means of two sides explain.

    Parameters
    ----------
    sums : array of shape (..., n_dims)
        Sums of the points on one side.
    count : int array
        Number of points on this side; it broadcasts with all but the last axis of sums.
    total : array of shape (n_dims,)
        Sum of all points.
    n : int
    """
    here = (sums**2).sum(axis=-1) / np.maximum(count, 1)
    there = ((total - sums) ** 2).sum(axis=-1) / np.maximum(n - count, 1)
    return np.asarray(here + there - total @ total / n)


def k_means(points: Floats, n_groups: int) -> IntArray:
    """Divide points into groups by k-means; the better of two deterministic starts is kept.

    One start repeatedly takes the point farthest from all means chosen so far; the other repeatedly
    divides the group of largest variance across its longest axis.

    Parameters
    ----------
    points : array of shape (n, n_dims)
    n_groups : int
        At least 2; the result has fewer groups where points are equal.

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
    group = found[0][0] if spread[0] <= spread[1] * (1 + _TIE) else found[1][0]
    _, firsts, places = np.unique(group, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[places].astype(np.int32)


def _lloyd(points: Floats, means: Floats) -> tuple[IntArray, float]:
    """Return the groups that Lloyd's algorithm finds, and their sum of squares."""
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
    """Return the means of the groups; a group without points keeps its mean."""
    count = np.bincount(group, minlength=len(means))
    sums = np.stack([np.bincount(group, column, len(means)) for column in points.T], axis=1)
    return np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], means)


def _farthest(points: Floats, n_groups: int) -> Floats:
    """Return points that are far from each other, of shape (n_groups, n_dims)."""
    distance = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    chosen = [int(distance.argmax())]
    distance = np.full(len(points), np.inf)
    for _ in range(n_groups - 1):
        distance = np.minimum(distance, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(distance.argmax()))
    return points[chosen]


def _bisected(points: Floats, n_groups: int) -> Floats:
    """Return the means of groups that are repeatedly divided in two."""
    groups = [np.arange(len(points))]
    spreads = [_spread(points)]
    for _ in range(n_groups - 1):
        chosen = int(np.argmax(spreads))
        widest, _ = groups.pop(chosen), spreads.pop(chosen)
        here = points[widest] - points[widest].mean(axis=0)
        axis = here @ np.linalg.eigh(here.T @ here)[1][:, -1]
        right = two_means(here, (axis > 0)[:, None])
        if right is None:  # all points are equal
            groups.append(widest)
            break
        for part in (widest[~right], widest[right]):
            groups.append(part)
            spreads.append(_spread(points[part]))
    return np.stack([points[group].mean(axis=0) for group in groups])


def _spread(points: Floats) -> float:
    """Return the sum of squared distances of points from their mean."""
    return float(points.var(axis=0).sum()) * len(points)
