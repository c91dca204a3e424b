"""Properties of all multi-label methods, and unusual data."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.instances import label

from palmette import Hierarchy, LabelError
from palmette.multilabel import (
    COCOA,
    HOMER,
    IBLR,
    CalibratedLabelRanking,
    ChainEnsemble,
    MLkNN,
    RAkEL,
)

MODELS = [
    MLkNN(3),
    IBLR(3, C=10.0),
    IBLR(3, True, C=10.0),
    ChainEnsemble(n_chains=3, random_state=0),
    ChainEnsemble(n_chains=2, sampling="subsample", voting="hard", random_state=0),
    CalibratedLabelRanking(random_state=0),
    RAkEL(random_state=0),
    RAkEL(2, overlapping=False, voting="hard", random_state=0),
    HOMER(2, random_state=0),
    COCOA(2, 2, random_state=0),
]
each = pytest.mark.parametrize("model", MODELS, ids=label)


def problem(n=40, n_labels=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[np.abs(X) < 0.3] = 0.0
    Y = (X @ rng.normal(size=(4, n_labels)) + rng.normal(size=(n, n_labels)) > 0.7).astype(int)
    return X, Y


@cache
def fitted_to_the_problem(model):
    """Fit a clone once for all tests that only predict with it."""
    return clone(model).fit(*problem())


@each
def test_constant_columns_keep_their_value(model):
    X, Y = problem()
    Y[:, 1], Y[:, 3] = 1, 0
    with pytest.warns(UserWarning, match="1 of the 5 columns of y has no positive row"):
        fitted = clone(model).fit(X, Y)
    assert fitted.predict(X)[:, [1, 3]].tolist() == [[1, 0]] * len(X)
    assert (fitted.predict_proba(X)[:, 3] == 0).all()


@each
def test_rows_may_have_no_label_and_labels_may_be_strings(model):
    X, Y = problem()
    y = [{"abcde"[j] for j in np.flatnonzero(row)} for row in Y]
    assert set() in y
    predicted = clone(model).fit(X, y).predict(X)
    as_matrix = [["abcde"[j] in labels for j in range(5)] for labels in predicted]
    assert np.array_equal(as_matrix, fitted_to_the_problem(model).predict(X))


@each
def test_one_label_alone(model):
    X, Y = problem()
    y = [{"a"} if flag else set() for flag in Y[:, 0]]
    fitted = clone(model).fit(X, y)
    assert fitted.classes_.tolist() == ["a"]
    assert set().union(*fitted.predict(X)) == {"a"}


@each
@pytest.mark.filterwarnings("ignore:.*have no positive row")
def test_more_labels_than_rows(model):
    X, Y = problem(n=6, n_labels=12)
    fitted = clone(model).fit(X, Y)
    assert fitted.predict(X).shape == (6, 12)
    proba = fitted.predict_proba(X)
    assert ((proba >= 0) & (proba <= 1)).all()


@each
def test_one_row(model):
    fitted = clone(model).fit([[1.0, 2.0]], [{"a", "b"}])
    assert fitted.predict([[0.0, 0.0]]) == [{"a", "b"}]


@each
def test_missing_values_and_odd_indicators_are_refused(model):
    X, Y = problem()
    with pytest.raises(LabelError, match="contains 2: expected 0 and 1 only"):
        clone(model).fit(X, sparse.csr_array(2 * Y))
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clone(model).fit(X, Y)


@each
def test_one_label_a_row_is_answered_with_one(model):
    X, _ = problem()
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    fitted = clone(model).fit(X, y)
    assert set(fitted.predict(X)) <= {"low", "middle", "high"}
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)
    assert fitted.score(X, y) > 0.6


@each
def test_jobs_and_copies_change_nothing(model):
    X, Y = problem()
    fitted = fitted_to_the_problem(model)
    expected = fitted.predict_proba(X)
    assert np.array_equal(clone(model).fit(X, Y).predict_proba(X), expected)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), expected)
    two = clone(model).set_params(n_jobs=2).fit(X, Y)
    assert np.array_equal(two.predict_proba(X), expected)


@each
def test_sparse_rows_and_tables_are_dense_rows(model):
    X, Y = problem()
    expected = fitted_to_the_problem(model).predict_proba(X)
    compressed = clone(model).fit(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(compressed.predict_proba(sparse.csc_array(X)), expected, atol=1e-4)
    frame = clone(model).fit(pd.DataFrame(X, columns=list("pqrs")), pd.DataFrame(Y))
    assert np.array_equal(frame.predict_proba(pd.DataFrame(X, columns=list("pqrs"))), expected)


@each
def test_a_weight_is_a_number_of_copies(model):
    X, Y = problem()
    weights = np.arange(len(X)) % 3
    copies = np.repeat(np.arange(len(X)), weights)
    weighted = clone(model).fit(X, Y, sample_weight=weights)
    repeated = clone(model).fit(X[copies], Y[copies])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-4)
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


@each
def test_answers_along_a_hierarchy_are_coherent(model):
    X, Y = problem()
    h = Hierarchy.from_paths([("up", "a"), ("up", "b"), ("down", "c"), ("down", "d"), ("e",)])
    y = [{"abcde"[j] for j in np.flatnonzero(row)} for row in Y]
    fitted = clone(model).set_params(hierarchy=h).fit(X, y)
    proba, sets = fitted.predict_node_proba(X), fitted.predict_node_sets(X).toarray()
    for node in range(1, h.n_nodes):
        above = h.parents_of(node)[0]
        assert (proba[:, node] <= proba[:, above]).all()
        assert (sets[:, node] <= sets[:, above]).all()


@each
def test_it_tells_labels_apart_that_the_rows_tell(model):
    codes = np.repeat(np.arange(5), 8)
    sets = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 1, 0]])
    X, Y = 10.0 * np.eye(5)[codes], sets[codes]
    if isinstance(model, ChainEnsemble | COCOA):
        name = "n_chains" if isinstance(model, ChainEnsemble) else "n_models"
        model = clone(model).set_params(**{name: 15})
    assert np.array_equal(clone(model).fit(X, Y).predict(X), Y)


@pytest.mark.parametrize("model", MODELS[3:], ids=label)
def test_verbose_prints_the_progress_and_changes_nothing(model, capsys):
    X, Y = problem()
    loud = clone(model).set_params(verbose=1).fit(X, Y)
    assert "Done" in capsys.readouterr().err
    np.testing.assert_array_equal(
        loud.predict_proba(X), fitted_to_the_problem(model).predict_proba(X)
    )
