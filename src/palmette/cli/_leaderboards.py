"""Comparisons of models as tables in the terminal."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from palmette.cli._terminal import Console, plain_table
from palmette.compare import (
    COSTS,
    SCORES,
    Comparison,
    best_value,
    format_cost,
    format_score,
    is_best,
    ranking_sentences,
    ranking_title,
    split_sentence,
)

_COST_TITLES = {
    "fit_cpu_s": "fit\nCPU s",
    "predict_cpu_s": "predict\nCPU s",
    "peak_mib": "peak\nMiB",
}


def print_leaderboard(console: Console, comparison: Comparison, dataset: str) -> None:
    """Print a table of one data set: one row per model, best first, best scores in green."""
    table = _leaderboard(comparison, dataset, deviation=True)
    unbounded = console.options.update(width=10_000)
    if Measurement.get(console, unbounded, table).maximum > console.width:
        table = _leaderboard(
            comparison, dataset, deviation=False
        )  # otherwise numbers would be truncated
    console.print(Text(_title(comparison, dataset), style="bold"))
    console.print(table)
    tested = comparison.split_test(dataset)
    if tested is not None:
        console.print(split_sentence(tested), highlight=False, markup=False)
    console.print()


def best_first(comparison: Comparison, dataset: str) -> list[dict[str, Any]]:
    """Return the means of a data set sorted by the first score; models without it come last."""
    first = comparison.scores[0]
    sign = -1.0 if SCORES[first].greater_is_better else 1.0

    def place(entry: dict[str, Any]) -> float:
        return float("inf") if entry[first] is None else sign * entry[first]

    return sorted(comparison.means(dataset), key=place)


def _leaderboard(comparison: Comparison, dataset: str, deviation: bool) -> Table:
    entries = best_first(comparison, dataset)
    table = plain_table()
    table.add_column("\nmodel", no_wrap=True)
    for name in comparison.scores:
        # headers of two lines leave space for long names of models
        title = SCORES[name].title.replace(" ", "\n", 1)
        arrow = "↑" if SCORES[name].greater_is_better else "↓"
        table.add_column(f"{title} {arrow}", justify="right", no_wrap=True)
    for cost in COSTS:
        table.add_column(_COST_TITLES[cost], justify="right", no_wrap=True, style="dim")
    best = {
        name: best_value([e[name] for e in entries], SCORES[name]) for name in comparison.scores
    }
    for entry in entries:
        cells = [
            Text(
                format_score(entry, name, deviation),
                style="bold green" if is_best(entry[name], best[name]) else "",
            )
            for name in comparison.scores
        ]
        table.add_row(Text(entry["model"]), *cells, *(format_cost(entry[cost]) for cost in COSTS))
    return table


def _title(comparison: Comparison, dataset: str) -> str:
    splits = {row["split"] for row in comparison.rows if row["dataset"] == dataset}
    if splits == {"published"}:
        return f"{dataset}, published split"
    if any(name.startswith("fold-") for name in splits):
        return f"{dataset}, {len(splits)} folds, as of palmette fit"
    return f"{dataset}, {len(splits)} random split{'s' if len(splits) > 1 else ''}"


def print_ranking(console: Console, ranking: dict[str, Any]) -> None:
    """Print average ranks over data sets and which differences are significant.

    Parameters
    ----------
    console : Console
    ranking : dict
        Result of `Comparison.ranking`.
    """
    if "average_ranks" in ranking:
        console.print(Text(ranking_title(ranking), style="bold"))
        table = plain_table()
        table.add_column("model", no_wrap=True)
        table.add_column("average rank", justify="right")
        for name, rank in ranking["average_ranks"].items():
            table.add_row(Text(name), f"{rank:.2f}")
        console.print(table)
        console.print()
    for sentence in ranking_sentences(ranking):
        console.print(sentence, highlight=False, markup=False)


def print_notes(console: Console, comparison: Comparison) -> None:
    """Print warnings, equal ones once with their number."""
    counts = Counter((note["model"], note["dataset"], note["note"]) for note in comparison.notes)
    for (model, dataset, note), count in counts.items():
        times = f" ({count} times)" if count > 1 else ""
        line = f"note: {model} on {dataset}: {note}{times}"
        console.print(line, style="dim", highlight=False, markup=False)
