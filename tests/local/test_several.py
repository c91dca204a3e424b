"""A binary estimator at every node, with several paths a row and in DAGs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.multipath.problems import DAG, TREE, dag_problem, tree_problem

from palmette import HierarchicalFeatureSelector, HierarchyError, PalmetteError
from palmette.labels._labels import NodeLabels
from palmette.local import LocalPerNodeClassifier


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
    selector = HierarchicalFeatureSelector(score="fisher")
    with pytest.raises(PalmetteError, match="feature_selector"):
        LocalPerNodeClassifier(feature_selector=selector, hierarchy=TREE).fit(X, y)
    with pytest.raises(HierarchyError, match="negatives"):
        LocalPerNodeClassifier(negatives="some", hierarchy=TREE).fit(X, y)
