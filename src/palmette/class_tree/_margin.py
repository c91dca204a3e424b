"""MarginTree: classes and groups are joined by the margins between them."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage

from palmette._arrays import FloatArray
from palmette.base._class_moments import dense
from palmette.base._grow import ClassProblem, IntArray, least_side
from palmette.class_tree._agglomerative import Dendrogram
from palmette.class_tree._learner import ClassTreeLearner
from palmette.exceptions import PalmetteError

_METHODS = ("complete", "average", "single")
_MOST_CLASSES = 5_000  # 12.5 million pairs, each a problem of its own
_TOLERANCE = 1e-4  # of libsvm, for rows of about unit length
_NOTHING = 1e-3  # of that length: a margin that may be an error of libsvm's
_TIE = 1e-6


class MarginTree(ClassTreeLearner):
    """Join the classes with the smallest margin between them first, and divide groups in turn.

    The margin of two classes is the distance between their hulls, which is the width of the widest
    band between them (a support vector machine with a hard margin). Classes overlap in most data,
    so the hulls are reduced: no row has more than ``1 / (nu * n_rows)`` of the weight of its class.
    Classes that are hard to distinguish stay together, as in a BHC tree.

    Parameters
    ----------
    nu : float, default=0.5
        Reduction of the hulls, from 0 to 1: 0 for the hulls themselves, as published, which classes
        that overlap make useless; 1 for the means, whose tree is the dendrogram of
        `AgglomerativeTree`. The value is that of a support vector machine with ``nu``.
    method : {"complete", "average", "single"}, default="complete"
        Margin between groups: the largest, the mean or the smallest of the margins of their
        classes. "complete" is recommended in the paper, since its trees are the most balanced.
    branching : int, default=2
        Number of parts of a group: the last ``branching - 1`` merges are undone at once.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    min_side : float, default=0.0
        Minimum share of a group's classes on either side of the first cut, as in
        `AgglomerativeTree`.
    max_depth : int, optional
        Groups at this depth are not divided.
    n_jobs : int, optional
        Number of threads; the tree does not depend on it.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`
    margins_ : array of shape (n_classes, n_classes)
        Margins between the classes, in units of the scaled features; zero where they overlap.

    Notes
    -----
    Every pair of classes is a quadratic program of the rows of both (`sklearn.svm.NuSVC`): 1,225 of
    them for 50 classes, and 124,750 for 500. Dense features are scaled to mean zero and variance
    one, in a copy of X; sparse X is not scaled.

    References
    ----------
    R. Tibshirani, T. Hastie (2007). Margin trees for high-dimensional classification. JMLR 8.

    D. J. Crisp, C. J. C. Burges (1999). A geometric interpretation of nu-SVM classifiers.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [8.0], [9.0]]
    >>> tree = MarginTree(nu=0.0).fit(X, ["ant", "ant", "bee", "bee", "whale", "whale"])
    >>> print(tree.hierarchy_.draw())
    root
    ├─ group 1
    │  ├─ ant
    │  └─ bee
    └─ whale
    """

    _one_blas_thread = True

    def __init__(
        self,
        nu: float = 0.5,
        *,
        method: Literal["complete", "average", "single"] = "complete",
        branching: int = 2,
        leaf_size: int = 1,
        min_side: float = 0.0,
        max_depth: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.nu = nu
        self.method = method
        self.branching = branching
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth
        self.n_jobs = n_jobs

    def _begin(self, problem: ClassProblem) -> tuple[Dendrogram, FloatArray]:
        """Compute all margins and the whole dendrogram; see `Partition.begin`."""
        self._check(problem.n_classes)
        rows = _scaled_rows(problem)
        margins = class_margins(problem, rows, self.nu)
        # of equal margins, such as those of classes that overlap, the nearer means come first
        apart = class_margins(problem, rows, 1.0)
        near = (margins + _TIE * apart)[np.triu_indices(problem.n_classes, 1)]
        return Dendrogram.from_linkage(linkage(near, self.method)), margins

    def _split(
        self, state: tuple[Dendrogram, FloatArray], classes: IntArray, node: int
    ) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        return state[0].cut(classes, self.branching, least_side(len(classes), self.min_side))

    def _finish(self, state: tuple[Dendrogram, FloatArray]) -> None:
        self.margins_ = state[1]

    def _check(self, n_classes: int) -> None:
        """Raise an error for parameters out of range, or for too many classes."""
        if not isinstance(self.nu, Real) or not 0.0 <= float(self.nu) <= 1.0:
            raise PalmetteError(f"nu={self.nu!r}: expected a number from 0 to 1.")
        if self.method not in _METHODS:
            raise PalmetteError(f"method={self.method!r}: expected one of {', '.join(_METHODS)}.")
        if not isinstance(self.branching, Integral) or self.branching < 2:
            raise PalmetteError(f"branching={self.branching!r}: expected an integer of at least 2.")
        if n_classes > _MOST_CLASSES:
            raise PalmetteError(
                f"y has {n_classes:,} classes: MarginTree compares every two of them and takes "
                f"{_MOST_CLASSES:,} at most. Use MFTree or AgglomerativeTree."
            )


def class_margins(problem: ClassProblem, X: Any, nu: float) -> FloatArray:
    """Return the distances between the reduced hulls of all classes.

    Parameters
    ----------
    problem : ClassProblem
    X : array or CSR array of shape (n_samples, n_features)
        Its rows, scaled.
    nu : float
        No row has more than ``1 / (nu * n_rows)`` of the weight of its class.

    Returns
    -------
    array of shape (n_classes, n_classes)
        Symmetric, with a diagonal of zeros.
    """
    rows = [X[of_class] for of_class in problem.rows_of]
    given = problem.weights
    weights = [
        np.ones(len(of_class)) if given is None else given[of_class] for of_class in problem.rows_of
    ]
    shares = [each / each.sum() for each in weights]
    pairs = list(zip(*np.triu_indices(problem.n_classes, 1), strict=True))

    def margin(pair: tuple[int, int]) -> float:
        i, j = pair
        return hull_distance(rows[i], rows[j], shares[i], shares[j], nu)

    run: Callable[..., Any] = map if problem.run is None else problem.run
    margins = np.zeros((problem.n_classes, problem.n_classes))
    for (i, j), found in zip(pairs, run(margin, pairs), strict=True):
        margins[i, j] = margins[j, i] = found
    return margins


def _scaled_rows(problem: ClassProblem) -> Any:
    """Return standardized rows, or sparse ones as they are."""
    if sparse.issparse(problem.X):
        return problem.X
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(problem.X, sample_weight=problem.weights)


def hull_distance(
    one: Any, other: Any, one_share: FloatArray, other_share: FloatArray, nu: float
) -> float:
    """Return the distance between the reduced hulls of two sets of rows.

    Parameters
    ----------
    one, other : arrays or CSR arrays of shape (n_one, n_features), (n_other, n_features)
    one_share, other_share : arrays of shape (n_one,), (n_other,)
        Weights of the rows, which sum to one. A point of a reduced hull gives a row no more than
        its share over `nu`.
    nu : float

    Returns
    -------
    float
        Zero where the hulls overlap.

    Examples
    --------
    >>> one, other = np.array([[0.0], [1.0]]), np.array([[3.0], [5.0]])
    >>> half = np.full(2, 0.5)
    >>> [round(hull_distance(one, other, half, half, nu), 6) for nu in (0.0, 1.0)]
    [2.0, 3.5]
    """
    shares = np.concatenate([one_share, other_share])
    # with so small a nu, a row may have all of the weight of its class
    nu = max(nu, float(min(one_share.min(), other_share.min())))
    X: Any
    if sparse.issparse(one):
        X = sparse.vstack([one, other], format="csr")
    else:
        X = np.vstack([one, other])
    nothing = 0.0
    if nu == 1.0 or len(shares) == 2:
        taken = np.concatenate([one_share, -other_share])
    else:
        squares = X.multiply(X).sum() if sparse.issparse(X) else np.vdot(X, X)
        size = float(np.sqrt(squares / len(shares))) or 1.0
        taken = _nearest_points(X / size, len(one_share), shares, nu)
        nothing = _NOTHING * size
    found = float(np.linalg.norm(np.ravel(dense(taken @ X))))
    return found if found > nothing else 0.0


def _nearest_points(X: Any, n_one: int, shares: FloatArray, nu: float) -> FloatArray:
    """Return the weights of the nearest points of two reduced hulls, negative for the second."""
    from sklearn import config_context
    from sklearn.svm import NuSVC

    y = np.repeat([1, -1], [n_one, len(shares) - n_one])
    # bounds of libsvm are the weights, and the weight of a class is nu / 2 times their number
    model = NuSVC(nu=nu, kernel="linear", tol=_TOLERANCE)
    taken = np.zeros(len(y))
    with config_context(assume_finite=True):
        try:
            model.fit(X, y, sample_weight=0.5 * len(y) * shares)
        except ValueError as error:
            if "not finite" in str(error):  # hulls overlap: libsvm divides by a margin of zero
                return taken
            raise
    found = dense(model.dual_coef_).ravel()
    total = np.abs(found).sum() / 2
    if not np.isfinite(total) or total == 0.0:
        return taken
    taken[model.support_] = found / total
    return taken if model.classes_[1] == 1 else -taken
