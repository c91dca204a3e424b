"""FisherPartition: two sides found by soft Fisher discriminants, cooled until they are hard."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, expit

from palmette.core.class_moments import dense
from palmette.exceptions import PalmetteError
from palmette.partition.base import ClassProblem, IntArray, Partition
from palmette.partition.fisher_node import ClassSpread, FisherNode, Kind, look_at_node
from palmette.partition.sides import cut_at_floor, two_sides

__all__ = ["FisherPartition"]

Floats = NDArray[np.float64]

_MOST = 2**26  # numbers in the statistics, half a GiB; a copy is made while they are read
_CONSTANT = 1e-20  # of its mean square: the variance of a feature that varies by rounding only
_STEPS, _COOLINGS = 20, 60


class FisherPartition(Partition):
    """Divide classes into two sides as the binary hierarchical classifier (BHC) does.

    Every class belongs to the left side to a degree. Fisher's discriminant of the two soft sides
    and the likelihoods of the classes along it give new degrees, again and again; the temperature
    of this step falls until the degrees are close to 0 and 1. Only weights, means and scatters of
    the classes are needed, and one Cholesky factorisation a node.

    Parameters
    ----------
    start : {"eigenvector", "first_class"}
        Degrees to begin with: by the leading eigenvector of the scatter between classes, which does
        not depend on the order of the classes, or 1 for the first class and 1/2 for all others, as
        published.
    T0 : float
        First temperature. It has no unit. With 100 all classes end on one side; at .1 and below
        trees become chains.
    cooling : float
        Factor of the temperature, between 0 and 1.
    theta_H : float
        The search ends when the mean entropy of the degrees, in bits, is below.
    ridge : float
        Added to the covariance, as a share of the mean variance of a feature.
    covariance : {"auto", "scatter", "diagonal", "pooled"}
        What is kept of the classes' scatter: all, which takes n_classes * n_features**2 numbers,
        variances alone, or one scatter for all classes. "auto" keeps all up to 2**26 numbers (512
        MiB); above, with a warning, one for all, or variances where that would be too much as well.
    min_side : float
        Least share of a node's classes on a side, 0 to .5: classes nearest to the cut are moved.

    References
    ----------
    S. Kumar, J. Ghosh, M. M. Crawford (2002). Hierarchical fusion of multiple classifiers for
    hyperspectral data analysis. Pattern Analysis and Applications 5, 210-220.

    G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009. Algorithm 1.

    Examples
    --------
    >>> from palmette.partition.base import ClassProblem
    >>> X = np.array([[0.0], [1.0], [9.0], [9.5], [1.5], [2.0]])
    >>> problem = ClassProblem(X, np.array([0, 0, 1, 1, 2, 2]), 3)
    >>> partition = FisherPartition()
    >>> partition.split(partition.begin(problem), np.arange(3), 0)
    [array([0, 2]), array([1])]
    """

    one_blas_thread = True

    def __init__(
        self,
        start: Literal["eigenvector", "first_class"] = "eigenvector",
        *,
        T0: float = 1.0,
        cooling: float = 0.8,
        theta_H: float = 0.05,
        ridge: float = 1e-3,
        covariance: Literal["auto", "scatter", "diagonal", "pooled"] = "auto",
        min_side: float = 0.0,
    ) -> None:
        self.start = start
        self.T0 = T0
        self.cooling = cooling
        self.theta_H = theta_H
        self.ridge = ridge
        self.covariance = covariance
        self.min_side = min_side

    def begin(self, problem: ClassProblem) -> ClassSpread | None:
        """Gather and standardise the statistics; None where no feature varies."""
        self._check()
        n_features = problem.X.shape[1]
        return _standardise(problem, self._kind(problem.n_classes, n_features))

    def split(self, state: ClassSpread | None, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        found = None if state is None else look_at_node(state, classes, self.ridge)
        if found is None:
            return []
        scores = self._anneal(found)
        if scores is None:
            scores = _best_cut(found)
        if scores is None:
            return []
        return two_sides(classes, cut_at_floor(scores, self.min_side))

    def _anneal(self, node: FisherNode) -> Floats | None:
        """Log-odds of the left side at the end of the search; None if no step had two sides."""
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
            f"covariance={kind!r}. Say covariance='scatter' to take them all.",
            UserWarning,
            stacklevel=5,  # the call of fit
        )
        return kind

    def _check(self) -> None:
        if self.start not in ("eigenvector", "first_class"):
            raise PalmetteError(f"start={self.start!r}: expected 'eigenvector' or 'first_class'.")
        if self.covariance not in ("auto", "scatter", "diagonal", "pooled"):
            raise PalmetteError(
                f"covariance={self.covariance!r}: expected 'auto', 'scatter', 'diagonal' or "
                "'pooled'."
            )
        if not self.T0 > 0 or not 0 < self.cooling < 1 or not self.theta_H > 0 or self.ridge < 0:
            raise PalmetteError(
                f"T0={self.T0!r}, cooling={self.cooling!r}, theta_H={self.theta_H!r} and "
                f"ridge={self.ridge!r}: expected T0 and theta_H above 0, cooling between 0 and 1, "
                "and a ridge of 0 or more."
            )


def _standardise(problem: ClassProblem, kind: Kind) -> ClassSpread | None:
    """Statistics of features of variance one over all rows; constant features are left out."""
    statistics = problem.gather(kind)
    weight, mean = statistics.weight, dense(statistics.mean)
    share = weight / weight.sum()
    centre = share @ mean
    covariance = dense(statistics.covariance)
    within = {
        "pooled": lambda: np.diagonal(covariance),
        "diagonal": lambda: share @ covariance,
        "scatter": lambda: share @ np.einsum("cii->ci", covariance),
    }[kind]()
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


def _fisher_step(node: FisherNode, degrees: Floats) -> tuple[Floats, float] | None:
    """Steps 2 to 4 of Algorithm 1: log-likelihoods left less right, and Fisher's criterion."""
    left = degrees * node.share
    right = (1 - degrees) * node.share
    p_left, p_right = left.sum(), right.sum()
    if min(p_left, p_right) < 1e-12:
        return None
    shift = left @ node.whitened / p_left - right @ node.whitened / p_right
    q = shift @ shift
    if q < 1e-12:
        return None  # means that differ by rounding only
    place, variance = node.whitened @ shift, node.variances(shift)
    floor = 1e-6 * (node.share @ (variance + place**2))
    odds = _log_likelihood(place, variance, left / p_left, floor)
    odds -= _log_likelihood(place, variance, right / p_right, floor)
    return odds, q / (1 - p_left * p_right * q)


def _log_likelihood(place: Floats, variance: Floats, side: Floats, floor: float) -> Floats:
    """Mean log-likelihood of the rows of every class under the Gaussian of a side."""
    spread = variance + (place - side @ place) ** 2
    of_side = max(side @ spread, floor)
    return -0.5 * (np.log(of_side) + spread / of_side)


def _best_cut(node: FisherNode) -> Floats | None:
    """Signed distances from the cut across the leading axis with the best criterion."""
    axis = node.leading_axis()
    order = np.argsort(axis, kind="stable")
    place, share = axis[order], node.share[order]
    gaps = np.diff(place)
    allowed = gaps > 1e-9 * (place[-1] - place[0])
    if place[-1] - place[0] < 1e-6 or not allowed.any():
        return None
    p_left = np.cumsum(share)[:-1]
    moment = np.cumsum(share * place)[:-1]
    # the total along the axis is the same for all cuts, so that the between part decides
    between = np.where(allowed, moment**2 / (p_left * (1 - p_left)), -1.0)
    cut = int(np.argmax(between))
    return axis - (place[cut] + place[cut + 1]) / 2
