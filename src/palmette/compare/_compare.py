"""Compare models on data sets: same splits, same seeds, scores, times and memory in one table."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

from palmette._arrays import is_text
from palmette.compare._comparison import COSTS, Comparison
from palmette.compare._measure import environment, measure
from palmette.compare._preparing import prepare
from palmette.compare._problems import Problem, Split, make_splits
from palmette.compare._scores import DEFAULT_SCORES, Score, find_scores
from palmette.compare._store import ResultStore, describe_estimator, fingerprint
from palmette.exceptions import PalmetteError
from palmette.labels._labels import NodeLabels
from palmette.models._registry import ModelContext, ModelSpec, find_models

__all__ = ["compare"]

Watch = Callable[[str, str, str], None]
Receive = Callable[[Split, str, Any], None]


def compare(
    problems: Iterable[Problem],
    models: Sequence[str],
    scores: Sequence[str] = DEFAULT_SCORES,
    *,
    n_splits: int | None = None,
    test_size: float = 0.3,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Watch | None = None,
    receive: Receive | None = None,
) -> Comparison:
    """Fit and score every model on every split of every problem.

    Numerical libraries are held to one thread meanwhile, so that CPU seconds can be compared.

    Parameters
    ----------
    problems : iterable of Problem
    models : sequence of str
        Names in the registry.
    scores : sequence of str
    n_splits : int, optional
        Random splits; by default the published split where there is one, else three.
    test_size : float
    seed : int
        For splits and models.
    n_jobs : int, optional
        For the models; changes no score. The peak of memory leaves worker processes out.
    store : ResultStore, optional
        Cells found in it are not computed again, unless something that they depend on has
        changed: data, split, model, versions, machine or number of jobs.
    watch : callable, optional
        Called with (data set, split, model) before each cell is computed.
    receive : callable, optional
        Called with (split, model, predicted labels) after each cell is computed.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> X, y = np.repeat(np.eye(4), 10, axis=0), np.repeat(["a/x", "a/y", "b/x", "b/y"], 10)
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])
    >>> found = compare([Problem("toy", h, X, y)], ["flat-naive-bayes"], n_splits=2)
    >>> [row["hierarchical_f1"] for row in found.rows]
    [1.0, 1.0]
    """
    run = _Run(find_models(models), find_scores(scores), n_jobs, store, watch, receive)
    for problem in problems:
        run.add(problem, n_splits, test_size, seed)
    return run.comparison


class _Run:
    """A comparison under way."""

    def __init__(
        self,
        specs: list[ModelSpec],
        scores: dict[str, Score],
        n_jobs: int | None,
        store: ResultStore | None,
        watch: Watch | None,
        receive: Receive | None,
    ) -> None:
        self._specs, self._scores, self._n_jobs = specs, scores, n_jobs
        self._store = ResultStore() if store is None else store
        self._watch, self._receive = watch, receive
        facts = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
        self.comparison = Comparison([], tuple(scores), [spec.name for spec in specs], [], facts)

    def add(self, problem: Problem, n_splits: int | None, test_size: float, seed: int) -> None:
        """Do all cells of a problem."""
        if problem.name in self.comparison.datasets:
            raise PalmetteError(f"there are two data sets called {problem.name!r}: rename one.")
        _require_fit(problem, self._specs)
        data = fingerprint(problem)
        self.comparison.datasets.append(problem.name)
        self.comparison.estimators[problem.name] = {}
        for split in make_splits(problem, n_splits, test_size, seed):
            for spec in self._specs:
                self._do(problem, data, split, spec)

    def _do(self, problem: Problem, data: str, split: Split, spec: ModelSpec) -> None:
        place = {"dataset": problem.name, "split": split.name}
        row = {**place, "seed": split.seed, "test_size": split.test_size, "model": spec.name}
        described = describe_estimator(_make(problem, split, spec, bare=True))
        self.comparison.estimators[problem.name].setdefault(spec.name, described)
        cell = {**row, "data": data, "estimator": described, "made_with": self.comparison.facts}
        results = self._store.get(cell)
        if results is None or any(name not in results for name in self._scores):
            changes = self._store.changes(cell)
            if changes:
                note = f"computed again, as these have changed: {', '.join(changes)}"
                self.comparison.notes.append({**place, "model": spec.name, "note": note})
            results = self._compute(problem, split, spec)
            self._store.put(cell, results)
        self.comparison.notes += [
            {**place, "model": spec.name, "note": note} for note in results["notes"]
        ]
        self.comparison.rows.append({**row, **{k: results[k] for k in (*self._scores, *COSTS)}})

    def _compute(self, problem: Problem, split: Split, spec: ModelSpec) -> dict[str, Any]:
        if self._watch is not None:
            self._watch(problem.name, split.name, spec.name)
        with _named_errors(problem, split, spec), threadpool_limits(1):
            model = _make(problem, split, spec, self._n_jobs)
            gc.collect()  # what the model before has left behind
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("default")
                with measure() as fitting:
                    model.fit(split.X_train, split.y_train)
                with measure() as predicting:
                    predicted = model.predict(split.X_test)
        if self._receive is not None:
            self._receive(split, spec.name, predicted)
        results: dict[str, Any] = {
            name: score(split.y_test, predicted, problem.hierarchy)
            for name, score in self._scores.items()
        }
        peaks = [u.peak_mib for u in (fitting, predicting) if u.peak_mib is not None]
        results["fit_cpu_s"] = fitting.cpu_seconds
        results["predict_cpu_s"] = predicting.cpu_seconds
        results["peak_mib"] = max(peaks) if peaks else None
        results["notes"] = _first_lines(caught)
        return results


def _make(
    problem: Problem, split: Split, spec: ModelSpec, n_jobs: int | None = None, bare: bool = False
) -> Any:
    """Return the pipeline of a model; a bare one does not know the hierarchy, and is short."""
    hierarchy = None if bare else problem.hierarchy
    context = ModelContext(hierarchy, split.seed, n_jobs, is_text(split.X_train))
    parts = (split.X_train, split.X_test)
    return prepare(spec.make(context), spec, *parts, categorical=problem.categorical)


@contextmanager
def _named_errors(problem: Problem, split: Split, spec: ModelSpec) -> Any:
    """Say which model on which data could not do with what it was given."""
    try:
        yield
    except ValueError as error:
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        raise PalmetteError(f"{spec.name} on {problem.name}, {split.name}: {reason}") from error


def _first_lines(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return the first line of every warning, once each."""
    texts = [str(warning.message).strip() or warning.category.__name__ for warning in caught]
    return list(dict.fromkeys(text.splitlines()[0] for text in texts))


def _require_fit(problem: Problem, specs: Sequence[ModelSpec]) -> None:
    """Refuse models that cannot take the labels of a problem, before hours of work."""
    unfit = [spec.name for spec in specs if not spec.several_paths]
    if not unfit:
        return
    for y in (problem.y_train, problem.y_test):
        if y is not None and not NodeLabels.encode(y, problem.hierarchy).is_single_path:
            raise PalmetteError(
                f"{problem.name} has several paths per row, or rows without a label, which "
                f"{', '.join(unfit)} cannot learn. Leave them out, or choose a data set with one "
                "path per row."
            )
