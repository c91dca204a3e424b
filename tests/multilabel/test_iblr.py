from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from palmette import PalmetteError
from palmette.multilabel import IBLR

# three pairs of neighbours: both have the label, one has, none has
X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
Y = [{"a"}, {"a"}, {"a"}, set(), set(), set()]


def test_by_hand():
    model = IBLR(n_neighbors=1).fit(X, Y)
    # of three rows whose neighbour has the label two have it, of the other three one
    np.testing.assert_allclose(
        model.predict_proba([[0.2], [10.1], [20.4]])[:, 0], [2 / 3, 2 / 3, 1 / 3], rtol=1e-4
    )
    assert model.predict([[0.2], [20.4]]) == [{"a"}, set()]


def small(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    return X, (X[:, :2] + rng.normal(size=(40, 2)) > 0).astype(int)


@pytest.mark.parametrize("add_features", [False, True])
@pytest.mark.parametrize("scale", [None, "range"])
def test_it_is_a_logistic_regression_on_the_labels_of_neighbours(add_features, scale):
    X, Y = small()
    X[:, 2] *= 7.0
    near = X if scale is None else X / np.ptp(X, axis=0)
    distances = np.linalg.norm(near[:, None] - near, axis=2) + np.diag(np.full(40, np.inf))
    shares = Y[np.argsort(distances, axis=1)[:, :5]].mean(axis=1)
    rows = np.hstack([shares, X]) if add_features else shares
    model = IBLR(5, add_features, C=1.0, scale=scale).fit(X, Y)
    for j in range(2):
        oracle = LogisticRegression(C=1.0, tol=1e-8).fit(rows, Y[:, j])
        np.testing.assert_allclose(model.models_[j].coef_, oracle.coef_, atol=1e-3)


def test_sparse_rows_with_features_stay_sparse():
    X, Y = small()
    X[:, :2] = np.where(X[:, :2] > 0, X[:, :2], 0.0)  # the third column leaves no equal distances
    dense = IBLR(5, True, C=1.0).fit(X, Y).predict_proba(X)
    compressed = IBLR(5, True, C=1.0).fit(sparse.csr_array(X), Y).predict_proba(sparse.csr_array(X))
    np.testing.assert_allclose(compressed, dense, atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"n_neighbors": 0}, "n_neighbors=0"), ({"C": -1.0}, "C=-1.0: expected a positive")],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(PalmetteError, match=message):
        IBLR(**parameters).fit(X, Y)
