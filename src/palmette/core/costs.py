"""Costs of nodes: the weight of a mistake at each node of a hierarchy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from palmette.core.hierarchy import Hierarchy

__all__ = ["hierarchical_costs"]


def hierarchical_costs(
    hierarchy: Hierarchy, normalize: bool = True, nodes: NDArray[np.int32] | None = None
) -> NDArray[np.float64]:
    """Divide the cost of each node equally among its children, from 1 at the root.

    These are the weights of the H-Ada.MH paper (eq. 5-6): ``c_j = c_parent / n_children(parent)``;
    in a DAG, the mean over the parents. The root is not a class and has cost 0.

    Parameters
    ----------
    hierarchy : Hierarchy
    normalize : bool
        Scale the costs so that they sum to 1.
    nodes : int array, optional
        Nodes to use, with all of their ancestors (the root is optional); all by default. Other
        nodes are treated as if they were not in the hierarchy.

    Returns
    -------
    array of shape (n_nodes,)
        0 for the root, and for nodes that are not used.

    Examples
    --------
    >>> h = Hierarchy.from_parents([-1, 0, 0, 1, 1, 2, 2])
    >>> hierarchical_costs(h).round(4).tolist()
    [0.0, 0.25, 0.125, 0.125, 0.25, 0.125, 0.125]
    """
    n_nodes = hierarchy.n_nodes
    edges = hierarchy.edges
    if nodes is not None:
        counts = np.zeros(n_nodes, dtype=bool)
        counts[nodes] = True
        edges = edges[counts[edges[:, 1]]]
    parents, children = edges[:, 0], edges[:, 1]
    n_children = np.bincount(parents, minlength=n_nodes)
    n_parents = np.maximum(np.bincount(children, minlength=n_nodes), 1)
    costs = np.zeros(n_nodes)
    costs[0] = 1.0
    by_depth = np.argsort(hierarchy.depth[children], kind="stable")
    bounds = np.searchsorted(
        hierarchy.depth[children][by_depth], np.arange(hierarchy.max_depth + 2)
    )
    for depth in range(1, hierarchy.max_depth + 1):
        level = by_depth[bounds[depth] : bounds[depth + 1]]
        above, below = parents[level], children[level]
        np.add.at(costs, below, costs[above] / n_children[above] / n_parents[below])
    costs[0] = 0.0
    if normalize and n_nodes > 1:
        costs /= costs.sum()
    return costs
