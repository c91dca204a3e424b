from __future__ import annotations

import numpy as np
import pytest
from tests.boosting import naive
from tests.boosting.growers import grow_random_tree

from palmette._kernels import kernel
from palmette.boosting._heap_tree import add_tree_scores
from palmette.boosting._votes import add_leaf_values, newton_sums
from palmette.trees._random import next_below

draw = kernel(lambda state, bound: next_below(state, bound))


def make_problem(seed, n_samples=60, n_features=7, n_labels=4):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, size=(n_samples, n_features)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = 255  # missing
    codes[:, -1] = 255
    weights = rng.integers(1, 4, n_samples).astype(np.float32)
    gradients = (rng.normal(size=(n_samples, n_labels)) * weights[:, None]).astype(np.float32)
    return codes, gradients, weights


def test_numbers_are_those_of_splitmix64():
    state, slow = np.array([7], dtype=np.uint64), [7]
    assert [draw(state, 10) for _ in range(50)] == [naive.draw(slow, 10) for _ in range(50)]


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("max_depth", "n_draws", "min_leaf"), [(1, 1, 1), (3, 2, 1), (4, 7, 5)])
def test_a_tree_is_what_the_slow_twin_grows(seed, max_depth, n_draws, min_leaf, dtype, absolute):
    codes, gradients, weights = make_problem(seed)
    gradients = gradients.astype(dtype)
    rows = np.arange(len(codes), dtype=np.int32)
    bounds = np.empty((2 ** (max_depth + 1), 2), dtype=np.int64)
    key = np.array([seed + 2**40], dtype=np.uint64)
    features, cuts = grow_random_tree(
        codes, gradients, weights, n_draws, min_leaf, absolute, key, rows, bounds
    )
    splits, leaves = naive.grow_random_tree(
        codes, gradients, weights, max_depth, n_draws, min_leaf, absolute, seed + 2**40
    )
    assert {n: (int(features[n]), int(cuts[n])) for n in np.flatnonzero(features >= 0)} == splits
    for node, members in leaves.items():
        start, stop = bounds[node]
        assert sorted(rows[start:stop].tolist()) == members.tolist()
    assert sorted(rows.tolist()) == list(range(len(codes)))


def test_walking_a_tree_ends_where_growing_put_the_row():
    codes, gradients, weights = make_problem(1)
    rows = np.arange(len(codes), dtype=np.int32)
    bounds = np.empty((16, 2), dtype=np.int64)
    key = np.array([3], dtype=np.uint64)
    features, cuts = grow_random_tree(codes, gradients, weights, 2, 1, False, key, rows, bounds)
    scores = np.zeros((len(codes), 1))
    place = np.arange(16, dtype=np.int32)
    add_tree_scores(
        codes, features, cuts, place, np.arange(16.0, dtype=np.float32)[:, None], scores
    )
    for node in range(1, 16):
        if features[node] < 0:
            start, stop = bounds[node]
            assert (scores[rows[start:stop], 0] == node).all()


def test_constant_features_grow_a_single_leaf():
    codes = np.zeros((5, 3), dtype=np.uint8)
    rows, bounds = np.arange(5, dtype=np.int32), np.empty((8, 2), dtype=np.int64)
    ones = np.ones((5, 2), dtype=np.float32)
    features, _ = grow_random_tree(
        codes, ones, np.ones(5, np.float32), 2, 1, False, np.zeros(1, np.uint64), rows, bounds
    )
    assert (features == -1).all()
    assert bounds[1].tolist() == [0, 5]


@pytest.mark.parametrize(
    ("weight", "absolute", "expected"),
    [
        # feature 0 parts 2 in one row from -2 in nine, feature 1 parts 3 in five from -3 in five
        (1, False, 0),  # 2 ** 2 / 1 + 2 ** 2 / 9 = 4.4 against 2 * 3 ** 2 / 5 = 3.6
        (1, True, 1),  # 4 against 6
        (4, False, 1),  # 2 ** 2 / 4 + 2 ** 2 / 9 = 1.4 against 3 ** 2 / 8 + 3 ** 2 / 5 = 2.9
        (4, True, 1),
    ],
)
def test_a_split_is_judged_by_squares_over_weights_or_by_absolute_sums(weight, absolute, expected):
    codes = np.ones((10, 2), dtype=np.uint8)
    codes[0, 0] = codes[:5, 1] = 0
    gradients = np.array([2] + [0.25] * 4 + [-0.6] * 5, dtype=np.float32)[:, None]
    weights = np.array([weight] + [1] * 9, dtype=np.float32)
    for seed in range(4):
        rows, bounds = np.arange(10, dtype=np.int32), np.empty((4, 2), dtype=np.int64)
        key = np.array([seed], dtype=np.uint64)
        features, _ = grow_random_tree(codes, gradients, weights, 2, 1, absolute, key, rows, bounds)
        assert features[1] == expected


def test_missing_values_take_up_one_cut_only():
    """Of the cuts of 0, 1 and missing one half tells 0 from 1."""
    codes = np.repeat([0, 1, 255], 4).astype(np.uint8)[:, None]
    ones, drawn = np.ones((12, 1), dtype=np.float32), []
    for seed in range(200):
        rows, bounds = np.arange(12, dtype=np.int32), np.empty((4, 2), dtype=np.int64)
        key = np.array([seed], dtype=np.uint64)
        features, cuts = grow_random_tree(
            codes, ones, np.ones(12, np.float32), 1, 1, False, key, rows, bounds
        )
        assert features[1] == 0
        drawn.append(int(cuts[1]))
    assert set(drawn) == {0, 1}
    assert abs(drawn.count(0) - 100) < 4 * np.sqrt(50)


def test_only_the_rows_given_are_looked_at():
    arrays = make_problem(2)
    some = np.arange(0, 60, 3, dtype=np.int32)
    grown = []
    for seen, rows in [(slice(None), some.copy()), (some, np.arange(20, dtype=np.int32))]:
        bounds = np.empty((16, 2), dtype=np.int64)
        key = np.array([5], dtype=np.uint64)
        own = [array[seen] for array in arrays]
        grown.append(grow_random_tree(*own, 3, 2, False, key, rows, bounds))
    for one, other in zip(*grown, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_newton_sums_are_those_of_the_slow_twin(dtype):
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, 40).astype(np.float32)
    truth, p = rng.random((40, 5)) < 0.3, rng.random((40, 5))
    gradients = (weights[:, None] * (truth - p)).astype(dtype)
    leaf = rng.integers(0, 3, 40).astype(np.int32)
    sums, curvature = np.zeros((3, 5)), np.zeros((3, 5))
    newton_sums(gradients, weights, leaf, sums, curvature)
    expected = naive.newton_sums(gradients.astype(float), weights.astype(float), leaf, 3)
    np.testing.assert_allclose(sums, expected[0], atol=1e-5)
    np.testing.assert_allclose(curvature, expected[1], atol=1e-5)
    by_hand = weights[:, None] * p * (1 - p)
    np.testing.assert_allclose(curvature[1], by_hand[leaf == 1].sum(axis=0), atol=1e-5)


def test_values_of_leaves_are_added_to_their_rows():
    scores = np.ones((3, 2), dtype=np.float32)
    values = np.array([[1, 2], [10, 20]], dtype=np.float32)
    add_leaf_values(np.array([1, 0, 1], dtype=np.int32), values, scores)
    assert scores.tolist() == [[11, 21], [2, 3], [11, 21]]
