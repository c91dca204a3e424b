"""Features are imputed, ranked and scaled by the training rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm

from palmette.multipath._base import FeatureScaling


def test_values_become_normal_scores_of_their_ranks():
    X = np.array([[3.0], [1.0], [2.0], [50.0]])
    raw = norm.ppf(np.array([3, 1, 2, 4]) / 5 - 0.0)  # places (2 rank) / (2 (n + 1))
    expected = (raw - raw.mean()) / raw.std()
    assert FeatureScaling().fit(X).transform(X).ravel() == pytest.approx(expected, abs=1e-6)


def test_a_monotone_change_of_a_column_changes_nothing():
    X = np.random.default_rng(0).normal(size=(30, 3))
    other = np.exp(3 * X)
    assert np.array_equal(
        FeatureScaling().fit(X).transform(X), FeatureScaling().fit(other).transform(other)
    )


def test_two_values_come_out_as_if_standardized():
    X = np.array([[0.0], [1.0], [1.0], [1.0], [0.0]])
    expected = (X - X.mean()) / X.std()
    assert FeatureScaling().fit(X).transform(X) == pytest.approx(expected, abs=1e-6)


def test_missing_values_are_the_mean_of_training():
    X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    scaling = FeatureScaling(ranks=False).fit(X)
    assert scaling.fill_.tolist() == [2.0, 0.0]
    assert scaling.transform(np.array([[np.nan, np.nan]])).tolist() == [[0.0, 0.0]]


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(20, 2)).round(1), rng.integers(1, 4, size=20)
    weighted = FeatureScaling().fit(X, weights.astype(float))
    copied = FeatureScaling().fit(np.repeat(X, weights, axis=0))
    assert weighted.transform(X) == pytest.approx(copied.transform(X), abs=1e-6)


def test_sparse_rows_stay_sparse_and_zeros_zero():
    X = sparse.random_array(
        (20, 5), density=0.3, random_state=np.random.default_rng(0), format="csr"
    )
    scaling = FeatureScaling().fit(X)
    scaled = scaling.transform(X)
    assert sparse.issparse(scaled)
    assert scaled.nnz == X.nnz
    assert np.asarray(scaled.multiply(scaled).mean(axis=0)) == pytest.approx(np.ones(5), abs=1e-5)
    assert scaling.transform(X.toarray()) == pytest.approx(scaled.toarray(), abs=1e-6)


def test_sparse_rows_are_taken_where_dense_ones_were_learnt_from():
    X = np.random.default_rng(0).integers(0, 3, size=(10, 4)).astype(float)
    scaling = FeatureScaling().fit(X)
    assert np.array_equal(scaling.transform(sparse.csr_array(X)), scaling.transform(X))


def test_a_constant_column_is_zero():
    X = np.ones((4, 1))
    assert FeatureScaling().fit(X).transform(X).tolist() == [[0.0]] * 4


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_training_rows_are_scaled_as_other_rows_are(weighted, is_sparse):
    """Their scores are known from the ranks, and need no search."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 6)), 1)
    X[:, 4] = 1.0
    weights = rng.integers(1, 4, 60).astype(float) if weighted else None
    if is_sparse:
        X = sparse.csr_array(X)
        found = FeatureScaling().fit_transform(X, weights).toarray()
        assert np.array_equal(found, FeatureScaling().fit(X, weights).transform(X).toarray())
        return
    X[rng.random(X.shape) < 0.1] = np.nan
    categorical = np.arange(6) == 5
    found = FeatureScaling().fit_transform(X, weights, categorical)
    expected = FeatureScaling().fit(X, weights, categorical).transform(X)
    assert found.tobytes() == expected.tobytes()
    assert found.flags.c_contiguous
