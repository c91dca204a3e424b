"""Distinct rows: their order, copies and weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from palmette.forest._rows import distinct_rows


def few_values(seed, n=40):
    """Rows of so few values that many are equal."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, 2)) * 0.5
    return X, sparse.csr_array(rng.random((n, 2)) < 0.5)


def counted(X, Y, rows):
    X = X.toarray() if sparse.issparse(X) else X
    table = np.hstack([X[rows.first], Y[rows.first].toarray()])
    return table.tolist(), rows.copies.tolist(), rows.unit.tolist()


@given(st.integers(0, 10**6))
def test_rows_of_a_kind_are_those_that_are_equal(seed):
    X, Y = few_values(seed)
    rows = distinct_rows(X, Y, None)
    table = np.hstack([X, Y.toarray()])
    same = (table[:, None] == table[None]).all(axis=2)
    assert np.array_equal(rows.kind[:, None] == rows.kind, same)
    assert np.array_equal(table[rows.first][rows.kind], table)
    assert np.array_equal(np.bincount(rows.kind), rows.copies)
    assert (rows.unit == 1).all()


@given(st.integers(0, 10**6))
def test_neither_the_order_of_rows_nor_their_form_changes_anything(seed):
    X, Y = few_values(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    known = counted(X, Y, distinct_rows(X, Y, None))
    assert counted(X[order], Y[order], distinct_rows(X[order], Y[order], None)) == known
    compressed = sparse.csr_array(X)
    assert counted(compressed, Y, distinct_rows(compressed, Y, None)) == known
    single = X.astype(np.float32)
    assert counted(single, Y, distinct_rows(single, Y, None)) == known


@given(st.integers(0, 10**6))
def test_a_weight_of_k_is_k_copies(seed):
    X, Y = few_values(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(X))
    again = np.repeat(np.arange(len(X)), weights)
    weighted = counted(X, Y, distinct_rows(X, Y, weights.astype(float)))
    X, Y = X[again], Y[again]
    assert weighted == counted(X, Y, distinct_rows(X, Y, None))


def test_weights_keep_their_proportions_and_small_ones_count_as_rows():
    X, Y = np.arange(4.0)[:, None], sparse.csr_array(np.ones((4, 1), dtype=bool))
    rows = distinct_rows(X, Y, np.array([0.001, 0.001, 0.002, 0.004]))
    total = (rows.copies * rows.unit)[rows.kind]
    assert total == pytest.approx([0.5, 0.5, 1.0, 2.0])
    assert rows.copies[rows.kind].tolist() == [1, 1, 1, 2]
    heavy = distinct_rows(X, Y, np.array([1.0, 1.0, 1.0, 1000.0]))
    assert (heavy.copies * heavy.unit)[heavy.kind].tolist() == [1, 1, 1, 1000]
    assert heavy.copies.max() < 100  # what is drawn from many copies is drawn from some


def test_rows_that_differ_only_in_zeros_are_distinct():
    ones = np.eye(300)
    rows = distinct_rows(ones, sparse.csr_array((300, 1), dtype=bool), None)
    assert len(rows.first) == 300
    minus = distinct_rows(np.array([[0.0], [-0.0]]), sparse.csr_array((2, 1), dtype=bool), None)
    assert len(minus.first) == 1
