"""ScaledRows: sparse operations, compared with the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.feature_selection._fsnm import ScaledRows

RNG = np.random.default_rng(0)
X = np.where(RNG.random((12, 5)) < 0.5, 0.0, RNG.normal(size=(12, 5)) + 1.0)
X[:, 2] = 3.3
WEIGHTS = np.arange(12.0) + 1.0


def dense_matrix():
    mean = np.average(X, axis=0, weights=WEIGHTS)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=WEIGHTS))
    Z = (X - mean) / np.where(deviation > 1e-9, deviation, np.inf)
    return Z


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_all_products_are_those_of_the_matrix_that_is_meant(form):
    for rows, Z in (
        (ScaledRows.standardized(form(X), WEIGHTS), dense_matrix()),
        (ScaledRows.plain(form(X)), X),
    ):
        W, V = RNG.normal(size=(5, 3)), RNG.normal(size=(12, 3))
        by_feature, by_row = np.arange(5.0), WEIGHTS
        close = {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(rows.times(W), Z @ W, **close)
        np.testing.assert_allclose(rows.transposed_times(V), Z.T @ V, **close)
        gram = Z @ np.diag(by_feature) @ Z.T
        np.testing.assert_allclose(rows.row_gram(by_feature), gram, **close)
        np.testing.assert_allclose(rows.squares(by_feature), np.diag(gram), **close)
        np.testing.assert_allclose(rows.column_gram(by_row), Z.T @ np.diag(by_row) @ Z, **close)
        some = np.array([4, 1])
        np.testing.assert_allclose(rows.columns(some).times(W[:2]), Z[:, some] @ W[:2], **close)


def test_data_far_from_the_origin_keep_their_digits():
    far = ScaledRows.standardized(X + 1e7, WEIGHTS)
    np.testing.assert_allclose(far.times(np.eye(5)), dense_matrix(), atol=1e-7)
