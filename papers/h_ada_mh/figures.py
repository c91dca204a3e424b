"""Figures 3 to 7: data and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.drawing import COLOURS, DARK, PALE, clean, new_figure, png_of
from papers.h_ada_mh.outcome import Outcome
from papers.h_ada_mh.spaces import paths_of

__all__ = ["draw_figures", "draw_sample", "figure_facts"]

# ---------------------------------------------------------------------- numbers


Facts = dict[str, Any]

_COLLAPSED = ", collapsed"  # ends the keys of methods of that space
_SPACES = {"collapsed": "collapsed space", "tree": "tree"}
# short names of answers for figures
_NAMES = {
    "h-ada-first": "H-Ada.MH, first positive",
    "h-ada-best": "H-Ada.MH, best class",
    "mh-first": "AdaBoost.MH, first positive",
    "mh-best": "AdaBoost.MH, best class",
    "h-ada-search-first": "mask in the search",
    "local-shallow": "Local, forest of depth 2",
    "local-forest": "Local, forest",
    "global-bayes": "Global, naive Bayes",
    "global-forest": "Global, forest",
    "literal-sign": "H-Ada.MH",
    "mh-sign": "AdaBoost.MH",
    "search-path": "mask in the search",
    "local-level": "Local, forest",
    "global-flat": "Global, forest",
    "global-flat-bayes": "Global, naive Bayes",
    "local-tuned": "Local, tuned",
    "global-tuned": "Global-model naive Bayes",
    "HierarchicalAdaBoostClassifier": "HierarchicalAdaBoost",
    "HierarchicalBoostingClassifier": "HierarchicalBoosting",
}
_ON_THE_SAMPLE = (
    "global-flat",
    "local-level",
    "literal-sign",
    "mh-sign",
    "HierarchicalBoostingClassifier",
)
_SAMPLE_FROM = "imclef07a"


def figure_facts(outcomes: Sequence[Outcome]) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    dict
        ``figure-3`` to ``figure-6``: ``title`` and ``panels``; ``figure-7``: the sample, the part
        of the tree that is drawn, and the classes of the truth and of every answer.
    """
    figures = {
        "figure-3": _rows_per_class(outcomes),
        "figure-4": _losses(outcomes),
        "figure-5": _by_answer(outcomes, "top_k", "Top-k accuracy, k being the depth"),
        "figure-6": _by_answer(outcomes, "levels", "Accuracy by level"),
    }
    sample = _sample(outcomes)
    return figures if sample is None else {**figures, "figure-7": sample}


def _rows_per_class(outcomes: Sequence[Outcome]) -> Facts:
    panels = []
    for outcome in outcomes:
        problem, space = outcome.setting.problem, outcome.setting.space
        counts = space.rows_of_leaves(paths_of(problem.y_train, problem.hierarchy))
        panels.append({"dataset": outcome.name, "counts": np.sort(counts)[::-1].tolist()})
    return {"title": "Training rows per symbol of the last level", "panels": panels}


def _losses(outcomes: Sequence[Outcome]) -> Facts:
    panels = []
    for space, words in _SPACES.items():
        for outcome in outcomes:
            curves = [
                {"name": name.removesuffix(_COLLAPSED), **stages}
                for name, stages in outcome.stages.items()
                if name.endswith(_COLLAPSED) == (space == "collapsed")
            ]
            if curves:
                panels.append({"dataset": outcome.name, "space": words, "curves": curves})
    return {"title": "Test error of the signs, by round", "panels": panels}


def _by_answer(outcomes: Sequence[Outcome], what: str, title: str) -> Facts:
    panels, names = [], _NAMES
    for space, words in _SPACES.items():
        for outcome in outcomes:
            keys = [key for key in outcome.keys(space) if key in _NAMES]
            if what == "top_k":  # that of a fit, however its scores are decoded
                keys = [key for key in keys if not key.endswith("-best")]
                names = {**_NAMES, "h-ada-first": "H-Ada.MH", "mh-first": "AdaBoost.MH"}
            series = [{"name": names[key], "values": _values(outcome, key, what)} for key in keys]
            panels.append({"dataset": outcome.name, "space": words, "series": series})
    return {"title": title, "panels": panels}


def _values(outcome: Outcome, key: str, what: str) -> list[float]:
    return outcome.answers[key].top_k if what == "top_k" else outcome.level_accuracy[key]


# ---------------------------------------------------------------------- one sample


def _sample(outcomes: Sequence[Outcome]) -> Facts | None:
    """Return the row on which the methods differ most, and the prediction of each."""
    by_name = {outcome.name: outcome for outcome in outcomes}
    outcome = by_name.get(_SAMPLE_FROM, outcomes[0] if outcomes else None)
    if outcome is None:
        return None
    keys = [key for key in _ON_THE_SAMPLE if key in outcome.answers]
    if not keys:
        return None
    predicted = np.stack([outcome.answers[key].predicted for key in keys])
    row = _most_disputed(predicted)
    truth = outcome.setting.tree.truth[row]
    said = {"the truth": truth, **{_NAMES[k]: predicted[i, row] for i, k in enumerate(keys)}}
    return {
        "title": f"Row {row} of the test part of {outcome.name}: none is more disputed",
        "dataset": outcome.name,
        "row": row,
        "nodes": _drawn_nodes(outcome, np.any(list(said.values()), axis=0)),
        "said": {name: (np.flatnonzero(flags) + 1).tolist() for name, flags in said.items()},
    }


def _most_disputed(predicted: NDArray[np.bool_]) -> int:
    """First of the rows for which the answers, (n_answers, n_test, n_classes), differ most."""
    packed = np.packbits(predicted, axis=2)
    counts = [len({part.tobytes() for part in packed[:, row]}) for row in range(packed.shape[1])]
    return int(np.argmax(counts))


def _drawn_nodes(outcome: Outcome, named: NDArray[np.bool_]) -> list[Facts]:
    """Nodes that somebody names, those above them, and the children of all of these."""
    hierarchy = outcome.setting.problem.hierarchy
    inner = np.zeros(hierarchy.n_nodes, dtype=bool)
    inner[0] = True
    inner[1:] = named @ hierarchy.closure[1:, 1:].toarray()
    drawn = inner | inner[np.maximum(hierarchy.parents, 0)]
    nodes = np.flatnonzero(drawn)
    shut = drawn & ~inner & ~hierarchy.is_leaf
    places = _places(nodes, hierarchy.parents)
    return [
        {
            "node": int(node),
            "name": str(hierarchy.names[node]),
            "parent": int(hierarchy.parents[node]),
            "depth": int(hierarchy.depth[node]),
            "x": places[int(node)],
            "has_more": bool(shut[node]),
        }
        for node in nodes
    ]


def _places(nodes: NDArray[np.int64], parents: NDArray[np.int32]) -> dict[int, float]:
    """Put nodes without children side by side, and the others over the middle of theirs."""
    children: dict[int, list[int]] = {}
    for node in nodes.tolist():
        children.setdefault(int(parents[node]), []).append(node)
    places: dict[int, float] = {}
    free = 0.0
    for node in nodes.tolist():  # in preorder, so that leaves come from left to right
        if node not in children:
            places[node] = free
            free += 1.0
    for node in nodes[::-1].tolist():
        if node in children:
            below = [places[child] for child in children[node]]
            places[node] = (below[0] + below[-1]) / 2
    return places


# ---------------------------------------------------------------------- drawing


FigureFacts = Mapping[str, Any]
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
    "AdaBoost.MH, first positive": (COLOURS[1], "-"),
    "AdaBoost.MH, best class": (COLOURS[1], "--"),
    "H-Ada.MH, mask in the search": (COLOURS[2], "-"),
    "Local, tuned": (COLOURS[3], ":"),
    "Global-model naive Bayes": (COLOURS[5], ":"),
    "mask in the search": (COLOURS[2], "-"),
    "weights of Eq. 5-6": (COLOURS[3], "-"),
    "Local, forest": (COLOURS[3], "-"),
    "Local, forest of depth 2": (COLOURS[3], "--"),
    "Global, forest": (COLOURS[4], "-"),
    "Global, naive Bayes": (COLOURS[5], "-"),
    "HierarchicalAdaBoost": (COLOURS[6], "-"),
    "HierarchicalBoosting": (COLOURS[7], "-"),
}


def draw_figures(figures: Mapping[str, FigureFacts]) -> dict[str, bytes]:
    """Draw what `figure_facts` gives: PNG files by name."""
    draw: dict[str, Callable[[FigureFacts], Any]] = {
        "figure-3": _draw_counts,
        "figure-4": _draw_losses,
        "figure-5": _draw_top_k,
        "figure-6": _draw_levels,
        "figure-7": draw_sample,
    }
    return {f"{name}.png": png_of(draw[name](facts)) for name, facts in figures.items()}


def _draw_counts(facts: FigureFacts) -> Any:
    panels = facts["panels"]
    figure = new_figure(2.5 + 3.0 * len(panels), 3.2, f"Figure 3. {facts['title']}")
    if not panels:
        return figure
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        clean(axes)
        axes.bar(range(len(panel["counts"])), panel["counts"], color=COLOURS[0], width=1.0)
        mean, deviation = np.mean(panel["counts"]), np.std(panel["counts"])
        title = f"{panel['dataset']}: {mean:.2f} ± {deviation:.2f}"
        axes.set_title(title, fontsize=10, color=DARK)
        axes.set_xlabel("classes, by their rows", fontsize=9, color=DARK)
    return figure


def _draw_losses(facts: FigureFacts) -> Any:
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
                title = f"{panel['dataset']}, {panel['space']}"
                axes.set_title(title, fontsize=9, color=DARK)
            else:
                axes.set_xlabel("round", fontsize=9, color=DARK)
            if column == 0:
                axes.set_ylabel(words, fontsize=9, color=DARK)
    _legend(figure, grid[0][0], len(panels))
    return figure


def _draw_top_k(facts: FigureFacts) -> Any:
    """Draw a bar for every method, at k = the depth, with its number."""
    grid, figure = _two_rows(facts, "Figure 5")
    for panel, axes in grid:
        series = panel["series"]
        places = range(len(series))
        finals = [one["values"][-1] for one in series]
        bars = [COLOURS[0] if one["name"].startswith("H-Ada") else PALE for one in series]
        axes.barh(places, finals, color=bars, height=0.65)
        for place, value in zip(places, finals, strict=True):
            axes.text(value + 0.015, place, f"{value:.3f}", va="center", fontsize=8, color=DARK)
        is_first = axes.get_subplotspec().is_first_col()
        axes.set_yticks(places, [one["name"] for one in series] if is_first else [])
        axes.set_xlim(0, 1.15)
        axes.set_xticks([0, 0.5, 1])
        axes.invert_yaxis()
        depth = len(series[0]["values"]) if series else 0
        axes.set_xlabel(f"true ones among the {depth} best", fontsize=8, color=DARK)
    return figure


def _draw_levels(facts: FigureFacts) -> Any:
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
        axes.set_xlabel("level", fontsize=8, color=DARK)
        axes.grid(axis="y", color=PALE, linewidth=0.5)
        if axes.get_subplotspec().is_last_col():
            axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize=8, frameon=False)
    return figure


def _style(name: str) -> tuple[str, str]:
    return _STYLES.get(name, (DARK, ":"))


def _two_rows(facts: FigureFacts, number: str) -> tuple[list[tuple[Any, Any]], Any]:
    """Pair panels with axes: the collapsed space above, the tree below, one column per data set."""
    panels = facts["panels"]
    n_columns = len(panels) // 2
    figure = new_figure(3.0 + 3.0 * n_columns, 6.2, f"{number}. {facts['title']}")
    grid = figure.subplots(2, n_columns, squeeze=False)
    for panel, axes in zip(panels, grid.flat, strict=True):
        clean(axes)
        axes.set_title(f"{panel['dataset']}, {panel['space']}", fontsize=9, color=DARK)
    return list(zip(panels, grid.flat, strict=True)), figure


def _legend(figure: Any, axes: Any, n_panels: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    n_columns = 2 if n_panels == 1 else len(labels)
    figure.legend(
        handles, labels, loc="outside lower center", ncols=n_columns, fontsize=9, frameon=False
    )


# --------------------- drawing of Figure 7: one sample, and the answer of each method, on the tree


_RIGHT, _WRONG = COLOURS[2], COLOURS[1]
_SIZE = 190  # of a node, in square points
_COLUMNS = 2


def draw_sample(facts: FigureFacts) -> Any:
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
        axes.set_title(_verdict(name, truth, set(nodes)), fontsize=10, color=DARK)
    for axes in grid.flat:
        axes.set_axis_off()
    _explain(figure)
    return figure


def _title(facts: FigureFacts) -> str:
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
        colour, width = (DARK, 1.6) if on_path else (PALE, 0.7)
        axes.plot([above_x, x], [above_y, y], color=colour, linewidth=width, zorder=1)
    for node in nodes:
        _draw_node(axes, node, place[node["node"]], truth, said)
    axes.margins(x=0.02, y=0.16)


def _draw_node(
    axes: Any, node: Any, place: tuple[float, float], truth: set[int], said: set[int]
) -> None:
    number = node["node"]
    if number == 0:
        axes.scatter(*place, s=_SIZE / 3, color=DARK, zorder=3)
        return
    style: dict[str, Any]
    if number in said:
        colour = _RIGHT if number in truth else _WRONG
        style = {"facecolor": colour, "edgecolor": colour}
        text = "white"
    elif number in truth:
        style, text = {"facecolor": "white", "edgecolor": _WRONG, "linewidth": 1.8}, _WRONG
    else:
        style, text = {"facecolor": "white", "edgecolor": PALE, "linewidth": 0.8}, DARK
    axes.scatter(*place, s=_SIZE, zorder=3, **style)
    axes.text(*place, node["name"], ha="center", va="center", fontsize=7, color=text, zorder=4)
    if node["has_more"]:
        x, y = place
        axes.text(x, y - 0.3, "⋮", ha="center", va="center", fontsize=7, color=PALE, zorder=2)


def _explain(figure: Any) -> None:
    from matplotlib.lines import Line2D

    styles: dict[str, dict[str, Any]] = {
        "said, and true": {"markerfacecolor": _RIGHT, "markeredgecolor": _RIGHT},
        "said, and false": {"markerfacecolor": _WRONG, "markeredgecolor": _WRONG},
        "true, but not said": {"markerfacecolor": "white", "markeredgecolor": _WRONG},
    }
    handles = [
        Line2D([], [], linestyle="", marker="o", markersize=9, label=words, **style)
        for words, style in styles.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
