"""Average precision of cells is scikit-learn's, whatever the chunks."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import average_precision_score

from palmette.core import rows
from palmette.metrics import _cells
from palmette.metrics._cells import average_precision_of_cells


def a_table(seed: int, n_levels: int, shape: tuple[int, int] = (9, 7)):
    rng = np.random.default_rng(seed)
    truth = rng.random(shape) < 0.3
    truth[0, 0] = True
    scores = rng.integers(n_levels, size=shape) / n_levels
    return truth, scores, rng.integers(0, 4, size=shape[0]).astype(float) + 0.5


@given(st.integers(0, 10**6), st.sampled_from([1, 3, 1000]))
def test_it_is_that_of_scikit_learn(seed, n_levels):
    truth, scores, _ = a_table(seed, n_levels)
    found = average_precision_of_cells(sparse.csr_array(truth), scores)
    assert found == pytest.approx(average_precision_score(truth.ravel(), scores.ravel()), abs=1e-12)


@given(st.integers(0, 10**6))
def test_rows_may_be_weighted(seed):
    truth, scores, weight = a_table(seed, 5)
    each = np.repeat(weight, truth.shape[1])
    expected = average_precision_score(truth.ravel(), scores.ravel(), sample_weight=each)
    found = average_precision_of_cells(sparse.csr_array(truth), scores, weight)
    assert found == pytest.approx(expected, abs=1e-12)


def test_chunks_change_nothing():
    truth, scores, _ = a_table(0, 50, (100, 20))
    whole = average_precision_of_cells(sparse.csr_array(truth), scores)

    def small_chunks(n_rows, numbers_a_row, at_once=0):
        return rows.row_chunks(n_rows, numbers_a_row, 60)

    with patch.object(_cells, "row_chunks", small_chunks):
        assert average_precision_of_cells(sparse.csr_array(truth), scores) == whole


def test_without_a_true_cell_it_is_zero():
    assert average_precision_of_cells(sparse.csr_array((2, 2), dtype=bool), np.eye(2)) == 0.0
