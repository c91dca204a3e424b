"""FlatClassifier: the estimator itself, with probabilities summed up the tree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from palmette import FlatClassifier, decoding


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(random_state=0)], ids=str)
def test_it_answers_as_the_estimator_alone(three_levels, estimator):
    X, y = three_levels
    flat = FlatClassifier(estimator, decoding="best_path").fit(X, y)
    alone = estimator.fit(X, y[:, 2])
    assert flat.predict(X)[:, 2].tolist() == alone.predict(X).tolist()
    assert list(flat.estimators_) == [0]


def test_probabilities_are_those_of_the_estimator_and_nodes_sum_them(three_levels):
    X, y = three_levels
    flat = FlatClassifier(LogisticRegression()).fit(X, y)
    alone = LogisticRegression().fit(X, y[:, 2])
    np.testing.assert_allclose(flat.predict_proba(X), alone.predict_proba(X), rtol=1e-6)
    top = flat.predict_node_proba(X, nodes=["p"])[:, 0]
    np.testing.assert_allclose(top, flat.predict_proba(X)[:, :4].sum(axis=1))


def test_top_down_follows_the_heavier_branch(three_levels):
    X, y = three_levels
    flat = FlatClassifier(decoding="top_down").fit(X, y)
    nodes = flat.predict_node_proba(X, nodes=["p", "q"])
    assert flat.predict(X)[:, 0].tolist() == np.array(["p", "q"])[nodes.argmax(axis=1)].tolist()
    best = flat.set_params(decoding=decoding.BestPath()).predict(X)
    assert (best != flat.set_params(decoding="top_down").predict(X)).any()
