"""Rows with features brought to one scale; sparse ones stay sparse, centred by algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["ScaledRows"]

FloatArray = NDArray[np.float64]

_NOTHING = 1e-12  # a spread this small beside the values is rounding: the feature is constant


class ScaledRows:
    """The matrix ``Z = S - 1 shift'``, where S is dense, or sparse, and the shift is implied.

    Make it with `standardized` or `plain`.

    Parameters
    ----------
    stored : array or CSR array of shape (n_rows, n_features)
    shift : array of shape (n_features,), or None for no shift
    """

    def __init__(self, stored: Any, shift: FloatArray | None = None) -> None:
        self._stored = stored
        self._shift = shift
        self.shape: tuple[int, int] = stored.shape

    @classmethod
    def plain(cls, X: Any) -> ScaledRows:
        """Take rows as they are."""
        return cls(X)

    @classmethod
    def standardized(cls, X: Any, weights: FloatArray) -> ScaledRows:
        """Bring every feature to mean 0 and variance 1; constant features become 0.

        Parameters
        ----------
        X : array or CSR array of shape (n_rows, n_features)
        weights : array of shape (n_rows,)
        """
        total = weights.sum()
        mean = np.asarray(X.T @ weights).ravel() / total
        if sparse.issparse(X):
            # the mean of squares less the square of the mean: sparse data lie near the origin
            power = np.asarray(X.multiply(X).T @ weights).ravel() / total
            variance = np.maximum(power - mean**2, 0.0)
        else:
            centred = X - mean
            power = np.einsum("i,ij,ij->j", weights, centred, centred) / total
            variance = power
        deviation = np.sqrt(variance)
        size = np.sqrt(variance + mean**2)
        floor = 1e-7 if sparse.issparse(X) else _NOTHING
        scale = np.divide(1.0, deviation, out=np.zeros_like(mean), where=deviation > floor * size)
        if sparse.issparse(X):
            return cls(sparse.csr_array(X @ sparse.diags_array(scale)), mean * scale)
        centred *= scale
        return cls(centred)

    def times(self, W: FloatArray) -> FloatArray:
        """Return Z W, of shape (n_rows, n_columns)."""
        product = np.asarray(self._stored @ W)
        return product if self._shift is None else product - self._shift @ W

    def transposed_times(self, V: FloatArray) -> FloatArray:
        """Return Z' V, of shape (n_features, n_columns)."""
        product = np.asarray(self._stored.T @ V)
        if self._shift is None:
            return product
        return product - np.outer(self._shift, V.sum(axis=0))

    def columns(self, chosen: NDArray[np.intp]) -> ScaledRows:
        """Return some of the features."""
        shift = None if self._shift is None else self._shift[chosen]
        return ScaledRows(self._stored[:, chosen], shift)

    def row_gram(self, weights: FloatArray) -> FloatArray:
        """Return Z diag(weights) Z', of shape (n_rows, n_rows); weights are of features."""
        root = np.sqrt(weights)
        if self._shift is None and not sparse.issparse(self._stored):
            half = self._stored * root
            return np.asarray(half @ half.T)
        half = sparse.csr_array(self._stored @ sparse.diags_array(root))
        gram = _dense(half @ half.T)
        if self._shift is not None:
            cross = np.asarray(self._stored @ (weights * self._shift))
            gram += self._shift @ (weights * self._shift) - cross[:, None] - cross
        return gram

    def column_gram(self, weights: FloatArray) -> FloatArray:
        """Return Z' diag(weights) Z, of shape (n_features, n_features); weights are of rows."""
        root = np.sqrt(weights)[:, None]
        if self._shift is None and not sparse.issparse(self._stored):
            half = self._stored * root
            return np.asarray(half.T @ half)
        half = sparse.csr_array(sparse.diags_array(root.ravel()) @ self._stored)
        gram = _dense(half.T @ half)
        if self._shift is not None:
            cross = np.outer(np.asarray(self._stored.T @ weights), self._shift)
            gram += weights.sum() * np.outer(self._shift, self._shift) - cross - cross.T
        return gram

    def squares(self, weights: FloatArray) -> FloatArray:
        """Return the diagonal of `row_gram` without the rest, of shape (n_rows,)."""
        S = self._stored
        power = (S.multiply(S) if sparse.issparse(S) else S**2) @ weights
        if self._shift is None:
            return np.asarray(power)
        cross = np.asarray(S @ (weights * self._shift))
        return np.asarray(power - 2.0 * cross + self._shift @ (weights * self._shift))


def _dense(matrix: Any) -> FloatArray:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
