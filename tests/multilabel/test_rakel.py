from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from palmette import PalmetteError
from palmette.multilabel import RAkEL

X = np.array([[0.0]] * 3 + [[1.0]] * 3)
Y = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 0]])


def test_by_hand():
    model = RAkEL(k=2, estimator=DecisionTreeClassifier(), random_state=0).fit(X, Y)
    assert model.combinations_[0].astype(int).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    # at 0 two of three rows have the first label alone, one has both; at 1 two the second, one none
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), [[1, 1 / 3], [0, 2 / 3]])
    votes = model.set_params(voting="hard").predict_proba([[0.0], [1.0]])
    assert votes.tolist() == [[1, 0], [0, 1]]


def labels(n_labels, n=40, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < 0.3).astype(int)
    Y[0] = 1
    return rng.normal(size=(n, 3)), Y


@pytest.mark.parametrize(("n_labels", "k"), [(7, 3), (6, 3), (5, 1), (4, 2)])
def test_sets_differ_and_have_every_label(n_labels, k):
    model = RAkEL(k, estimator=DecisionTreeClassifier(max_depth=1), random_state=0)
    sets = [tuple(labels) for labels in model.fit(*labels(n_labels)).labelsets_]
    assert len(set(sets)) == len(sets)
    assert set(np.concatenate(sets)) == set(range(n_labels))
    assert all(len(set(members)) == len(members) == k for members in sets)


def test_there_are_twice_as_many_sets_as_labels_but_no_more_than_exist():
    stump = DecisionTreeClassifier(max_depth=1)
    assert len(RAkEL(3, estimator=stump, random_state=0).fit(*labels(8)).labelsets_) == 16
    assert len(RAkEL(3, 5, estimator=stump, random_state=0).fit(*labels(8)).labelsets_) == 5
    few = RAkEL(2, estimator=stump, random_state=0).fit(*labels(3)).labelsets_
    assert {tuple(members.tolist()) for members in few} == {(0, 1), (0, 2), (1, 2)}
    assert len(RAkEL(9, estimator=stump).fit(*labels(4)).labelsets_) == 1


def test_disjoint_sets_are_a_partition():
    model = RAkEL(3, overlapping=False, random_state=0).fit(*labels(7))
    assert sorted(np.concatenate(model.labelsets_)) == list(range(7))
    assert sorted(map(len, model.labelsets_)) == [1, 3, 3]


def test_half_of_the_hard_votes_suffice():
    Y = np.array([[1, 0, 0]] * 3 + [[0, 0, 1]] * 2 + [[0, 1, 1]] * 2)
    model = RAkEL(2, voting="hard", estimator=DecisionTreeClassifier(), random_state=0)
    model.fit(np.zeros((7, 1)), Y)
    # most rows have (1, 0) of labels 0 and 1, (0, 1) of 0 and 2, (0, 0) of 1 and 2
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[1 / 2, 0, 1 / 2]])
    assert model.predict([[0.0]]).tolist() == [[1, 0, 1]]


def test_models_vote_for_the_labels_of_their_sets_only():
    X, Y = labels(5)
    model = RAkEL(2, 4, estimator=DecisionTreeClassifier(random_state=0), random_state=1).fit(X, Y)
    votes, n_votes = np.zeros((40, 5)), np.zeros(5)
    for members, combos, tree in zip(
        model.labelsets_, model.combinations_, model.models_, strict=True
    ):
        votes[:, members] += tree.predict_proba(X) @ combos
        n_votes[members] += 1
    np.testing.assert_allclose(model.predict_proba(X), votes / n_votes, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k=0: expected an integer from 1 to 62"),
        ({"k": 63}, "k=63: expected"),
        ({"n_models": 0}, "n_models=0: expected a positive integer or None"),
        ({"voting": "loud"}, "voting='loud': expected"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        RAkEL(**parameters).fit(X, Y)
