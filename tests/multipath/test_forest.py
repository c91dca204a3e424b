"""Probabilities of the forest are labels of neighbours, which it explains."""

from __future__ import annotations

import numpy as np
import pytest
from tests.multipath.problems import DAG, TREE, dag_problem, tree_problem

from palmette.labels._labels import NodeLabels
from palmette.multipath import CoherentForestClassifier


def fitted(problem=tree_problem, hierarchy=TREE, **settings):
    X, y = problem()
    forest = CoherentForestClassifier(12, hierarchy=hierarchy, random_state=0, **settings)
    return forest.fit(X, y), X, y


@pytest.mark.parametrize("weighted", [False, True])
def test_a_probability_is_the_mean_share_of_the_leaves(weighted):
    X, y = tree_problem()
    weights = np.random.default_rng(3).random(len(X)) + 0.5 if weighted else np.ones(len(X))
    forest = CoherentForestClassifier(5, hierarchy=TREE, random_state=0)
    forest.fit(X, y, sample_weight=weights if weighted else None)
    closed = NodeLabels.encode(y, TREE).closed.toarray()
    new, _ = tree_problem(seed=5, n_rows=20)
    scaling = forest.scaling_
    expected = np.zeros((len(new), TREE.n_nodes))
    for tree in forest.forest_.estimators_:
        mine, theirs = tree.apply(scaling.transform(new)), tree.apply(scaling.transform(X))
        for i, leaf in enumerate(mine):
            there = theirs == leaf
            expected[i] += weights[there] @ closed[there] / weights[there].sum() / 5
    expected[:, 0] = 1.0
    assert forest.predict_node_proba(new) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("problem", "h"), [(tree_problem, TREE), (dag_problem, DAG)])
def test_no_child_exceeds_a_parent(problem, h):
    forest, X, _ = fitted(problem, h)
    proba = forest.predict_node_proba(X)
    parents, children = h.edges.T
    assert (proba[:, children] <= proba[:, parents] + 1e-12).all()


def test_leaves_are_small_where_every_row_has_one_path():
    X, _ = tree_problem()
    single = CoherentForestClassifier(3, random_state=0).fit(X, np.arange(len(X)) % 4)
    several, _, _ = fitted()
    assert single.forest_.min_samples_leaf == 1
    assert several.forest_.min_samples_leaf in (3, 5)


def test_the_setting_is_that_of_the_best_held_out_score():
    rng = np.random.default_rng(0)
    strong, y = tree_problem(n_rows=300, noise=0.5)
    weak = np.hstack([strong[:, :1], rng.normal(size=(300, 15))])
    found = {}
    for name, X in (("strong", strong), ("weak", weak)):
        forest = CoherentForestClassifier(5, hierarchy=TREE, random_state=0).fit(X, y)
        assert set(forest.choices_) == {(3, 0.5), (5, "sqrt")}
        best = max(forest.choices_, key=forest.choices_.get)
        assert (forest.forest_.min_samples_leaf, forest.forest_.max_features) == best
        found[name] = forest.choices_[best]
    assert found["strong"] > found["weak"]
    given = CoherentForestClassifier(5, max_features=0.5, hierarchy=TREE, random_state=0)
    assert given.fit(weak, y).choices_ == {}
    assert given.forest_.min_samples_leaf == 3


def test_few_rows_choose_nothing():
    forest, _, _ = fitted(lambda: tree_problem(n_rows=60))
    assert forest.choices_ == {}


def test_neighbours_are_rows_that_share_leaves():
    forest, X, _ = fitted()
    rows, weights = forest.neighbors(X[:6], 4)
    assert rows.shape == weights.shape == (6, 4)
    assert rows[:, 0].tolist() == list(range(6))  # nobody is nearer than the row itself
    assert (np.diff(weights, axis=1) <= 1e-12).all()
    everyone = forest.neighbors(X[:6], len(X))
    assert everyone[1].sum(axis=1) == pytest.approx(np.ones(6))
    assert ((everyone[0] >= 0) == (everyone[1] > 0)).all()


def test_an_explanation_names_rows_with_their_labels():
    forest, X, y = fitted()
    row = next(i for i, labels in enumerate(y) if labels == {"d/f", "g", "a"})
    (explanation,) = forest.explain(X[[row]], "d/f", 3)
    assert explanation.node == "d/f"
    assert explanation.probability == pytest.approx(
        forest.predict_node_proba(X[[row]], ["d/f"])[0, 0]
    )
    assert explanation.labels[0] == ("a", "d/f", "g")
    assert explanation.has_node[0]
    assert str(explanation).splitlines()[1].startswith(f"  + row {row} (")


def test_all_neighbours_together_explain_the_probability():
    forest, X, _ = fitted()
    for explanation in forest.explain(X[:10], "a/b", len(X)):
        assert explanation.weights[explanation.has_node].sum() == pytest.approx(
            explanation.probability
        )


def test_importances_sum_to_one():
    forest, _, _ = fitted()
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
