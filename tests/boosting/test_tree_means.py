from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmette.boosting._votes import (
    add_class_gains,
    add_shared_gains,
    class_means,
    shared_means,
)

N_FEATURES = 3

compiled = settings(deadline=None)  # the first call compiles


def leaves_below(features, place):
    if features[place] < 0:
        return [place]
    return leaves_below(features, 2 * place) + leaves_below(features, 2 * place + 1)


def variance(votes, cover, leaves):
    """Weighted sum of squared distances from the weighted mean."""
    if cover[leaves].sum() == 0:
        return 0.0
    mean = np.average(votes[leaves], weights=cover[leaves])
    return (cover[leaves] * (votes[leaves] - mean) ** 2).sum()


def naive_gains(features, votes, cover):
    """What each split takes off the variance, from the leaves below it alone."""
    gains = np.zeros(N_FEATURES)
    for place in np.flatnonzero(features >= 0):
        sides = [leaves_below(features, 2 * place + side) for side in (0, 1)]
        whole = variance(votes, cover, sides[0] + sides[1])
        gains[features[place]] += whole - sum(variance(votes, cover, side) for side in sides)
    return gains


@st.composite
def heaps(draw):
    """Draw a heap of depth up to 3, and votes and weights by place; places 0 are in no tree."""
    n_places = 2 ** (draw(st.integers(1, 3)) + 1)
    features = np.full(n_places, -1, dtype=np.int32)
    for place in range(1, n_places // 2):
        if place == 1 or features[place // 2] >= 0:
            features[place] = draw(st.integers(-1, N_FEATURES - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return features, rng.normal(size=n_places), rng.integers(0, 4, n_places).astype(float)


def is_leaf(features):
    leaves = np.zeros(len(features), dtype=bool)
    leaves[leaves_below(features, 1)] = True
    return leaves


@compiled
@given(heaps())
def test_class_trees_explain_what_their_leaves_say(heap):
    features, votes, cover = heap
    mass, means = class_means(features[None], votes[None], cover[None])
    gains = np.zeros((N_FEATURES, 2))
    add_class_gains(features[None], mass, means, np.array([1], dtype=np.int32), gains)
    np.testing.assert_allclose(gains[:, 1], naive_gains(features, votes, cover), atol=1e-9)
    assert not gains[:, 0].any()
    # from the root all that varies is explained
    assert gains.sum() == pytest.approx(variance(votes, cover, leaves_below(features, 1)))


@compiled
@given(heaps())
def test_a_mean_is_that_of_the_leaves_below(heap):
    features, votes, cover = heap
    mass, means = class_means(features[None], votes[None], cover[None])
    for place in np.flatnonzero(features >= 0):
        leaves = leaves_below(features, place)
        assert mass[0, place] == cover[leaves].sum()
        if mass[0, place] > 0:
            assert means[0, place] == pytest.approx(
                np.average(votes[leaves], weights=cover[leaves])
            )
        else:  # anything between them
            assert votes[leaves].min() <= means[0, place] <= votes[leaves].max()


@compiled
@given(heaps())
def test_a_tree_that_columns_share_is_a_tree_for_each(heap):
    features, votes, cover = heap
    leaves = np.flatnonzero(is_leaf(features))
    leaf_at = np.full(len(features), -1, dtype=np.int32)
    leaf_at[leaves] = np.arange(len(leaves))
    two = np.column_stack([votes, votes**2])
    mass, means = shared_means(features, leaf_at, two[leaves], cover[leaves])
    gains, one_by_one = np.zeros((N_FEATURES, 2)), np.zeros((N_FEATURES, 2))
    add_shared_gains(features, mass, means, gains)
    for k in range(2):
        alone = class_means(features[None], np.ascontiguousarray(two[None, :, k]), cover[None])
        add_class_gains(features[None], *alone, np.array([k], dtype=np.int32), one_by_one)
        seen = is_leaf(features) | (features >= 0)
        np.testing.assert_allclose(means[seen, k], alone[1][0, seen], rtol=1e-12)
    np.testing.assert_allclose(gains, one_by_one, rtol=1e-12)
