from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from palmette import PalmetteError
from palmette.multilabel import HOMER, BinaryRelevance, C45Tree, CalibratedLabelRanking

# labels a and c go together, and b and d
X = np.array([[0.0]] * 4 + [[1.0]] * 3)
Y = np.array([list(row) for row in ["1010", "1010", "1000", "0100", "0101", "0101", "0001"]], int)


def test_by_hand():
    model = HOMER(2, DecisionTreeClassifier(), random_state=0).fit(X, Y)
    clusters = {tuple(group.tolist()) for group in model.tree_.groups}
    assert clusters == {(0, 1, 2, 3), (0, 2), (1, 3)}
    # at 0 three of four rows have a or c; of these all have a, two of three c
    # one of four has b or d, and that one has b
    soft = model.predict_proba([[0.0]])
    np.testing.assert_allclose(soft, [[3 / 4, 1 / 4, 2 / 3, 0]])
    hard = model.set_params(routing="hard").predict_proba([[0.0]])
    np.testing.assert_allclose(hard, [[1, 0, 2 / 3, 0]])
    # the cluster of b and d is rejected, and both have its score
    passed_on = model.set_params(routing="mulan").predict_proba([[0.0]])
    np.testing.assert_allclose(passed_on, [[1, 1 / 4, 2 / 3, 1 / 4]])


@pytest.mark.parametrize("n_labels", [2, 3, 5, 13])
@pytest.mark.parametrize("branching", [2, 4])
def test_routing_changes_scores_but_no_answer(n_labels, branching):
    rng = np.random.default_rng(n_labels)
    X = rng.normal(size=(80, 3))
    Y = (X @ rng.normal(size=(3, n_labels)) + rng.normal(size=(80, n_labels)) > 0.5).astype(int)
    base = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = HOMER(branching, base, random_state=0).fit(X, Y)
    soft, answers = model.predict_proba(X), model.predict(X)
    hard = model.set_params(routing="hard").predict_proba(X)
    assert np.array_equal(model.predict(X), answers)
    assert (hard[answers == 1] >= soft[answers == 1]).all()
    assert (hard[:, :][(hard > 0) & (answers == 0)] <= 0.5).all()
    passed_on = model.set_params(routing="mulan").predict_proba(X)
    told = model.predict(X)
    assert (told >= answers).all()  # ties are positive
    assert np.array_equal(passed_on[answers == 1], hard[answers == 1])
    assert (passed_on[told == 0] < 0.5).all()


def test_classifiers_of_a_cluster_see_the_rows_with_a_label_there():
    model = HOMER(2, DecisionTreeClassifier(), random_state=0).fit(X, Y)
    for models, choice in zip(model.models_, model._choices, strict=True):
        expected = 7 if choice.cluster == 0 else int(Y[:, choice.labels].any(axis=1).sum())
        for each in models:
            if hasattr(each, "tree_"):
                assert each.tree_.n_node_samples[0] == expected


@pytest.mark.parametrize("branching", [2, 4])
def test_binary_relevance_as_the_estimator_changes_nothing(branching):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    Y = (X @ rng.normal(size=(3, 7)) + rng.normal(size=(120, 7)) > 0.5).astype(int)
    for routing in ("soft", "hard", "mulan"):
        models = [
            HOMER(branching, each, routing=routing, random_state=0).fit(X, Y)
            for each in (C45Tree.preset("j48"), BinaryRelevance(C45Tree.preset("j48")))
        ]
        assert np.array_equal(*(model.predict_proba(X) for model in models))
        assert all(len(each) == 1 for each in models[1].models_)


def test_label_ranking_in_every_cluster():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    Y = (X @ rng.normal(size=(3, 7)) + rng.normal(size=(120, 7)) > 0.5).astype(int)
    ranking = CalibratedLabelRanking.preset("mulan")
    model = HOMER.preset("mulan", estimator=ranking, random_state=0).fit(X, Y)
    top, tree = model._choices[0], model.tree_
    parts = [tree.groups[child] for child in top.children]
    target = np.column_stack([Y[:, part].any(axis=1) for part in parts]).astype(int)
    alone = CalibratedLabelRanking.preset("mulan", random_state=0).fit(X, target)
    told, found = alone.predict(X).astype(bool), model.predict(X)
    for k, part in enumerate(parts):
        assert not found[~told[:, k]][:, part].any()
    assert found.any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"branching": 1}, "branching=1: expected"),
        ({"routing": "lost"}, "routing='lost': expected"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        HOMER(**parameters).fit(X, Y)
