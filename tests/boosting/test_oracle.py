"""The engine is as good as the papers: equal to slow literal versions, round by round."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from tests.boosting import literal
from tests.boosting.problems import DAG, PATHS, dag_problem, parents_of, signs_of, tree_problem

import palmette as pm
from palmette.boosting import _objectives as adaboost
from palmette.boosting._boost import boost, scores_of, seed_of
from palmette.boosting._class_trees import StumpPerClass, TreePerClass
from palmette.boosting._hypotheses import Samples
from palmette.boosting._objectives import AdaBoostWeights
from palmette.boosting._weak import TrainingRows
from palmette.decisions._losses import hierarchical_costs
from palmette.trees._binning import BinMapper

VARIANTS = list(product(("none", "search", "literal"), ("global", "per_class")))
CLOSE = {"rtol": 0.0, "atol": 1e-10}
ROUNDS = 20  # enough for models with masks to run out of edges


def fit(X, y, sample_weight=None, **parameters):
    """A model of `ROUNDS` rounds, stumps unless told otherwise, and whether it stopped before."""
    parameters = {
        "weak_learner": "stump",
        "learning_rate": 1.0,
        "n_estimators": ROUNDS,
        **parameters,
    }
    clf = pm.HierarchicalAdaBoostClassifier(random_state=0, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y, sample_weight)
    assert len(caught) == (len(clf.rounds_) < clf.n_estimators)
    return clf


def raw_scores(clf, X):
    """Scores before columns of differing coefficients are brought to one scale."""
    return scores_of(Samples(clf.bins_.transform(X), X), clf.rounds_, clf.start_)


def assert_same_model(clf, slow, X, y, sample_weight=None):
    slow.fit(clf.bins_.transform(X), signs_of(clf, y), sample_weight)
    assert len(clf.edges_) == len(slow.edges) > 1
    np.testing.assert_allclose(clf.edges_, slow.edges, **CLOSE)
    everywhere = np.concatenate([X, np.roll(X, 1, axis=1), X[::-1] + 0.3])
    expected = slow.scores(clf.bins_.transform(everywhere))
    np.testing.assert_allclose(raw_scores(clf, everywhere), expected, **CLOSE)

    signs = clf.predict_signs(everywhere)
    assert signs.shape == (len(everywhere), clf.hierarchy_.n_nodes)
    told = signs.toarray()
    clear = np.abs(expected) > 1e-9  # scores may cancel
    assert clear.mean() > 0.5
    assert np.array_equal(told[:, clf.nodes_][clear], expected[clear] > 0)
    assert not np.delete(told, clf.nodes_, axis=1).any()

    reach = np.sum(slow.alphas, axis=0)
    scale = reach.mean() / np.where(reach > 0, reach, 1.0)
    if slow.coefficient == "global":
        assert np.allclose(scale, 1.0)
    np.testing.assert_allclose(
        clf.predict_node_scores(everywhere), expected * scale, rtol=0, atol=1e-9
    )


# ---------------------------------------------------------------------- H-Ada.MH


@pytest.mark.parametrize("weights", ["hierarchical", "uniform"])
@pytest.mark.parametrize(("mask", "coefficient"), VARIANTS)
def test_stumps_are_those_of_the_paper(mask, coefficient, weights):
    X, y = tree_problem()
    clf = fit(X, y, mask=mask, coefficient=coefficient, initial_weights=weights)
    options = {"mask": mask, "coefficient": coefficient, "weights": weights}
    assert_same_model(clf, literal.HAdaMH(ROUNDS, parents_of(clf), **options), X, y)


@pytest.mark.parametrize(("mask", "coefficient"), VARIANTS)
def test_rows_count_by_their_weights(mask, coefficient):
    X, y = tree_problem(seed=1)
    rows = np.random.default_rng(1).integers(1, 5, len(X)).astype(float)
    clf = fit(X, y, rows / 2.0, mask=mask, coefficient=coefficient)  # halves are copies too
    slow = literal.HAdaMH(ROUNDS, parents_of(clf), mask=mask, coefficient=coefficient)
    assert_same_model(clf, slow, X, y, rows)


@pytest.mark.parametrize(("mask", "coefficient"), VARIANTS)
def test_trees_of_depth_3_are_boosted_as_stumps_are(mask, coefficient):
    X, y = tree_problem(seed=2)
    trees = TreePerClass(3, max_features=None)
    clf = fit(X, y, weak_learner=trees, mask=mask, coefficient=coefficient, n_estimators=10)
    options = {"mask": mask, "coefficient": coefficient, "grow": partial(literal.Tree, depth=3)}
    assert_same_model(clf, literal.HAdaMH(10, parents_of(clf), **options), X, y)


@pytest.mark.parametrize("rule", ["all", "any"])
@pytest.mark.parametrize(("mask", "coefficient"), VARIANTS)
def test_in_a_dag_all_parents_have_to_agree_or_any(mask, coefficient, rule):
    X, y = dag_problem()
    clf = fit(X, y, hierarchy=DAG, mask=mask, coefficient=coefficient, dag_rule=rule)
    options = {"mask": mask, "coefficient": coefficient, "rule": rule}
    assert_same_model(clf, literal.HAdaMH(ROUNDS, parents_of(clf), **options), X, y)


@pytest.mark.parametrize("mask", ["none", "literal"])
@pytest.mark.parametrize("coefficient", ["global", "per_class"])
def test_sides_may_have_to_vote_differently(mask, coefficient):
    X, y = tree_problem(seed=9)
    two_sided = StumpPerClass(two_sided=True)
    clf = fit(X, y, weak_learner=two_sided, mask=mask, coefficient=coefficient)
    grow = partial(literal.Stump, two_sided=True)
    options = {"mask": mask, "coefficient": coefficient, "grow": grow}
    assert_same_model(clf, literal.HAdaMH(ROUNDS, parents_of(clf), **options), X, y)
    assert all((each.features[:, 1] >= 0).all() for each in clf.rounds_)
    assert all((each.signs[:, 2] == -each.signs[:, 3]).all() for each in clf.rounds_)


def test_a_share_of_every_coefficient_is_taken():
    X, y = tree_problem(seed=3)
    clf = fit(X, y, learning_rate=0.3, mask="search", coefficient="per_class")
    options = {"mask": "search", "coefficient": "per_class", "learning_rate": 0.3}
    assert_same_model(clf, literal.HAdaMH(ROUNDS, parents_of(clf), **options), X, y)


def test_random_forests_are_boosted_by_the_same_coefficients():
    """The paper's own example of a base learner: the models are given, the rest is recomputed."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = tree_problem(seed=4)
    forest = RandomForestClassifier(2, max_depth=2)
    clf = fit(X, y, weak_learner=forest, mask="literal", n_estimators=3)
    parents, Y = parents_of(clf), signs_of(clf, y)
    w = literal.initial_weights(parents, len(X))
    total = np.zeros(Y.shape)
    for r, hypothesis in zip(clf.edges_, clf.rounds_, strict=True):
        h = []
        for column, (model, (above,)) in enumerate(zip(hypothesis.models, parents, strict=True)):
            own = np.asarray(model.predict(X), dtype=float)
            h.append(own if above < 0 else np.where(h[above] > 0, own, -1.0))
            assert set(np.unique(own)) <= {-1.0, 1.0}, column
        h = np.column_stack(h)
        assert r == pytest.approx((w * Y * h).sum(), abs=1e-10)
        a = literal.alpha(r, 1 / Y.size)
        total += a * h
        w = w * np.exp(-a * Y * h)
        w /= w.sum()
    np.testing.assert_allclose(clf.predict_node_scores(X), total, **CLOSE)


# ---------------------------------------------------------------------- eq. 5-6


def test_weights_of_figure_2():
    """Seven nodes, each with two children: .3333, .1667 and .0833 by level."""
    h = pm.Hierarchy.from_parents([-1, 0, 1, 1, 2, 2, 3, 3])
    expected = {1: 1 / 3, 2: 1 / 6, 3: 1 / 12}
    costs = hierarchical_costs(h)
    assert costs[1:].round(4).tolist() == [round(expected[d], 4) for d in h.depth[1:]]
    parents = [[int(p) - 1] for p in h.parents[1:]]
    c = literal.costs(parents)
    np.testing.assert_allclose(c / c.sum(), costs[1:], atol=1e-15)

    leaves = h.leaves
    positives = sparse.csr_array(h.closure[leaves][:, 1:])
    objective = AdaBoostWeights(positives, np.ones(4), costs[1:])
    np.testing.assert_allclose(objective.signed.sum(axis=0)[0], 1 / 3)  # the root is in all paths
    np.testing.assert_allclose(np.abs(objective.signed).sum(axis=0), costs[1:])
    assert np.array_equal(objective.signed > 0, positives.toarray())


def test_weights_of_only_children_and_dags_worked_by_hand():
    # root: a, b, e; a: c, e; b: c, d; c: e
    c = {"a": 1 / 3, "b": 1 / 3, "d": 1 / 6}
    c["c"] = (c["a"] / 2 + c["b"] / 2) / 2
    c["e"] = (c["c"] / 1 + c["a"] / 2 + 1 / 3) / 3
    expected = np.array([c[name] for name in DAG.names[1:]])
    np.testing.assert_allclose(hierarchical_costs(DAG, normalize=False)[1:], expected)


def test_initial_weights_count_only_nodes_that_have_a_training_row():
    X, y = tree_problem()
    wider = pm.Hierarchy.from_paths([*y, ("a", "never"), ("e", "nor", "this")])
    clf = fit(X, y)
    with pytest.warns(UserWarning, match="never predicted"):
        same = pm.HierarchicalAdaBoostClassifier(
            wider, weak_learner="stump", learning_rate=1.0, n_estimators=ROUNDS, random_state=0
        ).fit(X, y)
    np.testing.assert_array_equal(same.edges_, clf.edges_)


# ---------------------------------------------------------------------- its kin


def test_adaboost_mi_is_one_binary_adaboost_a_label():
    X, y = tree_problem(seed=5)
    names = ["_".join(path) for path in y]
    clf = pm.AdaBoostMIClassifier(n_estimators=ROUNDS).fit(X, names)
    codes, Y = clf.bins_.transform(X), signs_of(clf, names)
    scores = raw_scores(clf, X)
    for column in range(Y.shape[1]):
        alone = literal.discrete_adaboost(codes, Y[:, column], ROUNDS, eps=1 / Y.size)
        np.testing.assert_allclose(scores[:, column], alone, **CLOSE)


def one_column(X, y, weights, n_rounds):
    """Binary AdaBoost as the engine is to be used at the nodes of a learned tree."""
    codes = BinMapper.fit(X).transform(X)
    rows = TrainingRows(codes, np.full(codes.shape[1], 255), weights.astype(np.float32))
    objective = AdaBoostWeights(sparse.csr_array(y[:, None] > 0), weights, np.ones(1))
    coming = boost(objective, StumpPerClass(), rows, seed=0)
    rounds = [next(coming) for _ in range(n_rounds)]
    found = [each.hypothesis for each in rounds]
    return codes, rounds, scores_of(Samples(codes), found, objective.start)[:, 0]


@pytest.mark.parametrize("weighted", [False, True])
def test_one_column_is_discrete_adaboost(weighted):
    X, paths = tree_problem(seed=6)
    y = np.where([path[0] in "ab" for path in paths], 1.0, -1.0)
    weights = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else np.ones(len(y))
    codes, _, scores = one_column(X, y, weights.astype(float), ROUNDS)
    slow = literal.discrete_adaboost(codes, y, ROUNDS, eps=1 / weights.sum(), sample_weight=weights)
    np.testing.assert_allclose(scores, slow, **CLOSE)


def test_two_rounds_of_binary_adaboost_worked_by_hand():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([1.0, -1.0, 1.0, 1.0])
    _, rounds, scores = one_column(X, y, np.ones(4), 2)
    # the constant +1 errs on one row of four, as well as any stump; eps = 1/4
    assert rounds[0].hypothesis.features[0, 1] == -1
    assert rounds[0].edge == pytest.approx(0.5)
    first = 0.5 * np.log(1.75 / 0.75)
    # weights are then as 3/7 to 7/3; the first row alone, or the last two, may be wrong
    light, heavy = np.exp(-first), np.exp(first)
    total = 3 * light + heavy
    second_edge = (heavy + 2 * light - light) / total
    assert rounds[1].edge == pytest.approx(second_edge)
    second = 0.5 * np.log((1.25 + second_edge) / (1.25 - second_edge))
    # codes up to 1 are voted down, the others up
    np.testing.assert_allclose(scores, np.array([-1, -1, 1, 1]) * second + first, rtol=1e-12)


def test_one_label_a_row_and_two_labels_is_one_binary_problem_seen_twice():
    X, paths = tree_problem(seed=6)
    y = np.array([path[0] in "ab" for path in paths])
    clf = pm.AdaBoostMHClassifier(n_estimators=30).fit(X, y)
    scores = clf.predict_node_scores(X)
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1], **CLOSE)
    alone = literal.discrete_adaboost(
        clf.bins_.transform(X), np.where(y, 1.0, -1.0), 30, eps=0.5 / len(y)
    )
    np.testing.assert_allclose(scores[:, 1], alone, **CLOSE)


@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_votes_by_confidence_are_those_of_schapire_and_singer(rate):
    X, y = tree_problem(seed=7)
    stumps = StumpPerClass(votes="confidence")
    clf = pm.AdaBoostMHClassifier(weak_learner=stumps, n_estimators=ROUNDS, learning_rate=rate)
    clf.fit(X, y)
    scores, edges = literal.confident_adaboost_mh(
        clf.bins_.transform(X), signs_of(clf, y), ROUNDS, adaboost._PRIOR_PAIRS, rate
    )
    np.testing.assert_allclose(clf.edges_, edges, **CLOSE)
    np.testing.assert_allclose(clf.predict_node_scores(X), scores, **CLOSE)


@pytest.mark.parametrize("n_labels", [2, 3, 8])
def test_adaboost_ecc_is_that_of_guruswami_and_sahai(n_labels):
    X, y = tree_problem(seed=8)
    labels = np.array([PATHS.index(path) % n_labels for path in y])
    clf = pm.AdaBoostECCClassifier(weak_learner="stump", n_estimators=30, random_state=3)
    clf.fit(X, labels)
    assert len(clf.rounds_) == 30
    colourings = [colouring(clf._seed, turn, n_labels) for turn in range(30)]
    scores, edges = literal.adaboost_ecc(clf.bins_.transform(X), labels, colourings)
    for turn, code in enumerate(colourings):
        assert abs(int(code.sum())) <= 1
        assert np.array_equal(clf.rounds_[turn].code, code)
    np.testing.assert_allclose(clf.edges_, edges, **CLOSE)
    expected = scores[:, 1] - scores[:, 0] if n_labels == 2 else scores
    np.testing.assert_allclose(clf.decision_function(X), expected, **CLOSE)
    assert clf.predict(X).tolist() == scores.argmax(axis=1).tolist()


def colouring(seed, turn, n_labels):
    """Half of the labels, drawn with the seed of the round, against the others."""
    rng = np.random.default_rng([seed_of(seed, turn), 1])
    code = np.full(n_labels, -1)
    code[rng.permutation(n_labels)[: (n_labels + 1) // 2]] = 1
    return code
