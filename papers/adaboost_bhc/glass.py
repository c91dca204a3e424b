"""Figure 1: the class tree of Glass, in which the windows stand together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from palmette.compare import Problem
from palmette.core.hierarchy import Hierarchy

__all__ = ["GLASS_KINDS", "WINDOWS", "glass_facts", "stand_together"]

Facts = dict[str, Any]

GLASS_KINDS = {
    "1": "building windows, float",
    "2": "building windows, not float",
    "3": "vehicle windows, float",
    "4": "vehicle windows, not float",
    "5": "containers",
    "6": "tableware",
    "7": "headlamps",
}
WINDOWS = ("1", "2", "3", "4")
_STARTS = {"eigenvector": "start from an eigenvector", "first_class": "start from the first class"}


def glass_facts(problem: Problem) -> Facts:
    """Learn the tree from both starts, and tell what is drawn.

    Parameters
    ----------
    problem : Problem
        Glass, without the number of the row among its features.

    Returns
    -------
    dict
        ``trees``: for each ``start`` and its ``words``, the ``nodes``, the tree as ``text`` and as
        ``newick``, and whether the windows are ``together``.
    """
    from palmette.class_tree.bhc import BHCTree

    trees = []
    for start, words in _STARTS.items():
        least = {"min_side": 0.0} if start == "first_class" else {}
        learnt = BHCTree(start=start, **least).fit(problem.X_train, problem.y_train)
        hierarchy = learnt.hierarchy_
        trees.append(
            {
                "start": start,
                "words": words,
                "nodes": _nodes(hierarchy),
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
