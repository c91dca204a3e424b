"""CoherentClassifier, the base of the multi-path classifiers, and their scaling of features."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from palmette._arrays import FloatArray
from palmette.base._column_units import Kind
from palmette.base._multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.multipath._categories import CategoryCodes, find_categorical

Flags: TypeAlias = NDArray[np.bool_]

_MAX_CATEGORIES = 255  # of one feature; the most frequent ones


class CoherentClassifier(MultilabelClassifier):
    """Base of classifiers that predict all nodes jointly, in trees and DAGs.

    Subclasses have the parameters ``missing`` and ``categorical_features`` in addition to those of
    `MultilabelClassifier`.

    Attributes
    ----------
    is_categorical_ : bool array of shape (n_features,) or None
        Which features are categories; None if no feature is.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"categorical_features": None, **state})  # files may lack it

    def _kind_of_units(self) -> Kind:
        return "own"  # rows are scaled in double precision, and categories have numbers

    def _check_features(self, X: Any, *, reset: bool) -> Any:
        if self.missing not in ("mean", "error"):
            raise PalmetteError(f"missing={self.missing!r}: expected 'mean' or 'error'.")
        if reset:
            self.is_categorical_ = find_categorical(self.categorical_features, X)
            self._codes = CategoryCodes.find(X, self.is_categorical_)
        codes: CategoryCodes | None = getattr(self, "_codes", None)
        if codes is None:
            return super()._check_features(X, reset=reset)
        allow_nan = "allow-nan" if self.missing == "mean" else True
        return codes.read(X, self, reset=reset, dtype=np.float64, ensure_all_finite=allow_nan)

    def _scale(self, X: Any, weights: Any) -> Any:
        """Fit ``scaling_`` and return the scaled rows: float32, (n_samples, n_columns)."""
        self.scaling_ = FeatureScaling()
        return self.scaling_.fit_transform(X, weights, self.is_categorical_)

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
    """Impute means, transform values to normal scores of their ranks, and standardize.

    For a column of two values the result equals standardization alone. A feature of categories
    becomes one column per category, 1 where a row has it, else 0; a missing category, and one that
    no training row has, is 0 in all of them. These columns come after all others, standardized.
    Sparse matrices stay sparse: their columns are only divided by their root mean squares.

    Parameters
    ----------
    ranks : bool
        Whether to transform values to normal scores of their ranks among the training rows.

    Attributes
    ----------
    fill_ : array of shape (n_numbers,)
        Values that replace missing values of the features that are numbers.
    shift_, scale_ : arrays of shape (n_columns,)
        Means and standard deviations.

    Examples
    --------
    >>> scaling = FeatureScaling().fit(np.array([[1.0], [10.0], [1000.0], [np.nan]]))
    >>> print(scaling.transform(np.array([[1.0], [10.0], [1000.0]])).ravel().round(2))
    [-1.35 -0.41  1.35]
    """

    def __init__(self, ranks: bool = True) -> None:
        self.ranks = ranks

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"_categories": None, **state})  # files may lack it

    def fit(
        self, X: Any, weights: FloatArray | None = None, categorical: Flags | None = None
    ) -> FeatureScaling:
        """Compute means, ranks and scales.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Missing values are NaN.
        weights : array of shape (n_samples,), optional
            A weight of k equals k copies of a row.
        categorical : bool array of shape (n_features,), optional
            Features whose values are categories.

        Returns
        -------
        self
        """
        self._learn(X, weights, categorical)
        return self

    def fit_transform(
        self, X: Any, weights: FloatArray | None = None, categorical: Flags | None = None
    ) -> Any:
        """Compute means, ranks and scales, and return the scaled rows; see `fit`, `transform`."""
        columns = self._learn(X, weights, categorical)
        return self.transform(X) if columns is None else self._scaled(columns)

    def _learn(
        self, X: Any, weights: FloatArray | None, categorical: Flags | None
    ) -> FloatArray | None:
        """Set all attributes; return the columns before scaling, or None if X is sparse."""
        weights = np.ones(X.shape[0]) if weights is None else weights
        self._ranks: _Ranks | None = None
        self._categories: _Categories | None = None
        if sparse.issparse(X):
            squares = np.asarray(X.multiply(X).T @ weights).ravel() / weights.sum()
            self.fill_ = self.shift_ = np.zeros(X.shape[1])
            self.scale_ = _scales(np.sqrt(squares), self.shift_)
            return None
        X = np.asarray(X, dtype=np.float64)
        if categorical is not None:
            self._categories = _Categories.of(X, weights, categorical)
        numbers = self._numbers(X)
        missing = np.isnan(numbers)
        counts = weights @ ~missing
        sums = weights @ np.where(missing, 0.0, numbers)
        self.fill_ = np.divide(sums, counts, out=np.zeros(len(counts)), where=counts > 0)
        columns = np.where(missing, self.fill_, numbers)
        if self.ranks:
            self._ranks, columns = _Ranks.of(columns, weights)
        if self._categories is not None:
            columns = self._categories.beside(columns, X)
        self.shift_ = weights @ columns / weights.sum()
        spread = np.sqrt(weights @ (columns - self.shift_) ** 2 / weights.sum())
        self.scale_ = _scales(spread, self.shift_)
        return columns

    def transform(self, X: Any) -> Any:
        """Return scaled rows as float32, of shape (n_samples, n_columns).

        They are sparse if X and the training rows are sparse.
        """
        if sparse.issparse(X):
            is_plain = self._ranks is None and self._categories is None
            if is_plain and not self.shift_.any():
                return sparse.csr_array(X.multiply(1.0 / self.scale_)).astype(np.float32)
            X = X.toarray()
        return self._scaled(self._columns(np.asarray(X, dtype=np.float64)))

    def _scaled(self, columns: FloatArray) -> Any:
        return ((columns - self.shift_) / self.scale_).astype(np.float32, order="C")

    def sum_by_feature(self, values: FloatArray) -> FloatArray:
        """Sum values of columns, (n_columns,), over the columns of each feature, (n_features,)."""
        if self._categories is None:
            return values
        sources = self._categories.sources
        return np.asarray(np.bincount(sources, values, len(self._categories.is_number)))

    def _numbers(self, X: FloatArray) -> FloatArray:
        return X if self._categories is None else X[:, self._categories.is_number]

    def _columns(self, X: FloatArray) -> FloatArray:
        """Return the columns before scaling: numbers, filled and ranked, then categories."""
        numbers = self._numbers(X)
        filled = np.where(np.isnan(numbers), self.fill_, numbers)
        if self._ranks is not None:
            filled = self._ranks.scores_of(filled)
        return filled if self._categories is None else self._categories.beside(filled, X)


@dataclass(frozen=True, eq=False)
class _Categories:
    """The categories that training rows have.

    Parameters
    ----------
    is_number : bool array of shape (n_features,)
        Features that are numbers, not categories.
    values : array of shape (n_categories,)
        Values of the categories, feature after feature.
    features : int array of shape (n_categories,)
        Feature of each.
    """

    is_number: Flags
    values: FloatArray
    features: NDArray[np.int64]

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray, categorical: Flags) -> _Categories:
        """Find the categories of training rows of shape (n_samples, n_features)."""
        values, features = [np.empty(0)], [np.empty(0, dtype=np.int64)]
        for j in np.flatnonzero(categorical):
            known = ~np.isnan(X[:, j])
            found, place = np.unique(X[known, j], return_inverse=True)
            if len(found) > _MAX_CATEGORIES:
                counts = np.bincount(place, weights[known])
                found = np.sort(found[np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES]])
            values.append(found)
            features.append(np.full(len(found), j, dtype=np.int64))
        return cls(~categorical, np.concatenate(values), np.concatenate(features))

    @property
    def sources(self) -> NDArray[np.int64]:
        """Feature of each column, of shape (n_columns,)."""
        return np.concatenate([np.flatnonzero(self.is_number), self.features])

    def beside(self, numbers: FloatArray, X: FloatArray) -> FloatArray:
        """Return columns of numbers with the columns of the categories of X after them."""
        return np.hstack([numbers, X[:, self.features] == self.values])


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
    def of(cls, X: FloatArray, weights: FloatArray) -> tuple[_Ranks, FloatArray]:
        """Compute ranks of training rows of shape (n_samples, n_features), and their scores."""
        every, sizes, scores = [np.empty(0)], [0], [np.empty(0)]
        found = np.empty((X.shape[1], X.shape[0]))
        for j, column in enumerate(np.ascontiguousarray(X.T)):
            levels, place = np.unique(column, return_inverse=True)
            own = _normal_scores(np.asarray(np.bincount(place, weights), dtype=np.float64))
            found[j] = own[2 * place + 1]
            every.append(levels)
            sizes.append(len(levels))
            scores.append(own)
        return cls(np.concatenate(every), np.cumsum(sizes), np.concatenate(scores)), found.T

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


def _normal_scores(weight_of: FloatArray) -> FloatArray:
    """Return the scores of one column, given the weight of each of its levels."""
    below = np.concatenate([[0.0], np.cumsum(weight_of)])
    twice = np.empty(2 * len(weight_of) + 1)  # twice the weight below plus half of the ties
    twice[::2], twice[1::2] = 2.0 * below, below[:-1] + below[1:]
    return np.asarray(ndtri((twice + 1.0) / (2.0 * (below[-1] + 1.0))))


def _scales(spread: FloatArray, shift: FloatArray) -> FloatArray:
    """Return the divisors of columns; 1 for constant columns."""
    return np.where(spread > 1e-12 * np.abs(shift), spread, 1.0)
