"""Score all methods on a data set with rows held out of the selection, and keep the results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from palmette.compare import Problem, Split, fingerprint, measure
from palmette.feature_selection._base import FeatureScore
from palmette.feature_selection._hirr import HirrScore
from palmette.metrics import hierarchical_f1_score, tree_induced_error
from papers.cells import Cells, Options, OutOfTime
from papers.hirr_fs.chosen import ChosenStrengths
from papers.hirr_fs.couplings import row_counts
from papers.hirr_fs.methods import (
    ALL,
    CHOSEN,
    FIVE,
    METHODS,
    Maker,
    Numbers,
    described,
    make_parts,
    numbers_of,
)
from papers.hirr_fs.parity import ParityOutcome

__all__ = ["Answer", "Outcome", "classifier_of", "find_outcome", "selector_of", "work"]

# ---------------------------------------------------------------------- one method on one split


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
    """Return linear machines, one per node, that are evaluated from the root downwards."""
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
    score: FeatureScore | ChosenStrengths | None,
    problem: Problem,
    grid: Sequence[int],
    options: Options,
) -> Results:
    """Score the test rows of all parts of a problem.

    Parameters
    ----------
    score : FeatureScore, ChosenStrengths or None
        None: all features.
    problem : Problem
    grid : sequence of int
        Numbers of features, ascending.
    options : Options

    Returns
    -------
    dict
        ``k``, numbers of features; for each, ``f1`` (per row, root counted), ``f1_rootless``,
        ``tie`` (per row), ``accuracy``, ``error`` (standard error of ``f1``) and ``classify_s``,
        CPU seconds of fits and predictions;
        ``select_s``, CPU seconds of choosing the most of them, of one part, including the choice
        of strengths; ``n_parts``; and ``strengths`` by part, if they are chosen.
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
        **({"strengths": score.strengths} if isinstance(score, ChosenStrengths) else {}),
    }


def _selectors(
    score: FeatureScore | ChosenStrengths | None,
    problem: Problem,
    part: Split,
    grid: Sequence[int],
    options: Options,
) -> tuple[list[Any], float]:
    """Fitted selectors of more and more features, and the CPU seconds of the last."""
    from sklearn.frozen import FrozenEstimator

    if score is None:
        return [None], 0.0
    with measure() as usage:
        own = score.score_of(part) if isinstance(score, ChosenStrengths) else score
        most = selector_of(own, problem, max(grid), options).fit(part.X_train, part.y_train)
    return [FrozenEstimator(most.reduced_to(k)) for k in grid], usage.cpu_seconds


def _scores(truth: list[Any], answer: list[Any], problem: Problem) -> dict[str, float]:
    tree: dict[str, Any] = {"hierarchy": problem.hierarchy}
    by_row: dict[str, Any] = {**tree, "average": "samples"}
    return {
        "f1": float(hierarchical_f1_score(truth, answer, include_root=True, **by_row)),
        "f1_rootless": float(hierarchical_f1_score(truth, answer, **by_row)),
        "tie": float(tree_induced_error(truth, answer, **tree)),
        "accuracy": float(np.mean([a == b for a, b in zip(truth, answer, strict=True)])),
        "error": _standard_error(truth, answer, problem),
    }


def _standard_error(truth: list[Any], answer: list[Any], problem: Problem) -> float:
    """Return the standard error of the mean F1 over rows, the root counted."""
    common, true, guessed = row_counts(problem.hierarchy, truth, answer) + 1
    f1 = 2 * common / (true + guessed)
    return float(f1.std() / np.sqrt(len(f1)))


# ---------------------------------------------------------------------- all methods


_SWEEPS = 10


@dataclass(frozen=True)
class Answer:
    """Scores of the test rows with k features per node.

    Parameters
    ----------
    method : str
    k : int
    f1 : float
        Hierarchical F1 per row, the root counted.
    f1_rootless : float
    tie : float
        Tree induced error per row.
    accuracy : float
    classify_s : float
        CPU seconds of fitting the classifiers and predicting.
    error : float
        Standard error of `f1` over test rows.
    """

    method: str
    k: int
    f1: float
    f1_rootless: float
    tie: float
    accuracy: float
    classify_s: float
    error: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What was found on a data set.

    Parameters
    ----------
    problem : Problem
    numbers : Numbers
    curves : dict of str to list of Answer
        By method, from few features to many.
    select_s : dict of str to float
        CPU seconds of choosing the most features, by method.
    n_parts : int
        Parts of which scores are taken together.
    objective : list of float or None
        Of HiRRfam-FS at the start and after every sweep, where it was solved so.
    lowest : float or None
        Where block coordinate descent ends, or sweeps do if that is lower.
    parity : ParityOutcome or None
        By the authors' protocol.
    strengths : list of list of float or None
        Weights of parents and of siblings that were chosen for every part.
    """

    problem: Problem
    numbers: Numbers
    curves: dict[str, list[Answer]]
    select_s: dict[str, float]
    n_parts: int
    objective: list[float] | None = None
    lowest: float | None = None
    parity: ParityOutcome | None = None
    strengths: list[list[float]] | None = None

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.problem.name

    def answer(self, method: str) -> Answer | None:
        """Return what a method reached with the features of the tables, or with all."""
        wanted = None if method == ALL else self.numbers.k
        for answer in self.curves.get(method, []):
            if wanted is None or answer.k == wanted:
                return answer
        return None


def find_outcome(
    problem: Problem,
    options: Options,
    cells: Cells,
    methods: dict[str, Maker] | None = None,
    parity: ParityOutcome | None = None,
) -> Outcome:
    """Score every method, unless its results are there already.

    Parameters
    ----------
    problem : Problem
    options : Options
    cells : Cells
    methods : dict of str to makers of scores, optional
        All by default.
    parity : ParityOutcome, optional
        To be held beside.

    Returns
    -------
    Outcome
    """
    data, numbers = fingerprint(problem), numbers_of(problem)
    curves, select_s, n_parts = {}, {}, 1
    for key, maker in (METHODS if methods is None else methods).items():
        grid = _grid(key, problem, numbers)
        score = maker()
        if isinstance(score, HirrScore) and sparse.issparse(problem.X_train):
            score.set_params(standardize="auto")  # raw values, as in the paper: texts are sparse
        cell = _cell(problem, key, score, grid, options.seed, data)
        try:
            found = cells.results(cell, partial(work, score, problem, grid, options))
        except OutOfTime:  # what is stored of other methods comes nevertheless
            continue
        curves[key] = _answers(key, found)
        select_s[key], n_parts = found["select_s"], found["n_parts"]
    strengths, objective, lowest = None, None, None
    if methods is None:
        chooser = ChosenStrengths(problem, numbers.k)
        cell = _cell(problem, CHOSEN, None, numbers.grid, options.seed, data)
        with suppress(OutOfTime):
            found = cells.results(
                {**cell, **chooser.settings()},
                partial(work, chooser, problem, numbers.grid, options),
            )
            curves[CHOSEN], select_s[CHOSEN] = _answers(CHOSEN, found), found["select_s"]
            strengths = found["strengths"]
    with suppress(OutOfTime):
        objective, lowest = _objective(problem, options, cells, data)
    return Outcome(
        problem, numbers, curves, select_s, n_parts, objective, lowest, parity, strengths
    )


def _grid(key: str, problem: Problem, numbers: Numbers) -> tuple[int, ...]:
    """Numbers of features: one outside of Tables 4 and 5, and few where each costs seconds."""
    if key not in FIVE:
        return (numbers.k,)
    if key == "HierMRMR" and sparse.issparse(problem.X_train):
        return tuple(number for number in numbers.grid if number <= numbers.k)
    return numbers.grid


def _cell(
    problem: Problem, key: str, score: Any, grid: Sequence[int], seed: int, data: str
) -> dict[str, Any]:
    return {
        "dataset": problem.name,
        "model": key,
        "data": data,
        "score": described(score),
        "grid": list(grid),
        "seed": seed,
    }


def _answers(key: str, found: dict[str, Any]) -> list[Answer]:
    names = ("k", "f1", "f1_rootless", "tie", "accuracy", "classify_s", "error")
    return [Answer(key, *values) for values in zip(*(found[name] for name in names), strict=True)]


def _objective(
    problem: Problem, options: Options, cells: Cells, data: str
) -> tuple[list[float] | None, float | None]:
    """Ten sweeps of reweighted least squares, which would need too much memory for texts."""
    if sparse.issparse(problem.X_train):
        return None, None
    ties: dict[str, Any] = {"relative": "lam", "parent": 1.0, "sibling": 1.0}
    sweeps = HirrScore(**ties, solver="irls", max_iter=_SWEEPS, tol=0.0)
    exact = HirrScore(**ties, solver="bcd", tol=1e-5)

    def compute() -> dict[str, Any]:
        part = next(make_parts(problem, options.seed))
        reached = []
        for score in (sweeps, exact):
            selector = selector_of(score, problem, 1, options).fit(part.X_train, part.y_train)
            reached.append([float(value) for value in selector.objective_])
        return {"objective": reached[0], "lowest": min(reached[0][-1], reached[1][-1])}

    found = cells.results(_cell(problem, "sweeps", sweeps, (), options.seed, data), compute)
    return found["objective"], found["lowest"]
