"""The presets that are named after MULAN against its rules, label by label."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests import mulan

from palmette.multilabel import (
    HOMER,
    IBLR,
    BinaryRelevance,
    CalibratedLabelRanking,
    MLkNN,
    RAkEL,
)

# four neighbours are often a tie, which the rules decide in ways of their own
BASES = {
    "ties": lambda: KNeighborsClassifier(4),
    "no ties": GaussianNB,
}
each = pytest.mark.parametrize("base", BASES.values(), ids=BASES)


def problem(n_labels=6, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, 3)) * [1.0, 20.0, 0.1]
    Y = (X / [1.0, 20.0, 0.1] @ rng.normal(size=(3, n_labels)) > 0.4).astype(int)
    Y = np.where(rng.random(Y.shape) < 0.15, 1 - Y, Y)
    return X[:n], Y[:n], X[n:]


def check(model, X_new, expected, scores=True):
    told, confidences = expected
    assert 0.05 < told.mean() < 0.95
    assert np.array_equal(model.predict(X_new), told)
    if scores:
        np.testing.assert_allclose(model.predict_proba(X_new), confidences, atol=1e-9)


@pytest.mark.parametrize("k", [1, 10])
def test_neighbours(k):
    X, Y, X_new = problem()
    near, near_new = mulan.nearest(X, None, k), mulan.nearest(X, X_new, k)
    check(MLkNN.preset("mulan", n_neighbors=k).fit(X, Y), X_new, mulan.ml_knn(near, near_new, Y))


def test_regression_on_the_labels_of_neighbours():
    X, Y, X_new = problem()
    near, near_new = mulan.nearest(X, None, 10), mulan.nearest(X, X_new, 10)
    # Weka's regression has a ridge of 1e-8 on the squares, which is C = 5e7 here
    solver = {"C": 5e7, "tol": 1e-10, "max_iter": 1000, "solver": "newton-cholesky"}
    told, confidences = mulan.iblr(lambda: LogisticRegression(**solver), near, near_new, Y)
    model = IBLR.preset("mulan").fit(X, Y)
    assert np.array_equal(model.predict(X_new), told)
    np.testing.assert_allclose(model.predict_proba(X_new), confidences, atol=1e-3)


@each
def test_one_model_per_label(base):
    X, Y, X_new = problem()
    model = BinaryRelevance.preset("mulan", estimator=base()).fit(X, Y)
    expected = mulan.binary_relevance(base, X, Y, X_new)
    check(model, X_new, expected)
    assert (expected[1] == 0.5).any() == isinstance(base(), KNeighborsClassifier)


@each
@pytest.mark.parametrize("with_equal_labels", [False, True])
def test_pairs_of_labels(base, with_equal_labels):
    X, Y, X_new = problem()
    if with_equal_labels:  # no row has one of them alone
        Y[:, 4] = Y[:, 1]
    model = CalibratedLabelRanking.preset("mulan", estimator=base(), random_state=0).fit(X, Y)
    told, votes = mulan.label_ranking(base, X, Y, X_new)
    check(model, X_new, (told, votes), scores=False)
    # confidences of MULAN are shares of votes; ours add one half for the labels that are told
    np.testing.assert_allclose(
        model.predict_proba(X_new), ((6 * votes + 0.5) / 7 + told) / 2, atol=1e-9
    )


@each
def test_sets_of_labels(base):
    X, Y, X_new = problem()
    model = RAkEL.preset("mulan", estimator=base(), random_state=0).fit(X, Y)
    check(model, X_new, mulan.rakel(base, X, Y, X_new, model.labelsets_))


@each
@pytest.mark.parametrize("branching", [2, 4])
def test_clusters_of_labels(base, branching):
    X, Y, X_new = problem(n_labels=7)
    model = HOMER.preset("mulan", branching=branching, estimator=base(), random_state=0).fit(X, Y)
    tree = model.tree_
    expected = mulan.homer(base, X, Y, X_new, tree.groups, tree.parents)
    check(model, X_new, expected)
    rejected = ~expected[0] & (expected[1] > 0)
    assert rejected.any()  # the scores of clusters
