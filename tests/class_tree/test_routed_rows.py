from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from palmette.class_tree._linear_routes import FlatRows

X = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix, np.float32]
)
def test_every_form_holds_the_rows(form):
    rows = FlatRows.of(form(X))
    again = np.zeros((len(rows), rows.n_features))
    for i in range(len(rows)):
        entries = np.arange(rows.lengths[i])
        columns = rows.columns[rows.column_starts[i] + entries]
        again[i, columns] = rows.values[rows.value_starts[i] + entries]
    assert np.array_equal(again, X)


def test_what_needs_no_copy_is_not_copied():
    assert np.shares_memory(FlatRows.of(X).values, X)
    by_row = sparse.csr_array(X)
    assert np.shares_memory(FlatRows.of(by_row).values, by_row.data)


def test_dense_rows_share_their_columns():
    assert FlatRows.of(X).is_dense
    assert not FlatRows.of(sparse.csr_array(X)).is_dense
