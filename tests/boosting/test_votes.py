from __future__ import annotations

import numpy as np
import pytest
from tests.boosting import naive_class_trees as naive

from palmette.boosting._heap_tree import shared_leaf
from palmette.boosting._votes import leaf_sums, reweigh, reweigh_shared, shared_leaf_sums


@pytest.fixture
def weights():
    """Signed weights with a few zeros, of 60 rows and 7 columns."""
    rng = np.random.default_rng(0)
    signed = rng.normal(size=(60, 7))
    signed[rng.random(signed.shape) < 0.1] = 0.0
    return signed


@pytest.fixture
def places():
    return np.random.default_rng(1).integers(0, 8, size=(60, 7)).astype(np.uint8)


@pytest.fixture
def leaf():
    return np.random.default_rng(2).integers(0, 5, size=60).astype(np.int32)


def test_leaf_sums_are_those_of_the_slow_twin(weights, places):
    positive, negative = np.full((7, 8), np.nan), np.full((7, 8), np.nan)
    leaf_sums(weights, places, positive, negative)
    expected = naive.leaf_sums(weights, places, 8)
    np.testing.assert_allclose(positive, expected[0], rtol=1e-12)
    np.testing.assert_allclose(negative, expected[1], rtol=1e-12)


def test_reweighing_is_that_of_the_slow_twin(weights, places):
    values, mass = np.random.default_rng(3).normal(size=(7, 8)), np.full(7, np.nan)
    expected = naive.reweigh(weights, values[np.arange(7), places])
    reweigh(weights, places, values, mass)
    np.testing.assert_allclose(weights, expected, rtol=1e-12)
    np.testing.assert_allclose(mass, np.abs(expected).sum(axis=0), rtol=1e-12)


def test_half_the_log_odds_leave_equal_weights_on_both_sides_of_a_leaf(weights, places):
    places %= 3
    positive, negative = np.empty((7, 3)), np.empty((7, 3))
    leaf_sums(weights, places, positive, negative)
    values, mass = 0.5 * np.log(positive / negative), np.empty(7)
    reweigh(weights, places, values, mass)
    np.testing.assert_allclose(mass, 2 * np.sqrt(positive * negative).sum(axis=1), rtol=1e-12)
    leaf_sums(weights, places, positive, negative)
    np.testing.assert_allclose(positive, negative, rtol=1e-12)


def test_leaves_of_a_shared_tree():
    codes = np.array([[0, 9], [4, 1], [5, 2], [5, 3], [255, 0]], dtype=np.uint8)
    features = np.array([-1, 0, -1, 1, -1, -1, -1, -1], dtype=np.int32)
    cuts = np.array([0, 4, 0, 2, 0, 0, 0, 0], dtype=np.uint8)
    leaf_at = np.array([-1, -1, 0, -1, -1, -1, 1, 2], dtype=np.int32)
    assert shared_leaf(codes, features, cuts, leaf_at).tolist() == [0, 0, 1, 2, 1]


def test_shared_trees_do_as_one_tree_a_column_would(weights, leaf):
    """The leaves of a shared tree are the same places in the tree of every column."""
    places = np.repeat(leaf[:, None], 7, axis=1).astype(np.uint8)
    positive, negative = np.full((5, 7), np.nan), np.full((5, 7), np.nan)
    shared_leaf_sums(weights, leaf, positive, negative)
    expected = naive.leaf_sums(weights, places, 5)
    np.testing.assert_allclose(positive, expected[0].T, rtol=1e-12)
    np.testing.assert_allclose(negative, expected[1].T, rtol=1e-12)

    values, mass = np.random.default_rng(3).normal(size=(5, 7)), np.full(7, np.nan)
    moved = naive.reweigh(weights, values[leaf])
    reweigh_shared(weights, leaf, values, mass)
    np.testing.assert_allclose(weights, moved, rtol=1e-12)
    np.testing.assert_allclose(mass, np.abs(moved).sum(axis=0), rtol=1e-12)
