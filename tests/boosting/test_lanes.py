from __future__ import annotations

import numpy as np
import pytest
from numba import TypingError, njit

from palmette.boosting._histogram import (
    LANES,
    add_lanes,
    add_pairs,
    aligned_floats,
    copy_lanes,
    lead_lanes,
)


@njit
def call_add_lanes(sums, values, start, places):
    add_lanes(sums, values, start, places)


@njit
def call_add_pairs(sums, values, start, places):
    add_pairs(sums, values, start, places)


@njit
def call_copy_lanes(target, place, values, start):
    copy_lanes(target, place, values, start)


@njit
def call_lead_lanes(bins, start, low, high, halves, clearly, edges, cuts):
    lead_lanes(bins, start, low, high, halves, clearly, edges, cuts)


@pytest.mark.parametrize("places", [(3,), (0, 20, 40), (16, 16)])
def test_lanes_are_added_at_every_place(places):
    rng = np.random.default_rng(0)
    sums, values = rng.random(64, dtype=np.float32), rng.random(40, dtype=np.float32)
    expected = sums.copy()
    for place in places:
        expected[place : place + LANES] += values[5 : 5 + LANES]
    call_add_lanes(sums, values, 5, places)
    assert (sums == expected).all()


def test_pairs_are_added_at_every_place():
    sums, values = np.arange(8.0), np.array([9.0, 0.25, 0.5, 9.0])
    call_add_pairs(sums, values, 1, (0, 5))
    assert sums.tolist() == [0.25, 1.5, 2, 3, 4, 5.25, 6.5, 7]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lanes_are_copied_and_rounded(kind):
    table = np.random.default_rng(0).random((3, 22)).astype(kind)
    target = np.zeros(40, dtype=np.float32)
    call_copy_lanes(target, 9, table, 2 * 22 + 1)
    assert (target[9 : 9 + LANES] == table[2, 1 : 1 + LANES].astype(np.float32)).all()
    assert np.count_nonzero(target) == LANES


def test_lanes_of_a_table_in_another_order_are_refused():
    table = np.zeros((32, 32), order="F")
    with pytest.raises(TypingError, match="expected C order"):
        call_copy_lanes(np.zeros(LANES, dtype=np.float32), 0, table, 0)


def test_the_lead_is_that_of_a_plain_loop_and_bins_are_cleared():
    rng = np.random.default_rng(1)
    bins = rng.normal(size=(3 + 20, LANES)).astype(np.float32)
    halves = rng.normal(size=LANES).astype(np.float32)
    edges, cuts = np.empty(LANES, dtype=np.float32), np.empty(LANES, dtype=np.int32)
    before, low, high = bins.copy(), 2, 17
    call_lead_lanes(bins.reshape(-1), 3 * LANES, low, high, halves, 1.01, edges, cuts)
    left = np.cumsum(before[3 + low : 3 + high], axis=0, dtype=np.float32)
    for lane in range(LANES):
        lead, leader = 0.0, 0
        for cut, edge in enumerate(np.abs(left[:, lane] - halves[lane]), start=low):
            if edge > lead:
                lead, leader = edge * np.float32(1.01), cut
        assert cuts[lane] == leader
        np.testing.assert_allclose(edges[lane], lead, rtol=1e-6)
    assert (bins[3 + low : 3 + high + 1] == 0).all()
    untouched = np.r_[: 3 + low, 3 + high + 1 : len(bins)]
    assert (bins[untouched] == before[untouched]).all()


def test_floats_begin_at_a_cache_line():
    room = aligned_floats(48)
    assert room.shape == (48,)
    assert not room.any()
    assert room.ctypes.data % 64 == 0
