from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from palmette.partition.base import least_side
from palmette.partition.sides import cut_at_floor, median_cut, two_sides

scores = arrays(float, st.integers(2, 30), elements=st.integers(-3, 3))


@given(scores, st.floats(0, 0.5))
def test_a_cut_has_its_share_on_both_sides_and_keeps_the_order(scores, min_side):
    right = cut_at_floor(scores, min_side)
    least = least_side(len(scores), min_side)
    assert least <= right.sum() <= len(scores) - least
    assert scores[~right].max() <= scores[right].min()


@given(scores)
def test_a_cut_without_a_share_is_by_sign_where_there_are_both(scores):
    right = cut_at_floor(scores, 0.0)
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
