"""Scores of any estimator for the options of a task: probabilities, margins or bare answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import SVC, LinearSVC

from palmette.exceptions import PalmetteError
from palmette.local._tasks import Scores, gives_proba, option_scores

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.1, 0.1]] * 5)
THREE = np.array([3, 5, 9, 5] * 5)
TWO = np.array([3, 5, 3, 5] * 5)


class Sayer(ClassifierMixin, BaseEstimator):
    """Answers without any score."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[1])


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_probabilities_are_taken_as_they_are(y):
    model = LogisticRegression().fit(X, y)
    scores = option_scores(model, X, np.unique(y))
    assert not scores.are_margins
    assert np.array_equal(scores.shares(), model.predict_proba(X))


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("model", [LinearSVC(), RidgeClassifier(), SVC()], ids=str)
def test_margins_become_shares_that_sum_to_one_in_the_same_order(model, y):
    scores = option_scores(model.fit(X, y), X, np.unique(y))
    shares = scores.shares()
    assert scores.are_margins
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert np.array_equal(np.unique(y)[shares.argmax(axis=1)], model.predict(X))


def test_bare_answers_are_certain():
    shares = option_scores(Sayer().fit(X, THREE), X[:2], np.array([3, 5, 9])).shares()
    assert shares.tolist() == [[0.0, 1.0, 0.0]] * 2


def test_an_option_that_an_estimator_does_not_know_has_no_chance():
    options = np.array([1, 3, 5, 7])
    for model in (LogisticRegression(), LinearSVC(), Sayer()):
        shares = option_scores(model.fit(X, TWO), X, options).shares()
        assert shares.shape == (20, 4)
        assert (shares[:, [0, 3]] == 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_shares_among_some_options_keep_what_is_far_behind_in_order():
    margins = Scores(np.array([[0.0, -2000.0, -1000.0]]), are_margins=True)
    assert margins.shares().tolist() == [[1.0, 0.0, 0.0]]
    assert margins.among((slice(None), [1, 2])).tolist() == [[0.0, 1.0]]
    proba = Scores(np.array([[0.5, 0.125, 0.375]]), are_margins=False)
    assert proba.among((slice(None), [1, 2])).tolist() == [[0.25, 0.75]]


def test_margins_of_pairs_of_classes_are_refused():
    y = np.array([0, 1, 2, 3] * 5)
    model = SVC(decision_function_shape="ovo").fit(X, y)
    with pytest.raises(
        PalmetteError, match=r"6 columns for 4 classes.*decision_function_shape='ovr'"
    ):
        option_scores(model, X, np.arange(4))


def test_who_gives_probabilities():
    assert gives_proba(LogisticRegression())
    assert not gives_proba(LinearSVC())
    assert not gives_proba(SVC())
