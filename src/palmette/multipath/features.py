"""Features as distances and networks like them: no gaps, bell-shaped columns, one scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator

__all__ = ["FeatureScaling"]

FloatArray = NDArray[np.float64]


class FeatureScaling(BaseEstimator):
    """Fill gaps with means, turn values into normal scores of their ranks, standardise.

    A column of two values comes out as if it were standardised alone. Sparse matrices stay sparse:
    their columns are only divided by their root mean squares.

    Parameters
    ----------
    ranks : bool
        Whether values become normal scores of their ranks among the training rows.

    Attributes
    ----------
    fill_ : array of shape (n_features,)
        What stands for missing values.
    shift_, scale_ : arrays of shape (n_features,)

    Examples
    --------
    >>> scaling = FeatureScaling().fit(np.array([[1.0], [10.0], [1000.0], [np.nan]]))
    >>> print(scaling.transform(np.array([[1.0], [10.0], [1000.0]])).ravel().round(2))
    [-1.35 -0.41  1.35]
    """

    def __init__(self, ranks: bool = True) -> None:
        self.ranks = ranks

    def fit(self, X: Any, weights: FloatArray | None = None) -> FeatureScaling:
        """Learn means, ranks and scales.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            NaN is missing.
        weights : array of shape (n_samples,), optional
            A weight of k is k copies of a row.

        Returns
        -------
        self
        """
        weights = np.ones(X.shape[0]) if weights is None else weights
        self._sorted = self._below = None
        if sparse.issparse(X):
            squares = np.asarray(X.multiply(X).T @ weights).ravel() / weights.sum()
            self.fill_ = self.shift_ = np.zeros(X.shape[1])
            self.scale_ = _scales(np.sqrt(squares))
            return self
        X = np.asarray(X, dtype=np.float64)
        missing = np.isnan(X)
        counts = weights @ ~missing
        sums = weights @ np.where(missing, 0.0, X)
        self.fill_ = np.divide(sums, counts, out=np.zeros(X.shape[1]), where=counts > 0)
        filled = np.where(missing, self.fill_, X)
        if self.ranks:
            order = np.argsort(filled, axis=0, kind="stable")
            self._sorted = np.take_along_axis(filled, order, axis=0)
            nothing = np.zeros((1, X.shape[1]))
            self._below = np.concatenate([nothing, np.cumsum(weights[order], axis=0)])
            filled = self._normal_scores(filled)
        self.shift_ = weights @ filled / weights.sum()
        self.scale_ = _scales(np.sqrt(weights @ (filled - self.shift_) ** 2 / weights.sum()))
        return self

    def transform(self, X: Any) -> Any:
        """Return rows as float32, of shape (n_samples, n_features).

        Sparse where X is, unless the training rows were not.
        """
        if sparse.issparse(X):
            if not self.shift_.any() and self._sorted is None:
                return sparse.csr_array(X.multiply(1.0 / self.scale_)).astype(np.float32)
            X = X.toarray()
        X = np.asarray(X, dtype=np.float64)
        filled = np.where(np.isnan(X), self.fill_, X)
        if self._sorted is not None:
            filled = self._normal_scores(filled)
        return ((filled - self.shift_) / self.scale_).astype(np.float32)

    def _normal_scores(self, X: FloatArray) -> FloatArray:
        """Normal quantiles of the places of values among those of training; ties share theirs."""
        scores = np.empty_like(X)
        for j in range(X.shape[1]):
            column, below = self._sorted[:, j], self._below[:, j]
            first = np.searchsorted(column, X[:, j], side="left")
            after = np.searchsorted(column, X[:, j], side="right")
            scores[:, j] = ndtri((below[first] + below[after] + 1.0) / (2.0 * (below[-1] + 1.0)))
        return scores


def _scales(spread: FloatArray) -> FloatArray:
    """Divisors of columns; 1 for those that do not vary."""
    return np.where(spread > 1e-12, spread, 1.0)
