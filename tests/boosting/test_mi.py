from __future__ import annotations

import numpy as np
import pytest
from tests.boosting.problems import tree_problem

import palmette as pm
from palmette.boosting._boost import scores_of
from palmette.weak import SharedTree, TreePerClass

X, PATHS = tree_problem(n_samples=120)
NAMES = np.array(["_".join(path) for path in PATHS])


def mi(**parameters):
    return pm.AdaBoostMIClassifier(**{"n_estimators": 25, "random_state": 0, **parameters})


def test_it_is_h_ada_mh_with_a_coefficient_for_every_class():
    same = pm.HierarchicalAdaBoostClassifier(
        weak_learner="stump",
        learning_rate=1.0,
        n_estimators=25,
        initial_weights="uniform",
        coefficient="per_class",
    )
    one, other = mi().fit(X, PATHS), same.fit(X, PATHS)
    assert np.array_equal(one.edges_, other.edges_)
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("learner", ["stump", TreePerClass(2, max_features=None)], ids=repr)
def test_a_label_is_learnt_whatever_the_others_are(learner):
    """Columns are independent: all but one may be shuffled."""
    rng = np.random.default_rng(0)
    flags = (X[:, :3] > 0.3) ^ (rng.random((len(X), 3)) < 0.1)
    other = flags.copy()
    other[:, 1:] = other[rng.permutation(len(X)), 1:]
    one, two = (mi(weak_learner=learner).fit(X, labels.astype(int)) for labels in (flags, other))
    raw = [scores_of(clf._samples(X), clf.rounds_, clf.start_) for clf in (one, two)]
    np.testing.assert_allclose(raw[0][:, 0], raw[1][:, 0], rtol=1e-9)
    assert not np.allclose(raw[0][:, 1], raw[1][:, 1])


def test_scores_of_labels_are_brought_to_one_scale():
    """Each is divided by the sum of its coefficients, so that all have the same range."""
    clf = mi().fit(X, NAMES)
    alphas = sum(np.abs(each.values).max(axis=1) for each in clf.rounds_)
    raw = scores_of(clf._samples(X), clf.rounds_, clf.start_)
    np.testing.assert_allclose(clf.predict_node_scores(X), raw / alphas * alphas.mean(), rtol=1e-9)
    assert np.abs(clf.predict_node_scores(X)).max() <= alphas.mean() * (1 + 1e-9)


def test_labels_are_told_apart():
    clf = mi(n_estimators=60).fit(X[:80], NAMES[:80])
    assert clf.score(X[80:], NAMES[80:]) > 0.3 > np.mean(NAMES[80:] == "b")
    shared = mi(weak_learner=SharedTree(4), n_estimators=60).fit(X[:80], NAMES[:80])
    assert shared.score(X[80:], NAMES[80:]) > 0.3


def test_a_label_that_is_learnt_at_once_does_not_stop_the_others():
    flags = np.column_stack([X[:, 0] > 0.3, np.random.default_rng(1).random(len(X)) < 0.5])
    clf = mi(n_estimators=200).fit(X, flags.astype(int))
    assert len(clf.rounds_) == 200
    assert np.isfinite(clf.predict_node_scores(X)).all()
    assert (clf.predict(X)[:, 0] == flags[:, 0]).all()
