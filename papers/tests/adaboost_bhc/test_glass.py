"""The class tree of Glass: windows on one side, everything else on the other."""

from __future__ import annotations

import pytest

from palmette.compare import find_problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.adaboost_bhc.figures import WINDOWS, glass_facts, stand_together

TREE = Hierarchy.from_edges(
    [("r", "g"), ("r", "h"), ("g", "1"), ("g", "3"), ("h", "2"), ("h", "5"), ("h", "6")]
)


@pytest.mark.parametrize(
    ("names", "together"),
    [(["1", "3"], True), (["1", "2"], False), (["2", "5"], False), (["1", "3", "4"], True)],
)
def test_leaves_that_stand_together(names, together):
    # "4" is no leaf of the tree, and so not missed
    assert stand_together(TREE, names) == together


def test_places(problem_of):
    facts = glass_facts(problem_of("glass", classes=("1", "2", "3", "7")))
    assert [tree["start"] for tree in facts["trees"]] == ["eigenvector", "first_class"]
    for tree in facts["trees"]:
        leaves = [node for node in tree["nodes"] if node["is_leaf"]]
        assert [leaf["x"] for leaf in leaves] == [0, 1, 2, 3]
        assert sorted(leaf["name"] for leaf in leaves) == ["1", "2", "3", "7"]
        for node in tree["nodes"]:
            below = [n["x"] for n in tree["nodes"] if n["parent"] == node["node"]]
            assert node["is_leaf"] == (not below)
            if below:
                assert node["x"] == sum(below) / 2
        assert tree["text"].startswith("root")


@pytest.mark.data
def test_figure_1(data_home):
    facts = glass_facts(find_problem("glass"))
    for tree in facts["trees"]:
        assert tree["together"]
        (left, right) = [n["node"] for n in tree["nodes"] if n["parent"] == 0]
        assert {n["name"] for n in tree["nodes"] if left < n["node"] < right} >= set(WINDOWS[:3])
