"""Figures 2 to 5: data and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from palmette.hierarchy._hierarchy import Hierarchy
from papers.drawing import COLOURS, DARK, PALE, clean, new_figure, png_of
from papers.mf_tree.four_classes import four_class_facts
from papers.mf_tree.methods import BEST_READING, LITERAL
from papers.mf_tree.outcome import N_RANDOM, Outcome

__all__ = ["draw_figures", "draw_tree", "figure_facts"]

# ---------------------------------------------------------------------- numbers


Facts = dict[str, Any]

_DRAWN_FROM = "clinc150"
_DRAWN = "MF-Tree, binary"
_BARS = ("MF-Tree as published", "MF-Tree, binary", "MF-Tree", "CMTL", "average linkage")


def figure_facts(outcomes: Sequence[Outcome]) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    dict
        ``figure-2`` and ``figure-4``: ``title`` and ``panels``; ``figure-3``: trees of four
        classes; ``figure-5``: the nodes of a learned tree, and the given group of every class.
    """
    figures = {
        "figure-2": _scores_and_times(outcomes),
        "figure-3": four_class_facts(),
        "figure-4": _qualities(outcomes),
        "figure-5": _learnt_tree(outcomes),
    }
    return {name: facts for name, facts in figures.items() if facts is not None}


def _scores_and_times(outcomes: Sequence[Outcome]) -> Facts | None:
    panels = []
    for outcome in outcomes:
        points = [
            {
                "method": answer.method.partition(", rho=")[0].partition(", p=")[0],
                "setting": answer.method,
                "way": answer.way,
                "us": answer.us,
                "dots": answer.dots,
                "macro_f1": answer.macro_f1,
            }
            for answer in outcome.answers.values()
            if ", tau=" not in answer.method
        ]
        if points:
            panels.append({"dataset": outcome.name, "points": points})
    return {"title": "F1 against test time", "panels": panels} if panels else None


def _qualities(outcomes: Sequence[Outcome]) -> Facts | None:
    panels = [
        {
            "dataset": outcome.name,
            "bars": [
                *({"name": key, **found[key]} for key in _BARS if key in found),
                {"name": f"{N_RANDOM} random trees", **_mean_and_deviation(outcome.chance)},
            ],
        }
        for outcome in outcomes
        if (found := outcome.qualities)
    ]
    title = "Learnt trees against the given ones"
    return {"title": title, "panels": panels} if panels else None


def _mean_and_deviation(chance: Mapping[str, Sequence[float]]) -> Facts:
    """Return the mean of every measure of random trees, and its deviation."""
    means = {name: float(np.mean(values)) for name, values in chance.items()}
    return means | {f"{k}_deviation": float(np.std(v, ddof=1)) for k, v in chance.items()}


# ---------------------------------------------------------------------- the tree that is drawn


def _learnt_tree(outcomes: Sequence[Outcome]) -> Facts | None:
    """Return the tree of one data set with given groups: clinc150, or the first that has them."""
    able = {one.name: one for one in outcomes if one.qualities and _DRAWN in one.grown}
    outcome = able.get(_DRAWN_FROM, next(iter(able.values()), None))
    if outcome is None:
        return None
    tree = outcome.grown[_DRAWN].tree
    given = outcome.problem.hierarchy
    return {
        "title": f"The tree of {outcome.name}, as learned ({_DRAWN})",
        "dataset": outcome.name,
        "nodes": _placed(tree, {name: _group(given, name) for name in outcome.classes.tolist()}),
    }


def _group(given: Hierarchy, label: str) -> str:
    """Return the group of the first level that a class stands in."""
    return str(given.path(label)[0])


def _placed(tree: Hierarchy, groups: dict[str, str]) -> list[Facts]:
    """Put leaves one below the other, and the others beside the middle of theirs."""
    n = tree.n_nodes
    parents = tree.parents.tolist()
    below: list[list[int]] = [[] for _ in range(n)]
    for node in range(1, n):
        below[parents[node]].append(node)
    place = [0.0] * n
    held: list[set[str]] = [set() for _ in range(n)]
    free = 0.0
    for node in range(n):  # in preorder
        if not below[node]:
            place[node], free = free, free + 1.0
            held[node] = {groups[str(tree.names[node])]}
    for node in reversed(range(n)):
        if below[node]:
            place[node] = (place[below[node][0]] + place[below[node][-1]]) / 2
            held[node] = set().union(*(held[child] for child in below[node]))
    return [
        {
            "node": node,
            "name": str(tree.names[node]),
            "parent": parents[node],
            "depth": int(tree.depth[node]),
            "place": place[node],
            "is_class": not below[node],
            # the group that all classes below are of, if they are
            "group": next(iter(held[node])) if len(held[node]) == 1 else None,
        }
        for node in range(n)
    ]


# ---------------------------------------------------------------------- drawing


FigureFacts = Mapping[str, Any]

_COLUMNS = 3
_STYLES = {  # colour and marker
    LITERAL: (COLOURS[1], "v"),
    BEST_READING: (COLOURS[1], "^"),
    f"{LITERAL}, rbf": (COLOURS[1], "<"),
    f"{BEST_READING}, rbf": (COLOURS[1], ">"),
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


def draw_figures(figures: Mapping[str, FigureFacts]) -> dict[str, bytes]:
    """Draw what `figure_facts` gives: PNG files by name."""
    draw: dict[str, Callable[[FigureFacts], Any]] = {
        "figure-2": _draw_times,
        "figure-3": _draw_example,
        "figure-4": _draw_qualities,
        "figure-5": draw_tree,
    }
    return {f"{name}.png": png_of(draw[name](facts)) for name, facts in figures.items()}


def _draw_times(facts: FigureFacts) -> Any:
    """Draw F1 over the time per row; answers by beams are filled, greedy ones hollow."""
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
            colour, marker = _STYLES.get(point["method"], (DARK, "."))
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
        axes.set_title(panel["dataset"], fontsize=10, color=DARK)
        axes.set_xlabel("µs per row", fontsize=8, color=DARK)
        axes.set_ylabel("macro F1", fontsize=8, color=DARK)
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


def _draw_example(facts: FigureFacts) -> Any:
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
        axes.set_title(words, fontsize=9, color=DARK)
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
                axes.plot([x, place], [-depth, -level], color=DARK, linewidth=1.0, zorder=1)
            axes.scatter(x, -depth, s=14, color=DARK, zorder=2)
        else:
            x, free = free, free + 1.0
            axes.text(x, -depth - 0.12, word, ha="center", va="top", fontsize=9, color=DARK)
        if open_groups:
            open_groups[-1].append((x, depth))


def _draw_qualities(facts: FigureFacts) -> Any:
    """Draw bars: the paper's measure above, triplets below, one column per data set."""
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
            spread = [bar.get(f"{measure}_deviation", 0.0) for bar in panel["bars"]]
            whiskers = {"elinewidth": 0.8, "ecolor": DARK}
            places = range(len(values))
            axes.barh(places, values, xerr=spread, color=colours, height=0.65, error_kw=whiskers)
            for place, value in enumerate(values):
                text = f" {value:.4f}" if measure == "mse" else f" {value:.3f}"
                axes.text(value + spread[place], place, text, va="center", fontsize=7, color=DARK)
            axes.set_yticks(range(len(names)), names if column == 0 else [])
            axes.set_xlim(0, 1.3 * max(values, default=1.0))
            axes.locator_params(axis="x", nbins=4)
            axes.invert_yaxis()
            axes.set_xlabel(words, fontsize=8, color=DARK)
            if row == 0:
                axes.set_title(panel["dataset"], fontsize=10, color=DARK)
    return figure


# ------------------------ drawing of Figure 5: a learned tree, classes coloured by the given groups


_LINE = 0.145  # inches a class
_MORE_COLOURS = ("#7a0177", "#a6761d", "#1b7837", "#b2182b")


def draw_tree(facts: FigureFacts) -> Any:
    """Draw a tree from left to right.

    A branch has the colour of a group where all classes below it are of that group.

    Parameters
    ----------
    facts : mapping
        As `figure_facts` gives it.

    Returns
    -------
    matplotlib Figure
    """
    nodes = facts["nodes"]
    n_classes = sum(node["is_class"] for node in nodes)
    deepest = max(node["depth"] for node in nodes)
    height = max(3.0, _LINE * n_classes + 1.5)
    figure = new_figure(6.0 + 0.3 * deepest, height, f"Figure 5. {facts['title']}")
    axes = figure.subplots()
    axes.set_axis_off()
    colour = _colours(nodes)
    by_number = {node["node"]: node for node in nodes}
    for node in nodes:
        if node["node"] == 0:
            continue
        above = by_number[node["parent"]]
        line = {"color": colour.get(node["group"], PALE), "linewidth": 1.1}
        axes.plot([above["depth"]] * 2, [above["place"], node["place"]], **line)
        axes.plot([above["depth"], node["depth"]], [node["place"]] * 2, **line)
    for node in nodes:
        if node["is_class"]:
            text = f" {node['name']}"
            style = {"color": colour.get(node["group"], DARK), "fontsize": 7, "va": "center"}
            axes.text(node["depth"], node["place"], text, **style)
    axes.set_ylim(n_classes, -1)
    axes.set_xlim(-0.2, 1.3 * deepest + 1.5)
    _explain(axes, colour)
    return figure


def _colours(nodes: Any) -> dict[str, str]:
    """Colours of groups; groups beyond the number of distinct colours have none."""
    groups = sorted({node["group"] for node in nodes if node["is_class"]})
    return dict(zip(groups, (*COLOURS, *_MORE_COLOURS), strict=False))


def _explain(axes: Any, colour: dict[str, str]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=each, linewidth=3, label=name) for name, each in colour.items()]
    axes.legend(handles=handles, title="given groups", fontsize=7, frameon=False, loc="upper right")
