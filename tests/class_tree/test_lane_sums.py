"""Products in vectors of registers equal plain loops, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from palmette._kernels import kernel
from palmette.class_tree import _lane_sums as lanes

N_PLACES, LENGTH, FIRST, START, OFFSET = 7, 9, 2, 3, 5


@kernel
def compiled_sums(values, first, places, start, length, weights, offset, n, sums):
    lanes.add_products(values, first, places, start, length, weights, offset, n, sums)


@kernel
def compiled_moves(values, first, places, start, length, weights, n, steps):
    lanes.move_weights(values, first, places, start, length, weights, n, steps)


def literal_sums(values, first, places, start, length, weights, offset, n, sums):
    for e in range(length):
        for k in range(n):
            sums[k] += values[first + e] * weights[offset + n * places[start + e] + k]


def literal_moves(values, first, places, start, length, weights, n, steps):
    for e in range(length):
        for k in range(n):
            weights[places[start + e], k] += values[first + e] * steps[k]


@pytest.fixture(params=[1, 2, 3, 4, 5, 7, 8, 11, 12, 16, 21])
def case(request):
    rng = np.random.default_rng(request.param)
    places = rng.integers(N_PLACES, size=LENGTH + 5)
    return request.param, rng.normal(size=LENGTH + 4), places, rng.normal(size=request.param), rng


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("length", [0, 1, LENGTH])
def test_sums_have_the_order_of_the_entries(case, dtype, length):
    n, values, places, sums, rng = case
    weights = rng.normal(size=OFFSET + n * N_PLACES)
    expected = sums.copy()
    common = values, FIRST, places.astype(dtype), START, length, weights, OFFSET, n
    compiled_sums(*common, sums)
    literal_sums(*common, expected)
    assert np.array_equal(sums, expected)


@pytest.mark.parametrize("length", [0, 1, LENGTH])
def test_a_place_that_comes_twice_is_moved_twice(case, length):
    n, values, places, steps, rng = case
    weights = rng.normal(size=(N_PLACES, n))
    expected = weights.copy()
    entries = values, FIRST, places.astype(np.int32), START, length
    compiled_moves(*entries, weights, n, steps)
    literal_moves(*entries, expected, n, steps)
    assert np.array_equal(weights, expected)
