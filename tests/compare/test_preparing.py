"""Features are made fit for a model, by the training rows alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier

from palmette.compare import _preparing as preparing
from palmette.compare._preparing import fill_texts, is_text_column, make_dense, prepare
from palmette.exceptions import PalmetteError
from palmette.models._registry import ModelSpec, find_model

PLAIN = ModelSpec("plain", DummyClassifier, "takes nothing special")
SCALED = ModelSpec("scaled", DummyClassifier, "", scale=True)
TREES = ModelSpec("trees", DummyClassifier, "", takes_missing=True, takes_codes=True)
DENSE = ModelSpec("dense", DummyClassifier, "", takes_sparse=False)


def seen_by_model(spec, X_train, X_test=None, **options):
    """Return what reaches the model in `fit` and, if asked, in `predict`."""
    model = prepare(DummyClassifier(), spec, X_train, X_test, **options)
    if not hasattr(model, "steps"):
        return X_train if X_test is None else X_test
    steps = model[:-1].fit(X_train)
    return steps.transform(X_train if X_test is None else X_test)


def test_plain_numbers_need_nothing():
    model = DummyClassifier()
    assert prepare(model, PLAIN, np.eye(3)) is model


def test_scale():
    X = np.array([[1.0, 10.0], [3.0, 30.0]])
    np.testing.assert_allclose(seen_by_model(SCALED, X), [[-1, -1], [1, 1]])


def test_scale_learns_from_training_rows_alone():
    X = np.array([[1.0], [3.0]])
    np.testing.assert_allclose(seen_by_model(SCALED, X, np.array([[5.0]])), [[3.0]])


def test_sparse_numbers_stay_sparse_and_keep_their_zeros():
    X = sparse.csr_array(np.array([[0.0, 2.0], [4.0, 0.0]]))
    scaled = seen_by_model(SCALED, X)
    assert sparse.issparse(scaled)
    assert scaled.nnz == 2


def test_sparse_numbers_become_dense_for_models_that_need_it():
    X = sparse.csr_array(np.eye(3))
    np.testing.assert_array_equal(seen_by_model(DENSE, X), np.eye(3))


def test_too_large_for_dense(monkeypatch):
    monkeypatch.setattr(preparing, "MAX_DENSE", 8)
    with pytest.raises(PalmetteError, match="sparse matrix of 3 x 3"):
        make_dense(sparse.csr_array(np.eye(3)))


def test_gaps_are_filled_with_means():
    X = np.array([[1.0, np.nan], [3.0, np.nan]])
    np.testing.assert_array_equal(seen_by_model(PLAIN, X, np.array([[np.nan, 5.0]])), [[2.0, 5.0]])


def test_gaps_in_test_rows_alone_are_filled():
    X, X_test = np.array([[1.0], [3.0]]), np.array([[np.nan]])
    np.testing.assert_array_equal(seen_by_model(PLAIN, X, X_test), [[2.0]])


def test_gaps_are_left_to_models_that_take_them():
    X = np.array([[1.0], [np.nan]])
    assert np.isnan(seen_by_model(TREES, X)).sum() == 1


def test_categories_become_columns():
    X = np.array([[0.0, 10.0], [1.0, 20.0], [2.0, 30.0]])
    mask = np.array([True, False])
    seen = seen_by_model(PLAIN, X, categorical=mask)
    np.testing.assert_array_equal(seen, np.c_[np.eye(3), [10, 20, 30]])
    # an unknown category is none of the known ones
    unknown = seen_by_model(PLAIN, X, np.array([[7.0, 40.0]]), categorical=mask)
    np.testing.assert_array_equal(unknown, [[0, 0, 0, 40]])


def test_categories_alone():
    X = np.array([[0.0], [1.0]])
    np.testing.assert_array_equal(seen_by_model(SCALED, X, categorical=[True]), np.eye(2))


def test_trees_take_categories_as_they_are():
    X = np.array([[0.0], [1.0]])
    assert seen_by_model(TREES, X, categorical=np.array([True])) is X


def test_texts_become_weights_of_words():
    seen = seen_by_model(SCALED, ["red apple", "red bolt", "apple bolt"])
    assert sparse.issparse(seen)
    np.testing.assert_allclose(seen.multiply(seen).sum(axis=1), 1.0)


# ---------------------------------------------------------------------- tables


@pytest.fixture
def table() -> pd.DataFrame:
    n = 60
    return pd.DataFrame(
        {
            "price": [None if i % 7 == 0 else float(i) for i in range(n)],
            "colour": [None if i % 5 == 0 else ["red", "green"][i % 2] for i in range(n)],
            "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "title": [None if i % 11 == 0 else f"a {'ripe' if i % 2 else 'new'} thing no {i}"
                      for i in range(n)],
        }
    )  # fmt: skip


PLAIN_COLUMNS = ["price", "colour", "day"]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        *[(name, None) for name in ("flat", "flat-forest", "flat-naive-bayes", "flat-svm")],
        *[(name, PLAIN_COLUMNS) for name in ("flat", "flat-naive-bayes")],
        *[(name, ["title"]) for name in ("flat-forest", "flat-naive-bayes")],
    ],
)
def test_models_learn_from_tables_with_gaps(table, name, columns):
    X = table if columns is None else table[columns]
    y = ["odd" if i % 2 else "even" for i in range(len(X))]
    spec = find_model(name)
    model = prepare(spec.make(_context()), spec, X)
    predicted = model.fit(X, y).predict(X)
    assert np.mean(np.asarray(predicted) == np.asarray(y)) > 0.7


def test_strings_are_read_before_skrub_tries_to():
    days = [f"0{1 + i % 9}.03.2024" for i in range(60)]
    prices = [f"{i % 9},50 \u20ac" for i in range(60)]
    codes = [["9e7872688807d2", "1e4294967296"][i % 2] for i in range(60)]  # end pandas' parser
    X = pd.DataFrame({"price": prices, "day": days, "code": codes})
    seen = seen_by_model(
        PLAIN, X, X.iloc[:2].assign(price=["3,5 \u20ac", None], code=["?", codes[0]])
    )
    assert seen.shape[1] > 3  # a date has several parts
    np.testing.assert_allclose(seen[0, 0], 3.5)
    np.testing.assert_array_equal(seen[:, 1], [0, 1])


def test_numbers_of_tables_keep_their_digits():
    X = pd.DataFrame({"time": 1.7e9 + np.arange(60.0), "far": [-np.inf, np.nan, 1e308] * 20})
    seen = seen_by_model(PLAIN, X)
    np.testing.assert_array_equal(seen[:, 0], X["time"])
    assert np.isfinite(seen).all()
    assert np.isnan(seen_by_model(TREES, X)[:, 1]).sum() == 40


def test_names_that_end_in_zero_characters_are_told_apart():
    X = pd.DataFrame({"": [1.0, 2.0] * 20, "\0": [3.0, 5.0] * 20, "\0\0": ["a", None] * 20})
    np.testing.assert_array_equal(seen_by_model(PLAIN, X)[:2], [[1, 3, 0], [2, 5, 1]])


def test_columns_without_values_are_left_out():
    X = pd.DataFrame({"a": [1.0, 2.0] * 20, "b": pd.Series([None] * 40, dtype=object)})
    assert seen_by_model(PLAIN, X).shape == (40, 1)
    with pytest.raises(PalmetteError, match="no column of the table has a value"):
        seen_by_model(PLAIN, X[["b"]])


def _context():
    from palmette.models._registry import ModelContext

    return ModelContext()


def test_prose_is_told_from_categories(table):
    assert [name for name in table.columns if is_text_column(table[name])] == ["title"]


def test_few_different_texts_are_categories():
    assert not is_text_column([f"the kind number {i % 40}" for i in range(1000)])
    assert is_text_column([f"the kind number {i % 41}" for i in range(1000)])


def test_names_of_one_word_are_no_prose():
    assert not is_text_column([f"id{i}" for i in range(1000)])


def test_fill_texts():
    assert fill_texts(["a", None, float("nan"), "b"]) == ["a", "", "", "b"]


def test_tables_need_skrub(monkeypatch, table):
    import sys

    monkeypatch.setitem(sys.modules, "skrub", None)
    with pytest.raises(PalmetteError, match=r"pip install 'palmette\[table\]'"):
        prepare(DummyClassifier(), PLAIN, table).fit(table, np.arange(len(table)) % 2)
