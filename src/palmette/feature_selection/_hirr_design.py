"""The least-squares problem of one node: a design, with dense rows, sparse rows or a Gram matrix.

A *design* is the matrix of a node's rows, with indicators of its options as targets. The solvers
call the same methods for all three representations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from palmette._arrays import FloatArray
from palmette.feature_selection._hirr_descent import descend, objective_and_gap, row_norms

IndexArray = NDArray[np.int64]

FEW = 512  # number of features whose inner products are cheap to compute
MAX_PASSES = 1000  # over the active features, before the gradient of all is computed again


@dataclass(frozen=True, eq=False)
class Coupling:
    """Terms of a node's objective from other nodes: ``ridge |W|^2 - 2 <pull, W> + <W, Q W>``.

    ``Q``, which is positive semidefinite, is given as a factor, ``Q = factor factor'``, or, where
    this has fewer numbers, as a matrix.

    Parameters
    ----------
    ridge : float
    pull : array of shape (n_features, n_targets)
    constant : float
        Constant that makes the terms a sum of squares.
    factor : array of shape (n_features, n_along), optional
    matrix : array of shape (n_features, n_features), optional
        In place of `factor`.
    """

    ridge: float
    pull: FloatArray
    constant: float
    factor: FloatArray | None = None
    matrix: FloatArray | None = None

    def value(self, rows: IndexArray, values: FloatArray) -> float:
        """Return the value of the terms at weights with some nonzero rows."""
        square, product = float(np.sum(values**2)), float(np.sum(self.pull[rows] * values))
        parent = self.ridge * square - 2.0 * product
        return parent + self.quadratic(rows, values) + self.constant

    def quadratic(self, rows: IndexArray, values: FloatArray) -> float:
        """Return ``<W, Q W>`` at weights with some nonzero rows."""
        if self.factor is not None:
            return float(np.sum((self.factor[rows].T @ values) ** 2))
        return float(np.sum(values * (self.block(rows) @ values)))

    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        """Return minus half the gradient of the terms at weights with some nonzero rows."""
        if self.factor is not None:
            gradient = self.pull - self.factor @ (self.factor[rows].T @ values)
        else:
            gradient = self.pull - _rows_of(self.matrix, rows).T @ values
        gradient[rows] -= self.ridge * values
        return gradient

    def block(self, rows: IndexArray) -> FloatArray:
        """Return ``Q`` of some features."""
        if self.factor is None:
            return _block_of(self.matrix, rows)
        factor = self.factor[rows]
        product: FloatArray = factor @ factor.T
        return product

    def factor_of(self, rows: IndexArray) -> FloatArray:
        """Return a factor of ``Q`` of some features, of shape (n_rows, n_along)."""
        if self.factor is not None:
            return self.factor[rows]
        found, vectors = np.linalg.eigh(self.block(rows))
        factor: FloatArray = vectors * np.sqrt(np.maximum(found, 0.0))
        return np.ascontiguousarray(factor[:, found > 0.0])


def _rows_of(matrix: Any, rows: IndexArray) -> FloatArray:
    found: FloatArray = matrix if len(rows) == len(matrix) else matrix[rows]
    return found


def _block_of(matrix: Any, rows: IndexArray) -> FloatArray:
    found: FloatArray = matrix if len(rows) == len(matrix) else matrix[np.ix_(rows, rows)]
    return found


class Design(ABC):
    """The loss ``|Z W - Y|^2`` of one node.

    Attributes
    ----------
    cross : array of shape (n_features, n_targets)
        ``Z' Y``.
    energy : float
        ``|Y|^2``, the loss of zero weights.
    squares : array of shape (n_features,)
        Diagonal of ``Z' Z``.
    """

    cross: FloatArray
    energy: float
    squares: FloatArray

    @property
    def lambda_max(self) -> float:
        """Smallest lambda at which zero weights are optimal, if nodes are not coupled."""
        return 2.0 * float(np.sqrt(np.max(np.sum(self.cross**2, axis=1), initial=0.0)))

    def loss(self, rows: IndexArray, values: FloatArray, gradient: FloatArray) -> float:
        """Return ``|Z W - Y|^2``, given the `gradient` of the loss without coupling."""
        return self.energy - float(np.sum((self.cross[rows] + gradient[rows]) * values))

    @abstractmethod
    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        """Return ``Z' (Y - Z W)``, of shape (n_features, n_targets), for nonzero `rows`."""

    @abstractmethod
    def block(self, rows: IndexArray) -> FloatArray:
        """Return ``Z' Z`` of some features."""

    def descend(
        self,
        active: IndexArray,
        values: FloatArray,
        gradient: FloatArray,
        coupling: Coupling | None,
        lam: float,
        tolerance: float,
    ) -> None:
        """Minimize over the rows `active` of the weights, in place.

        Parameters
        ----------
        active : int array of shape (n_active,)
        values : array of shape (n_active, n_targets), IN and OUT
        gradient : array of shape (n_active, n_targets), IN
            Gradient at `values`, with coupling.
        coupling : Coupling or None
        lam : float
        tolerance : float
            Maximum duality gap among these rows at convergence.
        """
        from palmette.feature_selection._hirr_descent import pass_over_gram

        quadratic, constant = self.block(active), self.energy
        if coupling is not None:
            quadratic = quadratic + coupling.block(active)
            quadratic[np.diag_indices(len(active))] += coupling.ridge
            constant += coupling.constant
        linear = gradient + quadratic @ values

        def one_pass(values: FloatArray, gradient: FloatArray) -> None:
            pass_over_gram(quadratic, lam, values, gradient)

        def long_step(values: FloatArray, gradient: FloatArray) -> None:
            reweighted_step(quadratic, linear, lam, values, gradient)

        def measure(values: FloatArray, gradient: FloatArray) -> tuple[float, float]:
            square = constant - float(np.sum((linear + gradient) * values))
            return objective_and_gap(square, lam, values, gradient, gradient)

        descend(one_pass, measure, (values, gradient.copy()), tolerance, MAX_PASSES, long_step)


class GramDesign(Design):
    """A design given by its Gram matrix.

    Parameters
    ----------
    gram : array of shape (n_features, n_features)
    cross : array of shape (n_features, n_targets)
    energy : float
    """

    def __init__(self, gram: FloatArray, cross: FloatArray, energy: float) -> None:
        self.gram, self.cross, self.energy = gram, cross, energy
        self.squares = np.diag(gram).copy()

    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        return self.cross - _rows_of(self.gram, rows).T @ values

    def block(self, rows: IndexArray) -> FloatArray:
        return _block_of(self.gram, rows)


class DenseDesign(Design):
    """A design with dense rows; inner products of features are computed when needed, and kept.

    Parameters
    ----------
    Z : array of shape (n_rows, n_features)
    targets : array of shape (n_rows, n_targets)
    """

    def __init__(self, Z: FloatArray, targets: FloatArray) -> None:
        self.Z = Z
        self.set_targets(targets)
        self.squares = np.einsum("ij,ij->j", Z, Z)
        self._place = np.full(Z.shape[1], -1, dtype=np.int64)
        self._columns = np.empty((0, len(Z)))
        self._gram = np.empty((0, 0))

    def set_targets(self, targets: FloatArray) -> None:
        """Replace the targets, of shape (n_rows, n_targets)."""
        self.targets, self.cross = targets, self.Z.T @ targets
        self.energy = float(np.sum(targets**2))

    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        return self.Z.T @ (self.targets - self.Z[:, rows] @ values)

    def block(self, rows: IndexArray) -> FloatArray:
        new = rows[self._place[rows] < 0]
        if len(new):
            self._place[new] = len(self._columns) + np.arange(len(new))
            columns = np.ascontiguousarray(self.Z[:, new].T)
            beside = self._columns @ columns.T
            self._gram = np.block([[self._gram, beside], [beside.T, columns @ columns.T]])
            self._columns = np.concatenate([self._columns, columns])
        places = self._place[rows]
        return self._gram[np.ix_(places, places)]


class SparseDesign(Design):
    """A design with sparse rows, ``Z = (X - unit means') / scales``, which is never formed.

    Parameters
    ----------
    X : CSC array of shape (n_rows, n_features)
    unit : array of shape (n_rows,)
        The constant column: square roots of the sample weights.
    targets : array of shape (n_rows, n_targets)
    means, scales : arrays of shape (n_features,)
        The means of the columns, or zeros.
    """

    def __init__(
        self, X: Any, unit: FloatArray, targets: FloatArray, means: FloatArray, scales: FloatArray
    ) -> None:
        self.X, self.unit, self.means, self.scales = X, unit, means, scales
        self.set_targets(targets)
        mass = float(unit @ unit)
        self.squares = (X.multiply(X).sum(axis=0) - mass * means**2) / scales**2

    def set_targets(self, targets: FloatArray) -> None:
        """Replace the targets, of shape (n_rows, n_targets)."""
        self.targets, self.cross = targets, self._transposed(targets)
        self.energy = float(np.sum(targets**2))

    def _transposed(self, residual: FloatArray) -> FloatArray:
        """Return ``Z' residual``."""
        product: FloatArray = self.X.T @ residual - np.outer(self.means, self.unit @ residual)
        return product / self.scales[:, None]

    def _residual(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        """Return the residual of the targets, up to a multiple of `unit` if columns are centred."""
        fitted: FloatArray = self.X[:, rows] @ (values / self.scales[rows, None])
        return self.targets - fitted

    def gradient(self, rows: IndexArray, values: FloatArray) -> FloatArray:
        return self._transposed(self._residual(rows, values))

    def block(self, rows: IndexArray) -> FloatArray:
        columns = self.X[:, rows]
        inner: FloatArray = (columns.T @ columns).toarray()
        inner -= float(self.unit @ self.unit) * np.outer(self.means[rows], self.means[rows])
        return inner / np.outer(self.scales[rows], self.scales[rows])

    def descend(
        self,
        active: IndexArray,
        values: FloatArray,
        gradient: FloatArray,
        coupling: Coupling | None,
        lam: float,
        tolerance: float,
    ) -> None:
        from palmette.feature_selection._hirr_descent import pass_over_columns

        columns = self.X[:, active]
        # inner products are formed if they are few, or if a pass over them reads less memory
        if len(active) <= FEW or len(active) ** 2 <= 2 * columns.nnz:
            super().descend(active, values, gradient, coupling, lam, tolerance)
            return
        curvature, constant = self.squares[active], 0.0
        ridge, pull, factor = 0.0, np.zeros_like(values), np.empty((len(active), 0))
        if coupling is not None:
            ridge, pull, factor = coupling.ridge, coupling.pull[active], coupling.factor_of(active)
            curvature = curvature + ridge + np.sum(factor**2, axis=1)
            constant = coupling.constant
        entries, rows, starts = columns.data, columns.indices, columns.indptr.astype(np.int64)
        means, scales = self.means[active], self.scales[active]

        def one_pass(values: FloatArray, residual: FloatArray, along: FloatArray) -> None:
            pass_over_columns(
                entries,
                rows,
                starts,
                means,
                scales,
                self.unit,
                curvature,
                ridge,
                pull,
                factor,
                lam,
                values,
                residual,
                along,
            )

        def measure(
            values: FloatArray, residual: FloatArray, along: FloatArray
        ) -> tuple[float, float]:
            parent = ridge * float(np.sum(values**2)) - 2.0 * float(np.sum(pull * values))
            square = self._square(residual) + float(np.sum(along**2)) + parent + constant
            product = columns.T @ residual - np.outer(means, self.unit @ residual)
            gradient = product / scales[:, None] + pull - ridge * values - factor @ along
            return objective_and_gap(square, lam, values, gradient, gradient)

        state = (values, self._residual(active, values), factor.T @ values)
        descend(one_pass, measure, state, tolerance, MAX_PASSES)

    def _square(self, residual: FloatArray) -> float:
        """Return the loss of a residual, known up to a multiple of `unit` with centring."""
        square = float(np.sum(residual**2))
        if self.means.any():
            square -= float(np.sum((self.unit @ residual) ** 2)) / float(self.unit @ self.unit)
        return square


def reweighted_step(
    quadratic: FloatArray, linear: FloatArray, lam: float, values: FloatArray, gradient: FloatArray
) -> None:
    """Make one step of IRLS over the nonzero rows, as coordinate descent is slow if they are many.

    Parameters
    ----------
    quadratic : array of shape (n_active, n_active), IN
    linear : array of shape (n_active, n_targets), IN
    lam : float
    values : array of shape (n_active, n_targets), IN and OUT
    gradient : array of shape (n_active, n_targets), OUT
        ``linear - quadratic @ values``
    """
    norms = row_norms(values)
    used = np.flatnonzero(norms > 0)
    matrix = quadratic[np.ix_(used, used)]
    matrix[np.diag_indices(len(used))] += 0.5 * lam / norms[used]
    factors = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    values[used] = cho_solve(factors, linear[used], check_finite=False)
    gradient[...] = linear - quadratic[:, used] @ values[used]
