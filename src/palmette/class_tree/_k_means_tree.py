"""KMeansTree: balanced spherical k-means over class means, for many classes or labels."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import preprocessing

from palmette._arrays import FloatArray
from palmette.base._grow import ClassProblem, IntArray, assign_with_capacity
from palmette.class_tree._learner import ClassTreeLearner
from palmette.exceptions import PalmetteError

_TIE = 1e-9  # cosines that differ by less are equal
_GAIN = 1e-3  # k-means ends when the sum of cosines grows by a smaller share


class KMeansTree(ClassTreeLearner):
    """Divide classes by balanced k-means of their means, scaled to length one.

    A group has many parts of nearly equal size, and groups of at most `leaf_size` classes are not
    divided, so that trees of many classes are shallow: 100,000 labels need three levels. It is the
    tree that `ClassTreeClassifier` learns over label sets by default.

    Parameters
    ----------
    branching : int, default=16
        Maximum number of parts of a group; fewer if they would have less than `leaf_size` classes.
    leaf_size : int, default=100
        Maximum number of classes in a group that is not divided.
    max_iter : int, default=20
        Maximum number of iterations of k-means.
    max_depth : int, optional
        Groups at this depth are not divided.
    random_state : int, RandomState or None, default=0
        Seed of the first centres.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree
        The groups of classes, as positions in ``classes_``.

    References
    ----------
    Y. Prabhu, A. Kag, S. Harsola, R. Agrawal, M. Varma (2018). Parabel: partitioned label trees for
    extreme classification. WWW 2018 (balanced spherical 2-means). doi:10.1145/3178876.3185998

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]]
    >>> tree = KMeansTree(2, leaf_size=2).fit(X, list("abcd"))
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
        branching: int = 16,
        *,
        leaf_size: int = 100,
        max_iter: int = 20,
        max_depth: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.branching = branching
        self.leaf_size = leaf_size
        self.max_iter = max_iter
        self.max_depth = max_depth
        self.random_state = random_state

    def _begin(self, problem: ClassProblem) -> _Directions:
        for name, least in (("branching", 2), ("max_iter", 1)):
            given = getattr(self, name)
            if not isinstance(given, Integral) or given < least:
                raise PalmetteError(f"{name}={given!r}: expected an integer of at least {least}.")
        return _Directions(problem)

    def _split(self, state: _Directions, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        n_parts = min(int(self.branching), -(-len(classes) // int(self.leaf_size)))
        points = _with_used_columns(state.points[classes])
        rng = state.problem.rng(int(classes[0]), len(classes))  # whatever was divided before
        part = _balanced_k_means(points, n_parts, int(self.max_iter), rng)
        groups = [classes[part == k] for k in range(n_parts)]
        return sorted((group for group in groups if group.size), key=lambda group: group[0])


class _Directions:
    """Sums of the classes, scaled to length one: computed when a group is divided."""

    def __init__(self, problem: ClassProblem) -> None:
        self.problem = problem

    @cached_property
    def points(self) -> Any:
        return preprocessing.normalize(self.problem.statistics.sum)


def _with_used_columns(points: Any) -> Any:
    """Return sparse points without the columns that are zero: most, if there are few points."""
    if not sparse.issparse(points):
        return points
    points = sparse.csr_array(points)
    seen = np.zeros(points.shape[1], dtype=bool)
    seen[points.indices] = True
    content = points.data, (np.cumsum(seen) - 1)[points.indices], points.indptr
    return sparse.csr_array(content, shape=(points.shape[0], np.count_nonzero(seen)))


def _balanced_k_means(
    points: Any, n_parts: int, max_iter: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the part of every point: of equal sizes, up to one, and of similar directions.

    Parameters
    ----------
    points : array or CSR array of shape (n, n_features)
        Rows of length one, or zero.
    n_parts, max_iter : int
    rng : Generator
        Draws the first centres among the points.
    """
    n = points.shape[0]
    size = -(-n // n_parts)
    centres = points[np.sort(rng.choice(n, n_parts, replace=False))]
    centres = centres.toarray() if sparse.issparse(centres) else np.asarray(centres)
    part, before = np.full(n, -1), -np.inf
    for _ in range(max_iter):
        cosines = np.asarray(points @ centres.T)
        moved = assign_with_capacity(-np.rint(cosines / _TIE) * _TIE, size)
        if np.array_equal(moved, part):
            break
        part = moved
        total = float(cosines[np.arange(n), part].sum())
        if total <= before * (1.0 + _GAIN):
            break
        before, centres = total, preprocessing.normalize(_sums(points, part, n_parts))
    return part


def _sums(points: Any, part: NDArray[np.int64], n_parts: int) -> FloatArray:
    """Return the sums of the points of every part, of shape (n_parts, n_features)."""
    if not sparse.issparse(points):
        ones = np.ones(len(part)), (part, np.arange(len(part)))
        return np.asarray(sparse.csr_array(ones, shape=(n_parts, len(part))) @ points)
    n_features = points.shape[1]
    cell = np.repeat(part * n_features, np.diff(points.indptr)) + points.indices
    sums = np.bincount(cell, points.data, minlength=n_parts * n_features)
    return np.asarray(sums.reshape(n_parts, n_features))
