"""Bins of features, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import mutual_info_score
from tests.strategies import quick

from palmette import PalmetteError
from palmette.feature_selection import _mrmr as binned
from palmette.feature_selection._mrmr import bin_edges, bin_rows

BINS = ["deviation", "round", "values", 2, 3, 5]


def bins_of(X, bins, weights=None, width=1.0):
    weights = np.ones(X.shape[0]) if weights is None else weights
    rows = bin_rows(X, bins, bin_edges(X, bins, width, weights), weights)
    return rows, [rows.feature(j)[0] for j in range(X.shape[1])]


def groups(codes):
    """Return the rows of each bin, without its number."""
    return {frozenset(np.flatnonzero(codes == code)) for code in np.unique(codes)}


def test_three_bins_by_the_deviation():
    X = np.array([[0.0], [10.0], [10.0], [10.0], [10.0], [20.0]])
    assert bins_of(X, "deviation")[1][0].tolist() == [0, 1, 1, 1, 1, 2]
    assert bins_of(X, "deviation", width=2.0)[1][0].tolist() == [1] * 6


def test_edges_of_more_rows_are_kept():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    edges = bin_edges(X, 2, 1.0, np.ones(4))
    for rows in (X[2:], sparse.csr_array(X[2:])):
        binned = bin_rows(rows, 2, edges, np.ones(2))
        assert not binned.varies[0]


def test_bins_of_equal_weight_are_cut_at_values():
    X = np.array([[3.0], [1.0], [2.0], [4.0]])
    assert bins_of(X, 2)[1][0].tolist() == [1, 0, 0, 1]
    assert bins_of(X, 4)[1][0].tolist() == [2, 0, 1, 3]
    heavy = bins_of(X, 2, np.array([1.0, 5.0, 1.0, 1.0]))[1][0]
    assert heavy.tolist() == [1, 0, 1, 1]


def test_halves_are_rounded_away_from_zero():
    X = np.array([[-0.5], [-0.4], [0.4], [0.5], [1.4]])
    assert groups(bins_of(X, "round")[1][0]) == {
        frozenset([0]),
        frozenset([1, 2]),
        frozenset([3, 4]),
    }


@quick
@given(st.integers(0, 10**6), st.sampled_from(BINS))
def test_sparse_bins_are_dense_bins(seed, bins):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((14, 4)) < 0.6, 0.0, np.round(rng.normal(size=(14, 4)), 1))
    X[:, 3] = rng.choice([0.0, 2.0])
    weights = rng.integers(1, 4, size=14).astype(float)
    dense, by_feature = bins_of(X, bins, weights)
    packed, other = bins_of(sparse.csr_array(X), bins, weights)
    for one, same in zip(by_feature, other, strict=True):
        assert groups(one) == groups(same)
    assert np.array_equal(dense.varies, packed.varies)
    target = rng.integers(3, size=14)
    wanted = np.array([3, 0, 1])
    found = dense.information(target, 3, wanted)
    np.testing.assert_allclose(packed.information(target, 3, wanted), found, atol=1e-12)
    copies = np.repeat(np.arange(14), weights.astype(int))
    expected = [mutual_info_score(by_feature[j][copies], target[copies]) for j in wanted]
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_many_values_of_the_target_are_counted_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 5), density=0.4, random_state=rng, format="csr")
    target, rows = rng.integers(20, size=60), bins_of(X, 3)[0]
    whole = rows.information(target, 20, np.arange(5))
    monkeypatch.setattr(binned, "_AT_ONCE", 30)
    np.testing.assert_allclose(rows.information(target, 20, np.arange(5)), whole, rtol=1e-12)


def test_too_many_values_are_refused(monkeypatch):
    monkeypatch.setattr(binned, "_MAX_VALUES", 3)
    with pytest.raises(PalmetteError, match=r"feature 0 has 5 values, too many for bins='values'"):
        bins_of(np.arange(5.0)[:, None], "values")
