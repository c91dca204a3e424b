"""Parts of a non-negative factorisation as groups (RNMF)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.class_moments import dense
from palmette.partition._embedding import groups_of, ordered_groups
from palmette.partition.base import ClassProblem, IntArray, Partition

__all__ = ["NMFPartition"]


class NMFPartition(Partition):
    """Factorise the class means of a node; each class goes to its largest part.

    Parameters
    ----------
    branching : int
        Number of parts, which is the rank of the factorisation.
    max_iter : int
        Steps of scikit-learn's `NMF`.
    tol : float
        Change at which they end.

    Notes
    -----
    A factorisation needs numbers that are not negative. Dense means are shifted, feature by
    feature, by their least value among the classes of the node, which also takes away what these
    classes have in common. Sparse means stay sparse: they are left as they are where nothing is
    negative, and otherwise positive and negative values become two features each.

    Parts are scaled to length one before they are compared. Where one part is the largest of all
    classes, the classes are cut in groups of one size, in the order of its share; where all means
    are the same, in the order of classes. There are no more parts than features; a single feature
    is cut in groups of one size. Features are not scaled: those with large values count more.

    References
    ----------
    L. Liu, P. M. Comar, S. Saha, P.-N. Tan, A. Nucci (2012). Recursive NMF: efficient label tree
    learning for large multi-class problems.
    D. Kuang, H. Park (2013). Fast rank-2 nonnegative matrix factorization for hierarchical document
    clustering.

    Examples
    --------
    >>> NMFPartition(branching=3)
    NMFPartition(branching=3)
    """

    def __init__(self, branching: int = 2, *, max_iter: int = 200, tol: float = 1e-4) -> None:
        self.branching = branching
        self.max_iter = max_iter
        self.tol = tol

    def begin(self, problem: ClassProblem) -> tuple[ClassProblem, Any]:
        """Gather class means; see `Partition.begin`."""
        means = problem.statistics.mean
        if sparse.issparse(means) and means.data.size and means.data.min() < 0:
            means = sparse.hstack([means.maximum(0), (-means).maximum(0)], format="csr")
        return problem, means

    def split(
        self, state: tuple[ClassProblem, Any], classes: IntArray, node: int
    ) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        problem, means = state
        here = _not_negative(means[classes])
        if here is None:
            return groups_of(classes, None, self.branching)
        k = min(self.branching, *here.shape)
        if k == 1:
            return ordered_groups(classes, dense(here).ravel(), self.branching)
        seed = int(problem.rng(node).integers(2**31 - 1))
        shares = self._shares_of_parts(here, k, seed)
        largest = shares.argmax(axis=1)
        if (largest == largest[0]).all():
            return ordered_groups(classes, -shares[:, largest[0]], self.branching)
        return groups_of(classes, largest, k)

    def _shares_of_parts(self, means: Any, k: int, seed: int) -> NDArray[np.float64]:
        from sklearn.decomposition import NMF  # takes long to import
        from sklearn.exceptions import ConvergenceWarning

        model = NMF(k, init="nndsvd", max_iter=self.max_iter, tol=self.tol, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # groups settle long before
            parts = model.fit_transform(means)
        parts = parts * np.linalg.norm(model.components_, axis=1)
        totals = parts.sum(axis=1, keepdims=True)
        return np.divide(parts, totals, out=np.zeros_like(parts), where=totals > 0)


def _not_negative(means: Any) -> Any:
    """Means of the classes of a node without negative values; None where they are all the same."""
    if not sparse.issparse(means):
        shifted = means - means.min(axis=0)
        return shifted if shifted.any() else None
    first = means[[0] * means.shape[0]]
    return means if abs(means - first).max() > 0 else None
