"""Comparisons as Markdown, and how figures are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from palmette.compare._ranking import ranking_sentences, ranking_title
from palmette.compare._scores import SCORES, Score
from palmette.compare._split_tests import split_sentence

if TYPE_CHECKING:
    from palmette.compare._comparison import Comparison

__all__ = ["best_value", "format_cost", "format_score", "is_best", "to_markdown"]

_COST_TITLES = {"fit_cpu_s": "fit CPU s", "predict_cpu_s": "predict CPU s", "peak_mib": "peak MiB"}


def to_markdown(comparison: Comparison) -> str:
    """Return one table a data set, the ranking over data sets, and what the figures belong to.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    parts = []
    for name in comparison.datasets:
        parts.append(f"### {name}\n\n{_table(comparison, name)}")
        tested = comparison.split_test(name)
        if tested is not None:
            parts.append(split_sentence(tested))
    ranking = comparison.ranking()
    if ranking is not None:
        parts.append(_ranking(ranking))
    if comparison.facts:
        facts = ", ".join(f"{name} {value}" for name, value in comparison.facts.items())
        parts.append(f"Measured with: {facts}.")
    return "\n\n".join(parts) + "\n"


def _table(comparison: Comparison, dataset: str) -> str:
    entries = comparison.means(dataset)
    titles = [SCORES[score].title for score in comparison.scores]
    lines = [_line("model", *titles, *_COST_TITLES.values()), "|---|" + "---:|" * (len(titles) + 3)]
    best = {s: best_value([e[s] for e in entries], SCORES[s]) for s in comparison.scores}
    for entry in entries:
        cells = []
        for score in comparison.scores:
            text = format_score(entry, score)
            cells.append(f"**{text}**" if is_best(entry[score], best[score]) else text)
        lines.append(_line(entry["model"], *cells, *(format_cost(entry[c]) for c in _COST_TITLES)))
    return "\n".join(lines)


def _ranking(facts: dict[str, Any]) -> str:
    lines = [f"### {ranking_title(facts)}", ""]
    if "average_ranks" in facts:
        lines += [_line("model", "average rank"), "|---|---:|"]
        lines += [_line(name, f"{rank:.2f}") for name, rank in facts["average_ranks"].items()]
        lines.append("")
    return "\n".join([*lines, " ".join(ranking_sentences(facts))])


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# ---------------------------------------------------------------------- figures


def best_value(values: Sequence[float | None], score: Score) -> float | None:
    """Return the best of some values of a score."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return max(known) if score.greater_is_better else min(known)


def is_best(value: float | None, best: float | None) -> bool:
    """Whether a value cannot be told from the best one as it is written."""
    return value is not None and best is not None and f"{value:.3f}" == f"{best:.3f}"


def format_score(entry: dict[str, Any], score: str, deviation: bool = True) -> str:
    """Write a mean, with its standard deviation where there is one.

    Examples
    --------
    >>> format_score({"h_loss": 0.25, "h_loss_sd": 0.0123}, "h_loss")
    '0.250±.012'
    """
    value, spread = entry[score], entry.get(f"{score}_sd")
    if value is None:
        return "–"
    if spread is None or not deviation:
        return f"{value:.3f}"
    return f"{value:.3f}±{f'{spread:.3f}'.removeprefix('0')}"


def format_cost(value: float | None) -> str:
    """Write seconds or MiB with three digits or so.

    Examples
    --------
    >>> format_cost(1234.5), format_cost(12.34), format_cost(0.1234)
    ('1,234', '12.3', '0.12')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"
