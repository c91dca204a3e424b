from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.boosting.problems import DAG, PATHS, dag_problem, tree_problem

import palmette as pm
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.metrics import hierarchical_f1_score
from palmette.weak import StumpPerClass, TreePerClass

X, Y = tree_problem(n_samples=160)
NAMES = np.array(["_".join(path) for path in Y])


def ecc(**parameters):
    return pm.AdaBoostECCClassifier(**{"n_estimators": 40, "random_state": 0, **parameters})


@pytest.mark.parametrize(
    "learner",
    ["tree", "stump", "shared_tree", DecisionTreeClassifier(max_depth=2), TreePerClass(2)],
    ids=repr,
)
def test_labels_are_told_apart(learner):
    clf = ecc(weak_learner=learner).fit(X[:120], NAMES[:120])
    assert clf.score(X[120:], NAMES[120:]) > 0.3 > np.mean(NAMES[120:] == "b")
    assert clf.train_loss_[0] == 1.0
    assert clf.train_loss_[-1] < 0.7
    assert ((clf.edges_ > 0) & (clf.edges_ <= 1)).all()


def test_paths_are_labels_and_answers_are_paths():
    clf = ecc(hierarchy=pm.Hierarchy.from_paths(PATHS)).fit(X, Y)
    assert set(clf.predict(X)) <= set(PATHS)
    assert hierarchical_f1_score(Y, clf.predict(X), hierarchy=clf.hierarchy_) > 0.7
    as_names = ecc().fit(X, NAMES)
    assert clf.predict(X) == [tuple(name.split("_")) for name in as_names.predict(X)]


def test_a_label_scores_the_votes_for_its_colours():
    clf = ecc().fit(X, NAMES)
    scores = np.zeros((len(X), 8))
    samples = clf._samples(X)
    for each in clf.rounds_:
        vote = np.zeros((len(X), 1))
        each.binary.add_scores(samples, vote)
        for label, colour in enumerate(each.code):
            scores[:, label] += vote[:, 0] * colour
    np.testing.assert_allclose(np.sort(clf.decision_function(X)), np.sort(scores))
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.sort(clf.predict_proba(X)), np.sort(proba))


def test_two_labels_are_one_binary_problem():
    y = np.array([path[0] in "ab" for path in Y])
    clf = ecc().fit(X, y)
    margin = clf.decision_function(X)
    assert margin.shape == (len(X),)
    assert np.array_equal(margin > 0, clf.predict(X))
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], 1 / (1 + np.exp(-margin)))


def test_a_weight_of_k_is_k_copies():
    copies = np.random.default_rng(0).integers(0, 3, len(X))
    again = np.repeat(np.arange(len(X)), copies)
    one = ecc(weak_learner="stump").fit(X, NAMES, sample_weight=copies)
    other = ecc(weak_learner="stump").fit(X[again], NAMES[again])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-9)


def test_several_paths_and_dags_are_refused():
    rows, sets = dag_problem()
    with pytest.raises(HierarchyError, match="AdaBoostECCClassifier"):
        ecc(hierarchy=DAG).fit(rows, sets)
    with pytest.raises(PalmetteError):
        ecc().fit(X[:2], [{"a", "b"}, {"c"}])


def test_a_share_of_every_vote_is_taken():
    whole, half = (
        ecc(weak_learner="stump", n_estimators=1, learning_rate=rate).fit(X, NAMES)
        for rate in (1.0, 0.5)
    )
    np.testing.assert_allclose(half.decision_function(X), whole.decision_function(X) / 2)


def test_the_paper_is_a_preset():
    clf = pm.AdaBoostECCClassifier.preset("paper", n_estimators=5, random_state=0).fit(X, NAMES)
    assert isinstance(clf.weak_learner, StumpPerClass)
    assert len(clf.rounds_) == 5
