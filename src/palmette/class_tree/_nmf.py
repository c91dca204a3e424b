"""NMFTree: the components of non-negative factorizations as groups of classes (RNMF)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.base._class_moments import dense
from palmette.base._grow import ClassProblem, IntArray
from palmette.base._parameters import check_branching, from_paper
from palmette.class_tree._groups import groups_of, ordered_groups
from palmette.class_tree._learner import ClassTreeLearner


class NMFTree(ClassTreeLearner):
    """Divide the classes recursively by non-negative matrix factorization.

    The class means of a node are factorized; each class goes to its largest component.

    Parameters
    ----------
    branching : int, default=2
        Number of parts of a group, which is the rank of the factorization.
    leaf_size : int, default=4
        Maximum number of classes in a group that is not divided.
    max_iter : int, default=200
        Maximum number of iterations of scikit-learn's `NMF`.
    tol : float, default=1e-4
        Change at which the iterations end.
    min_side : float, default=0.0
        Minimum share of a group's classes outside of the largest part, 0 to .5: a group is divided
        in halves where the parts that are found are smaller.
    max_depth : int, optional
        Groups at this depth are not divided.
    random_state : int, RandomState or None
        For the start of the factorizations.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`

    Notes
    -----
    A factorization needs numbers that are not negative. Dense means are shifted, feature by
    feature, by their minimum among the classes of the node, which also removes what these classes
    have in common. Sparse means stay sparse: they are unchanged where nothing is negative, and
    otherwise positive and negative values become two features each.

    Components are scaled to length one before they are compared. Where one component is the largest
    of all classes, the classes are cut in groups of equal size, in the order of its share; where
    all means are the same, in the order of the classes. There are no more components than features;
    a single feature is cut in groups of equal size. Features are not scaled: those with large
    values count more.

    References
    ----------
    L. Liu, P. M. Comar, S. Saha, P.-N. Tan, A. Nucci (2012). Recursive NMF: efficient label tree
    learning for large multi-class problems. ICPR 2012, 2148-2151.
    https://ieeexplore.ieee.org/document/6460587

    D. Kuang, H. Park (2013). Fast rank-2 nonnegative matrix factorization for hierarchical document
    clustering. KDD 2013. doi:10.1145/2487575.2487606

    Examples
    --------
    >>> X = [[9, 0, 1], [8, 0, 2], [7, 1, 0], [0, 9, 1], [1, 8, 0], [0, 7, 2]]
    >>> tree = NMFTree(leaf_size=3, random_state=0).fit(X, list("abcdef"))
    >>> [group.tolist() for group in tree.tree_.groups]
    [[0, 1, 2, 3, 4, 5], [0, 1, 2], [3, 4, 5]]
    """

    @from_paper(p="branching")
    def __init__(
        self,
        branching: int = 2,
        *,
        leaf_size: int = 4,
        max_iter: int = 200,
        tol: float = 1e-4,
        min_side: float = 0.0,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.leaf_size = leaf_size
        self.max_iter = max_iter
        self.tol = tol
        self.min_side = min_side
        self.max_depth = max_depth
        self.random_state = random_state

    def _begin(self, problem: ClassProblem) -> tuple[ClassProblem, Any]:
        """Gather class means; see `Partition.begin`."""
        check_branching(self.branching)
        means: Any = problem.statistics.mean
        if sparse.issparse(means) and means.data.size and means.data.min() < 0:
            means = sparse.hstack([means.maximum(0), (-means).maximum(0)], format="csr")
            means.eliminate_zeros()  # scipy 1.13 keeps those of the maximum
        return problem, means

    def _split(
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
        """Return the share of every component in every class, of shape (n_here, k)."""
        from sklearn.decomposition import NMF  # takes long to import
        from sklearn.exceptions import ConvergenceWarning

        model = NMF(k, init="nndsvd", max_iter=self.max_iter, tol=self.tol, random_state=seed)
        # the error of an exact factorization may be below zero by rounding; it is not used
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            warnings.simplefilter("ignore", ConvergenceWarning)  # groups stay the same long before
            parts = model.fit_transform(means)
        parts = parts * np.linalg.norm(model.components_, axis=1)
        totals = parts.sum(axis=1, keepdims=True)
        shares = np.divide(parts, totals, out=np.zeros_like(parts), where=totals > 0)
        return np.asarray(shares)


def _not_negative(means: Any) -> Any:
    """Return means without negative values; None where they are all the same."""
    if not sparse.issparse(means):
        shifted = means - means.min(axis=0)
        return shifted if shifted.any() else None
    first = means[[0] * means.shape[0]]
    return means if abs(means - first).max() > 0 else None
