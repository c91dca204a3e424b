"""The old generator of MATLAB, and the folds that it draws."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from papers.hirr_fs.authors import MatlabStream, matlab_folds

MODULUS = 2**31 - 1


def test_the_first_numbers_by_hand():
    first = 65536 * 16807  # below the modulus
    second = first * 16807 % MODULUS
    np.testing.assert_array_equal(
        MatlabStream().uniform(2), [1101463552 / MODULUS, second / MODULUS]
    )
    assert first == 1101463552


def test_the_ten_thousandth_state_is_that_of_park_and_miller():
    last = MatlabStream(state=1).uniform(10_000)[-1]
    assert round(last * MODULUS) == 1043618065


def test_a_matrix_is_filled_by_columns():
    numbers = MatlabStream().uniform(6)
    matrix = MatlabStream().matrix(3, 2)
    np.testing.assert_array_equal(matrix[:, 0], numbers[:3])
    np.testing.assert_array_equal(matrix[:, 1], numbers[3:])


@given(st.integers(2, 60), st.integers(2, 10))
def test_folds_part_the_rows_evenly(n_rows, n_folds):
    n_folds = min(n_rows, n_folds)
    stream = MatlabStream()
    folds = matlab_folds(stream, n_rows, n_folds)
    sizes = np.bincount(folds, minlength=n_folds)
    assert sizes.sum() == n_rows
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1
    used = MatlabStream().uniform(n_rows + n_folds + 1)
    assert stream.uniform(1)[0] == used[-1]


def test_the_stream_goes_on_where_it_was():
    one, other = MatlabStream(), MatlabStream()
    parts = np.concatenate([one.uniform(3), one.uniform(4)])
    np.testing.assert_array_equal(parts, other.uniform(7))
    assert sorted(other.permutation(5).tolist()) == list(range(5))
