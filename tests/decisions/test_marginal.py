from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmette.decisions._rules import Marginal, resolve_decoding
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace

TREE = Hierarchy.from_paths([("a", "x"), ("a", "y", "u"), ("a", "y", "v"), ("b", "z"), ("c",)])
SPACE = LabelSpace(TREE, TREE.leaves)


def by_hand(proba, threshold, temperature, ends):
    powers = proba**temperature
    shares = powers / powers.sum()
    best, best_node = -np.inf, None
    for node in ends:
        total = 0.0
        for above in TREE.ancestors(int(node), include_self=True):
            if above > 0:
                below = TREE.descendants(int(above), include_self=True)
                total += shares[np.isin(SPACE.classes, below)].sum() - threshold
        if total > best + 1e-12:
            best, best_node = total, node
    return best_node


@given(
    st.lists(st.floats(0.01, 1), min_size=5, max_size=5),
    st.sampled_from([0.1, 0.4, 0.7]),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.booleans(),
)
def test_the_path_with_the_largest_excess_wins(weights, threshold, temperature, partial):
    proba = np.array(weights) / np.sum(weights)
    rule = Marginal(threshold, temperature, partial=partial)
    ends = SPACE.nodes[1:] if partial else SPACE.classes
    chosen = rule.choose(proba[None, :], SPACE)[0]
    assert chosen == by_hand(proba, threshold, temperature, ends)


def test_a_threshold_of_zero_goes_to_the_end_and_one_of_one_stays_at_the_top():
    proba = np.array([[0.3, 0.2, 0.15, 0.25, 0.1]])
    assert TREE.is_leaf[Marginal(0.0, 1.0).choose(proba, SPACE)[0]]
    assert TREE.depth[Marginal(1.0, 1.0).choose(proba, SPACE)[0]] == 1


def test_only_labels_are_answered_where_paths_must_be_whole():
    proba = np.full((1, 5), 0.2)
    assert not TREE.is_leaf[Marginal(0.5, 1.0).choose(proba, SPACE)[0]]
    assert TREE.is_leaf[Marginal(0.5, 1.0, partial=False).choose(proba, SPACE)[0]]


def test_what_is_open_cannot_decide():
    assert Marginal().is_open
    assert Marginal(0.4).is_open
    assert not Marginal(0.4, 1.0).is_open
    with pytest.raises(PalmetteError, match="when a classifier is fitted"):
        Marginal().choose(np.full((1, 5), 0.2), SPACE)


@pytest.mark.parametrize("rule", [Marginal(1.5, 1.0), Marginal(0.4, 0.0), Marginal(-0.1, 1.0)])
def test_numbers_that_cannot_be_are_refused(rule):
    with pytest.raises(PalmetteError, match="expected a threshold from 0 to 1 and a positive"):
        rule.choose(np.full((1, 5), 0.2), SPACE)


def test_it_has_a_name():
    assert isinstance(resolve_decoding("marginal"), Marginal)
