"""Tables with a target, and plain tables of numbers with a class column."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from palmette.datasets._table import read_delimited, read_table
from palmette.exceptions import ReadError
from palmette.labels._labels import NodeLabels

Write = Callable[[str, str | bytes], Path]


def test_a_column_of_classes(write: Write) -> None:
    bunch = read_table(write("f.csv", "a,kind,b\n1,cat,x\n2,dog,y\n"), "kind")
    assert bunch.y.tolist() == ["cat", "dog"]
    assert bunch.X.columns.tolist() == ["a", "b"]
    assert bunch.feature_names.tolist() == ["a", "b"]
    assert bunch.hierarchy.names.tolist() == ["root", "cat", "dog"]
    assert bunch.target_form == "nodes"


def test_whole_numbers_stay_whole(write: Write) -> None:
    y = read_table(write("f.csv", "a,kind\n1,3\n2,5\n"), "kind").y
    assert y.dtype.kind == "i"
    assert y.tolist() == [3, 5]


def test_a_column_of_paths_with_a_separator(write: Write) -> None:
    text = "kind\ta\nFood > Fruit > Apple\t1\nGarden\t2\nFood>Fruit\t3\n"
    bunch = read_table(write("f.tsv", text), "kind", path_separator=">")
    assert bunch.y == [("Food", "Fruit", "Apple"), ("Garden",), ("Food", "Fruit")]
    assert bunch.hierarchy.n_nodes == 5
    assert NodeLabels.encode(bunch.y, bunch.hierarchy).decode() == bunch.y
    # a separator is used exactly as given
    exact = read_table(write("f.tsv", text), "kind", path_separator=" > ")
    assert exact.y == [("Food", "Fruit", "Apple"), ("Garden",), ("Food>Fruit",)]
    # one that was found gives the hierarchy; y stays as it is written
    found = read_table(write("f.tsv", text), "kind")
    assert found.y.tolist() == ["Food > Fruit > Apple", "Garden", "Food>Fruit"]
    assert set(found.hierarchy.path_strings) == set(bunch.hierarchy.path_strings)
    assert NodeLabels.encode(found.y, found.hierarchy).terminals.tolist() == [3, 4, 2]


def test_columns_are_the_levels_of_a_path(write: Write) -> None:
    bunch = read_table(write("f.csv", "top,a,low\nx,1,1\nx,2,\ny,3,2\n"), ["top", "low"])
    assert bunch.y == [("x", 1), ("x",), ("y", 2)]  # 1, not 1.0
    assert bunch.X.columns.tolist() == ["a"]


def test_features_can_be_chosen(write: Write) -> None:
    path = write("f.csv", "id,a,kind,b\n1,2,x,3\n")
    assert read_table(path, "kind", features=["b", "a"]).X.values.tolist() == [[3, 2]]


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pd.DataFrame({"a": [1.5, 2], "kind": ["x", "y"]}).to_parquet(path)
    bunch = read_table(path, "kind")
    assert bunch.y.tolist() == ["x", "y"]
    assert bunch.X.a.tolist() == [1.5, 2]


def test_packed_text_and_latin1(write: Write) -> None:
    import gzip

    content = "a,kind\n1,café\n".encode("latin-1")
    assert read_table(write("f.csv.gz", gzip.compress(content)), "kind").y.tolist() == ["café"]


@pytest.mark.parametrize(
    ("text", "target", "options", "message"),
    [
        ("name,price\n1,2\n", "title", {}, r"has no column 'title' \(it has: name, price\)"),
        ("a,kind\n1,x\n", "kind", {"features": ["z"]}, "has no column 'z'"),
        ("a,kind\n1,x\n2,\n", "kind", {}, "row 2 has no value in the target column 'kind'"),
        ("a,kind\n1,x > > y\n", "kind", {"path_separator": ">"}, "in which a name is empty"),
        ("t,u,v\nx,,y\n", ["t", "u", "v"], {}, r"path \(x, -, y\)"),
        ("t,u\n,y\n", ["t", "u"], {}, r"path \(-, y\)"),
        ("t,u\nx,y\n", ["t", "u"], {"path_separator": ">"}, "one target column"),
        ("t\nx\n", "t", {"path_separator": " "}, "must not be blank"),
        ("t\nx\n", [], {}, "target is empty"),
        ("a,b\n1,2\n1,2,3\n", "a", {}, "line 3"),
        ("", "a", {}, "cannot be read"),
        ("a\0b", "a", {}, "binary"),
    ],
)
def test_errors_say_what_is_wrong(
    write: Write, text: str, target: str | list[str], options: dict, message: str
) -> None:
    with pytest.raises(ReadError, match=message):
        read_table(write("f.csv", text), target, **options)


def test_lists_are_no_classes(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pd.DataFrame({"kind": [["x"], ["y"]], "b": [1, 2]}).to_parquet(path)
    with pytest.raises(ReadError, match="has lists"):
        read_table(path, "kind")


def test_unknown_suffixes_and_broken_parquet(write: Write) -> None:
    with pytest.raises(ReadError, match=r"suffix '.xls'"):
        read_table(write("f.xls", "a"), "a")
    with pytest.raises(ReadError, match="not a readable Parquet"):
        read_table(write("f.parquet", "PAR1junkPAR1"), "a")


def test_a_wide_head_over_short_rows_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("palmette.datasets._table.MAX_CELLS", 1000)
    with pytest.raises(ReadError, match="more than 1,000 cells"):
        read_table(write("f.csv", ",".join(map(str, range(100))) + "\n1" * 100), "0")
    path = tmp_path / "f.parquet"
    pd.DataFrame({"a": np.zeros(2000)}).to_parquet(path)
    with pytest.raises(ReadError, match="2,000 cells"):
        read_table(path, "a")


def test_missing_packages_are_named(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ReadError, match=r"pyarrow: pip install 'palmette\[table\]'"):
        read_table(write("f.parquet", ""), "a")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ReadError, match=r"pandas: pip install 'palmette\[table\]'"):
        read_table(write("f.csv", "a\n1\n"), "a")


def test_ids_are_left_out_and_the_class_may_come_last(write: Write) -> None:
    X, y = read_delimited(
        write("f", "n1  0.5 1 A\r\nn2 ?   2 B\r\n"), separator=None, target=-1, ignored=(0,)
    )
    np.testing.assert_array_equal(X, [[0.5, 1], [np.nan, 2]])
    assert y.tolist() == ["A", "B"]


def test_the_class_may_come_first_under_a_header(write: Write) -> None:
    X, y = read_delimited(
        write("f", "L,1,2\nT,2,8\n\nI, 5,12\n"), separator=",", target=0, header=True
    )
    assert X.tolist() == [[2, 8], [5, 12]]
    assert y.tolist() == ["T", "I"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1,2,A\n1,2,3,A\n", 2, "found 4 columns, expected 3"),
        ("1,2,A\n\n1,x,A\n", 3, "number in column 2, found 'x'"),
        ("A\n", 1, "too few"),
        ("\n", None, "no rows"),
    ],
)
def test_errors_name_the_line(write: Write, text: str, line: int | None, message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        read_delimited(write("f", text), separator=",", target=-1)
    assert caught.value.line == line
