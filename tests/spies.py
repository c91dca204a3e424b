"""Estimators that record how they were fitted, in a module that worker processes can import."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import LinearSVC

__all__ = ["Deaf", "Keeper", "Loud", "Spy"]

# workers take over the path of imports: the folder above lets them find this module
sys.path.append(str(Path(__file__).parents[1]))


class Loud(LinearSVC):
    """Gives margins so large that their exponentials overflow or vanish."""

    def decision_function(self, X):
        return 1e5 * super().decision_function(X)


class Deaf(ClassifierMixin, BaseEstimator):
    """Records its rows, targets, seed and process; takes no weights; answers uniformly."""

    def __init__(self, random_state=None, pause=0.0):
        self.random_state = random_state
        self.pause = pause

    def fit(self, X, y):
        time.sleep(self.pause)
        self.X_, self.y_ = X, np.array(y)
        self.classes_ = np.unique(y)
        self.process_ = os.getpid()
        return self

    def predict_proba(self, X):
        return np.full((X.shape[0], len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[0])


class Spy(Deaf):
    """Takes weights, but not as the third argument: who passes them by place is found out."""

    def fit(self, X, y, other=None, sample_weight=None):
        assert other is None
        self.weights_ = sample_weight
        return super().fit(X, y)


def _same(array):
    """Return a function that tells whether an array is what it is now."""
    before = array.copy()
    return lambda: np.array_equal(array, before)


class Keeper(BernoulliNB):
    """Keeps every array that it is given, and tells whether one was changed afterwards."""

    _kept: ClassVar[list[Callable[[], bool]] | None] = None

    @classmethod
    @contextmanager
    def watching(cls) -> Iterator[list[Callable[[], bool]]]:
        """Let all of them keep arrays; yield the functions that tell whether one is the same."""
        cls._kept = []
        try:
            yield cls._kept
        finally:
            cls._kept = None

    def _keep(self, *arrays: Any) -> None:
        for array in arrays:
            if self._kept is not None and array is not None:
                is_sparse = sparse.issparse(array)
                parts = (array.data, array.indices, array.indptr) if is_sparse else (array,)
                self._kept.extend(map(_same, map(np.asarray, parts)))

    def fit(self, X, y, sample_weight=None):
        self._keep(X, y, sample_weight)
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        self._keep(X)
        return super().predict_proba(X)

    def predict(self, X):
        self._keep(X)
        return super().predict(X)

    def decision_function(self, X):
        shares = self.predict_proba(X)
        return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares
