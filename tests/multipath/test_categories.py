"""Features that are categories become columns of 0 and 1, from codes, strings and tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.multipath.problems import TREE

import palmette
from palmette import PalmetteError
from palmette.multipath import (
    CoherentBlendClassifier,
    CoherentForestClassifier,
    CoherentKernelClassifier,
    CoherentNetworkClassifier,
)
from palmette.multipath._base import FeatureScaling
from palmette.multipath._categories import find_categorical

FOREST = CoherentForestClassifier(10, hierarchy=TREE, random_state=0)
KERNEL = CoherentKernelClassifier(0.5, 2.0, hierarchy=TREE)
NETWORK = CoherentNetworkClassifier((8,), n_epochs=20, hierarchy=TREE, random_state=0)
BLEND = CoherentBlendClassifier(
    [("forest", FOREST), ("kernel", KERNEL)], weights="equal", hierarchy=TREE, random_state=0
)
EACH = [FOREST, KERNEL, NETWORK, BLEND]
NAMES = np.array(["red", "green", "blue", "grey", "pink"])


def problem(n_rows=60, seed=0):
    """Codes of five categories whose order says nothing, and a number."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(5, size=n_rows)
    X = np.column_stack([rng.normal(size=n_rows), codes.astype(float)])
    labels = [{"a/b"}, {"a/c"}, {"a/b", "d/e"}, {"a/c"}, {"g"}]
    return X, [labels[code] for code in codes]


def one_hot(X):
    return np.hstack([X[:, :1], X[:, [1]] == np.arange(5)])


@pytest.mark.parametrize("model", EACH, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("given", [[1], [False, True], np.array([False, True])], ids=str)
def test_codes_are_columns_of_zeros_and_ones(model, given):
    X, y = problem()
    coded = clone(model).set_params(categorical_features=given).fit(X, y)
    wide = clone(model).fit(one_hot(X), y)
    expected = wide.predict_node_proba(one_hot(X))
    assert coded.predict_node_proba(X) == pytest.approx(expected, abs=1e-6)
    assert coded.is_categorical_.tolist() == [False, True]


@pytest.mark.parametrize("model", EACH, ids=lambda model: type(model).__name__)
def test_any_numbering_of_the_categories_gives_the_same_answers(model):
    X, y = problem()
    coded = clone(model).set_params(categorical_features=[1])
    first = coded.fit(X, y).predict_node_proba(X)
    tables = {
        "strings": pd.DataFrame({"x": X[:, 0], "c": [f"code {int(c)}" for c in X[:, 1]]}),
        "categories": pd.DataFrame({"x": X[:, 0], "c": pd.Categorical(X[:, 1].astype(int))}),
        "objects": np.array([[x, f"code {int(c)}"] for x, c in X], dtype=object),
    }
    for table in tables.values():
        assert coded.fit(table, y).predict_node_proba(table) == pytest.approx(first, abs=1e-6)


def test_columns_of_a_table_with_a_type_of_categories_are_found():
    X, y = problem()
    table = pd.DataFrame({"x": X[:, 0], "c": pd.Categorical(NAMES[X[:, 1].astype(int)])})
    found = clone(FOREST).fit(table, y)
    named = clone(FOREST).set_params(categorical_features=["c"]).fit(table.astype({"c": str}), y)
    assert found.is_categorical_.tolist() == [False, True]
    proba = found.predict_node_proba(table)
    assert np.array_equal(named.predict_node_proba(table), proba)
    assert found.feature_names_in_.tolist() == ["x", "c"]
    # the order in which a table declares its categories does not matter
    turned = table.assign(c=table["c"].cat.reorder_categories(NAMES[::-1]))
    assert np.array_equal(found.predict_node_proba(turned), proba)
    assert clone(FOREST).fit(X, y).is_categorical_ is None


@pytest.mark.parametrize("library", ["polars", "pyarrow", "pyarrow batch"])
def test_tables_of_other_libraries_are_read_like_those_of_pandas(library):
    X, y = problem()
    colours = pd.Series(NAMES[X[:, 1].astype(int)]).where(X[:, 0] > -1).astype("category")
    table = pd.DataFrame({"x": np.where(X[:, 0] > 1, np.nan, X[:, 0]), "c": colours})
    make = {"polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    other = make.get(library, pa.RecordBatch.from_pandas)(table)
    for given in ("from_dtype", ["c"], [1]):
        model = clone(FOREST).set_params(categorical_features=given)
        expected = model.fit(table, y).predict_node_proba(table)
        assert np.array_equal(model.fit(other, y).predict_node_proba(other), expected)
        assert model.is_categorical_.tolist() == [False, True]


def test_a_new_or_missing_category_is_none_of_the_known():
    X, y = problem()
    table = pd.DataFrame({"x": X[:, 0], "c": pd.Categorical(NAMES[X[:, 1].astype(int)])})
    model = clone(KERNEL).fit(table, y)
    rows = pd.DataFrame({"x": [0.5] * 4, "c": ["black", None, np.nan, pd.NA]})
    proba = model.predict_node_proba(rows)
    assert (proba == proba[0]).all()
    columns = model.scaling_.transform(np.array([[0.5, np.nan]]))[0, 1:]
    assert columns == pytest.approx(-model.scaling_.shift_[1:] / model.scaling_.scale_[1:])
    refuses = clone(KERNEL).set_params(missing="error").fit(table, y)
    assert refuses.predict_node_proba(rows[:1]).shape == (1, TREE.n_nodes)
    with pytest.raises(ValueError, match="NaN"):
        refuses.predict(rows)


@pytest.mark.parametrize("model", [KERNEL, NETWORK], ids=lambda model: type(model).__name__)
def test_a_file_keeps_the_categories(model, tmp_path):
    X, y = problem()
    table = pd.DataFrame({"x": X[:, 0], "c": pd.Categorical(NAMES[X[:, 1].astype(int)])})
    fitted = clone(model).fit(table, y)
    palmette.save(fitted, tmp_path / "model.palmette")
    loaded = palmette.load(tmp_path / "model.palmette")
    assert np.array_equal(loaded.predict_node_proba(table), fitted.predict_node_proba(table))
    assert loaded.is_categorical_.tolist() == [False, True]


def test_importances_are_those_of_features():
    X, y = problem(n_rows=200)
    model = clone(FOREST).set_params(categorical_features=[1]).fit(X, y)
    assert model.feature_importances_.shape == (2,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[1] > 0.7


def test_a_weight_is_a_number_of_copies_and_frequent_categories_are_kept():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(400, size=600), rng.integers(3, size=600)]).astype(float)
    weights = rng.integers(1, 4, size=600)
    mask = np.array([True, True])
    weighted = FeatureScaling().fit(X, weights.astype(float), mask).transform(X)
    repeated = FeatureScaling().fit(np.repeat(X, weights, axis=0), None, mask).transform(X)
    assert weighted.shape == (600, 255 + 3)
    assert np.allclose(weighted, repeated, atol=1e-4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("dtype", "categorical_features='dtype'"),
        ([True], "a mask of 1 features, but X has 2"),
        ([2], "below 2"),
        ([-1], "at least 0"),
        (["c"], "names 'c', which is not a column"),
        ([0.5], "expected 'from_dtype'"),
    ],
)
def test_bad_settings_are_named(given, words):
    with pytest.raises(PalmetteError, match=words):
        find_categorical(given, np.zeros((3, 2)))


def test_categories_of_sparse_rows_and_words_of_other_columns_are_refused():
    X, y = problem(20)
    with pytest.raises(PalmetteError, match="sparse matrix"):
        clone(FOREST).set_params(categorical_features=[1]).fit(sparse.csr_array(X), y)
    table = pd.DataFrame({"x": ["far"] * 20, "c": pd.Categorical(X[:, 1])})
    with pytest.raises(PalmetteError, match="feature 'x' of X has values that are not numbers"):
        clone(FOREST).fit(table, y)
    assert find_categorical([], X) is None
