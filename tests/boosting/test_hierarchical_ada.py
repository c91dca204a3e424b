"""H-Ada.MH as users see it: options, decisions, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.boosting.problems import DAG, PATHS, dag_problem, signs_of, tree_problem

import palmette as pm
from palmette.boosting._boost import scores_of
from palmette.decisions._losses import hierarchical_costs
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.metrics import hierarchical_f1_score
from palmette.weak import SharedTree, StumpPerClass, TreePerClass

X, Y = tree_problem(n_samples=160)
TREE = pm.Hierarchy.from_paths(PATHS)


def ada(**parameters):
    return pm.HierarchicalAdaBoostClassifier(
        **{"n_estimators": 15, "random_state": 0, **parameters}
    )


def stumps(**parameters):
    return ada(**{"weak_learner": "stump", "learning_rate": 1.0, **parameters})


def quietly(fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a mask left no edge
        return fit()


# ---------------------------------------------------------------------- learning


@pytest.mark.parametrize(
    "parameters",
    [
        {"learning_rate": 1.0},
        {"weak_learner": "stump", "learning_rate": 1.0},
        {"weak_learner": "tree", "learning_rate": 1.0},
        {"weak_learner": "stump", "mask": "search", "coefficient": "per_class"},
        {"weak_learner": SharedTree(4, votes="sign"), "learning_rate": 1.0},
        {"weak_learner": RandomForestClassifier(3, max_depth=3), "n_estimators": 3},
    ],
    ids=repr,
)
def test_every_variant_learns(parameters):
    rows, labels = tree_problem(600)
    clf = ada(**{"n_estimators": 40, **parameters}).fit(rows[:400], labels[:400])
    assert hierarchical_f1_score(labels[400:], clf.predict(rows[400:])) > 0.6
    assert hierarchical_f1_score(labels[400:], [("a", "y", "p")] * 200) < 0.4


def test_several_paths_and_dags_are_learnt():
    rows, sets = dag_problem(600)
    for rule in ("all", "any"):
        clf = ada(hierarchy=DAG, n_estimators=60, dag_rule=rule).fit(rows[:400], sets[:400])
        found = clf.predict_node_sets(rows[400:]).toarray()[:, 1:]
        truth = pm.NodeLabels.encode(sets[400:], DAG).closed.toarray()[:, 1:]
        assert (found == truth).mean() > 0.75 > max((~truth).mean(), truth.mean())


def test_the_loss_is_bounded_by_the_product_of_what_the_edges_leave():
    """With signs, and one coefficient a round, a round leaves about sqrt(1 - r ** 2)."""
    clf = stumps().fit(X, Y)
    bound = np.cumprod(np.sqrt(1 - clf.edges_**2))[:-1]
    np.testing.assert_allclose(clf.train_loss_[1:], bound, rtol=1e-2)
    assert clf.train_loss_[0] == pytest.approx(1.0)


def test_losses_are_those_of_the_scores():
    for coefficient in ("global", "per_class"):
        long = stumps(coefficient=coefficient).fit(X, Y)
        short = stumps(coefficient=coefficient, n_estimators=14).fit(X, Y)
        raw = scores_of(short._samples(X), short.rounds_, short.start_)
        costs = hierarchical_costs(TREE, nodes=short.nodes_)[short.nodes_]
        loss = (np.exp(-signs_of(short, Y) * raw) @ costs).mean()
        assert long.train_loss_[-1] == pytest.approx(loss)


def test_a_weight_of_k_is_k_copies():
    copies = np.random.default_rng(0).integers(0, 3, len(X))
    again = np.repeat(np.arange(len(X)), copies)
    for parameters in ({"mask": "search"}, {"coefficient": "per_class"}, {}):
        one = quietly(lambda p=parameters: stumps(**p).fit(X, Y, sample_weight=copies))
        other = quietly(lambda p=parameters: stumps(**p).fit(X[again], [Y[i] for i in again]))
        np.testing.assert_allclose(one.edges_, other.edges_, rtol=1e-9)
        scores = one.predict_node_scores(X), other.predict_node_scores(X)
        np.testing.assert_allclose(*scores, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------------- initial weights


def test_initial_weights_by_name_mapping_and_array():
    by_name = stumps(initial_weights="hierarchical", hierarchy=TREE).fit(X, Y)
    given = stumps(initial_weights=hierarchical_costs(TREE) * 7, hierarchy=TREE).fit(X, Y)
    np.testing.assert_allclose(given.edges_, by_name.edges_, rtol=1e-12)
    alike = stumps(initial_weights="uniform").fit(X, Y)
    np.testing.assert_array_equal(stumps(initial_weights={}).fit(X, Y).edges_, alike.edges_)
    heavy = stumps(initial_weights={("a", "y"): 5.0, "c": 2.0}, hierarchy=TREE).fit(X, Y)
    costs = np.ones(TREE.n_nodes)
    costs[TREE.index([("a", "y"), ("c",)])] = 5.0, 2.0
    as_array = stumps(initial_weights=costs, hierarchy=TREE).fit(X, Y)
    np.testing.assert_array_equal(heavy.edges_, as_array.edges_)
    assert not np.allclose(heavy.edges_, alike.edges_)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        (np.ones(5), r"initial_weights has shape \(5,\): expected \(12,\)"),
        (np.ones((12, 1)), r"initial_weights has shape \(12, 1\)"),
        (np.zeros(12), "not positive"),
        ([1.0, -1.0, *np.ones(10)], "not positive"),
        ([1.0, np.nan, *np.ones(10)], "not positive"),
        ([1.0, np.inf, *np.ones(10)], "not positive"),
        ({"c": 0.0}, "not positive"),
        ("equal", "initial_weights='equal': expected one of 'hierarchical', 'uniform'"),
    ],
)
def test_initial_weights_that_cannot_be_are_refused(weights, told):
    with pytest.raises(PalmetteError, match=told):
        stumps(initial_weights=weights, hierarchy=TREE).fit(X, Y)


def test_initial_weights_of_unknown_nodes_are_refused_by_name():
    with pytest.raises(HierarchyError, match="nowhere"):
        stumps(initial_weights={"nowhere": 1.0}, hierarchy=TREE).fit(X, Y)


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("mask", ["search", "literal"])
def test_a_mask_needs_a_hypothesis_for_every_node_that_says_yes_or_no(mask):
    with pytest.raises(PalmetteError, match=rf"mask='{mask}' requires one hypothesis per class"):
        ada(mask=mask, weak_learner=SharedTree(votes="sign")).fit(X, Y)
    for learner in ("shared_tree", StumpPerClass(votes="confidence")):
        with pytest.raises(PalmetteError, match=rf"mask='{mask}' requires votes -1 and \+1"):
            ada(mask=mask, weak_learner=learner).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("mask", "hard", "mask='hard': expected one of 'none', 'search', 'literal'"),
        ("mask", None, "mask=None: expected one of"),
        ("coefficient", "each", "coefficient='each': expected one of 'global', 'per_class'"),
        ("dag_rule", "most", "dag_rule='most' is unknown"),
        ("weak_learner", "bush", "weak_learner='bush' is unknown"),
        ("weak_learner", TreePerClass(9), "max_depth=9"),
        ("decoding", "loudest", "loudest"),
    ],
)
def test_unknown_options_are_refused_by_name(name, value, told):
    with pytest.raises(PalmetteError, match=told):
        ada(**{"weak_learner": "stump", name: value}).fit(X, Y).predict(X)


def test_a_stop_without_an_edge_names_the_round():
    with pytest.warns(UserWarning, match=r"stopped at round (\d+) of 200: no weak l") as caught:
        clf = stumps(mask="literal", n_estimators=200).fit(X, Y)
    told = [str(each.message) for each in caught]
    assert len(told) == 1
    assert f"round {len(clf.rounds_) + 1} of 200" in told[0]
    assert len(clf.edges_) == len(clf.rounds_) < 200
    assert (clf.edges_ > 0).all()


# ---------------------------------------------------------------------- deciding


def test_answers_of_every_rule_are_paths_of_the_hierarchy():
    """Under best path every row has one path to a label; by signs it may end before."""
    clf = stumps(hierarchy=TREE).fit(X, Y)
    far = np.random.default_rng(0).normal(scale=4.0, size=(300, 4))
    for rule in ("auto", "best_path", "top_down", "sign"):
        clf.set_params(decoding=rule)
        sets = clf.predict_node_sets(far).toarray()
        parents = TREE.parents[1:]
        assert (sets[:, 1:] <= sets[:, parents]).all()
        ends = clf.predict_nodes(far)
        assert np.array_equal(sets, TREE.closure[ends].toarray())
        if rule != "sign":
            assert np.isin(ends, clf.space_.classes).all()
    auto, best = (stumps(decoding=rule).fit(X, Y).predict(far) for rule in ("auto", "best_path"))
    assert auto == best


def test_signs_decide_by_scores_that_are_positive_on_the_whole_path():
    clf = stumps(hierarchy=TREE, decoding="sign").fit(X, Y)
    signs, scores = clf.predict_signs(X).toarray(), clf.predict_node_scores(X)
    tops = np.flatnonzero(TREE.parents == 0)
    for row, end in enumerate(clf.predict_nodes(X)):
        path = np.flatnonzero(TREE.closure[[end]].toarray()[0])[1:]
        if signs[row, tops].any():
            assert signs[row, path].all()
        else:
            assert end in tops
            assert scores[row, end - 1] == scores[row, tops - 1].max()
    assert hierarchical_f1_score(Y, clf.predict(X), hierarchy=TREE) > 0.6


def test_signs_in_sets_are_those_of_the_scores_made_coherent():
    rows, sets = dag_problem()
    clf = stumps(hierarchy=DAG, decoding="sign").fit(rows, sets)
    scores = np.column_stack([np.full(len(rows), np.inf), clf.predict_node_scores(rows)])
    positive = scores > 0
    for node in range(1, DAG.n_nodes):
        below = DAG.closure[:, [node]].toarray()[:, 0]  # a node is as probable as what is below
        assert (clf.predict_node_sets(rows).toarray()[:, node] <= positive[:, below].any(1)).all()
    half = stumps(hierarchy=DAG, decoding=0.5).fit(rows, sets)
    assert half.predict(rows) == clf.predict(rows)


def test_scores_of_labels_and_nodes():
    clf = stumps(hierarchy=TREE).fit(X, Y)
    assert clf.predict_node_scores(X).shape == (len(X), len(clf.nodes_))
    by_label = clf.decision_function(X)
    assert by_label.shape == (len(X), len(clf.classes_))
    chosen = [clf.classes_[k] for k in by_label.argmax(axis=1)]
    assert chosen == clf.predict(X)
    proba = clf.predict_proba(X)
    assert (np.argsort(proba, axis=1)[:, -1] == by_label.argmax(axis=1)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    two = stumps().fit(X, [path[0] in "ab" for path in Y])
    assert two.decision_function(X).shape == (len(X),)
    assert np.array_equal(two.decision_function(X) > 0, two.predict(X))


def test_scores_of_sets_have_a_column_a_label():
    rows, sets = dag_problem()
    clf = stumps(hierarchy=DAG).fit(rows, sets)
    scores = clf.decision_function(rows)
    nodes = DAG.index(clf.classes_.tolist())
    expected = clf.predict_node_scores(rows)[:, np.searchsorted(clf.nodes_, nodes)]
    assert np.array_equal(scores, expected)


def test_more_rounds_do_not_make_surer_than_the_rows_allow():
    """Rounds go on after all rows are told apart, but probabilities do not run off to 0 and 1."""
    apart = np.repeat(np.eye(3), 10, axis=0)
    labels = np.repeat(["a", "b", "c"], 10)
    few, many = (stumps(n_estimators=n).fit(apart, labels) for n in (5, 500))
    for clf in (few, many):
        proba = clf.predict_proba(apart).max(axis=1)
        assert (proba > 0.9).all()
        assert (proba < 1 - 1e-6).all()


# ---------------------------------------------------------------------- presets


def test_the_paper_is_a_preset():
    clf = pm.HierarchicalAdaBoostClassifier.preset("paper")
    assert clf.weak_learner == "stump"
    assert (clf.mask, clf.coefficient, clf.decoding) == ("literal", "global", "sign")
    assert (clf.n_estimators, clf.learning_rate) == (600, 1.0)
    assert clf.initial_weights == "hierarchical"
    assert set(pm.HierarchicalAdaBoostClassifier.presets()) >= {
        "paper",
        "paper-search",
        "adaboost-mh",
        "trees",
    }


# ---------------------------------------------------------------------- real data


@pytest.mark.data
def test_the_paper_on_imclef07d(data_home):
    """The row of the stored table: its signs have this Micro-F1."""
    data = pm.datasets.fetch("imclef07d")
    clf = pm.HierarchicalAdaBoostClassifier.preset("paper", hierarchy=data.hierarchy)
    quietly(lambda: clf.fit(data.X_train, data.y_train))
    signs = clf.predict_signs(data.X_test).toarray()[:, 1:]
    truth = pm.NodeLabels.encode(data.y_test, data.hierarchy).closed.toarray()[:, 1:]
    right = (signs & truth).sum()
    assert 2 * right / (signs.sum() + truth.sum()) == pytest.approx(0.4546, abs=0.0005)


@pytest.mark.data
def test_the_first_edge_on_imclef07a(data_home):
    data = pm.datasets.fetch("imclef07a")
    make = pm.HierarchicalAdaBoostClassifier.preset
    clf = make("adaboost-mh", n_estimators=3, hierarchy=data.hierarchy)
    quietly(lambda: clf.fit(data.X_train, data.y_train))
    assert clf.edges_[0] == pytest.approx(0.9492, abs=0.001)
    answers = clf.predict_node_sets(data.X_test).toarray()
    parents = data.hierarchy.parents[1:]
    consistent = (answers[:, 1:] <= answers[:, parents]).all(axis=1)
    assert consistent.mean() == 1.0
    ends = answers.sum(axis=1) - 1
    assert np.array_equal(ends, data.hierarchy.depth[clf.predict_nodes(data.X_test)])


@pytest.mark.data
@pytest.mark.parametrize(
    ("two_sided", "name", "stop"), [(True, "imclef07d", 11), (False, "imclef07d", 15)]
)
def test_the_literal_mask_stalls(data_home, two_sided, name, stop):
    """Eq. 7-9 to the letter run out of edge; these rounds have been measured."""
    data = pm.datasets.fetch(name)
    make = pm.HierarchicalAdaBoostClassifier.preset
    learner = StumpPerClass(two_sided=two_sided)
    clf = make("paper", hierarchy=data.hierarchy, weak_learner=learner)
    with pytest.warns(UserWarning, match=f"stopped at round {stop} of 600: no weak learner"):
        clf.fit(data.X_train, data.y_train)
    assert len(clf.rounds_) == stop - 1
