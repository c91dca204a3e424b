"""Arrays are made fit for a model, by the training rows alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier

from palmette.compare import _preparing as preparing
from palmette.compare._preparing import make_dense, prepare
from palmette.exceptions import PalmetteError
from palmette.models._registry import ModelSpec

PLAIN = ModelSpec("plain", DummyClassifier, "takes nothing special")
SCALED = ModelSpec("scaled", DummyClassifier, "", scale=True)
TREES = ModelSpec("trees", DummyClassifier, "", takes_missing=True, takes_codes=True)
DENSE = ModelSpec("dense", DummyClassifier, "", takes_sparse=False)


def seen_by_model(spec, X_train, X_test=None, **options):
    """Return what reaches the model in `fit` and, if asked, in `predict`."""
    model = prepare(DummyClassifier(), spec, X_train, X_test, **options)
    if not hasattr(model, "steps"):
        return X_train if X_test is None else X_test
    steps = model[:-1].fit(X_train)
    return steps.transform(X_train if X_test is None else X_test)


def test_plain_numbers_need_nothing():
    model = DummyClassifier()
    assert prepare(model, PLAIN, np.eye(3)) is model


def test_scale():
    X = np.array([[1.0, 10.0], [3.0, 30.0]])
    np.testing.assert_allclose(seen_by_model(SCALED, X), [[-1, -1], [1, 1]])


def test_scale_learns_from_training_rows_alone():
    X = np.array([[1.0], [3.0]])
    np.testing.assert_allclose(seen_by_model(SCALED, X, np.array([[5.0]])), [[3.0]])


def test_sparse_numbers_stay_sparse_and_keep_their_zeros():
    X = sparse.csr_array(np.array([[0.0, 2.0], [4.0, 0.0]]))
    scaled = seen_by_model(SCALED, X)
    assert sparse.issparse(scaled)
    assert scaled.nnz == 2


def test_sparse_numbers_become_dense_for_models_that_need_it():
    X = sparse.csr_array(np.eye(3))
    np.testing.assert_array_equal(seen_by_model(DENSE, X), np.eye(3))


def test_too_large_for_dense(monkeypatch):
    monkeypatch.setattr(preparing, "MAX_DENSE", 8)
    with pytest.raises(PalmetteError, match="sparse matrix of 3 x 3"):
        make_dense(sparse.csr_array(np.eye(3)))


def test_gaps_are_filled_with_means():
    X = np.array([[1.0, np.nan], [3.0, np.nan]])
    np.testing.assert_array_equal(seen_by_model(PLAIN, X, np.array([[np.nan, 5.0]])), [[2.0, 5.0]])


def test_gaps_in_test_rows_alone_are_filled():
    X, X_test = np.array([[1.0], [3.0]]), np.array([[np.nan]])
    np.testing.assert_array_equal(seen_by_model(PLAIN, X, X_test), [[2.0]])


def test_gaps_are_left_to_models_that_take_them():
    X = np.array([[1.0], [np.nan]])
    assert np.isnan(seen_by_model(TREES, X)).sum() == 1


def test_categories_become_columns():
    X = np.array([[0.0, 10.0], [1.0, 20.0], [2.0, 30.0]])
    mask = np.array([True, False])
    seen = seen_by_model(PLAIN, X, categorical=mask)
    np.testing.assert_array_equal(seen, np.c_[np.eye(3), [10, 20, 30]])
    # an unknown category is none of the known ones
    unknown = seen_by_model(PLAIN, X, np.array([[7.0, 40.0]]), categorical=mask)
    np.testing.assert_array_equal(unknown, [[0, 0, 0, 40]])


def test_categories_alone():
    X = np.array([[0.0], [1.0]])
    np.testing.assert_array_equal(seen_by_model(SCALED, X, categorical=[True]), np.eye(2))


def test_trees_take_categories_as_they_are():
    X = np.array([[0.0], [1.0]])
    assert seen_by_model(TREES, X, categorical=np.array([True])) is X
