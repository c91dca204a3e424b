from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.boosting.problems import tree_problem

import palmette as pm
from palmette.weak import StumpPerClass

X, PATHS = tree_problem(n_samples=120)
NAMES = np.array(["_".join(path) for path in PATHS])


def mh(**parameters):
    return pm.AdaBoostMHClassifier(**{"n_estimators": 30, **parameters})


def test_on_a_star_it_is_h_ada_mh():
    hierarchical = pm.HierarchicalAdaBoostClassifier(
        weak_learner="stump", learning_rate=1.0, n_estimators=30
    )
    one, other = mh().fit(X, NAMES), hierarchical.fit(X, NAMES)
    assert np.array_equal(one.edges_, other.edges_)
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.predict(X).tolist() == other.predict(X).tolist()


def test_on_a_tree_all_nodes_weigh_alike():
    uniform = pm.HierarchicalAdaBoostClassifier.preset("adaboost-mh", n_estimators=30)
    assert np.array_equal(mh().fit(X, PATHS).edges_, uniform.fit(X, PATHS).edges_)


@pytest.mark.parametrize(
    "learner", ["stump", "tree", "shared_tree", DecisionTreeClassifier(max_depth=2)]
)
def test_labels_are_told_apart(learner):
    clf = mh(weak_learner=learner, n_estimators=30, random_state=0).fit(X[:80], NAMES[:80])
    assert clf.score(X[80:], NAMES[80:]) > 0.3 > np.mean(NAMES[80:] == "b")


def test_several_labels_a_row():
    flags = (X[:, :3] > 0.3).astype(int)
    clf = mh().fit(X[:80], flags[:80])
    assert (clf.predict(X[80:]) == flags[80:]).mean() > 0.97
    sets = [{"abc"[k] for k in np.flatnonzero(row)} for row in flags]
    by_sets = mh().fit(X[:80], sets[:80])
    assert by_sets.predict(X[80:]) == [
        {"abc"[k] for k in np.flatnonzero(row)} for row in clf.predict(X[80:])
    ]


def test_a_training_error_of_zero_by_and_by():
    """With an edge every round the Hamming loss on training rows falls below any bound."""
    flags = (X[:, :3] > 0.3).astype(int)
    clf = mh(n_estimators=40).fit(X, flags)
    assert (clf.predict(X) == flags).all()
    assert (clf.edges_ > 0.05).all()


def test_a_third_of_every_coefficient():
    whole, third = (mh(learning_rate=rate, n_estimators=1).fit(X, NAMES) for rate in (1.0, 1 / 3))
    np.testing.assert_allclose(
        third.predict_node_scores(X), whole.predict_node_scores(X) / 3, rtol=1e-12
    )


def test_the_paper_is_a_preset():
    clf = pm.AdaBoostMHClassifier.preset("paper", n_estimators=5)
    assert isinstance(clf.weak_learner, StumpPerClass)
    assert np.array_equal(clf.fit(X, NAMES).edges_, mh(n_estimators=5).fit(X, NAMES).edges_)
