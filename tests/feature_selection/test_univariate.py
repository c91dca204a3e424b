"""UnivariateScore: scikit-learn's functions, node by node."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_selection import chi2, f_classif, mutual_info_classif
from tests.feature_selection.node_problems import both_forms, problem, rows_and_classes, scores_of

from palmette import PalmetteError
from palmette.feature_selection._univariate import UnivariateScore


@pytest.mark.parametrize("function", [f_classif, chi2], ids=["f_classif", "chi2"])
def test_it_is_the_function_at_every_node(function):
    X, classes = rows_and_classes()
    X = np.abs(X)
    X[:, 3] = np.arange(len(X))
    found = scores_of(UnivariateScore(function), X, classes)
    assert np.array_equal(scores_of(UnivariateScore(function.__name__), X, classes), found)
    for row, task in zip(found, problem(X, classes).tasks(), strict=True):
        np.testing.assert_allclose(row, function(X[task.rows], task.codes)[0])


def test_mutual_information_is_the_same_every_time():
    X, classes = rows_and_classes()
    score = UnivariateScore(mutual_info_classif, {"n_neighbors": 2})
    one, again, alike = (scores_of(score, X, classes, seed=s, n_jobs=s + 1) for s in (0, 0, 1))
    assert np.array_equal(one, again)
    assert one[0].max() > 0.2
    np.testing.assert_allclose(one, alike, atol=0.2)
    options = {"n_neighbors": 2, "random_state": 3}  # it draws to break ties between neighbours
    varies = np.ptp(X, axis=0) > 0
    literal = mutual_info_classif(X[:, varies], problem(X, classes).task(0).codes, **options)
    found = scores_of(UnivariateScore(mutual_info_classif, options), X, classes)
    np.testing.assert_allclose(found[0][varies], literal)
    assert not found[0][~varies].any()  # where the function itself sees noise


def test_sparse_rows_are_dense_rows():
    X, classes = rows_and_classes()
    dense, packed = both_forms(np.abs(X))
    for function in (f_classif, chi2):
        one, other = (scores_of(UnivariateScore(function), r, classes) for r in (dense, packed))
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_constant_features_have_no_score():
    X, classes = rows_and_classes()
    for rows in (X, sparse.csr_array(X)):
        found = scores_of(UnivariateScore(), rows, classes)
        assert (found[:, 3] == 0.0).all()
        assert (found[0, [0, 1, 2]] > 0.0).all()
    assert (scores_of(UnivariateScore(), np.ones_like(X), classes) == 0.0).all()


def test_scores_are_made_finite_and_positive():
    X, classes = rows_and_classes()
    X = X[:, [0, 1, 2, 4]]
    found = scores_of(UnivariateScore(lambda X, y: [np.nan, np.inf, 7.0, -2.0]), X, classes)
    assert found[0].tolist() == [0.0, 7.0, 7.0, 0.0]


def test_weights_go_to_functions_that_take_them():
    X, classes = rows_and_classes()
    X[:, 3] = np.arange(len(X))
    weights = np.arange(len(X)) + 1.0

    def weighted(X, y, sample_weight=None):
        assert len(sample_weight) == len(y) == len(X)
        return np.full(X.shape[1], sample_weight.sum())

    found = scores_of(UnivariateScore(weighted), X, classes, weights=weights)
    assert found[0, 0] == weights.sum()
    with pytest.raises(PalmetteError, match="f_classif does not accept it"):
        scores_of(UnivariateScore("f_classif"), X, classes, weights=weights)


def test_what_is_no_score_function_is_described():
    X, classes = rows_and_classes()
    with pytest.raises(PalmetteError, match="function='anova' is unknown"):
        scores_of(UnivariateScore("anova"), X, classes)
    with pytest.raises(PalmetteError, match=r"returned scores of shape \(\): expected \(8,\)"):
        scores_of(UnivariateScore(lambda X, y: 1.0), X, classes)
