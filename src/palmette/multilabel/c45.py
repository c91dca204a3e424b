"""C45Tree: a decision tree with C4.5's stopping and pruning, on splits by information gain."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from palmette.engine.weights import check_weights
from palmette.exceptions import PalmetteError
from palmette.multilabel.grown_tree import grow_tree
from palmette.multilabel.sorted_rows import SortedRows

__all__ = ["C45Tree"]

FloatArray = NDArray[np.float64]

_LEAF = -1  # what scikit-learn's trees have for the children of a leaf
_SLACK = 0.1  # errors by which a leaf may be worse than what it replaces
_ALMOST_ONE = 1.0 - 1e-9  # the sum of a leaf's weights may fall short by rounding


class C45Tree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Decision tree that stops and prunes as C4.5 does: the usual base of multi-label ensembles.

    Splits are in two, by information gain, as of scikit-learn's trees with criterion "entropy", and
    found several times faster: columns are sorted once for all nodes, and for all trees of an
    ensemble.
    A subtree becomes a leaf where the errors to be expected there are no more than those to be
    expected of its leaves. With :math:`e` errors of weight :math:`n`, the expected rate is the
    upper limit of a confidence interval of :math:`f = (e + 0.5) / n`,

    .. math:: \\frac{f + z^2 / 2n + z \\sqrt{f / n - f^2 / n + z^2 / 4n^2}}{1 + z^2 / n}.

    Parameters
    ----------
    confidence : float or None
        Level of the pruning, up to .5; less prunes more. None leaves the tree as it was grown.
    min_weight : float
        Least weight of the rows of a leaf: without weights their number.
    smoothing : float
        Weight :math:`s` of the prior in a leaf: of its rows, of weight :math:`n`, the share
        :math:`f` of a class counts as :math:`(n f + s \\, p) / (n + s)`, with :math:`p` that of all
        rows. So rare classes keep an order where leaves are pure. With up to one the more frequent
        of two classes stays so. C4.5 itself has none.
    random_state : int, RandomState or None
        Decides between equally good splits.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    tree_ : DecisionTreeClassifier

    References
    ----------
    J. R. Quinlan: C4.5: Programs for Machine Learning. Morgan Kaufmann, 1993.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> C45Tree(random_state=0).fit(X, [0, 0, 0, 1, 1, 1]).predict([[1.5], [9.0]])
    array([0, 1])
    """

    def __init__(
        self,
        confidence: float | None = 0.25,
        *,
        min_weight: float = 2.0,
        smoothing: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.confidence = confidence
        self.min_weight = min_weight
        self.smoothing = smoothing
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> C45Tree:
        """Grow and prune the tree.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if self.confidence is not None and not 0.0 < self.confidence <= 0.5:
            raise PalmetteError(
                f"confidence={self.confidence!r}: expected a number above 0, up to .5, or None."
            )
        if not isinstance(self.min_weight, Real) or self.min_weight < 0:
            raise PalmetteError(f"min_weight={self.min_weight!r}: expected a number of at least 0.")
        if not isinstance(self.smoothing, Real) or self.smoothing < 0:
            raise PalmetteError(f"smoothing={self.smoothing!r}: expected a number of at least 0.")
        X, y = validate_data(
            self, X, y, dtype=np.float32, accept_sparse="csc", accept_large_sparse=False
        )
        check_classification_targets(y)
        weights = check_weights(sample_weight, X.shape[0])
        return self._fit_sorted(SortedRows.of(X), y, weights)

    def _fit_sorted(self, rows: SortedRows, y: Any, weights: FloatArray | None) -> C45Tree:
        """Grow and prune the tree on rows that are known to be sound, with sorted columns."""
        self.n_features_in_ = rows.shape[1]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            rows, codes, weights = rows.take(kept), codes[kept], weights[kept]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        least = self.min_weight * _ALMOST_ONE
        self.tree_ = grow_tree(rows, codes, weights, self.classes_, least, seed)
        if self.confidence is not None:
            _prune(self.tree_.tree_, self.confidence)
        if self.smoothing:
            _smooth(self.tree_.tree_, self.smoothing)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Shares of the classes among the training rows of each row's leaf, with the prior.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        # scikit-learn's trees walk sparse rows whose places are numbered in 32 bits
        X = validate_data(
            self,
            X,
            dtype=np.float32,
            accept_sparse="csr",
            accept_large_sparse=False,
            reset=False,
        )
        shares: FloatArray = self.tree_.predict_proba(X, check_input=False)
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most frequent class of each row's leaf, of shape (n_samples,)."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _prune(tree: Any, confidence: float) -> None:
    """Make leaves of the nodes whose subtrees do not pay, from the deepest up; in place."""
    weights = tree.weighted_n_node_samples
    errors = weights * (1.0 - tree.value[:, 0, :].max(axis=1))
    as_leaf = errors + _further_errors(weights, errors, confidence)
    left, right = tree.children_left, tree.children_right
    expected, bound = as_leaf.tolist(), (as_leaf - _SLACK).tolist()
    first, second = left.tolist(), right.tolist()
    pruned = []
    for node in range(tree.node_count - 1, -1, -1):  # children stand after their parents
        if first[node] == _LEAF:
            continue
        below = expected[first[node]] + expected[second[node]]
        if bound[node] <= below:
            pruned.append(node)
        else:
            expected[node] = below
    left[pruned] = right[pruned] = _LEAF


def _smooth(tree: Any, smoothing: float) -> None:
    """Move the shares of classes in all nodes towards those of the root; in place."""
    shares, weights = tree.value[:, 0, :], tree.weighted_n_node_samples[:, None]
    shares[...] = (weights * shares + smoothing * shares[0]) / (weights + smoothing)


def _further_errors(weights: FloatArray, errors: FloatArray, confidence: float) -> FloatArray:
    """Errors to be expected on new rows beyond those that were made, of every node.

    Below one error the normal distribution is no guide: the limit is exact at none, and goes in a
    line from there to that of one error.
    """
    z = -float(ndtri(confidence))
    at_none = weights * (1.0 - confidence ** (1.0 / weights))
    at_one = _normal_limit(weights, np.ones_like(errors), z) - 1.0
    few = at_none + errors * (at_one - at_none)
    further = np.where(errors < 1.0, few, _normal_limit(weights, errors, z) - errors)
    return np.where(errors + 0.5 >= weights, np.maximum(weights - errors, 0.0), further)


def _normal_limit(weights: FloatArray, errors: FloatArray, z: float) -> FloatArray:
    """Upper limit of the errors among rows of a weight, by the normal distribution."""
    rate = np.minimum((errors + 0.5) / weights, 1.0)
    spread = z * np.sqrt(rate / weights - rate**2 / weights + (z / weights) ** 2 / 4)
    limit: FloatArray = (rate + z**2 / (2 * weights) + spread) / (1 + z**2 / weights)
    return weights * limit
