from __future__ import annotations

import numpy as np
import pytest
from tests.boosting import naive_class_trees as naive

from palmette.boosting._histogram import (
    column_totals,
    exact_stump_edges,
    pick_stumps,
    stump_edges,
)


def edges_of(kernel, dtype, codes, signed, features):
    totals = column_totals(signed)
    shape = len(features), signed.shape[1]
    cuts, edges = np.full(shape, 77, dtype=np.uint8), np.full(shape, np.nan, dtype=dtype)
    kernel(codes, signed, totals, features, cuts, edges)
    return cuts, edges, totals


def exact(codes, signed, features):
    return edges_of(exact_stump_edges, np.float64, codes, signed, features)


def make_problem(seed, n_samples=90, n_columns=7, n_codes=10):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_codes, size=(5, n_samples)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = 255
    codes[4] = 3  # a feature that does not vary
    return codes, rng.normal(size=(n_samples, n_columns))


@pytest.mark.parametrize("seed", range(5))
def test_stumps_are_those_of_the_slow_twin(seed):
    codes, signed = make_problem(seed)
    features = np.random.default_rng(seed).permutation(5).astype(np.int32)
    cuts, edges, totals = exact(codes, signed, features)
    feature, cut, _ = pick_stumps(features, cuts, edges, totals)
    expected = naive.best_stumps(codes, signed, features)
    assert feature.tolist() == expected[0].tolist()
    assert cut.tolist() == expected[1].tolist()
    for q, number in enumerate(features):
        for k in range(signed.shape[1]):
            if number == 4:
                assert (cuts[q, k], edges[q, k]) == (0, 0.0)
                continue
            left = signed[codes[number] <= cuts[q, k], k].sum()
            assert edges[q, k] == pytest.approx(abs(2 * left - totals[k]), rel=1e-12)


def test_it_finds_what_the_quick_search_finds():
    codes, signed = make_problem(9, n_columns=20)
    features = np.arange(5, dtype=np.int32)
    cuts, edges, _ = exact(codes, signed, features)
    quick_cuts, quick_edges, _ = edges_of(stump_edges, np.float32, codes, signed, features)
    assert (cuts == quick_cuts).all()
    np.testing.assert_allclose(edges, quick_edges, rtol=1e-5)


def test_rounding_does_not_choose_between_equal_cuts():
    """Weights that almost cancel: in float32 the sums would be noise."""
    codes = np.array([[0, 1, 2, 3]], dtype=np.uint8)
    signed = np.array([1.0, -1.0 + 1e-9, 1e-9, 1.0 - 2e-9])[:, None]
    cuts, edges, _ = exact(codes, signed, np.zeros(1, dtype=np.int32))
    # left sums 1, 1e-9, 2e-9: the total is 1, and edges are 1, 1 - 2e-9, 1 - 4e-9
    assert cuts[0, 0] == 0
    assert edges[0, 0] == pytest.approx(1.0, abs=1e-12)


def test_missing_values_go_right_of_every_cut():
    codes = np.array([[0, 3, 255, 255, 1]], dtype=np.uint8)
    signed = np.array([1.0, 1, -1, -1, 1])[:, None]
    cuts, edges, _ = exact(codes, signed, np.zeros(1, dtype=np.int32))
    assert (cuts[0, 0], edges[0, 0]) == (3, 5.0)
    everything_missing = np.full((1, 5), 255, dtype=np.uint8)
    cuts, edges, _ = exact(everything_missing, signed, np.zeros(1, dtype=np.int32))
    assert (cuts[0, 0], edges[0, 0]) == (0, 0.0)
