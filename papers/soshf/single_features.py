"""Trees of single features that are grown by information gain or by Hellinger distance.

The paper says of the latter that they are deeper, for which it cites Cieslak et al. (2012).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette.exceptions import PalmetteError

__all__ = ["CRITERIA", "LabelTrees", "best_cut"]

Reals = NDArray[np.float64]


def _gain(left: Reals, right: Reals, total: tuple[float, float]) -> Reals:
    """Return the decrease of entropy by cuts; counts of (negative, positive) rows on each side."""
    parts = _entropy(left) + _entropy(right)
    return np.asarray(_entropy(np.array(total).reshape(2, 1)) - parts)


def _entropy(counts: Reals) -> Reals:
    shares = counts / np.maximum(counts.sum(axis=0), 1.0)
    logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
    return np.asarray(-(counts * logs).sum(axis=0))


def _hellinger(left: Reals, right: Reals, total: tuple[float, float]) -> Reals:
    """Return the squared Hellinger distance of Eq. 2 of cuts."""
    fpr, tpr = right[0] / total[0], right[1] / total[1]
    first, second = np.sqrt(tpr) - np.sqrt(fpr), np.sqrt(1 - tpr) - np.sqrt(1 - fpr)
    return np.asarray(first**2 + second**2)


CRITERIA = {"gain": _gain, "hellinger": _hellinger}
_LEAST = 1e-9  # of a criterion for a cut to count


def best_cut(
    X: Reals, y: NDArray[np.bool_], criterion: str, min_samples_leaf: int
) -> tuple[int, float] | None:
    """Find the feature and the cut with the largest value of a criterion.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    y : bool array of shape (n_rows,)
    criterion : {"gain", "hellinger"}
    min_samples_leaf : int

    Returns
    -------
    (feature, cut) or None
        Rows above the cut go right. None if no cut is allowed or none tells the classes apart.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> best_cut(X, np.array([False, False, False, True]), "hellinger", 1)
    (0, 2.5)
    """
    n_rows = len(y)
    if y.all() or not y.any() or n_rows < 2 * min_samples_leaf:
        return None
    varying = np.flatnonzero((X[0] != X).any(axis=0))  # few words of a text do in a small node
    if not varying.size:
        return None
    X = X[:, varying]
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    positive = np.cumsum(y[order], axis=0)[:-1].astype(np.float64)
    number = np.arange(1, n_rows, dtype=np.float64)[:, None]
    left = np.stack([number - positive, positive])
    total = float(n_rows - y.sum()), float(y.sum())
    right = np.array(total).reshape(2, 1, 1) - left
    shape = positive.shape
    scores = CRITERIA[criterion](left.reshape(2, -1), right.reshape(2, -1), total).reshape(shape)
    few = (number < min_samples_leaf) | (n_rows - number < min_samples_leaf)
    scores[(values[1:] <= values[:-1]) | few] = -np.inf
    place, feature = np.unravel_index(int(np.argmax(scores)), shape)
    if scores[place, feature] <= _LEAST:
        return None
    return int(varying[feature]), float(values[place : place + 2, feature].mean())


class LabelTrees(BaseEstimator):  # type: ignore[misc]
    """One tree per label, on all rows and features, without pruning.

    Parameters
    ----------
    criterion : {"gain", "hellinger"}
    min_samples_leaf : int

    Attributes
    ----------
    shape_ : dict
        ``depth``, the mean depth of the leaves of the training rows; ``weights``, 1.
    """

    def __init__(self, criterion: str = "gain", min_samples_leaf: int = 3) -> None:
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf

    def fit(self, X: Any, y: Any) -> LabelTrees:
        """Grow the trees of 0/1 labels."""
        if self.criterion not in CRITERIA:
            raise PalmetteError(
                f"criterion={self.criterion!r}: expected one of {', '.join(CRITERIA)}."
            )
        X, Y = np.asarray(X, dtype=np.float64), np.asarray(y).astype(bool)
        rows = np.arange(len(X))
        self._depths: list[NDArray[np.intp]] = []
        self._trees = [self._grow(X, labels, rows, 0) for labels in Y.T]
        self.shape_ = {"depth": float(np.mean(np.concatenate(self._depths))), "weights": 1.0}
        return self

    def _grow(self, X: Reals, y: NDArray[np.bool_], rows: NDArray[np.intp], depth: int) -> Any:
        """Return a leaf as the share of the label, or (feature, cut, left, right)."""
        found = best_cut(X[rows], y[rows], self.criterion, self.min_samples_leaf)
        if found is None:
            self._depths.append(np.full(len(rows), depth))
            return float(y[rows].mean())
        feature, cut = found
        above = X[rows, feature] > cut
        left = self._grow(X, y, rows[~above], depth + 1)
        return feature, cut, left, self._grow(X, y, rows[above], depth + 1)

    def predict_proba(self, X: Any) -> Reals:
        """Return the share of each label in the leaves, of shape (n_samples, n_labels)."""
        X = np.asarray(X, dtype=np.float64)
        proba = np.empty((len(X), len(self._trees)))
        for label, tree in enumerate(self._trees):
            waiting = [(tree, np.arange(len(X)))]
            while waiting:
                node, rows = waiting.pop()
                if isinstance(node, float):
                    proba[rows, label] = node
                    continue
                feature, cut, left, right = node
                above = X[rows, feature] > cut
                waiting += [(left, rows[~above]), (right, rows[above])]
        return proba

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return the labels of the larger class of the leaf."""
        return (self.predict_proba(X) > 0.5).astype(np.int8)
