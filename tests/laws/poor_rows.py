"""Laws about rows that say little or nothing of the labels: equal rows, constant columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from tests.laws.own_tree import learns_over_labels

from palmette import Hierarchy
from palmette.feature_selection import HierarchicalFeatureSelector

__all__ = ["ON_POOR_ROWS", "poor_rows_are_learnt_from"]

PATHS = {"a": ("g", "a"), "b": ("g", "b"), "c": ("c",)}
Y = np.array(list("aaaaaaaaaabbbbbbbbcccccc"))  # most of them are "a"

# their scores are no probabilities, so that the most frequent label may not be the best
SCORES = {
    "COCOA": "rows are balanced by label and by pairs of labels",
    "NearMeans": "distances to means know no shares of classes",
    "HOMER": "the score of a label is the smallest on its path of clusters",
}


def poor_rows() -> Iterator[tuple[np.ndarray, bool]]:
    """Yield rows, and whether they say nothing at all."""
    n = len(Y)
    for value in (2.7, 0.0, 1.7e9, 0.1):  # means of the first and last differ in the last bit
        yield np.full((n, 3), value), True
    yield np.where(np.arange(n)[:, None] == 5, np.full(3, 2.0), 1.0), False
    yield np.where((Y == "a")[:, None], np.zeros(3), 1.0), False
    good = np.random.default_rng(0).normal(size=(n, 2)) + (Y == "a")[:, None]
    yield good[:, :1], False
    yield np.column_stack([np.full(n, 7.3), good]), False


def poor_rows_are_learnt_from(estimator: BaseEstimator, cases: Any = slice(None)) -> None:
    for X, says_nothing in list(poor_rows())[cases]:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            _check_answers(estimator, X, says_nothing)


def _check_answers(estimator: BaseEstimator, X: np.ndarray, says_nothing: bool) -> None:
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    takes_names = not hasattr(model, "predict") or learns_over_labels(model)
    if isinstance(model, HierarchicalFeatureSelector):
        model.fit(X, [PATHS[label] for label in Y])
        assert np.isfinite(model.node_scores_.toarray()).all()
        assert model.transform(X).shape[1] > 0
        return
    model.fit(X, Y if takes_names else [PATHS[label] for label in Y])
    assert isinstance(model.hierarchy_, Hierarchy)
    if not hasattr(model, "predict"):
        return
    predicted = [label[-1] if isinstance(label, tuple) else label for label in model.predict(X)]
    if says_nothing and type(model).__name__ not in SCORES:
        assert set(predicted) == {"a"}
    for method in ("predict_proba", "predict_node_proba", "decision_function"):
        if hasattr(model, method):
            values = np.asarray(getattr(model, method)(X))
            assert np.isfinite(values).all()
            if method == "predict_proba":
                np.testing.assert_allclose(values.sum(axis=1), 1.0)


ON_POOR_ROWS: list[Callable[[BaseEstimator], None]] = [poor_rows_are_learnt_from]
