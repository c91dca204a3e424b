"""Rows as a reader sees them, whatever they come in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from palmette.exceptions import PalmetteError
from palmette.reporting._evaluation import RowTexts

COLUMNS = {"title": ["red apple", "a\nlong  nail"], "price": [2.5, None], "kind": ["x", "y"]}
TABLES = {
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_tables_name_their_columns_and_leave_out_gaps(table):
    rows = RowTexts(table, columns=["title", "price"])
    assert [rows.text(0), rows.text(1)] == ["title: red apple · price: 2.5", "title: a long nail"]


def test_a_single_column_needs_no_name():
    assert RowTexts(TABLES["pandas"], columns=["title"]).text(0) == "red apple"


@pytest.mark.parametrize(
    "texts", [["one", "two"], np.array(["one", "two"]), pd.Series(["one", "two"])], ids=type
)
def test_texts(texts):
    assert RowTexts(texts).text(1) == "two"


def test_long_texts_are_cut():
    text = RowTexts(["word " * 500]).text(0)
    assert len(text) <= 240
    assert text.endswith("…")


def test_numbers_show_what_is_not_zero():
    X = np.array([[0.0, 1.25, 0.0, 3.0]])
    assert RowTexts(X).text(0) == "x1 1.25 · x3 3"
    assert RowTexts(sparse.csr_array(X), features=list("abcd")).text(0) == "b 1.25 · d 3"
    assert RowTexts(np.array([["red", "old"]], dtype=object)).text(0) == "x0 red · x1 old"


def test_names_and_texts_may_be_given():
    rows = RowTexts(np.zeros((2, 1)), ["first", 7], ["what it says", ""])
    assert [rows.name(0), rows.name(1), rows.text(0)] == ["first", "7", "what it says"]
    assert RowTexts(pd.DataFrame({"a": [1]}, index=["k9"])).name(0) == "k9"
    assert RowTexts(np.zeros((2, 1))).name(1) == "1"


def test_as_many_names_as_rows():
    with pytest.raises(PalmetteError, match="sample_names has 1 entries for 2 rows"):
        RowTexts(np.zeros((2, 1)), ["one"])
