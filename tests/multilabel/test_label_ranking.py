from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from palmette import PalmetteError
from palmette.multilabel import CalibratedLabelRanking

X = np.array([[0.0]] * 2 + [[1.0]] * 2)
Y = np.array([[1, 1, 0]] * 2 + [[0, 0, 1]] * 2)


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_by_hand(voting):
    model = CalibratedLabelRanking(DecisionTreeClassifier(), voting=voting).fit(X, Y)
    # no row has one of the first two alone: they share the vote between them
    assert model.pair_models_[0][0] is None
    # at 0: votes 1 + 1/2 + 1 for either, none for the third, one for the virtual label
    # at 1: votes 1/2 for either, three for the third, two for the virtual label
    expected = [
        [(3 / 4 + 1) / 2, (3 / 4 + 1) / 2, 0.5 / 4 / 2],
        [1 / 4 / 2, 1 / 4 / 2, (3.5 / 4 + 1) / 2],
    ]
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), expected)
    assert model.predict([[0.0], [1.0]]).tolist() == [[1, 1, 0], [0, 0, 1]]


def vote(tree, X):
    share = tree.predict_proba(X)[:, 1]
    return (share > 0.5) + 0.5 * (share == 0.5)


def test_the_answer_is_the_labels_at_or_before_the_virtual_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = (X[:, [0, 1, 2, 0]] + rng.normal(size=(60, 4)) > 0).astype(int)
    base = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = CalibratedLabelRanking(base, random_state=0).fit(X, Y)
    votes, virtual = np.zeros((60, 4)), np.zeros(60)
    for i in range(4):
        true = vote(model.label_models_[i], X)
        votes[:, i] += true
        virtual += 1 - true
        for j in range(i + 1, 4):
            rows = Y[:, i] != Y[:, j]
            assert model.pair_models_[i][j - i - 1].tree_.n_node_samples[0] == rows.sum()
            won = vote(model.pair_models_[i][j - i - 1], X)
            votes[:, i] += won
            votes[:, j] += 1 - won
    assert np.array_equal(model.predict(X), votes >= virtual[:, None])
    order = np.argsort(votes, axis=1, kind="stable")
    ranked = np.take_along_axis(model.predict_proba(X), order, axis=1)
    assert (np.diff(ranked, axis=1) >= 0).all()


def test_unknown_voting_is_refused():
    with pytest.raises(PalmetteError, match="voting='loud': expected"):
        CalibratedLabelRanking(voting="loud").fit(X, Y)
