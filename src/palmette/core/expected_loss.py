"""Expected loss of predicting each node, under the probabilities of the classes.

Each function takes a `LabelSpace` and class probabilities of shape (n_samples, n_classes) and
returns the expected loss of predicting each active node, of shape (n_active, n_samples). Sums along
paths reduce the cost from nodes x classes x rows to nodes x rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from palmette.core.costs import hierarchical_costs
from palmette.core.space import LabelSpace

__all__ = ["EXPECTED_LOSSES", "expected_by_matrix"]

FloatArray = NDArray[np.float64]
ExpectedLoss = Callable[[LabelSpace, FloatArray], FloatArray]


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
