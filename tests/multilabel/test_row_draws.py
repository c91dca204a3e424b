from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from palmette.multilabel._members import RowDraws, hash_rows


def rows_of(n=50, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, 6)) < 0.5, rng.integers(1, 4, size=(n, 6)), 0).astype(float)


def test_hashes_follow_from_the_values():
    X = rows_of()
    hashes = hash_rows(X)
    assert np.array_equal(hash_rows(sparse.csr_array(X)), hashes)
    assert np.array_equal(hash_rows(X[::-1])[::-1], hashes)
    assert len(np.unique(hashes)) == len(np.unique(X, axis=0))
    minus_zero = np.where(X == 0, -0.0, X)
    assert np.array_equal(hash_rows(minus_zero), hashes)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31 - 2), data=st.data())
def test_a_weight_is_drawn_like_copies(seed, data):
    X = rows_of(20)
    weights = np.array(data.draw(st.lists(st.integers(1, 4), min_size=20, max_size=20)))
    copies = np.repeat(np.arange(20), weights)
    codes = (np.arange(20) % 3).astype(np.int8)
    weighted, repeated = RowDraws(X, weights.astype(float)), RowDraws(X[copies])
    for one, other in [
        (weighted.bootstrap(seed), repeated.bootstrap(seed)),
        (weighted.subsample(seed, 0.6), repeated.subsample(seed, 0.6)),
        (weighted.balanced(seed, codes, 7.0), repeated.balanced(seed, codes[copies], 7.0)),
    ]:
        totals = np.zeros(20)
        totals[one[0]] = one[1]
        # equal rows are interchangeable
        assert other[1] is None
        _, same = np.unique(X, axis=0, return_inverse=True)
        same = same.reshape(-1)  # a column in numpy 2.0
        drawn = np.bincount(same[copies[other[0]]], minlength=same.max() + 1)
        np.testing.assert_allclose(np.bincount(same, totals), drawn)


def test_classes_are_cut_to_one_size():
    codes = np.repeat([0, 1, 2], [30, 15, 5]).astype(np.int8)
    rows, weights = RowDraws(rows_of()).balanced(3, codes, 8)
    assert weights is None
    assert np.bincount(codes[rows]).tolist() == [8, 8, 5]


def test_bootstraps_hold_as_many_rows_on_average_and_differ():
    draws = RowDraws(np.arange(400.0)[:, None])
    samples = [draws.bootstrap(seed)[0] for seed in range(20)]
    sizes = [len(rows) for rows in samples]
    assert abs(np.mean(sizes) / 400 - 1) < 0.05
    left_out = [1 - len(np.unique(rows)) / 400 for rows in samples]
    assert abs(np.mean(left_out) - np.exp(-1)) < 0.03
    assert len({tuple(rows) for rows in samples}) == 20


def test_copies_of_a_row_are_drawn_apart():
    rows, _ = RowDraws(np.zeros((100, 2))).subsample(0, 0.5)
    assert len(rows) == 50


def test_heavy_rows_are_drawn_in_few_units():
    draws = RowDraws(np.arange(3.0)[:, None], np.array([1e6, 0.5, 2.0]))
    rows, weights = draws.subsample(0, 1.0)
    assert rows.tolist() == [0, 1, 2]
    np.testing.assert_allclose(weights, [1e6, 0.5, 2.0])
