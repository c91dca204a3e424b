"""k-means without random starts, compiled: for trees of many classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64, kernel
from palmette.base._grow import IntArray

Floats = NDArray[np.float64]

_ITERATIONS = 100
_TIE = 1e-9  # as in `_groups`: the later start must be better by this factor
_SWEEPS = 50  # of rotations; a few are enough


def k_means_compiled(points: Floats, n_groups: int) -> IntArray:
    """Divide points into groups as `k_means` does, without the lock of the interpreter.

    Sums have another order than there, and eigenvectors other signs: groups differ only if points
    are as close to one mean as to another, up to rounding errors. Compilation takes seconds.

    Parameters
    ----------
    points : array of shape (n, n_dims)
    n_groups : int
        At least 2, at most n; the result has fewer groups where points are equal.

    Returns
    -------
    int array of shape (n,)
        Group of every point; groups are numbered as they first appear.
    """
    group, other = np.empty((2, len(points)), dtype=np.int32)
    _k_means(np.ascontiguousarray(points, dtype=np.float64), n_groups, group, other)
    return group


@kernel
def _k_means(points: Floats, n_groups: int, group: IntArray, other: IntArray) -> None:
    """Write the group of every point of the better of two starts; `other` is work space."""
    means = np.empty((n_groups, points.shape[1]))
    _farthest(points, means)
    spread = _lloyd(points, means, n_groups, group)
    n_found = _bisected(points, means, other)
    if spread > _lloyd(points, means, n_found, other) * (1 + _TIE):
        for i in range(len(group)):
            group[i] = other[i]
    number = np.full(n_groups, -1)
    n_numbers = int64(0)
    for i in range(len(group)):  # as they first appear
        if number[group[i]] < 0:
            number[group[i]] = n_numbers
            n_numbers += 1
        group[i] = number[group[i]]


@inner
def _lloyd(points: Floats, means: Floats, n_groups: int, group: IntArray) -> float:
    """Write the groups that Lloyd's algorithm finds from the first means; return their spread."""
    n, n_dims = points.shape
    size, count, far = np.empty(n_groups), np.empty(n_groups), 0.0
    sums = np.empty_like(means)
    for i in range(n):
        group[i] = -1
    for _ in range(_ITERATIONS):
        moved = False
        for k in range(n_groups):
            size[k] = count[k] = 0
            for d in range(n_dims):
                size[k] += means[k, d] * means[k, d]
                sums[k, d] = 0
        for i in range(n):
            nearest, least = int64(0), np.inf
            for k in range(n_groups):
                far = 0.0
                for d in range(n_dims):
                    far += points[i, d] * means[k, d]
                far = size[k] - 2 * far
                if far < least:
                    nearest, least = k, far
            moved |= group[i] != nearest
            group[i] = nearest
            count[nearest] += 1
            for d in range(n_dims):
                sums[nearest, d] += points[i, d]
        if not moved:
            break
        for k in range(n_groups):
            if count[k] > 0:  # else the group keeps its mean
                for d in range(n_dims):
                    means[k, d] = sums[k, d] / count[k]
    far = 0.0
    for i in range(n):
        for d in range(n_dims):
            far += (points[i, d] - means[group[i], d]) ** 2
    return far


@inner
def _farthest(points: Floats, means: Floats) -> None:
    """Write points that are far from each other to the means."""
    n, n_dims = points.shape
    centre, distance = np.zeros(n_dims), np.empty(n)
    for i in range(n):
        for d in range(n_dims):
            centre[d] += points[i, d]
    for d in range(n_dims):
        centre[d] /= n
    for k in range(len(means)):
        chosen = int64(0)
        for i in range(n):
            far = 0.0
            for d in range(n_dims):
                far += (points[i, d] - centre[d]) ** 2
            if k < 2 or far < distance[i]:
                distance[i] = far
            if distance[i] > distance[chosen]:
                chosen = i
        for d in range(n_dims):
            centre[d] = means[k, d] = points[chosen, d]


@inner
def _bisected(points: Floats, means: Floats, part: IntArray) -> int:
    """Write the means of groups that are repeatedly divided in two; return their number.

    The parts of a group get the next two numbers; `part` is work space.
    """
    n, n_dims = points.shape
    last = 2 * len(means)
    spread, middle = np.zeros(last), np.zeros((last, n_dims))
    count = np.zeros(last, dtype=np.int64)
    here, scatter = np.empty((n, n_dims)), np.empty((n_dims, n_dims))
    side = np.empty(n, dtype=np.int8)
    for i in range(n):
        part[i] = 0
    _measure(points, part, 0, middle, count, spread)
    n_parts = int64(1)
    for _ in range(len(means) - 1):
        widest = int64(-1)
        for k in range(n_parts):
            if count[k] > 0 and (widest < 0 or spread[k] > spread[widest]):
                widest = k
        n_here = int64(0)
        for d in range(n_dims):
            for e in range(n_dims):
                scatter[d, e] = 0
        for i in range(n):
            if part[i] == widest:
                for d in range(n_dims):
                    here[n_here, d] = points[i, d] - middle[widest, d]
                    for e in range(d + 1):
                        scatter[d, e] += here[n_here, d] * here[n_here, e]
                        scatter[e, d] = scatter[d, e]
                n_here += 1
        if not _halved(here, n_here, _longest_axis(scatter), side):
            break  # all points are equal
        n_here = int64(0)
        for i in range(n):
            if part[i] == widest:
                part[i] = n_parts + side[n_here]
                n_here += 1
        count[widest] = 0
        _measure(points, part, n_parts, middle, count, spread)
        _measure(points, part, n_parts + 1, middle, count, spread)
        n_parts += 2
    n_found = int64(0)
    for k in range(n_parts):
        if count[k] > 0:
            for d in range(n_dims):
                means[n_found, d] = middle[k, d]
            n_found += 1
    return n_found  # type: ignore[no-any-return]


@inner
def _measure(
    points: Floats,
    part: IntArray,
    k: int,
    middle: Floats,
    count: NDArray[np.int64],
    spread: Floats,
) -> None:
    """Write the mean, the number and the sum of squares of the points of part k."""
    n, n_dims = points.shape
    for i in range(n):
        if part[i] == k:
            count[k] += 1
            for d in range(n_dims):
                middle[k, d] += points[i, d]
    for d in range(n_dims):
        middle[k, d] /= count[k]
    for i in range(n):
        if part[i] == k:
            for d in range(n_dims):
                spread[k] += (points[i, d] - middle[k, d]) ** 2


@inner
def _halved(here: Floats, n: int, axis: Floats, side: NDArray[np.int8]) -> bool:
    """Write the sides of 2-means from the signs along an axis; return whether there are two.

    The points are centred: the means of the sides are opposite to each other, times their numbers.
    """
    n_dims = here.shape[1]
    right, between = axis.copy(), axis.copy()
    offset = 0.0
    for i in range(n):
        side[i] = -1
    for _ in range(_ITERATIONS + 1):
        moved = False
        n_right = int64(0)
        for d in range(n_dims):
            right[d] = 0
        for i in range(n):
            score = 0.0
            for d in range(n_dims):
                score += here[i, d] * between[d]
            now = int64(score > offset)
            moved |= side[i] != now
            side[i] = now
            n_right += now
            if now:
                for d in range(n_dims):
                    right[d] += here[i, d]
        if n_right in (0, n):
            return False
        if not moved:
            break
        offset = 0.0
        for d in range(n_dims):
            towards, back = right[d] / n_right, -right[d] / (n - n_right)
            between[d] = towards - back
            offset += (towards * towards - back * back) / 2
    return True


@inner
def _longest_axis(scatter: Floats) -> Floats:
    """Return the leading eigenvector of a small symmetric matrix, which is overwritten (Jacobi)."""
    n = len(scatter)
    vectors = np.eye(n)
    for _ in range(_SWEEPS):
        off, size = 0.0, 0.0
        for i in range(n):
            for j in range(n):
                size += scatter[i, j] ** 2
                if i != j:
                    off += scatter[i, j] ** 2
        if off <= 1e-30 * size:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if scatter[p, q] == 0:
                    continue
                half = (scatter[q, q] - scatter[p, p]) / (2 * scatter[p, q])
                tangent = 1 / (abs(half) + np.sqrt(half * half + 1))
                if half < 0:
                    tangent = -tangent
                cosine = 1 / np.sqrt(tangent * tangent + 1)
                sine = tangent * cosine
                for i in range(n):
                    a, b = scatter[i, p], scatter[i, q]
                    scatter[i, p], scatter[i, q] = cosine * a - sine * b, sine * a + cosine * b
                    a, b = vectors[i, p], vectors[i, q]
                    vectors[i, p], vectors[i, q] = cosine * a - sine * b, sine * a + cosine * b
                for i in range(n):
                    a, b = scatter[p, i], scatter[q, i]
                    scatter[p, i], scatter[q, i] = cosine * a - sine * b, sine * a + cosine * b
    largest = int64(0)
    for i in range(n):
        if scatter[i, i] > scatter[largest, largest]:
            largest = i
    axis = np.empty(n)
    for i in range(n):
        axis[i] = vectors[i, largest]
    return axis
