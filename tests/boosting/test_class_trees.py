from __future__ import annotations

import numpy as np
import pytest
from tests.boosting import naive_class_trees as naive
from tests.boosting.growers import grow_class_tree

from palmette.boosting._heap_tree import (
    add_class_tree_scores,
    add_masked_class_tree_scores,
    find_class_leaves,
    mask_places,
)


def make_problem(seed, n_samples=70, n_features=7):
    """Codes by feature, with missing values, and signed weights of one column."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 12, size=(n_features, n_samples)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = 255
    signs = np.where((codes[0] > 5) ^ (codes[1] > 8) ^ (rng.random(n_samples) < 0.1), 1, -1)
    return codes, (signs * rng.integers(1, 4, n_samples)).astype(np.float32)


def grow(codes, signed, max_depth, n_draws, random_cuts=False, min_leaf=1, seed=0, rows=None):
    """Return features, cuts, rows in the order of leaves, and bounds."""
    rows = np.arange(codes.shape[1], dtype=np.int32) if rows is None else rows.copy()
    bounds = np.empty((2 ** (max_depth + 1), 2), dtype=np.int64)
    every = np.arange(len(codes), dtype=np.int32)
    key = np.array([seed], dtype=np.uint64)
    features, cuts = grow_class_tree(
        codes, signed, rows, bounds, every, n_draws, random_cuts, min_leaf, key
    )
    return features, cuts, rows, bounds


def make_forest(seed, n_rounds, n_columns, max_depth, n_samples=50, n_features=6):
    """Codes by row and random heaps of shape (n_rounds, n_columns, n_places), some cut short."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 10, size=(n_samples, n_features)).astype(np.uint8)
    shape = (n_rounds, n_columns, 2 ** (max_depth + 1))
    features = rng.integers(0, n_features, shape).astype(np.int32)
    features[rng.random(shape) < 0.2] = -1
    features[:, :, 2**max_depth :] = -1
    for place in range(2, shape[2]):
        features[:, :, place][features[:, :, place // 2] < 0] = -1
    cuts = rng.integers(0, 9, shape).astype(np.uint8)
    return codes, features, cuts, rng.normal(size=shape)


PARENTS = {  # of every column; a chain, a fork, and in the second a node with two parents
    "tree": [[], [0], [1], [0], [], [4]],
    "graph": [[], [], [0, 1], [2], [0, 2], [4, 1, 3]],
}


def as_offsets(parents):
    starts = np.cumsum([0, *map(len, parents)]).astype(np.int64)
    return starts, np.array([p for above in parents for p in above], dtype=np.int32)


# ---------------------------------------------------------------------- growing


@pytest.mark.parametrize("random_cuts", [False, True])
@pytest.mark.parametrize(("max_depth", "n_draws", "min_leaf"), [(1, 7, 1), (3, 2, 1), (5, 9, 5)])
@pytest.mark.parametrize("seed", range(6))
def test_a_tree_is_what_the_slow_twin_grows(seed, max_depth, n_draws, min_leaf, random_cuts):
    codes, signed = make_problem(seed)
    some = np.sort(np.random.default_rng(seed).permutation(70)[:60]).astype(np.int32)
    features, cuts, rows, bounds = grow(
        codes, signed, max_depth, n_draws, random_cuts, min_leaf, seed + 2**40, some
    )
    splits, leaves = naive.grow_class_tree(
        codes,
        signed,
        some,
        max_depth,
        np.arange(len(codes)),
        n_draws,
        random_cuts,
        min_leaf,
        seed + 2**40,
    )
    assert {n: (int(features[n]), int(cuts[n])) for n in np.flatnonzero(features >= 0)} == splits
    for node, members in leaves.items():
        start, stop = bounds[node]
        assert sorted(rows[start:stop].tolist()) == members.tolist()
    assert sorted(rows.tolist()) == some.tolist()


def test_a_tree_worked_by_hand():
    # feature 1 is right but for the last row; below it feature 0 takes that row apart
    codes = np.array([[0, 0, 0, 0, 1], [2, 2, 5, 5, 5]], dtype=np.uint8)
    signed = np.array([1, 1, -1, -1, 1], dtype=np.float32)
    features, cuts, _, bounds = grow(codes, signed, max_depth=2, n_draws=2)
    assert features[1:4].tolist() == [1, -1, 0]
    assert cuts[1:4].tolist() == [2, 0, 0]
    assert (bounds[:, 1] - bounds[:, 0]).tolist() == [0, 5, 2, 3, 0, 0, 2, 1]


@pytest.mark.parametrize("random_cuts", [False, True])
def test_a_weight_of_k_is_k_copies(random_cuts):
    codes, signed = make_problem(4)
    copies = np.abs(signed).astype(int)
    once = grow(codes, signed, 4, 3, random_cuts, seed=9)
    repeated = grow(
        np.repeat(codes, copies, axis=1),
        np.repeat(np.sign(signed), copies),
        4,
        3,
        random_cuts,
        seed=9,
    )
    assert once[0].tolist() == repeated[0].tolist()
    assert once[1].tolist() == repeated[1].tolist()


def test_nodes_of_one_sign_and_constant_features_are_left_whole():
    codes, signed = make_problem(5)
    for table, values in [(codes, np.abs(signed)), (codes, -np.abs(signed)), (codes * 0, signed)]:
        features, _, _, bounds = grow(table, values, 3, 7)
        assert (features == -1).all()
        assert bounds[1].tolist() == [0, 70]


def test_only_given_features_are_used():
    codes, signed = make_problem(6)
    rows, bounds = np.arange(70, dtype=np.int32), np.empty((32, 2), dtype=np.int64)
    given = np.array([4, 2, 6], dtype=np.int32)
    key = np.zeros(1, dtype=np.uint64)
    features, _ = grow_class_tree(codes, signed, rows, bounds, given, 2, False, 1, key)
    assert set(features.tolist()) == {-1, 2, 4, 6}


# ---------------------------------------------------------------------- walking and masking


@pytest.mark.parametrize("max_depth", [1, 3, 7])
def test_walking_is_that_of_the_slow_twin(max_depth):
    codes, features, cuts, _ = make_forest(0, 1, 9, max_depth)
    places = np.empty((len(codes), 9), dtype=np.uint8)
    find_class_leaves(codes, features[0], cuts[0], places)
    assert (places == naive.find_class_leaves(codes, features[0], cuts[0])).all()


def test_walking_a_tree_ends_where_growing_put_the_row():
    codes, signed = make_problem(1)
    features, cuts, rows, bounds = grow(codes, signed, 3, 2)
    places = np.empty((codes.shape[1], 1), dtype=np.uint8)
    find_class_leaves(np.ascontiguousarray(codes.T), features[None], cuts[None], places)
    for node in np.flatnonzero((features < 0) & (bounds[:, 1] > bounds[:, 0])):
        start, stop = bounds[node]
        assert (places[rows[start:stop], 0] == node).all()


@pytest.mark.parametrize("need_all", [False, True])
@pytest.mark.parametrize("kind", PARENTS)
def test_masking_is_that_of_the_slow_twin(kind, need_all):
    rng = np.random.default_rng(0)
    places = rng.integers(1, 8, size=(60, 6)).astype(np.uint8)
    signs = rng.choice([-1, 1], size=(6, 8)).astype(np.int8)
    expected = naive.mask_places(places, signs, PARENTS[kind], need_all)
    mask_places(places, signs, *as_offsets(PARENTS[kind]), need_all)
    assert (places == expected).all()
    assert (places == 0).any()


def test_a_masked_column_masks_what_is_below_it():
    signs = np.ones((3, 4), dtype=np.int8)
    signs[0, 2] = -1
    places = np.array([[2, 3, 3], [3, 3, 2]], dtype=np.uint8)
    mask_places(places, signs, *as_offsets([[], [0], [1]]), True)
    assert places.tolist() == [[2, 0, 0], [3, 3, 2]]


def test_any_and_all_parents():
    signs = np.array([[0, 0, -1, 1]] * 3, dtype=np.int8)
    for need_all, masked in [(True, [3, 0, 0, 0]), (False, [3, 3, 3, 0])]:
        places = np.array([[3, 3, 3], [3, 2, 3], [2, 3, 3], [2, 2, 3]], dtype=np.uint8)
        mask_places(places, signs, *as_offsets([[], [], [0, 1]]), need_all)
        assert places[:, 2].tolist() == masked


# ---------------------------------------------------------------------- scores


@pytest.mark.parametrize(("n_rounds", "max_depth"), [(1, 1), (4, 1), (3, 3), (2, 6), (0, 2)])
def test_scores_are_sums_of_the_values_of_leaves(n_rounds, max_depth):
    codes, features, cuts, values = make_forest(2, n_rounds, 6, max_depth, n_samples=150)
    scores = np.ones((len(codes), 6))
    add_class_tree_scores(codes, features, cuts, values, scores)
    expected = np.ones((len(codes), 6))
    for f, c, v in zip(features, cuts, values, strict=True):
        expected += v[np.arange(6), naive.find_class_leaves(codes, f, c)]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


@pytest.mark.parametrize("need_all", [False, True])
@pytest.mark.parametrize("kind", PARENTS)
def test_masked_scores_are_sums_of_masked_places(kind, need_all):
    codes, features, cuts, values = make_forest(3, 4, 6, 3)
    signs = np.where(values > 0, 1, -1).astype(np.int8)
    scores = np.zeros((len(codes), 6))
    add_masked_class_tree_scores(
        codes, features, cuts, values, signs, *as_offsets(PARENTS[kind]), need_all, scores
    )
    expected = np.zeros((len(codes), 6))
    for f, c, v, s in zip(features, cuts, values, signs, strict=True):
        places = naive.find_class_leaves(codes, f, c)
        expected += v[np.arange(6), naive.mask_places(places, s, PARENTS[kind], need_all)]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_rounds_can_be_added_one_by_one():
    codes, features, cuts, values = make_forest(4, 5, 6, 2)
    together, single = np.zeros((len(codes), 6)), np.zeros((len(codes), 6))
    add_class_tree_scores(codes, features, cuts, values, together)
    for t in range(5):
        part = slice(t, t + 1)
        add_class_tree_scores(codes, features[part], cuts[part], values[part], single)
    assert (together == single).all()
