"""Scaling of numeric, nominal and sparse columns, independent of the form of X."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.base import _column_scale as column_scale
from palmette.base._column_scale import ColumnScale
from palmette.exceptions import PalmetteError

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(50.0, 3.0, (60, 4))
NOMINAL = (RNG.random((60, 3)) < 0.3).astype(float)


def test_numeric_columns_get_mean_zero_and_deviation_one_and_nominal_ones_stay():
    X = np.hstack([NUMBERS, NOMINAL])
    scaled = ColumnScale().fit(X).transform(X)
    assert scaled.dtype == np.float32
    assert scaled.flags.c_contiguous
    np.testing.assert_allclose(scaled[:, :4].mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(scaled[:, :4].std(axis=0), 1, atol=1e-6)
    assert np.array_equal(scaled[:, 4:], NOMINAL)
    scale = ColumnScale().fit(X)
    np.testing.assert_allclose(scale.spread_, scaled.std(axis=0), atol=1e-6)


def test_without_standardizing_values_stay():
    assert np.array_equal(ColumnScale(False).fit(NUMBERS).transform(NUMBERS), np.float32(NUMBERS))


def test_constant_columns_are_harmless():
    X = np.column_stack([np.full(9, 1e9), np.full(9, 0.1), np.zeros(9), np.arange(9.0)])
    scale = ColumnScale().fit(X)
    assert (np.abs(scale.transform(X)[:, :3]) < 1e-6).all()
    assert scale.spread_.tolist()[:3] == [0, 0, 0]


def test_large_means_cost_no_digits():
    X = 1e9 + np.arange(10.0)[:, None]
    scaled = ColumnScale().fit(X).transform(X)
    np.testing.assert_allclose(np.diff(scaled[:, 0]), 1 / np.arange(10.0).std(), rtol=1e-6)


def test_weights_are_copies():
    weights = RNG.integers(1, 4, 60)
    weighted = ColumnScale().fit(NUMBERS, weights.astype(float))
    repeated = ColumnScale().fit(np.repeat(NUMBERS, weights, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_)


@pytest.mark.parametrize("density", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("values", [np.ones((50, 20)), RNG.normal(5, 1, (50, 20))])
def test_sparse_rows_and_dense_ones_are_the_same(density, values):
    X = np.where(RNG.random((50, 20)) < density, values, 0.0)
    dense, compressed = ColumnScale().fit(X), ColumnScale().fit(sparse.csr_array(X))
    for name in ("mean_", "scale_", "spread_", "keeps_zeros_"):
        assert np.array_equal(getattr(dense, name), getattr(compressed, name))
    rows = [
        scale.transform(some) for scale in (dense, compressed) for some in (X, sparse.csr_array(X))
    ]
    assert all(sparse.issparse(some) == dense.keeps_zeros_ for some in rows)
    tables = [some.toarray() if sparse.issparse(some) else some for some in rows]
    assert all(np.array_equal(table, tables[0]) for table in tables)
    assert dense.keeps_zeros_ == (density == 0.02)


def test_columns_of_mostly_zeros_keep_them():
    X = np.where(RNG.random((200, 3)) < 0.3, RNG.normal(5, 1, (200, 3)), 0.0)
    scaled = ColumnScale().fit(X).transform(X)
    assert np.array_equal(scaled == 0, X == 0)
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-6)


def test_sparse_rows_too_many_to_be_dense_keep_all_zeros(monkeypatch):
    X = np.where(RNG.random((60, 5)) < 0.8, RNG.normal(5, 1, (60, 5)), 0.0)
    known = ColumnScale().fit(X)
    monkeypatch.setattr(column_scale, "_DENSE_CELLS", 10)
    scale = ColumnScale().fit(sparse.csr_array(X))
    scaled = scale.transform(sparse.csr_array(X))
    assert sparse.issparse(scaled)
    np.testing.assert_allclose(scale.scale_, known.scale_)
    np.testing.assert_allclose(scaled.toarray(), X / known.scale_, rtol=1e-6)


def test_numbers_beyond_single_precision_are_refused():
    X = np.array([[1e300], [-1e300], [0.0]])
    with pytest.raises(PalmetteError, match="too large for single precision"):
        ColumnScale(False).fit(X).transform(X)
