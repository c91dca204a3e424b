"""Estimators that record how they were fitted, in a module that worker processes can import."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import LinearSVC

__all__ = ["Deaf", "Loud", "Spy"]

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
