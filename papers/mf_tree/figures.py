"""The facts of Figures 2 to 5: numbers and names, to be drawn or read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from palmette.core.hierarchy import Hierarchy
from papers.mf_tree.four_classes import four_class_facts
from papers.mf_tree.outcome import Outcome

__all__ = ["figure_facts"]

Facts = dict[str, Any]

_DRAWN_FROM = "clinc150"
_DRAWN = "MF-Tree, binary"
_BARS = ("MF-Tree as published", "MF-Tree, binary", "MF-Tree", "CMTL", "average linkage", "random")


def figure_facts(outcomes: Sequence[Outcome]) -> dict[str, Facts]:
    """Return the facts of the figures, by name.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    dict
        ``figure-2`` and ``figure-4``: ``title`` and ``panels``; ``figure-3``: trees of four
        classes; ``figure-5``: the nodes of a learnt tree, and the given group of every class.
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
                {"name": key, **outcome.qualities[key]} for key in _BARS if key in outcome.qualities
            ],
        }
        for outcome in outcomes
        if outcome.qualities
    ]
    title = "Learnt trees against the given ones"
    return {"title": title, "panels": panels} if panels else None


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
        "title": f"The tree of {outcome.name}, as learnt ({_DRAWN})",
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
