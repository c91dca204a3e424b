"""The methods that are fitted in the collapsed space, where a class is a symbol of a level."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.boosting import HierarchicalAdaBoostClassifier
from palmette.boosting._hypotheses import ColumnParents
from palmette.boosting._weak import ColumnMask
from papers.h_ada_mh.methods import bayes, stages_of
from papers.h_ada_mh.outcome import Method, Results, Setting, listed, make_forest, over_columns
from papers.h_ada_mh.scoring import top_k_precision
from papers.h_ada_mh.spaces import CollapsedSpace, EqualWidthBins, paths_of
from papers.h_ada_mh.tuning import BAYES_GRID, FOREST_GRID, Grid, fit_best, search_over

__all__ = ["COLLAPSED_H_ADA", "COLLAPSED_MH", "CollapsedHAda", "collapsed_methods"]

COLLAPSED_H_ADA, COLLAPSED_MH = "H-Ada.MH, collapsed", "AdaBoost.MH, collapsed"


def collapsed_methods() -> Iterator[Method]:
    """Yield boosted stumps, forests and naive Bayes, each answering one class per level."""
    for key, title, words, make in (
        ("h-ada", COLLAPSED_H_ADA, "H-Ada.MH (Eq. 5-12)", _masked_stumps("literal")),
        ("h-ada-search", "H-Ada.MH, mask in the search, collapsed", "H-Ada.MH, mask in the search",
         _masked_stumps("search")),
        ("mh", COLLAPSED_MH, "AdaBoost.MH", _flat_stumps),
    ):  # fmt: skip
        answers = {
            f"{key}-first": f"{words}, first positive class per level",
            f"{key}-best": f"{words}, best class per level",
        }
        yield Method(title, "collapsed", answers, make, _boosted(key))
    yield Method(
        "shallow forest per level",
        "collapsed",
        {"local-shallow": "Local: forest of depth 2 per level"},
        lambda setting: make_forest(setting, max_depth=2),
        _by_level("local-shallow"),
    )
    yield Method(
        "forest per level",
        "collapsed",
        {"local-forest": "Local: forest per level"},
        make_forest,
        _by_level("local-forest"),
    )
    yield Method(
        "tuned forest per level",
        "collapsed",
        {"local-level-tuned": "Local: forest per level, tuned"},
        _tuned(_small_forest, FOREST_GRID),
        _by_level("local-level-tuned", make_forest),
    )
    yield Method(
        "naive Bayes per level",
        "collapsed",
        {"global-bayes": "Global: naive Bayes per level"},
        bayes,
        _by_level("global-bayes"),
    )
    yield Method(
        "tuned naive Bayes per level",
        "collapsed",
        {"global-bayes-tuned": "Global: naive Bayes per level, tuned"},
        _tuned(bayes, BAYES_GRID),
        _by_level("global-bayes-tuned", bayes),
    )
    yield Method(
        "forest of all classes",
        "collapsed",
        {"global-forest": "Global: one forest of all classes"},
        make_forest,
        _work_all_at_once,
    )


def _flat_stumps(setting: Setting) -> Any:
    from palmette.boosting import AdaBoostMHClassifier

    return AdaBoostMHClassifier(
        weak_learner="stump",
        n_estimators=setting.rounds,
        n_jobs=setting.n_jobs,
        random_state=setting.seed,
    )


def _masked_stumps(mask: str) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        made = CollapsedHAda(
            weak_learner="stump",
            n_estimators=setting.rounds,
            learning_rate=1.0,
            initial_weights=np.concatenate([[1.0], setting.space.costs]),
            mask=mask,
            n_jobs=setting.n_jobs,
            random_state=setting.seed,
        )
        made.space = setting.space
        return made

    return make


class CollapsedHAda(HierarchicalAdaBoostClassifier):
    """H-Ada.MH over symbols of levels, which are columns of a 0/1 matrix.

    A symbol occurs under several parents. Its hypothesis is masked (Eq. 7) where none of the
    symbols that it occurs under in the training rows has a vote of +1.

    Attributes
    ----------
    space : CollapsedSpace
        Set before `fit`.
    """

    space: CollapsedSpace

    def _mask(self) -> ColumnMask:
        edges = self.space.edges
        counts = np.bincount(edges[:, 1], minlength=len(self.nodes_))
        parents = ColumnParents(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            edges[:, 0].astype(np.int32),
            need_all=False,
        )
        level = self.space.level
        levels = [np.flatnonzero(level == one).astype(np.int32) for one in np.unique(level)]
        return ColumnMask(parents, levels, self.mask == "search")


def _boosted(key: str) -> Callable[[Setting, Any], Results]:
    """Stumps on thresholds at equal distances, as in the published script."""

    def work(setting: Setting, estimator: Any) -> Results:
        problem, space = setting.problem, setting.space
        bins = EqualWidthBins().fit(problem.X_train)
        train = space.indicator(paths_of(problem.y_train, problem.hierarchy))
        estimator.fit(bins.transform(problem.X_train), train)
        X_test = bins.transform(problem.X_test)
        scores = over_columns(estimator, X_test, len(space.classes))
        return {
            "predicted": {
                f"{key}-first": listed(space.pick(scores, "first")),
                f"{key}-best": listed(space.pick(scores, "best")),
            },
            "top_k": top_k_precision(setting.collapsed.truth, scores, space.n_levels),
            "stages": stages_of(estimator, X_test, setting.collapsed),
        }

    return work


def _small_forest(setting: Setting) -> Any:
    return make_forest(setting).set_params(n_estimators=setting.n_search_trees)


def _tuned(make: Callable[[Setting], Any], grid: Grid) -> Callable[[Setting], Any]:
    """Choose parameters by the accuracy of a level in cross-validation on the training rows."""
    return lambda setting: search_over(make(setting), grid, "accuracy", setting.seed)


def _by_level(
    key: str, full: Callable[[Setting], Any] | None = None
) -> Callable[[Setting, Any], Results]:
    """Fit an estimator to the symbols of every level; rows without one are left out there.

    Where a maker of another one is given, the first one is a search for its parameters.
    """

    def work(setting: Setting, estimator: Any) -> Results:
        from sklearn.base import clone

        problem, space = setting.problem, setting.space
        train = space.indicator(paths_of(problem.y_train, problem.hierarchy))
        scores = np.zeros((len(setting.collapsed.truth), len(space.classes)))
        chosen = {}
        for level in range(1, space.n_levels + 1):
            columns = np.flatnonzero(space.level == level)
            rows = np.flatnonzero(train[:, columns].any(axis=1))
            targets = columns[train[np.ix_(rows, columns)].argmax(axis=1)]
            fitted = clone(estimator)
            if full is None:
                fitted.fit(problem.X_train[rows], targets)
            else:
                part = problem.X_train[rows], targets
                fitted, chosen[f"level {level}"] = fit_best(fitted, full(setting), *part)
            scores[:, fitted.classes_] = fitted.predict_proba(problem.X_test)
        found = _of_scores(setting, key, scores)
        return {**found, "chosen": chosen} if chosen else found

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
