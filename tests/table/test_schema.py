"""Kinds of columns: found, overruled, and kept to at predict time."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from palmette.exceptions import PalmetteError, TableWarning
from palmette.table import fit_table
from palmette.table._predicting import predict_chunks
from palmette.table._schema import Schema, Unread
from palmette.table._sources import TableSource


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
    with pytest.raises(PalmetteError, match=r"no columns to learn from .* are empty"):
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


def test_values_that_cannot_be_read_are_missing_counted_and_told(goods):
    schema = Schema.infer(goods, leave_out=["kind"])
    goods.loc[6, "price"] = "cheap"
    goods.loc[[2, 3], "since"] = ["yesterday", "2024-02-31"]
    unread = Unread()
    cast = schema.cast(goods, "new.csv", first_row=101, unread=unread)
    assert np.flatnonzero(cast["price"].isna()).tolist() == [6]
    assert np.flatnonzero(cast["since"].isna()).tolist() == [2, 3]
    assert unread.counts == {"price": 1, "since": 2}
    price, since = unread.sentences("new.csv")
    assert price == (
        "new.csv: 1 value of the column 'price' cannot be read as a number, such as 'cheap' in "
        "row 107: treated as missing"
    )
    assert "2 values" in since
    assert "'yesterday' in row 103" in since
    with pytest.warns(TableWarning, match="'cheap' in line 9"):
        schema.cast(goods, lines=np.arange(3, len(goods) + 3))


def test_a_missing_column_is_named_with_what_to_do():
    schema = Schema({"title": "text", "price": "number"})
    with pytest.raises(PalmetteError) as caught:
        schema.require(["name", "price"], "new.csv")
    assert str(caught.value) == (
        "new.csv has no column 'title' that the model was fitted on (it has: name, price). "
        "Rename it, or pass --map title=name."
    )


def test_day_and_month_are_read_alike_in_all_rows():
    frame = pd.DataFrame({"x": ["01/02/2024", "31/12/2024"]})
    later = Schema.infer(frame).cast(pd.DataFrame({"x": ["05/06/2024"]}))
    assert later["x"][0] == pd.Timestamp("2024-06-05")


# ---------------------------------------------------------------------- how values are written


def infer(frame, **options):
    """Return a schema and what it tells."""
    told = []
    return Schema.infer(pd.DataFrame(frame), tell=told.append, **options), told


def test_the_form_of_numbers_is_learnt_and_kept():
    schema, told = infer({"price": ["1.234,50 €", "EUR 2", "(3)", None], "x": ["1", "2", "3", "4"]})
    assert (schema.kinds["price"], schema.decimals["price"], schema.units) == (
        "number", ",", {"price": "EUR"},
    )  # fmt: skip
    assert told == []
    later = pd.DataFrame({"price": ["1.000 €", "5,5", 7, "$5"], "x": [1.5, 2, None, "0,5"]})
    with pytest.warns(TableWarning, match=r"'\$5' in row 4"):
        cast = schema.cast(later)
    assert cast["price"].tolist()[:3] == [1000.0, 5.5, 7.0]
    assert cast["x"].tolist()[3] == 0.5  # as in the other column


def test_numbers_that_could_mean_two_things_are_told():
    frame = {"a": ["1,234", "5,678"]}
    schema, told = infer(frame)
    assert schema.cast(pd.DataFrame(frame))["a"].tolist() == [1234.0, 5678.0]
    assert told == [
        "the column 'a': '1,234' is read as 1234, with a decimal point, since no value in the "
        "table settles it. Pass --decimal a=, to read it otherwise"
    ]
    schema, told = infer(frame, decimal=",")
    assert schema.cast(pd.DataFrame(frame))["a"].tolist() == [1.234, 5.678]
    assert told == []
    frame["b"], frame["c"] = ["0,5", "1,5"], ["2.000", "3.000"]
    schema, told = infer(frame)
    assert schema.cast(pd.DataFrame(frame)).iloc[0].tolist() == [1.234, 0.5, 2000.0]
    assert len(told) == 2
    assert "as in the column 'b'" in told[0]
    schema, told = infer(frame, decimal={"a": "."})
    assert schema.cast(pd.DataFrame(frame))["a"].tolist() == [1234.0, 5678.0]
    frame["c"] = ["0.125", "3.000"]  # both marks are decimal in this table
    schema, told = infer(frame)
    assert schema.cast(pd.DataFrame(frame)).iloc[0].tolist() == [1234.0, 0.5, 0.125]


def test_dates_that_could_mean_two_things_are_told():
    frame = {"a": ["01/02/2024", "03/04/2024"]}
    schema, told = infer(frame)
    assert schema.date_formats == {"a": "%m/%d/%Y"}
    assert "Pass --date-format 'a=%d/%m/%Y' to exchange day and month" in told[0]
    schema, told = infer({**frame, "b": ["31/12/2024", "03/04/2024"]})
    assert schema.date_formats["a"] == "%d/%m/%Y"
    assert "as in the column 'b'" in told[0]
    schema, told = infer(frame, date_format="%d/%m/%Y")
    assert (schema.date_formats, told) == ({"a": "%d/%m/%Y"}, [])


def test_given_forms_of_columns():
    frame = {"day": [20240131, 20231201], "x": ["a 1", "2"], "e": [1700000000, 1800000000]}
    assert infer(frame)[0].kinds == {"day": "number", "x": "category", "e": "number"}
    schema, _ = infer(frame, date_format="%Y%m%d", given={"x": "number"})
    assert schema.kinds == {"day": "date", "x": "number", "e": "number"}
    with pytest.warns(TableWarning, match="'a 1' in row 1"):
        cast = schema.cast(pd.DataFrame(frame))
    assert cast["day"][0] == pd.Timestamp("2024-01-31")
    assert infer(frame, given={"day": "date"})[0].date_formats == {"day": "%Y%m%d"}
    with pytest.raises(
        PalmetteError, match=r"none of its values can be read as a date.*--date-for"
    ):
        infer(frame, given={"e": "date"})
    with pytest.raises(PalmetteError, match="decimal=';'"):
        infer(frame, decimal=";")
    with pytest.raises(PalmetteError, match="date_format='day'"):
        infer(frame, date_format="day")
    with pytest.raises(PalmetteError, match=r"there is no column 'Day'.*Did you mean 'day'"):
        infer(frame, date_format={"Day": "%Y"})


def test_a_table_that_is_written_otherwise():
    schema, _ = infer({"a": ["0.5", "1.5"], "b": ["2024-01-31", "2024-02-01"]})
    other = schema.written(decimal=",", date_format="%d.%m.%Y")
    cast = other.cast(pd.DataFrame({"a": ["2,5"], "b": ["31.12.2024"]}))
    assert cast.iloc[0].tolist() == [2.5, pd.Timestamp("2024-12-31")]
    assert schema.decimals == {}


def test_a_schema_of_an_earlier_version_and_a_changed_one():
    schema = Schema.__new__(Schema)
    schema.__setstate__({"kinds": {"a": "number"}, "date_formats": {}})
    assert schema.cast(pd.DataFrame({"a": ["1"]}))["a"].tolist() == [1.0]
    schema.check_arrays()
    schema.decimals = {"a": "x"}
    with pytest.raises(ValueError, match="decimal mark"):
        schema.check_arrays()


COLUMNS = {
    "plain": ["1.5", "2e3", "-7", "0.25"] * 10,
    "gaps": ["1.5", None, "NA", "", "2"] * 8,
    "one word": [*map(str, np.arange(39) ** 2 / 3), "many"],
    "units": [*map(str, np.arange(30) ** 2 / 3), *["5 €"] * 10],
    "infinite": [*map(str, np.arange(39) ** 2 / 3), "inf"],
    "codes": ["01067", "20095", "80331", "00501"] * 10,
    "running": [str(i) for i in range(40)],
    "spaces": [" 1.5", "2 ", "3.25", "4"] * 10,
    "mixed": [1.5, "2.5", 3, "x"] * 10,
    "words": ["red", "blue", "7", "8"] * 10,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_plain_numbers_are_read_as_all_strings_would_be(name, monkeypatch):
    """Columns of plain numbers are read without their distinct strings, to the same result."""
    frame = pd.DataFrame({name: COLUMNS[name], "other": ["1", "5", "2", "8"] * 10})

    def read():
        told, unread = [], Unread()
        schema = Schema.infer(frame, tell=told.append)
        given = Schema({name: "number", "other": "number"})
        cast = given.cast(frame, unread=unread)
        return schema.kinds, schema.left_out, told, cast[name].tolist(), unread.sentences()

    found = read()
    for module in ("_kinds", "_schema"):
        monkeypatch.setattr(f"palmette.table.{module}.plain_cells", lambda column: None)
    monkeypatch.setattr("palmette.table._schema.number_columns", lambda frame, names: {})
    assert repr(found) == repr(read())


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_dates_too_far_away_are_missing(unit):
    times = np.array([2**62, 1_000_000, -(2**63) + 1, "NaT"], dtype=f"datetime64[{unit}]")
    unread = Unread()
    found = Schema({"since": "date"}).cast(pd.DataFrame({"since": times}), unread=unread)
    assert found["since"].isna().tolist() == [True, False, True, True]
    assert found["since"][1] == pd.Timestamp(times[1])
    assert unread.counts == {"since": 2}


def fitted_categories(cells):
    schema = Schema({"colour": "category"})
    schema.learn_categories(schema.cast(pd.DataFrame({"colour": cells}, dtype=object)))
    return schema


def test_categories_are_matched_without_regard_to_case_and_blanks():
    schema = fitted_categories(["red", "Green", "x", "X", None])
    unread = Unread()
    asked = pd.DataFrame({"colour": [" RED", "green ", "x", "X", "x ", "mauve", None, "NA"]})
    found = schema.cast(asked, unread=unread)["colour"].tolist()
    assert found == ["red", "Green", "x", "X", "x ", "mauve", None, "NA"]
    assert unread.sentences("new.csv") == [
        "new.csv: 2 values of the column 'colour' cannot be found in the training table, such as "
        "'x ' in row 5: treated as no known category"
    ]


def test_unknown_categories_are_told_once_and_in_our_words(goods, tmp_path):
    model = fit_table(goods, "kind", model="class-tree", folds=0)
    asked = goods.assign(colour=["R ", "mauve"] * 40)
    asked.to_csv(tmp_path / "asked.csv", index=False)
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = TableSource.of(tmp_path / "asked.csv")
        list(predict_chunks(model, source, rows=7, tell=told.append))
    (sentence,) = (words for words in told if "colour" in words)
    assert "40 values of the column 'colour'" in sentence
    assert "'mauve' in line 3" in sentence
    same = goods.assign(colour=goods["colour"].str.upper() + " ")
    assert np.array_equal(model.predict_proba(same), model.predict_proba(goods))
