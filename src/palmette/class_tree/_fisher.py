"""BHCTree: class trees from soft Fisher discriminants (BHC).

One factorization per node is enough. The within scatter of two soft sides is the node's total
covariance T less a multiple of dd', where d is the difference of the sides' means. By Sherman and
Morrison the discriminant is therefore proportional to inverse(T + rI) d for all sides: the means
are whitened by T + rI once, and every step of the search is a product with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import entr, expit

from palmette._text import caller_level
from palmette.base._class_moments import dense
from palmette.base._grow import ClassProblem, IntArray
from palmette.base._parameters import from_paper, is_number
from palmette.class_tree._groups import cut_with_min_side, two_sides
from palmette.class_tree._learner import ClassTreeLearner
from palmette.exceptions import PalmetteError

Floats = NDArray[np.float64]
Kind = Literal["scatter", "diagonal", "pooled"]

_MOST = 2**26  # numbers in the statistics: 512 MiB; they are copied once while rows are read
_CONSTANT = 1e-20  # relative to the mean square: the variance of a constant feature
_STEPS, _COOLINGS = 20, 60
_FEW = 32  # dimensions up to which the covariances of the classes are projected once


class BHCTree(ClassTreeLearner):
    """Divide classes recursively by soft Fisher discriminants.

    Every class belongs to the left side to a degree. Fisher's discriminant of the two soft sides
    and the likelihoods of the classes along it give new degrees, repeatedly; the temperature of
    this step falls until the degrees are close to 0 and 1. Only weights, means and scatters of the
    classes are needed, so that rows are read once. Constant features are left out; others are
    standardized.

    Parameters
    ----------
    start : {"eigenvector", "first_class"}, default="eigenvector"
        Initial degrees: from the leading eigenvector of the scatter between classes, which does not
        depend on the order of the classes; or, as published, 1 for the first class and 1/2 for all
        others.
    T0 : float, default=1.0
        First temperature, the T of Algorithm 1. It has no unit. With 100 all classes end on one
        side; at .1 and below trees become chains.
    cooling : float, default=0.8
        Factor of the temperature, between 0 and 1.
    theta_H : float, default=0.05
        The search ends when the mean entropy of the degrees, in bits, is below this value.
    ridge : float, default=1e-3
        Added to the covariances, as a share of the mean variance of a feature.
    covariance : {"auto", "scatter", "diagonal", "pooled"}, default="auto"
        What is kept of the classes' scatter: all, which takes n_classes * n_features**2 numbers,
        variances only, or one scatter for all classes. "auto" keeps all up to 2**26 numbers (512
        MiB); above, with a warning, one for all, or variances if one for all is too large as well.
    leaf_size : int, default=1
        Maximum number of classes in a group that is not divided.
    min_side : float, default=0.05
        Minimum share of a group's classes on a side, 0 to .5, which bounds the depth: the classes
        nearest to the cut change sides.
    max_depth : int, optional
        Groups at this depth are not divided.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_, tree_ : as in `RandomTree`

    References
    ----------
    S. Kumar, J. Ghosh, M. M. Crawford (2002). Hierarchical fusion of multiple classifiers for
    hyperspectral data analysis. Pattern Analysis and Applications 5, 210-220.
    doi:10.1007/s100440200019

    G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009, LNCS 5519,
    32-41, Algorithm 1. doi:10.1007/978-3-642-02326-2_4

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> tree = BHCTree().fit(*load_iris(return_X_y=True))
    >>> print(tree.hierarchy_.draw())
    root
    ├─ 0
    └─ group 2
       ├─ 1
       └─ 2
    """

    _one_blas_thread = True

    @from_paper(T="T0 (its first value) and cooling")
    def __init__(
        self,
        start: Literal["eigenvector", "first_class"] = "eigenvector",
        *,
        T0: float = 1.0,
        cooling: float = 0.8,
        theta_H: float = 0.05,
        ridge: float = 1e-3,
        covariance: Literal["auto", "scatter", "diagonal", "pooled"] = "auto",
        leaf_size: int = 1,
        min_side: float = 0.05,
        max_depth: int | None = None,
    ) -> None:
        self.start = start
        self.T0 = T0
        self.cooling = cooling
        self.theta_H = theta_H
        self.ridge = ridge
        self.covariance = covariance
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth

    def _begin(self, problem: ClassProblem) -> ClassSpread | None:
        """Gather and standardize the statistics; None where all features are constant."""
        self._check()
        n_features = problem.X.shape[1]
        return _standardize(problem, self._kind(problem.n_classes, n_features))

    def _split(self, state: ClassSpread | None, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        found = None if state is None else whiten_node(state, classes, self.ridge)
        if found is None:
            return []
        scores = self._anneal(found)
        if scores is None:
            scores = _best_cut(found)
        if scores is None:
            return []
        return two_sides(classes, cut_with_min_side(scores, self.min_side))

    def _anneal(self, node: FisherNode) -> Floats | None:
        """Return the final log-odds of the left side; None if no step had two sides."""
        degrees = np.full(len(node.share), 0.5)
        if self.start == "first_class":
            degrees[0] = 1.0
        else:
            degrees = (node.leading_axis() > 0).astype(np.float64)
        temperature = self.T0
        last = None
        for _ in range(_COOLINGS):
            criterion = -np.inf
            for _ in range(_STEPS):
                before = criterion
                step = _fisher_step(node, degrees)
                if step is None:
                    return last
                odds, criterion = step
                degrees = expit(np.clip(odds / temperature, -500, 500))
                if 0 < np.count_nonzero(odds > 0) < len(odds):
                    last = odds
                if criterion - before <= 1e-3 * abs(criterion):
                    break
            entropy = (entr(degrees) + entr(1 - degrees)).mean() / np.log(2)
            if entropy < self.theta_H:
                break
            temperature *= self.cooling
        return last

    def _kind(self, n_classes: int, n_features: int) -> Kind:
        """Return what is kept of the scatter."""
        if self.covariance != "auto":
            return self.covariance
        if n_classes * n_features**2 <= _MOST:
            return "scatter"
        kind: Kind = "pooled" if n_features**2 <= _MOST // 8 else "diagonal"
        if n_classes * n_features > 4 * _MOST:
            raise PalmetteError(
                f"the means of {n_classes} classes and {n_features} features take "
                f"{n_classes * n_features / 2**27:.0f} GiB. Reduce the features first (such as by "
                "TruncatedSVD), or learn the tree with MFTree, which keeps them sparse."
            )
        instead = "one scatter for all classes" if kind == "pooled" else "variances only"
        warnings.warn(
            f"the scatters of {n_classes} classes and {n_features} features take "
            f"{n_classes * n_features**2 / 2**27:.1f} GiB: {instead} are used instead, as with "
            f"covariance={kind!r}. Set covariance='scatter' to keep them all.",
            UserWarning,
            stacklevel=caller_level(),
        )
        return kind

    def _check(self) -> None:
        """Raise an error for parameters out of range."""
        if self.start not in ("eigenvector", "first_class"):
            raise PalmetteError(f"start={self.start!r}: expected 'eigenvector' or 'first_class'.")
        if self.covariance not in ("auto", "scatter", "diagonal", "pooled"):
            raise PalmetteError(
                f"covariance={self.covariance!r}: expected 'auto', 'scatter', 'diagonal' or "
                "'pooled'."
            )
        numbers = self.T0, self.cooling, self.theta_H, self.ridge
        if not all(map(is_number, numbers)) or not (
            self.T0 > 0 and 0 < self.cooling < 1 and self.theta_H > 0 and self.ridge >= 0
        ):
            raise PalmetteError(
                f"T0={self.T0!r}, cooling={self.cooling!r}, theta_H={self.theta_H!r} and "
                f"ridge={self.ridge!r}: expected numbers, T0 and theta_H above 0, cooling "
                "between 0 and 1, and a ridge of 0 or more."
            )


# ---------------------------------------------------------------------- the search


def _fisher_step(node: FisherNode, degrees: Floats) -> tuple[Floats, float] | None:
    """Return log-likelihoods, left less right, and Fisher's criterion: Steps 2 to 4."""
    left = degrees * node.share
    right = (1 - degrees) * node.share
    p_left, p_right = left.sum(), right.sum()
    if min(p_left, p_right) < 1e-12:
        return None
    shift = left @ node.whitened / p_left - right @ node.whitened / p_right
    q = shift @ shift
    if q < 1e-12:
        return None  # the means differ by rounding errors only
    place, variance = node.whitened @ shift, node.variances(shift)
    floor = 1e-6 * (node.share @ (variance + place**2))
    odds = _log_likelihood(place, variance, left / p_left, floor)
    odds -= _log_likelihood(place, variance, right / p_right, floor)
    return odds, q / (1 - p_left * p_right * q)


def _log_likelihood(place: Floats, variance: Floats, side: Floats, floor: float) -> Floats:
    """Return the mean log-likelihood of every class under the normal density of a side."""
    spread = variance + (place - side @ place) ** 2
    of_side = max(float(side @ spread), float(floor))
    return np.asarray(-0.5 * (np.log(of_side) + spread / of_side))


def _best_cut(node: FisherNode) -> Floats | None:
    """Return signed distances from the best cut across the leading axis."""
    axis = node.leading_axis()
    order = np.argsort(axis, kind="stable")
    place, share = axis[order], node.share[order]
    gaps = np.diff(place)
    allowed = gaps > 1e-9 * (place[-1] - place[0])
    if place[-1] - place[0] < 1e-6 or not allowed.any():
        return None
    p_left = np.cumsum(share)[:-1]
    moment = np.cumsum(share * place)[:-1]
    # the total scatter along the axis is the same for all cuts: compare the scatter between
    between = np.where(allowed, moment**2 / (p_left * (1 - p_left)), -1.0)
    cut = int(np.argmax(between))
    return np.asarray(axis - (place[cut] + place[cut + 1]) / 2)


# ---------------------------------------------------------------------- statistics of classes


@dataclass(frozen=True, eq=False)
class ClassSpread:
    """Means and covariances of standardized features, for all classes.

    Parameters
    ----------
    weight : array of shape (n_classes,)
    mean : array of shape (n_classes, n_features)
    kind : {"scatter", "diagonal", "pooled"}
    covariance : array
        That of every class, of shape (n_classes, n_features, n_features), the diagonals of these,
        of shape (n_classes, n_features), or one for all, of shape (n_features, n_features).
    """

    weight: Floats
    mean: Floats
    kind: Kind
    covariance: Floats

    def of(self, classes: IntArray) -> Floats:
        """Return the covariances of some classes, in the shape of `covariance`."""
        if self.kind == "pooled" or len(classes) == len(self.weight):
            return self.covariance
        return self.covariance[classes]


def _standardize(problem: ClassProblem, kind: Kind) -> ClassSpread | None:
    """Return statistics of features of variance one; None where all features are constant."""
    statistics = problem.gather(kind)
    weight, mean = statistics.weight, dense(statistics.mean)
    share = weight / weight.sum()
    centre = share @ mean
    covariance = dense(statistics.covariance)
    if kind == "pooled":
        within = np.diagonal(covariance)
    elif kind == "diagonal":
        within = share @ covariance
    else:
        within = share @ np.einsum("cii->ci", covariance)
    mean = mean - centre
    variance = within + share @ mean**2
    kept = variance > _CONSTANT * (variance + centre**2)
    if not kept.any():
        return None
    scale = 1 / np.sqrt(variance[kept])
    mean = mean[:, kept] * scale
    if kind == "diagonal":
        return ClassSpread(weight, mean, kind, covariance[:, kept] * scale**2)
    if not kept.all():
        covariance = covariance[..., kept, :][..., kept]
    covariance *= scale
    covariance *= scale[:, None]
    return ClassSpread(weight, mean, kind, covariance)


@dataclass(frozen=True, eq=False)
class FisherNode:
    """The classes of a node in whitened coordinates.

    Parameters
    ----------
    share : array of shape (n_here,)
        Share of every class in the weight of the node.
    whitened : array of shape (n_here, n_dims)
        Means of the classes, centred, in coordinates in which T + rI is the identity.
    variances : callable
        From a direction in these coordinates to the variances of the classes along it.
    """

    share: Floats
    whitened: Floats
    variances: Callable[[Floats], Floats]

    def leading_axis(self) -> Floats:
        """Return coordinates on the leading eigenvector of the scatter between against T + rI.

        Returns
        -------
        array of shape (n_here,)
            The larger of its extremes is positive.
        """
        scaled = self.whitened * np.sqrt(self.share)[:, None]
        scatter = scaled.T @ scaled
        axis = self.whitened @ np.linalg.eigh(scatter)[1][:, -1]
        return np.asarray(axis if axis.max() >= -axis.min() else -axis)


def whiten_node(spread: ClassSpread, classes: IntArray, ridge: float) -> FisherNode | None:
    """Whiten the means of a node's classes; return None where all rows are equal.

    Parameters
    ----------
    spread : ClassSpread
    classes : int array of shape (n_here,)
    ridge : float
        The value r, as a share of the mean variance of a feature.
    """
    share = spread.weight[classes] / spread.weight[classes].sum()
    means = spread.mean[classes] - share @ spread.mean[classes]
    own = spread.of(classes)
    within = own if spread.kind == "pooled" else np.tensordot(share, own, axes=1)
    variance = (within if within.ndim == 1 else np.diagonal(within)) + share @ means**2
    if not variance.any():
        return None
    # with a ridge of zero the matrix is singular where features repeat each other
    added = max(ridge, 1e-10) * variance.mean()
    if within.ndim == 1 and len(classes) < len(within):
        whitened, back = _whiten_wide(means, share, within + added)
    else:
        whitened, back = _whiten(means, share, within, added)
    return FisherNode(share, whitened, _variances(spread.kind, own, back, len(classes)))


def _whiten(means: Floats, share: Floats, within: Floats, added: float) -> tuple[Floats, Floats]:
    """Return whitened means, and the map from whitened directions to discriminants."""
    n_here, n_features = means.shape
    scaled = means * np.sqrt(share)[:, None]
    total = scaled.T @ scaled
    total += np.diag(within) if within.ndim == 1 else within
    total[np.diag_indices(n_features)] += added
    factor = cholesky(total, lower=True, overwrite_a=True, check_finite=False)
    whitened = solve_triangular(factor, means.T, lower=True, check_finite=False)
    if n_here > n_features:
        back = np.eye(n_features)
    else:  # all directions of the search are in the span of the means
        back, coordinates = _span(whitened * np.sqrt(share))
        whitened = coordinates / np.sqrt(share)
    back = solve_triangular(factor, back, lower=True, trans="T", check_finite=False)
    return np.ascontiguousarray(whitened.T), back


def _span(vectors: Floats) -> tuple[Floats, Floats]:
    """Return an orthonormal basis of columns, and the columns' coordinates in it."""
    basis, sizes, rotation = np.linalg.svd(vectors, full_matrices=False)
    kept = sizes > 1e-10 * max(sizes[0], 1e-300)
    kept[0] = True
    return basis[:, kept], sizes[kept, None] * rotation[kept]


def _whiten_wide(means: Floats, share: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
    """Return what `_whiten` does, for a diagonal covariance and fewer classes than features."""
    root = np.sqrt(share)[:, None]
    scaled = means * root
    values, vectors = np.linalg.eigh((scaled / diagonal) @ scaled.T)
    kept = values > 1e-20 * max(values[-1], 1e-300)
    kept[-1] = True
    values, vectors = np.maximum(values[kept], 1e-300), vectors[:, kept]
    # of the matrix inverse(diagonal + scaled' scaled), by Woodbury's identity
    whitened = vectors * np.sqrt(values / (1 + values)) / root
    back = (scaled / diagonal).T @ (vectors / np.sqrt(values * (1 + values)))
    return whitened, back


def _variances(kind: Kind, own: Floats, back: Floats, n_here: int) -> Callable[[Floats], Floats]:
    """Return the function from a direction to the variances of the classes along it."""
    n_features, n_dims = back.shape
    if kind == "diagonal":
        return lambda direction: own @ (back @ direction) ** 2
    if kind == "pooled":
        projected = back.T @ own @ back
        return lambda direction: np.full(n_here, direction @ projected @ direction)
    if n_dims < n_features and n_dims <= _FEW:
        own = back.T @ (own @ back)
        back = np.eye(n_dims)
    flat = own.reshape(-1, own.shape[-1])

    def along(direction: Floats) -> Floats:
        discriminant = back @ direction
        return (flat @ discriminant).reshape(n_here, -1) @ discriminant

    return along
