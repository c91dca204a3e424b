"""The geometry of one node for Fisher discriminants: one factorisation, then small products.

The within scatter of two soft sides is the node's total covariance T less a multiple of dd', where
d is the difference of the sides' means. By Sherman and Morrison the discriminant is therefore
proportional to inverse(T + rI) d, whatever the sides are: means are whitened by T + rI once, and
every step of the search is then a product with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from palmette.partition.base import IntArray

__all__ = ["ClassSpread", "FisherNode", "look_at_node"]

Floats = NDArray[np.float64]
Kind = Literal["scatter", "diagonal", "pooled"]

# Up to as many dimensions, covariances of the classes are projected once rather than at every step.
_FEW = 32


@dataclass(frozen=True, eq=False)
class ClassSpread:
    """Means and covariances of standardised features, for all classes.

    Parameters
    ----------
    weight : array of shape (n_classes,)
    mean : array of shape (n_classes, n_features)
    kind : {"scatter", "diagonal", "pooled"}
    covariance : array
        Of every class, of shape (n_classes, n_features, n_features), their diagonals, of shape
        (n_classes, n_features), or one for all, of shape (n_features, n_features).
    """

    weight: Floats
    mean: Floats
    kind: Kind
    covariance: Floats

    def of(self, classes: IntArray) -> Floats:
        """Covariances of some classes, in the shape of `covariance`."""
        if self.kind == "pooled" or len(classes) == len(self.weight):
            return self.covariance
        return self.covariance[classes]


@dataclass(frozen=True, eq=False)
class FisherNode:
    """What the search for two sides works with.

    Parameters
    ----------
    share : array of shape (n_here,)
        Of the classes in the node's weight; sums to one.
    whitened : array of shape (n_here, n_dims)
        Means of the classes, centred, in coordinates in which T + rI is the identity.
    variances : callable
        From a direction in these coordinates to the variances of the classes along it.
    """

    share: Floats
    whitened: Floats
    variances: Callable[[Floats], Floats]

    def leading_axis(self) -> Floats:
        """Coordinates of the classes on the leading eigenvector of between scatter against T + rI.

        Returns
        -------
        array of shape (n_here,)
            The larger of its extremes is positive.
        """
        scaled = self.whitened * np.sqrt(self.share)[:, None]
        scatter = scaled.T @ scaled
        axis = self.whitened @ np.linalg.eigh(scatter)[1][:, -1]
        return axis if axis.max() >= -axis.min() else -axis


def look_at_node(spread: ClassSpread, classes: IntArray, ridge: float) -> FisherNode | None:
    """Whiten the means of a node's classes; None where its rows are all the same.

    Parameters
    ----------
    spread : ClassSpread
    classes : int array of shape (n_here,)
    ridge : float
        r as a share of the mean variance of a feature.

    Returns
    -------
    FisherNode or None
    """
    share = spread.weight[classes] / spread.weight[classes].sum()
    means = spread.mean[classes] - share @ spread.mean[classes]
    own = spread.of(classes)
    within = own if spread.kind == "pooled" else np.tensordot(share, own, axes=1)
    variance = (within if within.ndim == 1 else np.diagonal(within)) + share @ means**2
    if not variance.any():
        return None
    # a ridge of zero would leave nothing to divide by where features repeat each other
    added = max(ridge, 1e-10) * variance.mean()
    if within.ndim == 1 and len(classes) < len(within):
        whitened, back = _whiten_wide(means, share, within + added)
    else:
        whitened, back = _whiten(means, share, within, added)
    return FisherNode(share, whitened, _variances(spread.kind, own, back, len(classes)))


def _whiten(means: Floats, share: Floats, within: Floats, added: float) -> tuple[Floats, Floats]:
    """Whitened means and the map from whitened directions to discriminants, by Cholesky."""
    n_here, n_features = means.shape
    scaled = means * np.sqrt(share)[:, None]
    total = scaled.T @ scaled
    total += np.diag(within) if within.ndim == 1 else within
    total[np.diag_indices(n_features)] += added
    factor = cholesky(total, lower=True, overwrite_a=True, check_finite=False)
    whitened = solve_triangular(factor, means.T, lower=True, check_finite=False)
    if n_here > n_features:
        back = np.eye(n_features)
    else:  # all directions that will be asked for lie among the means
        back, coordinates = _span(whitened * np.sqrt(share))
        whitened = coordinates / np.sqrt(share)
    back = solve_triangular(factor, back, lower=True, trans="T", check_finite=False)
    return np.ascontiguousarray(whitened.T), back


def _span(vectors: Floats) -> tuple[Floats, Floats]:
    """Orthonormal basis of columns, and the columns' coordinates in it."""
    basis, sizes, rotation = np.linalg.svd(vectors, full_matrices=False)
    kept = sizes > 1e-10 * max(sizes[0], 1e-300)
    kept[0] = True
    return basis[:, kept], sizes[kept, None] * rotation[kept]


def _whiten_wide(means: Floats, share: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
    """Do as `_whiten` does, for a diagonal within covariance and fewer classes than features."""
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
