"""Figures 1 to 8: the class tree of Glass, the numbers of the curves, and drawings of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.adaboost_bhc.methods import LEARNERS, paper_set
from papers.adaboost_bhc.outcome import Outcome
from papers.drawing import COLOURS, DARK, PALE, clean, new_figure, png_of

__all__ = [
    "GLASS_KINDS",
    "GLASS_MEASURES",
    "WINDOWS",
    "draw_figures",
    "figure_facts",
    "glass_facts",
    "stand_together",
]

# ---------------------------- Figure 1: the class tree of Glass, in which the windows are together


GLASS_KINDS = {
    "1": "building windows, float",
    "2": "building windows, not float",
    "3": "vehicle windows, float",
    "4": "vehicle windows, not float",
    "5": "containers",
    "6": "tableware",
    "7": "headlamps",
}
GLASS_MEASURES = {"F1": "fisher_ratio", "N1": "boundary_share", "N3": "neighbor_error"}
WINDOWS = ("1", "2", "3", "4")
_STARTS: dict[Literal["eigenvector", "first_class"], str] = {
    "eigenvector": "start from an eigenvector",
    "first_class": "start from the first class",
}


def glass_facts(problem: Problem) -> Facts:
    """Learn the tree from both starts, and tell what is drawn.

    Parameters
    ----------
    problem : Problem
        Glass, without the number of the row among its features.

    Returns
    -------
    dict
        ``trees``: for each ``start`` and its ``words``, the ``nodes``, inner ones with their
        ``complexity``, the tree as ``text`` and as
        ``newick``, and whether the windows are ``together``.
    """
    from palmette.class_tree import BHCTree
    from palmette.metrics import node_complexity

    trees = []
    for start, words in _STARTS.items():
        options: dict[str, Any] = {"min_side": 0.0} if start == "first_class" else {}
        learned = BHCTree(start=start, **options).fit(problem.X_train, problem.y_train)
        hierarchy = learned.hierarchy_
        found = node_complexity(problem.X_train, problem.y_train, hierarchy)
        nodes = _nodes(hierarchy)
        for node in nodes:
            if not node["is_leaf"]:
                measured = found[node["node"]]
                node["complexity"] = {
                    short: getattr(measured, name) for short, name in GLASS_MEASURES.items()
                }
        trees.append(
            {
                "start": start,
                "words": words,
                "nodes": nodes,
                "text": str(hierarchy.draw()),
                "newick": hierarchy.to_newick(),
                "together": stand_together(hierarchy, WINDOWS),
            }
        )
    return {"title": "The class tree of Glass", "trees": trees}


def stand_together(hierarchy: Hierarchy, names: Iterable[str]) -> bool:
    """Whether some node has these leaves below it, those that there are, and no others.

    Examples
    --------
    >>> tree = Hierarchy.from_edges([("r", "g"), ("r", "c"), ("g", "a"), ("g", "b")])
    >>> stand_together(tree, ["a", "b"]), stand_together(tree, ["b", "c"])
    (True, False)
    """
    below = _leaves_below(hierarchy)
    wanted = set(names) & set(below[0])
    return any(set(leaves) == wanted for leaves in below)


def _leaves_below(hierarchy: Hierarchy) -> list[list[str]]:
    """Names of the leaves below every node, itself included."""
    below: list[list[str]] = [[] for _ in range(hierarchy.n_nodes)]
    for node in range(hierarchy.n_nodes - 1, -1, -1):  # children after parents
        if hierarchy.is_leaf[node]:
            below[node] = [str(hierarchy.names[node])]
        if node:
            parent = int(hierarchy.parents[node])
            below[parent] = below[node] + below[parent]
    return below


def _nodes(hierarchy: Hierarchy) -> list[Facts]:
    """Nodes with places: leaves side by side, others over the middle of their children."""
    places: dict[int, float] = {}
    leaves = [node for node in range(hierarchy.n_nodes) if hierarchy.is_leaf[node]]
    places.update({node: float(place) for place, node in enumerate(leaves)})
    for node in range(hierarchy.n_nodes - 1, -1, -1):
        if not hierarchy.is_leaf[node]:
            below = [
                places[child]
                for child in range(hierarchy.n_nodes)
                if hierarchy.parents[child] == node
            ]
            places[node] = sum(below) / len(below)
    return [
        {
            "node": node,
            "name": str(hierarchy.names[node]),
            "parent": int(hierarchy.parents[node]),
            "depth": int(hierarchy.depth[node]),
            "is_leaf": bool(hierarchy.is_leaf[node]),
            "x": places[node],
        }
        for node in range(hierarchy.n_nodes)
    ]


# ---------------------------------------------------------------------- numbers


Facts = dict[str, Any]


def figure_facts(outcomes: Sequence[Outcome], glass: Facts | None = None) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome
    glass : dict, optional
        As `glass_facts` gives it.

    Returns
    -------
    dict
        ``figure-1``: the trees; ``figure-2`` to ``figure-8``, or ``figure-`` and the name of a set
        that is not in the paper: ``rows``, one for every weak learner, each with the ``curves``.
    """
    figures = {} if glass is None else {"figure-1": glass}
    for outcome in outcomes:
        paper = paper_set(outcome.name)
        number = outcome.name if paper is None else paper.figure
        figures[f"figure-{number}"] = {
            "title": f"Training and test errors on {outcome.name}",
            "number": number,
            "rows": [
                {"learner": LEARNERS[key].words, "curves": _curves(by_method)}
                for key, by_method in outcome.curves.items()
            ],
        }
    return figures


def _curves(by_method: Any) -> list[Facts]:
    return [
        {"name": name, "train": one.mean("train").tolist(), "test": one.mean("test").tolist()}
        for name, one in by_method.items()
    ]


# ---------------------------------------------------------------------- drawing


FigureFacts = Mapping[str, Any]
_STYLES = {"MH": COLOURS[0], "MI": COLOURS[1], "ECC": COLOURS[2], "BHC": DARK}
_PARTS = {"train": "training error", "test": "test error"}


def draw_figures(figures: Mapping[str, FigureFacts]) -> dict[str, bytes]:
    """Draw what `figure_facts` gives: PNG files by name, and the trees as text."""
    files: dict[str, bytes] = {}
    for name, facts in figures.items():
        is_tree = "trees" in facts
        files[f"{name}.png"] = png_of(_draw_trees(facts) if is_tree else _draw_errors(facts))
        if is_tree:
            parts = [f"{tree['words']}\n\n{tree['text']}\n" for tree in facts["trees"]]
            files[f"{name}.txt"] = "\n".join(parts).encode()
    return files


def _draw_errors(facts: FigureFacts) -> Any:
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
            axes.set_title(f"{words}, {row['learner']}", fontsize=9, color=DARK)
            axes.set_ylabel("%", fontsize=8, color=DARK)
            axes.set_xlabel("round", fontsize=8, color=DARK)
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
    """Use a logarithmic scale where curves begin far above their ends, and no value is zero."""
    if errors and min(errors) > 0:
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)


def _draw_trees(facts: FigureFacts) -> Any:
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
                axes.plot([above_x, x, x], [above_y, above_y, y], color=DARK, linewidth=1.0)
            if node["is_leaf"]:
                _write_leaf(axes, node["name"], x, y)
            else:
                axes.plot([x], [y], "o", color=DARK, markersize=4)
        axes.set_title(tree["words"], fontsize=10, color=DARK)
        axes.margins(x=0.06, y=0.06)
        axes.set_axis_off()
    return figure


def _write_leaf(axes: Any, name: str, x: float, y: float) -> None:
    is_window = name in WINDOWS
    style = {"fontweight": "bold", "fontstyle": "italic"} if is_window else {}
    text = f" {GLASS_KINDS.get(name, name)} "
    axes.text(x, y, text, rotation=90, ha="center", va="top", fontsize=9, color=DARK, **style)
