"""Full trees against slow twins; what they are grown on; how they are asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import quick
from tests.trees import naive_cart

from palmette.class_tree._node_boost import add_cart_votes
from palmette.trees._binning import hash_rows
from palmette.trees._carts import (
    WHOLE,
    draw_rows,
    find_leaves,
    grow_cart,
    predict_carts,
    weigh_rows,
)

NO_LIMIT = 2**30


def seed_array(seed):
    return np.array([seed], dtype=np.uint64)


def problem(seed, n_rows=60, n_features=5, n_codes=6, noise=0.2):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_codes, (n_rows, n_features)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = 255
    positive = (codes[:, 0] > n_codes // 2) ^ (rng.random(n_rows) < noise)
    weights = rng.integers(1, 5, n_rows).astype(np.int32)
    return codes, weights, positive


def grow(codes, rows, weights, positive, n_tried=2, max_depth=NO_LIMIT, seed=0):
    by_feature = np.ascontiguousarray(codes.T)
    return grow_cart(by_feature, rows, weights, positive, n_tried, max_depth, seed_array(seed))


def everything(codes):
    return np.arange(len(codes), dtype=np.int32)


def leaves_of(codes, tree):
    leaves = np.empty(len(codes), dtype=np.int32)
    find_leaves(codes, everything(codes), *tree[:3], leaves)
    return leaves


# ---------------------------------------------------------------------- growing


@given(
    st.integers(0, 10**6),
    st.integers(1, 70),
    st.integers(2, 40),
    st.integers(1, 5),
    st.sampled_from([1, 3, NO_LIMIT]),
)
@quick
def test_a_tree_is_that_of_the_slow_twin(seed, n_rows, n_codes, n_tried, max_depth):
    codes, weights, positive = problem(seed, 90, n_codes=n_codes)
    rows = np.random.default_rng(seed).permutation(90)[:n_rows].astype(np.int32)
    args = (rows, weights[:n_rows], positive[rows], n_tried, max_depth)
    found = grow(codes, *args, seed=seed)
    expected = naive_cart.grow_cart(codes, *args, seed)
    for one, other in zip(found, expected, strict=True):
        assert one.tolist() == other


def test_leaves_are_pure_where_rows_differ():
    codes, weights, positive = problem(1, 200, n_codes=200, noise=0.5)
    tree = grow(codes, everything(codes), weights, positive, n_tried=1)
    assert np.array_equal(tree[3][leaves_of(codes, tree)] > 0, positive)


def test_equal_rows_of_both_classes_say_what_the_heavier_do():
    codes = np.zeros((3, 2), dtype=np.uint8)
    for heavy in (1, 5):
        weights = np.array([2, 2, heavy], dtype=np.int32)
        tree = grow(codes, everything(codes), weights, np.array([True, False, True]))
        assert [part.tolist() for part in tree] == [[0], [255], [0], [1]]


def test_a_split_without_gain_is_made_where_there_is_no_better():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.uint8)
    positive = np.array([True, False, False, True])
    tree = grow(codes, everything(codes), np.ones(4, dtype=np.int32), positive)
    assert np.array_equal(tree[3][leaves_of(codes, tree)] > 0, positive)


def test_no_rows_make_a_leaf_that_says_no():
    codes = np.zeros((3, 2), dtype=np.uint8)
    none = np.empty(0, dtype=np.int32)
    assert grow(codes, none, none, np.empty(0, dtype=bool))[3].tolist() == [-1]


@given(st.integers(0, 10**6))
@quick
def test_a_weight_of_k_is_k_copies_in_any_order(seed):
    codes, weights, positive = problem(seed)
    copies = np.random.default_rng(seed).permutation(np.repeat(everything(codes), weights))
    ones = np.ones(len(copies), dtype=np.int32)
    weighted = grow(codes, everything(codes), weights, positive, seed=seed)
    repeated = grow(codes, copies, ones, positive[copies], seed=seed)
    for one, other in zip(weighted, repeated, strict=True):
        assert np.array_equal(one, other)


def test_rows_given_are_not_touched():
    codes, weights, positive = problem(0)
    rows = everything(codes)
    grow(codes, rows, weights, positive)
    assert np.array_equal(rows, everything(codes))


# ---------------------------------------------------------------------- what to grow on


def test_rows_are_drawn_as_often_as_their_weights_say():
    signed = np.array([0.1, -0.2, 0.0, 0.3, -0.4])
    times = np.zeros(5)
    for seed in range(400):
        rows, counts, positive = draw_rows(signed, everything(signed), 10, seed_array(seed))
        assert counts.sum() == 10
        assert np.array_equal(positive, signed[rows] > 0)
        times[rows] += counts
    np.testing.assert_allclose(times / 4000, np.abs(signed), atol=0.03)
    assert times[2] == 0


def test_draws_are_independent():
    """The number of draws of a row of weight 1/2 has the variance of a coin."""
    signed = np.array([0.5, -0.25, -0.25])
    counts = []
    for seed in range(2000):
        rows, times, _ = draw_rows(signed, everything(signed), 20, seed_array(seed))
        counts.append(times[rows == 0].sum())
    assert abs(np.mean(counts) - 10) < 0.25
    assert abs(np.var(counts) - 5) < 0.6


def test_copies_that_stand_together_are_drawn_as_one_row_of_their_weight():
    signed = np.array([0.25, -0.5, 0.25])
    copied = np.array([0.125, 0.125, -0.25, -0.25, 0.25])
    of = np.array([0, 0, 1, 1, 2])
    for seed in range(50):
        drawn = draw_rows(signed, everything(signed), 9, seed_array(seed))
        again = draw_rows(copied, everything(copied), 9, seed_array(seed))
        one, other = np.zeros(3, dtype=int), np.zeros(3, dtype=int)
        one[drawn[0]] = drawn[1]
        np.add.at(other, of[again[0]], again[1])
        assert one.tolist() == other.tolist()


def test_only_rows_of_the_order_are_drawn():
    rows, _, _ = draw_rows(np.ones(6), np.array([4, 1], dtype=np.int32), 30, seed_array(0))
    assert sorted(rows.tolist()) == [1, 4]
    assert len(draw_rows(np.zeros(3), everything(np.zeros(3)), 5, seed_array(0))[0]) == 0


def test_weights_become_whole_numbers():
    signed = np.array([0.5, -1.0, 0.0, 0.5, 1e-12])
    rows, weights, positive = weigh_rows(signed, everything(signed))
    assert rows.tolist() == [0, 3, 1]
    assert weights.tolist() == [WHOLE // 4, WHOLE // 4, WHOLE // 2]
    assert positive.tolist() == [True, True, False]


def test_copies_of_a_row_share_its_number_and_others_do_not():
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(0, 3, (4000, 6)).astype(np.uint8), axis=0)
    hashes = hash_rows(codes)
    assert len(np.unique(hashes)) == len(codes)
    assert np.array_equal(hash_rows(codes[::-1].copy()), hashes[::-1])


# ---------------------------------------------------------------------- asking


@pytest.mark.parametrize("n_rows", [1, 3, 4, 7, 600])
def test_rows_come_to_the_leaf_of_the_slow_twin(n_rows):
    codes, weights, positive = problem(3, 80)
    tree = grow(codes, everything(codes), weights, positive)
    asked = problem(4, n_rows)[0]
    assert leaves_of(asked, tree).tolist() == [naive_cart.leaf_of(row, tree) for row in asked]


def test_votes_of_many_trees_are_those_of_each():
    codes, weights, positive = problem(5, 700)
    trees = [
        grow(codes, everything(codes)[:80], weights[:80], positive[:80], seed=s) for s in (1, 2)
    ]
    parts = [np.concatenate(part) for part in zip(*trees, strict=True)]
    starts = np.cumsum([0, *(len(tree[0]) for tree in trees)])
    rows = everything(codes)[::2].copy()
    places = np.empty((len(rows), 2), dtype=np.uint8)
    predict_carts(codes, rows, starts, *parts, places)
    said = np.column_stack([tree[3][leaves_of(codes, tree)][rows] for tree in trees])
    assert np.array_equal(places, np.where(said > 0, 2, 1))
    scores = np.full(len(rows), 7.0)
    add_cart_votes(codes, rows, starts, *parts, np.array([0.5, 2.0]), scores)
    np.testing.assert_allclose(scores, 7.0 + said @ [0.5, 2.0])
