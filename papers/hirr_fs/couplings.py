"""Couplings of nodes that act: strengths relative to the data, chosen by cross-validation or tried.

In the units of the paper, alpha = beta = 1 is next to nothing where a node has thousands of rows.
Relative to the data, a strength of 1 makes the parent count as much as all rows of the node.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import take_rows
from palmette.compare import Problem, fingerprint
from palmette.labels._labels import NodeLabels
from papers.cells import Cells, OutOfTime
from papers.hirr_fs.methods import STRENGTHS, numbers_of

__all__ = [
    "CANDIDATES",
    "MAX_ROWS",
    "MAX_SWEEPS",
    "Chosen",
    "Couplings",
    "choose",
    "classifier_of",
    "divided",
    "find_couplings",
    "row_counts",
    "search_strengths",
]

CANDIDATES = (0.0, 0.1, 1.0)
MAX_ROWS = 2000  # of the cross-validation
MAX_SWEEPS = 100  # of the grid: enough for nearly all of its cells
_F194 = "protein_f194_test_only"
_SEED = 0
STRENGTH_NAMES = [f"feature_selector__score__{of}" for of in ("parent", "sibling")]
_UNSETTLED = "bcd did not converge"  # in the notes of a cell


@dataclass(frozen=True)
class Chosen:
    """Strengths that cross-validation chooses, and what they gain on test rows.

    Parameters
    ----------
    n_rows : int
        Training rows of the cross-validation.
    cv_none, cv_best : float
        Hierarchical F1 by cross-validation, without couplings and with the best ones.
    parent, sibling : float
        The best ones.
    changed : float
        Share of the features of nodes that are not selected without couplings.
    none, chosen : float
        Hierarchical F1 of test rows.
    low, high : float
        95% interval of their difference, by paired bootstrap samples of the test rows.
    """

    n_rows: int
    cv_none: float
    cv_best: float
    parent: float
    sibling: float
    changed: float
    none: float
    chosen: float
    low: float
    high: float


@dataclass(frozen=True)
class Couplings:
    """What couplings do on a data set.

    Parameters
    ----------
    name : str
    chosen : Chosen or None
        None if the time was up before they were chosen.
    grid : dict of (alpha, beta) to float
        F1 of test rows with a fifth of the features, as in Table 8; strengths relative to the data.
        Without cells that were not finished in time.
    none : float
        The same without couplings.
    error : float
        Standard error of `none` over test rows.
    published : dict of (alpha, beta) to float
        The grid in the units of the paper, with its settings; of F194 only.
    unsettled : frozenset of (alpha, beta)
        Cells of `grid` whose sweeps ended before the objective had converged.
    """

    name: str
    chosen: Chosen | None
    grid: dict[tuple[float, float], float]
    none: float
    error: float
    published: dict[tuple[float, float], float]
    unsettled: frozenset[tuple[float, float]] = frozenset()


# ---------------------------------------------------------------------- measuring


def classifier_of(problem: Problem, score: Any, n_features: int) -> Any:
    """Return linear machines of the k best features of every node."""
    from sklearn.svm import LinearSVC

    from palmette.feature_selection import HierarchicalFeatureSelector
    from palmette.local import LocalPerParentClassifier

    selector = HierarchicalFeatureSelector(
        score, hierarchy=problem.hierarchy, n_features_to_select=n_features
    )
    return LocalPerParentClassifier(
        LinearSVC(tol=0.01, random_state=_SEED),
        hierarchy=problem.hierarchy,
        feature_selector=selector,
    )


def divided(problem: Problem, *, raw: bool = False) -> tuple[Any, Any, Any, Any]:
    """Return training and test rows; a third are test rows where there is no test part.

    Dense features are standardized by the training rows, unless `raw`.
    """
    X, y = problem.X_train, np.asarray(problem.y_train)
    if problem.has_split:
        X_test, y_test = problem.X_test, np.asarray(problem.y_test)
    else:
        order = np.random.default_rng(_SEED).permutation(len(y))
        train, test = np.split(order, [2 * len(order) // 3])
        X, X_test = take_rows(X, train), take_rows(problem.X_train, test)
        y, y_test = y[train], y[test]
    if not raw and not sparse.issparse(X):
        mean, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-9)
        X, X_test = (X - mean) / scale, (X_test - mean) / scale
    return X, y, X_test, y_test


def row_counts(hierarchy: Any, truth: Any, predicted: Any) -> NDArray[np.int64]:
    """Return the nodes in common, of the truth and of the prediction, of shape (3, n_rows)."""
    true, guessed = (NodeLabels.encode(y, hierarchy).closed.astype(int) for y in (truth, predicted))
    common = true.multiply(guessed)
    # the root is in every path
    return np.array([np.asarray(part.sum(axis=1)).ravel() - 1 for part in (common, true, guessed)])


def f1_of(counts: NDArray[np.int64]) -> float:
    """Return the hierarchical F1 of rows, without the root."""
    common, true, guessed = counts.sum(axis=1)
    return float(2 * common / (true + guessed))


def interval(counts: dict[str, NDArray[np.int64]], n_samples: int = 1000) -> tuple[float, float]:
    """Return the 95% bootstrap interval of the gain of "chosen" over "none" in F1."""
    rng = np.random.default_rng(_SEED)
    n_rows, gains = counts["none"].shape[1], []
    for _ in range(n_samples):
        drawn = rng.integers(n_rows, size=n_rows)
        gains.append(f1_of(counts["chosen"][:, drawn]) - f1_of(counts["none"][:, drawn]))
    low, high = np.percentile(gains, [2.5, 97.5])
    return float(low), float(high)


def search_strengths(model: Any, hierarchy: Any, X: Any, y: Any, max_rows: int) -> Any:
    """Try all pairs of candidates by three folds of training rows.

    Parameters
    ----------
    model : LocalPerParentClassifier
        Whose selector has a `HirrScore`.
    hierarchy : Hierarchy
    X, y : arrays of n_samples rows
    max_rows : int
        Some of the rows are drawn where there are more.

    Returns
    -------
    GridSearchCV
        Without a model that is fitted again; the first pair has no couplings.
    """
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import GridSearchCV, KFold

    from palmette.metrics import hierarchical_f1_score

    rows = np.random.default_rng(_SEED).permutation(len(y))[:max_rows]
    return GridSearchCV(
        model,
        dict.fromkeys(STRENGTH_NAMES, CANDIDATES),
        scoring=make_scorer(hierarchical_f1_score, hierarchy=hierarchy),
        cv=KFold(3),
        refit=False,
    ).fit(take_rows(X, rows), y[rows])


def choose(problem: Problem, n_features: int, max_rows: int = MAX_ROWS) -> dict[str, float]:
    """Choose strengths by three folds of the training rows, and score test rows once.

    Parameters
    ----------
    problem : Problem
    n_features : int
        Features of a node.
    max_rows : int
        Of the cross-validation.

    Returns
    -------
    dict
        The fields of `Chosen`.
    """
    from palmette.feature_selection._hirr import HirrScore

    X, y, X_test, y_test = divided(problem)
    model = classifier_of(problem, HirrScore(tol=1e-4), n_features)
    search = search_strengths(model, problem.hierarchy, X, y, max_rows)
    names = STRENGTH_NAMES
    means = search.cv_results_["mean_test_score"]
    counts, supports = {}, []
    for label, settings in (("none", {}), ("chosen", search.best_params_)):
        fitted = classifier_of(problem, HirrScore(tol=1e-4), n_features)
        fitted.set_params(**settings).fit(X, y)
        counts[label] = row_counts(problem.hierarchy, y_test, fitted.predict(X_test))
        supports.append(fitted.feature_selector_.node_supports_.astype(int))
    low, high = interval(counts)
    return {
        "n_rows": min(max_rows, len(y)),
        "cv_none": float(means[0]),
        "cv_best": float(means.max()),
        "parent": float(search.best_params_[names[0]]),
        "sibling": float(search.best_params_[names[1]]),
        "changed": float(1 - supports[0].multiply(supports[1]).sum() / supports[1].sum()),
        "none": f1_of(counts["none"]),
        "chosen": f1_of(counts["chosen"]),
        "low": low,
        "high": high,
    }


def strength(problem: Problem, n_features: int, settings: dict[str, Any]) -> dict[str, float]:
    """Score test rows with given couplings: F1 per row with the root, and its standard error."""
    from palmette.feature_selection._hirr import HirrScore

    settings = dict(settings)
    published = settings.pop("published", False)
    X, y, X_test, y_test = divided(problem, raw=published)
    make = (
        partial(HirrScore.preset, "hirrfam-fs")
        if published
        else partial(HirrScore, tol=1e-3, max_iter=MAX_SWEEPS)
    )
    score = make(**settings)
    model = classifier_of(problem, score, n_features).fit(X, y)
    common, true, guessed = row_counts(problem.hierarchy, y_test, model.predict(X_test)) + 1
    f1 = 2 * common / (true + guessed)
    return {"f1": float(f1.mean()), "error": float(f1.std() / np.sqrt(len(f1)))}


def find_couplings(problem: Problem, cells: Cells) -> Couplings:
    """Choose and try strengths, unless the results are there already.

    Parameters
    ----------
    problem : Problem
    cells : Cells

    Returns
    -------
    Couplings
    """
    data, k = fingerprint(problem), numbers_of(problem).k
    fifth = max(1, round(0.2 * problem.X_train.shape[1]))
    n_grid = k if sparse.issparse(problem.X_train) else fifth

    def results(model: str, compute: Any, **more: Any) -> dict[str, Any]:
        cell = {"dataset": problem.name, "model": f"couplings: {model}", "data": data, **more}
        return cells.results(cell, compute)

    def of_grid(words: str, **fixed: Any) -> dict[tuple[float, float], dict[str, Any]]:
        found = {}
        for alpha, beta in _pairs():
            settings = {**fixed, "parent": alpha, "sibling": beta}
            with suppress(OutOfTime):
                found[alpha, beta] = results(
                    f"{words} alpha={alpha:g}, beta={beta:g}",
                    lambda settings=settings: strength(problem, n_grid, settings),
                    k=n_grid,
                    max_iter=MAX_SWEEPS,
                )
        return found

    chosen, fields = None, Chosen.__dataclass_fields__
    with suppress(OutOfTime):
        best = results("chosen", lambda: choose(problem, k), k=k, max_rows=MAX_ROWS)
        chosen = Chosen(**{name: best[name] for name in fields})
    none = results("none", lambda: strength(problem, n_grid, {}), k=n_grid)
    grid = of_grid("relative")
    published = of_grid("as published", published=True) if problem.name == _F194 else {}
    return Couplings(
        problem.name,
        chosen,
        {pair: cell["f1"] for pair, cell in grid.items()},
        none["f1"],
        none["error"],
        {pair: cell["f1"] for pair, cell in published.items()},
        frozenset(pair for pair, cell in grid.items() if _is_unsettled(cell["notes"])),
    )


def _is_unsettled(notes: list[str]) -> bool:
    return any(note.startswith(_UNSETTLED) for note in notes)


def _pairs() -> list[tuple[float, float]]:
    return [(alpha, beta) for alpha in STRENGTHS for beta in STRENGTHS]
