"""CoherentClassifier, the base of the multi-path classifiers, and their scaling of features."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from palmette._arrays import FloatArray
from palmette.base._multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError


class CoherentClassifier(MultilabelClassifier):
    """Base of classifiers that predict all nodes jointly, in trees and DAGs.

    Subclasses have the parameter ``missing`` in addition to those of `MultilabelClassifier`.
    """

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        if self.missing not in ("mean", "error"):
            raise PalmetteError(f"missing={self.missing!r}: expected 'mean' or 'error'.")
        return super()._read_features(X, reset=reset)

    def _scale(self, X: Any, weights: Any) -> Any:
        """Fit ``scaling_`` and return the scaled rows: float32, (n_samples, n_features)."""
        self.scaling_ = FeatureScaling().fit(X, weights)
        return self.scaling_.transform(X)

    def _has_one_path_per_row(self, Y: Any) -> bool:
        """Return whether every row has one path: as many nodes as the depth of the deepest."""
        if not self.hierarchy_.is_tree:
            return False
        depth = self.hierarchy_.depth[self.nodes_[Y.indices]]
        sizes = np.diff(Y.indptr)
        deepest = np.zeros(len(sizes), dtype=np.int64)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        np.maximum.at(deepest, rows, depth)
        return bool((sizes == deepest).all())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags


class FeatureScaling(BaseEstimator):  # type: ignore[misc]
    """Impute means, transform values to normal scores of their ranks, and standardise.

    For a column of two values the result equals standardisation alone. Sparse matrices stay sparse:
    their columns are only divided by their root mean squares.

    Parameters
    ----------
    ranks : bool
        Whether to transform values to normal scores of their ranks among the training rows.

    Attributes
    ----------
    fill_ : array of shape (n_features,)
        Values that replace missing values.
    shift_, scale_ : arrays of shape (n_features,)
        Means and standard deviations.

    Examples
    --------
    >>> scaling = FeatureScaling().fit(np.array([[1.0], [10.0], [1000.0], [np.nan]]))
    >>> print(scaling.transform(np.array([[1.0], [10.0], [1000.0]])).ravel().round(2))
    [-1.35 -0.41  1.35]
    """

    def __init__(self, ranks: bool = True) -> None:
        self.ranks = ranks

    def fit(self, X: Any, weights: FloatArray | None = None) -> FeatureScaling:
        """Compute means, ranks and scales.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Missing values are NaN.
        weights : array of shape (n_samples,), optional
            A weight of k equals k copies of a row.

        Returns
        -------
        self
        """
        weights = np.ones(X.shape[0]) if weights is None else weights
        self._ranks: _Ranks | None = None
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
            self._ranks = _Ranks.of(filled, weights)
            filled = self._ranks.scores_of(filled)
        self.shift_ = weights @ filled / weights.sum()
        self.scale_ = _scales(np.sqrt(weights @ (filled - self.shift_) ** 2 / weights.sum()))
        return self

    def transform(self, X: Any) -> Any:
        """Return scaled rows as float32, of shape (n_samples, n_features).

        They are sparse if X and the training rows are sparse.
        """
        if sparse.issparse(X):
            if not self.shift_.any() and self._ranks is None:
                return sparse.csr_array(X.multiply(1.0 / self.scale_)).astype(np.float32)
            X = X.toarray()
        X = np.asarray(X, dtype=np.float64)
        filled = np.where(np.isnan(X), self.fill_, X)
        if self._ranks is not None:
            filled = self._ranks.scores_of(filled)
        return ((filled - self.shift_) / self.scale_).astype(np.float32, order="C")


@dataclass(frozen=True, eq=False)
class _Ranks:
    """Normal scores of the ranks of values among the training values; ties have equal scores.

    Parameters
    ----------
    levels : array of shape (n_levels,)
        The distinct training values, ascending, column after column.
    starts : int array of shape (n_features + 1,)
        Start of the levels of each column.
    scores : array of shape (2 n_levels + n_features,)
        Per column: scores of values below its first level, equal to it, between it and the next...
    """

    levels: FloatArray
    starts: NDArray[np.int64]
    scores: FloatArray

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray) -> _Ranks:
        """Compute ranks of training rows of shape (n_samples, n_features)."""
        columns = []
        for column in np.ascontiguousarray(X.T):
            levels, place = np.unique(column, return_inverse=True)
            weight_of = np.asarray(np.bincount(place, weights), dtype=np.float64)
            columns.append((levels, np.cumsum(weight_of)))
        return cls._joined(columns)

    @classmethod
    def _joined(cls, columns: list[tuple[FloatArray, FloatArray]]) -> _Ranks:
        """Concatenate columns, given their levels and the cumulative weights."""
        every, sizes, scores = [np.empty(0)], [0], [np.empty(0)]
        for levels, up_to in columns:
            below = np.concatenate([[0.0], up_to])
            twice = np.empty(2 * len(levels) + 1)  # twice the weight below plus half of the ties
            twice[::2], twice[1::2] = 2.0 * below, below[:-1] + below[1:]
            every.append(levels)
            sizes.append(len(levels))
            scores.append(ndtri((twice + 1.0) / (2.0 * (below[-1] + 1.0))))
        return cls(np.concatenate(every), np.cumsum(sizes), np.concatenate(scores))

    def scores_of(self, X: FloatArray) -> FloatArray:
        """Return the scores of rows, of shape (n_samples, n_features)."""
        found = np.empty((X.shape[1], X.shape[0]))
        by_column = np.ascontiguousarray(X.T)
        for j, (start, stop) in enumerate(itertools.pairwise(self.starts.tolist())):
            levels = self.levels[start:stop]
            first = np.searchsorted(levels, by_column[j], side="left")
            known = levels[np.minimum(first, len(levels) - 1)] == by_column[j]
            found[j] = self.scores[2 * (start + first) + j + known]
        return found.T


def _scales(spread: FloatArray) -> FloatArray:
    """Return the divisors of columns; 1 for constant columns."""
    return np.where(spread > 1e-12, spread, 1.0)
