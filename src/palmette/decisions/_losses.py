"""Costs of nodes, and the expected loss of predicting each node.

Each expected loss takes a `LabelSpace` and class probabilities of shape (n_samples, n_classes)
and returns losses of shape (n_active, n_samples). Sums along paths reduce the cost from nodes x
classes x rows to nodes x rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import FloatArray
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace

ExpectedLoss = Callable[[LabelSpace, FloatArray], FloatArray]


def hierarchical_costs(
    hierarchy: Hierarchy, normalize: bool = True, nodes: NDArray[np.int32] | None = None
) -> FloatArray:
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


def zero_one(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """Return the probability that a node is not exactly the label."""
    losses = np.ones((space.n_active, len(proba)))
    losses[space.class_place] -= proba.T
    return losses


def tree_induced_error(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """Return the expected number of edges between a node and the label."""
    marginals = space.marginals(proba)
    depth_of_truth = marginals[1:].sum(axis=0)
    steps = 1.0 - 2.0 * marginals  # a node on the path adds an edge if wrong, else saves one
    steps[0] = depth_of_truth  # predicting the root costs the whole path to the label
    return space.sum_down(steps)


def hierarchical_f1(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """Return 1 minus the expected hierarchical F1 of a row, without the root.

    F1 of node v and label c is ``2 |path(v) & path(c)| / (depth(v) + depth(c))``; labels of equal
    depth share a denominator, so one sum along paths per depth suffices.
    """
    class_depth = space.depth[space.class_place]
    gains = np.zeros((space.n_active, len(proba)))
    for depth in np.unique(class_depth):
        mass = space.sum_up(np.where(class_depth == depth, proba, 0.0))
        mass[0] = 0.0
        gains += 2.0 * space.sum_down(mass) / np.maximum(space.depth + depth, 1)[:, None]
    return 1.0 - gains


def hmc_loss(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """Return the expected costs of wrong and of missed nodes, equally weighted."""
    costs = hierarchical_costs(space.hierarchy)[space.nodes][:, None]
    marginals = space.marginals(proba)
    missed_everything = (costs * marginals).sum(axis=0)
    losses = space.sum_down(costs * (1.0 - 2.0 * marginals))
    losses += missed_everything
    return losses


def h_loss(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """Return the expected costs of the topmost mistakes: nodes below a mistake do not count."""
    costs = hierarchical_costs(space.hierarchy)[space.nodes][:, None]
    marginals = space.marginals(proba)
    parent = np.maximum(space.parent, 0)
    # on the path: nodes that are wrong although the parent is right; beside it: missed children
    wrong = costs * (marginals[parent] - marginals)
    true = costs * marginals
    missed = space.sum_children(true)
    return space.sum_down(wrong + missed - true)


EXPECTED_LOSSES: dict[str, ExpectedLoss] = {
    "zero_one": zero_one,
    "tree_induced_error": tree_induced_error,
    "hierarchical_f1": hierarchical_f1,
    "hmc_loss": hmc_loss,
    "h_loss": h_loss,
}


def expected_by_matrix(losses: FloatArray, proba: FloatArray) -> FloatArray:
    """Return expected losses from a loss matrix of shape (n_answers, n_classes)."""
    return np.asarray(losses @ proba.T, dtype=np.float64)
