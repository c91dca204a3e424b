"""Competitors of MF-Tree: they find planted groups, and accept unusual input."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from tests.class_tree.clades import clades, hard_cases, in_turn

import palmette as pm
from palmette.class_tree import DependenceTree, LabelEmbeddingTree, NMFTree, RandomTree, RelaxedTree
from palmette.datasets import fetch, make_hierarchical_classification
from palmette.exceptions import PalmetteError
from palmette.metrics import triplet_accuracy

TREES = [
    LabelEmbeddingTree(random_state=0),
    LabelEmbeddingTree(confusion="soft", random_state=0),
    DependenceTree(random_state=0),
    NMFTree(random_state=0),
    RelaxedTree(max_copies=1.0, random_state=0),
]
LEARNERS = [*TREES, RelaxedTree(random_state=0)]
CASES = list(hard_cases())


def name(learner):
    return repr(learner).replace("random_state=0", "").replace(", )", ")")


@cache
def planted(sparse_rows=False, seed=0, branching=(2, 6), n_rows=1200):
    """Return rows of groups of classes that are confused within a group."""
    return make_hierarchical_classification(
        n_rows,
        400 if sparse_rows else 12,
        branching=branching,
        class_sep=0.5 if sparse_rows else 1.5,
        level_decay=0.7,
        sparse=sparse_rows,
        density=0.1,
        y_form="names",
        random_state=seed,
    )


@cache
def fitted(learner):
    """Return a learner of planted groups, for tests that only read it."""
    data = planted()
    return clone(learner).fit(data.X, data.y)


@cache
def chance(sparse_rows, seed):
    """Return the accuracy of a random hierarchy."""
    data = planted(sparse_rows, seed, n_rows=500)
    random = RandomTree(random_state=seed).fit(data.X, data.y)
    return triplet_accuracy(random.hierarchy_, data.hierarchy)


def leaf_copies(learner):
    inner = set(learner.tree_.parents)
    return sum(len(g) for i, g in enumerate(learner.tree_.groups) if i not in inner)


# ---------------------------------------------------------------------- planted structure


@pytest.mark.parametrize("sparse_rows", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("learner", TREES, ids=name)
def test_a_planted_top_split_is_found(learner, sparse_rows):
    found = []
    for seed in range(3):
        data = planted(sparse_rows, seed, n_rows=500)
        tree = clone(learner).set_params(leaf_size=1).fit(data.X, data.y)
        found.append(triplet_accuracy(tree.hierarchy_, data.hierarchy))
    assert np.mean([chance(sparse_rows, seed) for seed in range(3)]) < 0.6
    assert np.mean(found) > 0.85


def test_relaxed_sides_hold_the_planted_groups():
    data, tree = planted(), fitted(LEARNERS[-1])
    sides = [set(tree.classes_[group]) for group in tree.tree_.groups[1:3]]
    truth = {}
    for leaf in data.hierarchy.leaves:
        top = data.hierarchy.parents[leaf]
        truth.setdefault(int(top), set()).add(data.hierarchy.names[leaf])
    for group in truth.values():
        assert any(group <= side for side in sides)


@pytest.mark.data
@pytest.mark.parametrize(
    ("learner", "least"),
    [(DependenceTree(random_state=0), 0.62), (NMFTree(random_state=0), 0.65)],
    ids=lambda value: type(value).__name__,
)
def test_medical_images(learner, least, data_home):
    data = fetch("imclef07a", data_home)
    tree = learner.fit(data.X_train, data.y_train)
    nodes = tree.hierarchy_, data.hierarchy
    assert triplet_accuracy(*nodes, classes=tree.classes_.tolist()) > least


# ---------------------------------------------------------------------- what every learner does


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_leaves_are_the_classes(learner):
    data, tree = planted(), fitted(learner)
    leaves = tree.hierarchy_.names[tree.hierarchy_.leaves]
    assert sorted(leaves.tolist()) == sorted(set(data.y.tolist()))


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_the_same_seed_makes_the_same_hierarchy(learner):
    data = planted()
    assert clone(learner).fit(data.X, data.y).hierarchy_ == fitted(learner).hierarchy_


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
@pytest.mark.parametrize("case", range(len(CASES)), ids=[case[0] for case in CASES])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_hard_input(learner, case):
    _, X, y = CASES[case]
    layout = in_turn(case + LEARNERS.index(learner))
    tree = clone(learner).fit(layout(X), y)
    leaves = tree.hierarchy_.names[tree.hierarchy_.leaves]
    assert sorted(leaves.tolist()) == sorted(set(np.asarray(y).tolist()))
    n_classes = len(tree.classes_)
    assert leaf_copies(tree) <= getattr(learner, "max_copies", 1.0) * n_classes


@pytest.mark.parametrize("learner", TREES, ids=name)
@pytest.mark.parametrize("X", [np.zeros((30, 2)), np.full((30, 3), 0.1)], ids=["zeros", "constant"])
def test_classes_that_cannot_be_told_apart_are_halved(learner, X):
    tree = clone(learner).set_params(leaf_size=1).fit(X, np.repeat(np.arange(6), 5))
    assert tree.hierarchy_.max_depth <= 5


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_indices_of_64_bits(learner):
    data = planted(sparse_rows=True, n_rows=300)
    X = sparse.csr_array(data.X, copy=True)
    trees = []
    for width in (np.int32, np.int64):
        X.indices, X.indptr = X.indices.astype(width), X.indptr.astype(width)
        trees.append(clone(learner).fit(X, data.y).hierarchy_)
    assert trees[0] == trees[1]


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_two_classes(learner):
    tree = clone(learner).fit([[0.0], [1.0], [2.0]], ["b", "a", "a"])
    assert tree.hierarchy_.max_depth == 1


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_one_class_is_an_error(learner):
    with pytest.raises(PalmetteError, match="one class only"):
        clone(learner).fit([[0.0], [1.0]], ["a", "a"])


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_rows_of_no_weight_do_not_count(learner):
    data = planted(n_rows=400)
    rng = np.random.default_rng(0)
    weights = rng.integers(2, size=len(data.y)).astype(float)
    kept = weights > 0
    weighted = clone(learner).fit(data.X, data.y, sample_weight=weights)
    chosen = clone(learner).fit(data.X[kept], data.y[kept], sample_weight=weights[kept])
    assert weighted.hierarchy_ == chosen.hierarchy_


@pytest.mark.parametrize(
    "learner", [DependenceTree(random_state=0), NMFTree(random_state=0)], ids=name
)
def test_weights_are_copies(learner):
    data = planted()
    times = np.random.default_rng(0).integers(1, 4, size=len(data.y))
    weighted = clone(learner).fit(data.X, data.y, sample_weight=times)
    copied = clone(learner).fit(np.repeat(data.X, times, axis=0), np.repeat(data.y, times))
    assert clades(weighted) == clades(copied)


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_leaves_of_several_classes(learner):
    data = planted()
    tree = clone(learner).set_params(leaf_size=4).fit(data.X, data.y)
    inner = set(tree.tree_.parents)
    for i, group in enumerate(tree.tree_.groups):
        assert (len(group) <= 4) == (i not in inner)


@pytest.mark.parametrize("learner", TREES[:4], ids=name)
def test_branching(learner):
    data = planted(branching=(4, 3))
    tree = clone(learner).set_params(branching=4).fit(data.X, data.y)
    assert 2 < sum(parent == 0 for parent in tree.tree_.parents) <= 4


def test_copies_make_a_dag_and_none_make_a_tree():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(16), 10)
    X = rng.normal(size=(160, 3))
    dag = RelaxedTree(rho=0.3, random_state=0).fit(X, y)
    assert not dag.hierarchy_.is_tree
    assert 16 < leaf_copies(dag) <= 32
    assert RelaxedTree(rho=0.3, max_copies=1.0, random_state=0).fit(X, y).hierarchy_.is_tree


def test_a_learnt_dag_serves_local_classifiers():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), np.repeat(np.arange(8), 10)
    learner = RelaxedTree(0.3, n_starts=1, random_state=0)
    clf = pm.LocalPerParentClassifier(GaussianNB(), hierarchy=learner).fit(X, y)
    assert not clf.hierarchy_.is_tree
    assert set(clf.predict(X)) <= set(range(8))
