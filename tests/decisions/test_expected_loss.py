"""Every expected loss equals a brute-force expectation over the pairs of answer and label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.spaces import label_spaces, probabilities, seeds
from tests.strategies import quick

from palmette.decisions._losses import EXPECTED_LOSSES, expected_by_matrix
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace


def true_nodes(hierarchy, node):
    """The node and all above it, without the root, which is no class."""
    return set(hierarchy.ancestors(node, include_self=True).tolist()) - {0}


def costs(hierarchy):
    """Eq. 5 and 6 of the H-Ada.MH paper, node by node: a parent's cost shared by its children."""
    cost = {0: 1.0}
    for node in range(1, hierarchy.n_nodes):
        parent = int(hierarchy.parents[node])
        cost[node] = cost[parent] / len(hierarchy.children(parent))
    total = sum(cost[node] for node in range(1, hierarchy.n_nodes))
    return {node: value / total for node, value in cost.items()}


def zero_one(hierarchy, answer, label):
    return float(answer != label)


def tree_induced_error(hierarchy, answer, label):
    return hierarchy.distance(answer, label)


def hierarchical_f1(hierarchy, answer, label):
    a, b = true_nodes(hierarchy, answer), true_nodes(hierarchy, label)
    return 1.0 - 2.0 * len(a & b) / (len(a) + len(b))


def hmc_loss(hierarchy, answer, label):
    cost = costs(hierarchy)
    a, b = true_nodes(hierarchy, answer), true_nodes(hierarchy, label)
    return sum(cost[node] for node in a ^ b)  # alpha = beta = 1: missed and false nodes alike


def h_loss(hierarchy, answer, label):
    cost = costs(hierarchy)
    wrong = true_nodes(hierarchy, answer) ^ true_nodes(hierarchy, label)
    first = [n for n in wrong if not wrong & set(hierarchy.ancestors(n).tolist())]
    return sum(cost[node] for node in first)


LITERAL = {
    "zero_one": zero_one,
    "tree_induced_error": tree_induced_error,
    "hierarchical_f1": hierarchical_f1,
    "hmc_loss": hmc_loss,
    "h_loss": h_loss,
}


def matrix_of(loss, space):
    return np.array(
        [
            [loss(space.hierarchy, answer, label) for label in space.classes.tolist()]
            for answer in space.nodes.tolist()
        ],
        dtype=float,
    )


def test_every_loss_has_a_literal_twin():
    assert set(EXPECTED_LOSSES) == set(LITERAL)


@quick
@given(space=label_spaces(), seed=seeds)
def test_an_expected_loss_is_the_mean_over_the_labels_and_leaves_them_alone(space, seed):
    proba = probabilities(space, 4, seed)
    before = proba.copy()
    for name, literal in LITERAL.items():
        found = EXPECTED_LOSSES[name](space, proba)
        assert np.array_equal(proba, before)
        expected = expected_by_matrix(matrix_of(literal, space), proba)
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=name)


def test_losses_of_the_binary_tree_of_the_paper():
    # Figure 2: seven nodes below the virtual root; costs 1/3, 1/6, 1/12 by level
    paths = [("top", side, leaf) for side in ("left", "right") for leaf in (0, 1)]
    h = Hierarchy.from_paths(paths)
    space = LabelSpace(h, h.leaves)
    sure = np.array([[1.0, 0.0, 0.0, 0.0]])  # the truth is top/left/0
    place = {path: space.place(h.index(path)) for path in (*paths, ("top", "left"), ("top",))}
    hmc = EXPECTED_LOSSES["hmc_loss"](space, sure)[:, 0]
    assert hmc[place["top", "left", 0]] == pytest.approx(0.0)
    assert hmc[place["top", "left", 1]] == pytest.approx(2 / 12)
    assert hmc[place["top", "right", 1]] == pytest.approx(2 / 12 + 2 / 6)
    first = EXPECTED_LOSSES["h_loss"](space, sure)[:, 0]
    assert first[place["top", "left"]] == pytest.approx(1 / 12)
    assert first[place["top", "right", 1]] == pytest.approx(2 / 6)  # what is below does not count
    assert first[0] == pytest.approx(1 / 3)
