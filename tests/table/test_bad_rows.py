"""Rows that cannot be read, repeated rows, and files without names of columns."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest
from tests.table.goods import make_goods

from palmette.calibration import _base as calibration
from palmette.exceptions import PalmetteError, ReadError, TableWarning
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.table import fit_table
from palmette.table._folds import make_folds
from palmette.table._predicting import predict_chunks
from palmette.table._problem import read_problem
from palmette.table._reading import read_part, seems_headerless
from palmette.table._sources import BadRows, TableSource

MESSY = b"""
a,kind
"two
lines",x
short
1,"open,y
2,x > > y
caf\xe9,x
a,kind

3,y
4,"y" z
5,y,y
"6",y
"""


def read(path, content, **options):
    path.write_bytes(content)
    return read_part(TableSource.of(path, **options))


def test_bad_rows_are_skipped_with_their_true_lines(tmp_path):
    bad = BadRows()
    path = tmp_path / "a.csv"
    frame, lines = read(path, MESSY, bad=bad)
    assert frame["a"].tolist() == ["two\nlines", "2", "3", "6"]
    assert lines.tolist() == [3, 7, 11, 14]
    assert [(line, reason.split(",")[0]) for line, reason, _ in bad.rows] == [
        (5, "the row has 1 cell"),
        (6, "the row cannot be read ('"),
        (8, "the text is not utf-8 (byte 0xe9)"),
        (9, "the row repeats the names of the columns"),
        (12, "the row cannot be read ('"),
        (13, "the row has 3 cells"),
    ]
    assert bad.sentence("a.csv").startswith("a.csv: 6 rows are skipped: line 5 (the row has 1 cell")
    bad.add(1, "a reason", "=1+1")
    bad.write(tmp_path / "bad.csv", excel_safe=True)
    with open(tmp_path / "bad.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows[:3] == [["line", "reason", "text"], ["1", "a reason", "'=1+1"], rows[2]]
    assert [row[0] for row in rows[2:]] == ["5", "6", "8", "9", "12", "13"]
    assert rows[4][2] == "caf\\xe9,x"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n\n3\n", ":4: the row has 1 cell"),
        (b'a,b\n"x\ny",2\n3,4,5\n', ":4: the row has 3 cells"),
        (b'a,b\n1,"2\n3,4\n', ":2: the row cannot be read"),
        (b"\n\na,b\n1,2\n\xff,3\n", ":5: the text is not utf-8 (byte 0xff). Pass its encoding"),
        (b"a,\xe9\n1,2\n", ":1: the text is not utf-8"),
        (b"a,b\n1,2\na,b\n", ":3: the row repeats the names of the columns"),
    ],
)
def test_errors_have_the_line_of_the_row(tmp_path, content, words):
    with pytest.raises(ReadError) as caught:
        read(tmp_path / "a.csv", content)
    assert words in str(caught.value)


def test_a_quote_that_is_never_closed_costs_one_row(tmp_path):
    bad = BadRows()
    frame, lines = read(tmp_path / "a.csv", b'a,b\n1,"2\n3,4\n5,6\n', bad=bad)
    assert (frame["a"].tolist(), lines.tolist()) == (["3", "5"], [3, 4])
    assert bad.rows == [(2, "the row cannot be read (unexpected end of data)", '1,"2')]


def test_bad_lines_of_json(tmp_path):
    bad = BadRows()
    content = b'{"a": 1}\n{"a": \n[1]\n\n{"a": "\xe9"}\n{"a": 2}\n'
    frame, lines = read(tmp_path / "a.jsonl", content, bad=bad)
    assert (frame["a"].tolist(), lines.tolist()) == ([1, 2], [1, 6])
    assert [line for line, _, _ in bad.rows] == [2, 3, 5]
    with pytest.raises(ReadError, match="the table has no rows: 1 rows could not be read"):
        read(tmp_path / "b.jsonl", b"[\n".replace(b"[", b"x"), bad=BadRows())


def test_the_delimiter_splits_all_lines_alike(tmp_path):
    for content in (b"1,5;2,5\n3;4\n", b"a, b;c\n1;2\n", b"x|y,z\n1|2\n"):
        assert read(tmp_path / "a.csv", content).frame.shape == (1, 2)
    assert read(tmp_path / "a.csv", b"a,b\nx;y,2\n").frame["a"].tolist() == ["x;y"]


# ---------------------------------------------------------------------- targets


def test_bad_targets_are_skipped_too(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,kind\n1,a/b\n2,\n3,/\n4,a/d\n5,a/b\n")
    h = Hierarchy.from_paths([("a", "b"), ("a", "c")])
    with pytest.raises(PalmetteError, match="line 4 of the target column 'kind' has the path"):
        read_problem(str(path), "kind", separator="/", hierarchy=h)
    bad = BadRows()
    told = []
    with pytest.raises(PalmetteError, match="one label only"):
        read_problem(str(path), "kind", separator="/", hierarchy=h, bad=bad, tell=told.append)
    assert [(line, text) for line, _, text in bad.rows] == [(4, "3,/"), (5, "4,a/d")]
    assert "2 rows are skipped: line 4 (the target column 'kind' has the path '/'" in told[0]
    path.write_text(path.read_text() + "6,a/c\n")
    problem = read_problem(str(path), "kind", separator="/", hierarchy=h, bad=BadRows())
    assert (problem.n_rows, problem.n_dropped, problem.n_bad) == (3, 1, 2)


def test_fit_and_predict_report_what_they_skip(tmp_path):
    goods = make_goods()
    path = tmp_path / "a.csv"
    goods.to_csv(path, index=False)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:5], "bad row", *lines[5:]]))
    with pytest.warns(TableWarning, match="1 row is skipped: line 6"):
        model = fit_table(path, "kind", model="class-tree", folds=0, bad_rows=tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().splitlines()[1].endswith(",bad row")
    assert model.summary_["rows_skipped"] == 1
    told = []
    source = TableSource.of(path, bad=BadRows())
    found = pd.concat(predict_chunks(model, source, rows=7, tell=told.append))
    assert found["title"].tolist() == goods["title"].tolist()
    assert "1 row is skipped: line 6" in told[-1]


# ---------------------------------------------------------------------- no header


@pytest.mark.parametrize(
    ("content", "first"),
    [
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", "5.1"),
        ("red,apple\nred,pear\n", "red"),
        ("2024-01-31,x\n2024-02-01,y\n", "2024-01-31"),
        ("price,kind\n5,x\n", ""),
        ("0,1,2\n5.1,3.5,setosa\n", ""),
        ("id,2019,2020,2021\nx,1,2,3\n", ""),
        ("price,red\n5,red\n", ""),
    ],
)
def test_a_first_line_of_values_is_noticed(tmp_path, content, first):
    assert seems_headerless(read(tmp_path / "a.csv", content.encode()).frame) == first


def test_a_table_without_header(tmp_path):
    goods = make_goods()[["kind", "title", "price"]]
    path = tmp_path / "a.csv"
    goods.to_csv(path, index=False, header=False)
    with pytest.raises(PalmetteError, match=r"there is no target column 'kind'.*pass --no-header"):
        read_problem(path, "kind")
    model = fit_table(path, "col1", model="class-tree", folds=0, header=False)
    assert model.schema_.kinds == {"col2": "text", "col3": "number"}
    assert model.score(path) == 1.0
    goods[["title", "price"]].to_csv(tmp_path / "new.csv", index=False, header=False)
    assert model.predict(tmp_path / "new.csv") == model.predict(path)  # without the target
    goods[["title"]].to_csv(tmp_path / "one.csv", index=False, header=False)
    with pytest.raises(PalmetteError, match="has 1 columns without names: expected 3"):
        model.predict(tmp_path / "one.csv")


# ---------------------------------------------------------------------- repeated rows


def test_equal_inputs_are_never_on_both_sides():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 400, 1_000)
    codes = groups % 5
    folds = make_folds(codes, 1_000, 3, seed=1, groups=groups)
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(1_000))
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])
        assert 300 < len(test) < 370
        assert (
            np.abs(np.bincount(codes[test]) / len(test) - np.bincount(codes) / 1_000).max() < 0.03
        )


def test_repeated_rows_are_counted_and_kept_together():
    goods = make_goods()
    told = []
    problem = read_problem(pd.concat([goods, goods.iloc[:7]]), "kind", tell=told.append)
    assert problem.n_duplicates == 7
    assert problem.groups.tolist() == [*range(80), *range(7)]
    assert told == [
        "7 rows repeat the inputs of an earlier row: rows with equal inputs are never on both "
        "sides of a split"
    ]
    assert read_problem(goods, "kind").groups is None


def test_calibration_keeps_equal_inputs_together(monkeypatch):
    goods = make_goods()[["price", "kind"]]
    seen = []
    given = calibration._given_folds

    def record(cv, *options):
        seen.extend(cv)
        return given(cv, *options)

    monkeypatch.setattr(calibration, "_given_folds", record)
    table = pd.concat([goods, goods], ignore_index=True)
    model = fit_table(table, "kind", model="flat-naive-bayes", folds=0, calibrate="sigmoid")
    assert len(seen) == 3
    for train, test in seen:
        assert not set(train % 80) & set(test % 80)
    assert model.estimator_.cv == 3
