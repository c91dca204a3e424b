"""AdaBoost.MH over copies of rows, beside our form and a slow one; a learner of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from palmette.boosting import AdaBoostMHClassifier
from palmette.weak import EstimatorPerClass
from papers.adaboost_bhc.copies import (
    CopiesAdaBoostMH,
    PairVotes,
    copies_methods,
    find_pair_growth,
    round_problems,
)
from papers.adaboost_bhc.outcome import Grid, make_clouds
from papers.cells import Cells


@pytest.fixture
def clouds():
    X, y = make_clouds(60, 4, n_features=3)
    return X + np.random.default_rng(1).normal(size=X.shape), y


def test_with_a_tree_a_class_it_is_our_form(clouds):
    """Trees that ask for the class first make one boosting algorithm of the two."""
    X, y = clouds
    copies = CopiesAdaBoostMH(None, 5, max_depth=1, first_asks_class=True, resample=False)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    ours = AdaBoostMHClassifier(weak_learner=EstimatorPerClass(tree), n_estimators=5)
    scores = list(copies.fit(X, y).staged_scores(X))[-1]
    assert len(copies.rounds_) == 5
    np.testing.assert_allclose(scores, ours.fit(X, y).decision_function(X), atol=1e-8)


def test_one_tree_is_grown_over_literal_copies(clouds):
    """Every pair of a row and a class is written down, with its weight and its sign."""
    X, y = clouds
    n, n_classes = len(y), 4
    rows = np.array([[*X[i], *(k == j for j in range(4))] for i in range(n) for k in range(4)])
    signs = np.array([1.0 if k == y[i] else -1.0 for i in range(n) for k in range(4)])
    weights = np.full(n * n_classes, 1 / (n * n_classes))
    scores = np.zeros(n * n_classes)
    for _ in range(3):
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        said = tree.fit(rows.astype(np.float32), signs, weights).predict(rows.astype(np.float32))
        edge = weights @ (signs * said)
        alpha = np.log((1 + edge + 1 / len(signs)) / (1 - edge + 1 / len(signs))) / 2
        weights *= np.exp(-alpha * signs * said)
        weights /= weights.sum()
        scores += alpha * said
    copies = CopiesAdaBoostMH(None, 3, max_depth=3, resample=False).fit(X, y)
    found = list(copies.staged_scores(X))[-1]
    np.testing.assert_allclose(found, scores.reshape(n, n_classes), rtol=1e-9)


def test_it_learns(clouds):
    X, y = clouds
    for method in copies_methods():
        fitted = method.make(4, 0, 1).fit(X, y)
        assert np.mean(fitted.predict(X) == y) > 0.8
        np.testing.assert_array_equal(fitted.predict(X), list(fitted.staged_predict(X))[-1])


def test_votes_of_all_pairs(clouds, monkeypatch):
    X, y = clouds
    signs = np.where(y < 2, 1.0, -1.0)
    width = X.std(axis=0).mean()
    apart = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    literal = [sum(np.exp(-row / (2 * width**2)) * signs) for row in apart]
    np.testing.assert_allclose(PairVotes().fit(X, signs).votes_, literal)
    monkeypatch.setattr("papers.adaboost_bhc.copies._CHUNK", 1)
    np.testing.assert_allclose(PairVotes().fit(X, signs).votes_, literal)


def test_problems_of_a_round(clouds):
    X, y = clouds
    (copies,) = round_problems("MH", X, y)
    assert copies[0].shape == (240, 7)
    assert (copies[1] > 0).sum() == 60
    rest = round_problems("MI", X, y)
    assert [int((signs > 0).sum()) for _, signs in rest] == [15] * 4
    ((_, half),) = round_problems("ECC", X, y)
    assert half.sum() == 0
    nodes = round_problems("BHC", X, y)
    assert len(nodes) == 3
    assert sorted(len(signs) for _, signs in nodes)[-1] == 60


def test_a_round_of_every_method_is_timed():
    grid = Grid((20, 40), (2, 4), 4, 40, n_repeats=1)
    found = find_pair_growth(Cells(None, {}), grid)
    assert [one.method for one in found] == ["MH", "MI", "ECC", "BHC"]
    assert all(len(one.by_rows) == len(one.by_classes) == 2 for one in found)
