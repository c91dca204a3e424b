"""Learners of hierarchies by name, and what they learn from a data set."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.compare._compare import learn_tree
from palmette.compare._problems import Problem
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.models._tree_learners import (
    find_tree_learner,
    list_tree_learners,
    make_tree_learner,
)

LEARNERS = [spec.name for spec in list_tree_learners()]
SETS = ["ab", "ab", "cd", "cd", "b", "c"] * 3


@pytest.mark.parametrize("method", LEARNERS)
def test_every_learner_takes_numbers(method, toy):
    learned = learn_tree(toy, method)
    leaves = learned.hierarchy.names[learned.hierarchy.leaves]
    assert sorted(leaves) == ["a/x", "a/y", "b/x", "b/y"]  # bare names repeat
    assert learned.counts[0] == learned.n_rows == 60
    assert learned.counts[learned.hierarchy.leaves].tolist() == [15] * 4


@pytest.mark.parametrize("method", LEARNERS)
def test_every_learner_takes_texts(method, texts):
    assert learn_tree(texts, method).hierarchy.n_leaves == 4


@pytest.mark.parametrize("method", LEARNERS)
def test_every_learner_takes_label_sets(method):
    rows = np.array([[label in labels for label in "abcd"] for labels in SETS], dtype=float)
    noise = np.random.default_rng(0).normal(0, 0.1, rows.shape)
    y = [set(labels) for labels in SETS]
    learned = learn_tree(Problem("sets", Hierarchy.star(list("abcd")), rows + noise, y), method)
    h = learned.hierarchy
    assert set(h.names[h.leaves]) == set("abcd")
    assert learned.counts[0] == learned.n_rows == len(SETS)
    assert learned.counts[h.index(list("abcd"))].tolist() == [6, 9, 9, 6]


def test_labels_of_the_same_rows_are_near_for_homer():
    y = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    problem = Problem("sets", Hierarchy.star(list("abcd")), np.zeros((4, 1)), y)
    tree = learn_tree(problem, "homer", parameters={"branching": 2}).hierarchy
    assert tree.distance("a", "b") == tree.distance("c", "d") == 2


def test_names_and_parameters():
    assert find_tree_learner("drhl").name == "relaxed"
    assert find_tree_learner("mf").name == "mf-tree"
    assert make_tree_learner("agglomerative", branching=3).branching == 3
    with pytest.raises(PalmetteError, match="Did you mean balanced"):
        find_tree_learner("balance")
    with pytest.raises(PalmetteError, match="bhc has no parameter 'branching'"):
        make_tree_learner("bhc", branching=3)
