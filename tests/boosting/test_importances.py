from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.boosting import insight_cases as cases
from tests.boosting.insight_cases import fit, fitted

import palmette as pm
from palmette.boosting import _importances as importances
from palmette.exceptions import PalmetteError
from palmette.weak import TreePerClass

pytestmark = pytest.mark.filterwarnings("ignore:boosting stopped at round")

every_model = pytest.mark.parametrize("name", cases.MODELS)


def path_names(model):
    return model.hierarchy_.path_strings[model.nodes_].tolist()


# ---------------------------------------------------------------------- slow twins


def variance(votes, weights):
    mean = np.average(votes, axis=0, weights=weights)
    return (weights[:, None] * (votes - mean) ** 2).sum(axis=0)


def gains_of_tree(features, cuts, vote_at, codes, weights):
    """What every split takes off the variance of the votes that rows get, by brute force.

    Returns an array of shape (n_features, n_votes).
    """
    place = np.ones(len(codes), dtype=int)
    steps = [place]
    while (features[place] >= 0).any():
        inside = features[place] >= 0
        right = codes[np.arange(len(codes)), features[place]] > cuts[place]
        place = np.where(inside, 2 * place + right, place)
        steps.append(place)
    votes = vote_at[place]
    gains = np.zeros((codes.shape[1], votes.shape[1]))
    for here, below in pairwise(steps):
        for node in np.unique(here[features[here] >= 0]):
            whole, left, right = here == node, below == 2 * node, below == 2 * node + 1
            gains[features[node]] += variance(votes[whole], weights[whole])
            for side in (left, right):
                gains[features[node]] -= variance(votes[side], weights[side])
    return gains


def shared_gains(model, X, weights, to_nodes):
    """Sum `gains_of_tree` over rounds of shared trees, for votes that `to_nodes` makes nodes'."""
    codes, total = model.bins_.transform(X), 0.0
    for tree in model.rounds_:
        vote_at = tree.values[tree.leaf_at].astype(float) @ to_nodes
        total = total + gains_of_tree(tree.features, tree.cuts, vote_at, codes, weights)
    return total


def shares(gains):
    gains = np.where(gains > 1e-12, gains, 0.0)  # differences of sums: less is rounding
    totals = gains.sum(axis=0)
    return (gains / np.where(totals > 0, totals, 1.0)).T


def means_over_labels(model):
    """Nodes as means over the labels at or below them: (n_labels, n_nodes)."""
    below = model.hierarchy_.closure[model.space_.classes][:, model.nodes_].toarray().astype(float)
    return below / below.sum(axis=0)


# ---------------------------------------------------------------------- the definition


@pytest.mark.parametrize("weighted", [False, True])
def test_a_split_is_worth_what_it_takes_off_the_variance_of_the_votes(weighted):
    X, y = cases.paths()
    X = cases.with_gaps(X)
    weights = np.random.default_rng(1).integers(1, 4, len(X)) if weighted else np.ones(len(X))
    model = clone(cases.MODELS["ada"]).fit(X, y, sample_weight=weights)
    gains = shared_gains(model, X, weights.astype(float), np.eye(len(model.nodes_)))
    np.testing.assert_allclose(model.feature_importances(), shares(gains), rtol=1e-5)
    np.testing.assert_allclose(model.feature_importances_, shares(gains.sum(axis=1)), rtol=1e-5)


def test_where_labels_are_voted_for_nodes_are_means_of_those_below():
    X, _ = cases.paths()
    model = fitted("softmax")
    weights = np.ones(len(X))
    gains = shared_gains(model, X, weights, means_over_labels(model))
    np.testing.assert_allclose(model.feature_importances(), shares(gains), rtol=1e-5)
    by_label = shared_gains(model, X, weights, np.eye(len(model.classes_)))
    np.testing.assert_allclose(model.feature_importances_, shares(by_label.sum(axis=1)), rtol=1e-5)


def test_the_first_trees_of_nodes_weigh_rows_evenly():
    X, y = cases.paths()
    parameters = {"weak_learner": TreePerClass(2, max_features=None), "n_estimators": 1}
    model = fit("mh", X, y, **parameters)
    (trees,), codes = model.rounds_, model.bins_.transform(X)
    for k, row in enumerate(model.feature_importances()):
        tree = trees.features[k], trees.cuts[k], trees.values[k][:, None]
        gains = gains_of_tree(*tree, codes, np.ones(len(X)))
        np.testing.assert_allclose(row, shares(gains)[0], rtol=1e-5)


def test_the_votes_of_a_mask_belong_to_no_feature():
    X, y = cases.paths()
    model = fit("ada literal mask", X, y, n_estimators=3)
    trees = model.rounds_[0]
    masked = trees.cover[:, 0] > 0
    assert masked.any()
    gains = np.zeros((X.shape[1], len(model.nodes_)))
    for tree in model.rounds_:
        for k in np.flatnonzero(tree.features[:, 1] >= 0):
            left, right = tree.cover[k, 2:].astype(float)
            apart = tree.values[k, 2] - tree.values[k, 3]
            if left + right > 0:
                gains[tree.features[k, 1], k] += left * right / (left + right) * apart**2
    np.testing.assert_allclose(model.feature_importances(), shares(gains), rtol=1e-9)


def test_columns_count_in_the_scale_of_their_scores():
    X, _ = cases.paths()
    model = fitted("mi")
    raw = np.zeros((len(X), len(model.nodes_)))
    for hypothesis in model.rounds_:
        hypothesis.add_scores(model._samples(X), raw)
    scale = (model.predict_node_scores(X) / raw)[0]
    assert np.ptp(scale) > 0.1
    gains = np.zeros(X.shape[1])
    for tree in model.rounds_:
        split = tree.features[:, 1] >= 0
        left, right = tree.cover[split, 2:].T.astype(float)
        apart = (tree.values[split, 2] - tree.values[split, 3]) * scale[split]
        np.add.at(gains, tree.features[split, 1], left * right / (left + right) * apart**2)
    np.testing.assert_allclose(model.feature_importances_, gains / gains.sum(), rtol=1e-9)


def test_bags_are_averaged_each_as_one():
    X, _ = cases.paths()
    model = fitted("accurate")
    labels, nodes = means_over_labels(model), np.eye(len(model.nodes_))
    codes, rows = model.bins_.transform(X), np.ones(len(X))
    for_nodes, overall = [], []
    for i, to_nodes in enumerate([labels, labels, nodes, nodes]):
        trees = [bundle.parts[i] for bundle in model.rounds_]
        gains = [
            sum(
                gains_of_tree(
                    t.features, t.cuts, t.values[t.leaf_at].astype(float) @ to, codes, rows
                )
                for t in trees
            )
            for to in (to_nodes, np.eye(len(to_nodes)))
        ]
        for_nodes.append(shares(gains[0]))
        overall.append(shares(gains[1].sum(axis=1)))
    np.testing.assert_allclose(model.feature_importances(), np.mean(for_nodes, axis=0), rtol=1e-4)
    np.testing.assert_allclose(model.feature_importances_, np.mean(overall, axis=0), rtol=1e-4)


def test_labels_of_a_colouring_are_moved_alike_and_their_parents_by_the_mean_colour():
    X, _ = cases.paths()
    model = fitted("ecc shared")
    rows = model.feature_importances(["a/x", "b/x", "c"])
    np.testing.assert_allclose(rows, np.tile(model.feature_importances_, (3, 1)), rtol=1e-9)
    codes, expected = model.bins_.transform(X), 0.0
    to_a = means_over_labels(model)[:, path_names(model).index("a")]
    for coloured in model.rounds_:
        tree = coloured.binary
        vote_at = tree.values[tree.leaf_at].astype(float) * (coloured.code @ to_a)
        gains = gains_of_tree(tree.features, tree.cuts, vote_at, codes, np.ones(len(X)))
        expected = expected + gains
    np.testing.assert_allclose(model.feature_importances("a"), shares(expected), rtol=1e-5)


# ---------------------------------------------------------------------- laws


@every_model
def test_importances_are_shares(name):
    model = fitted(name)
    overall, by_node = model.feature_importances_, model.feature_importances()
    assert overall.shape == (4,)
    assert by_node.shape == (len(model.nodes_), 4)
    assert overall.min() >= 0
    assert by_node.min() >= 0
    assert overall.sum() == pytest.approx(1)
    sums = by_node.sum(axis=1)
    assert (np.isclose(sums, 1) | (sums == 0)).all()
    assert sums.sum() > 0


@every_model
def test_what_tells_nothing_has_little(name):
    X, y = cases.paths()
    noise = np.random.default_rng(3).normal(size=(len(X), 2))
    X = np.column_stack([noise[:, 0], X[:, :2] / X[:, :2].std(axis=0), noise[:, 1]])
    model = fit(name, X, y, n_estimators=12)
    first, *told, last = model.feature_importances_
    assert max(first, last) < min(told)


@pytest.mark.parametrize("name", cases.MODELS_OF_SETS)
@pytest.mark.parametrize("problem", ["sets", "dag"])
def test_several_paths_and_dags(name, problem):
    model = fitted(name, problem)
    assert model.feature_importances_.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        model.feature_importances(path_names(model)), model.feature_importances()
    )


def test_every_node_has_its_own():
    # the first feature tells the branches apart, the second the twigs of one of them
    rng = np.random.default_rng(0)
    side, twig = rng.integers(0, 2, (2, 200))
    X = np.column_stack([side, twig, rng.normal(size=200)]) + rng.normal(scale=0.05, size=(200, 3))
    y = [("a", f"a{t}") if s else ("b", "b0") for s, t in zip(side, twig, strict=True)]
    for name in ("ada", "mh", "mi trees", "path softmax", "logistic"):
        model = fit(name, X, y, n_estimators=20)
        branch, twig_of_a = model.feature_importances(["a", "a/a0"])
        assert branch[0] > 0.8, name
        assert twig_of_a[1] > branch[1] + 0.2, name


def test_rows_follow_the_nodes_asked_for():
    model = fitted("ada")
    names = path_names(model)[::-1]
    np.testing.assert_array_equal(
        model.feature_importances(names), model.feature_importances()[::-1]
    )
    np.testing.assert_array_equal(
        model.feature_importances(("a", "x")), model.feature_importances(["a/x"])
    )


@pytest.mark.parametrize("name", ["ada", "mh", "ecc", "accurate", "mh estimators"])
def test_chunks_change_nothing(name, monkeypatch):
    model = fitted(name)
    overall, by_node = model.feature_importances_, model.feature_importances()
    monkeypatch.setattr(importances, "_NUMBERS_AT_ONCE", 12)
    np.testing.assert_allclose(model.feature_importances_, overall, rtol=1e-12)
    np.testing.assert_allclose(model.feature_importances(), by_node, rtol=1e-12)


# ---------------------------------------------------------------------- edges


def test_the_root_and_unseen_nodes_have_zeros():
    X, y = cases.paths()
    paths = [("a", "x"), ("a", "y", "deep"), ("a", "y", "deeper"), ("b", "x"), ("b", "z")]
    hierarchy = pm.Hierarchy.from_paths([*paths, ("c",), ("d", "only"), ("e", "unseen")])
    for name in ("ada", "softmax", "ecc"):
        with pytest.warns(UserWarning, match="no training row"):
            model = fit(name, X, y, hierarchy=hierarchy)
        rows = model.feature_importances(["root", "e/unseen", "a"])
        np.testing.assert_allclose(rows.sum(axis=1), [0, 0, 1])


def test_a_model_without_rounds_has_zeros():
    for name in ("ada", "mi", "ecc", "softmax", "accurate"):
        model = fit(name, np.eye(3), ["a", "a", "a"])
        assert model.feature_importances_.tolist() == [0, 0, 0]
        assert model.feature_importances().tolist() == [[0, 0, 0]]


def test_equal_votes_explain_nothing():
    # leaves of one sign on both sides of every split: their differences are not rounding
    X, y = cases.paths()
    model = fit("mh", X, y, weak_learner=TreePerClass(2, max_features=None), n_estimators=1)
    (trees,) = model.rounds_
    split = (trees.features >= 0).any(axis=1)
    alike = split & (np.ptp(trees.values[:, 1:], axis=1) == 0)
    assert alike.any()
    assert not model.feature_importances()[alike].any()


def test_constant_features_explain_nothing():
    model = fit("softmax", np.ones((6, 2)), ["a", "b", "a", "b", "a", "a"])
    assert model.feature_importances_.tolist() == [0, 0]


def test_before_fitting_there_are_none():
    model = pm.AdaBoostMHClassifier()
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(NotFittedError):
        _ = model.feature_importances_
    with pytest.raises(NotFittedError):
        model.feature_importances()


def test_estimators_of_other_libraries_tell_their_own():
    X, y = cases.paths()
    for learner, own in [
        (DecisionTreeClassifier(max_depth=2, random_state=0), "feature_importances_"),
        (RidgeClassifier(), "coef_"),
    ]:
        model = fit("mi", X, y, weak_learner=learner, n_estimators=1)
        told = np.abs([getattr(each, own).ravel() for each in model.rounds_[0].models])
        expected = told / told.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.feature_importances(), expected)


def test_estimators_without_importances_are_named():
    model = fit("mh", *cases.paths(), weak_learner=GaussianNB())
    with pytest.raises(PalmetteError, match="GaussianNB has neither"):
        model.feature_importances()
    assert not hasattr(model, "feature_importances_")
    assert "GaussianNB" in model._repr_html_()  # which asks for all attributes
