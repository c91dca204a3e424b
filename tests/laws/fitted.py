"""Laws about fitted models: copies, jobs, chunks of rows, decision rules, searches."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from tests.laws.problems import PATHS, along, near, problem
from tests.laws.shared import fit_once, fit_to_change

from palmette import Hierarchy, PalmetteError, decoding
from palmette import _arrays as rows
from palmette.base import _classifier as classifier

__all__ = ["ON_FITTED"]


def nothing_answers_before_fit(estimator: BaseEstimator) -> None:
    X, paths = problem()
    with pytest.raises(NotFittedError):
        clone(estimator).predict(X)
    with pytest.raises(NotFittedError):
        clone(estimator).score(X, paths)


def pickles_and_clones_answer_alike(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_once(estimator, X, paths)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(X) == fitted.predict(X)
    assert again.hierarchy_ == fitted.hierarchy_
    fresh = clone(fitted)
    assert not hasattr(fresh, "hierarchy_")
    assert repr(fresh) == repr(estimator)


def the_number_of_jobs_changes_nothing(estimator: BaseEstimator) -> None:
    if "n_jobs" not in estimator.get_params():
        return
    X, paths = problem()
    if "random_state" in estimator.get_params():
        estimator = clone(estimator).set_params(random_state=3)
    alone = fit_once(estimator, X, paths, n_jobs=1)
    together = clone(estimator).set_params(n_jobs=2).fit(X, paths)
    assert alone.predict(X) == together.predict(X)
    if hasattr(alone, "predict_proba"):
        assert np.array_equal(alone.predict_proba(X), together.predict_proba(X))


def chunks_of_rows_change_nothing(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_once(estimator, X, paths)
    names = [n for n in ("predict_proba", "predict_node_proba") if hasattr(fitted, n)]

    def answers():
        rules = [{"decoding": rule} for rule in ("best_path", "top_down", decoding.Confident(0.7))]
        if "decoding" not in fitted.get_params():
            rules = [{}]
        labels = [clone_fitted(fitted, **rule).predict(X) for rule in rules]
        return labels, [getattr(fitted, name)(X) for name in names]

    whole, tables = answers()
    tiny = lambda n_rows, numbers_a_row: rows.row_chunks(n_rows, numbers_a_row, at_once=600)  # noqa: E731
    assert 1 < len(list(tiny(len(X), 30))) < len(X)
    with patch.object(classifier, "row_chunks", tiny):
        chunked, parts = answers()
    assert chunked == whole
    for one, other in zip(parts, tables, strict=True):
        np.testing.assert_allclose(one, other, **near(estimator))


def clone_fitted(fitted: BaseEstimator, **parameters: Any) -> BaseEstimator:
    return pickle.loads(pickle.dumps(fitted)).set_params(**parameters)


def a_decision_rule_may_be_set_after_fit(estimator: BaseEstimator) -> None:
    if "decoding" not in estimator.get_params():
        return
    X, paths = problem()
    fitted = fit_to_change(estimator, X, paths)
    nodes = fitted.hierarchy_
    by_name = fitted.set_params(decoding="confident").predict_nodes(X)
    by_object = fitted.set_params(decoding=decoding.Confident(0.5)).predict_nodes(X)
    assert np.array_equal(by_name, by_object)
    shy = fitted.set_params(decoding__threshold=0.99).predict_nodes(X)
    for upper, lower in zip(shy, by_object, strict=True):
        assert upper in nodes.ancestors(int(lower), include_self=True)
    assert (nodes.depth[shy] < nodes.depth[by_object]).any()
    with pytest.raises(PalmetteError, match="decoding='boldest' is unknown"):
        fitted.set_params(decoding="boldest").predict(X)


def searches_reach_the_parts(estimator: BaseEstimator) -> None:
    X, paths = problem()
    y = np.array(["/".join(path) for path in paths])
    if "decoding" not in estimator.get_params():
        return
    estimator = along(estimator, Hierarchy.from_paths(PATHS), decoding=decoding.Confident())
    grid = {"decoding__threshold": [0.5, 1.0]}
    search = GridSearchCV(estimator, grid, cv=2, refit=False).fit(X, y)
    folds = cross_validate(estimator, X, y, cv=2, return_estimator=True, return_indices=True)
    for threshold, score in zip([0.5, 1.0], search.cv_results_["mean_test_score"], strict=True):
        scores = [
            fitted.set_params(decoding__threshold=threshold).score(X[rows], y[rows])
            for fitted, rows in zip(folds["estimator"], folds["indices"]["test"], strict=True)
        ]
        assert np.mean(scores) == score
    assert 0 < search.best_score_ < 1


ON_FITTED: list[Callable[[BaseEstimator], None]] = [
    nothing_answers_before_fit,
    pickles_and_clones_answer_alike,
    the_number_of_jobs_changes_nothing,
    chunks_of_rows_change_nothing,
    a_decision_rule_may_be_set_after_fit,
    searches_reach_the_parts,
]
