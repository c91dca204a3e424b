"""A classifier whose probabilities are its rows, and rows with labels drawn from them."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from palmette import Hierarchy

__all__ = ["LEAVES", "TREE", "GivenShares", "draw"]

TREE = Hierarchy.from_paths(
    [("a", "p", "1"), ("a", "p", "2"), ("a", "q"), ("b", "r"), ("b", "s"), ("c",)]
)
LEAVES = ["a/p/1", "a/p/2", "a/q", "b/r", "b/s", "c"]


class GivenShares(ClassifierMixin, BaseEstimator):
    """Take rows for the probabilities of the leaves of `TREE`."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array(LEAVES)
        return self

    def predict_proba(self, X):
        return np.asarray(X) / np.sum(X, axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[np.argmax(X, axis=1)]


def draw(n_rows, rng, power=1.0):
    """Rows of shares, and leaves drawn by these shares to a power: 1 is a calibrated model."""
    X = rng.dirichlet(np.full(len(LEAVES), 0.4), size=n_rows) + 1e-9
    true = X**power
    true /= true.sum(axis=1, keepdims=True)
    codes = (np.cumsum(true, axis=1) < rng.random((n_rows, 1))).sum(axis=1)
    return X, np.array(LEAVES)[codes.clip(max=len(LEAVES) - 1)]
