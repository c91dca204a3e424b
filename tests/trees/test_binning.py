from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from palmette.base._fitting import Threads
from palmette.exceptions import PalmetteError
from palmette.trees import _binning
from palmette.trees._binning import MAX_BINS, MISSING, BinMapper, write_codes

finite = st.floats(-1e6, 1e6, width=32)
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 4)), elements=finite)


@given(tables)
def test_codes_keep_the_order_of_few_distinct_values(X):
    codes = BinMapper.fit(X).transform(X)
    for j in range(X.shape[1]):
        _, ranks = np.unique(X[:, j], return_inverse=True)
        np.testing.assert_array_equal(codes[:, j], ranks)


@given(tables, st.integers(2, 8))
def test_codes_never_reverse_an_order(X, max_bins):
    mapper = BinMapper.fit(X, max_bins)
    codes = mapper.transform(X).astype(int)
    assert (mapper.n_bins <= max_bins).all()
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        assert (np.diff(codes[order, j]) >= 0).all()
        assert codes[:, j].max() < mapper.n_bins[j]


@given(tables, st.integers(2, 8))
def test_a_code_is_up_to_a_threshold_exactly_where_the_value_is(X, max_bins):
    mapper = BinMapper.fit(X, max_bins)
    codes = mapper.transform(X)
    for j in range(X.shape[1]):
        for code in range(mapper.n_bins[j]):
            threshold = mapper.threshold(j, code)
            np.testing.assert_array_equal(codes[:, j] <= code, X[:, j] <= threshold)


def test_sparse_and_dense_features_get_the_same_bins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.3)
    dense, scattered = BinMapper.fit(X), BinMapper.fit(sparse.csr_array(X))
    np.testing.assert_array_equal(dense.cuts, scattered.cuts)
    np.testing.assert_array_equal(dense.transform(X), scattered.transform(sparse.csr_array(X)))


def test_missing_values_have_the_highest_code_even_of_255_bins():
    X = np.arange(1000.0)[:, None]
    mapper = BinMapper.fit(X)
    assert mapper.n_bins.tolist() == [MAX_BINS]
    assert mapper.transform(np.array([[np.nan], [1e9], [-1e9]])).ravel().tolist() == [
        MISSING,
        MAX_BINS - 1,
        0,
    ]


def test_quantile_bins_are_even():
    X = np.random.default_rng(0).exponential(size=(10_000, 1))
    sizes = np.bincount(BinMapper.fit(X, 10).transform(X).ravel())
    assert sizes.tolist() == [1000] * 10


def test_neighbouring_floats_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert BinMapper.fit(X).transform(X).ravel().tolist() == [0, 1]


def test_constant_and_all_missing_features_have_one_bin():
    X = np.array([[3.0, np.nan], [3.0, np.nan]])
    mapper = BinMapper.fit(X)
    assert mapper.n_bins.tolist() == [1, 1]
    assert mapper.transform(X).tolist() == [[0, MISSING], [0, MISSING]]


def test_many_rows_are_sampled_and_the_seed_fixes_which():
    X = np.random.default_rng(0).normal(size=(250_000, 1))
    np.testing.assert_array_equal(BinMapper.fit(X).cuts, BinMapper.fit(X).cuts)


@pytest.mark.parametrize("max_bins", [0, 1, 256])
def test_a_number_of_bins_that_no_byte_holds_is_refused(max_bins):
    with pytest.raises(PalmetteError, match="from 2 to 255"):
        BinMapper.fit(np.zeros((2, 1)), max_bins)


def test_another_number_of_features_is_refused():
    with pytest.raises(PalmetteError, match="X has 2 features"):
        BinMapper.fit(np.zeros((2, 1))).transform(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("dtype", "order"),
    [
        (np.float32, "C"),
        (np.float64, "F"),
        pytest.param(np.float32, "F", marks=pytest.mark.thorough),
        pytest.param(np.float64, "C", marks=pytest.mark.thorough),
    ],
)
def test_codes_of_large_arrays_are_those_of_small_ones(dtype, order, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6)).astype(dtype)
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 3.0
    X[:, 3] = np.arange(700) % 255
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:5, 0] = [np.inf, -np.inf, 0.0, -0.0, np.finfo(dtype).max]
    X[:, 4] = np.nan
    mapper = BinMapper.fit(X)
    expected = mapper.transform(X)
    assert np.unique(expected).size == 256
    monkeypatch.setattr(_binning, "_MANY_VALUES", 100)
    for n_threads in (1, 2, 5):
        with Threads(n_threads) as threads:
            given = np.asarray(X, order=order)
            assert np.array_equal(mapper.transform(given, threads), expected)
            again = BinMapper.fit(given, threads=threads)
        assert np.array_equal(again.cuts, mapper.cuts)
        assert np.array_equal(again.starts, mapper.starts)


def test_codes_of_sparse_rows_do_not_depend_on_threads():
    X = sparse.random_array(
        (300, 8), density=0.3, random_state=np.random.default_rng(0), format="csr"
    )
    with Threads(3) as threads:
        mapper = BinMapper.fit(X, threads=threads)
        assert np.array_equal(mapper.transform(X, threads), BinMapper.fit(X).transform(X.toarray()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [256, 257, 1000, 4093])
def test_quantiles_are_those_of_numpy(dtype, n):
    values = np.random.default_rng(n).normal(size=n).astype(dtype)
    for max_bins in (2, 7, 255):
        shares = np.linspace(0, 1, max_bins + 1)[1:-1]
        expected = np.unique(np.quantile(values.astype(float), shares, method="midpoint"))
        assert BinMapper.fit(values[:, None], max_bins).cuts.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("start", "stop"), [(0, 4099), (3, 10), (4000, 4099), (7, 7)])
def test_codes_of_many_rows_are_those_of_a_search(dtype, start, stop):
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=4099), rng.integers(4, size=4099), rng.normal(size=4099).round(1)]
    ).astype(dtype)
    mapper = BinMapper.fit(X[:500])
    X[rng.random(X.shape) < 0.1] = np.nan
    X[5], X[8] = np.inf, -np.inf
    codes = np.full(X.shape, 7, dtype=np.uint8)
    write_codes(X, mapper.starts, mapper.cuts, codes, start, stop)
    expected = np.full(X.shape, 7, dtype=np.uint8)
    expected[start:stop] = mapper.transform(X)[start:stop]  # few values: column by column
    np.testing.assert_array_equal(codes, expected)
