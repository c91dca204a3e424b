from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit, log_softmax, softmax
from tests.boosting.problems import DAG, dag_problem

import palmette as pm
from palmette.boosting._boost import scores_of
from palmette.boosting._path_scores import path_scores
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.metrics import hierarchical_f1_score

LOSSES = ("leaf_softmax", "path_softmax", "logistic", "exponential")


@pytest.fixture(scope="module")
def problem():
    bunch = pm.datasets.make_hierarchical_classification(
        n_samples=600, n_features=10, branching=(2, 3), class_sep=4.0, random_state=0
    )
    return bunch.X, bunch.y


def boosting(**parameters):
    return pm.HierarchicalBoostingClassifier(
        **{"n_bags": 1, "n_estimators": 40, "random_state": 0, **parameters}
    )


def test_it_learns(problem):
    X, y = problem
    clf = boosting().fit(X[:400], y[:400])
    assert hierarchical_f1_score(y[400:], clf.predict(X[400:])) > 0.9
    assert (np.diff(clf.train_loss_) < 0).all()


def test_the_first_loss_is_that_of_the_shares_of_labels(problem):
    X, y = problem
    clf = boosting(n_estimators=1).fit(X, y)
    _, counts = np.unique(["_".join(path) for path in y], return_counts=True)
    shares = counts / counts.sum()
    assert clf.train_loss_[0] == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-5)


def test_adding_rounds_is_as_never_having_stopped(problem):
    X, y = problem
    whole = boosting(n_estimators=12).fit(X, y)
    grown = boosting(n_estimators=5, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=12).fit(X, y)
    assert len(grown.rounds_) == 12
    np.testing.assert_allclose(grown.predict_proba(X), whole.predict_proba(X), rtol=1e-6)
    np.testing.assert_allclose(grown.train_loss_, whole.train_loss_, rtol=1e-6)


def test_without_warm_start_a_fit_begins_anew(problem):
    X, y = problem
    clf = boosting(n_estimators=5).fit(X, y).fit(X, y)
    assert len(clf.rounds_) == 5


def test_other_labels_cannot_be_added_to_a_warm_start(problem):
    X, y = problem
    clf = boosting(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(PalmetteError, match="warm_start"):
        clf.fit(X, [path[:1] for path in y])


def test_rounds_cannot_be_taken_away_by_a_warm_start(problem):
    X, y = problem
    clf = boosting(n_estimators=3, warm_start=True).fit(X, y)
    with pytest.raises(PalmetteError, match="n_estimators=2 is less than the 3 rounds"):
        clf.set_params(n_estimators=2).fit(X, y)


def test_seeds_matter_and_repeat(problem):
    X, y = problem
    one, again, other = (
        boosting(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_sparse_frames_and_arrays_give_the_same_model(problem):
    X, y = problem
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    expected = boosting().fit(X, y).predict_proba(X)
    scattered = sparse.csr_array(X)
    np.testing.assert_array_equal(boosting().fit(scattered, y).predict_proba(scattered), expected)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    np.testing.assert_array_equal(boosting().fit(frame, y).predict_proba(frame), expected)


def test_missing_values_tell_something():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(np.arange(200) % 2, "gone", "there")
    X[y == "gone", 0] = np.nan
    assert boosting(max_features=None).fit(X, y).score(X, y) == 1.0


def test_one_label_is_always_answered():
    clf = boosting().fit(np.zeros((3, 2)), ["only"] * 3)
    assert clf.predict(np.ones((2, 2))).tolist() == ["only", "only"]
    assert clf.rounds_ == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("learning_rate", 0.0),
        ("max_depth", 0),
        ("max_depth", 13),
        ("min_samples_leaf", 0),
        ("max_features", "log"),
        ("max_features", -1),
        ("max_bins", 256),
        ("thresholds", "worst"),
        ("n_bags", 0),
        ("n_bags", 1.5),
        ("loss", "hinge"),
        ("loss", ("leaf_softmax", "hinge")),
        ("loss", ()),
        ("loss", None),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(problem, name, value):
    with pytest.raises(PalmetteError, match=re.escape(f"{name}={value!r}: expected")):
        boosting(**{name: value}).fit(*problem)


def test_texts_are_refused():
    with pytest.raises(PalmetteError, match="numbers only"):
        boosting().fit(["red", "green"], ["a", "b"])
    with pytest.raises(PalmetteError, match="numbers only"):
        boosting().fit(pd.DataFrame({"colour": ["red", "green"]}), ["a", "b"])


def test_options_of_trees_reach_the_trees(problem):
    options = {"max_depth": 2, "max_features": 1, "min_samples_leaf": 30, "n_estimators": 20}
    clf = boosting(**options, thresholds="best").fit(*problem)
    for tree in clf.rounds_:
        assert len(tree.features) == 8
        assert tree.cover.min() >= 30
    unlike = {tree.features[1] for tree in clf.rounds_}
    assert len(unlike) > 5  # a feature drawn for each, not the best of all
    everything = boosting(**{**options, "max_features": None}, thresholds="best").fit(*problem)
    assert len({tree.features[1] for tree in everything.rounds_}) < len(unlike)


# ---------------------------------------------------------------------- losses


@pytest.mark.parametrize("loss", [*LOSSES, "auto", ("logistic", "path_softmax")])
def test_every_loss_learns(problem, loss):
    X, y = problem
    clf = boosting(loss=loss).fit(X[:400], y[:400])
    assert hierarchical_f1_score(y[400:], clf.predict(X[400:])) > 0.85
    assert (np.diff(clf.train_loss_) < 0).all()
    assert clf.train_loss_[-1] < 0.7 * clf.train_loss_[0]
    proba = clf.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("loss", ["auto", "logistic", "exponential", ("logistic", "exponential")])
@pytest.mark.parametrize("rule", ["all", "any"])
def test_several_paths_and_dags_are_learnt(loss, rule):
    X, y = dag_problem(600)
    clf = boosting(hierarchy=DAG, loss=loss, dag_rule=rule, n_estimators=60)
    clf.fit(X[:400], y[:400])
    found = clf.predict_node_sets(X[400:]).toarray()[:, 1:]
    truth = pm.NodeLabels.encode(y[400:], DAG).closed.toarray()[:, 1:]
    assert (found == truth).mean() > 0.75 > max((~truth).mean(), truth.mean())
    proba = clf.predict_proba(X)
    assert ((proba > 0) & (proba < 1)).all()


@pytest.mark.parametrize("loss", ["leaf_softmax", "path_softmax", ("logistic", "leaf_softmax")])
def test_a_softmax_is_for_one_path_a_row(loss):
    X, y = dag_problem()
    with pytest.raises(HierarchyError, match="HierarchicalBoostingClassifier"):
        boosting(hierarchy=DAG, loss=loss).fit(X, y)
    with pytest.raises(PalmetteError):
        boosting(loss=loss).fit(X[:2], [{"a", "b"}, {"c"}])


def test_by_itself_a_loss_is_chosen_by_the_labels(problem):
    X, y = problem
    sets = [{tuple(path), tuple(y[0])} for path in y]
    for labels, loss in [(y, "leaf_softmax"), (sets, "logistic")]:
        auto, named = (
            boosting(loss=each, n_estimators=3).fit(X, labels) for each in ("auto", loss)
        )
        assert np.array_equal(auto.predict_proba(X), named.predict_proba(X))


def test_probabilities_of_every_loss_follow_from_its_scores(problem):
    X, y = problem
    for loss in LOSSES:
        clf = boosting(loss=loss, n_estimators=5).fit(X, y)
        scores = scores_of(clf._samples(X), clf.rounds_, clf.start_)
        space = clf.space_
        paths = np.array([[node in above for node in space.nodes[1:]] for above in ancestors(clf)])
        expected = {
            "leaf_softmax": lambda s: softmax(s, axis=1),
            "path_softmax": lambda s, p=paths: softmax(s @ p.T, axis=1),
            "logistic": lambda s, p=paths: softmax(s @ p.T, axis=1),
            "exponential": lambda s, sp=space: softmax(2 * path_scores(s, sp), axis=1),
        }[loss](scores)
        expected = expected[:, clf._answers.class_order]
        np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=1e-6)


def ancestors(clf):
    """Nodes on the way to every class, itself among them."""
    return [set(clf.hierarchy_.closure[[node]].indices) for node in clf.space_.classes]


def test_independent_nodes_are_those_of_single_columns():
    X, y = dag_problem()
    clf = boosting(hierarchy=DAG, loss="logistic", n_estimators=4).fit(X, y)
    scores = scores_of(clf._samples(X), clf.rounds_, clf.start_)
    raw = expit(scores)
    proba = clf.predict_node_proba(X)[:, clf.nodes_]
    leaves = np.isin(clf.nodes_, DAG.leaves)
    limits = np.column_stack(
        [clf.predict_node_proba(X)[:, DAG.parents_of(int(n))].min(axis=1) for n in clf.nodes_]
    )
    assert (proba <= limits).all()
    untouched = leaves & (raw <= limits).all(axis=0)
    np.testing.assert_allclose(proba[:, untouched], raw[:, untouched], atol=1e-6)


# ---------------------------------------------------------------------- bags


def test_bags_average_log_probabilities(problem):
    X, y = problem
    clf = boosting(loss=("leaf_softmax", "path_softmax"), n_bags=2, n_estimators=6).fit(X, y)
    samples, space = clf._samples(X), clf.space_
    paths = np.array([[node in above for node in space.nodes[1:]] for above in ancestors(clf)])
    logs = []
    for member in range(4):
        of_labels = member < 2
        width = space.n_classes if of_labels else space.n_active - 1
        bounds = clf.rounds_[0].bounds
        assert bounds[member + 1] - bounds[member] == width
        scores = np.tile(clf.start_[bounds[member] : bounds[member + 1]].astype(float), (len(X), 1))
        for each in clf.rounds_:
            each.parts[member].add_scores(samples, scores)
        logs.append(log_softmax(scores if of_labels else scores @ paths.T, axis=1))
    expected = softmax(np.mean(logs, axis=0), axis=1)[:, clf._answers.class_order]
    np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=1e-6)
    assert not np.allclose(logs[0], logs[1])  # from seeds of their own


def test_bags_of_sets_average_probabilities():
    X, y = dag_problem()
    clf = boosting(hierarchy=DAG, n_bags=3, n_estimators=5).fit(X, y)
    scores = scores_of(clf._samples(X), clf.rounds_, clf.start_)
    expected = np.mean([expit(part) for part in np.split(scores, 3, axis=1)], axis=0)
    np.testing.assert_allclose(clf._node_proba_from(scores, 5), expected)


def test_the_accurate_preset_is_a_bag_of_two_and_two(problem):
    X, y = problem
    clf = pm.HierarchicalBoostingClassifier.preset("accurate", n_estimators=30, random_state=0)
    assert (clf.loss, clf.n_bags) == (("leaf_softmax", "path_softmax"), 2)
    clf.fit(X[:400], y[:400])
    assert len(clf.rounds_[0].parts) == 4
    assert hierarchical_f1_score(y[400:], clf.predict(X[400:])) > 0.9


def numbered(n_rows, n_classes=2):
    """Rows of one feature and their classes."""
    rows = np.arange(n_rows)
    return rows[:, None] % 7, (rows % n_classes).astype(str)


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "loss", "expected"),
    [
        (999, 2, "auto", 4),
        (1000, 2, "auto", 1),
        (300, 100, "auto", 4),
        (300, 101, "auto", 1),
        (300, 2, ("leaf_softmax", "path_softmax"), 2),
        (300, 2, LOSSES, 1),
    ],
)
def test_small_data_have_four_models(n_rows, n_classes, loss, expected):
    clf = boosting(n_bags="auto", n_estimators=1, loss=loss).fit(*numbered(n_rows, n_classes))
    assert clf.n_bags_ == expected


def test_copies_count_as_rows_in_the_number_of_bags():
    X, y = numbered(600)
    weights = np.where(np.arange(600) < 400, 2, 1)
    for given, expected in [(weights, 1), (2.5 * weights, 1), (np.full(600, 2.0), 4)]:
        assert boosting(n_bags="auto", n_estimators=1).fit(X, y, given).n_bags_ == expected


def test_four_bags_are_those_of_the_parameter(problem):
    X, y = problem
    expected = boosting(n_bags=4, n_estimators=5).fit(X, y).predict_proba(X)
    for n_jobs in (1, 3):
        clf = boosting(n_bags="auto", n_estimators=5, n_jobs=n_jobs).fit(X, y)
        assert np.array_equal(clf.predict_proba(X), expected)
    clf.set_params(n_bags=1)  # parameters are those of the next fit
    assert np.array_equal(clf.predict_proba(X), expected)


def test_a_warm_start_keeps_the_number_of_bags(problem):
    X, y = problem
    clf = boosting(n_bags="auto", n_estimators=2, warm_start=True).fit(X, y)
    clf.set_params(n_estimators=4).fit(np.vstack([X, X]), [*y, *y])
    assert (clf.n_bags_, len(clf.rounds_)) == (4, 4)
    with pytest.raises(PalmetteError, match="other columns than the model"):
        clf.set_params(n_bags=2, n_estimators=5).fit(X, y)


def test_models_of_folds_have_the_bags_of_the_model(monkeypatch):
    bunch = pm.datasets.make_hierarchical_classification(
        n_samples=1200, n_features=4, branching=(2, 2), random_state=0
    )
    found, choose = [], pm.HierarchicalBoostingClassifier._choose_size

    def note(clf, *arguments):
        choose(clf, *arguments)
        found.append(clf.n_bags_)

    monkeypatch.setattr(pm.HierarchicalBoostingClassifier, "_choose_size", note)
    boosting(n_bags="auto", n_estimators=1, decoding="marginal").fit(bunch.X, bunch.y)
    assert len(found) > 1
    assert set(found) == {1}


def test_files_hold_the_number_of_bags(problem, tmp_path):
    X, y = problem
    clf = boosting(n_bags="auto", n_estimators=2).fit(X, y)
    expected = clf.predict_proba(X)
    pm.save(clf, tmp_path / "new")
    assert np.array_equal(pm.load(tmp_path / "new").predict_proba(X), expected)
    for wrong in (3, 0, "auto", 10**9):
        clf.n_bags_ = wrong
        pm.save(clf, tmp_path / "wrong")
        with pytest.raises(PalmetteError, match="n_bags_ is not"):
            pm.load(tmp_path / "wrong")
    del clf.n_bags_  # as in earlier versions, where n_bags was a number
    pm.save(clf.set_params(n_bags=4), tmp_path / "old")
    old = pm.load(tmp_path / "old")
    assert np.array_equal(old.predict_proba(X), expected)
    assert old._decision_rule().temperature == 1.0  # its predictions do not change either


# ---------------------------------------------------------------------- rows


def test_some_of_the_rows_are_enough(problem):
    X, y = problem
    for n_bags in (1, 2):
        clf = boosting(subsample=0.5, n_bags=n_bags).fit(X[:400], y[:400])
        assert hierarchical_f1_score(y[400:], clf.predict(X[400:])) > 0.85


def test_a_weight_of_k_is_k_copies(problem):
    X, y = problem[0][:120], problem[1][:120]
    copies = np.random.default_rng(0).integers(0, 3, 120)
    again = np.repeat(np.arange(120), copies)
    for loss in LOSSES:
        one = boosting(loss=loss, n_estimators=15).fit(X, y, sample_weight=copies)
        other = boosting(loss=loss, n_estimators=15).fit(X[again], [y[i] for i in again])
        np.testing.assert_allclose(
            one.predict_proba(X), other.predict_proba(X), rtol=1e-4, atol=1e-6
        )


# ---------------------------------------------------------------------- real data


@pytest.mark.data
def test_diatoms_beats_a_forest(data_home):
    """300 rounds lie above the .646 that a random forest of 500 trees gives on these rows."""
    data = pm.datasets.fetch("diatoms")
    clf = pm.HierarchicalBoostingClassifier(data.hierarchy, n_estimators=300, random_state=0)
    clf.fit(data.X_train, data.y_train)
    score = hierarchical_f1_score(data.y_test, clf.predict(data.X_test), hierarchy=data.hierarchy)
    assert score > 0.66
