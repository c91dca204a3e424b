from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from tests.spies import Keeper

from palmette import PalmetteError
from palmette.multilabel import ChainEnsemble
from palmette.multilabel._chains import PredictedChain, TrainingChain


def problem(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = X[:, :3] + rng.normal(size=(n, 3)) > 0
    Y[:, 2] |= Y[:, 0]
    return X, Y.astype(int)


def test_a_chain_is_that_of_scikit_learn():
    X, Y = problem()
    base = LogisticRegression(tol=1e-8)
    ensemble = ChainEnsemble(base, n_chains=3, sampling=None, random_state=0).fit(X, Y)
    chains = [ClassifierChain(base, order=order).fit(X, Y) for order in ensemble.orders_]
    expected = np.mean([chain.predict_proba(X) for chain in chains], axis=0)
    np.testing.assert_allclose(ensemble.predict_proba(X), expected, atol=1e-4)
    votes = ensemble.set_params(voting="hard").predict_proba(X)
    np.testing.assert_allclose(votes, np.mean([c.predict(X) for c in chains], axis=0), atol=1e-12)


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_steps_by_hand(as_matrix):
    X = as_matrix(np.array([[7.0, 0.0], [0.0, 8.0]]))
    Y = sparse.csr_array(np.array([[1, 0, 1], [0, 1, 1]], dtype=bool))
    chain, steps = TrainingChain(X, Y, None), []
    for place in range(3):
        rows, target = chain.step(place)
        steps.append((rows.toarray() if sparse.issparse(rows) else rows.copy(), target.tolist()))
    assert steps[0][0].tolist() == [[7, 0, 0, 0, 0], [0, 8, 0, 0, 0]]
    assert steps[1][0].tolist() == [[7, 0, 1, 0, 0], [0, 8, 0, 0, 0]]
    assert steps[2][0].tolist() == [[7, 0, 1, 0, 0], [0, 8, 0, 1, 0]]
    assert [target for _, target in steps] == [[1, 0], [0, 1], [1, 1]]
    chain = PredictedChain(X, 3)
    chain.add_label(0, np.array([True, False]))
    chain.add_label(1, np.array([True, True]))
    matrix = chain.matrix.toarray() if sparse.issparse(chain.matrix) else chain.matrix
    assert matrix.tolist() == [[7, 0, 1, 1, 0], [0, 8, 0, 1, 0]]


def test_a_classifier_may_keep_its_rows():
    X, Y = problem()
    fitted = ChainEnsemble(KNeighborsClassifier(3), n_chains=1, sampling=None, random_state=0)
    found = fitted.fit(X, Y).predict_proba(X)
    rows, expected = X, np.empty(found.shape)
    known = X
    for column in fitted.orders_[0].tolist():
        member = KNeighborsClassifier(3).fit(known, Y[:, column])
        expected[:, column] = member.predict_proba(rows)[:, 1]
        known = np.column_stack([known, Y[:, column]])
        rows = np.column_stack([rows, expected[:, column] > 0.5])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_rows_given_to_a_classifier_never_change(as_matrix):
    X, Y = problem()
    with Keeper.watching() as kept:
        model = ChainEnsemble(Keeper(), n_chains=2, random_state=0).fit(as_matrix(X), Y)
        model.predict(as_matrix(X))
        assert all(is_same() for is_same in kept)


def test_the_rows_that_came_are_not_changed():
    X, Y = problem()
    before = X.copy()
    ChainEnsemble(LogisticRegression(), n_chains=2, sampling=None).fit(X, Y).predict(X)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("sampling", ["bootstrap", "subsample"])
def test_chains_see_samples_of_their_own(sampling):
    X, Y = problem()
    model = ChainEnsemble(n_chains=2, sampling=sampling, random_state=0).fit(X, Y)
    seen = [int(chain[0].tree_.tree_.n_node_samples[0]) for chain in model.chains_]
    if sampling == "subsample":
        assert seen == [41, 41]  # .67 of 60, rounded up
    else:
        assert all(35 <= n <= 90 for n in seen)
    thresholds = [chain[0].tree_.tree_.threshold[0] for chain in model.chains_]
    assert thresholds[0] != thresholds[1]


def test_margins_serve_where_there_are_no_probabilities():
    X, Y = problem()
    model = ChainEnsemble(LinearSVC(), n_chains=2, random_state=0).fit(X, Y)
    proba = model.predict_proba(X)
    assert ((proba > 0) & (proba < 1)).all()
    assert (model.predict(X) == Y).mean() > 0.7


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_chains": 0}, "n_chains=0: expected a positive integer"),
        ({"sampling": "some"}, "sampling='some': expected"),
        ({"max_samples": 2}, "max_samples=2: expected a number above 0"),
        ({"voting": "loud"}, "voting='loud': expected"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        ChainEnsemble(**parameters).fit(*problem())
