"""Sorted columns are equal to those of the rows, after every operation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.multilabel._c45 import SortedRows


def table(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(12, 5)).astype(np.float32)
    X[:, 3] = 0.0
    return X


def dense(rows: SortedRows) -> np.ndarray:
    """Unpack, and check on the way that columns ascend and hold no zero."""
    X = np.zeros(rows.shape, dtype=np.float32)
    starts, places, values = rows.columns
    for j in range(rows.shape[1]):
        mine = slice(starts[j], starts[j + 1])
        assert (np.diff(values[mine]) >= 0).all()
        assert (values[mine] != 0).all()
        X[places[mine], j] = values[mine]
    return X


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_they_hold_what_the_rows_hold(kind):
    assert np.array_equal(dense(SortedRows.of(kind(table()))), table())


def test_explicit_zeros_and_repeated_entries_of_a_sparse_matrix():
    entries = ([1.0, 2.0, 0.0, 4.0], ([0, 0, 1, 1], [0, 0, 0, 1]))
    rows = SortedRows.of(sparse.coo_array(entries, shape=(2, 2)))
    assert dense(rows).tolist() == [[3.0, 0.0], [0.0, 4.0]]


@pytest.mark.parametrize("rows", [[3, 1], [5, 5, 5, 0], [], list(range(12))])
def test_some_rows_stand_as_often_as_they_are_named(rows):
    taken = SortedRows.of(table()).take(np.array(rows, dtype=np.intp))
    assert np.array_equal(dense(taken), table()[rows])


def test_flags_are_columns_behind_the_others():
    ones = [np.array([0, 4]), np.array([], dtype=np.int32)]
    rows = SortedRows.of(table()).with_flags(ones)
    expected = np.hstack([table(), np.zeros((12, 2), dtype=np.float32)])
    expected[[0, 4], 5] = 1.0
    assert np.array_equal(dense(rows), expected)
    expected[:, 3:] = 0.0
    assert np.array_equal(dense(rows.first_columns(3)), expected)
