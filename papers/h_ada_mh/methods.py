"""The methods: those fitted on the true tree, and those fitted in the collapsed space."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.boosting._boost import staged_scores
from palmette.boosting._hypotheses import Samples
from papers.h_ada_mh.outcome import (
    Method,
    Results,
    Setting,
    listed,
    make_forest,
    over_columns,
    spread,
)
from papers.h_ada_mh.scoring import EqualWidthBins, losses_of_signs, paths_of, top_k_precision

__all__ = ["collapsed_methods", "tree_methods"]

# ---------------------------------------------------------------------- the true tree


_N_STAGES = 60  # rounds at which the test error is taken


def tree_methods() -> Iterator[Method]:
    """Yield H-Ada.MH to the letter, AdaBoost.MH, what is between them, the baselines and ours."""
    yield Method(
        "H-Ada.MH",
        "tree",
        {"literal-sign": "H-Ada.MH (Eq. 5-12), sign"},
        _maker(initial_weights="hierarchical", mask="literal", coefficient="global"),
        _boosted(sign="literal-sign"),
    )
    yield Method(
        "AdaBoost.MH",
        "tree",
        {"mh-sign": "AdaBoost.MH, sign", "mh-path": "AdaBoost.MH, best path"},
        _maker(initial_weights="uniform", mask="none", coefficient="global"),
        _boosted(sign="mh-sign", path="mh-path"),
    )
    yield Method(
        "weights of Eq. 5-6",
        "tree",
        {"weights-path": "weights of Eq. 5-6, no mask, best path"},
        _maker(initial_weights="hierarchical", mask="none", coefficient="global"),
        _boosted(path="weights-path"),
    )
    yield Method(
        "mask in the search",
        "tree",
        {"search-path": "mask in the search, coefficient a class, best path"},
        _maker(initial_weights="hierarchical", mask="search", coefficient="per_class"),
        _boosted(path="search-path"),
    )
    yield Method(
        "forest a level, top-down",
        "tree",
        {"local-level": "Local: forest a level, top-down"},
        _local,
        _by_path("local-level"),
    )
    yield Method(
        "forest of all labels",
        "tree",
        {"global-flat": "Global: one forest of all labels"},
        _flat(make_forest),
        _by_path("global-flat"),
    )
    yield Method(
        "naive Bayes of all labels",
        "tree",
        {"global-flat-bayes": "Global: one naive Bayes of all labels"},
        _flat(_bayes),
        _by_path("global-flat-bayes"),
    )
    for name in ("HierarchicalAdaBoostClassifier", "HierarchicalBoostingClassifier"):
        yield Method(name, "tree", {name: f"{name}()"}, _default(name), _by_path(name))


def _h_ada(setting: Setting, **options: Any) -> Any:
    from palmette.boosting import HierarchicalAdaBoostClassifier

    return HierarchicalAdaBoostClassifier(
        setting.problem.hierarchy,
        weak_learner="stump",
        n_estimators=setting.rounds,
        learning_rate=1.0,
        n_jobs=setting.n_jobs,
        random_state=setting.seed,
        **options,
    )


def _maker(**options: Any) -> Callable[[Setting], Any]:
    return lambda setting: _h_ada(setting, **options)


def _boosted(sign: str | None = None, path: str | None = None) -> Callable[..., Results]:
    """Fit; answer with the signs of the scores (Eq. 12), with the best path, or with both."""

    def work(setting: Setting, estimator: Any) -> Results:
        problem, space = setting.problem, setting.tree
        estimator.fit(problem.X_train, problem.y_train)
        n_columns = space.truth.shape[1]
        scores = over_columns(estimator, problem.X_test, n_columns)
        predicted = {}
        if sign is not None:
            predicted[sign] = listed(scores > 0)
        if path is not None:
            predicted[path] = _paths(setting, estimator.set_params(decoding="best_path"))
        return {
            "predicted": predicted,
            "top_k": top_k_precision(space.truth, scores, int(space.level.max())),
            "stages": _stages(setting, estimator, n_columns),
        }

    return work


def _stages(setting: Setting, estimator: Any, n_columns: int) -> dict[str, list[float]]:
    """Test errors of the signs after some of the rounds, denser at the beginning."""
    n_rounds = len(estimator.rounds_)
    wanted = set(np.unique(np.geomspace(1, max(n_rounds, 1), _N_STAGES).round()).tolist())
    stages: dict[str, list[float]] = {"rounds": [], "hamming": [], "hierarchical_hamming": []}
    X = setting.problem.X_test
    samples = Samples(estimator.bins_.transform(X), X)
    staged = staged_scores(samples, estimator.rounds_, estimator.start_)
    for number, scores in enumerate(staged, start=1):
        if number in wanted:
            wide = spread(scores, estimator.nodes_, n_columns)
            hamming, hierarchical = losses_of_signs(setting.tree, wide)
            stages["rounds"].append(number)
            stages["hamming"].append(hamming)
            stages["hierarchical_hamming"].append(hierarchical)
    return stages


def _paths(setting: Setting, estimator: Any) -> list[list[int]]:
    """Classes on the path that a fitted estimator predicts for every test row."""
    closure = setting.problem.hierarchy.closure
    rows = closure[estimator.predict_nodes(setting.problem.X_test)]
    return [(part[part > 0] - 1).tolist() for part in np.split(rows.indices, rows.indptr[1:-1])]


def _by_path(key: str) -> Callable[[Setting, Any], Results]:
    """Fit a classifier of paths and take its own decision."""

    def work(setting: Setting, estimator: Any) -> Results:
        problem, space = setting.problem, setting.tree
        estimator.fit(problem.X_train, problem.y_train)
        proba = estimator.predict_node_proba(problem.X_test)[:, 1:]
        top_k = top_k_precision(space.truth, proba, int(space.level.max()))
        return {"predicted": {key: _paths(setting, estimator)}, "top_k": top_k}

    return work


def _default(name: str) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        from palmette import boosting

        rounds = setting.quick_rounds
        quick = {} if rounds is None else {"n_estimators": rounds}
        classifier = getattr(boosting, name)
        return classifier(
            setting.problem.hierarchy, n_jobs=setting.n_jobs, random_state=setting.seed, **quick
        )

    return make


def _bayes(setting: Setting) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _local(setting: Setting) -> Any:
    from palmette.local import LocalPerLevelClassifier

    return LocalPerLevelClassifier(
        make_forest(setting), hierarchy=setting.problem.hierarchy, decoding="top_down"
    )


def _flat(base: Callable[[Setting], Any]) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        from palmette.local import FlatClassifier

        hierarchy = setting.problem.hierarchy
        return FlatClassifier(base(setting), hierarchy=hierarchy, decoding="best_path")

    return make


# ---------------------------------------------------------------------- the collapsed space


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
