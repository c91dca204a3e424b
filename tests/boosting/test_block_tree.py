"""Trees that grow on blocks of rows: those of a slow version, whatever the blocks and threads."""

from __future__ import annotations

import numpy as np
import pytest
from tests.boosting import naive
from tests.boosting.growers import grow_random_tree

from palmette.base._fitting import Threads
from palmette.boosting import _block_sums, _block_tree, _growing_rows
from palmette.boosting._block_sums import column_squares, scaled_columns, sum_at_leaves
from palmette.boosting._block_tree import BlockGrower
from palmette.boosting._growing_rows import GrowingRows, ranges_of_codes
from palmette.boosting._votes import newton_sums
from palmette.boosting._weak import SharedTree, TrainingRows


def make_problem(seed, n_samples=300, n_features=7, n_labels=5, zeros=0.0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, size=(n_samples, n_features)).astype(np.uint8)
    codes[rng.random(codes.shape) < zeros] = 0
    codes[rng.random(codes.shape) < 0.05] = 255  # missing
    codes[:, -1] = 255
    weights = rng.integers(1, 4, n_samples).astype(np.float32)
    gradients = (rng.normal(size=(n_samples, n_labels)) * weights[:, None]).astype(np.float32)
    return codes, gradients, weights


def grower(codes, weights, depth, n_draws, absolute=False, min_leaf=1, threads=None):
    """Return a function that grows a tree, given gradients, the rows to grow on and a seed."""
    threads = threads or Threads(1)
    ranges = ranges_of_codes(codes, threads)
    made = BlockGrower(ranges, depth, n_draws, absolute, min_leaf, threads)

    def grow(gradients, chosen, seed):
        mask = None
        if chosen is not None:
            mask = np.zeros(len(codes), bool)
            mask[chosen] = True
        return made.grow(GrowingRows(codes, weights, gradients, mask, threads), seed)

    return grow


def check_tree(codes, gradients, weights, depth, n_draws, absolute, min_leaf, seed, chosen=None):
    used = np.arange(len(codes)) if chosen is None else chosen
    splits, leaves = naive.grow_random_tree(
        codes[used], gradients[used], weights[used], depth, n_draws, min_leaf, absolute, seed
    )
    grow = grower(codes, weights, depth, n_draws, absolute, min_leaf)
    features, cuts, leaf_at, leaf, n_leaves = grow(gradients, chosen, seed)
    assert {n: (int(features[n]), int(cuts[n])) for n in np.flatnonzero(features >= 0)} == splits
    assert n_leaves == len(leaves)
    for node, members in leaves.items():
        assert (leaf[used[members]] == leaf_at[node]).all()


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(_block_sums, "_FEWEST_ROWS", 16)
    monkeypatch.setattr(_block_sums, "_MOST_BLOCKS", 7)
    monkeypatch.setattr(_block_sums, "_FEW_NUMBERS", 16)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("max_depth", "n_draws", "min_leaf"), [(1, 1, 1), (3, 2, 1), (4, 7, 5), (6, 3, 2)]
)
@pytest.mark.usefixtures("small_blocks")
def test_a_tree_is_what_the_slow_twin_grows(seed, max_depth, n_draws, min_leaf, absolute):
    codes, gradients, weights = make_problem(seed)
    check_tree(codes, gradients, weights, max_depth, n_draws, absolute, min_leaf, seed + 2**40)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("small_blocks")
def test_features_that_do_not_vary_at_a_node_are_passed_over(seed):
    codes, gradients, weights = make_problem(seed, n_features=20, zeros=0.97)
    check_tree(codes, gradients, weights, 5, 4, False, 1, seed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("small_blocks")
def test_rows_that_are_not_chosen_only_walk(seed):
    codes, gradients, weights = make_problem(seed, zeros=0.5)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(len(codes)) < 0.3).astype(np.int32)
    check_tree(codes, gradients, weights, 4, 3, False, 1, seed, chosen)
    features, cuts, leaf_at, leaf, _ = grower(codes, weights, 4, 3)(gradients, chosen, seed)
    for i, found in enumerate(leaf):
        place = 1
        while features[place] >= 0:
            place = 2 * place + (codes[i, features[place]] > cuts[place])
        assert found == leaf_at[place]


@pytest.mark.parametrize("plan", [(0, 6), (0, 2), (1, 6), (2, 6), (4, 4), (3, 3), (6, 6), (1, 1)])
@pytest.mark.parametrize("n_labels", [1, 3, 16, 22, 37])
@pytest.mark.usefixtures("small_blocks")
def test_every_way_to_sum_gives_the_same_tree(plan, n_labels, monkeypatch):
    monkeypatch.setattr(_block_tree, "_plan", lambda *sizes: plan)
    codes, gradients, weights = make_problem(0, n_labels=n_labels)
    check_tree(codes, gradients, weights, 4, 6, False, 2, 9)


def test_plans_fit_the_cache_and_take_little_memory():
    for n_draws in (1, 7, 100, 1000):
        for n_slots in (1, 2, 16, 128, 2048):
            for n_columns in (1, 20, 100, 512):
                n_rows = _block_sums.block_rows(200_000, n_columns, n_slots * 8)
                group, at_once = _block_tree._plan(n_draws, n_slots, n_columns, n_rows)
                assert 1 <= at_once <= n_draws
                if group:
                    n_groups = -(-at_once // group)
                    assert n_groups * (n_slots << group) * n_columns <= _block_tree._BUCKETS
                assert n_slots * (1 + at_once) * 4 <= max(n_rows, 8 * n_slots)


@pytest.mark.parametrize("chosen", [False, True])
def test_trees_are_those_of_small_data_up_to_rounding(chosen):
    codes, gradients, weights = make_problem(5, n_samples=9000, n_features=30, n_labels=12)
    picked = np.flatnonzero(np.arange(len(codes)) % 3).astype(np.int32) if chosen else None
    for seed in range(5):
        rows = np.arange(len(codes), dtype=np.int32) if picked is None else picked.copy()
        bounds, key = np.empty((64, 2), np.int64), np.array([seed], np.uint64)
        features, cuts = grow_random_tree(codes, gradients, weights, 5, 1, False, key, rows, bounds)
        found = grower(codes, weights, 5, 5)(gradients, picked, seed)
        assert np.array_equal(features, found[0])
        assert np.array_equal(cuts, found[1])


@pytest.mark.parametrize("depth", [3, 8])
@pytest.mark.parametrize("absolute", [False, True])
def test_threads_change_no_bit(depth, absolute, monkeypatch):
    for module in (_block_sums, _block_tree, _growing_rows):
        monkeypatch.setattr(module, "WORTH", 2**10)
    monkeypatch.setattr(_block_sums, "_FEWEST_ROWS", 128)
    monkeypatch.setattr(_block_sums, "_FEW_NUMBERS", 128)
    codes, gradients, weights = make_problem(1, n_samples=5000, n_features=40, zeros=0.9)
    expected = None
    for n_threads in (1, 2, 3, 5):
        with Threads(n_threads) as threads:
            grow = grower(codes, weights, depth, 6, absolute, 1, threads)
            found = grow(gradients, None, 3)
            sums = sum_at_leaves(gradients, weights, found[3], found[4], threads)
            squares = column_squares(gradients, threads)
        bits = [np.asarray(each).tobytes() for each in (*found, *sums, squares)]
        expected = expected or bits
        assert bits == expected


@pytest.mark.parametrize("n_labels", [1, 5, 40])
@pytest.mark.usefixtures("small_blocks")
def test_sums_at_leaves_are_those_of_small_data(n_labels):
    _, gradients, weights = make_problem(2, n_labels=n_labels)
    gradients = np.clip(gradients, -0.9, 0.9) * weights[:, None]
    leaf = np.random.default_rng(0).integers(0, 6, len(weights)).astype(np.int32)
    sums, curvature = np.zeros((6, n_labels)), np.zeros((6, n_labels))
    newton_sums(gradients, weights, leaf, sums, curvature)
    found = sum_at_leaves(gradients, weights, leaf, 6, Threads(1))
    np.testing.assert_allclose(found[0], sums, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(found[1], curvature, rtol=1e-5, atol=1e-4)
    assert found[2].tolist() == np.bincount(leaf, weights).tolist()


@pytest.mark.usefixtures("small_blocks")
def test_columns_are_taken_and_squared():
    _, gradients, _ = make_problem(3, n_labels=9)
    np.testing.assert_allclose(
        column_squares(gradients, Threads(1)), (gradients.astype(float) ** 2).sum(axis=0), 1e-5
    )
    columns, scale = np.array([7, 0, 3], np.int32), np.array([2.0, 0.5, 1.5], np.float32)
    some = np.empty((len(gradients), len(columns)), np.float32)
    found = scaled_columns(gradients, columns, scale, some, Threads(1))
    assert np.array_equal(found, gradients[:, columns] * scale)


def test_squares_of_many_rows_are_precise():
    """Draws of columns depend on them: the sums of a device are to lead to the same."""
    gradients = np.full((40_000, 2), [1.1e-3, -0.9e-3], np.float32)  # as of rare labels
    gradients[::500] += 1
    squares = (gradients.astype(float) ** 2).sum(axis=0)
    np.testing.assert_allclose(column_squares(gradients, Threads(1)), squares, 2e-6)


def test_ranges_are_the_least_and_largest_codes_and_one_more_than_known():
    codes = np.array([[3, 255, 7, 0], [5, 255, 255, 254], [4, 255, 9, 255]], np.uint8)
    found = ranges_of_codes(codes, Threads(1))
    assert found.tolist() == [[[3, 5, 6], [255, 255, 0], [7, 255, 10], [0, 255, 255]]]


@pytest.mark.parametrize("criterion", ["squared", "absolute"])
def test_a_sketch_of_large_data_is_that_of_small_data(criterion):
    rng = np.random.default_rng(0)
    signed = rng.normal(size=(50, 600)).astype(np.float32) * rng.random(600).astype(np.float32)
    learner = SharedTree(criterion=criterion)
    rows = TrainingRows(np.zeros((50, 1), np.uint8), np.ones(1), np.ones(50, np.float32))
    whole, parts = learner._sketched(signed, 4), learner._sketched(signed, 4, rows)
    np.testing.assert_allclose(parts, whole, rtol=1e-5)
    nothing = np.zeros((50, 600), np.float32)
    assert learner._sketched(nothing, 4, rows).shape == (50, 128)


def test_only_large_data_in_float32_with_random_cuts_grow_in_blocks():
    small, large = np.ones((2**10, 2**6)), np.ones((2**10, 2**6 + 1))
    learner = SharedTree()
    assert learner.grows_in_blocks(large.astype(np.float32))
    assert not learner.grows_in_blocks(small.astype(np.float32))
    assert not learner.grows_in_blocks(large)
    assert not SharedTree(thresholds="best").grows_in_blocks(large.astype(np.float32))


def test_constant_features_grow_a_single_leaf():
    codes = np.full((2000, 3), 7, np.uint8)
    gradients = np.ones((2000, 40), np.float32)
    rows = TrainingRows(codes, np.full(3, 9), np.ones(2000, np.float32))
    grown = SharedTree(3).grow(rows, gradients, None, 0)
    assert grown.n_leaves == 1
    assert (grown.leaf == 0).all()
    assert grown.leaf_at[1] == 0
