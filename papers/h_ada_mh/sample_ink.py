"""Figure 7 in ink: one sample, and what each method says of it, on the tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from papers.pictures import COLOURS, INK, PALE, new_figure

__all__ = ["draw_sample"]

Facts = Mapping[str, Any]
_RIGHT, _WRONG = COLOURS[2], COLOURS[1]
_SIZE = 190  # of a node, in square points
_COLUMNS = 2


def draw_sample(facts: Facts) -> Any:
    """Draw the truth and every answer, each on the part of the tree that somebody names.

    Parameters
    ----------
    facts : mapping
        As `figure_facts` gives it.

    Returns
    -------
    matplotlib Figure
    """
    said = facts["said"]
    width = 1.0 + max(node["x"] for node in facts["nodes"])
    n_rows = -(-len(said) // _COLUMNS)
    figure = new_figure(
        _COLUMNS * min(8.5, max(4.0, 0.27 * width)), 2.5 * n_rows + 0.7, _title(facts)
    )
    grid = figure.subplots(n_rows, _COLUMNS, squeeze=False)
    truth = set(said["the truth"])
    for axes, (name, nodes) in zip(grid.flat, said.items(), strict=False):
        _draw_answer(axes, facts["nodes"], truth, set(nodes))
        axes.set_title(_verdict(name, truth, set(nodes)), fontsize=10, color=INK)
    for axes in grid.flat:
        axes.set_axis_off()
    _explain(figure)
    return figure


def _title(facts: Facts) -> str:
    return f"Figure 7. {facts['title']}"


def _verdict(name: str, truth: set[int], nodes: set[int]) -> str:
    if name == "the truth":
        return name
    right, wrong, missed = len(nodes & truth), len(nodes - truth), len(truth - nodes)
    return f"{name}: {right} right, {wrong} wrong, {missed} missed"


def _draw_answer(axes: Any, nodes: Any, truth: set[int], said: set[int]) -> None:
    place = {node["node"]: (node["x"], -node["depth"]) for node in nodes}
    for node in nodes:
        if node["node"] == 0:
            continue
        (x, y), (above_x, above_y) = place[node["node"]], place[node["parent"]]
        on_path = {node["node"], node["parent"]} - {0} <= said
        colour, width = (INK, 1.6) if on_path else (PALE, 0.7)
        axes.plot([above_x, x], [above_y, y], color=colour, linewidth=width, zorder=1)
    for node in nodes:
        _draw_node(axes, node, place[node["node"]], truth, said)
    axes.margins(x=0.02, y=0.16)


def _draw_node(
    axes: Any, node: Any, place: tuple[float, float], truth: set[int], said: set[int]
) -> None:
    number = node["node"]
    if number == 0:
        axes.scatter(*place, s=_SIZE / 3, color=INK, zorder=3)
        return
    if number in said:
        colour = _RIGHT if number in truth else _WRONG
        style = {"facecolor": colour, "edgecolor": colour}
        text = "white"
    elif number in truth:
        style, text = {"facecolor": "white", "edgecolor": _WRONG, "linewidth": 1.8}, _WRONG
    else:
        style, text = {"facecolor": "white", "edgecolor": PALE, "linewidth": 0.8}, INK
    axes.scatter(*place, s=_SIZE, zorder=3, **style)
    axes.text(*place, node["name"], ha="center", va="center", fontsize=7, color=text, zorder=4)
    if node["has_more"]:
        x, y = place
        axes.text(x, y - 0.3, "⋮", ha="center", va="center", fontsize=7, color=PALE, zorder=2)


def _explain(figure: Any) -> None:
    from matplotlib.lines import Line2D

    styles = {
        "said, and true": {"markerfacecolor": _RIGHT, "markeredgecolor": _RIGHT},
        "said, and false": {"markerfacecolor": _WRONG, "markeredgecolor": _WRONG},
        "true, but not said": {"markerfacecolor": "white", "markeredgecolor": _WRONG},
    }
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=9, label=words, **style)
        for words, style in styles.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
