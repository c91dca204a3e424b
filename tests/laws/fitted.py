"""Laws about fitted models: copies, jobs, chunks of rows, decision rules, searches."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from tests.laws.problems import TREE, along, near, problem
from tests.laws.shared import fit_once, fit_to_change, in_chunks, one_of, two_jobs

from palmette import PalmetteError, decoding

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
        estimator = clone(estimator).set_params(random_state=0)
    alone = fit_once(estimator, X, paths)
    with two_jobs(estimator):
        together = clone(estimator).set_params(n_jobs=2).fit(X, paths)
    assert alone.predict(X) == together.predict(X)
    if hasattr(alone, "predict_proba"):
        assert np.array_equal(alone.predict_proba(X), together.predict_proba(X))


def chunks_of_rows_change_nothing(estimator: BaseEstimator) -> None:
    X, paths = problem()
    fitted = fit_once(estimator, X, paths)
    names = [n for n in ("predict_proba", "predict_node_proba") if hasattr(fitted, n)]

    def answers():
        of_all = ("best_path", "top_down", decoding.Confident(0.7))
        rules = [{"decoding": rule} for rule in one_of(of_all, estimator)]
        if "decoding" not in fitted.get_params():
            rules = [{}]
        labels = [clone_fitted(fitted, **rule).predict(X) for rule in rules]
        return labels, [getattr(fitted, name)(X) for name in names]

    whole, tables = answers()
    with in_chunks(40):
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
    estimator = along(estimator, TREE, decoding=decoding.Confident())
    grid = {"decoding__threshold": [0.5, 1.0]}
    test, train = np.split(np.arange(len(X)), 2)
    split = [(train, test)]
    search = GridSearchCV(estimator, grid, cv=split, refit=False).fit(X, y)
    [fitted] = cross_validate(estimator, X, y, cv=split, return_estimator=True)["estimator"]
    for threshold, score in zip([0.5, 1.0], search.cv_results_["mean_test_score"], strict=True):
        fitted.set_params(decoding__threshold=threshold)
        assert fitted.score(X[test], y[test]) == score
    assert 0 < search.best_score_ < 1


ON_FITTED: list[Callable[[BaseEstimator], None]] = [
    nothing_answers_before_fit,
    pickles_and_clones_answer_alike,
    the_number_of_jobs_changes_nothing,
    chunks_of_rows_change_nothing,
    a_decision_rule_may_be_set_after_fit,
    searches_reach_the_parts,
]
