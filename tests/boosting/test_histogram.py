from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.boosting import naive_class_trees as naive

from palmette.boosting._histogram import (
    best_stumps,
    column_totals,
    pick_stumps,
    stump_edges,
)
from palmette.boosting._shared_split import best_shared_split


def make_problem(seed, n_samples=80, n_features=6, n_columns=5, n_codes=12):
    """Codes by feature, with missing values, and signed weights that follow some of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_codes, size=(n_features, n_samples)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = 255
    signs = np.where(codes[rng.integers(0, n_features, n_columns)] > n_codes // 2, 1.0, -1.0).T
    signs[rng.random(signs.shape) < 0.3] *= -1
    return codes, (signs * rng.random(signs.shape)).astype(np.float32)


def every(n_features):
    return np.arange(n_features, dtype=np.int32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n_samples", "n_features", "n_columns", "n_codes"),
    [(80, 6, 5, 12), (300, 3, 33, 255), (7, 9, 16, 4), (40, 5, 1, 2), (2, 1, 17, 200)],
)
@pytest.mark.parametrize("seed", range(3))
def test_stumps_are_those_of_the_slow_twin(seed, dtype, n_samples, n_features, n_columns, n_codes):
    codes, signed = make_problem(seed, n_samples, n_features, n_columns, n_codes)
    features = np.random.default_rng(seed).permutation(n_features).astype(np.int32)
    feature, cut, edge = best_stumps(codes, signed.astype(dtype), features)
    expected = naive.best_stumps(codes, signed, features)
    assert feature.tolist() == expected[0].tolist()
    assert cut.tolist() == expected[1].tolist()
    np.testing.assert_allclose(edge, expected[2], rtol=1e-5)


def test_a_stump_worked_by_hand():
    codes = np.array([[0, 1, 2, 3], [1, 1, 0, 0]], dtype=np.uint8)
    signed = np.array([[0.3, -0.1], [0.2, -0.2], [-0.4, -0.3], [0.1, -0.4]], dtype=np.float32)
    feature, cut, edge = best_stumps(codes, signed, every(2))
    # column 0: feature 0 at 1 parts +.5 | -.3, edge .8, as does feature 1 (at 0: -.3 | +.5)
    # column 1: all negative, and nothing beats the constant
    assert feature.tolist() == [0, -1]
    assert cut.tolist() == [1, 0]
    np.testing.assert_allclose(edge, [0.8, 1.0], rtol=1e-6)


def test_the_first_of_equal_features_wins():
    codes, signed = make_problem(0)
    twice = np.concatenate([codes[::-1], codes, codes])
    forward = best_stumps(twice, signed, every(len(twice)))
    assert forward[0].max() < len(codes)
    last = len(twice) - 1
    backward = best_stumps(twice, signed, every(len(twice))[::-1].copy())
    assert backward[0].min() > last - len(codes)


def test_an_edge_is_a_split_into_codes_up_to_the_cut_and_above():
    codes, signed = make_problem(1)
    feature, cut, edge = best_stumps(codes, signed, every(len(codes)))
    assert (feature >= 0).all()
    sides = np.where(codes[feature] <= cut[:, None], 1.0, -1.0)
    np.testing.assert_allclose(edge, np.abs((sides.T * signed).sum(axis=0)), rtol=1e-5)


def test_missing_values_can_be_told_from_all_others():
    codes = np.array([[0, 3, 255, 255, 1]], dtype=np.uint8)
    signed = np.array([1, 1, -1, -1, 1], dtype=np.float32)[:, None]
    feature, cut, edge = best_stumps(codes, signed, every(1))
    assert (feature[0], cut[0], edge[0]) == (0, 3, 5.0)


def test_without_features_or_without_variation_all_is_constant():
    codes, signed = make_problem(2)
    for features, table in [(every(0), codes), (every(6), np.full_like(codes, 9))]:
        feature, cut, edge = best_stumps(table, signed, features)
        assert (feature == -1).all()
        assert (cut == 0).all()
        np.testing.assert_allclose(edge, np.abs(signed.sum(axis=0)), rtol=1e-5)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 1000),
    breaks=st.lists(st.integers(0, 11), max_size=4),
    n_columns=st.integers(1, 40),
)
def test_blocks_of_features_give_what_all_at_once_give(seed, breaks, n_columns):
    codes, signed = make_problem(seed, n_features=11, n_columns=n_columns)
    features, totals = every(11), column_totals(signed)
    cuts = np.empty((11, n_columns), dtype=np.uint8)
    edges = np.empty((11, n_columns), dtype=np.float32)
    for block in np.split(np.arange(11), sorted(breaks)):
        part = slice(block[0], block[-1] + 1) if len(block) else slice(0, 0)
        stump_edges(codes, signed, totals, features[part], cuts[part], edges[part])
    blocks = pick_stumps(features, cuts, edges, totals)
    for one, other in zip(best_stumps(codes, signed, features), blocks, strict=True):
        assert one.tolist() == other.tolist()


def test_sums_of_many_rows_are_right_across_blocks_of_rows():
    rng = np.random.default_rng(0)
    n_samples = 40_000
    codes = rng.integers(0, 255, size=(2, n_samples)).astype(np.uint8)
    signed = np.where(codes > 100, 1.0, -1.0).T * rng.random((n_samples, 2))
    feature, cut, edge = best_stumps(codes, signed, every(2))
    assert feature.tolist() == [0, 1]
    assert cut.tolist() == [100, 100]
    np.testing.assert_allclose(edge, np.abs(signed).sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("criterion", [0, 1])
@pytest.mark.parametrize("min_leaf", [1, 10])
@pytest.mark.parametrize(("n_rows", "n_columns"), [(80, 5), (30, 20), (3, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_a_shared_split_is_that_of_the_slow_twin(seed, n_rows, n_columns, min_leaf, criterion):
    codes, gradients = make_problem(seed, n_columns=n_columns)
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(gradients)).astype(np.float32)
    rows = np.sort(rng.permutation(len(gradients))[:n_rows]).astype(np.int32)
    arguments = (codes, gradients, weights, rows, every(6)[::-1].copy(), criterion, min_leaf)
    feature, cut, gain, size = best_shared_split(*arguments)
    expected = naive.best_shared_split(*arguments)
    assert (feature, cut, size) == (expected[0], expected[1], expected[3])
    np.testing.assert_allclose(gain, expected[2], rtol=1e-5)


def test_no_shared_split_where_nothing_varies_or_leaves_would_be_too_small():
    codes, gradients = make_problem(0)
    weights, rows = np.ones(80, dtype=np.float32), np.arange(80, dtype=np.int32)
    same = np.zeros_like(codes)
    assert best_shared_split(same, gradients, weights, rows, every(6), 0, 1) == (-1, 0, 0.0, 0)
    assert best_shared_split(codes, gradients, weights, rows, every(6), 0, 41)[0] == -1
    one = rows[:1]
    assert best_shared_split(codes, gradients, weights, one, every(6), 0, 1)[0] == -1


@pytest.mark.parametrize("criterion", [0, 1])
def test_a_weight_of_k_is_k_copies(criterion):
    codes, gradients = make_problem(3)
    copies = np.random.default_rng(3).integers(1, 4, len(gradients))
    rows = np.arange(len(copies), dtype=np.int32)
    weighted = (gradients * copies[:, None]).astype(np.float32)
    one = best_shared_split(
        codes, weighted, copies.astype(np.float32), rows, every(6), criterion, 1
    )
    ones = np.ones(len(copies), dtype=np.float32)
    repeated = np.repeat(rows, copies)
    other = best_shared_split(codes, gradients, ones, repeated, every(6), criterion, 1)
    assert one[:2] == other[:2]
    np.testing.assert_allclose(one[2], other[2], rtol=1e-5)
