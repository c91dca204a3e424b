"""BalancedTree: k-means of the means of the classes, in groups of equal size."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from palmette.class_tree._learner import ClassTreeLearner
from palmette.class_tree._similarity import ClassSimilarity
from palmette.engine.grow import ClassProblem, IntArray
from palmette.exceptions import PalmetteError

__all__ = ["BalancedTree"]

Floats = NDArray[np.float64]

_ITERATIONS = 50


class BalancedTree(ClassTreeLearner):
    """Divide classes by their means into groups of equal size, so that all leaves are equally deep.

    Groups are halved by 2-means repeatedly: classes are sorted by how much nearer they are to one
    mean than to the other, and cut where the sizes are right. The search starts from the leading
    eigenvector, so that it needs no random numbers.

    Parameters
    ----------
    branching : int, default=2
        Number of parts of a group; their sizes differ by one at most.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" scales all means to length one first.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    max_depth : int, optional
        Groups at this depth are not divided.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree
        The groups of classes, as positions in ``classes_``.

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

    _one_blas_thread = True

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

    def _begin(self, problem: ClassProblem) -> ClassSimilarity:
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

    def _split(self, state: ClassSimilarity, classes: IntArray, node: int) -> list[IntArray]:
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
    """Return sizes of groups that differ by one at most, the larger first."""
    size, larger = divmod(n_classes, n_groups)
    return [size + (k < larger) for k in range(n_groups)]


def _cut(similarity: ClassSimilarity, classes: IntArray, n_upper: int) -> NDArray[np.bool_]:
    """Return the mask of the `n_upper` classes on one side of a balanced 2-means."""
    if len(classes) <= 2:
        return np.arange(len(classes)) < n_upper
    _, vectors = similarity.leading(classes, 1)
    upper = _highest(vectors[:, 0], n_upper)
    times = similarity.times(classes)
    for _ in range(_ITERATIONS):
        # the sizes are fixed, so that only the order along the line through both means counts
        line = upper / n_upper - (~upper) / (len(classes) - n_upper)
        moved = _highest(times(line), n_upper)
        if np.array_equal(moved, upper):
            break
        upper = moved
    return upper


def _highest(scores: Floats, count: int) -> NDArray[np.bool_]:
    """Return the mask of the highest scores; of equal scores the first are taken."""
    mask = np.zeros(len(scores), dtype=bool)
    mask[np.argsort(-scores, kind="stable")[:count]] = True
    return mask
