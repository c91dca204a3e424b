"""Figures 2 to 4 in ink: facts in, PNG files out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from papers.mf_tree.tree_ink import draw_tree
from papers.pictures import COLOURS, INK, PALE, clean, new_figure, png_of

__all__ = ["draw_figures"]

Facts = Mapping[str, Any]

_COLUMNS = 3
_STYLES = {  # colour and marker
    "MF-Tree as published": (COLOURS[1], "v"),
    "MF-Tree": (COLOURS[0], "*"),
    "MF-Tree, binary": (COLOURS[0], "o"),
    "DAGSVM": (COLOURS[2], "s"),
    "DRHL": (COLOURS[3], "D"),
    "CMTL": (COLOURS[4], "^"),
    "RNMF": (COLOURS[5], "P"),
    "RDM": (COLOURS[6], "X"),
    "one-vs-rest": (COLOURS[7], "h"),
    "one-vs-rest, scikit-learn": (PALE, "h"),
}
_MEASURES = {"mse": "tree MSE (small is near)", "triplets": "triplets right (.5 by chance)"}


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
        "figure-2": _draw_times,
        "figure-3": _draw_example,
        "figure-4": _draw_qualities,
        "figure-5": draw_tree,
    }
    return {f"{name}.png": png_of(draw[name](facts)) for name, facts in figures.items()}


def _draw_times(facts: Facts) -> Any:
    """Draw F1 over the time a row; answers by beams are filled, greedy ones hollow."""
    panels = facts["panels"]
    n_columns = min(_COLUMNS, len(panels))
    n_rows = -(-len(panels) // n_columns)
    title = f"Figure 2. {facts['title']} (hollow: greedy)"
    figure = new_figure(1.0 + 3.6 * n_columns, 1.2 + 3.1 * n_rows, title)
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    named: dict[str, Any] = {}
    for axes, panel in zip(grid.flat, panels, strict=False):
        clean(axes)
        for point in panel["points"]:
            colour, marker = _STYLES.get(point["method"], (INK, "."))
            varied = point["setting"] != point["method"]
            handle = axes.scatter(
                point["us"],
                point["macro_f1"],
                marker=marker,
                s=22 if varied else 110 if marker == "*" else 60,
                facecolor="none" if point["way"] == "greedy" else colour,
                edgecolor=colour,
                linewidth=1.2,
                zorder=2 if varied else 3,
            )
            if point["way"] != "greedy" and not varied:
                named.setdefault(point["method"], handle)
        _log_ticks(axes)
        axes.set_title(panel["dataset"], fontsize=10, color=INK)
        axes.set_xlabel("µs a row", fontsize=8, color=INK)
        axes.set_ylabel("macro F1", fontsize=8, color=INK)
        axes.grid(color=PALE, linewidth=0.4)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    place = "outside lower center"
    figure.legend(
        named.values(),
        named.keys(),
        loc=place,
        ncols=min(5, 2 * n_columns),
        fontsize=8,
        frameon=False,
    )
    return figure


def _log_ticks(axes: Any) -> None:
    """Scale by powers of ten, with plain numbers at 1, 2 and 5."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_example(facts: Facts) -> Any:
    """Draw the trees of four classes with their values."""
    shown = [{"tree": facts["actual"], "words": "the actual tree"}, *facts["trees"]]
    figure = new_figure(2.6 * len(shown), 2.9, f"Figure 3. {facts['title']}")
    grid = figure.subplots(1, len(shown), squeeze=False)
    for axes, tree in zip(grid.flat, shown, strict=True):
        axes.set_axis_off()
        _draw_brackets(axes, tree["tree"])
        words = tree["words"]
        if "mse" in tree:
            words += f"\nMSE {tree['mse']:.5f} (paper {tree['told']:.5f})"
            words += f"\ntriplets {tree['triplets']:.3f}"
        axes.set_title(words, fontsize=9, color=INK)
        axes.margins(0.15)
    return figure


def _draw_brackets(axes: Any, text: str) -> None:
    """Draw a tree that is written with brackets, such as (c1, (c2, c3))."""
    open_groups: list[list[tuple[float, int]]] = []
    free = 0.0
    for word in text.replace("(", " ( ").replace(")", " ) ").replace(",", " ").split():
        if word == "(":
            open_groups.append([])
            continue
        depth = len(open_groups)
        if word == ")":
            below = open_groups.pop()
            x, depth = sum(place for place, _ in below) / len(below), depth - 1
            for place, level in below:
                axes.plot([x, place], [-depth, -level], color=INK, linewidth=1.0, zorder=1)
            axes.scatter(x, -depth, s=14, color=INK, zorder=2)
        else:
            x, free = free, free + 1.0
            axes.text(x, -depth - 0.12, word, ha="center", va="top", fontsize=9, color=INK)
        if open_groups:
            open_groups[-1].append((x, depth))


def _draw_qualities(facts: Facts) -> Any:
    """Draw bars: the paper's measure above, triplets below, a column a data set."""
    panels = facts["panels"]
    title = f"Figure 4. {facts['title']}"
    figure = new_figure(2.2 + 2.4 * len(panels), 5.2, title)
    grid = figure.subplots(2, len(panels), squeeze=False)
    for column, panel in enumerate(panels):
        names = [bar["name"] for bar in panel["bars"]]
        for row, (measure, words) in enumerate(_MEASURES.items()):
            axes = grid[row][column]
            clean(axes)
            values = [bar[measure] for bar in panel["bars"]]
            colours = [COLOURS[0] if name.startswith("MF-Tree") else PALE for name in names]
            axes.barh(range(len(values)), values, color=colours, height=0.65)
            for place, value in enumerate(values):
                text = f" {value:.4f}" if measure == "mse" else f" {value:.3f}"
                axes.text(value, place, text, va="center", fontsize=7, color=INK)
            axes.set_yticks(range(len(names)), names if column == 0 else [])
            axes.set_xlim(0, 1.3 * max(values, default=1.0))
            axes.locator_params(axis="x", nbins=4)
            axes.invert_yaxis()
            axes.set_xlabel(words, fontsize=8, color=INK)
            if row == 0:
                axes.set_title(panel["dataset"], fontsize=10, color=INK)
    return figure
