"""The methods that are fitted in the collapsed space of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.h_ada_mh.collapsed import EqualWidthBins, paths_of
from papers.h_ada_mh.scoring import top_k_precision
from papers.h_ada_mh.setting import (
    Method,
    Results,
    Setting,
    listed,
    make_forest,
    over_columns,
)

__all__ = ["collapsed_methods"]


def collapsed_methods() -> Iterator[Method]:
    """Yield boosted stumps, forests and naive Bayes, each with one class a level as the answer."""
    yield Method(
        "stumps",
        "collapsed",
        {
            "h-ada-first": "H-Ada.MH, first positive class a level",
            "h-ada-best": "H-Ada.MH, best class a level",
        },
        _stumps,
        _work_stumps,
    )
    yield Method(
        "shallow forest a level",
        "collapsed",
        {"local-shallow": "Local: forest of depth 2 a level"},
        lambda setting: make_forest(setting, max_depth=2),
        _by_level("local-shallow"),
    )
    yield Method(
        "forest a level",
        "collapsed",
        {"local-forest": "Local: forest a level"},
        make_forest,
        _by_level("local-forest"),
    )
    yield Method(
        "naive Bayes a level",
        "collapsed",
        {"global-bayes": "Global: naive Bayes a level"},
        _bayes,
        _by_level("global-bayes"),
    )
    yield Method(
        "forest of all classes",
        "collapsed",
        {"global-forest": "Global: one forest of all classes"},
        make_forest,
        _work_all_at_once,
    )


def _stumps(setting: Setting) -> Any:
    from palmette.boosting import AdaBoostMHClassifier

    return AdaBoostMHClassifier(
        weak_learner="stump",
        n_estimators=setting.rounds,
        n_jobs=setting.n_jobs,
        random_state=setting.seed,
    )


def _work_stumps(setting: Setting, estimator: Any) -> Results:
    """Stumps on thresholds at equal distances, as in the published script."""
    problem, space = setting.problem, setting.space
    bins = EqualWidthBins().fit(problem.X_train)
    train = space.indicator(paths_of(problem.y_train, problem.hierarchy))
    estimator.fit(bins.transform(problem.X_train), train)
    scores = over_columns(estimator, bins.transform(problem.X_test), len(space.classes))
    return {
        "predicted": {
            "h-ada-first": listed(space.pick(scores, "first")),
            "h-ada-best": listed(space.pick(scores, "best")),
        },
        "top_k": top_k_precision(setting.collapsed.truth, scores, space.n_levels),
    }


def _bayes(setting: Setting) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _by_level(key: str) -> Callable[[Setting, Any], Results]:
    """Fit an estimator to the symbols of every level; rows without one are left out there."""

    def work(setting: Setting, estimator: Any) -> Results:
        from sklearn.base import clone

        problem, space = setting.problem, setting.space
        train = space.indicator(paths_of(problem.y_train, problem.hierarchy))
        scores = np.zeros((len(setting.collapsed.truth), len(space.classes)))
        for level in range(1, space.n_levels + 1):
            columns = np.flatnonzero(space.level == level)
            rows = np.flatnonzero(train[:, columns].any(axis=1))
            targets = columns[train[np.ix_(rows, columns)].argmax(axis=1)]
            fitted = clone(estimator).fit(problem.X_train[rows], targets)
            scores[:, fitted.classes_] = fitted.predict_proba(problem.X_test)
        return _of_scores(setting, key, scores)

    return work


def _work_all_at_once(setting: Setting, estimator: Any) -> Results:
    """Fit one estimator to all classes of the collapsed space at once, 0 or 1 each."""
    problem, space = setting.problem, setting.space
    train = space.indicator(paths_of(problem.y_train, problem.hierarchy))
    estimator.fit(problem.X_train, train)
    proba = estimator.predict_proba(problem.X_test)
    # a class that every training row has has one column, of certainty
    scores = np.column_stack([p[:, -1] for p in proba])
    return _of_scores(setting, "global-forest", scores)


def _of_scores(setting: Setting, key: str, scores: NDArray[np.float64]) -> Results:
    space = setting.space
    return {
        "predicted": {key: listed(space.pick(scores, "best"))},
        "top_k": top_k_precision(setting.collapsed.truth, scores, space.n_levels),
    }
