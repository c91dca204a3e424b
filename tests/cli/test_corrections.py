"""A review that a person has filled in is taken back by `palmette fit --corrections`."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from tests.table.goods import make_goods

import palmette as pm
from palmette._text import excel_safe
from palmette.exceptions import PalmetteError
from palmette.reviewing._review import _Given, numbered_rows
from palmette.table._corrections import Corrections, corrected
from palmette.table._problem import read_problem
from palmette.table._reading import as_frame
from palmette.table._sources import TableSource
from palmette.table._writing import open_writer

FIT = ["--target", "kind", "--model", "flat-naive-bayes", "--folds", "0"]
WRONG = {7: "Food > Fish", 20: "Food > Fish", 33: "Tools > Nails"}  # by row, from 0


def goods() -> pd.DataFrame:
    table = make_goods(120)[["title", "kind"]].assign(price=[f"{i % 9},50" for i in range(120)])
    for row, label in WRONG.items():
        table.loc[row, "kind"] = label
    return table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    goods().to_csv("goods.csv", index=False)
    return tmp_path


def reviewed(palmette, table: str = "goods.csv", *words: object) -> pd.DataFrame:
    """Return the review of a table in which all rows are listed."""
    result = palmette("fit", table, *FIT, "--out", "m.palmette", *words)
    assert result.exit_code == 0, result.output
    return listed(pm.load("m.palmette"), TableSource.of(table))


def listed(model: pm.table.TableModel, table: object) -> pd.DataFrame:
    rows = numbered_rows(table)
    cells = _Given(model, rows.reset_index(drop=True)).cells
    found = rows[list(model.schema_.names())].rename_axis(rows.index.name or "row").reset_index()
    found.insert(1, "given", [cell or None for cell in cells])
    found.insert(2, "corrected", None)
    return found


def fill(found: pd.DataFrame, out: str, **corrections: str) -> None:
    """Write a review with corrections by place, such as ``r9="Food > Fish"``."""
    place = found.columns[0]
    found["corrected"] = [corrections.get(f"r{each}") for each in found[place]]
    assert found["corrected"].notna().sum() >= len(corrections)
    if out.endswith(".xlsx"):
        with open_writer(Path(out)) as writer:
            writer.write(found)
    else:
        found.to_csv(out, index=False)


def labels_of(table: object, review: object, **options: object) -> list[object]:
    """Return the labels of the rows of a corrected table, and what was changed."""
    source = TableSource.of(table) if isinstance(table, str) else table

    def read(**more: object) -> object:
        return read_problem(source, "kind", tell=lambda words: None, **options, **more)

    edits: Corrections = corrected(review, source, read)
    problem = read(corrected=edits.apply)
    return [problem.truth, edits.facts]


def test_corrections_are_fitted_and_said(palmette, folder):
    fit = ["--target", "kind", "--model", "class-tree", "--folds", "0", "--column", "title=text"]
    assert palmette("fit", "goods.csv", *fit, "--out", "m.palmette").exit_code == 0
    words = ["--top", "0", "--out", "review.csv"]
    assert palmette("review", "m.palmette", "goods.csv", *words).exit_code == 0
    found = as_frame("review.csv")
    assert found["corrected"].isna().all()
    right = make_goods(120)["kind"]
    assert {"9", "22", "35"} <= set(found["line"])
    fill(found, "review.csv", r9=right[7], r22="drop", r35=right[33].split(" > ")[-1])
    words = ["--corrections", "review.csv", "--out", "n.palmette"]
    result = palmette("fit", "goods.csv", *FIT, *words)
    assert result.exit_code == 0, result.output
    assert "corrections: 3 rows are corrected, 2 with another label, 1 left out" in result.stderr
    model = pm.load("n.palmette")
    assert model.summary_["rows"] == 119
    assert model.summary_["corrections"] == {
        "n_changed": 2, "n_labelled": 0, "n_dropped": 1, "n_same": 0, "new": []
    }  # fmt: skip
    truth, _ = labels_of("goods.csv", "review.csv")
    expected = [tuple(kind.split(" > ")) for i, kind in enumerate(right) if i != 20]
    assert truth == expected


def test_an_empty_review_changes_nothing(palmette, folder):
    fill(reviewed(palmette), "review.csv")
    result = palmette("fit", "goods.csv", *FIT, "--corrections", "review.csv")
    assert "corrections: 0 rows are corrected" in result.stderr
    truth, _ = labels_of("goods.csv", "review.csv")
    assert truth == [tuple(kind.split(" > ")) for kind in goods()["kind"]]


def test_new_classes_are_named(palmette, folder):
    fill(reviewed(palmette), "review.csv", r9="Tools > Drills", r22="Tools > Drills")
    result = palmette("fit", "goods.csv", *FIT, "--corrections", "review.csv")
    assert "corrections: 1 class is new: 'Tools > Drills'" in result.stderr
    assert ("Tools", "Drills") in pm.load("model.palmette").classes_.tolist()


def test_rows_without_a_label_get_one(palmette, folder):
    table = goods()
    table.loc[50:59, "kind"] = None
    table.to_csv("goods.csv", index=False)
    found = reviewed(palmette)
    place = found.loc[found["given"].isna(), "line"].iloc[0]
    fill(found, "review.csv", **{f"r{place}": "Food > Fish"})
    truth, facts = labels_of("goods.csv", "review.csv")
    assert len(truth) == 111
    assert facts.sentences() == ["corrections: 1 row is corrected, 1 that had no label"]


@pytest.mark.parametrize("form", ["spreadsheet", "workbook", "excel-safe"])
def test_reviews_that_a_spreadsheet_has_saved(palmette, folder, form):
    table = goods()
    table.loc[7, "title"] = "=nails é"
    table.to_csv("goods.csv", index=False)
    right = make_goods(120)["kind"][7]
    found, name = reviewed(palmette), "review.xlsx" if form == "workbook" else "review.csv"
    if form == "excel-safe":
        found["title"] = found["title"].map(excel_safe)
        assert (found["title"] == "'=nails é").any()
    if form == "spreadsheet":
        found["corrected"] = [right if line == 9 else None for line in found["line"]]
        found["price"] = found["price"].str.replace(",50", ",5")
        found.to_csv(name, index=False, sep=";", encoding="cp1252")
    else:
        fill(found, name, r9=right)
    truth, facts = labels_of("goods.csv", name)
    assert truth[7] == tuple(right.split(" > "))
    assert facts.n_changed == 1


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "xlsx"])
def test_other_formats(palmette, folder, suffix):
    table = goods()
    if suffix == "jsonl":
        table.to_json("goods.jsonl", orient="records", lines=True)
    elif suffix == "parquet":
        table.to_parquet("goods.parquet")
    else:
        table.to_excel("goods.xlsx", index=False)
    found = reviewed(palmette, f"goods.{suffix}")
    place = {"jsonl": 8, "parquet": 8, "xlsx": 9}[suffix]
    assert found.columns[0] == ("row" if suffix == "parquet" else "line")
    fill(found, "review.csv", **{f"r{place}": "Tools > Nails"})
    truth, _ = labels_of(f"goods.{suffix}", "review.csv")
    assert truth[7] == ("Tools", "Nails")


def test_data_frames_by_their_index(folder):
    table = goods().set_axis([f"item {i}" for i in range(120)], axis=0)
    model = pm.fit_table(table, "kind", model="flat-naive-bayes", folds=0)
    found = listed(model, table)
    found.loc[found["row"] == "item 7", "corrected"] = "Tools > Nails"
    again = pm.fit_table(table, "kind", model="flat-naive-bayes", folds=0, corrections=found)
    assert again.summary_["corrections"]["n_changed"] == 1
    truth, _ = labels_of(table, found)
    assert truth[7] == ("Tools", "Nails")
    assert table["kind"].iloc[7] == WRONG[7]


def test_levels_in_columns(palmette, folder):
    table = goods()
    levels = table["kind"].str.split(" > ", expand=True).set_axis(["top", "kind"], axis=1)
    table.drop(columns="kind").join(levels).to_csv("goods.csv", index=False)
    found = reviewed(palmette)
    given = found.loc[found["line"] == 9, "given"].iloc[0]
    assert given == WRONG[7]  # the levels were found
    fill(found, "review.csv", r9="Nails", r22="Toys > Dolls")
    truth, facts = labels_of("goods.csv", "review.csv")
    assert truth[7] == ("Tools", "Nails")
    assert truth[20] == ("Toys", "Dolls")
    assert facts.new == ["Toys > Dolls"]


@pytest.mark.parametrize("form", ["texts", "lists", "texts of lists"])
def test_several_labels(palmette, folder, form):
    table = make_goods(120)[["title"]]
    sets = [["red", "blue"] if i % 2 else ["red"] for i in range(120)]
    write = {"texts": "; ".join, "lists": list, "texts of lists": json.dumps}[form]
    table = table.assign(kind=[write(each) for each in sets])
    table.to_json("goods.jsonl", orient="records", lines=True)
    words = ["--labels-separator", ";"] if form == "texts" else []
    fit = ["--target", "kind", "--model", "multilabel-linear", "--folds", "0", *words]
    assert palmette("fit", "goods.jsonl", *fit, "--out", "m.palmette").exit_code == 0
    fill(listed(pm.load("m.palmette"), "goods.jsonl"), "review.csv", r5="blue;green")
    options = {"labels_separator": ";"} if form == "texts" else {}
    truth, facts = labels_of("goods.jsonl", "review.csv", **options)
    assert truth[4] == {("blue",), ("green",)}
    assert facts.new == ["green"]
    assert [row for i, row in enumerate(truth) if i != 4] == [
        {(name,) for name in each} for i, each in enumerate(sets) if i != 4
    ]


def test_a_given_hierarchy(palmette, folder):
    Path("tree.txt").write_text("Food > Fish\nFood > Bread\nTools > Nails\nTools > Saws\n")
    table = goods()
    table["kind"] = table["kind"].str.split(" > ").str[-1]
    table = table[table["kind"].isin(["Fish", "Bread", "Nails"])].reset_index(drop=True)
    table.loc[3, "kind"] = "Unknown"
    table.to_csv("goods.csv", index=False)
    given = ["--hierarchy", "tree.txt", "--skip-bad-rows"]
    found = reviewed(palmette, "goods.csv", *given)
    fill(found, "review.csv", r5="Saws")
    result = palmette("fit", "goods.csv", *FIT, *given, "--corrections", "review.csv")
    assert "1 with another label" in result.stderr
    assert "skipped" not in result.stderr
    assert ("Tools", "Saws") in pm.load("model.palmette").classes_.tolist()


# ---------------------------------------------------------------------- errors


def test_a_table_that_has_changed_is_refused(palmette, fails, folder):
    fill(reviewed(palmette), "review.csv", r9="Tools > Nails")
    table = goods()
    pd.concat([table.iloc[3:4], table]).to_csv("goods.csv", index=False)
    message = fails("fit", "goods.csv", *FIT, "--corrections", "review.csv")
    assert message.startswith("line 9 of the table has ")
    assert "the table has changed since the review" in message
    table.iloc[:5].to_csv("goods.csv", index=False)
    message = fails("fit", "goods.csv", *FIT, "--corrections", "review.csv")
    assert "the table has no line 9, which the corrections name" in message


def test_equal_labels_do_not_hide_another_row(palmette, fails, folder):
    fill(reviewed(palmette), "review.csv", r9="Tools > Nails")
    table = goods()
    table.loc[7, "title"] = "something else"
    table.to_csv("goods.csv", index=False)
    message = fails("fit", "goods.csv", *FIT, "--corrections", "review.csv")
    assert "line 9 of the table has another value in the column 'title'" in message


def _rows(**columns: list[object]) -> dict[str, list[object]]:
    return {"line": ["9"], "given": [WRONG[7]], **columns}


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (_rows(), "no column 'corrected'"),
        ({"row": [1], "corrected": ["x"]}, "no column 'line' with the lines of the table"),
        (_rows(corrected=["x"]) | {"line": ["999"]}, "the table has no line 999"),
        (_rows(corrected=["x"]) | {"given": ["Toys"]}, "and 'Toys' in the corrections"),
        (
            {"line": ["9", "9"], "given": [WRONG[7]] * 2, "corrected": ["x", "y"]},
            "line 9 has two corrections, 'x' and 'y'",
        ),
    ],
)
def test_wrong_corrections(fails, folder, columns, words):
    pd.DataFrame(columns).to_csv("review.csv", index=False)
    message = fails("fit", "goods.csv", *FIT, "--corrections", "review.csv")
    assert words in message
    assert not Path("model.palmette").exists()


def test_names_of_two_paths(fails, folder):
    table = goods()
    table.loc[:9, "kind"] = ["Food > Other", "Tools > Other"] * 5
    table.to_csv("goods.csv", index=False)
    pd.DataFrame({"line": ["12"], "corrected": ["Other"]}).to_csv("review.csv", index=False)
    message = fails("fit", "goods.csv", *FIT, "--corrections", "review.csv")
    assert "'Other' may be 'Food > Other' or 'Tools > Other': write the whole path" in message


def test_tables_larger_than_memory(folder, monkeypatch):
    monkeypatch.setattr("palmette.table._large._HEAD_ROWS", 20)
    monkeypatch.setattr("palmette.table._large._CHUNK_ROWS", 20)
    pd.DataFrame({"line": ["9"], "corrected": ["Tools > Nails"]}).to_csv("review.csv", index=False)
    with pytest.raises(PalmetteError, match="does not fit in memory"):
        pm.fit_table(
            "goods.csv",
            "kind",
            memory=1e-6,
            corrections="review.csv",
            folds=0,
            model="flat-naive-bayes",
        )
