"""Predictions in chunks, and the tables that are written: whole or not at all."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from tests.table.goods import make_goods

from palmette._text import CONTROL
from palmette.exceptions import PalmetteError
from palmette.table import _predicting as module
from palmette.table import fit_table
from palmette.table._predicting import Wishes, predict_chunks
from palmette.table._reading import as_frame
from palmette.table._sources import TableSource
from palmette.table._writing import open_writer

ALL = Wishes(top=2, confidence=0.9, explain=True)


@pytest.fixture
def path(goods, tmp_path):
    file = tmp_path / "new.csv"
    goods.drop(columns="kind").assign(note="x").to_csv(file, index=False)
    return file


def predict(model, path, wishes=None, **options):
    source = TableSource.of(path)
    return pd.concat(list(predict_chunks(model, source, wishes, **options)), ignore_index=True)


def test_rows_stay_as_they_are_and_get_answers(model, path, goods):
    told = []
    found = predict(model, path, tell=told.append)
    assert list(found.columns) == [
        "title", "price", "colour", "since", "note", "prediction", "probability"
    ]  # fmt: skip
    assert found["price"].tolist() == goods["price"].tolist()
    assert found["prediction"].tolist() == goods["kind"].tolist()
    assert found["probability"].between(0.25, 1).all()
    assert told == ["columns that the model does not use: note"]


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    """Return all answers for the rows of `path`, computed at once."""
    file = tmp_path_factory.mktemp("whole") / "new.csv"
    make_goods().drop(columns="kind").assign(note="x").to_csv(file, index=False)
    return predict(model, file, ALL)


@pytest.mark.parametrize("rows", [27, 80])
def test_chunks_do_not_matter(model, path, whole, rows):
    parts = predict(model, path, ALL, rows=rows)
    pd.testing.assert_frame_equal(whole, parts, rtol=1e-9)


def test_parts_of_a_chunk_do_not_matter(model, path, whole, monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 60)
    pd.testing.assert_frame_equal(whole, predict(model, path, ALL), rtol=1e-9)


def test_what_is_wished_for(whole):
    found = whole
    assert (found["probability"] >= found["probability_2"]).all()
    assert (found["prediction"] != found["prediction_2"]).all()
    sure = found["sure_probability"]
    assert (sure >= 0.9 - 1e-12).all()
    assert all(p.startswith(s) for p, s in zip(found["prediction"], found["sure"], strict=True))
    assert found["explanation"].str.match(r"(Food|Tools) \d\.\d\d > ").all()
    assert found["explanation"].str.contains("'price' +", regex=False).any()


def test_an_empty_answer_has_no_probability(model, path, several, goods, tmp_path):
    goods.loc[::2, ["title", "price", "colour", "since"]] = None  # nothing speaks for a label
    goods.to_csv(tmp_path / "gaps.csv", index=False)
    found = predict(model, tmp_path / "gaps.csv", Wishes(confidence=1.0))
    empty = found["sure"] == ""
    assert empty[::2].all()
    assert found["sure_probability"].isna().tolist() == empty.tolist()
    labels = predict(several, path, Wishes(confidence=0.9))
    assert (labels["sure_probability"] >= 0.9).all()
    labels = predict(several, path, Wishes(confidence=1.1))
    assert (labels["sure"] == "").all()
    assert labels["sure_probability"].isna().all()


def test_answers_never_hide_a_column(model, goods, tmp_path):
    goods.assign(prediction="mine").to_csv(tmp_path / "a.csv", index=False)
    found = predict(model, tmp_path / "a.csv")
    assert (found["prediction"] == "mine").all()
    assert found["prediction_"].tolist() == goods["kind"].tolist()


def test_columns_can_be_mapped(model, path, goods, tmp_path):
    goods.rename(columns={"title": "name"}).to_csv(tmp_path / "a.csv", index=False)
    wishes = Wishes(rename={"title": "name"})
    found = predict(model, tmp_path / "a.csv", wishes)
    assert found["prediction"].tolist() == goods["kind"].tolist()
    with pytest.raises(PalmetteError, match=r"has no column 'title'.*--map title=name"):
        predict(model, tmp_path / "a.csv")
    with pytest.raises(PalmetteError, match="the model has no column 'tite'"):
        predict(model, path, Wishes(rename={"tite": "title"}))
    with pytest.raises(PalmetteError, match="has no column 'name'"):
        predict(model, path, Wishes(rename={"title": "name"}))


def test_values_that_cannot_be_read_are_counted_over_all_chunks(model, goods, tmp_path):
    goods.loc[[50, 70], "price"] = "cheap"
    goods.to_csv(tmp_path / "a.csv", index=False)
    told = []
    found = predict(model, tmp_path / "a.csv", rows=20, tell=told.append)
    assert len(found) == len(goods)
    assert "2 values of the column 'price' cannot be read as a number" in told[-1]
    assert "'cheap' in line 52" in told[-1]


def test_models_without_probabilities_answer_plainly(goods, path):
    svm = fit_table(goods, "kind", model="flat-svm", folds=0)
    found = predict(svm, path, Wishes(explain=True))
    assert found["prediction"].tolist() == goods["kind"].tolist()
    assert "probability" not in found
    assert found["explanation"].str.contains("+", regex=False).any()
    for wishes in (Wishes(top=2), Wishes(confidence=0.5)):
        with pytest.raises(PalmetteError, match="has no probabilities"):
            predict(svm, path, wishes)


@pytest.fixture(scope="module")
def several():
    goods = make_goods()
    goods["kind"] = goods["kind"] + "|Sold > " + goods["price"].str[0]
    goods = goods[["price", "kind"]]
    return fit_table(goods, "kind", labels_separator="|", model="local-per-node", folds=0)


def test_several_labels_are_joined(several, path):
    found = predict(several, path, Wishes(top=2, confidence=0.5, explain=True))
    assert "|" in found["prediction"][0]
    assert found["explanation"].str.contains(r"Food > Fruit \d").any()
    assert found["label_probability_1"].ge(found["label_probability_2"]).all()
    assert found["sure"].str.len().gt(0).mean() > 0.9


def test_sets_hold_the_truth(goods, path):
    model = fit_table(goods, "kind", model="class-tree", folds=0, coverage=0.8)
    found = predict(model, path)
    kept = [kind in text.split(";") for kind, text in zip(goods["kind"], found["set"], strict=True)]
    assert np.mean(kept) > 0.7


FRAME = pd.DataFrame({"name": ["a,b", None, 'say "x"'], "p": [0.25, float("nan"), 1.0]})


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.xlsx"])
def test_what_is_written_is_read_again(tmp_path, name):
    with open_writer(tmp_path / name) as writer:
        writer.write(FRAME)
        writer.write(FRAME.iloc[::-1])
    found = as_frame(tmp_path / name)
    names = [None if pd.isna(name) else name for name in found["name"]]
    assert names == ["a,b", None, 'say "x"', 'say "x"', None, "a,b"]
    assert found["p"].astype(float).fillna(-1).tolist() == [0.25, -1, 1, 1, -1, 0.25]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.xlsx"])
def test_after_an_error_there_is_no_file(tmp_path, name):
    def break_off():
        with open_writer(tmp_path / name) as writer:
            writer.write(FRAME)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_into_parquet_is_said(tmp_path):
    def write():
        with open_writer(tmp_path / "a.parquet") as writer:
            writer.write(pd.DataFrame({"a": [1, 2]}))
            writer.write(pd.DataFrame({"a": ["x", "y"]}))

    with pytest.raises(PalmetteError, match="cannot be written as Parquet"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_column_without_values_at_first(tmp_path):
    with open_writer(tmp_path / "a.parquet") as writer:
        writer.write(pd.DataFrame({"a": [None, None]}, dtype=object))
        writer.write(pd.DataFrame({"a": ["x", None]}, dtype=object))
    assert as_frame(tmp_path / "a.parquet")["a"].dropna().tolist() == ["x"]


def test_numbers_of_json_are_plain(tmp_path):
    with open_writer(tmp_path / "a.jsonl") as writer:
        writer.write(FRAME.iloc[1:2])
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"name": None, "p": None}


def test_an_unknown_suffix(tmp_path):
    opened = open_writer(tmp_path / "a.doc")
    with pytest.raises(PalmetteError, match=r"expected one of the suffixes \.csv"):
        opened.__enter__()


CELLS = ["=1+1", "-1.5", "+x", "@a", "\t=1", "a\rb", "\x1b[2J", "\u202ea", "plain"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("safe", [False, True])
def test_formulas_are_marked_on_request_only(tmp_path, suffix, safe):
    path = tmp_path / f"a{suffix}"
    frame = pd.DataFrame({"=a": CELLS, "number": -1.5})
    with open_writer(path, safe) as writer:
        writer.write(frame)
    with path.open(newline="", encoding="utf-8") as stream:
        names, *rows = csv.reader(stream, delimiter="\t" if suffix == ".tsv" else ",")
    mark = "'" if safe else ""
    assert names == [f"{mark}=a", "number"]
    marked = {"=1+1", "+x", "@a", "\t=1"}
    assert [row[0] for row in rows] == [f"{mark * (c in marked)}{c}" for c in CELLS]
    assert {row[1] for row in rows} == {"-1.5"}


def test_a_terminal_gets_no_control_characters(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr("sys.stdout", stream)
    with open_writer(None) as writer:
        writer.write(pd.DataFrame({"\x1ba": CELLS}))
    assert not CONTROL.search(stream.getvalue())
    assert "\\u001b[2J" in stream.getvalue()


def test_json_lines_escape_control_characters(tmp_path):
    with open_writer(tmp_path / "a.jsonl") as writer:
        writer.write(pd.DataFrame({"a": CELLS}))
    text = (tmp_path / "a.jsonl").read_text("utf-8")
    assert not CONTROL.search(text)
    assert [json.loads(line)["a"] for line in text.splitlines()] == CELLS
