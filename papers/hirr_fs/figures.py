"""Figures 5 to 13, Table 6 and the seconds of Section 3.4 as figures: data and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from papers.drawing import COLOURS, DARK, PALE, clean, new_figure, png_of
from papers.hirr_fs.complexity import Curve
from papers.hirr_fs.hierarchies import HIERARCHIES, draw_hierarchy, hierarchy_facts
from papers.hirr_fs.judging import honest_scores, honest_seconds
from papers.hirr_fs.methods import (
    ALL,
    CHOSEN,
    FIVE,
    FIVE_CHOSEN,
    FOUR,
    PAPER_F1,
    PAPER_SECONDS,
)
from papers.hirr_fs.outcome import Outcome
from papers.hirr_fs.tables import rank_five

__all__ = ["draw_figures", "figure_facts"]

# ---------------------------------------------------------------------- numbers


Facts = dict[str, Any]

_TEXTS = ("news20_951", "20newsgroups_bydate")
_WORDS = "authors' protocol"
# columns of the protein sets, numbered from 1: where they begin, and what they are
_COLUMN_GROUPS = ((1, "1-420"), (421, "421-440"), (441, "global, 441-446"), (447, "local, 447-473"))


def figure_facts(outcomes: Sequence[Outcome], curves: Sequence[Curve] = ()) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome
    curves : sequence of Curve
        Of Section 3.4.

    Returns
    -------
    dict
    """
    figures = {
        "table-6": _chosen(outcomes),
        "figure-7": _curves(outcomes, "F1 by number of features per node"),
        "figure-8": _ranks(outcomes),
        "figure-9": _four(outcomes),
        "figure-12": _curves(
            [one for one in outcomes if one.name in _TEXTS],
            "20 Newsgroups: F1 by features per node",
        ),
        "figure-13": _sweeps(outcomes),
        "section-3.4": _costs(curves),
        **hierarchy_facts(),
    }
    return {name: facts for name, facts in figures.items() if facts is not None}


def _curves(outcomes: Sequence[Outcome], title: str) -> Facts | None:
    panels = []
    for outcome in outcomes:
        if outcome.parity is not None:
            told = outcome.parity.curves
            curves = {m: {k: scores.f1 for k, scores in told[m].items()} for m in (*FIVE, ALL)}
            panels.append(_panel(f"{outcome.name}, {_WORDS}", outcome.parity.k, curves))
        ours = {m: {a.k: a.f1 for a in curve} for m, curve in outcome.curves.items()}
        ours = {method: ours[method] for method in (*FIVE, CHOSEN, ALL) if method in ours}
        panels.append(_panel(outcome.name, outcome.numbers.k, ours))
    return {"title": title, "panels": panels} if panels else None


def _panel(name: str, k: int, curves: dict[str, dict[int, float]]) -> Facts:
    return {
        "dataset": name,
        "k": k,
        "curves": [
            {"method": method, "k": list(curve), "f1": list(curve.values())}
            for method, curve in curves.items()
        ],
    }


def _four(outcomes: Sequence[Outcome]) -> Facts | None:
    panels = []
    for outcome in outcomes:
        if outcome.parity is not None:
            k = outcome.parity.k
            told = {method: outcome.parity.curves[method][k].f1 for method in FOUR}
            panels.append({"dataset": f"{outcome.name}, {_WORDS}", "f1": told})
        answers = {method: outcome.answer(method) for method in (*FOUR, CHOSEN)}
        found = {method: one.f1 for method, one in answers.items() if one is not None}
        if found:
            panels.append({"dataset": outcome.name, "f1": found})
    return {"title": "F1 of the four regularizers", "panels": panels} if panels else None


def _ranks(outcomes: Sequence[Outcome]) -> Facts | None:
    chosen = honest_scores(outcomes, FIVE_CHOSEN)
    panels = [
        {"words": words, **found}
        for words, found in (
            ("Table 5 as printed", rank_five(PAPER_F1, "HiRRfam-FS", higher_is_better=True)),
            (
                "F1, honest protocol",
                rank_five(honest_scores(outcomes), "HiRRfam-FS", higher_is_better=True),
            ),
            (
                "F1, honest protocol, strengths chosen",
                rank_five(chosen, CHOSEN, higher_is_better=True, methods=FIVE_CHOSEN),
            ),
            (
                "Table 7 as printed (Figure 10)",
                rank_five(PAPER_SECONDS, "Hier-FS", higher_is_better=False),
            ),
            (
                "seconds of choosing (Figure 10)",
                rank_five(honest_seconds(outcomes), "Hier-FS", higher_is_better=False),
            ),
        )
        if found is not None
    ]
    return {"title": "Mean ranks, and who differs from whom", "panels": panels}


def _costs(curves: Sequence[Curve]) -> Facts | None:
    if not curves:
        return None
    panels = [
        {"dataset": f"by {curve.variable}", "sizes": curve.sizes, "seconds": curve.seconds}
        for curve in curves
    ]
    return {"title": "CPU seconds by features n, rows m, options d", "panels": panels}


def _sweeps(outcomes: Sequence[Outcome]) -> Facts | None:
    panels = []
    for outcome in outcomes:
        if outcome.parity is not None:
            told = outcome.parity
            curves = {"random start, as published": told.objective, "ridge start": told.from_ridge}
            name = f"{outcome.name}, {_WORDS}"
            panels.append({"dataset": name, "curves": curves, "lowest": told.lowest})
        if outcome.objective is not None:
            curves = {"ridge start": outcome.objective}
            panels.append({"dataset": outcome.name, "curves": curves, "lowest": outcome.lowest})
    return {"title": "Objective of HiRRfam-FS by sweep", "panels": panels} if panels else None


def _chosen(outcomes: Sequence[Outcome]) -> Facts | None:
    for outcome in outcomes:
        if outcome.parity is not None:
            return {
                "title": f"Features that HiRRfam-FS chooses for the nodes of {outcome.name}",
                "n_features": int(outcome.problem.X_train.shape[1]),
                "groups": [list(group) for group in _COLUMN_GROUPS],
                "chosen": outcome.parity.chosen,
            }
    return None


# ---------------------------------------------------------------------- drawing


FigureFacts = Mapping[str, Any]

_COLUMNS = 4
_STYLES = {  # colour and marker
    "HierFisher": (COLOURS[2], "s"),
    "HierFSNM": (COLOURS[3], "D"),
    "HierMRMR": (COLOURS[4], "^"),
    "Hier-FS": (COLOURS[0], "o"),
    "HiRRfam-FS": (COLOURS[1], "v"),
    CHOSEN: (COLOURS[5], "P"),
}
_BARS = (COLOURS[0], COLOURS[5], COLOURS[2], COLOURS[1], COLOURS[3])


def draw_figures(figures: Mapping[str, FigureFacts]) -> dict[str, bytes]:
    """Draw what `figure_facts` gives: PNG files by name."""
    draw: dict[str, Callable[[str, FigureFacts], Any]] = {
        "table-6": _draw_chosen,
        "figure-7": _draw_curves,
        "figure-8": _draw_ranks,
        "figure-9": _draw_four,
        "figure-12": _draw_curves,
        "figure-13": _draw_sweeps,
        "section-3.4": _draw_costs,
        **dict.fromkeys(HIERARCHIES, draw_hierarchy),
    }
    return {
        f"{name}.png": png_of(draw[name](name.replace("-", " ").capitalize(), facts))
        for name, facts in figures.items()
    }


def _panels(
    title: str, panels: Sequence[FigureFacts], height: float = 2.8
) -> tuple[Any, list[Any]]:
    """Return a figure and an axes for every panel, with its name above."""
    n_columns = min(_COLUMNS, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure = new_figure(1.6 + 3.2 * n_columns, 1.1 + height * n_rows, title)
    grid = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes, panel in zip(grid, panels, strict=False):
        clean(axes)
        axes.set_title(panel["dataset"], fontsize=9, color=DARK)
    return figure, grid[: len(panels)]


def _draw_curves(name: str, facts: FigureFacts) -> Any:
    """Draw F1 over the number of features; all features as a level line."""
    title = f"{name}. {facts['title']} (dashed: all features; dotted: k of the tables)"
    figure, grid = _panels(title, facts["panels"])
    named: dict[str, Any] = {}
    for axes, panel in zip(grid, facts["panels"], strict=True):
        for curve in panel["curves"]:
            if curve["method"] not in _STYLES:
                axes.axhline(curve["f1"][0], color=DARK, linewidth=1.0, linestyle="--", zorder=1)
                continue
            colour, marker = _STYLES[curve["method"]]
            (line,) = axes.plot(
                curve["k"], curve["f1"], color=colour, marker=marker, markersize=4, linewidth=1.2
            )
            named.setdefault(curve["method"], line)
        axes.axvline(panel["k"], color=PALE, linewidth=1.0, linestyle=":", zorder=0)
        _number_ticks(axes, panel["curves"][0]["k"])
        axes.set_xlabel("features per node", fontsize=8, color=DARK)
        axes.grid(color=PALE, linewidth=0.3)
    _legend(figure, named)
    return figure


def _number_ticks(axes: Any, numbers: Sequence[int]) -> None:
    """Scale by powers of ten, with the numbers that there are below."""
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(numbers, [str(number) for number in numbers])


def _legend(figure: Any, named: Mapping[str, Any]) -> None:
    figure.legend(
        named.values(), named.keys(), loc="outside lower center", ncols=5, fontsize=8, frameon=False
    )


def _draw_ranks(name: str, facts: FigureFacts) -> Any:
    """Draw mean ranks on a line; a bar holds those that do not differ from the control."""
    panels = facts["panels"]
    figure = new_figure(7.5, 0.9 + 1.7 * len(panels), f"{name}. {facts['title']}")
    grid = figure.subplots(len(panels), 1, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=True):
        ranks, control = panel["average_ranks"], panel["control"]
        axes.set_ylim(-1.6, 1.6)
        axes.set_xlim(0.7, len(ranks) + 0.3)
        axes.axhline(0.0, color=DARK, linewidth=1.0)
        for place, (method, rank) in enumerate(sorted(ranks.items(), key=lambda pair: pair[1])):
            side = 1.0 if place % 2 == 0 else -1.0
            axes.plot([rank, rank], [0.0, 0.5 * side], color=DARK, linewidth=0.8)
            text = f"{method}\n{rank:.2f}"
            middle = "bottom" if side > 0 else "top"
            colour = COLOURS[1] if method == control else DARK
            at = (rank, 0.55 * side)
            axes.text(*at, text, ha="center", va=middle, fontsize=8, color=colour)
        own, reach = ranks[control], panel["critical_difference"]
        ends = (max(own - reach, 0.7), min(own + reach, len(ranks) + 0.3))
        axes.plot(ends, [0.0, 0.0], color=COLOURS[1], linewidth=4.0, alpha=0.4)
        words = (
            f"{panel['words']}: {panel['n_datasets']} sets, F = {panel['statistic']:.2f}, "
            f"p = {panel['pvalue']:.2g}, critical difference {reach:.2f}"
        )
        axes.set_title(words, fontsize=9, color=DARK)
        axes.set_yticks([])
        for side_name in ("top", "right", "left", "bottom"):
            axes.spines[side_name].set_visible(False)
        axes.tick_params(colors=DARK, labelsize=8, length=2)
    return figure


def _draw_four(name: str, facts: FigureFacts) -> Any:
    """Draw four bars a data set, the axis cut to where they differ."""
    figure, grid = _panels(f"{name}. {facts['title']}", facts["panels"])
    for axes, panel in zip(grid, facts["panels"], strict=True):
        names, values = list(panel["f1"]), list(panel["f1"].values())
        axes.bar(range(len(values)), values, color=_BARS[: len(values)], width=0.65)
        for place, value in enumerate(values):
            at = (place, value)
            axes.text(*at, f"{value:.4f}", ha="center", va="bottom", fontsize=7, color=DARK)
        margin = max(0.01, 1.5 * (max(values) - min(values)))
        axes.set_ylim(max(0.0, min(values) - margin), min(1.0, max(values) + margin))
        axes.set_xticks(range(len(names)), [n.replace("-FS", "") for n in names])
    return figure


def _draw_sweeps(name: str, facts: FigureFacts) -> Any:
    """Draw how far the objective is above the lowest value, by sweep."""
    title = f"{name}. {facts['title']}: share above the lowest"
    figure, grid = _panels(title, facts["panels"])
    named: dict[str, Any] = {}
    for axes, panel in zip(grid, facts["panels"], strict=True):
        lowest = panel["lowest"]
        for place, (words, values) in enumerate(panel["curves"].items()):
            excess = [value / lowest - 1.0 for value in values]
            sweeps = range(10 - len(values) + 1, 11)  # a start comes before the first sweep
            shown = [(s, e) for s, e in zip(sweeps, excess, strict=True) if e > 0]
            colour = COLOURS[0] if words == "ridge start" else COLOURS[1]
            (line,) = axes.plot(
                [s for s, _ in shown],
                [e for _, e in shown],
                color=colour,
                marker="o",
                markersize=3,
                linewidth=1.2,
                zorder=2 + place,
            )
            named.setdefault(words, line)
        axes.set_yscale("log")
        axes.set_xlabel("sweep", fontsize=8, color=DARK)
    _legend(figure, named)
    return figure


def _draw_costs(name: str, facts: FigureFacts) -> Any:
    """Draw seconds over sizes, both by powers of ten."""
    figure, grid = _panels(f"{name}. {facts['title']}", facts["panels"])
    named: dict[str, Any] = {}
    for axes, panel in zip(grid, facts["panels"], strict=True):
        for place, (step, seconds) in enumerate(panel["seconds"].items()):
            (line,) = axes.plot(panel["sizes"], seconds, color=COLOURS[place], marker="o")
            named.setdefault(step, line)
        _number_ticks(axes, panel["sizes"])
        axes.set_yscale("log")
    _legend(figure, named)
    return figure


def _draw_chosen(name: str, facts: FigureFacts) -> Any:
    """Draw the chosen features of every node as ticks, groups of features side by side."""
    chosen = facts["chosen"]
    figure = new_figure(11.0, 1.3 + 0.42 * len(chosen), f"{name}. {facts['title']}")
    axes = figure.subplots()
    clean(axes)
    starts = [start for start, _ in facts["groups"]]
    first = starts[1] - 6  # nothing below is chosen for most nodes: drawn as one column
    for row, features in enumerate(chosen.values()):
        places = [max(feature, first) for feature in features]
        axes.scatter(places, [row] * len(places), marker="s", s=26, color=COLOURS[row % 5])
        below = sum(feature < starts[1] for feature in features)
        axes.text(first, row, str(below), ha="center", va="center", fontsize=8, color=DARK)
    ends = [*starts[2:], facts["n_features"] + 1]
    for (start, words), end in zip(facts["groups"][1:], ends, strict=True):
        axes.axvline(start - 0.5, color=PALE, linewidth=1.0)
        at = ((start + end - 1) / 2, -0.7)
        axes.text(*at, words, ha="center", va="bottom", fontsize=8, color=DARK)
    axes.text(first, -0.7, facts["groups"][0][1], ha="center", va="bottom", fontsize=8, color=DARK)
    axes.set_xlim(first - 4, facts["n_features"] + 1)
    axes.set_ylim(len(chosen) - 0.4, -1.3)
    axes.set_yticks(range(len(chosen)), [f"node {node}" for node in chosen])
    axes.set_xlabel("feature", fontsize=8, color=DARK)
    return figure
