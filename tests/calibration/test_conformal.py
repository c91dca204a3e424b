"""ConformalHierarchicalClassifier: coverage, and how answers grow with it."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from tests.calibration.given_shares import LEAVES, TREE, GivenShares, draw
from tests.laws.problems import DAG, DAG_SETS, PATH_SETS, problem, several

import palmette as pm
from palmette.calibration import CalibratedHierarchicalClassifier, ConformalHierarchicalClassifier

COVERAGES = (0.5, 0.9)


def given(**parameters):
    """Return a classifier around shares that are rows, wrong by a power: the model boasts."""
    fitted = GivenShares().fit(None, None)
    return ConformalHierarchicalClassifier(fitted, method="prefit", hierarchy=TREE, **parameters)


def held(clf, X, y, coverage):
    """Whether nodes, and sets, hold the truth."""
    true = TREE.index(y.tolist())
    nodes = clf.predict_node_numbers(X, coverage)
    sets = clf.predict_set_nodes(X, coverage)
    below = (true >= nodes) & (true < TREE.subtree_end[nodes])
    return below, np.asarray(sets[np.arange(len(true)), true]).ravel()


# ---------------------------------------------------------------------- coverage


@pytest.mark.parametrize("set_score", ["lac", "aps"])
def test_the_truth_is_held_as_often_as_promised(set_score):
    n_rows, n_draws, n_new = 59, 80, 60
    rng = np.random.default_rng(0)
    found = np.zeros((n_draws, len(COVERAGES), 2))
    for i in range(n_draws):
        X, y = draw(n_rows, rng, power=0.5)
        clf = given(set_score=set_score).fit(X, y)
        shown, truth = draw(n_new, rng, power=0.5)
        for j, coverage in enumerate(COVERAGES):
            found[i, j] = [np.mean(right) for right in held(clf, shown, truth, coverage)]
    means, errors = found.mean(axis=0), found.std(axis=0) / np.sqrt(n_draws)
    for j, coverage in enumerate(COVERAGES):
        assert (means[j] > coverage - 3 * errors[j]).all()
    # sets of scores without ties hold no more than the next whole row allows
    assert means[1, 1] < 0.9 + 1 / (n_rows + 1) + 3 * errors[1, 1]


def test_cross_conformal_answers_hold_the_truth_about_as_often():
    rng = np.random.default_rng(1)
    found = []
    for seed in range(12):
        rows = rng.normal(size=(150, 3))
        y = np.array(LEAVES)[(rows @ [1.0, 0.5, 0] + rng.normal(size=150)).round().astype(int) % 6]
        clf = ConformalHierarchicalClassifier(
            GaussianNB(), method="cross", cv=3, hierarchy=TREE, random_state=seed
        ).fit(rows[:100], y[:100])
        found.append([np.mean(right) for right in held(clf, rows[100:], y[100:], 0.8)])
        assert len(clf.estimators_) == 3
        assert len(clf.calibration_scores_) == 100
    means, errors = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(12)
    assert (means > 0.8 - 3 * errors).all()


@pytest.mark.parametrize("control", ["row", "label"])
def test_several_labels_are_held_as_promised(control):
    rng = np.random.default_rng(2)
    kept = []
    for seed in range(12):
        X, y = several(PATH_SETS, n_each=30, seed=seed)
        base = pm.LocalPerNodeClassifier(GaussianNB())
        clf = ConformalHierarchicalClassifier(base, control=control, random_state=seed)
        order = rng.permutation(len(X))
        fitted, new = order[:150], order[150:]
        clf.fit(X[fitted], [y[i] for i in fitted])
        sets = clf.predict_set_nodes(X[new], 0.8).toarray()
        true = pm.NodeLabels.encode([y[i] for i in new], clf.hierarchy_).closed.toarray()
        true[:, 0] = False
        missed = (true & ~sets).sum(axis=1)
        share = 1 - missed / np.maximum(true.sum(axis=1), 1)
        kept.append(np.mean(missed == 0 if control == "row" else share))
    assert np.mean(kept) > 0.8 - 3 * np.std(kept) / np.sqrt(12)


# ---------------------------------------------------------------------- answers


@pytest.mark.parametrize("method", ["split", "cross"])
def test_answers_grow_with_the_coverage(method):
    X, y = problem(30)
    clf = ConformalHierarchicalClassifier(GaussianNB(), method=method, cv=3, random_state=0)
    clf.fit(X, y)
    h = clf.hierarchy_
    nodes = [clf.predict_node_numbers(X, c) for c in (0.3, 0.6, 0.8, 0.95)]
    sets = [clf.predict_set_nodes(X, c).toarray() for c in (0.3, 0.6, 0.8, 0.95)]
    for narrow, wide in pairwise(nodes):
        assert ((narrow >= wide) & (narrow < h.subtree_end[wide])).all()
    for narrow, wide in pairwise(sets):
        assert (narrow <= wide).all()
        assert narrow.any(axis=1).all()
    assert (h.depth[nodes[0]] > h.depth[nodes[-1]]).any()


def test_answers_worked_by_hand():
    # calibration rows: leaf 1 has 0.6 everywhere, and is true in three of four rows, else "c" is
    row = [0.6, 0.1, 0.1, 0.1, 0.05, 0.05]
    clf = given(coverage=0.7).fit(np.tile(row, (4, 1)), ["a/p/1", "a/p/1", "c", "a/p/1"])
    # strangeness of sets: 0.4 three times and 0.95; the fourth of five holds 0.8 at most
    assert clf.set_params(answer="set").quantile_ == pytest.approx(0.95)
    assert clf.set_params(answer="node").quantile_ == pytest.approx(0.8)  # of "a", without "c"
    assert clf.calibration_scores_.tolist() == pytest.approx([0, 0, 0, 0.8])
    asked = np.array([row])
    assert clf.predict_set(asked, 0.6) == [{"a/p/1"}]
    assert clf.predict_set(asked) == [set(LEAVES)]
    assert clf.predict_cover(asked) == [{"root"}]
    assert clf.predict_node(asked, 0.6).tolist() == ["a/p/1"]
    assert clf.predict_node(asked).tolist() == ["root"]
    assert clf.predict_careful(asked).tolist() == ["root"]
    sure = np.array([[0.9, 0.04, 0.03, 0.01, 0.01, 0.01]])
    assert clf.predict_node(sure).tolist() == ["a/p/1"]


def test_a_cover_says_the_same_as_its_set():
    X, y = problem(30)
    clf = ConformalHierarchicalClassifier(GaussianNB(), random_state=0).fit(X, y)
    h = clf.hierarchy_
    sets, covers = clf.predict_set(X, 0.95), clf.predict_cover(X, 0.95)
    for labels, nodes in zip(sets, covers, strict=True):
        assert len(nodes) <= len(labels)
        for label in labels:
            above = {h.path(int(n)) for n in h.ancestors(h.index(label), include_self=True)}
            assert len(above & nodes) == 1


def test_labels_that_the_model_never_saw_are_strange():
    X, y = problem()
    y[3] = ("once",)
    clf = ConformalHierarchicalClassifier(GaussianNB(), random_state=0).fit(X, y)
    assert ("once",) in clf.classes_.tolist()
    fitted = pm.FlatClassifier(GaussianNB(), hierarchy=clf.hierarchy_)
    fitted.fit(np.delete(X, 3, axis=0), [path for i, path in enumerate(y) if i != 3])
    clf = ConformalHierarchicalClassifier(fitted, method="prefit", answer="set").fit(X, y)
    assert clf.calibration_scores_[-1] == np.inf  # of the row that has it
    assert clf.predict_set(X[:1], 0.995) == [set(clf.classes_.tolist())]


def test_predictions_are_those_of_the_estimator():
    X, y = problem()
    base = pm.LocalPerParentClassifier(GaussianNB(), decoding=pm.decoding.Confident(0.7))
    clf = ConformalHierarchicalClassifier(base, random_state=0).fit(X, y)
    assert clf.predict(X) == clf.estimator_.predict(X)
    assert np.array_equal(clf.predict_node_proba(X), clf.estimator_.predict_node_proba(X))
    flat = ConformalHierarchicalClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert ["/".join(path) for path in flat.predict(X)] == flat.estimator_.predict(X).tolist()


def test_a_calibrated_classifier_may_be_wrapped():
    X, y = problem(30)
    wrapped = CalibratedHierarchicalClassifier(
        pm.LocalPerParentClassifier(GaussianNB()), cv=3, random_state=0
    )
    clf = ConformalHierarchicalClassifier(wrapped, random_state=0).fit(X, y)
    assert isinstance(clf.estimator_, CalibratedHierarchicalClassifier)
    again = pickle.loads(pickle.dumps(clf))
    assert again.predict_set(X) == clf.predict_set(X)
    assert again.predict_node(X) == clf.predict_node(X)


def test_a_learnt_hierarchy_is_that_of_the_rows_that_were_learnt():
    X, y = problem()
    names = np.array(["/".join(path) for path in y])
    base = pm.ClassTreeClassifier(router=GaussianNB(), random_state=0)
    clf = ConformalHierarchicalClassifier(base, random_state=0).fit(X, names)
    assert clf.hierarchy_ == clf.estimator_.hierarchy_
    assert len(clf.calibration_scores_) == 24
    assert clf.predict_node(X).shape == (96,)
    with pytest.raises(pm.PalmetteError, match="method='cross' needs one hierarchy"):
        clf.set_params(method="cross").fit(X, names)


# ---------------------------------------------------------------------- limits


def test_too_few_rows_answer_with_everything_and_say_so():
    X, y = draw(8, np.random.default_rng(0))
    with pytest.warns(UserWarning, match=r"8 calibration rows are too few for coverage=0.9: "):
        clf = given(coverage=0.9).fit(X, y)
    assert clf.quantile_ == np.inf
    assert clf.predict_node(X).tolist() == ["root"] * 8
    assert clf.predict_set(X) == [set(LEAVES)] * 8
    with pytest.warns(UserWarning, match=r"coverage=0.95: expected at least 19"):
        clf.predict_set(X, 0.95)
    assert clf.predict_node(X, 0.5).tolist() != ["root"] * 8


def test_weights_move_the_quantile():
    X, y = draw(200, np.random.default_rng(0))
    clf = given(answer="set").fit(X, y)
    strange = 1 - X[np.arange(200), [LEAVES.index(label) for label in y]]
    heavy = given(answer="set").fit(X, y, sample_weight=np.where(strange > 0.5, 5.0, 1.0))
    assert heavy.quantile_ > clf.quantile_
    same = given(answer="set").fit(X, y, sample_weight=np.full(200, 3.0))
    assert same.quantile_ == clf.quantile_


def test_what_several_paths_do_not_have_is_refused():
    X, y = several(DAG_SETS)
    base = pm.LocalPerNodeClassifier(GaussianNB(), hierarchy=DAG)
    clf = ConformalHierarchicalClassifier(base, random_state=0).fit(X, y)
    assert all(isinstance(labels, set) for labels in clf.predict_careful(X))
    for answer in (clf.predict_node, clf.predict_cover):
        with pytest.raises(pm.PalmetteError, match="Use predict_set"):
            answer(X)
    with pytest.raises(pm.PalmetteError, match="method='cross' is for one path per row"):
        clf.set_params(method="cross").fit(X, y)


def test_sets_of_several_paths_are_coherent():
    X, y = several(DAG_SETS)
    base = pm.LocalPerNodeClassifier(GaussianNB(), hierarchy=DAG)
    clf = ConformalHierarchicalClassifier(base, random_state=0).fit(X, y)
    sets = clf.predict_set_nodes(X).toarray()
    sets[:, 0] = True
    for node in range(1, DAG.n_nodes):
        assert (sets[:, [node]] <= sets[:, DAG.parents_of(node)]).all()


def test_mistakes_are_named():
    X, y = problem()
    for parameters, message in [
        ({"coverage": 1.0}, "coverage=1.0: expected a probability"),
        ({"answer": "leaf"}, "answer='leaf' is unknown: expected one of node, set"),
        ({"method": "jackknife"}, "method='jackknife' is unknown"),
        ({"set_score": "raps"}, "set_score='raps' is unknown"),
        ({"control": "all"}, "control='all' is unknown"),
        ({"calibration_size": 2.5}, "calibration_size=2.5: expected a share"),
        ({"calibration_size": 96}, "leaves none of the n_samples=96 rows"),
        ({"method": "cross", "cv": 1}, "expected at least 2 folds"),
    ]:
        with pytest.raises(pm.PalmetteError, match=message):
            ConformalHierarchicalClassifier(GaussianNB(), **parameters).fit(X, y)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = ConformalHierarchicalClassifier().quantile_
