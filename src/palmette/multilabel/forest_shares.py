"""Answers of scikit-learn's forests for labels of 0 and 1, summed in one order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

__all__ = ["forest_shares", "is_forest"]


def is_forest(model: Any) -> bool:
    """Whether a model is a forest of scikit-learn."""
    return isinstance(model, RandomForestClassifier | ExtraTreesClassifier)


def forest_shares(forest: Any, X: Any) -> NDArray[np.float64]:
    """Mean over the trees of the share of label 1: what `predict_proba` says of it.

    The forest's own method shares trees out to threads and adds up as they end, so that sums depend
    on chance, if by little; and calls of it from several threads meddle with each other's warnings.

    Parameters
    ----------
    forest : fitted RandomForestClassifier or ExtraTreesClassifier
        All of its outputs have the values 0 and 1.
    X : float32 array or CSR matrix of shape (n_samples, n_features)

    Returns
    -------
    array of shape (n_samples, n_outputs)

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]], dtype=np.float32)
    >>> forest = RandomForestClassifier(5, bootstrap=False).fit(X, [[0, 1], [1, 0]])
    >>> forest_shares(forest, X)
    array([[0., 1.],
           [1., 0.]])
    """
    total = np.zeros((X.shape[0], forest.n_outputs_))
    for tree in forest.estimators_:
        total += tree.tree_.predict(X).reshape(X.shape[0], -1, 2)[:, :, 1]
    return total / len(forest.estimators_)
