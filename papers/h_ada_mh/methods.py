"""The methods that are fitted on the true tree; those of the collapsed space are beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

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
from papers.h_ada_mh.scoring import (
    AnswerSpace,
    errors_of_losses,
    losses_of_signs,
    top_k_precision,
)
from papers.h_ada_mh.tuning import (
    FOREST_GRID,
    GLOBAL_GRID,
    Grid,
    fit_best,
    search_over,
    with_prefix,
)

__all__ = ["bayes", "stages_of", "tree_methods"]

# ---------------------------------------------------------------------- the true tree


_N_STAGES = 60  # rounds at which the test error is taken


def tree_methods() -> Iterator[Method]:
    """Yield H-Ada.MH to the letter, AdaBoost.MH, what is between them, the baselines and ours."""
    yield Method(
        "H-Ada.MH",
        "tree",
        {"literal-sign": "H-Ada.MH (Eq. 5-12), sign"},
        _preset("paper"),
        _boosted(sign="literal-sign"),
    )
    yield Method(
        "AdaBoost.MH",
        "tree",
        {"mh-sign": "AdaBoost.MH, sign", "mh-path": "AdaBoost.MH, best path"},
        _preset("adaboost-mh"),
        _boosted(sign="mh-sign", path="mh-path"),
    )
    yield Method(
        "weights of Eq. 5-6",
        "tree",
        {"weights-path": "weights of Eq. 5-6, no mask, best path"},
        _preset("adaboost-mh", initial_weights="hierarchical"),
        _boosted(path="weights-path"),
    )
    yield Method(
        "mask in the search",
        "tree",
        {"search-path": "mask in the search, one coefficient per class, best path"},
        _preset("paper-search"),
        _boosted(path="search-path"),
    )
    yield Method(
        "forest per level, top-down",
        "tree",
        {"local-level": "Local: forest per level, top-down"},
        _local,
        _by_path("local-level"),
    )
    yield Method(
        "forest per level, tuned",
        "tree",
        {"local-tuned": "Local: forest per level, top-down, tuned"},
        _tuned(_small_local, with_prefix(FOREST_GRID, "estimator__")),
        _by_path("local-tuned", _local),
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
        _flat(bayes),
        _by_path("global-flat-bayes"),
    )
    yield Method(
        "global-model naive Bayes [26]",
        "tree",
        {"global-model": "Global: global-model naive Bayes [26]"},
        _global_model,
        _by_path("global-model"),
    )
    yield Method(
        "global-model naive Bayes [26], tuned",
        "tree",
        {"global-tuned": "Global: global-model naive Bayes [26], tuned"},
        _tuned(_global_model, GLOBAL_GRID),
        _by_path("global-tuned", _global_model),
    )
    for name in ("HierarchicalAdaBoostClassifier", "HierarchicalBoostingClassifier"):
        yield Method(name, "tree", {name: f"{name}()"}, _default(name), _by_path(name))


def _preset(name: str, **changes: Any) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        from palmette.boosting import HierarchicalAdaBoostClassifier

        return HierarchicalAdaBoostClassifier.preset(
            name,
            hierarchy=setting.problem.hierarchy,
            n_estimators=setting.rounds,
            decoding="auto",  # one fit is answered by signs and by the best path
            n_jobs=setting.n_jobs,
            random_state=setting.seed,
            **changes,
        )

    return make


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
            "stages": stages_of(estimator, problem.X_test, space),
        }

    return work


def stages_of(estimator: Any, X: Any, space: AnswerSpace) -> dict[str, list[float]]:
    """Test errors of the signs after some of the rounds, denser at the beginning.

    Parameters
    ----------
    estimator : fitted classifier
    X : array of shape (n_test, n_features)
    space : AnswerSpace

    Returns
    -------
    dict
        ``rounds``, ``hamming`` and ``hierarchical_hamming``, as many numbers each, and the
        ``standard_errors`` of both losses after the last round.
    """
    n_rounds = len(estimator.rounds_)
    wanted = set(np.unique(np.geomspace(1, max(n_rounds, 1), _N_STAGES).round()).tolist())
    stages: dict[str, list[float]] = {"rounds": [], "hamming": [], "hierarchical_hamming": []}
    samples = Samples(estimator.bins_.transform(X), X)
    staged = staged_scores(samples, estimator.rounds_, estimator.start_)
    for number, scores in enumerate(staged, start=1):
        if number in wanted:
            wide = spread(scores, estimator.nodes_, space.truth.shape[1])
            hamming, hierarchical = losses_of_signs(space, wide)
            stages["rounds"].append(number)
            stages["hamming"].append(hamming)
            stages["hierarchical_hamming"].append(hierarchical)
            stages["standard_errors"] = errors_of_losses(space, wide)  # the last ones stay
    return stages


def _paths(setting: Setting, estimator: Any) -> list[list[int]]:
    """Classes on the path that a fitted estimator predicts for every test row."""
    closure = setting.problem.hierarchy.closure
    rows = closure[estimator.predict_nodes(setting.problem.X_test)]
    return [(part[part > 0] - 1).tolist() for part in np.split(rows.indices, rows.indptr[1:-1])]


def _by_path(
    key: str, full: Callable[[Setting], Any] | None = None
) -> Callable[[Setting, Any], Results]:
    """Fit a classifier of paths and take its own decision.

    Where a maker of another one is given, the first one is a search for its parameters.
    """

    def work(setting: Setting, estimator: Any) -> Results:
        problem, space = setting.problem, setting.tree
        rows = problem.X_train, problem.y_train
        chosen = {}
        if full is None:
            estimator.fit(*rows)
        else:
            estimator, words = fit_best(estimator, full(setting), *rows)
            chosen = {"chosen": {"all": words}}
        proba = estimator.predict_node_proba(problem.X_test)[:, 1:]
        top_k = top_k_precision(space.truth, proba, int(space.level.max()))
        return {"predicted": {key: _paths(setting, estimator)}, "top_k": top_k, **chosen}

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


def bayes(setting: Setting) -> Any:
    """Return scikit-learn's naive Bayes with normal distributions."""
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _local(setting: Setting) -> Any:
    from palmette.local import LocalPerLevelClassifier

    return LocalPerLevelClassifier(
        make_forest(setting), hierarchy=setting.problem.hierarchy, decoding="top_down"
    )


def _small_local(setting: Setting) -> Any:
    """Return forests of fewer trees, for the search of parameters."""
    return _local(setting).set_params(estimator__n_estimators=setting.n_search_trees)


def _flat(base: Callable[[Setting], Any]) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        from palmette.local import FlatClassifier

        hierarchy = setting.problem.hierarchy
        return FlatClassifier(base(setting), hierarchy=hierarchy, decoding="best_path")

    return make


def _global_model(setting: Setting) -> Any:
    from palmette.local import GlobalNaiveBayesClassifier

    return GlobalNaiveBayesClassifier(setting.problem.hierarchy)


def _tuned(make: Callable[[Setting], Any], grid: Grid) -> Callable[[Setting], Any]:
    """Choose parameters by hierarchical F1 in cross-validation on the training rows."""
    return lambda setting: search_over(make(setting), grid, "hierarchical_f1", setting.seed)
