"""AdaBoost.BHC: decisions, stages, weights, unusual input."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

import palmette as pm
from palmette.class_tree import BHCTree, RandomTree
from palmette.class_tree._adaboost_bhc import AdaBoostBHCClassifier
from palmette.exceptions import LabelError, PalmetteError

X, Y = load_digits(return_X_y=True)
X, Y, X_TEST, Y_TEST = X[:500], Y[:500], X[500:1100], Y[500:1100]

MODELS = {
    "signs": {"decoding": "greedy"},
    "soft": {},
    "beam": {"decoding": "beam", "beam_width": 3},
    "three trees": {"tree": RandomTree(), "n_trees": 3, "decoding": "exact"},
    "three trees by signs": {"tree": RandomTree(), "n_trees": 3, "decoding": "greedy"},
    "a wide tree": {"tree": RandomTree(4, leaf_size=3), "decoding": "exact"},
}


def bhc(**parameters):
    return AdaBoostBHCClassifier(**{"n_estimators": 12, "random_state": 0, **parameters})


@cache
def fitted(name):
    """Return a model for tests that only read it."""
    return bhc(**MODELS[name]).fit(X, Y)


# ---------------------------------------------------------------------- decisions


def follow_signs(clf, rows):
    """Follow the sign of the mean vote from the root; the first of two options is positive."""
    (member,) = clf.estimators_
    table, routes = member.options_, member.routes_
    codes, labels = routes.prepare(rows), []
    for row in range(len(rows)):
        node, label = 0, -1
        while label < 0:
            (model,) = routes.models[node]
            vote = model.scores(codes, np.array([row], dtype=np.int32))[0]
            option = table.first[node] + (0 if vote >= 0 else 1)
            node, label = int(table.targets[option]), int(table.ends[option])
        labels.append(clf.hierarchy_.names[clf.space_.classes[label]])
    return np.array(labels)


def test_hard_decisions_follow_signs():
    clf, rows = fitted("signs"), X_TEST[:200]
    assert np.array_equal(clf.predict(rows), follow_signs(clf, rows))
    assert (np.diff(clf.estimators_[0].options_.first) == 2).all()
    assert isinstance(clf.hierarchy_learner_, BHCTree)


def test_soft_decisions_are_products_along_paths():
    clf = bhc(decoding="exact", calibration=None).fit(X, Y)
    h = clf.hierarchy_
    (member,) = clf.estimators_
    table, routes = member.options_, member.routes_
    codes, product = routes.prepare(X_TEST), np.ones((len(X_TEST), len(clf.classes_)))
    for node in range(table.n_nodes):
        share = 1 / (1 + np.exp(-4.0 * routes.models[node][0].scores(codes)))
        for option, chance in zip(
            range(*table.first[node : node + 2]), (share, 1 - share), strict=True
        ):
            below = h.names[clf.space_.classes[table.below[[option]].indices]]
            product[:, np.searchsorted(clf.classes_, below)] *= chance[:, None]
    np.testing.assert_allclose(clf.predict_proba(X_TEST), product, rtol=1e-9)
    assert np.array_equal(clf.predict(X_TEST), clf.classes_[product.argmax(axis=1)])
    full = bhc(decoding="beam", beam_width=10).fit(X, Y)
    assert np.array_equal(full.predict(X_TEST), clf.predict(X_TEST))


def test_several_trees_are_the_mean_of_each():
    clf = bhc(tree=RandomTree(), n_trees=3, decoding="exact", calibration=None).fit(X, Y)
    each = [member.predict_proba(X_TEST) for member in clf.estimators_]
    np.testing.assert_allclose(clf.predict_proba(X_TEST), np.mean(each, axis=0))
    shapes = {member.hierarchy_ for member in clf.estimators_}
    assert len(shapes) == 3
    assert clf.score(X_TEST, Y_TEST) > max(each.score(X_TEST, Y_TEST) for each in clf.estimators_)


@pytest.mark.parametrize("name", MODELS)
def test_digits_are_told_apart(name):
    clf = bhc(**MODELS[name], n_estimators=40).fit(X, Y)
    single = DecisionTreeClassifier(random_state=0).fit(X, Y)
    assert clf.score(X_TEST, Y_TEST) > single.score(X_TEST, Y_TEST) + 0.05
    proba = clf.predict_proba(X_TEST)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert clf.predict_top_k(X_TEST, 2)[1].shape == (len(X_TEST), 2)


def test_calibration_changes_no_decision_and_makes_probabilities_likelier():
    models = {
        power: bhc(tree=RandomTree(), n_trees=2, decoding="exact", calibration=power).fit(X, Y)
        for power in (None, 2.0, "out_of_fold")
    }
    assert [clf.exponent_ for clf in models.values()][:2] == [1.0, 2.0]
    losses = {power: log_loss(Y_TEST, clf.predict_proba(X_TEST)) for power, clf in models.items()}
    assert losses["out_of_fold"] < 0.8 * losses[None]
    for clf in models.values():
        assert np.array_equal(clf.predict(X_TEST), models[None].predict(X_TEST))


# ---------------------------------------------------------------------- stages


@pytest.mark.parametrize("name", MODELS)
def test_stages_are_shorter_fits_and_the_last_is_the_whole(name):
    clf = fitted(name)
    stages = list(clf.staged_predict(X_TEST))
    assert len(stages) == 12
    assert np.array_equal(stages[-1], clf.predict(X_TEST))
    shorter = bhc(**MODELS[name], n_estimators=4)
    assert np.array_equal(stages[3], shorter.fit(X, Y).predict(X_TEST))


def test_stages_by_other_rules_and_in_the_form_of_y():
    frame = pd.DataFrame(X_TEST, index=[f"row {i}" for i in range(len(X_TEST))])
    rule = pm.decoding.MinExpectedLoss("hierarchical_f1", candidates="classes")
    clf = bhc(decoding=rule).fit(pd.DataFrame(X), pd.Series(Y, name="digit"))
    *_, last = clf.staged_predict(frame)
    assert last.equals(clf.predict(frame))


# ---------------------------------------------------------------------- what changes nothing


@pytest.mark.parametrize("name", ["signs", "three trees"])
def test_threads_change_nothing(name):
    one, other = fitted(name), bhc(**MODELS[name], n_jobs=3).fit(X, Y)
    assert one.n_jobs in (None, 1)
    assert np.array_equal(one.predict_proba(X_TEST), other.predict_proba(X_TEST))
    assert np.array_equal(one.predict(X_TEST), other.predict(X_TEST))


@pytest.mark.parametrize("name", ["signs", "three trees"])
def test_a_weight_of_k_is_k_copies_and_of_zero_is_none(name):
    times = np.random.default_rng(0).integers(0, 3, len(X))
    times[Y == 9] = 0
    copies = np.repeat(np.arange(len(X)), times)
    weighted = bhc(**MODELS[name]).fit(X, Y, sample_weight=times)
    repeated = bhc(**MODELS[name]).fit(X[copies], Y[copies])
    assert weighted.classes_.tolist() == list(range(9))
    np.testing.assert_allclose(
        weighted.predict_proba(X_TEST), repeated.predict_proba(X_TEST), atol=1e-6
    )


def test_sparse_rows_and_frames_are_dense_rows():
    clf = fitted("soft")
    thin = bhc().fit(sparse.csr_array(X), Y)
    frame = bhc().fit(pd.DataFrame(X), pd.Series(Y.astype(str)))
    assert np.array_equal(clf.predict(X_TEST), thin.predict(sparse.csr_array(X_TEST)))
    assert frame.predict(pd.DataFrame(X_TEST)).astype(int).tolist() == clf.predict(X_TEST).tolist()


def test_a_given_tree_is_used_and_paths_are_one():
    h = pm.Hierarchy.from_paths([("even", d) if d % 2 == 0 else ("odd", d) for d in range(10)])
    given = bhc(tree=h).fit(X, Y)
    paths = bhc().fit(X, [("even" if d % 2 == 0 else "odd", int(d)) for d in Y])
    assert given.hierarchy_ is h
    assert given.predict(X_TEST).tolist() == [path[1] for path in paths.predict(X_TEST)]
    assert sorted(len(m) for m in given.estimators_[0].routes_.models.values()) == [1, 5, 5]


# ---------------------------------------------------------------------- hard input


def test_one_class_needs_a_tree():
    with pytest.raises(PalmetteError, match="one class only"):
        bhc().fit(X, np.zeros(len(X)))
    clf = bhc(tree=pm.Hierarchy.star(["a", "b"])).fit(X, ["a"] * len(X))
    assert set(clf.predict(X_TEST)) == {"a"}
    assert [set(stage) for stage in clf.staged_predict(X_TEST)] == [{"a"}] * 12


def test_two_classes_are_one_problem():
    two = Y < 2
    clf = bhc().fit(X[two], Y[two])
    assert len(clf.estimators_[0].routes_.models) == 1
    test = Y_TEST < 2
    assert clf.score(X_TEST[test], Y_TEST[test]) > 0.97


@pytest.mark.parametrize("name", ["signs", "three trees"])
def test_a_class_of_one_row_and_constant_features(name):
    rows = np.r_[np.flatnonzero(Y != 3), np.flatnonzero(Y == 3)[:1]]
    some = X[rows].copy()
    some[:, :10] = 1.0
    clf = bhc(**MODELS[name]).fit(some, Y[rows])
    assert clf.classes_.tolist() == list(range(10))
    assert np.isfinite(clf.predict_proba(X_TEST)).all()
    out_of_fold = bhc(calibration="out_of_fold", **MODELS[name]).fit(some, Y[rows])
    assert np.isfinite(out_of_fold.predict_proba(X_TEST)).all()


def test_rows_that_cannot_be_told_apart():
    clf = bhc(tree=RandomTree(), resample=False).fit(np.zeros((8, 2)), np.arange(8) % 4)
    np.testing.assert_allclose(clf.predict_proba(np.zeros((1, 2))), 0.25)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_trees": 0}, "n_trees=0"),
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"calibration": -1.0}, "calibration=-1.0"),
        ({"calibration": "soft", "n_trees": 2}, "calibration='soft'"),
        ({"decoding": "hard"}, "hard"),
        ({"tree": "bhc"}, "tree is a str"),
        ({"beam_width": 0}, "beam_width=0"),
    ],
)
def test_invalid_parameters_raise_an_error(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        bhc(**parameters).fit(X, Y).predict(X)


# ---------------------------------------------------------------------- presets


def test_presets():
    paper = AdaBoostBHCClassifier.preset("paper")
    assert paper.tree.start == "first_class"
    assert (paper.n_estimators, paper.max_features, paper.decoding) == (100, None, "greedy")
    ensemble = AdaBoostBHCClassifier.preset("ensemble", n_estimators=10, random_state=1)
    assert ensemble.n_trees > 1
    assert ensemble.fit(*load_iris(return_X_y=True)).score(*load_iris(return_X_y=True)) > 0.95
    assert clone(ensemble).get_params()["n_estimators"] == 10


def test_several_paths_are_refused_in_the_words_of_the_others():
    """No router is named: users do not pass one."""
    X, sets = [[0.0], [1.0], [2.0], [3.0]], [{"a", "b"}, {"a"}, {"b"}, {"a"}]
    with pytest.raises(LabelError, match="AdaBoostBHCClassifier needs one path per row") as raised:
        AdaBoostBHCClassifier(n_estimators=2).fit(X, sets)
    assert "1 of 4 rows" in str(raised.value)
    assert "router" not in str(raised.value)
