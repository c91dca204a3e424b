"""MixedNaiveBayes: naive Bayes for weights of words and numbers in one sparse matrix."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, read_rows, row_chunks
from palmette.base._class_moments import dense
from palmette.base._fitting import check_weights
from palmette.base._statistics import ClassStatistics, Moments
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import numbers, require

_FAR = 2.0**10  # deviations from zero
_ROUNDING = 16 * np.finfo(np.float64).eps
_VALUES_AT_ONCE = 2**23  # of the rows that are read at a time

Statistics = tuple[ClassStatistics, ...]  # of words, and of numbers


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
    alpha_ : float
        `alpha` at the time of the fit.
    word_coef_ : CSR array of shape (n_words, n_classes)
        By how much the log probability of a column of the multinomial distribution exceeds that of
        a column without counts.
    word_base_ : array of shape (n_classes,)
        Log probability of a column without counts.
    normal_centres_ : array of shape (n_normal,)
        What is subtracted from columns with normal distributions that are far from zero.
    normal_coef_ : array of shape (2, n_normal, n_classes)
        Factors of the values, and of their squares, of columns with normal distributions.
    intercept_ : array of shape (n_classes,)
        Log prior and all terms of the log likelihood that do not depend on the row.
    statistics_ : tuple of two ClassStatistics
        Sums of the rows so far, by class: columns of the multinomial and of normal distributions.

    Examples
    --------
    >>> X = sparse.csr_array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> clf = MixedNaiveBayes().fit(X, ["a", "b", "a", "b"])
    >>> clf.is_normal_.tolist(), clf.predict(X).tolist()
    ([False, False, True], ['a', 'b', 'a', 'b'])
    """

    _kind_of_units: ClassVar[str] = "own"

    def __init__(self, alpha: float = 0.01, *, var_smoothing: float = 1e-3) -> None:
        self.alpha = alpha
        self.var_smoothing = var_smoothing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MixedNaiveBayes:
        """Fit the distributions.

        Rows are read some at a time, and no copy of X is made: it may be a file that is mapped and
        larger than memory.

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
        X, y = self._read(X, y, reset=True)
        weights = check_weights(sample_weight, X.shape[0])
        self.classes_ = np.unique(y if weights is None else y[weights > 0])
        self._learn(X, y, weights, _normal_columns(X), "mean", None)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> MixedNaiveBayes:
        """Learn from some more rows; all calls together give the model of one `fit`.

        The order and the sizes of the chunks change the model by rounding only. Calls after `fit`
        add to its rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Columns without a negative value in any chunk are counts if it is sparse.
        y : labels of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All labels that will occur; for the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Numbers of copies. Unlike in `fit`, their scale counts, since it is that of all calls.

        Returns
        -------
        self

        Examples
        --------
        >>> X, y = np.array([[1.0], [2.0], [5.0], [7.0]]), np.array(["a", "a", "b", "b"])
        >>> clf = MixedNaiveBayes().partial_fit(X[:3], y[:3], classes=["a", "b"])
        >>> clf.partial_fit(X[3:], y[3:]).predict([[1.4], [6.1]]).tolist()
        ['a', 'b']
        """
        earlier = getattr(self, "statistics_", None)
        if earlier is None and classes is None:
            raise PalmetteError(
                "the first call of partial_fit needs classes: pass all labels that will occur."
            )
        X, y = self._read(X, y, reset=earlier is None)
        if earlier is None:
            self.classes_ = np.unique(classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise PalmetteError(
                f"classes={np.unique(classes).tolist()!r} differ from those of the first call, "
                f"{self.classes_.tolist()!r}: leave them out, or call fit."
            )
        new = ~np.isin(y, self.classes_)
        if new.any():
            raise PalmetteError(
                f"y has the label {y[new].tolist()[0]!r}, which is not among the classes of the "
                "first call: pass all labels that will occur to the first call of partial_fit."
            )
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        is_normal = _normal_columns(X)
        moments: Moments = "diagonal"
        if earlier is not None:
            is_normal |= self.is_normal_
            moments, earlier = earlier[0].moments, self._moved(earlier, is_normal)
        self._learn(X, y, weights, is_normal, moments, earlier)
        return self

    def _learn(
        self,
        X: Any,
        y: NDArray[Any],
        weights: FloatArray | None,
        is_normal: NDArray[np.bool_],
        moments: Moments,
        earlier: Statistics | None,
    ) -> None:
        """Add the statistics of some rows to those of earlier ones, and set all attributes."""
        chunks = list(_chunks(X))

        def gather(columns: NDArray[np.intp], moments: Moments) -> ClassStatistics:
            parts = (self._part(X, y, weights, rows, columns) for rows in chunks)
            return ClassStatistics.gather_chunks(parts, len(self.classes_), moments)

        words = gather(np.flatnonzero(~is_normal), moments)
        normal = gather(np.flatnonzero(is_normal), "diagonal")
        if earlier is not None:
            words, normal = earlier[0] + words, earlier[1] + normal
        self.is_normal_ = is_normal
        self._set_distributions(words, normal, normal)

    def _set_distributions(
        self, words: ClassStatistics, normal: ClassStatistics, all_rows: ClassStatistics
    ) -> None:
        """Set the attributes of classes with some statistics; `all_rows` has every row once."""
        self.statistics_ = (words, normal)
        sizes = np.maximum(words.weight, np.finfo(float).tiny)  # a class may have no rows so far
        self.class_log_prior_ = np.log(sizes / sizes.sum())
        self.alpha_ = float(self.alpha)
        self.word_coef_, self.word_base_ = _word_scores(words.sum, self.alpha_)
        self.normal_centres_ = _far_centres(all_rows)
        self.normal_coef_, constant = _normal_scores(
            normal, float(self.var_smoothing), all_rows, self.normal_centres_
        )
        self.intercept_ = self.class_log_prior_ + constant

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without the largest one, if it follows from the others."""
        state: dict[str, Any] = super().__getstate__()
        if "alpha_" in state:  # older files lack it
            state.pop("word_coef_", None)
        return state

    def __getattr__(self, name: str) -> Any:
        """Compute the scores of words of a model that comes from a file."""
        if name == "word_coef_" and "alpha_" in vars(self):
            self.word_coef_ = _word_scores(self.statistics_[0].sum, self.alpha_)[0]
            return self.word_coef_
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def over_groups(self, groups: Any, names: NDArray[Any]) -> MixedNaiveBayes:
        """Return the model of groups of classes, as if a row belonged to each group of its class.

        Parameters
        ----------
        groups : sparse matrix of shape (n_groups, n_classes)
            Nonzero where a class belongs to a group. Groups may overlap.
        names : array of shape (n_groups,)
            Classes of the new model.

        Returns
        -------
        MixedNaiveBayes
        """
        found = copy(self)
        found.classes_ = names
        words, normal = self.statistics_
        found._set_distributions(words.combine(groups), normal.combine(groups), normal)
        return found

    def _moved(self, earlier: Statistics, is_normal: NDArray[np.bool_]) -> Statistics:
        """Return statistics with other columns among those of normal distributions."""
        moved = np.flatnonzero(is_normal & ~self.is_normal_)
        if not len(moved):
            return earlier
        words, normal = earlier
        if words.moments == "mean":
            raise PalmetteError(
                f"column {moved[0]} has a negative value, but the rows of fit had none: call fit "
                "with all rows, or partial_fit from the first row on."
            )
        # columns in the order of X, then divided again
        order = np.argsort(np.r_[np.flatnonzero(~self.is_normal_), np.flatnonzero(self.is_normal_)])
        total, scatter = (
            _beside(a, b)[:, order]
            for a, b in ((words.sum, normal.sum), (words.scatter, normal.scatter))
        )
        return tuple(
            ClassStatistics(words.weight, total[:, columns], "diagonal", scatter[:, columns])
            for columns in (np.flatnonzero(~is_normal), np.flatnonzero(is_normal))
        )

    def _read(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        """Check parameters, rows and labels."""
        for name in ("alpha", "var_smoothing"):
            if not getattr(self, name) > 0:
                given = getattr(self, name)
                raise PalmetteError(f"{name}={given!r}: expected a positive number.")
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        X = read_rows(X, self, reset=reset, dtype=np.float64)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        return X, y

    def _part(
        self,
        X: Any,
        y: NDArray[Any],
        weights: FloatArray | None,
        rows: slice,
        columns: NDArray[np.intp],
    ) -> tuple[Any, NDArray[np.intp], FloatArray | None]:
        """Return columns, classes and weights of some rows; rows of weight 0 are left out."""
        part, labels = X[rows], y[rows]
        own = None if weights is None else weights[rows]
        if own is not None and not own.all():
            used = np.flatnonzero(own)
            part, labels, own = part[used], labels[used], own[used]
        if len(columns) < part.shape[1]:
            part = part[:, columns]
        return part, np.searchsorted(self.classes_, labels), own

    def joint_log_likelihood(self, X: Any) -> FloatArray:
        """Return log prior plus log likelihood of every class: (n_samples, n_classes)."""
        X = read_rows(X, self, reset=False, dtype=np.float64)
        joint = np.tile(self.intercept_, (X.shape[0], 1))
        if not self.is_normal_.all():
            words = X[:, np.flatnonzero(~self.is_normal_)]
            joint += dense(words @ self.word_coef_)
            joint += np.outer(np.asarray(words.sum(axis=1)).ravel(), self.word_base_)
        if self.is_normal_.any():
            normal = X[:, np.flatnonzero(self.is_normal_)]
            centres = getattr(self, "normal_centres_", None)  # older files lack it
            if centres is not None and centres.any():
                normal = dense(normal) - centres
            squares = normal.multiply(normal) if sparse.issparse(normal) else normal * normal
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
        best: NDArray[Any] = self.classes_[np.argmax(self.joint_log_likelihood(X), axis=1)]
        return best

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return logarithms of `predict_proba`."""
        check_is_fitted(self)
        joint = self.joint_log_likelihood(X)
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
        if "alpha_" in vars(self):  # older files lack it
            is_positive = isinstance(self.alpha_, float) and 0 < self.alpha_ < np.inf
            require(is_positive, "alpha_ is no positive number")
            require(getattr(self, "statistics_", None) is not None, "there are no statistics_")
        if "alpha_" not in vars(self) or "word_coef_" in vars(self):
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
        if hasattr(self, "normal_centres_"):  # older files lack them
            shapes["normal_centres_"] = (n_normal,)
        for name, shape in shapes.items():
            array = numbers(getattr(self, name), np.float64, len(shape), name)
            require(array.shape == shape, f"{name} does not fit the columns and classes")
            require(np.isfinite(array), f"{name} is not finite")
        kept = getattr(self, "statistics_", None)
        if kept is not None:
            shapes_of = [(len(normal) - n_normal, n_classes), (n_normal, n_classes)]
            require(
                isinstance(kept, tuple)
                and [type(each) for each in kept] == [ClassStatistics] * 2
                and [(each.n_features, each.n_classes) for each in kept] == shapes_of,
                "statistics_ do not fit the columns and classes",
            )
            counts = kept[0].sum
            counts = counts.data if sparse.issparse(counts) else np.asarray(counts)
            require(np.isfinite(counts).all() and (counts >= 0).all(), "a count is negative")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _chunks(X: Any) -> Iterator[slice]:
    """Yield slices of rows with a number of values that does not depend on the memory."""
    n_rows, n_columns = X.shape
    per_row = X.nnz // max(n_rows, 1) if sparse.issparse(X) else n_columns
    return row_chunks(n_rows, per_row, _VALUES_AT_ONCE)


def _normal_columns(X: Any) -> NDArray[np.bool_]:
    """Return which columns have normal distributions: all of an array, negative ones if sparse."""
    if not sparse.issparse(X):
        return np.ones(X.shape[1], dtype=bool)
    found = np.zeros(X.shape[1], dtype=bool)
    for start in range(0, X.nnz, _VALUES_AT_ONCE):
        here = slice(start, start + _VALUES_AT_ONCE)
        found[X.indices[here][X.data[here] < 0]] = True
    return found


def _beside(a: Any, b: Any) -> Any:
    """Return two tables of classes side by side, sparse if the first one is."""
    return sparse.hstack([a, b], format="csr") if sparse.issparse(a) else np.hstack([a, dense(b)])


def _word_scores(sums: Any, alpha: float) -> tuple[sparse.csr_array, FloatArray]:
    """Return log probabilities of columns, (n_columns, n_classes), above those without counts."""
    found = sparse.csr_array(sums).T.tocsr()
    totals = found.sum(axis=0) + alpha * found.shape[0]
    found.data = np.log1p(found.data / alpha)
    return found, np.log(alpha / np.maximum(totals, alpha))


def _far_centres(all_rows: ClassStatistics) -> FloatArray:
    """Return the means of columns that are far from zero for their spread, else 0.

    Squares of values less their centre keep the digits that tell such values apart.
    """
    if not all_rows.n_features:
        return np.zeros(0)
    total = all_rows.total()
    mean, spread = dense(total.mean)[0], np.sqrt(dense(total.covariance)[0])
    return np.where(np.abs(mean) > _FAR * spread, mean, 0.0)


def _normal_scores(
    stats: ClassStatistics, smoothing: float, all_rows: ClassStatistics, centres: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return factors of values and squares, (2, n_columns, n_classes), and constants of classes.

    The log density of a normal distribution is ``x m / v - x^2 / 2v - m^2 / 2v - log(2 pi v) / 2``.
    Values and means are those less the centres.
    """
    if not stats.n_features:
        return np.empty((2, 0, stats.n_classes)), np.zeros(stats.n_classes)
    total = all_rows.total()
    mean, spread = dense(total.mean)[0], dense(total.covariance)[0]
    # the mean of equal values differs from them in its last bits, more so with more rows
    rounding = _ROUNDING * np.sqrt(np.maximum(total.weight, 1.0)) * np.abs(mean)
    varies = spread > rounding**2
    spread = np.where(varies, spread, np.where(mean != 0, mean * mean, 1.0))
    means = np.where(varies, dense(stats.mean), mean)
    variances = np.where(varies, dense(stats.covariance), 0.0) + smoothing * spread
    means = means - centres
    constants = -0.5 * (means * means / variances + np.log(2 * np.pi * variances)).sum(axis=1)
    factors = np.stack([(means / variances).T, (-0.5 / variances).T])
    return np.ascontiguousarray(factors), constants
