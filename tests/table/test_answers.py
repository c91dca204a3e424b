"""Answers with probabilities are those of the classifier's own methods."""

from __future__ import annotations

import numpy as np
import pytest

from palmette import decoding
from palmette.class_tree import MFTreeClassifier
from palmette.exceptions import PalmetteError
from palmette.local import FlatClassifier, LocalPerParentClassifier
from palmette.models import OverLabels
from palmette.table.answers import PathAnswers, gives_node_proba, node_proba, nodes_of

PATHS = [("a", "x"), ("a", "y"), ("b", "x"), ("b",), ("c",)]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = np.arange(100) % 5
    return rng.normal(size=(100, 5)) + 1.5 * np.eye(5)[codes], [PATHS[c] for c in codes]


@pytest.fixture(params=["flat", "local", "over labels"])
def fitted(request, rows):
    models = {
        "flat": FlatClassifier(),
        "local": LocalPerParentClassifier(),
        "over labels": OverLabels(MFTreeClassifier(decoding="best_path")),
    }
    return models[request.param].fit(*rows)


def test_decisions_are_those_of_predict(fitted, rows):
    X, _ = rows
    answers = PathAnswers(fitted, fitted.hierarchy_)
    proba = answers.class_proba(X)
    assert np.allclose(proba.sum(axis=1), 1)
    nodes = answers.nodes(X, proba)
    assert nodes.tolist() == nodes_of(fitted, X, fitted.hierarchy_).tolist()
    assert [fitted.hierarchy_.path(n) for n in nodes.tolist()] == list(fitted.predict(X))


def test_probabilities_are_those_of_nodes(fitted, rows):
    X, _ = rows
    h = fitted.hierarchy_
    answers = PathAnswers(fitted, h)
    proba = answers.class_proba(X)
    full = node_proba(fitted, X, h)
    assert np.allclose(answers.node_proba(proba), full)
    for node in range(h.n_nodes):
        found = answers.proba_of(proba, np.full(len(X), node, dtype=np.int32))
        assert np.allclose(found, full[:, node])


def test_sure_nodes_are_those_of_confident(rows):
    X, y = rows
    clf = LocalPerParentClassifier(decoding=decoding.Confident(0.7)).fit(X, y)
    answers = PathAnswers(clf, clf.hierarchy_)
    sure = answers.sure(answers.class_proba(X), 0.7)
    assert sure.tolist() == clf.predict_nodes(X).tolist()


def test_the_best_labels_come_first(fitted, rows):
    X, _ = rows
    answers = PathAnswers(fitted, fitted.hierarchy_)
    proba = answers.class_proba(X)
    nodes, values = answers.best(proba, 3)
    assert nodes.shape == values.shape == (100, 3)
    assert (np.diff(values, axis=1) <= 0).all()
    assert np.allclose(values[:, 0], proba.max(axis=1))


def test_a_model_without_probabilities_is_refused(rows):
    from sklearn.svm import LinearSVC

    clf = FlatClassifier(LinearSVC()).fit(*rows)
    assert not gives_node_proba(clf)
    with pytest.raises(PalmetteError, match="has no probabilities"):
        PathAnswers(clf, clf.hierarchy_)
