"""AgglomerativeTree, BalancedTree and RandomTree: common properties."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.class_tree.clades import clades, hard_cases, in_turn

from palmette.class_tree import AgglomerativeTree, BalancedTree, RandomTree

LEARNERS = [
    AgglomerativeTree(),
    AgglomerativeTree("average", "cosine", branching=3),
    AgglomerativeTree("single", min_side=0.2),
    BalancedTree(),
    BalancedTree(3, metric="cosine", leaf_size=2),
    RandomTree(random_state=0),
    RandomTree(3, leaf_size=2, random_state=0),
]
CASES = list(hard_cases())


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("case", range(len(CASES)), ids=[case[0] for case in CASES])
def test_hard_input_gives_a_tree(learner, case):
    _, X, y = CASES[case]
    form = in_turn(case + LEARNERS.index(learner))
    tree = clone(learner).fit(form(X), y)
    leaves = tree.hierarchy_.names[tree.hierarchy_.leaves]
    assert sorted(leaves.tolist()) == sorted(set(np.asarray(y).tolist()))


@pytest.mark.parametrize("learner", LEARNERS[:5], ids=str)
def test_the_order_of_classes_does_not_count(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    order = rng.permutation(40)
    expected = clades(clone(learner).fit(X, np.arange(40)))
    found = clades(clone(learner).fit(X[order], np.arange(40)))
    assert {frozenset(order[list(group)].tolist()) for group in found} == expected


@pytest.mark.parametrize(
    ("n_classes", "branching"), [(64, 2), (65, 2), (100, 2), (81, 3), (100, 8)]
)
def test_balanced_trees_are_as_shallow_as_can_be(n_classes, branching):
    X = np.random.default_rng(0).normal(size=(n_classes, 3))
    tree = BalancedTree(branching).fit(X, np.arange(n_classes))
    depth = tree.hierarchy_.depth[tree.hierarchy_.leaves]
    assert depth.max() == np.ceil(np.log(n_classes) / np.log(branching) - 1e-9)
    assert depth.max() - depth.min() <= 1
