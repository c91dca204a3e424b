"""The trees of J48 against the literal version; against Weka itself: `tests.mulan --trees`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.multilabel.j48 import J48

from palmette import PalmetteError
from palmette.datasets import fetch
from palmette.multilabel import BinaryRelevance, C45Tree
from palmette.multilabel._c45 import j48


@parametrize_with_checks([C45Tree.preset("j48")])
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def sample(seed, kind="dense", n_classes=3):
    """Draw rows of several kinds of columns, and classes that depend on some of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 220))
    X = rng.normal(size=(n, 6))
    if kind == "few values":
        X = np.round(X)
    if kind == "many zeros":
        X[rng.random(X.shape) < 0.7] = 0.0
    if kind == "flags":
        X = (X > 0.8).astype(float)
        X[:, 0] = rng.normal(size=n)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(scale=0.7, size=n)
    y = np.digitize(score, np.linspace(-1, 1, n_classes + 1)[1:-1])
    return np.float32(X), np.unique(y, return_inverse=True)[1]


def assert_same(tree, literal, X):
    assert tree.tree_.tree_.node_count == literal.n_nodes()
    np.testing.assert_allclose(tree.predict_proba(X), literal.predict_proba(X), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    kind=st.sampled_from(["dense", "few values", "many zeros", "flags"]),
    n_classes=st.sampled_from([2, 4]),
    seed=st.integers(0, 10**6),
)
def test_its_trees_are_those_of_the_literal_version(kind, n_classes, seed):
    X, y = sample(seed, kind, n_classes)
    assert_same(C45Tree.preset("j48").fit(X, y), J48(X, y), X + np.float32(0.01))


@settings(max_examples=8, deadline=None)
@given(weights=st.sampled_from(["whole", "any"]), seed=st.integers(0, 10**6))
def test_weights_count(weights, seed):
    X, y = sample(seed)
    rng = np.random.default_rng(seed)
    drawn = 1.0 + rng.integers(0, 3, len(y)) if weights == "whole" else rng.random(len(y)) + 0.3
    if weights == "any":
        drawn = drawn / drawn.mean()
    assert_same(C45Tree.preset("j48").fit(X, y, drawn), J48(X, y, drawn), X)


def test_a_weight_is_a_number_of_copies():
    X, y = sample(1)
    weights = np.arange(len(y)) % 3
    copies = np.repeat(np.arange(len(y)), weights)
    weighted = C45Tree.preset("j48").fit(X, y, weights)
    repeated = C45Tree.preset("j48").fit(X[copies], y[copies])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_subtrees_are_raised_and_receive_the_rows_of_the_other_branch():
    n_raised = 0
    for seed in range(10):
        X, y = sample(seed)
        tree = C45Tree.preset("j48").fit(X, y)
        plain = C45Tree.preset("j48", subtree_raising=False).fit(X, y)
        n_raised += tree.tree_.tree_.node_count != _n_reached(plain, X)
        for each in (tree, plain):
            leaves = each.tree_.apply(X)
            for leaf in np.unique(leaves):
                expected = np.bincount(y[leaves == leaf], minlength=len(each.classes_))
                found = each.tree_.tree_.value[leaf, 0]
                np.testing.assert_allclose(found, expected / expected.sum())
    assert n_raised > 0


def _n_reached(tree, X):
    return int(tree.tree_.tree_.decision_path(X).toarray().any(axis=0).sum())


def test_the_first_of_equally_good_features_is_taken():
    X = np.tile(np.repeat([0.0, 1.0], 4)[:, None], 3) * [[1.0, 2.0, 3.0]]
    for seed in range(5):
        tree = C45Tree.preset("j48", random_state=seed).fit(X, np.repeat([0, 1], 4))
        assert tree.tree_.tree_.feature[0] == 0


def test_cuts_are_values_of_the_training_rows():
    X, y = sample(2)
    tree = C45Tree.preset("j48").fit(X, y).tree_.tree_
    inner = np.flatnonzero(tree.children_left >= 0)
    assert len(inner)
    for node in inner:
        assert tree.threshold[node] in X[:, tree.feature[node]]


def test_sparse_rows_are_dense_rows():
    X, y = sample(3, "many zeros")
    dense = C45Tree.preset("j48").fit(X, y).predict_proba(X)
    compressed = C45Tree.preset("j48").fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(compressed.predict_proba(sparse.csr_array(X)), dense)


def test_raising_does_nothing_without_pruning():
    X, y = sample(4)
    both = [
        C45Tree(None, criterion="gain_ratio", subtree_raising=is_raising).fit(X, y)
        for is_raising in (False, True)
    ]
    assert np.array_equal(*(each.predict_proba(X) for each in both))


def test_subtrees_are_raised_with_either_criterion():
    X, y = sample(5)
    sizes = [
        _n_reached(C45Tree(subtree_raising=each, random_state=0).fit(X, y), X)
        for each in (False, True)
    ]
    assert 1 <= sizes[1] <= sizes[0]


def test_members_of_ensembles_are_the_same_trees():
    X, y = sample(6)
    Y = np.column_stack([y == 0, y == 1]).astype(int)
    model = BinaryRelevance.preset("mulan", random_state=0).fit(X, Y)
    alone = j48().fit(X, Y[:, 1]).predict_proba(X)[:, 1]
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], alone)


def test_older_states_have_the_defaults_of_then():
    X, y = sample(7)
    tree = C45Tree(random_state=0).fit(X, y)
    state = dict(tree.__getstate__())
    for name in ("criterion", "subtree_raising"):
        del state[name]
    old = C45Tree.__new__(C45Tree)
    old.__setstate__(state)
    assert old.get_params() == tree.get_params()
    assert np.array_equal(pickle.loads(pickle.dumps(old)).predict(X), tree.predict(X))


def test_bad_parameters_are_refused():
    with pytest.raises(PalmetteError, match="criterion='gini': expected one of"):
        C45Tree(criterion="gini").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(PalmetteError, match="C45Tree has no preset 'j47'"):
        C45Tree.preset("j47")


@pytest.mark.data
@pytest.mark.parametrize("label", [0, 3])
def test_labels_of_emotions(label, data_home):
    bunch = fetch("emotions", data_home)
    X, y = np.float32(bunch.X_train), np.asarray(bunch.y_train)[:, label].astype(int)
    assert_same(C45Tree.preset("j48").fit(X, y), J48(X, y), np.float32(bunch.X_test))
