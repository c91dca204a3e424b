"""Compare models on data sets: same splits, same seeds, scores, times and memory in one table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from palmette.bench.measure import hardware, measure
from palmette.bench.models import ModelContext, find_model
from palmette.bench.preparing import prepare
from palmette.bench.scores import DEFAULT_SCORES, SCORES, Score, find_scores
from palmette.bench.splits import Problem, Split, make_splits
from palmette.bench.store import ResultStore
from palmette.core.files import atomic_write
from palmette.core.labels import NodeLabels
from palmette.core.rows import is_text
from palmette.exceptions import PalmetteError

__all__ = ["Comparison", "compare"]

COSTS = ("fit_cpu_s", "predict_cpu_s", "peak_mib")
Watch = Callable[[str, str, str], None]
Receive = Callable[[Split, str, Any], None]


@dataclass
class Comparison:
    """Results of a comparison.

    Attributes
    ----------
    rows : list of dict
        Tidy: one dict for each data set, split and model, with ``dataset``, ``split``, ``model``,
        every score, ``fit_cpu_s``, ``predict_cpu_s`` and ``peak_mib``.
    scores : tuple of str
    models, datasets : list of str
    facts : dict
        The machine and versions that the times belong to.
    """

    rows: list[dict[str, Any]]
    scores: tuple[str, ...]
    models: list[str]
    datasets: list[str]
    facts: dict[str, Any] = field(default_factory=dict)

    def means(self, dataset: str) -> list[dict[str, Any]]:
        """Mean and standard deviation of every column over the splits of a data set, by model.

        Returns
        -------
        list of dict
            ``model``, ``n_splits``, and for every column its mean, and its deviation as
            ``<column>_sd`` where there are two splits at least.
        """
        table = []
        for model in self.models:
            rows = [r for r in self.rows if r["dataset"] == dataset and r["model"] == model]
            entry: dict[str, Any] = {"model": model, "n_splits": len(rows)}
            for column in (*self.scores, *COSTS):
                values = [row[column] for row in rows if row[column] is not None]
                entry[column] = float(np.mean(values)) if values else None
                if len(values) > 1:
                    entry[f"{column}_sd"] = float(np.std(values, ddof=1))
            table.append(entry)
        return table

    def matrix(self, score: str) -> np.ndarray:
        """Mean scores of shape (n_datasets, n_models)."""
        return np.array(
            [[entry[score] for entry in self.means(name)] for name in self.datasets], dtype=float
        )

    def significance(self, score: str, **options: Any) -> Any:
        """Test over data sets whether models differ: see `metrics.compare_over_datasets`."""
        from palmette.metrics import compare_over_datasets

        return compare_over_datasets(
            self.matrix(score),
            methods=self.models,
            higher_is_better=SCORES[score].greater_is_better,
            **options,
        )

    # ------------------------------------------------------------------ out

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "facts": self.facts,
            "scores": list(self.scores),
            "models": self.models,
            "datasets": self.datasets,
            "rows": self.rows,
            "means": {name: self.means(name) for name in self.datasets},
        }

    def to_pandas(self) -> Any:
        """Return the tidy rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def to_markdown(self) -> str:
        """Return one Markdown table a data set; the best of every score in bold."""
        return "\n\n".join(f"### {name}\n\n{self._markdown_of(name)}" for name in self.datasets)

    def _markdown_of(self, dataset: str) -> str:
        table = self.means(dataset)
        titles = [SCORES[s].title for s in self.scores]
        lines = [
            "| model | " + " | ".join([*titles, "fit CPU s", "predict CPU s", "peak MiB"]) + " |",
            "|---|" + "---|" * (len(titles) + 3),
        ]
        best = {s: best_value([e[s] for e in table], SCORES[s]) for s in self.scores}
        for entry in table:
            cells = [format_score(entry, s, best[s]) for s in self.scores]
            cells += [format_cost(entry[c]) for c in COSTS]
            lines.append(f"| {entry['model']} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write JSON (.json), Markdown (.md) or a table of the tidy rows (.csv), by suffix."""
        name = os.fspath(path)
        if name.endswith(".json"):
            text = json.dumps(self.to_dict(), indent=1) + "\n"
        elif name.endswith(".md"):
            text = self.to_markdown() + "\n"
        elif name.endswith(".csv"):
            text = self.to_pandas().to_csv(index=False)
        else:
            raise PalmetteError(f"cannot write {name!r}: expected a name in .json, .md or .csv.")
        with atomic_write(path) as stream:
            stream.write(text)


def best_value(values: Sequence[float | None], score: Score) -> float | None:
    """Return the best of some values of a score."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return max(known) if score.greater_is_better else min(known)


def format_score(entry: dict[str, Any], score: str, best: float | None) -> str:
    """Write a mean with its deviation, in bold where it is the best."""
    value = entry[score]
    if value is None:
        return "–"
    text = f"{value:.3f}"
    if best is not None and text == f"{best:.3f}":
        text = f"**{text}**"
    deviation = entry.get(f"{score}_sd")
    return text if deviation is None else f"{text} ± {deviation:.3f}"


def format_cost(value: float | None) -> str:
    """Write seconds or MiB with three digits or so."""
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


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

    Parameters
    ----------
    problems : iterable of Problem
    models : sequence of str
        Names in the registry.
    scores : sequence of str
    n_splits : int, optional
        Random splits; by default the published split where there is one.
    test_size : float
    seed : int
        For splits and models.
    n_jobs : int, optional
        For the models. CPU seconds cover worker processes only once they have ended, so compare
        times with one job.
    store : ResultStore, optional
        Cells found in it are not computed again.
    watch : callable, optional
        Called with (data set, split, model) before each cell is computed.
    receive : callable, optional
        Called with (split, model, predicted labels) after each cell is computed.

    Returns
    -------
    Comparison
    """
    specs = [find_model(name) for name in models]
    chosen = find_scores(scores)
    store = ResultStore() if store is None else store
    rows, names = [], []
    for problem in problems:
        names.append(problem.name)
        _require_fit(problem, specs)
        for split in make_splits(problem, n_splits, test_size, seed):
            for spec in specs:
                cell = {
                    "dataset": problem.name,
                    "split": split.name,
                    "test_size": None if split.name == "published" else test_size,
                    "model": spec.name,
                }
                results = store.get(cell)
                if results is None or any(name not in results for name in chosen):
                    if watch is not None:
                        watch(problem.name, split.name, spec.name)
                    results, predicted = _run_cell(problem, split, spec, chosen, n_jobs)
                    store.put(cell, results)
                    if receive is not None:
                        receive(split, spec.name, predicted)
                kept = {key: results[key] for key in (*chosen, *COSTS)}
                rows.append({**cell, **kept})
    return Comparison(rows, tuple(chosen), list(models), names, hardware())


def _run_cell(
    problem: Problem, split: Split, spec: Any, scores: dict[str, Score], n_jobs: int | None
) -> tuple[dict[str, Any], Any]:
    context = ModelContext(problem.hierarchy, split.seed, n_jobs, is_text(split.X_train))
    model = prepare(spec.make(context), spec, split.X_train)
    with measure() as fitting:
        model.fit(split.X_train, split.y_train)
    with measure() as predicting:
        predicted = model.predict(split.X_test)
    results: dict[str, Any] = {
        name: score.function(split.y_test, predicted, problem.hierarchy)
        for name, score in scores.items()
    }
    peaks = [u.peak_mib for u in (fitting, predicting) if u.peak_mib is not None]
    results["fit_cpu_s"] = fitting.cpu_seconds
    results["predict_cpu_s"] = predicting.cpu_seconds
    results["peak_mib"] = max(peaks) if peaks else None
    return results, predicted


def _require_fit(problem: Problem, specs: Sequence[Any]) -> None:
    """Refuse models that cannot take the labels of a problem, before hours of work."""
    if NodeLabels.encode(problem.y_train, problem.hierarchy).is_single_path:
        return
    unfit = [spec.name for spec in specs if not spec.several_paths]
    if unfit:
        raise PalmetteError(
            f"{problem.name} has several paths a row, which {', '.join(unfit)} cannot learn. Leave "
            "them out, or choose a data set with one path a row."
        )
