"""Costs of nodes: shared equally among children, from 1 at the root."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import dags, quick, trees

from palmette.decisions._losses import hierarchical_costs
from palmette.hierarchy._hierarchy import Hierarchy


@quick
@given(trees())
def test_children_share_the_cost_of_their_parent(h):
    costs = hierarchical_costs(h, normalize=False)
    assert costs[0] == 0
    for node in range(h.n_nodes):
        children = h.children(node)
        if len(children):
            whole = 1.0 if node == 0 else costs[node]
            assert costs[children].sum() == pytest.approx(whole)
            assert np.ptp(costs[children]) == 0


@quick
@given(dags())
def test_a_node_of_a_dag_takes_the_mean_over_its_parents(h):
    costs = {0: 1.0}
    for node in range(1, h.n_nodes):
        shares = [costs[parent] / len(h.children(parent)) for parent in h.parents_of(node).tolist()]
        costs[node] = np.mean(shares)
    costs[0] = 0.0
    found = hierarchical_costs(h, normalize=False)
    np.testing.assert_allclose(found, [costs[node] for node in range(h.n_nodes)], rtol=1e-12)


@quick
@given(dags())
def test_scaled_costs_sum_to_one(h):
    raw, scaled = hierarchical_costs(h, normalize=False), hierarchical_costs(h)
    if h.n_nodes > 1:
        assert scaled.sum() == pytest.approx(1)
        np.testing.assert_allclose(scaled * raw.sum(), raw)
        assert (scaled[1:] > 0).all()
    else:
        assert scaled.tolist() == [0]


def test_by_hand():
    h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b",)])
    assert hierarchical_costs(h, normalize=False).tolist() == [0, 0.5, 0.25, 0.25, 0.5]
    diamond = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "d")])
    # d: the mean of 1/2 / 2 from a and 1/2 / 1 from b
    assert dict(zip(diamond.names, hierarchical_costs(diamond, normalize=False), strict=True)) == {
        "r": 0,
        "a": 0.5,
        "b": 0.5,
        "c": 0.25,
        "d": 0.375,
    }
