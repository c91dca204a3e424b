"""Figures 1 to 8 in ink: facts in, PNG files out, and the trees as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from papers.adaboost_bhc.glass import GLASS_KINDS, WINDOWS
from papers.pictures import COLOURS, INK, PALE, clean, new_figure, png_of

__all__ = ["draw_figures"]

Facts = Mapping[str, Any]
_STYLES = {"MH": COLOURS[0], "MI": COLOURS[1], "ECC": COLOURS[2], "BHC": INK}
_PARTS = {"train": "training error", "test": "test error"}


def draw_figures(figures: Mapping[str, Facts]) -> dict[str, bytes]:
    """Draw all figures.

    Parameters
    ----------
    figures : mapping
        As `figure_facts` gives it.

    Returns
    -------
    dict of str to bytes
        PNG files by name, and the trees as text.
    """
    files: dict[str, bytes] = {}
    for name, facts in figures.items():
        is_tree = "trees" in facts
        files[f"{name}.png"] = png_of(_draw_trees(facts) if is_tree else _draw_errors(facts))
        if is_tree:
            parts = [f"{tree['words']}\n\n{tree['text']}\n" for tree in facts["trees"]]
            files[f"{name}.txt"] = "\n".join(parts).encode()
    return files


def _draw_errors(facts: Facts) -> Any:
    """Draw a row for every weak learner: the training error left, the test error right."""
    rows = facts["rows"]
    title = f"Figure {facts['number']}. {facts['title']}"
    figure = new_figure(8.0, 0.9 + 2.7 * max(1, len(rows)), title)
    grid = figure.subplots(max(1, len(rows)), 2, squeeze=False)
    for row, axes_pair in zip(rows, grid, strict=False):
        for (part, words), axes in zip(_PARTS.items(), axes_pair, strict=True):
            clean(axes)
            for curve in row["curves"]:
                values = [100 * value for value in curve[part]]
                width = 2.0 if curve["name"] == "BHC" else 1.3
                colour = _STYLES.get(curve["name"], PALE)
                rounds = range(1, len(values) + 1)
                axes.plot(rounds, values, color=colour, linewidth=width, label=curve["name"])
            axes.set_xscale("log")
            _scale_errors(axes, [value for curve in row["curves"] for value in curve[part]])
            axes.grid(axis="y", color=PALE, linewidth=0.5)
            axes.set_title(f"{words}, {row['learner']}", fontsize=9, color=INK)
            axes.set_ylabel("%", fontsize=8, color=INK)
            axes.set_xlabel("round", fontsize=8, color=INK)
    handles, labels = grid[0][0].get_legend_handles_labels()
    if handles:
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=len(labels),
            fontsize=9,
            frameon=False,
        )
    return figure


def _scale_errors(axes: Any, errors: list[float]) -> None:
    """Let the ends be told apart where curves begin far above them; nothing has no logarithm."""
    if errors and min(errors) > 0:
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)


def _draw_trees(facts: Facts) -> Any:
    """Draw the trees side by side; the windows in bold italics, as in the paper."""
    trees = facts["trees"]
    figure = new_figure(5.2 * len(trees), 4.4, f"Figure 1. {facts['title']}")
    for axes, tree in zip(figure.subplots(1, len(trees), squeeze=False)[0], trees, strict=True):
        nodes = {node["node"]: node for node in tree["nodes"]}
        lowest = -max(node["depth"] for node in tree["nodes"])
        place = {
            number: (node["x"], lowest if node["is_leaf"] else -node["depth"])
            for number, node in nodes.items()
        }
        for number, node in nodes.items():
            x, y = place[number]
            if node["parent"] >= 0:
                above_x, above_y = place[node["parent"]]
                axes.plot([above_x, x, x], [above_y, above_y, y], color=INK, linewidth=1.0)
            if node["is_leaf"]:
                _write_leaf(axes, node["name"], x, y)
            else:
                axes.plot([x], [y], "o", color=INK, markersize=4)
        axes.set_title(tree["words"], fontsize=10, color=INK)
        axes.margins(x=0.06, y=0.06)
        axes.set_axis_off()
    return figure


def _write_leaf(axes: Any, name: str, x: float, y: float) -> None:
    is_window = name in WINDOWS
    style = {"fontweight": "bold", "fontstyle": "italic"} if is_window else {}
    text = f" {GLASS_KINDS.get(name, name)} "
    axes.text(x, y, text, rotation=90, ha="center", va="top", fontsize=9, color=INK, **style)
