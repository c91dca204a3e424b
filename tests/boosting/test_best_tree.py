from __future__ import annotations

import numpy as np
import pytest
from tests.boosting import naive
from tests.boosting.growers import grow_best_tree


def make_problem(seed, n_samples=70, n_features=6, n_columns=18):
    """Codes by feature, some missing, and gradients that follow two of the features."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 9, size=(n_features, n_samples)).astype(np.uint8)
    codes[rng.random(codes.shape) < 0.05] = 255
    weights = rng.integers(1, 4, n_samples).astype(np.float32)
    shift = np.where((codes[0] > 4) & (codes[3] <= 6), 0.8, -0.4)[:, None]
    gradients = (rng.normal(size=(n_samples, n_columns)) + shift) * weights[:, None]
    return codes, gradients.astype(np.float32), weights


def grow(codes, gradients, weights, max_depth, n_draws, min_leaf, absolute, seed, rows=None):
    rows = np.arange(codes.shape[1], dtype=np.int32) if rows is None else rows.copy()
    bounds = np.full((2 ** (max_depth + 1), 2), -9, dtype=np.int64)
    key = np.array([seed], dtype=np.uint64)
    features, cuts = grow_best_tree(
        codes, gradients, weights, n_draws, min_leaf, absolute, key, rows, bounds
    )
    return features, cuts, rows, bounds


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize(("max_depth", "n_draws", "min_leaf"), [(1, 6, 1), (3, 2, 1), (4, 6, 5)])
@pytest.mark.parametrize(
    ("seed", "dtype"), [(0, np.float32), (1, np.float64), (2, np.float32), (3, np.float64)]
)
def test_a_tree_is_what_the_slow_twin_grows(seed, dtype, max_depth, n_draws, min_leaf, absolute):
    codes, gradients, weights = make_problem(seed)
    settings = max_depth, n_draws, min_leaf, absolute, seed + 2**40
    features, cuts, _, _ = grow(codes, gradients.astype(dtype), weights, *settings)
    found = {int(n): (int(features[n]), int(cuts[n])) for n in np.flatnonzero(features >= 0)}
    assert found == naive.grow_best_tree(codes, gradients, weights, *settings)
    assert found


def test_rows_lie_where_their_leaf_says():
    codes, gradients, weights = make_problem(4)
    chosen = np.arange(0, 70, 2, dtype=np.int32)
    features, cuts, rows, bounds = grow(codes, gradients, weights, 3, 6, 3, False, 1, rows=chosen)
    assert sorted(rows.tolist()) == chosen.tolist()
    assert bounds[1].tolist() == [0, len(chosen)]
    for node in range(1, 8):
        here = rows[bounds[node, 0] : bounds[node, 1]]
        if features[node] < 0:
            continue
        left, right = (
            rows[bounds[2 * node + side, 0] : bounds[2 * node + side, 1]] for side in (0, 1)
        )
        assert len(left) >= 3
        assert len(right) >= 3
        assert (codes[features[node], left] <= cuts[node]).all()
        assert (codes[features[node], right] > cuts[node]).all()
        assert np.concatenate([left, right]).tolist() == here.tolist()


def test_nothing_is_split_where_nothing_varies():
    codes, gradients, weights = make_problem(5)
    features, _, _, bounds = grow(np.zeros_like(codes), gradients, weights, 2, 3, 1, False, 0)
    assert (features == -1).all()
    assert bounds[2:].tolist() == [[0, 0]] * 6


def test_a_weight_of_k_is_k_copies():
    codes, gradients, _ = make_problem(6)
    copies = np.random.default_rng(0).integers(1, 4, 70)
    one = grow(
        codes, gradients * copies[:, None].astype(np.float32), copies.astype(np.float32),
        3, 3, 1, False, 9,
    )  # fmt: skip
    again = np.repeat(np.arange(70), copies)
    ones = np.ones(len(again), dtype=np.float32)
    other = grow(codes[:, again].copy(), gradients[again], ones, 3, 3, 1, False, 9)
    assert one[0].tolist() == other[0].tolist()
    assert one[1].tolist() == other[1].tolist()


def test_the_first_of_equal_features_wins_in_whatever_order_they_are_drawn():
    codes, gradients, weights = make_problem(7)
    twice = np.concatenate([codes, codes])
    for seed in range(8):
        features, *_ = grow(twice, gradients, weights, 3, len(twice), 1, False, seed)
        assert 0 <= features[1] < len(codes)
        assert features.max() < len(codes)
