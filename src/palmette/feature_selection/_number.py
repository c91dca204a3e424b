"""Choice of the number of features by cross-validation with the one-standard-error rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from palmette._arrays import FloatArray, take_rows
from palmette.exceptions import PalmetteError
from palmette.labels._labels import NodeLabels

PARAMETER = "feature_selector__n_features_to_select"


@dataclass(frozen=True, eq=False)
class ChosenNumber:
    """Cross-validated scores of several numbers of features.

    Parameters
    ----------
    counts : int array of shape (n_counts,)
        Numbers of features, ascending.
    scores : array of shape (n_counts, n_folds)

    Attributes
    ----------
    n_features : int
        Smallest number whose mean score is within one standard error of the best.
    best : int
        Number with the best mean score; the smallest of equal ones.

    Examples
    --------
    >>> tried = ChosenNumber(np.array([5, 10, 20]), np.array([[0.5, 0.4], [0.7, 0.8], [0.9, 0.7]]))
    >>> tried.best, tried.n_features
    (20, 10)
    """

    counts: NDArray[np.int64]
    scores: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean score of each number, of shape (n_counts,)."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of each mean, of shape (n_counts,)."""
        return np.asarray(self.scores.std(axis=1, ddof=1) / np.sqrt(self.scores.shape[1]))

    @property
    def best(self) -> int:
        """Number of features with the best mean score."""
        return int(self.counts[self.mean.argmax()])

    @property
    def n_features(self) -> int:
        """Smallest number of features within one standard error of the best mean score."""
        return int(self.counts[_within_one_error(self.mean, self.standard_error)[0]])


def choose_n_features(
    classifier: Any,
    X: Any,
    y: Any,
    counts: Sequence[int] = (5, 10, 20, 40, 80, 160),
    *,
    cv: Any = 5,
    scoring: Any = "hierarchical_f1",
    n_jobs: int | None = None,
) -> ChosenNumber:
    """Compare numbers of features per node, the same for all nodes, by cross-validation.

    The selector is fitted once per fold, for the largest number; smaller numbers use the best of
    these features. The time for the selection does not depend on how many numbers are compared.

    Parameters
    ----------
    classifier : local classifier with a ``feature_selector``
        Such as ``LocalPerParentClassifier(LinearSVC(), feature_selector=selector)``.
    X : array or sparse matrix of shape (n_samples, n_features)
    y : labels of n_samples rows
    counts : sequence of int
        Numbers of features; numbers above ``n_features`` are replaced by it.
    cv : int, cross-validation generator or iterable
        Folds; if an int, they are stratified by label.
    scoring : str, callable or None
        As in scikit-learn; None is the accuracy.
    n_jobs : int, optional
        Number of folds that are fitted at a time, in processes.

    Returns
    -------
    ChosenNumber

    See Also
    --------
    one_standard_error : The same rule for `sklearn.model_selection.GridSearchCV`.
    """
    tried = np.unique(np.minimum(np.asarray(counts, dtype=np.int64), X.shape[1]))
    if not tried.size or tried[0] < 1:
        raise PalmetteError(f"counts={counts!r}: expected numbers of features of 1 or more.")
    if getattr(classifier, "feature_selector", None) is None:
        raise PalmetteError(
            f"{type(classifier).__name__} has no feature_selector. Set it, such as to "
            "feature_selector=HierarchicalFeatureSelector()."
        )
    terminals = NodeLabels.encode(y, classifier._given_hierarchy()).terminals
    folds = check_cv(cv, terminals, classifier=True).split(np.zeros(len(terminals)), terminals)
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_score_fold)(classifier, X, y, train, test, tried, scoring) for train, test in folds
    )
    if len(scores) < 2:
        raise PalmetteError(f"cv={cv!r} gives {len(scores)} fold: expected at least two folds.")
    return ChosenNumber(tried, np.array(scores).T)


def _score_fold(
    classifier: Any,
    X: Any,
    y: Any,
    train: NDArray[Any],
    test: NDArray[Any],
    counts: NDArray[np.int64],
    scoring: Any,
) -> list[float]:
    """Return the scores of one fold, one per number of features."""
    scorer = check_scoring(classifier, scoring=scoring)
    rows, labels = take_rows(X, train), take_rows(y, train)
    held_out = take_rows(X, test), take_rows(y, test)
    full = clone(classifier).set_params(**{PARAMETER: int(counts[-1])}).fit(rows, labels)
    scores = []
    for count in counts[:-1]:
        fewer = FrozenEstimator(full.feature_selector_.reduced_to(int(count)))
        model = clone(classifier).set_params(feature_selector=fewer, hierarchy=full.hierarchy_)
        scores.append(float(scorer(model.fit(rows, labels), *held_out)))
    return [*scores, float(scorer(full, *held_out))]


def one_standard_error(parameter: str = PARAMETER) -> Callable[[dict[str, Any]], int]:
    """Return a rule for ``GridSearchCV(refit=...)``: the smallest value close to the best score.

    Parameters
    ----------
    parameter : str
        The rule selects the smallest value of this parameter among the candidates whose mean score
        is within one standard error of the best; of several, the one with the best score.

    Returns
    -------
    callable
        Function from ``cv_results_`` to the index of a candidate.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> from sklearn.model_selection import GridSearchCV
    >>> rule = one_standard_error("max_iter")
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> search = GridSearchCV(Lasso(), {"max_iter": [10, 20, 500]}, refit=rule)
    >>> search.fit(X, X.sum(axis=1)).best_params_
    {'max_iter': 10}
    """

    def choose(results: dict[str, Any]) -> int:
        splits = [name for name in results if name.startswith("split") and "_test_" in name]
        scores = np.column_stack([results[name] for name in splits])
        mean = scores.mean(axis=1)
        error = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
        near = _within_one_error(mean, error)
        values = np.array([results[f"param_{parameter}"][i] for i in near], dtype=np.float64)
        return int(near[np.lexsort((-mean[near], values))[0]])

    return choose


def _within_one_error(mean: FloatArray, error: FloatArray) -> NDArray[np.intp]:
    """Return the indices of the scores within one standard error of the best."""
    best = int(np.nanargmax(mean))
    return np.flatnonzero(mean >= mean[best] - error[best])
