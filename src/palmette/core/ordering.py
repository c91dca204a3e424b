"""Sort the nodes of a rooted graph topologically, or explain why it is not a hierarchy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palmette.exceptions import HierarchyError

__all__ = ["order_nodes"]

IntArray = NDArray[np.int32]


def order_nodes(
    names: NDArray[np.object_], edge_parents: IntArray, edge_children: IntArray
) -> IntArray:
    """Order nodes root first: preorder for a tree, parents before children for a DAG.

    Parameters
    ----------
    names : object array of shape (n_nodes,)
        Only for the error messages.
    edge_parents, edge_children : int arrays of shape (n_edges,)
        Distinct edges.

    Returns
    -------
    int array of shape (n_nodes,)
        The node at each position.
    """
    n_nodes = len(names)
    n_parents = np.bincount(edge_children, minlength=n_nodes)
    root = _only_root(names, n_parents, edge_parents, edge_children)
    by_parent = np.argsort(edge_parents, kind="stable")
    stops = np.cumsum(np.bincount(edge_parents, minlength=n_nodes)).tolist()
    children = edge_children[by_parent].tolist()
    if (n_parents <= 1).all():
        order = _preorder(root, children, stops)
    else:
        order = _parents_first(root, children, stops, n_parents.tolist())
    if len(order) < n_nodes:
        raise HierarchyError(_describe_cycle(names, order, edge_parents, edge_children))
    return np.asarray(order, dtype=np.int32)


def _only_root(
    names: NDArray[np.object_], n_parents: NDArray[np.int64], parents: IntArray, children: IntArray
) -> int:
    roots = np.flatnonzero(n_parents == 0)
    if len(roots) == 1:
        return int(roots[0])
    if len(roots) == 0:
        raise HierarchyError(_describe_cycle(names, [], parents, children))
    shown = ", ".join(repr(names[i]) for i in roots[:4]) + (", ..." if len(roots) > 4 else "")
    raise HierarchyError(
        f"found {len(roots)} nodes without a parent ({shown}): expected one root. "
        "Add the missing edges, or add a root above them: root='some name' in from_edges, "
        "from_networkx and read."
    )


def _preorder(root: int, children: list[int], stops: list[int]) -> list[int]:
    order: list[int] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        start = stops[node - 1] if node else 0
        stack.extend(reversed(children[start : stops[node]]))
    return order


def _parents_first(
    root: int, children: list[int], stops: list[int], waiting: list[int]
) -> list[int]:
    order = [root]
    for node in order:  # the list grows: Kahn's algorithm, first in, first out
        for child in children[stops[node - 1] if node else 0 : stops[node]]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return order


def _describe_cycle(
    names: NDArray[np.object_], reached: list[int], parents: IntArray, children: IntArray
) -> str:
    """Follow parents among the nodes that no root reaches until a node is repeated."""
    unreached = set(range(len(names))) - set(reached)
    parent_of = {
        child: parent
        for parent, child in zip(parents.tolist(), children.tolist(), strict=True)
        if parent in unreached and child in unreached
    }
    walk: list[int] = []
    seen: set[int] = set()
    node = next(iter(parent_of))
    while node not in seen:
        seen.add(node)
        walk.append(node)
        node = parent_of[node]
    cycle = [*walk[walk.index(node) :], node][::-1]
    if len(cycle) > 6:
        text = " -> ".join(repr(names[i]) for i in cycle[:5]) + f" -> ... -> {names[cycle[-1]]!r}"
    else:
        text = " -> ".join(repr(names[i]) for i in cycle)
    return (
        f"the edges contain a cycle: {text} ({len(cycle) - 1} nodes): expected none. Delete the "
        "edge that goes up."
    )
