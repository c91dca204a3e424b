"""The figures: data and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from papers.drawing import COLOURS, DARK, PALE, clean, new_figure, png_of
from papers.soshf.methods import DEFAULT, METHODS, OF_PAPER
from papers.soshf.outcome import Outcome
from papers.soshf.published import PAPER_AUC, PAPER_F
from papers.soshf.ranking import rank_methods
from papers.soshf.tables import paper_score

__all__ = ["draw_figures", "figure_facts"]

# ---------------------------------------------------------------------- numbers


Facts = dict[str, Any]

_SHOWN = (DEFAULT, "extra-trees", "sf-h-cs", "sf-h", "sf", "rf-cost", "cocoa", "ecc", "boosting")


def figure_facts(outcomes: Sequence[Outcome]) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    dict
        ``ranks-paper`` and ``ranks-all``: mean ranks by F and by AUC; ``scores``: both by method
        and data set, with CPU seconds. Figures that need more sets or methods are left out.
    """
    figures = {
        "ranks-paper": _ranks(
            outcomes, OF_PAPER, "sf-h-cs", "f_own", "The paper's methods, its decision rules"
        ),
        "ranks-all": _ranks(
            outcomes, tuple(METHODS), DEFAULT, "f_tuned", "All methods, thresholds tuned"
        ),
        "scores": _scores(outcomes),
    }
    return {name: facts for name, facts in figures.items() if facts is not None}


def _ranks(
    outcomes: Sequence[Outcome], methods: Sequence[str], control: str, f: str, title: str
) -> Facts | None:
    panels = []
    for value, words in ((f, "macro-F"), ("auc", "macro-AUC")):
        found = rank_methods(outcomes, methods, value, control)
        if found is None:
            return None
        panels.append(
            {
                "title": words,
                "control": control,
                "distance": found.distance,
                "n_datasets": found.n_datasets,
                "ranks": found.mean_ranks,
                "worse_by_wilcoxon": [
                    key for key in found.mean_ranks if found.is_worse(key, found.by_wilcoxon)
                ],
            }
        )
    return {"title": title, "panels": panels}


def _scores(outcomes: Sequence[Outcome]) -> Facts | None:
    panels = []
    for outcome in outcomes:
        points = [
            {
                "method": key,
                "f": answer.mean("f_tuned"),
                "f_deviation": answer.deviation("f_tuned"),
                "auc": answer.mean("auc"),
                "auc_deviation": answer.deviation("auc"),
                "fit_s": answer.mean("fit_s"),
            }
            for key in _SHOWN
            if (answer := outcome.answers.get(key)) is not None and answer.by_split("f_tuned")
        ]
        paper = {
            "f": paper_score(PAPER_F, "sf-h-cs", outcome.name),
            "auc": paper_score(PAPER_AUC, "sf-h-cs", outcome.name),
        }
        if points:
            panels.append({"dataset": outcome.name, "points": points, "paper": paper})
    title = "Macro-F with tuned thresholds (upwards) and macro-AUC (to the right)"
    return {"title": title, "panels": panels} if panels else None


# ---------------------------------------------------------------------- drawing


FigureFacts = Mapping[str, Any]

_COLUMNS = 4
_STYLES = {  # colour and marker
    DEFAULT: (COLOURS[0], "*"),
    "extra-trees": (COLOURS[2], "s"),
    "sf-h-cs": (COLOURS[1], "v"),
    "sf-h": (COLOURS[4], "^"),
    "sf": (COLOURS[6], "<"),
    "rf-cost": (COLOURS[3], "D"),
    "cocoa": (COLOURS[5], "P"),
    "ecc": (PALE, "X"),
    "boosting": (COLOURS[7], "h"),
}


def draw_figures(figures: Mapping[str, FigureFacts]) -> dict[str, bytes]:
    """Draw what `figure_facts` gives: PNG files by name."""
    draw: dict[str, Callable[[FigureFacts], Any]] = {
        "ranks-paper": _draw_ranks,
        "ranks-all": _draw_ranks,
        "scores": _draw_scores,
    }
    return {f"{name}.png": png_of(draw[name](facts)) for name, facts in figures.items()}


def _draw_ranks(facts: FigureFacts) -> Any:
    """Draw mean ranks, best on top; what lies within the band does not differ from the control."""
    panels = facts["panels"]
    n_methods = max(len(panel["ranks"]) for panel in panels)
    figure = new_figure(4.2 * len(panels), 1.4 + 0.22 * n_methods, facts["title"])
    grid = figure.subplots(1, len(panels), squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=True):
        _draw_rank_panel(axes, panel)
    figure.supxlabel(
        "mean rank; the band: no significant difference from the control (Bonferroni-Dunn); "
        "hollow: worse by Wilcoxon's test",
        fontsize=8,
        color=DARK,
    )
    return figure


def _draw_rank_panel(axes: Any, panel: FigureFacts) -> None:
    clean(axes)
    methods = list(panel["ranks"])
    base = panel["ranks"][panel["control"]]
    axes.axvspan(base - panel["distance"], base + panel["distance"], color=PALE, alpha=0.35, lw=0)
    for place, method in enumerate(methods):
        is_control = method == panel["control"]
        colour = COLOURS[0] if is_control else DARK
        is_worse = method in panel["worse_by_wilcoxon"]
        axes.plot(
            panel["ranks"][method],
            place,
            "*" if is_control else "o",
            markersize=10 if is_control else 5,
            markerfacecolor="none" if is_worse else colour,
            markeredgecolor=colour,
        )
    axes.set_yticks(range(len(methods)), methods)
    axes.set_ylim(len(methods) - 0.5, -0.5)
    axes.set_xlim(0.5, len(methods) + 0.5)
    axes.set_xticks(range(1, len(methods) + 1, max(1, len(methods) // 6)))
    axes.grid(axis="y", color=PALE, linewidth=0.4)
    axes.set_title(f"{panel['title']}, {panel['n_datasets']} sets", fontsize=10, color=DARK)


def _draw_scores(facts: FigureFacts) -> Any:
    """Draw F over AUC, one panel per data set; the cross is the paper's SF-H-CS."""
    panels = facts["panels"]
    n_columns = min(_COLUMNS, len(panels))
    n_rows = -(-len(panels) // n_columns)
    figure = new_figure(1.4 + 2.9 * n_columns, 1.3 + 2.6 * n_rows, facts["title"])
    grid = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    named: dict[str, Any] = {}
    for axes, panel in zip(grid, panels, strict=False):
        clean(axes)
        axes.set_title(panel["dataset"], fontsize=9, color=DARK)
        for point in panel["points"]:
            named.setdefault(point["method"], _draw_point(axes, point))
        if panel["paper"]["f"] is not None:
            cross = axes.scatter(
                panel["paper"]["auc"], panel["paper"]["f"], marker="x", s=45, color=COLOURS[1]
            )
            named.setdefault("sf-h-cs, the paper", cross)
    figure.legend(
        named.values(), named, loc="outside lower center", ncols=5, fontsize=8, frameon=False
    )
    return figure


def _draw_point(axes: Any, point: FigureFacts) -> Any:
    colour, marker = _STYLES.get(point["method"], (DARK, "."))
    if point["auc_deviation"] is not None:
        axes.errorbar(
            point["auc"],
            point["f"],
            xerr=point["auc_deviation"],
            yerr=point["f_deviation"],
            color=colour,
            linewidth=0.5,
            zorder=1,
        )
    size = 120 if marker == "*" else 40
    return axes.scatter(point["auc"], point["f"], marker=marker, s=size, color=colour, zorder=2)
