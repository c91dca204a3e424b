"""CalibratedHierarchicalClassifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from tests.calibration.given_shares import LEAVES, TREE, GivenShares, draw
from tests.laws.problems import DAG, DAG_SETS, PATHS, problem, several

import palmette as pm
from palmette.calibration import CalibratedHierarchicalClassifier as Calibrated
from palmette.calibration import ConformalHierarchicalClassifier as Conformal
from palmette.metrics import expected_calibration_error, level_confidences

METHODS = ("isotonic", "sigmoid", "temperature")


def errors(clf, X, y):
    proba = clf.predict_node_proba(X)
    answers = level_confidences(y, proba, hierarchy=clf.hierarchy_)
    return np.array([expected_calibration_error(*answer) for answer in answers.values()])


@pytest.mark.parametrize("method", METHODS)
def test_boasting_and_shy_models_become_honest(method):
    rng = np.random.default_rng(0)
    for power in (0.4, 2.5):
        X, y = draw(3000, rng, power)
        shown, truth = draw(3000, rng, power)
        fitted = GivenShares().fit(X, y)
        plain = Conformal(fitted, method="prefit", hierarchy=TREE).fit(X, y)  # as it is
        clf = Calibrated(GivenShares(), method=method, hierarchy=TREE, random_state=0).fit(X, y)
        before, after = errors(plain, shown, truth), errors(clf, shown, truth)
        assert before[:2].min() > 0.1
        assert after.max() < 0.4 * before.max()


@pytest.mark.parametrize("method", METHODS)
def test_children_sum_to_their_parent(method):
    X, y = problem()
    clf = Calibrated(GaussianNB(), method=method, random_state=0).fit(X, y)
    h, proba = clf.hierarchy_, clf.predict_node_proba(X)
    ends = dict(zip(clf.classes_.tolist(), clf.predict_proba(X).T, strict=True))
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)
    for node in np.flatnonzero(~h.is_leaf):
        below = proba[:, h.children(int(node))].sum(axis=1) + ends.get(h.path(int(node)), 0.0)
        np.testing.assert_allclose(proba[:, node], below, atol=1e-12)


def test_scores_are_never_those_of_rows_that_were_learnt():
    class Remembering(GivenShares):
        """Certain of the rows that it has seen, and clueless about others."""

        def fit(self, X, y, sample_weight=None):
            self.seen_ = {tuple(row): label for row, label in zip(X.tolist(), y, strict=True)}
            return super().fit(X, y)

        def predict_proba(self, X):
            own = [self.seen_.get(tuple(row)) for row in np.asarray(X).tolist()]
            return np.array(
                [
                    [1 / 6] * 6 if name is None else [float(leaf == name) for leaf in LEAVES]
                    for name in own
                ]
            )

    X, y = draw(400, np.random.default_rng(0))
    clf = Calibrated(Remembering(), method="temperature", hierarchy=TREE, random_state=0)
    clf.fit(X, y)
    # all shares that were judged are those of the clueless: with those of its own rows, which are
    # always right, powers would be high
    assert clf.predict_proba(X[:5] + 1.0).max() < 0.25


def test_margins_become_probabilities():
    X, y = problem(40)
    clf = Calibrated(pm.LocalPerParentClassifier(LinearSVC()), random_state=0).fit(X, y)
    plain = pm.LocalPerParentClassifier(LinearSVC()).fit(X, y)
    assert not hasattr(plain, "predict_proba")
    fresh, truth = problem(40, seed=0)
    assert errors(clf, fresh, truth).max() < 0.1
    assert clf.score(X, y) > plain.score(X, y) - 0.05


def test_texts_and_tables_go_through():
    texts = ["cat dog", "cat", "dog cat cat", "oak tree", "oak", "tree oak oak"] * 4
    y = [("animal", "cat")] * 3 + [("plant", "oak")] * 3
    pipe = make_pipeline(TfidfVectorizer(), pm.LocalPerParentClassifier(LogisticRegression()))
    clf = Calibrated(pipe, cv=3, random_state=0).fit(texts, y * 4)
    assert clf.predict(["cat", "oak tree"]) == [("animal", "cat"), ("plant", "oak")]
    X, paths = problem()
    frame = pd.DataFrame(X, columns=list("pqrs"))
    by_frame = Calibrated(GaussianNB(), random_state=0).fit(frame, paths)
    by_array = Calibrated(GaussianNB(), random_state=0).fit(X, paths)
    assert by_frame.feature_names_in_.tolist() == list("pqrs")
    assert np.array_equal(by_frame.predict_proba(frame), by_array.predict_proba(X))


def test_a_fitted_estimator_is_calibrated_as_it_is():
    X, y = problem(30)
    fitted = pm.FlatClassifier(GaussianNB()).fit(X[::2], y[::2])
    keep = [path != ("c",) for path in y]
    rows = [i for i in range(1, len(X), 2) if keep[i]]
    clf = Calibrated(fitted, cv="prefit", method="temperature")
    clf.fit(X[rows], [y[i] for i in rows])
    assert clf.estimator_ is fitted
    assert clf.hierarchy_ == fitted.hierarchy_
    assert clf.classes_.tolist() == fitted.classes_.tolist()  # ("c",) is not forgotten
    assert clf.score(X, y) > 0.6
    names = np.array(["/".join(path) for path in y])
    flat = GaussianNB().fit(X[::2], names[::2])
    clf = Calibrated(flat, cv="prefit", hierarchy=pm.Hierarchy.from_paths(PATHS))
    assert clf.fit(X[1::2], names[1::2]).predict_node_proba(X, nodes=["a"]).max() > 0.9


def test_a_learnt_hierarchy_is_kept():
    X, y = problem()
    names = np.array(["/".join(path) for path in y])
    for estimator in (
        pm.ClassTreeClassifier(router=GaussianNB(), random_state=0),
        pm.LocalPerParentClassifier(GaussianNB(), hierarchy=pm.MFTree()),
    ):
        clf = Calibrated(estimator, cv=3, random_state=0).fit(X, names)
        assert clf.hierarchy_ == clf.estimator_.hierarchy_
        assert clf.hierarchy_.n_nodes > 9  # more than a star
        assert clf.score(X, names) > 0.7
    with pytest.raises(pm.LabelError, match="one label per row"):
        Calibrated(pm.MFTreeClassifier()).fit(X, y)
    paths = Calibrated(pm.ClassTreeClassifier(router=GaussianNB()), cv=3).fit(X, y)
    assert paths.hierarchy_.path_strings.tolist() != clf.hierarchy_.path_strings.tolist()
    assert "a/y/deep" in paths.hierarchy_


@pytest.mark.parametrize("method", METHODS)
def test_several_paths_in_a_dag_stay_coherent(method):
    X, y = several(DAG_SETS, n_each=20)
    base = pm.LocalPerNodeClassifier(GaussianNB(), hierarchy=DAG)
    clf = Calibrated(base, method=method, random_state=0).fit(X, y)
    proba = clf.predict_node_proba(X)
    for node in range(1, DAG.n_nodes):
        assert (proba[:, [node]] <= proba[:, DAG.parents_of(node)]).all()
    fresh, labels = several(DAG_SETS, n_each=20, seed=0)
    plain = clone(base).fit(X, y)
    true = pm.NodeLabels.encode(labels, DAG).closed.toarray()[:, 1:]
    after, before = (
        expected_calibration_error(true, model.predict_node_proba(fresh)[:, 1:])
        for model in (clf, plain)
    )
    assert after < before


def test_any_splitter_and_rare_labels_will_do():
    X, y = problem()
    y[0] = ("once",)
    clf = Calibrated(GaussianNB(), cv=KFold(4), random_state=0).fit(X, y)
    assert ("once",) in clf.classes_.tolist()
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)


def test_a_weight_of_k_is_k_copies_in_the_same_folds():
    X, y = problem()
    weights = np.arange(len(X)) % 3
    copies = np.repeat(np.arange(len(X)), weights)
    fold = np.arange(len(X)) // 2 % 3
    splits = [
        [(np.flatnonzero(each != i), np.flatnonzero(each == i)) for i in range(3)]
        for each in (fold, fold[copies])
    ]
    for method in METHODS:
        weighted, repeated = (Calibrated(GaussianNB(), method=method, cv=each) for each in splits)
        weighted.fit(X, y, sample_weight=weights)
        repeated.fit(X[copies], [y[i] for i in copies])
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_mistakes_are_named():
    X, y = problem()
    h = pm.Hierarchy.from_paths(PATHS)
    for clf, message in [
        (Calibrated(method="platt"), "method='platt' is unknown: expected one of isotonic"),
        (Calibrated(cv=1), "expected at least 2 folds"),
        (Calibrated(cv=200), "cv=200 folds, but n_samples=96 rows"),
        (Calibrated("svm"), "expected a classifier"),
        (Calibrated(pm.MFTreeClassifier(), hierarchy=h), "expected only one of them"),
        (Calibrated(GaussianNB(), cv="prefit"), "GaussianNB has no classes_"),
    ]:
        with pytest.raises(pm.PalmetteError, match=message):
            clf.fit(X, y)
