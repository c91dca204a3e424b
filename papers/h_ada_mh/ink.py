"""Figures 4 to 7 in ink: facts in, PNG files out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from papers.h_ada_mh.sample_ink import draw_sample
from papers.pictures import COLOURS, INK, PALE, clean, new_figure, png_of

__all__ = ["draw_figures"]

Facts = Mapping[str, Any]
_LOSSES = {
    "hamming": "wrong cells",
    "hierarchical_hamming": "wrong cells, and those below",
}
# a method has one colour in all panels; its lesser form is dashed
_STYLES = {
    "H-Ada.MH": (COLOURS[0], "-"),
    "H-Ada.MH, first positive": (COLOURS[0], "-"),
    "H-Ada.MH, best class": (COLOURS[0], "--"),
    "AdaBoost.MH": (COLOURS[1], "-"),
    "mask in the search": (COLOURS[2], "-"),
    "weights of Eq. 5-6": (COLOURS[3], "-"),
    "Local, forest": (COLOURS[3], "-"),
    "Local, forest of depth 2": (COLOURS[3], "--"),
    "Global, forest": (COLOURS[4], "-"),
    "Global, naive Bayes": (COLOURS[5], "-"),
    "HierarchicalAdaBoost": (COLOURS[6], "-"),
    "HierarchicalBoosting": (COLOURS[7], "-"),
}


def draw_figures(figures: Mapping[str, Facts]) -> dict[str, bytes]:
    """Draw all figures.

    Parameters
    ----------
    figures : mapping
        As `figure_facts` gives it.

    Returns
    -------
    dict of str to bytes
        PNG files by name.
    """
    draw: dict[str, Callable[[Facts], Any]] = {
        "figure-4": _draw_losses,
        "figure-5": _draw_top_k,
        "figure-6": _draw_levels,
        "figure-7": draw_sample,
    }
    return {f"{name}.png": png_of(draw[name](facts)) for name, facts in figures.items()}


def _draw_losses(facts: Facts) -> Any:
    panels = facts["panels"]
    title = f"Figure 4. {facts['title']}"
    figure = new_figure(2.5 + 3.0 * len(panels), 6.0, title)
    grid = figure.subplots(2, len(panels), squeeze=False)
    for column, panel in enumerate(panels):
        for row, (loss, words) in enumerate(_LOSSES.items()):
            axes = grid[row][column]
            clean(axes)
            for curve in panel["curves"]:
                colour, line = _style(curve["name"])
                rounds, values = curve["rounds"], curve[loss]
                axes.plot(rounds, values, line, color=colour, linewidth=1.5, label=curve["name"])
                axes.plot(rounds[-1:], values[-1:], "o", color=colour, markersize=4)
            axes.set_xscale("log")
            axes.set_ylim(bottom=0)
            axes.grid(axis="y", color=PALE, linewidth=0.5)
            if row == 0:
                axes.set_title(panel["dataset"], fontsize=10, color=INK)
            else:
                axes.set_xlabel("round", fontsize=9, color=INK)
            if column == 0:
                axes.set_ylabel(words, fontsize=9, color=INK)
    _legend(figure, grid[0][0], len(panels))
    return figure


def _draw_top_k(facts: Facts) -> Any:
    """Draw a bar for every method, at k = the depth, with its number."""
    grid, figure = _two_rows(facts, "Figure 5")
    for panel, axes in grid:
        series = panel["series"]
        places = range(len(series))
        finals = [one["values"][-1] for one in series]
        bars = [COLOURS[0] if one["name"].startswith("H-Ada") else PALE for one in series]
        axes.barh(places, finals, color=bars, height=0.65)
        for place, value in zip(places, finals, strict=True):
            axes.text(value + 0.015, place, f"{value:.3f}", va="center", fontsize=8, color=INK)
        is_first = axes.get_subplotspec().is_first_col()
        axes.set_yticks(places, [one["name"] for one in series] if is_first else [])
        axes.set_xlim(0, 1.15)
        axes.set_xticks([0, 0.5, 1])
        axes.invert_yaxis()
        depth = len(series[0]["values"]) if series else 0
        axes.set_xlabel(f"true ones among the {depth} best", fontsize=8, color=INK)
    return figure


def _draw_levels(facts: Facts) -> Any:
    """Draw a line for every method over the levels."""
    grid, figure = _two_rows(facts, "Figure 6")
    for panel, axes in grid:
        depth = 1
        for one in panel["series"]:
            colour, line = _style(one["name"])
            depth = len(one["values"])
            width = 2.4 if one["name"].startswith("H-Ada") else 1.3
            style = {"color": colour, "linewidth": width, "markersize": 4, "label": one["name"]}
            axes.plot(range(1, depth + 1), one["values"], f"o{line}", **style)
        axes.set_ylim(0, 1)
        axes.set_xticks(range(1, depth + 1))
        axes.set_xlabel("level", fontsize=8, color=INK)
        axes.grid(axis="y", color=PALE, linewidth=0.5)
        if axes.get_subplotspec().is_last_col():
            axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize=8, frameon=False)
    return figure


def _style(name: str) -> tuple[str, str]:
    return _STYLES.get(name, (INK, ":"))


def _two_rows(facts: Facts, number: str) -> tuple[list[tuple[Any, Any]], Any]:
    """Pair panels with axes: the collapsed space above, the tree below, a column a data set."""
    panels = facts["panels"]
    n_columns = len(panels) // 2
    figure = new_figure(3.0 + 3.0 * n_columns, 6.2, f"{number}. {facts['title']}")
    grid = figure.subplots(2, n_columns, squeeze=False)
    for panel, axes in zip(panels, grid.flat, strict=True):
        clean(axes)
        axes.set_title(f"{panel['dataset']}, {panel['space']}", fontsize=9, color=INK)
    return list(zip(panels, grid.flat, strict=True)), figure


def _legend(figure: Any, axes: Any, n_panels: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    n_columns = 2 if n_panels == 1 else len(labels)
    figure.legend(
        handles, labels, loc="outside lower center", ncols=n_columns, fontsize=9, frameon=False
    )
