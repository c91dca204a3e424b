"""Figure 5 in ink: a learnt tree, its classes coloured by the groups that were given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from papers.pictures import COLOURS, INK, PALE, new_figure

__all__ = ["draw_tree"]

Facts = Mapping[str, Any]

_LINE = 0.145  # inches a class
_MORE_COLOURS = ("#7a0177", "#a6761d", "#1b7837", "#b2182b")


def draw_tree(facts: Facts) -> Any:
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
            style = {"color": colour.get(node["group"], INK), "fontsize": 7, "va": "center"}
            axes.text(node["depth"], node["place"], text, **style)
    axes.set_ylim(n_classes, -1)
    axes.set_xlim(-0.2, 1.3 * deepest + 1.5)
    _explain(axes, colour)
    return figure


def _colours(nodes: Any) -> dict[str, str]:
    """Colours of groups; those beyond what can be told apart have none."""
    groups = sorted({node["group"] for node in nodes if node["is_class"]})
    return dict(zip(groups, (*COLOURS, *_MORE_COLOURS), strict=False))


def _explain(axes: Any, colour: dict[str, str]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=each, linewidth=3, label=name) for name, each in colour.items()]
    axes.legend(handles=handles, title="given groups", fontsize=7, frameon=False, loc="upper right")
