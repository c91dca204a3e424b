"""BalancedPartition: k-means of class means in which all groups have one size."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from palmette.exceptions import PalmetteError
from palmette.partition.base import ClassProblem, IntArray, Partition
from palmette.partition.class_similarity import ClassSimilarity

__all__ = ["BalancedPartition"]

Floats = NDArray[np.float64]

_ITERATIONS = 50


class BalancedPartition(Partition):
    """Divide classes by their means into groups whose sizes differ by one at most.

    Groups are halved by 2-means again and again: classes are put in the order of how much nearer
    they are to one mean than to the other, and cut where the sizes are right. The search starts
    from the leading eigenvector, so that nothing is drawn.

    Parameters
    ----------
    branching : int
        Number of groups.
    metric : {"euclidean", "cosine"}
        "cosine" brings all means to length one first.

    Examples
    --------
    >>> from palmette.partition.base import ClassProblem
    >>> partition = BalancedPartition()
    >>> problem = ClassProblem(np.array([[0.0], [1.0], [2.0], [90.0]]), np.arange(4), 4)
    >>> partition.split(partition.begin(problem), np.arange(4), 0)
    [array([0, 1]), array([2, 3])]
    """

    one_blas_thread = True

    def __init__(
        self, branching: int = 2, *, metric: Literal["euclidean", "cosine"] = "euclidean"
    ) -> None:
        self.branching = branching
        self.metric = metric

    def begin(self, problem: ClassProblem) -> ClassSimilarity:
        """Take the means of the classes."""
        if not self.branching >= 2:
            raise PalmetteError(f"branching={self.branching!r}: expected 2 or more.")
        if self.metric not in ("euclidean", "cosine"):
            raise PalmetteError(f"metric={self.metric!r}: expected 'euclidean' or 'cosine'.")
        means = problem.statistics.mean
        if self.metric == "cosine":
            means = normalize(means)
        ones = np.ones(problem.n_classes)
        return ClassSimilarity(ones, ones, True, means=means)

    def split(self, state: ClassSimilarity, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        n_groups = min(self.branching, len(classes))
        groups, waiting = [], [(classes, n_groups)]
        while waiting:
            here, parts = waiting.pop()
            if parts == 1:
                groups.append(here)
                continue
            sizes = _sizes(len(here), parts)
            upper = _cut(state, here, sum(sizes[: parts // 2]))
            waiting += [(here[~upper], parts - parts // 2), (here[upper], parts // 2)]
        return sorted(groups, key=lambda group: group[0])


def _sizes(n_classes: int, n_groups: int) -> list[int]:
    """Sizes of groups that differ by one at most, the larger first."""
    size, larger = divmod(n_classes, n_groups)
    return [size + (k < larger) for k in range(n_groups)]


def _cut(similarity: ClassSimilarity, classes: IntArray, n_upper: int) -> NDArray[np.bool_]:
    """Mask of the `n_upper` classes on one side of a balanced 2-means."""
    if len(classes) <= 2:
        return np.arange(len(classes)) < n_upper
    _, vectors = similarity.leading(classes, 1)
    upper = _highest(vectors[:, 0], n_upper)
    times = similarity.times(classes)
    for _ in range(_ITERATIONS):
        # sizes are given, so that only places along the line through both means count
        line = upper / n_upper - (~upper) / (len(classes) - n_upper)
        moved = _highest(times(line), n_upper)
        if np.array_equal(moved, upper):
            break
        upper = moved
    return upper


def _highest(scores: Floats, count: int) -> NDArray[np.bool_]:
    """Mask of the highest scores; draws go to earlier classes."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(-scores, kind="stable")[:count]] = True
    return mask
