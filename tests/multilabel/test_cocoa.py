from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

from palmette import PalmetteError
from palmette.multilabel import COCOA


def test_by_hand():
    X = [[0.0], [0.0], [1.0], [1.0]]
    Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    model = COCOA(1, 1, DecisionTreeClassifier(), random_state=0).fit(X, Y)
    # half of the rows have either label, so that nothing is left out. The first is told by x, alone
    # and coupled; of the second x says nothing: two rows of four, in either ensemble
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), [[1, 0.5], [0, 0.5]])
    assert [others.tolist() for others in model.couplings_] == [[1], [0]]
    assert model.ensembles_[0][1][0].classes_.tolist() == [0, 1, 2]
    # any threshold from 0 on separates the first label: the lowest is taken
    np.testing.assert_allclose(model.thresholds_, [0.0, 0.5], atol=1e-5)


def rare(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = (X + rng.normal(size=(n, 4)) > [0.5, 1.5, 2.0, -1.0]).astype(int)
    return X, Y


def test_samples_are_balanced():
    X, Y = rare()
    model = COCOA(2, 3, DecisionTreeClassifier(random_state=0), random_state=0).fit(X, Y)
    for j, (others, ensembles) in enumerate(zip(model.couplings_, model.ensembles_, strict=True)):
        true = Y[:, j] == 1
        size = min(true.sum(), (~true).sum())
        for tree in ensembles[0]:
            assert tree.tree_.n_node_samples[0] == 2 * size
        for other, trees in zip(others, ensembles[1:], strict=True):
            alone, neither = (~true & (Y[:, other] == flag) for flag in (1, 0))
            expected = sum(min(size, part.sum()) for part in (true, alone, neither))
            assert [tree.tree_.n_node_samples[0] for tree in trees] == [expected] * 3


def test_thresholds_are_the_best_on_the_training_rows():
    X, Y = rare(60)
    model = COCOA(3, 2, DecisionTreeClassifier(max_depth=2, random_state=0), random_state=0)
    proba = model.fit(X, Y).predict_proba(X)
    for j in range(4):
        reached = f1_score(Y[:, j], proba[:, j] > model.thresholds_[j])
        cuts = np.unique(proba[:, j])
        best = max(f1_score(Y[:, j], proba[:, j] > cut) for cut in [0.0, *cuts])
        assert reached == pytest.approx(best)
        lower = [cut for cut in [0.0, *cuts] if cut < model.thresholds_[j] - 1e-5]
        assert all(f1_score(Y[:, j], proba[:, j] > cut) < best - 1e-9 for cut in lower)
    assert np.array_equal(model.predict(X), proba > model.thresholds_)


def test_a_given_threshold_is_kept_to():
    X, Y = rare()
    model = COCOA(2, 2, decoding=0.5, random_state=0).fit(X, Y)
    assert np.array_equal(model.predict(X), model.predict_proba(X) > 0.5)
    assert not hasattr(model, "thresholds_")
    assert not hasattr(model, "_training_scores")


def test_no_more_couplings_than_other_labels():
    X, Y = rare()
    model = COCOA(10, 1, random_state=0).fit(X, Y)
    assert [sorted(others.tolist()) for others in model.couplings_] == [
        [1, 2, 3],
        [0, 2, 3],
        [0, 1, 3],
        [0, 1, 2],
    ]
    assert [len(e) for e in COCOA(0, 1, random_state=0).fit(X, Y).ensembles_] == [1] * 4


@pytest.mark.parametrize("parameters", [{"n_couplings": -1}, {"n_models": 0}, {"n_models": 1.5}])
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(PalmetteError, match="expected an integer of at least"):
        COCOA(**parameters).fit(*rare())
