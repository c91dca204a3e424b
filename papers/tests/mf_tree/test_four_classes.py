"""Figure 3: values worked out by hand, and all trees over four classes."""

from __future__ import annotations

import pytest

from palmette.metrics import tree_mse
from papers.mf_tree.four_classes import (
    ACTUAL,
    _hierarchy,
    all_trees,
    four_class_facts,
    write_tree,
)


def test_every_tree_occurs_once():
    trees = [write_tree(tree) for tree in all_trees(4)]
    assert len(set(trees)) == len(trees) == 26  # the fourth of Schroeder's numbers
    assert "((c1, c2), (c3, c4))" in trees
    for tree in all_trees(4):
        assert _hierarchy(tree).n_leaves == 4


def test_values_by_hand():
    # a pair that is 2 apart in one tree and 4 in the other: 1/2 - 1/4, eight of the sixteen cells
    swapped, chain, wide = (tree["mse"] for tree in four_class_facts()["trees"])
    assert swapped == 8 * (1 / 4) ** 2 / 16 == 0.03125
    # (c1, (c2, (c3, c4))): c1-c2 is 3 apart for 2, c1-c3 and c1-c4 4 for 4, c2-c3 and c2-c4 3 for 4
    assert chain == pytest.approx(2 * ((1 / 2 - 1 / 3) ** 2 + 2 * (1 / 4 - 1 / 3) ** 2) / 16)
    # (c1, (c2, c3, c4)): c1 is 3 from all, the others 2 from each other
    one, two = (1 / 2 - 1 / 3) ** 2, (1 / 4 - 1 / 3) ** 2
    assert wide == pytest.approx(2 * (one + 2 * two + 2 * (1 / 4) ** 2) / 16)


def test_the_second_value_of_the_paper_is_of_no_tree():
    facts = four_class_facts()
    assert (facts["n_trees"], facts["n_pairs"], facts["n_equal"]) == (26, 325, 0)
    actual = _hierarchy(ACTUAL)
    gaps = [abs(tree_mse(_hierarchy(tree), actual) - 0.01383) for tree in all_trees(4)]
    assert min(gaps) == pytest.approx(abs(facts["nearest_to_actual"] - 0.01383))
    assert abs(facts["nearest"] - 0.01383) <= min(gaps)
