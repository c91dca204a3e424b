"""Weights, members and errors of the blend; unusual input of all coherent classifiers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from tests.multipath.problems import DAG, TREE, dag_problem, tree_problem

from palmette import HierarchicalBoostingClassifier, PalmetteError
from palmette.multipath import (
    CoherentBlendClassifier,
    CoherentForestClassifier,
    CoherentKernelClassifier,
    CoherentNetworkClassifier,
)
from palmette.multipath._blend import neighbouring_weights

MEMBERS = [
    ("forest", CoherentForestClassifier(10)),
    ("kernel", CoherentKernelClassifier(0.5, 2.0)),
    ("network", CoherentNetworkClassifier((8,), n_epochs=20)),
]
EACH = [clone(member).set_params(random_state=0) for _, member in MEMBERS]


def blend(**settings) -> CoherentBlendClassifier:
    return CoherentBlendClassifier(MEMBERS, random_state=0, **settings)


@pytest.mark.parametrize(("problem", "h"), [(tree_problem, TREE), (dag_problem, DAG)])
def test_it_is_the_weighted_mean_of_its_members(problem, h):
    X, y = problem(noise=1.0)
    model = blend(weights=[1, 2, 1], hierarchy=h).fit(X, y)
    assert model.weights_.tolist() == [0.25, 0.5, 0.25]
    parts = [member.predict_node_proba(X) for member in model.estimators_]
    expected = sum(w * p for w, p in zip(model.weights_, parts, strict=True))
    proba = model.predict_node_proba(X)
    assert proba == pytest.approx(expected, abs=1e-12)
    parents, children = h.edges.T
    assert (proba[:, children] <= proba[:, parents]).all()


def test_weights_are_those_that_held_out_rows_like_best():
    X, y = tree_problem(noise=0.4)
    useless = ("noise", CoherentKernelClassifier(1e6, 1.0))
    model = CoherentBlendClassifier([*MEMBERS[:1], useless], hierarchy=TREE, random_state=0)
    model.fit(X, y)
    scores = model.validation_scores_
    assert set(scores) == {"forest", "noise", "blend"}
    assert scores["blend"] == max(scores.values())
    assert model.weights_.sum() == 1.0
    assert model.weights_[0] > model.weights_[1]


def test_weights_are_the_best_quarters_or_eighths_beside_them():
    rng = np.random.default_rng(0)
    truth = sparse.csr_array(rng.random((80, 6)) < 0.3)
    scores = [truth.toarray() * s + rng.normal(size=truth.shape) for s in (1.0, 0.9, 0.2)]
    model = blend()
    model.validation_scores_ = {}
    weights = model._best_weights(truth, scores, ["a", "b", "c"])

    def score(w):
        blended = sum(x * s for x, s in zip(w, scores, strict=True))
        return average_precision_score(truth.toarray().ravel(), blended.ravel())

    quarters = [w for w in product(range(0, 9, 2), repeat=3) if sum(w) == 8]
    best = np.array(max(quarters, key=score))
    eighths = [w for w in product(range(9), repeat=3) if sum(w) == 8]
    near = [w for w in eighths if np.abs(w - best).sum() in (0, 2) and np.abs(w - best).max() < 2]
    assert (8 * weights).tolist() == list(max(near, key=score))
    assert (weights * 4 % 1).any()  # eighths, and better than all quarters
    found = model.validation_scores_
    assert found["blend"] == pytest.approx(score(weights))
    assert score(weights) > score(best)
    assert [found[name] for name in "abc"] == pytest.approx([score(w) for w in np.eye(3)])


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((4, 4), [(3, 5), (5, 3)]),
        ((0, 8), [(1, 7)]),
        ((8,), []),
        ((1, 0, 7), [(1, 1, 6), (2, 0, 6), (0, 1, 7), (0, 0, 8)]),
    ],
)
def test_neighbours_of_weights_move_one_unit(weights, expected):
    assert neighbouring_weights(weights) == expected


def test_members_of_no_weight_are_not_fitted():
    X, y = tree_problem()
    model = blend(weights=[1, 0, 0], hierarchy=TREE).fit(X, y)
    assert model.named_estimators_["kernel"] is None
    alone = model.named_estimators_["forest"].predict_node_proba(X)
    assert model.predict_node_proba(X) == pytest.approx(alone, abs=1e-12)


def test_any_classifier_of_several_paths_may_be_a_member():
    X, y = tree_problem()
    members = [("boosting", HierarchicalBoostingClassifier(4)), MEMBERS[0]]
    model = CoherentBlendClassifier(members, hierarchy=TREE, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_parameters_of_members_are_reached_by_name():
    model = blend().set_params(forest__n_estimators=3, kernel=CoherentKernelClassifier(9.0))
    assert model.get_params()["forest__n_estimators"] == 3
    assert dict(model.estimators)["kernel"].ridge == 9.0
    assert "estimators" in CoherentBlendClassifier().get_params()
    assert CoherentBlendClassifier().set_params(weights="equal").weights == "equal"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"weights": "best"}, "weights='best'"),
        ({"weights": [1, 2]}, "expected 3 numbers"),
        ({"weights": [0, 0, 0]}, "not all of them 0"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"estimators": []}, "estimators is empty"),
    ],
)
def test_bad_parameters_are_named(bad, words):
    X, y = tree_problem(20)
    with pytest.raises(PalmetteError, match=words):
        blend().set_params(**bad).fit(X, y)


# ---------------------------------------------------------------------- all of them


@pytest.mark.parametrize("model", EACH, ids=[name for name, _ in MEMBERS])
def test_missing_values_are_filled_or_refused(model):
    X, y = tree_problem(60)
    X[3, 1] = np.nan
    assert np.isfinite(clone(model).fit(X, y).predict_node_proba(X)).all()
    with pytest.raises(ValueError, match="NaN"):
        clone(model).set_params(missing="error").fit(X, y)


@pytest.mark.parametrize("model", EACH, ids=[name for name, _ in MEMBERS])
def test_a_node_that_all_rows_have_is_certain(model):
    X, _ = tree_problem(40)
    y = [{"a/b"} if x > 0 else {"a/c"} for x in X[:, 0]]
    proba = clone(model).set_params(hierarchy=TREE).fit(X, y).predict_node_proba(X, ["a", "g"])
    assert proba[:, 0] == pytest.approx(np.ones(len(X)), abs=1e-3)
    assert (proba[:, 1] == 0).all()  # and one that none has is impossible


@pytest.mark.parametrize("model", EACH, ids=[name for name, _ in MEMBERS])
def test_rows_without_labels_are_learnt_from(model):
    X, y = tree_problem(noise=0.05)
    fitted = clone(model).set_params(hierarchy=TREE).fit(X, y)
    empty = [i for i, labels in enumerate(y) if not labels]
    full = [i for i, labels in enumerate(y) if labels]
    proba = fitted.predict_node_proba(X)[:, 1:].max(axis=1)
    assert proba[empty].mean() < proba[full].mean()


def test_a_matrix_that_is_not_closed_is_closed_with_a_warning():
    X, _ = tree_problem(30)
    matrix = np.zeros((30, TREE.n_nodes - 1), dtype=int)  # all nodes but the root
    matrix[:, TREE.index("a/b") - 1] = X[:, 0] > 0
    matrix[:, TREE.index("d") - 1] = X[:, 1] > 0
    n_open = int((X[:, 0] > 0).sum())
    model = CoherentForestClassifier(5, hierarchy=TREE, random_state=0)
    with pytest.warns(UserWarning, match=f"{n_open} of the 30 rows of y mark a node but not its"):
        model.fit(X, matrix)
    predicted = model.predict_node_sets(X).toarray()
    assert (predicted[:, TREE.index("a")] >= predicted[:, TREE.index("a/b")]).all()
    assert predicted[:, TREE.index("a/b")].any()
