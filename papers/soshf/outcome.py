"""Score all methods on all splits of a data set, and hold what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from palmette.compare import Problem, Split, fingerprint
from papers.cells import Cells
from papers.soshf.methods import Method, Options, describe, folds_of
from papers.soshf.sets import SetFacts, even_split, facts_of
from papers.soshf.work import work

__all__ = ["Answer", "Outcome", "find_outcome"]

_VALUES = ("f_own", "f_tuned", "auc", "fit_s", "predict_s", "peak_mib")


@dataclass(frozen=True)
class Answer:
    """Scores of a method on the splits of a data set.

    Parameters
    ----------
    method : str
    splits : list of dicts
        As `work` gives them.
    """

    method: str
    splits: list[dict[str, Any]]

    def mean(self, value: str) -> float:
        """Mean over the splits of a value such as "auc"; NaN where it was not told."""
        return float(np.mean(self._all(value)))

    def deviation(self, value: str) -> float | None:
        """Standard deviation over the splits; None of a single one."""
        found = self._all(value)
        return float(np.std(found, ddof=1)) if len(found) > 1 else None

    def _all(self, value: str) -> list[float]:
        return [np.nan if split[value] is None else split[value] for split in self.splits]

    def means(self) -> dict[str, float]:
        """All means, by value."""
        return {value: self.mean(value) for value in _VALUES}


@dataclass(frozen=True)
class Outcome:
    """The answers of all methods on a data set.

    Parameters
    ----------
    name : str
        Of the data set.
    facts : SetFacts
    n_splits : int
    answers : dict of str to Answer
        By method; only of those that came through on all splits.
    failures : dict of str to str
        Why a method did not, by method.
    """

    name: str
    facts: SetFacts
    n_splits: int
    answers: dict[str, Answer]
    failures: dict[str, str] = field(default_factory=dict)


def find_outcome(
    problem: Problem,
    methods: Iterable[Method],
    cells: Cells,
    *,
    n_splits: int,
    seed: int = 0,
    n_jobs: int | None = None,
    quick: bool = False,
) -> Outcome:
    """Fit every method on every split, unless its results are there already.

    A method that fails is told of, and tried again the next time; the others go on.

    Parameters
    ----------
    problem : Problem
        As `papers.soshf.sets.prepare` gives it.
    methods : iterable of Method
    cells : Cells
    n_splits : int
    seed, n_jobs, quick
        As in `papers.run`.

    Returns
    -------
    Outcome
    """
    data, chosen = fingerprint(problem), list(methods)
    found: dict[str, list[dict[str, Any]]] = {method.key: [] for method in chosen}
    failures: dict[str, str] = {}
    for number in range(n_splits):
        split = even_split(problem, number, seed)
        options = Options(problem.name, split.seed, n_jobs, quick)
        for method in chosen:
            if method.key in failures:
                continue
            try:
                found[method.key].append(_result(method, split, options, data, cells))
            except Exception as error:  # code of any estimator runs here
                words = str(error).strip().partition("\n")[0]
                failures[method.key] = f"{split.name}: {type(error).__name__}: {words}"
    answers = {
        key: Answer(key, splits) for key, splits in found.items() if splits and key not in failures
    }
    return Outcome(problem.name, facts_of(problem), n_splits, answers, failures)


def _result(
    method: Method, split: Split, options: Options, data: str, cells: Cells
) -> dict[str, Any]:
    cell = {
        "dataset": options.dataset,
        "split": split.name,
        "model": method.key,
        "data": data,
        "seed": split.seed,
        "estimator": describe(method, options),
        "folds": folds_of(method, options),
    }
    return cells.results(cell, lambda: work(method, split, options))
