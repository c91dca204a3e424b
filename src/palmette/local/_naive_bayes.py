"""MixedNaiveBayes: naive Bayes for weights of words and numbers in one sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, read_rows
from palmette.base._fitting import check_weights
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import numbers, require


class MixedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes for rows with weights of words beside numbers.

    Columns of a sparse matrix without negative values, such as tf-idf weights and 0/1 columns of
    categories, are counts of one multinomial distribution per class. Columns with a negative value,
    such as centred numbers, have a normal distribution each, as all columns of a dense array. The
    log likelihoods are added. Sparse rows are never made dense.

    Parameters
    ----------
    alpha : float
        Counts that are added to every column of the multinomial distribution of a class.
    var_smoothing : float
        Share of the variance of a column that is added to its variance in every class.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    is_normal_ : bool array of shape (n_features,)
        Which columns have normal distributions.
    class_log_prior_ : array of shape (n_classes,)
    word_coef_ : CSR array of shape (n_words, n_classes)
        By how much the log probability of a column of the multinomial distribution exceeds that of
        a column without counts.
    word_base_ : array of shape (n_classes,)
        Log probability of a column without counts.
    normal_coef_ : array of shape (2, n_normal, n_classes)
        Factors of the values, and of their squares, of columns with normal distributions.
    intercept_ : array of shape (n_classes,)
        Log prior and all terms of the log likelihood that do not depend on the row.

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> clf = MixedNaiveBayes().fit(X, ["a", "b", "a", "b"])
    >>> clf.is_normal_.tolist(), clf.predict(X).tolist()
    ([False, False, True], ['a', 'b', 'a', 'b'])
    """

    def __init__(self, alpha: float = 0.01, *, var_smoothing: float = 1e-3) -> None:
        self.alpha = alpha
        self.var_smoothing = var_smoothing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MixedNaiveBayes:
        """Fit the distributions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : labels of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        for name in ("alpha", "var_smoothing"):
            if not getattr(self, name) > 0:
                given = getattr(self, name)
                raise PalmetteError(f"{name}={given!r}: expected a positive number.")
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        X, y = read_rows(X, self, dtype=np.float64), column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        weights = check_weights(sample_weight, X.shape[0])
        if weights is not None:
            used = np.flatnonzero(weights)
            X, y, weights = X[used], y[used], weights[used]
        self.classes_, codes = np.unique(y, return_inverse=True)
        each = np.ones(X.shape[0]) if weights is None else weights
        member = sparse.csr_array(
            (each, (codes, np.arange(len(codes)))), shape=(len(self.classes_), len(codes))
        )
        sizes = np.bincount(codes, each).astype(np.float64)
        self.is_normal_ = _normal_columns(X)
        self.class_log_prior_ = np.log(sizes / sizes.sum())
        counts, normal = (
            X[:, np.flatnonzero(~self.is_normal_)],
            X[:, np.flatnonzero(self.is_normal_)],
        )
        self.word_coef_, self.word_base_ = _word_scores(counts, member, float(self.alpha))
        self.normal_coef_, constant = _normal_scores(
            normal, member, sizes, float(self.var_smoothing)
        )
        self.intercept_ = self.class_log_prior_ + constant
        return self

    def _joint_log_likelihood(self, X: Any) -> FloatArray:
        X = read_rows(X, self, reset=False, dtype=np.float64)
        joint = np.tile(self.intercept_, (X.shape[0], 1))
        if not self.is_normal_.all():
            words = X[:, np.flatnonzero(~self.is_normal_)]
            joint += _dense(words @ self.word_coef_)
            joint += np.outer(np.asarray(words.sum(axis=1)).ravel(), self.word_base_)
        if self.is_normal_.any():
            normal = X[:, np.flatnonzero(self.is_normal_)]
            squares = normal.multiply(normal) if sparse.issparse(X) else normal * normal
            joint += normal @ self.normal_coef_[0] + squares @ self.normal_coef_[1]
        return joint

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        best: NDArray[Any] = self.classes_[np.argmax(self._joint_log_likelihood(X), axis=1)]
        return best

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return logarithms of `predict_proba`."""
        check_is_fitted(self)
        joint = self._joint_log_likelihood(X)
        scaled: FloatArray = joint - logsumexp(joint, axis=1, keepdims=True)
        return scaled

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        if not hasattr(self, "intercept_"):
            return
        normal = numbers(self.is_normal_, np.bool_, 1, "is_normal_")
        n_classes, n_normal = len(self.classes_), int(normal.sum())
        words = self.word_coef_
        require(
            sparse.issparse(words)
            and words.shape == (len(normal) - n_normal, n_classes)
            and np.isfinite(words.data).all(),
            "word_coef_ does not fit the columns and classes",
        )
        shapes = {
            "word_base_": (n_classes,),
            "normal_coef_": (2, n_normal, n_classes),
            "intercept_": (n_classes,),
        }
        for name, shape in shapes.items():
            array = numbers(getattr(self, name), np.float64, len(shape), name)
            require(array.shape == shape, f"{name} does not fit the columns and classes")
            require(np.isfinite(array), f"{name} is not finite")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _normal_columns(X: Any) -> NDArray[np.bool_]:
    """Return which columns have normal distributions: all of an array, negative ones if sparse."""
    if not sparse.issparse(X):
        return np.ones(X.shape[1], dtype=bool)
    negative = np.zeros(X.shape[1], dtype=bool)
    negative[X.indices[X.data < 0]] = True
    return negative


def _word_scores(
    counts: Any, member: sparse.csr_array, alpha: float
) -> tuple[sparse.csr_array, FloatArray]:
    """Return log probabilities of columns, (n_columns, n_classes), above those without counts."""
    found = sparse.csr_array((member @ counts).T)
    totals = found.sum(axis=0) + alpha * counts.shape[1]
    found.data = np.log1p(found.data / alpha)
    return found, np.log(alpha / np.maximum(totals, alpha))


def _normal_scores(
    X: Any, member: sparse.csr_array, sizes: FloatArray, smoothing: float
) -> tuple[FloatArray, FloatArray]:
    """Return factors of values and squares, (2, n_columns, n_classes), and constants of classes.

    The log density of a normal distribution is ``x m / v - x^2 / 2v - m^2 / 2v - log(2 pi v) / 2``.
    """
    n_classes = member.shape[0]
    if not X.shape[1]:
        return np.empty((2, 0, n_classes)), np.zeros(n_classes)
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    first, second = _dense(member @ X), _dense(member @ squares)
    total = sizes.sum()
    mean, whole = first.sum(0) / total, second.sum(0) / total
    spread = np.maximum(whole - mean * mean, 0.0)
    spread = np.where(spread > 0, spread, np.maximum(whole, 1e-300))
    means = first / sizes[:, None]
    variances = np.maximum(second / sizes[:, None] - means * means, 0.0) + smoothing * spread
    constants = -0.5 * (means * means / variances + np.log(2 * np.pi * variances)).sum(axis=1)
    factors = np.stack([(means / variances).T, (-0.5 / variances).T])
    return np.ascontiguousarray(factors), constants


def _dense(table: Any) -> FloatArray:
    """Return a table of classes and columns as an array."""
    return np.asarray(table.toarray() if sparse.issparse(table) else table)
