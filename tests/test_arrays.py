"""Rows of every kind of X."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.laws.arrays import messy, unchanged
from tests.strategies import quick

import palmette as pm
from palmette import PalmetteError
from palmette import _arrays as module
from palmette._arrays import (
    canonical_rows,
    count_rows,
    is_text,
    read_rows,
    row_chunks,
    take_cells,
    take_rows,
)
from palmette.multilabel import MLSMOTE, C45Tree
from palmette.partition import ClassProblem

TABLE = np.arange(12.0).reshape(6, 2)
FORMS = {
    "numpy": (TABLE, np.asarray),
    "csr": (sparse.csr_array(TABLE), lambda X: X.toarray()),
    "csr matrix": (sparse.csr_matrix(TABLE), lambda X: X.toarray()),
    "pandas": (pd.DataFrame(TABLE, index=list("fedcba")), lambda X: X.to_numpy()),
    "polars": (pl.DataFrame(TABLE), lambda X: X.to_numpy()),
    "pyarrow": (
        pa.table({"a": TABLE[:, 0], "b": TABLE[:, 1]}),
        lambda X: np.column_stack([column.to_numpy() for column in X.columns]),
    ),
    "list": ([*map(list, TABLE)], np.array),
    "tuple": (tuple(map(tuple, TABLE)), np.array),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_counted_and_taken(form):
    X, plain = FORMS[form]
    assert count_rows(X) == 6
    rows = np.array([4, 0, 4], dtype=np.int32)
    np.testing.assert_array_equal(plain(take_rows(X, rows)), TABLE[rows])
    np.testing.assert_array_equal(plain(take_rows(X, slice(1, 3))), TABLE[1:3])
    assert count_rows(take_rows(X, slice(0, 0))) == 0


@quick
@given(st.integers(0, 1000), st.integers(0, 100), st.integers(1, 500))
def test_chunks_cover_all_rows_once_and_keep_to_their_size(n_rows, numbers_a_row, at_once):
    chunks = list(row_chunks(n_rows, numbers_a_row, at_once))
    assert [row for chunk in chunks for row in range(n_rows)[chunk]] == list(range(n_rows))
    sizes = [chunk.stop - chunk.start for chunk in chunks]
    assert all(size == 1 or size * numbers_a_row <= at_once for size in sizes)


@pytest.mark.parametrize(
    "X",
    [
        ["a", "b"],
        ("a",),
        np.array(["a", "b"]),
        np.array(["a"], dtype=object),
        pd.Series(["a", "b"], index=[5, 6]),
        pl.Series(["a", "b"]),
    ],
)
def test_texts(X):
    assert is_text(X)


@pytest.mark.parametrize(
    "X",
    [
        [],
        [1.0],
        [["a"]],
        TABLE,
        np.array([["a"]]),
        np.array([1]),
        pd.DataFrame({"a": ["x"]}),
        pd.Series([1]),
        pd.Series([], dtype=object),
        pl.DataFrame({"a": ["x"]}),
        sparse.csr_array(TABLE),
        "a text",
        None,
    ],
)
def test_no_texts(X):
    assert not is_text(X)


@pytest.mark.parametrize("form", [name for name in FORMS if name not in ("list", "tuple")])
def test_cells_are_taken_by_row_and_column(form):
    X, plain = FORMS[form]
    rows, columns = np.array([4, 0, 4], dtype=np.int32), np.array([1])
    np.testing.assert_array_equal(plain(take_cells(X, rows, columns)), TABLE[rows][:, columns])
    np.testing.assert_array_equal(plain(take_cells(X, columns=columns)), TABLE[:, columns])
    np.testing.assert_array_equal(plain(take_cells(X, rows)), TABLE[rows])
    assert take_cells(X) is X


def test_sparse_cells_are_cut_block_by_block(monkeypatch):
    monkeypatch.setattr(module, "_SPARSE_AT_ONCE", 7)
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((40, 9)) < 0.6, 0.0, rng.normal(size=(40, 9)))
    rows, columns = np.flatnonzero(rng.random(40) < 0.7).astype(np.int32), np.array([7, 0, 3])
    cut = take_cells(sparse.csr_array(dense), rows, columns)
    np.testing.assert_array_equal(cut.toarray(), dense[np.ix_(rows, columns)])
    assert take_cells(sparse.csr_array(dense), rows[:0], columns).shape == (0, 3)


# ---------------------------------------------------------------------- sparse rows

DENSE = np.array([[0.0, 2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0], [5.0, 0.0, 1.0, 7.0]])


@pytest.mark.parametrize("number", range(8))
def test_sparse_rows_become_canonical_and_the_given_ones_stay(number):
    given = list(messy(DENSE))[number]
    is_same = unchanged(given)
    rows, plain = canonical_rows(given), sparse.csr_array(DENSE)
    for one, other in [
        (rows.data, plain.data),
        (rows.indices, plain.indices),
        (rows.indptr, plain.indptr),
    ]:
        assert np.array_equal(one, other)
    assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert isinstance(rows, sparse.sparray) == isinstance(given, sparse.sparray)
    assert is_same()


def test_canonical_rows_are_not_copied():
    given = sparse.csr_array(DENSE)
    rows = canonical_rows(given)
    assert np.shares_memory(rows.data, given.data)
    assert np.shares_memory(rows.indices, given.indices)
    assert canonical_rows(DENSE) is DENSE


def test_indices_outside_of_the_matrix_are_refused():
    for wrong in ([9, 1], [-1, 1]):
        given = sparse.csr_array(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 3))
        given.indices = np.array(wrong, dtype=np.int32)
        with pytest.raises(
            PalmetteError, match=r"not a valid sparse matrix: (indices|.* index values) must be"
        ):
            canonical_rows(given)
    given.indices, given.indptr = np.array([0, 1]), np.array([0, 5, 2])
    with pytest.raises(PalmetteError, match="not a valid sparse matrix"):
        read_rows(given)


def test_pointers_below_zero_are_refused():
    """scipy takes the matrix for empty, and reads memory that is not its own."""
    rows = sparse.csr_array(np.eye(3))
    rows.indptr[-1] = -(2**31)
    with pytest.raises(PalmetteError, match="pointers of a sparse matrix do not rise"):
        read_rows(rows)


def test_sums_that_overflow_are_infinite():
    twice = sparse.csr_array(([1.7e308, 1.7e308], [0, 0], [0, 2]), shape=(1, 1))
    with pytest.raises(ValueError, match="infinity"):
        read_rows(twice)


def test_every_reader_of_sparse_rows_makes_them_canonical():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 5)) < 0.5, 0.0, rng.normal(size=(30, 5)))
    labels, codes = [{"a"}] * 24 + [{"a", "b"}] * 6, np.arange(30) % 2
    worst, plain = next(messy(X)), sparse.csr_array(X)
    is_same = unchanged(worst)
    drawn = [MLSMOTE(random_state=0).fit_resample(rows, labels)[0] for rows in (worst, plain)]
    assert np.array_equal(drawn[0].toarray(), drawn[1].toarray())
    trees = [C45Tree(random_state=0).fit(rows, codes) for rows in (worst, plain)]
    assert np.array_equal(trees[0].predict_proba(worst), trees[1].predict_proba(X))
    assert ClassProblem(worst, codes, 2).X.nnz == plain.nnz
    assert is_same()


@pytest.mark.parametrize("largest", [2e37, 1e60, 1e101])
def test_values_that_are_too_large_for_a_tree_are_refused(largest):
    X, y = np.array([[1.0], [2.0], [3.0], [largest]]), [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"largest absolute value of X is|too large for"):
        C45Tree().fit(X, y)
    fitted = C45Tree().fit(X[:3], y[:3])
    with pytest.raises(ValueError, match=r"largest absolute value of X is|too large for"):
        fitted.predict(X[3:] * 1e3)


COLOURS = [["red", 1.0], ["blue", 2.0]] * 4


@pytest.mark.parametrize("form", [list, np.array, pd.DataFrame], ids=["list", "array", "frame"])
@pytest.mark.parametrize(
    "kind",
    [
        pm.AdaBoostBHCClassifier,
        pm.BinaryRelevance,
        pm.ClassTreeClassifier,
        pm.CoherentForestClassifier,
        pm.HierarchicalBoostingClassifier,
        pm.HierarchicalFeatureSelector,
        pm.StructuredForestClassifier,
    ],
    ids=lambda kind: kind.__name__,
)
def test_texts_among_features_are_an_error_that_says_what_to_do(kind, form):
    with pytest.raises(PalmetteError, match=r"numbers only.*TableVectorizer or TfidfVectorizer"):
        kind().fit(form(COLOURS), [("a", "b"), ("a", "c")] * 4)


def test_other_errors_of_scikit_learn_stay_as_they_are():
    with pytest.raises(ValueError, match="contains NaN"):
        read_rows([[np.nan]])
