"""Features as distances and networks like them: no gaps, bell-shaped columns, one scale."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from palmette.base._multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError

__all__ = ["CoherentClassifier", "FeatureScaling"]


FloatArray = NDArray[np.float64]


class FeatureScaling(BaseEstimator):  # type: ignore[misc]
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

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a model file; the first ones kept all training values, sorted."""
        if "_sorted" in state:
            rest = {key: value for key, value in state.items() if key not in ("_sorted", "_below")}
            values, below = state["_sorted"], state["_below"]
            state = {**rest, "_ranks": None if values is None else _Ranks.of_sorted(values, below)}
        super().__setstate__(state)

    def transform(self, X: Any) -> Any:
        """Return rows as float32, of shape (n_samples, n_features).

        Sparse where X is, unless the training rows were not.
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
    """Normal quantiles of the places of values among those of training; ties share theirs.

    Parameters
    ----------
    levels : array of shape (n_levels,)
        The different values of the training rows, ascending, column by column.
    starts : int array of shape (n_features + 1,)
        Where the levels of a column begin.
    scores : array of shape (2 n_levels + n_features,)
        Of each column in turn: of values before its first level, at it, between it and the next...
    """

    levels: FloatArray
    starts: NDArray[np.int64]
    scores: FloatArray

    @classmethod
    def of(cls, X: FloatArray, weights: FloatArray) -> _Ranks:
        """Learn from training rows, of shape (n_samples, n_features)."""
        columns = []
        for column in np.ascontiguousarray(X.T):
            levels, place = np.unique(column, return_inverse=True)
            weight_of = np.asarray(np.bincount(place, weights), dtype=np.float64)
            columns.append((levels, np.cumsum(weight_of)))
        return cls._joined(columns)

    @classmethod
    def of_sorted(cls, X: FloatArray, below: FloatArray) -> _Ranks:
        """Learn from columns that were sorted, and the weight below each of their rows."""
        columns = []
        for column, under in zip(X.T, below.T, strict=True):
            last = np.flatnonzero(np.append(column[1:] != column[:-1], True))
            columns.append((column[last], under[last + 1]))
        return cls._joined(columns)

    @classmethod
    def _joined(cls, columns: list[tuple[FloatArray, FloatArray]]) -> _Ranks:
        """Join columns: levels, and the weight up to each."""
        every, sizes, scores = [np.empty(0)], [0], [np.empty(0)]
        for levels, up_to in columns:
            below = np.concatenate([[0.0], up_to])
            twice = np.empty(2 * len(levels) + 1)  # what is below, and half of what is alike
            twice[::2], twice[1::2] = 2.0 * below, below[:-1] + below[1:]
            every.append(levels)
            sizes.append(len(levels))
            scores.append(ndtri((twice + 1.0) / (2.0 * (below[-1] + 1.0))))
        return cls(np.concatenate(every), np.cumsum(sizes), np.concatenate(scores))

    def scores_of(self, X: FloatArray) -> FloatArray:
        """Scores of shape (n_samples, n_features)."""
        found = np.empty((X.shape[1], X.shape[0]))
        by_column = np.ascontiguousarray(X.T)
        for j, (start, stop) in enumerate(itertools.pairwise(self.starts.tolist())):
            levels = self.levels[start:stop]
            first = np.searchsorted(levels, by_column[j], side="left")
            known = levels[np.minimum(first, len(levels) - 1)] == by_column[j]
            found[j] = self.scores[2 * (start + first) + j + known]
        return found.T


def _scales(spread: FloatArray) -> FloatArray:
    """Divisors of columns; 1 for those that do not vary."""
    return np.where(spread > 1e-12, spread, 1.0)


class CoherentClassifier(MultilabelClassifier):
    """Base of classifiers that estimate all nodes together, in trees and DAGs.

    A subclass sets the parameter ``missing`` beside those of `MultilabelClassifier`.
    """

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        if self.missing not in ("mean", "error"):
            raise PalmetteError(f"missing={self.missing!r}: expected 'mean' or 'error'.")
        return super()._read_features(X, reset=reset)

    def _scale(self, X: Any, weights: Any) -> Any:
        """Fit ``scaling_`` and return the rows scaled: float32, (n_samples, n_features)."""
        self.scaling_ = FeatureScaling().fit(X, weights)
        return self.scaling_.transform(X)

    def _one_path_a_row(self, Y: Any) -> bool:
        """Whether no row has labels apart: as many true nodes as the deepest of them is deep."""
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
