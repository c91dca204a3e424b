"""Couplings of nodes that act: strengths relative to the data, chosen by cross-validation or tried.

In the units of the paper, alpha = beta = 1 is next to nothing where a node has thousands of rows.
Relative to the data, a strength of 1 makes the parent count as much as all rows of the node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import take_rows
from palmette.compare import Problem, fingerprint
from palmette.labels._labels import NodeLabels
from papers.cells import Cells
from papers.hirr_fs.methods import STRENGTHS, numbers_of
from papers.result import Cell, Claim, Table

__all__ = ["Chosen", "Couplings", "coupling_tables", "find_couplings", "judge_couplings"]

CANDIDATES = (0.0, 0.1, 1.0)
MAX_ROWS = 2000  # of the cross-validation
MAX_SWEEPS = 30  # of the grid: with alpha of 10 and more, hundreds would be needed
MAX_OPTIONS = 1500  # of all nodes together: with more of them, the grids take hours
_F194 = "protein_f194_test_only"
_SEED = 0


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
    chosen : Chosen
    grid : dict of (alpha, beta) to float
        F1 of test rows with a fifth of the features, as in Table 8; strengths relative to the data.
    none : float
        The same without couplings.
    error : float
        Standard error of `none` over test rows.
    published : dict of (alpha, beta) to float
        The grid in the units of the paper, with its settings; of F194 only.
    """

    name: str
    chosen: Chosen
    grid: dict[tuple[float, float], float]
    none: float
    error: float
    published: dict[tuple[float, float], float]


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
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import GridSearchCV, KFold

    from palmette.feature_selection._hirr import HirrScore
    from palmette.metrics import hierarchical_f1_score

    X, y, X_test, y_test = divided(problem)
    model = classifier_of(problem, HirrScore(tol=1e-4), n_features)
    rows = np.random.default_rng(_SEED).permutation(len(y))[:max_rows]
    names = [f"feature_selector__score__{of}" for of in ("parent", "sibling")]
    search = GridSearchCV(
        model,
        dict.fromkeys(names, CANDIDATES),
        scoring=make_scorer(hierarchical_f1_score, hierarchy=problem.hierarchy),
        cv=KFold(3),
        refit=False,
    ).fit(take_rows(X, rows), y[rows])
    means = search.cv_results_["mean_test_score"]
    counts, supports = {}, []
    for label, settings in (("none", {}), ("chosen", search.best_params_)):
        fitted = classifier_of(problem, HirrScore(tol=1e-4), n_features)
        fitted.set_params(**settings).fit(X, y)
        counts[label] = row_counts(problem.hierarchy, y_test, fitted.predict(X_test))
        supports.append(fitted.feature_selector_.node_supports_.astype(int))
    low, high = interval(counts)
    return {
        "n_rows": len(rows),
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
        partial(HirrScore.published, "hirrfam-fs")
        if published
        else partial(HirrScore, tol=1e-3, max_iter=MAX_SWEEPS)
    )
    score = make(**settings)
    model = classifier_of(problem, score, n_features).fit(X, y)
    common, true, guessed = row_counts(problem.hierarchy, y_test, model.predict(X_test)) + 1
    f1 = 2 * common / (true + guessed)
    return {"f1": float(f1.mean()), "error": float(f1.std() / np.sqrt(len(f1)))}


def find_couplings(problem: Problem, cells: Cells) -> Couplings | None:
    """Choose and try strengths, unless the results are there already; None for the largest sets.

    Parameters
    ----------
    problem : Problem
    cells : Cells

    Returns
    -------
    Couplings or None
    """
    sizes = np.bincount(problem.hierarchy.edges[:, 0])
    if sizes[sizes > 1].max() * len(sizes[sizes > 1]) > MAX_OPTIONS:
        return None
    data, k = fingerprint(problem), numbers_of(problem).k
    fifth = max(1, round(0.2 * problem.X_train.shape[1]))
    n_grid = k if sparse.issparse(problem.X_train) else fifth

    def results(model: str, compute: Any, **more: Any) -> dict[str, Any]:
        cell = {"dataset": problem.name, "model": f"couplings: {model}", "data": data, **more}
        return cells.results(cell, compute)

    def of_grid(words: str, **fixed: Any) -> dict[tuple[float, float], float]:
        found = {}
        for alpha, beta in _pairs():
            settings = {**fixed, "parent": alpha, "sibling": beta}
            found[alpha, beta] = results(
                f"{words} alpha={alpha:g}, beta={beta:g}",
                lambda settings=settings: strength(problem, n_grid, settings),
                k=n_grid,
                max_iter=MAX_SWEEPS,
            )["f1"]
        return found

    best = results("chosen", lambda: choose(problem, k), k=k, max_rows=MAX_ROWS)
    fields = Chosen.__dataclass_fields__
    none = results("none", lambda: strength(problem, n_grid, {}), k=n_grid)
    return Couplings(
        problem.name,
        Chosen(**{name: best[name] for name in fields}),
        of_grid("relative"),
        none["f1"],
        none["error"],
        of_grid("as published", published=True) if problem.name == _F194 else {},
    )


def _pairs() -> list[tuple[float, float]]:
    return [(alpha, beta) for alpha in STRENGTHS for beta in STRENGTHS]


# ---------------------------------------------------------------------- tables and claims


def coupling_tables(found: Sequence[Couplings]) -> Iterator[Table]:
    """Yield the strengths that cross-validation chooses, and the grids of Table 8."""
    if not found:
        return
    columns: tuple[str, ...] = ("data set", "rows", "CV, none", "CV, best", "parent, sibling")
    columns += ("changed", "test, none", "test, chosen", "gain (95% interval)")
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        own = each.chosen
        gain = f"{own.chosen - own.none:+.4f} ({own.low:+.4f} to {own.high:+.4f})"
        values = [f"{value:.4f}" for value in (own.cv_none, own.cv_best)]
        strengths = (f"{own.parent:g}, {own.sibling:g}", f"{own.changed:.2f}")
        tests = [f"{value:.4f}" for value in (own.none, own.chosen)]
        rows.append((each.name, own.n_rows, *values, *strengths, *tests, gain))
    note = (
        f"Strengths relative to the data, of {', '.join(f'{c:g}' for c in CANDIDATES)} each, "
        f"chosen by three folds of at most {MAX_ROWS:,} training rows; test rows are scored once. "
        "F1 without the root. 'changed' is the share of the features of nodes that are not "
        "selected without couplings. The interval is of 1,000 paired bootstrap samples."
    )
    yield Table("Couplings chosen by cross-validation on training rows", columns, rows, [note])
    yield _grids(found)
    for each in found:
        if each.published:
            yield _beside_print(each)


def _grids(found: Sequence[Couplings]) -> Table:
    columns = ("data set, beta", *(f"alpha {alpha:g}" for alpha in STRENGTHS), "none")
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        for beta in STRENGTHS:
            cells = [f"{each.grid[alpha, beta]:.4f}" for alpha in STRENGTHS]
            rows.append((f"{each.name}, {beta:g}", *cells, f"{each.none:.4f} ± {each.error:.4f}"))
    note = (
        "F1 of test rows, the root counted, with a fifth of the features (300 of texts); the "
        "strengths are those of Table 8, but relative to the data. 'none': without couplings, and "
        "its standard error over test rows. Nothing is chosen by this table. At most "
        f"{MAX_SWEEPS} sweeps, which are not enough for alpha of 10 and more."
    )
    return Table("Table 8 on our sets, strengths relative to the data", columns, rows, [note])


def _beside_print(each: Couplings) -> Table:
    from papers.hirr_fs.printed import PAPER_GRIDS

    printed = PAPER_GRIDS["F194"]
    strengths = tuple(f"{alpha:g}" for alpha in STRENGTHS)
    columns = ("beta \\ alpha", *strengths, "", *(f"printed {name}" for name in strengths))
    rows: list[tuple[Cell, ...]] = []
    for row, beta in enumerate(STRENGTHS):
        ours = [f"{each.published[alpha, beta]:.4f}" for alpha in STRENGTHS]
        rows.append((f"{beta:g}", *ours, "", *(f"{value:.4f}" for value in printed[row])))
    note = (
        "The published settings and units; of F194 only the test rows can be had: features are "
        f"chosen on two thirds of them, the others are scored (standard error {each.error:.4f})."
    )
    return Table("Table 8(a). F194, a fifth of the features", columns, rows, [note])


def judge_couplings(found: Sequence[Couplings]) -> Iterator[Claim]:
    """Judge whether couplings gain, and whether F1 depends on their strengths."""
    for each in found:
        own = each.chosen
        where = f"Couplings, {each.name}"
        words = (
            f"{where}: strengths {own.parent:g} and {own.sibling:g} by cross-validation (F1 "
            f"{own.cv_best:.4f}, without {own.cv_none:.4f}) change {own.changed:.0%} of the "
            f"features; on test rows {own.chosen:.4f}, without {own.none:.4f}: gain "
            f"{own.chosen - own.none:+.4f} (95% {own.low:+.4f} to {own.high:+.4f})"
        )
        holds = own.low > 0
        verdict = "couplings gain" if holds else "it does not hold that couplings gain"
        yield Claim(where, f"{words}; {verdict}.", holds)
        values = list(each.grid.values())
        spread = max(values) - min(values)
        where = f"Table 8, {each.name}"
        words = (
            f"{where}: F1 {min(values):.4f} to {max(values):.4f} over 25 relative strengths, "
            f"{each.none:.4f} without (standard error {each.error:.4f})"
        )
        holds = spread <= 2 * each.error
        verdict = "F1 hardly depends" if holds else "it does not hold that F1 hardly depends"
        yield Claim(where, f"{words}; {verdict} on alpha and beta.", holds)
        if each.published:
            yield _strong_parent(each)


def _strong_parent(each: Couplings) -> Claim:
    """Whether a strong tie to the parent harms F194, as the paper says."""
    weak, strong = each.published[0.01, 0.01], each.published[100.0, 0.01]
    where = "Table 8(a), F194"
    words = (
        f"{where}: F1 {weak:.4f} with alpha = beta = .01 (printed .7171 in the text, .6752 in the "
        f"table) and {strong:.4f} with alpha = 100 (printed .6329), standard error {each.error:.4f}"
    )
    holds = strong < weak - 2 * each.error
    verdict = "" if holds else "it does not hold that "
    return Claim(where, f"{words}; {verdict}a strong tie to the parent is harmful.", holds)
