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


@kernel
def compiled_steps(signs, at, duals, row, margins, limits, highest, lowest, soft, curved, n, out):
    return lanes.hinge_steps(
        signs, at, duals, row, margins, limits, highest, lowest, soft, curved, n, out
    )


def literal_steps(signs, at, duals, row, margins, limits, highest, lowest, soft, curved, n, out):
    found = 0
    for k in range(n):
        sign, old = signs.ravel()[at + k], duals.ravel()[row + k]
        gradient = sign * margins[k] - 1 + soft * old
        out[k] = 0
        if old == 0 and gradient > limits[k]:
            continue
        found |= 1
        projected = min(gradient, 0) if old == 0 else gradient
        highest[k], lowest[k] = max(highest[k], projected), min(lowest[k], projected)
        if abs(projected) > 1e-12:
            found |= 2
            duals.ravel()[row + k] = max(old - gradient / curved, 0)
            out[k] = (duals.ravel()[row + k] - old) * sign
    return found


@pytest.mark.parametrize("shift", [-3.0, 0.0, 9.0])  # of margins: none, some or all are left out
def test_steps_of_dual_variables_are_those_of_a_plain_loop(case, shift):
    dtype = np.float32
    n, _, _, margins, rng = case
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), size=(3, n))
    margins = (margins + shift * signs[2]).astype(dtype)
    duals = np.maximum(rng.normal(size=(4, n)), 0).astype(dtype)
    if shift:
        duals[1] = 0.0
    limits = rng.choice([0.1, np.inf], size=n).astype(dtype) if shift < 9 else np.zeros(n, dtype)
    extremes = np.zeros(n, dtype), np.ones(n, dtype)
    results = []
    for step in (compiled_steps, literal_steps):
        own, outer, out = duals.copy(), [each.copy() for each in extremes], np.empty(n, dtype)
        found = step(signs, 2 * n, own, n, margins, limits, *outer, dtype(0.5), dtype(2.5), n, out)
        results.append([found, own, *outer, out])
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, expected)
