"""Comparisons as tables in the terminal."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from palmette.bench.compare import COSTS, Comparison, best_value, format_cost, format_score
from palmette.bench.scores import SCORES

__all__ = ["leaderboard", "print_significance"]

_COST_TITLES = {"fit_cpu_s": "fit s", "predict_cpu_s": "predict s", "peak_mib": "peak MiB"}


def leaderboard(comparison: Comparison, dataset: str) -> Table:
    """Make a table of one data set: models as rows, the best one first, best scores in bold."""
    first = comparison.scores[0]
    entries = comparison.means(dataset)
    best = {
        name: best_value([e[name] for e in entries], SCORES[name]) for name in comparison.scores
    }
    sign = -1.0 if SCORES[first].greater_is_better else 1.0
    entries.sort(key=lambda entry: sign * entry[first])
    splits = entries[0]["n_splits"] if entries else 0
    table = Table(
        title=f"{dataset}, {splits} split{'s' if splits != 1 else ''}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("model", no_wrap=True)
    for name in comparison.scores:
        arrow = "↑" if SCORES[name].greater_is_better else "↓"
        table.add_column(f"{SCORES[name].title} {arrow}", justify="right")
    for cost in COSTS:
        table.add_column(_COST_TITLES[cost], justify="right", style="dim")
    for entry in entries:
        cells = [_styled(entry, name, best[name]) for name in comparison.scores]
        table.add_row(entry["model"], *cells, *(format_cost(entry[cost]) for cost in COSTS))
    return table


def _styled(entry: dict[str, Any], score: str, best: float | None) -> Text:
    text = format_score(entry, score, best)
    return Text(text.replace("**", ""), style="bold green" if "**" in text else "")


def print_significance(console: Console, comparison: Comparison, score: str) -> None:
    """Print average ranks over data sets and which differences are significant."""
    result = comparison.significance(score)
    table = Table(
        title=f"over {len(comparison.datasets)} data sets, by {SCORES[score].title}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("model", no_wrap=True)
    table.add_column("average rank", justify="right")
    for place in result.order:
        table.add_row(str(result.methods[place]), f"{result.average_ranks[place]:.2f}")
    console.print(table)
    if len(result.methods) > 2:
        console.print(f"Friedman: p = {result.friedman_pvalue:.3g}", highlight=False)
    groups = "; ".join(", ".join(map(str, group)) for group in result.groups)
    console.print(
        f"{result.posthoc} test at {result.alpha:g}: "
        + (f"no significant difference within ({groups})" if groups else "all pairs differ"),
        highlight=False,
    )
