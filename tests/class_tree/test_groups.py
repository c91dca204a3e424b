from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans

from palmette.base._grow import least_side
from palmette.class_tree._groups import (
    cut_with_min_side,
    groups_of,
    k_means,
    median_cut,
    near_groups,
    two_means,
    two_sides,
)

scores = arrays(float, st.integers(2, 30), elements=st.integers(-3, 3))


def spread(points, group):
    return sum(
        ((points[group == k] - points[group == k].mean(axis=0)) ** 2).sum() for k in set(group)
    )


@pytest.mark.parametrize("seed", range(10))
def test_two_means_is_the_best_of_its_starts(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(40, 2))
    starts = rng.random((40, 6)) > 0.5
    found = two_means(points, starts)
    single = []
    for side in starts.T:
        centres = np.stack([points[side].mean(axis=0), points[~side].mean(axis=0)])
        single.append(KMeans(2, init=centres, n_init=1, tol=0).fit(points).inertia_)
    assert spread(points, found) == pytest.approx(min(single))


def test_two_means_of_starts_without_two_sides():
    points = np.arange(4.0)[:, None]
    assert two_means(points, np.zeros((4, 1), dtype=bool)) is None
    both = np.array([[False, True]] * 2 + [[True, True]] * 2)
    assert two_means(points, both).tolist() == [False, False, True, True]


@pytest.mark.parametrize("seed", range(10))
def test_k_means_is_close_to_the_best_of_many_draws(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(120, 4)) + 3 * rng.normal(size=(8, 4))[rng.integers(8, size=120)]
    drawn = KMeans(8, n_init=20, random_state=0).fit(points).inertia_
    assert spread(points, k_means(points, 8)) < 1.1 * drawn


@given(
    arrays(float, st.tuples(st.integers(3, 20), st.integers(1, 3)), elements=st.integers(-3, 3)),
    st.integers(2, 5),
)
def test_k_means_of_any_points(points, n_groups):
    group = k_means(points, n_groups)
    assert len(group) == len(points)
    numbers = group.tolist()
    firsts = [numbers.index(k) for k in range(max(numbers) + 1)]  # fails where a number is missing
    assert firsts == sorted(firsts)
    assert max(numbers) < n_groups
    _, same = np.unique(points, axis=0, return_inverse=True)
    same = same.reshape(-1)  # a column in numpy 2.0
    for k in set(same.tolist()):
        assert len(set(group[same == k].tolist())) == 1, "equal points are in one group"


def test_k_means_does_not_know_the_order_of_points():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 3))
    order = rng.permutation(60)
    as_sets = [
        {frozenset(names[group == k].tolist()) for k in range(6)}
        for names, group in (
            (np.arange(60), k_means(points, 6)),
            (order, k_means(points[order], 6)),
        )
    ]
    assert as_sets[0] == as_sets[1]


@given(scores, st.floats(0, 0.5))
def test_a_cut_has_its_share_on_both_sides_and_keeps_the_order(scores, min_side):
    right = cut_with_min_side(scores, min_side)
    least = least_side(len(scores), min_side)
    assert least <= right.sum() <= len(scores) - least
    assert scores[~right].max() <= scores[right].min()


@given(scores)
def test_a_cut_without_a_share_is_by_sign_where_there_are_both(scores):
    right = cut_with_min_side(scores, 0.0)
    if 0 < (scores > 0).sum() < len(scores):
        assert right.tolist() == (scores > 0).tolist()
    else:
        assert right.tolist() == median_cut(scores).tolist()


@given(scores)
def test_a_median_cut_halves(scores):
    assert (~median_cut(scores)).sum() == len(scores) // 2


def test_two_sides_put_the_first_class_first():
    classes = np.array([2, 4, 6])
    for right in ([True, False, False], [False, True, True]):
        assert [side.tolist() for side in two_sides(classes, np.array(right))] == [[2], [4, 6]]


def test_points_that_differ_by_rounding_are_one():
    points = np.ones((6, 2)) + 1e-14 * np.arange(12).reshape(6, 2)
    assert near_groups(points, 2, np.random.default_rng(0)) is None


def test_no_more_groups_than_points():
    points = np.repeat([[0.0], [1.0]], 3, axis=0)
    labels = near_groups(points, 5, np.random.default_rng(0))
    assert [g.tolist() for g in groups_of(np.arange(6), labels, 5)] == [[0, 1, 2], [3, 4, 5]]
