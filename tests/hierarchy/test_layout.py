"""Places of nodes: no two ends at one place, parents between their children, cuts that count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.hierarchy._drawing import lay_out
from palmette.hierarchy._hierarchy import Hierarchy


@st.composite
def trees(draw):
    n = draw(st.integers(1, 40))
    parents = [-1, *(draw(st.integers(0, i - 1)) for i in range(1, n))]
    return Hierarchy.from_parents(np.array(parents))


@settings(max_examples=60, deadline=None)
@given(trees())
def test_laws_of_a_layout(tree):
    found = lay_out(tree, None)
    assert sorted(found.nodes.tolist()) == list(range(tree.n_nodes))
    np.testing.assert_array_equal(found.depth, tree.depth[found.nodes])
    ends = found.across[tree.is_leaf[found.nodes]]
    assert sorted(ends.tolist()) == list(range(tree.n_leaves)) == list(range(found.n_ends))
    for place in range(found.n_marks):
        below = found.across[found.parents == place]
        if below.size:
            assert found.across[place] == pytest.approx((below.min() + below.max()) / 2)
    assert not found.hidden.any()


@settings(max_examples=60, deadline=None)
@given(trees(), st.integers(3, 20))
def test_a_cut_layout_counts_what_it_leaves_out(tree, most):
    found = lay_out(tree, most)
    assert found.n_marks <= most
    shown = set(found.nodes[found.nodes >= 0].tolist())
    left_out = sum(len(set(tree.children(node).tolist()) - shown) for node in shown)
    assert found.hidden.sum() == left_out


def test_a_dag_hangs_off_the_first_parent_and_links_to_the_others():
    dag = Hierarchy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")])
    found = lay_out(dag)
    names = dag.names[found.nodes]
    (above, below) = found.links[0]
    assert (names[above], names[below]) == ("b", "c")
    assert names[found.parents[below]] == "a"


def test_weights_choose():
    found = lay_out(Hierarchy.star(list("abcdef")), 4, weights=[9, 1, 2, 3, 4, 5, 6])
    assert found.nodes.tolist() == [0, 6, 5, -1]
    assert found.hidden.tolist() == [0, 0, 0, 4]
