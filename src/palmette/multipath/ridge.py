"""Kernel ridge regression of many labels, with leave-one-out predictions in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

__all__ = ["Decomposed", "Matrix", "cosine_kernel", "nystroem_map", "solve_ridge", "unit_rows"]

Matrix = NDArray[np.float32] | NDArray[np.float64]


def unit_rows(X: Any) -> Any:
    """Rows divided by their lengths; rows of zeros stay what they are."""
    if sparse.issparse(X):
        lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return sparse.csr_array(sparse.diags_array(inverse.astype(X.dtype)) @ X)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0)


def cosine_kernel(A: Any, B: Any, gamma: float) -> Matrix:
    """Return exp(gamma (cos - 1)) between unit rows: shape (n_a, n_b), 1 for equal directions."""
    product = A @ B.T
    kernel: Matrix = product.toarray() if sparse.issparse(product) else product
    kernel -= 1.0
    kernel *= gamma
    return np.exp(kernel, out=kernel)


@dataclass(frozen=True, eq=False)
class Decomposed:
    """A kernel matrix as vectors and values, with the labels along the vectors.

    With weights the rows are scaled by their roots, so that ridge regression minimises the weighted
    squared error.

    Parameters
    ----------
    vectors : array of shape (n, n)
    values : array of shape (n,)
    turned : array of shape (n, n_columns)
        Centred labels along the vectors.
    root : array of shape (n,)
        Roots of the weights.
    """

    vectors: Matrix
    values: Matrix
    turned: Matrix
    root: Matrix

    @classmethod
    def of(cls, kernel: Matrix, labels: Matrix, root: Matrix) -> Decomposed:
        """Decompose; `kernel` is used up."""
        kernel *= root[:, None]
        kernel *= root
        # twice as fast as the driver that scipy takes by itself, where all vectors are asked for
        values, vectors = linalg.eigh(kernel, driver="evd", overwrite_a=True, check_finite=False)
        return cls(vectors, np.maximum(values, 0.0), vectors.T @ (root[:, None] * labels), root)

    def coefficients(self, ridge: float) -> Matrix:
        """Dual coefficients of shape (n, n_columns)."""
        shrunk = self.turned / (self.values + ridge)[:, None]
        return np.asarray(self.root[:, None] * (self.vectors @ shrunk))

    def left_out(self, ridge: float, labels: Matrix) -> Matrix:
        """Predictions for every row by the fit without it: shape (n, n_columns).

        A residual without its row is the residual with it over one less its leverage.
        """
        share = self.values / (self.values + ridge)
        fitted = self.vectors @ (share[:, None] * self.turned)
        fitted /= self.root[:, None]
        leverage = np.einsum("ij,j,ij->i", self.vectors, share, self.vectors)
        rest = np.maximum(1.0 - leverage, 1e-6)[:, None]
        return np.asarray(labels - (labels - fitted) / rest)


def solve_ridge(kernel: Matrix, labels: Matrix, root: Matrix, ridge: float) -> Matrix:
    """Dual coefficients of one ridge by Cholesky: shape (n, n_columns); `kernel` is used up."""
    kernel *= root[:, None]
    kernel *= root
    kernel.flat[:: len(kernel) + 1] += ridge
    factor = linalg.cho_factor(kernel, lower=True, overwrite_a=True, check_finite=False)
    solved = linalg.cho_solve(factor, root[:, None] * labels, check_finite=False)
    return np.asarray(root[:, None] * solved)


def nystroem_map(landmarks: Any, gamma: float) -> Matrix:
    """Matrix that makes features of kernels with landmarks: (n_landmarks, n_kept).

    Products of the features ``cosine_kernel(X, landmarks) @ map`` are kernels, as far as the
    landmarks can tell.
    """
    values, vectors = np.linalg.eigh(cosine_kernel(landmarks, landmarks, gamma).astype(np.float64))
    kept = values > 1e-6 * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]), dtype=np.float32)
