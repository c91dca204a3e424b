"""Local classifiers with several paths a row and in DAGs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.multipath.problems import DAG, TREE, dag_problem, tree_problem

from palmette import HierarchicalFeatureSelector, HierarchyError
from palmette.labels._labels import NodeLabels
from palmette.local import (
    FlatClassifier,
    LocalPerLevelClassifier,
    LocalPerNodeClassifier,
    LocalPerParentClassifier,
)

OF_BLOCKS = [FlatClassifier, LocalPerLevelClassifier, LocalPerParentClassifier]


@pytest.mark.parametrize("rule", ["all", "any"])
@pytest.mark.parametrize("negatives", ["siblings", "all"])
def test_a_node_is_told_from_the_rows_that_may_have_it(negatives, rule):
    X, y = dag_problem(noise=1.0)
    model = LocalPerNodeClassifier(
        GaussianNB(), negatives=negatives, dag_rule=rule, hierarchy=DAG, decoding=0.5
    ).fit(X, y)
    closed = NodeLabels.encode(y, DAG).closed.toarray()
    expected = np.ones((len(X), DAG.n_nodes))
    for node in range(1, DAG.n_nodes):
        parents = [p for p, c in DAG.edges.tolist() if c == node]
        has = closed[:, parents]
        below = has.all(axis=1) if rule == "all" else has.any(axis=1)
        rows = below if negatives == "siblings" else np.ones(len(X), dtype=bool)
        if not closed[rows, node].all():
            own = GaussianNB().fit(X[rows], closed[rows, node])
            expected[:, node] = own.predict_proba(X)[:, 1]
        if negatives == "siblings":
            above = expected[:, parents]
            expected[:, node] *= above.min(axis=1) if rule == "all" else above.max(axis=1)
    raw = model._node_proba_of(X)
    assert raw == pytest.approx(expected[:, model.nodes_], abs=1e-12)


def test_margins_serve_as_well():
    X, y = tree_problem(noise=0.1)
    model = LocalPerNodeClassifier(LinearSVC(), hierarchy=TREE).fit(X, y)
    assert model.several_paths_
    assert model.score(X, y) > 0.95


def test_jobs_change_nothing():
    X, y = tree_problem()
    one, two = (
        LocalPerNodeClassifier(LogisticRegression(), hierarchy=TREE, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    assert np.array_equal(one._node_proba_of(X), two._node_proba_of(X))


def test_estimators_may_be_chosen_by_node():
    X, y = tree_problem()
    chosen = {"a": GaussianNB(), "default": LogisticRegression()}
    model = LocalPerNodeClassifier(chosen, hierarchy=TREE).fit(X, y)
    kinds = {TREE.path_strings[node]: type(est) for node, est in model.estimators_.items()}
    assert kinds["a"] is GaussianNB
    assert kinds["a/b"] is LogisticRegression


def test_what_does_not_go_together_is_refused():
    X, y = tree_problem()
    with pytest.raises(HierarchyError, match="negatives"):
        LocalPerNodeClassifier(negatives="some", hierarchy=TREE).fit(X, y)


@pytest.mark.parametrize(("problem", "hierarchy"), [(tree_problem, TREE), (dag_problem, DAG)])
@pytest.mark.parametrize("kind", [LocalPerNodeClassifier, *OF_BLOCKS])
def test_features_are_selected_from_several_paths(kind, problem, hierarchy):
    X, y = problem(noise=0.1)
    selector = HierarchicalFeatureSelector(score="fisher", n_features_to_select=2)
    model = kind(GaussianNB(), feature_selector=selector, hierarchy=hierarchy).fit(X, y)
    assert model.feature_selector_.get_support().sum() < X.shape[1]
    for key, fitted in model.estimators_.items():
        if not isinstance(fitted, DummyClassifier):
            assert fitted.n_features_in_ == len(model._columns_of(key))
    proba = model.predict_node_proba(X)
    unused = np.flatnonzero(~model.feature_selector_.get_support())
    X[:, unused] = 7.0
    assert np.array_equal(model.predict_node_proba(X), proba)


# ---------------------------------------------------------------------- several labels at a time


def literal(kind, X, closed, labels):
    """Raw probabilities of all nodes, by Gaussian naive Bayes of every label by itself."""

    def one(node, rows):
        if closed[rows, node].all():
            return np.ones(len(X))
        return GaussianNB().fit(X[rows], closed[rows, node]).predict_proba(X)[:, 1]

    everything = np.ones(len(X), dtype=bool)
    proba = np.zeros((len(X), DAG.n_nodes))
    proba[:, 0] = 1.0
    for node in range(1, DAG.n_nodes):
        if kind is FlatClassifier:
            if node in labels:
                proba[:, node] = one(node, everything)
        elif kind is LocalPerLevelClassifier:
            proba[:, node] = one(node, everything)
        else:
            parents = [p for p, c in DAG.edges.tolist() if c == node]
            below = [proba[:, p] * one(node, closed[:, p]) for p in parents]
            proba[:, node] = np.mean(below, axis=0)
    return proba


@pytest.mark.parametrize("kind", OF_BLOCKS)
def test_labels_are_told_from_the_rows_of_their_block(kind):
    X, y = dag_problem(noise=1.0)
    model = kind(GaussianNB(), hierarchy=DAG).fit(X, y)
    labels = NodeLabels.encode(y, DAG)
    closed = labels.closed.toarray()
    closed[:, 0] = True
    expected = literal(kind, X, closed, set(labels.given.indices.tolist()))
    assert model._node_proba_of(X) == pytest.approx(expected[:, model.nodes_], abs=1e-12)
    kinds = {type(each) for each in model.estimators_.values()}
    assert kinds <= {GaussianNB, MultiOutputClassifier}


@pytest.mark.parametrize("kind", OF_BLOCKS)
@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(random_state=0),
        RidgeClassifier(),
        LinearSVC(),
        MLPClassifier((8,), max_iter=400, learning_rate_init=0.1, random_state=0),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators_of_several_labels_get_a_matrix(kind, estimator):
    X, y = tree_problem(noise=0.1)
    model = kind(estimator, hierarchy=TREE).fit(X, y)
    wrapped = isinstance(estimator, LinearSVC)
    for key, fitted in model.estimators_.items():
        several = len(model.label_nodes_[key]) > 1
        assert isinstance(fitted, MultiOutputClassifier) == (wrapped and several)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kind", OF_BLOCKS)
def test_weights_reach_the_last_step_of_a_pipeline(kind):
    X, y = tree_problem(noise=0.5)
    weights = np.arange(len(X)) % 3
    kept = np.repeat(np.arange(len(X)), weights)
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), GaussianNB())
    weighted = kind(pipeline, hierarchy=TREE).fit(X, y, sample_weight=weights)
    copied = kind(pipeline, hierarchy=TREE).fit(X[kept], [y[i] for i in kept])
    assert weighted._node_proba_of(X) == pytest.approx(copied._node_proba_of(X))


def test_one_label_per_row_of_a_dag_is_one_choice():
    X, y = dag_problem(noise=0.3)
    names = np.array([max(labels, default="x") for labels in y])
    model = FlatClassifier(GaussianNB(), hierarchy=DAG).fit(X, names)
    plain = GaussianNB().fit(X, names)
    expected = plain.predict_proba(X) @ DAG.closure[DAG.index(plain.classes_.tolist())].toarray()
    assert model.predict_node_proba(X)[:, 1:] == pytest.approx(expected[:, 1:])
    assert model.predict(X).tolist() == plain.predict(X).tolist()


def test_a_label_of_all_rows_is_certain():
    X, y = tree_problem()
    everywhere = [{*labels, ("e",)} for labels in y]
    for kind in OF_BLOCKS:
        model = kind(GaussianNB()).fit(X, everywhere)
        assert (model.predict_node_proba(X, nodes=[("e",)]) == 1.0).all()
