"""Kinds of columns: found, overruled, and kept to at predict time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from palmette.exceptions import PalmetteError
from palmette.table._schema import Schema, find_format


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", None, "NA", "-"], "number"),
        ([1, 2, 3], "number"),
        ([1.5, np.nan], "number"),
        (["1e400", "2"], "category"),
        (["2024-01-31", "2023-12-01"], "date"),
        (["31/12/2024", "01/02/2024"], "date"),
        (["2024-01-31T10:00:00Z", "2024-02-01T11:30:00Z"], "date"),
        (pd.to_datetime(["2024-01-31"]), "date"),
        (["red", "blue"] * 9, "category"),
        ([True, False], "category"),
        ([f"a thing called {i}" for i in range(60)], "text"),
        ([f"thing {i}" for i in range(20)], "text"),
        ([{"a": 1}, {"a": 2}], "category"),
    ],
)
def test_kinds_are_found(values, kind):
    assert Schema.infer(pd.DataFrame({"x": values})).kinds == {"x": kind}


def test_columns_without_values_are_left_out():
    frame = pd.DataFrame({"x": ["a", "b"], "gap": [None, None], "words": ["NA", ""]})
    assert list(Schema.infer(frame).kinds) == ["x"]
    with pytest.raises(PalmetteError, match="no columns to learn from besides the target"):
        Schema.infer(frame, leave_out=["x"])


def test_the_user_knows_better(goods):
    schema = Schema.infer(goods, leave_out=["kind"], given={"price": "category"})
    assert schema.kinds["price"] == "category"
    with pytest.raises(PalmetteError, match="Did you mean 'price'"):
        Schema.infer(goods, given={"prices": "number"})
    with pytest.raises(PalmetteError, match="kind 'float'"):
        Schema.infer(goods, given={"price": "float"})


def test_types_do_not_depend_on_the_chunk(goods):
    schema = Schema.infer(goods, leave_out=["kind"])
    whole = schema.cast(goods)
    gaps = goods.assign(price=None, colour=None, since="")
    empty = schema.cast(gaps.iloc[:3])
    assert whole["price"].dtype == empty["price"].dtype == np.float64
    assert whole["since"].dtype == empty["since"].dtype
    assert empty["since"].isna().all()
    assert schema.cast(goods.iloc[5:7])["price"].tolist() == whole["price"].tolist()[5:7]


def test_wrong_values_are_named_with_their_row(goods):
    schema = Schema.infer(goods, leave_out=["kind"])
    goods.loc[6, "price"] = "cheap"
    with pytest.raises(PalmetteError, match="'cheap' in row 107 of the column 'price'"):
        schema.cast(goods, "new.csv", first_row=101)
    goods.loc[6, "price"] = "1"
    goods.loc[2, "since"] = "yesterday"
    with pytest.raises(PalmetteError, match="'yesterday' in row 3 of the column 'since'"):
        schema.cast(goods)


def test_a_missing_column_is_named_with_what_to_do():
    schema = Schema({"title": "text", "price": "number"})
    with pytest.raises(PalmetteError) as caught:
        schema.require(["name", "price"], "new.csv")
    assert str(caught.value) == (
        "new.csv has no column 'title' that the model was fitted on (it has: name, price). "
        "Rename it, or pass --map title=name."
    )


def test_day_and_month_are_read_alike_in_all_rows():
    assert find_format(["01/02/2024", "31/12/2024"]) == "%d/%m/%Y"
    assert find_format(["01/02/2024", "12/31/2024"]) == "%m/%d/%Y"
    frame = pd.DataFrame({"x": ["01/02/2024", "31/12/2024"]})
    later = Schema.infer(frame).cast(pd.DataFrame({"x": ["05/06/2024"]}))
    assert later["x"][0] == pd.Timestamp("2024-06-05")
