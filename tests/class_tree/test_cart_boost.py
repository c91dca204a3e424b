"""All rounds of a node in one kernel, against a loop over rounds in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import quick
from tests.trees import naive_cart

from palmette.class_tree._node_boost import boost_carts

NO_LIMIT = 2**30


def problem(seed, n_samples=50, n_rows=30, noise=0.2):
    """Codes of all rows, the rows of a node, how many are positive, and their weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, (n_samples, 4)).astype(np.uint8)
    index = rng.permutation(n_samples)[:n_rows].astype(np.int32)
    positive = (codes[index, 0] > 2) ^ (rng.random(n_rows) < noise)
    weights = rng.random(n_rows) + 0.1
    index = np.concatenate([index[positive], index[~positive]])
    return codes, index, int(positive.sum()), weights / weights.sum()


def boost(codes, *others):
    return boost_carts(codes, np.ascontiguousarray(codes.T), *others)


def seeds(number):
    return np.arange(7, 7 + number).astype(np.uint64)


@given(st.integers(0, 10**6), st.sampled_from([0, 1, 15, 40]), st.sampled_from([1, 3, NO_LIMIT]))
@quick
def test_rounds_are_those_of_the_slow_twin_bit_by_bit(seed, n_draws, max_depth):
    codes, index, n_positive, weights = problem(seed)
    given = (codes, index, n_positive, weights, n_draws, 2, max_depth, 1e-3, seeds(6))
    trees, coefficients, left_over = naive_cart.boost_carts(*given)
    starts, *parts, found = boost(*given)
    assert starts.tolist() == np.cumsum([0, *(len(tree[0]) for tree in trees)]).tolist()
    for part, expected in zip(parts, zip(*trees, strict=True), strict=True):
        assert part.tolist() == [number for tree in expected for number in tree]
    assert found.tolist() == coefficients
    assert weights.tolist() == left_over


def test_a_tree_without_a_mistake_counts_as_the_least_error():
    codes, index = np.arange(8, dtype=np.uint8)[:, None], np.arange(8, dtype=np.int32)
    weights = np.full(8, 1 / 8)
    *_, coefficients = boost(codes, index, 3, weights, 0, 1, NO_LIMIT, 0.01, seeds(5))
    np.testing.assert_allclose(coefficients, 0.5 * np.log(0.99 / 0.01))
    np.testing.assert_allclose(weights, 1 / 8)


def test_a_tree_no_better_than_chance_has_no_vote_and_moves_no_weight():
    codes, index = np.zeros((4, 2), dtype=np.uint8), np.arange(4, dtype=np.int32)
    weights = np.full(4, 0.25)  # nothing tells the rows apart
    starts, *_, coefficients = boost(codes, index, 2, weights, 0, 2, NO_LIMIT, 1e-3, seeds(3))
    assert coefficients.tolist() == [0.0, 0.0, 0.0]
    assert starts.tolist() == [0, 1, 2, 3]
    assert weights.tolist() == [0.25, 0.25, 0.25, 0.25]


@pytest.mark.parametrize("n_draws", [0, 25])
def test_fewer_rounds_are_the_first_ones(n_draws):
    *given, weights = problem(3)
    few = boost(*given, weights.copy(), n_draws, 2, NO_LIMIT, 1e-3, seeds(4))
    many = boost(*given, weights.copy(), n_draws, 2, NO_LIMIT, 1e-3, seeds(9))
    end = few[0][-1]
    assert np.array_equal(few[0], many[0][:5])
    assert np.array_equal(few[5], many[5][:4])
    for one, other in zip(few[1:5], many[1:5], strict=True):
        assert np.array_equal(one, other[:end])


def test_a_tree_is_as_good_as_chance_under_the_weights_after_it():
    codes, index, n_positive, weights = problem(5)
    starts, *tree, coefficients = boost(codes, index, n_positive, weights, 0, 4, 1, 1e-3, seeds(1))
    said = np.array([tree[3][naive_cart.leaf_of(codes[row], tree)] for row in index])
    wrong = (said > 0) != (np.arange(len(index)) < n_positive)
    assert coefficients[0] > 0
    assert starts.tolist() == [0, 3]
    assert weights[wrong].sum() == pytest.approx(0.5)
    assert weights.sum() == pytest.approx(1.0)
