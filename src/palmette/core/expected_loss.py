"""Expected losses of every node as an answer, under the probabilities of the classes.

Each function takes a `LabelSpace` and class probabilities of shape (n_samples, n_classes) and gives
the expected loss of answering each active node, of shape (n_active, n_samples). Sums along paths
make them cost nodes x rows, not nodes x classes x rows.
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
    """Probability that the answer is not exactly the label."""
    losses = np.ones((space.n_active, len(proba)))
    losses[space.class_place] -= proba.T
    return losses


def tree_induced_error(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """Edges between answer and label: each node on the path adds an edge or saves one."""
    marginals = space.marginals(proba)
    depth_of_truth = marginals[1:].sum(axis=0)
    steps = 1.0 - 2.0 * marginals
    steps[0] = depth_of_truth  # answering the root costs the whole way down
    return space.sum_down(steps)


def hierarchical_f1(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """One less the hierarchical F1 of a row, the root left out.

    F1 of answer v and label c is ``2 |path(v) & path(c)| / (depth(v) + depth(c))``; labels of equal
    depth share a denominator, so one sum along paths for every depth suffices.
    """
    class_depth = space.depth[space.class_place]
    gains = np.zeros((space.n_active, len(proba)))
    for depth in np.unique(class_depth):
        mass = space.sum_up(np.where(class_depth == depth, proba, 0.0))
        mass[0] = 0.0
        gains += 2.0 * space.sum_down(mass) / np.maximum(space.depth + depth, 1)[:, None]
    return 1.0 - gains


def hmc_loss(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """Costs of nodes wrongly answered and of nodes missed, equally weighed."""
    costs = hierarchical_costs(space.hierarchy)[space.nodes][:, None]
    marginals = space.marginals(proba)
    missed_everything = (costs * marginals).sum(axis=0)
    losses = space.sum_down(costs * (1.0 - 2.0 * marginals))
    losses += missed_everything
    return losses


def h_loss(space: LabelSpace, proba: FloatArray) -> FloatArray:
    """Costs of the nodes where an answer first goes wrong: below a mistake nothing counts."""
    costs = hierarchical_costs(space.hierarchy)[space.nodes][:, None]
    marginals = space.marginals(proba)
    parent = np.maximum(space.parent, 0)
    # on the path: wrong though the parent was right; beside it: true children not answered
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
    """Expected losses from a matrix of shape (n_answers, n_classes)."""
    return np.asarray(losses @ proba.T, dtype=np.float64)
