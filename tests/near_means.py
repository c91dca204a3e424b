"""A classifier of any number of paths that is quick and sane: the nearer mean wins."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from palmette.base._classifier import HierarchicalClassifier
from palmette.base._fitting import check_weights

__all__ = ["NearMeans"]


class NearMeans(HierarchicalClassifier):
    """Compares the distances to the mean of a node's rows and to the mean of the others.

    With targets by class it compares the distances to the means of the classes.
    """

    def __init__(self, hierarchy=None, decoding="auto", dag_rule="all", by_node=False):
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.dag_rule = dag_rule
        self.by_node = by_node

    def fit(self, X, y, sample_weight=None):
        X = numbers(self._read_features(X, reset=True))
        weights = check_weights(sample_weight, len(X))
        used = None if weights is None else weights > 0
        targets = self._learn_target(X, y, weights, by_node=self.by_node)
        X, weights = (X, np.ones(len(X))) if used is None else (X[used], weights[used])
        self.by_class_ = not sparse.issparse(targets)
        if self.by_class_:
            flags = np.eye(self.space_.n_classes)[targets]
        else:
            flags = targets.toarray().astype(float)
        self.inside_, self.outside_ = means(X, flags, weights), means(X, 1 - flags, weights)
        return self

    def _kind_of_units(self):
        return "own"  # probabilities are of distances in the units of X

    def _node_proba_of(self, X):
        nearer = 2 * (distances(X, self.outside_) - distances(X, self.inside_))
        return expit(np.where(np.isnan(nearer), 5.0, nearer))  # a node that is always true

    def _class_proba_of(self, X):
        if not self.by_class_:
            return super()._class_proba_of(X)
        return softmax(-2 * distances(X, self.inside_), axis=1)

    def decision_function(self, X):
        proba = self.predict_proba(X)
        margins = np.log(proba) - np.log1p(-proba)
        return margins[:, 1] if not self.several_paths_ and margins.shape[1] == 2 else margins

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def numbers(X):
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)


def means(X, flags, weights):
    """Mean of the rows of every column; NaN where there are none."""
    totals = flags.T @ weights
    return (flags.T * weights) @ X / np.where(totals > 0, totals, np.nan)[:, None]


def distances(X, centres):
    return np.linalg.norm(numbers(X)[:, None] - centres, axis=2)
