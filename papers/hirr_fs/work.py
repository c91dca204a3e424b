"""Choose features on training rows, classify test rows with more and more of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from palmette.compare import Problem, Split, measure
from palmette.metrics import hierarchical_f1_score, tree_induced_error
from palmette.scoring.base import FeatureScore
from papers.hirr_fs.methods import Options
from papers.hirr_fs.sets import make_parts

__all__ = ["classifier_of", "selector_of", "work"]

Results = dict[str, Any]

_ACCURACY = 1e-2  # of liblinear: with its usual 1e-4 all features of protein_dd take 30 seconds


def selector_of(score: FeatureScore, problem: Problem, n_features: int, options: Options) -> Any:
    """Return a selector that is not fitted yet."""
    from palmette.feature_selection import HierarchicalFeatureSelector

    return HierarchicalFeatureSelector(
        score,
        hierarchy=problem.hierarchy,
        n_features_to_select=n_features,
        n_jobs=options.n_jobs,
        random_state=options.seed,
    )


def classifier_of(problem: Problem, selector: Any, options: Options) -> Any:
    """Return linear machines, one a node, that are asked from the root downwards."""
    from sklearn.svm import LinearSVC

    from palmette.local import LocalPerParentClassifier

    return LocalPerParentClassifier(
        LinearSVC(C=1.0, dual="auto", tol=_ACCURACY, random_state=options.seed),
        hierarchy=problem.hierarchy,
        feature_selector=selector,
        decoding="top_down",
        n_jobs=options.n_jobs,
    )


def work(
    score: FeatureScore | None, problem: Problem, grid: Sequence[int], options: Options
) -> Results:
    """Score the test rows of all parts of a problem.

    Parameters
    ----------
    score : FeatureScore or None
        None: all features.
    problem : Problem
    grid : sequence of int
        Numbers of features, ascending.
    options : Options

    Returns
    -------
    dict
        ``k``, numbers of features; for each, ``f1`` (a row, root counted), ``f1_rootless``,
        ``tie`` (a row), ``accuracy`` and ``classify_s``, CPU seconds of fits and predictions;
        ``select_s``, CPU seconds of choosing the most of them, of one part; ``n_parts``.
    """
    if score is None:
        grid = (int(problem.X_train.shape[1]),)
    truth: list[Any] = []
    answers: list[list[Any]] = [[] for _ in grid]
    select_s, classify_s, n_parts = 0.0, np.zeros(len(grid)), 0
    for part in make_parts(problem, options.seed):
        selectors, seconds = _selectors(score, problem, part, grid, options)
        select_s, n_parts = select_s + seconds, n_parts + 1
        truth.extend(np.asarray(part.y_test).tolist())
        for place, selector in enumerate(selectors):
            with measure() as usage:
                model = classifier_of(problem, selector, options).fit(part.X_train, part.y_train)
                answers[place].extend(np.asarray(model.predict(part.X_test)).tolist())
            classify_s[place] += usage.cpu_seconds
    scores = [_scores(truth, answer, problem) for answer in answers]
    return {
        "k": list(grid),
        **{name: [each[name] for each in scores] for name in scores[0]},
        "classify_s": (classify_s / n_parts).tolist(),
        "select_s": select_s / n_parts,
        "n_parts": n_parts,
    }


def _selectors(
    score: FeatureScore | None, problem: Problem, part: Split, grid: Sequence[int], options: Options
) -> tuple[list[Any], float]:
    """Fitted selectors of more and more features, and the CPU seconds of the last."""
    from sklearn.frozen import FrozenEstimator

    if score is None:
        return [None], 0.0
    with measure() as usage:
        most = selector_of(score, problem, max(grid), options).fit(part.X_train, part.y_train)
    return [FrozenEstimator(most.reduced_to(k)) for k in grid], usage.cpu_seconds


def _scores(truth: list[Any], answer: list[Any], problem: Problem) -> dict[str, float]:
    tree = {"hierarchy": problem.hierarchy}
    by_row = {**tree, "average": "samples"}
    return {
        "f1": float(hierarchical_f1_score(truth, answer, include_root=True, **by_row)),
        "f1_rootless": float(hierarchical_f1_score(truth, answer, **by_row)),
        "tie": float(tree_induced_error(truth, answer, **tree)),
        "accuracy": float(np.mean([a == b for a, b in zip(truth, answer, strict=True)])),
    }
