"""Data sets by name: embedded, in the data home, tables; what is missing is told at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from palmette.compare._problems import (
    EMBEDDED,
    Problem,
    check_problem,
    find_problem,
    problem_of,
)
from palmette.exceptions import DataHomeError, PalmetteError, ReadError
from palmette.hierarchy._hierarchy import Hierarchy

STAR = Hierarchy.star(["a", "b"])


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "goods.csv"
    rows = [{"price": i, "kind": ["Food > Fruit", "Food > Fish", "Tools"][i % 3]} for i in range(9)]
    pd.DataFrame(rows).to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets(name):
    problem = find_problem(name)
    assert problem.name == name
    assert problem.hierarchy.max_depth > 1
    assert len(problem.X_train) == len(problem.y_train)


def test_table_with_a_separator(table):
    problem = find_problem(table, "kind", " > ")
    assert problem.name == table
    assert problem.y_train[:3] == [("Food", "Fruit"), ("Food", "Fish"), ("Tools",)]
    assert problem.hierarchy.n_nodes == 5
    assert list(problem.X_train.columns) == ["price"]
    assert not problem.has_split


def test_the_separator_of_a_table_is_found(table):
    found, given = find_problem(table, "kind"), find_problem(table, "kind", " > ")
    assert set(found.hierarchy.path_strings) == set(given.hierarchy.path_strings)
    assert found.y_train == given.y_train


def test_table_with_a_column_for_each_level(tmp_path):
    path = tmp_path / "levels.csv"
    path.write_text("x,top,below\n1,Food,Fruit\n2,Food,Fish\n3,Tools,\n")
    problem = find_problem(path, ["top", "below"])
    assert problem.y_train == [("Food", "Fruit"), ("Food", "Fish"), ("Tools",)]


def test_options_of_a_table_are_those_of_fit_table(tmp_path):
    path = tmp_path / "goods.csv"
    lines = [f"{i % 7},{i},{'a;b' if i % 2 else 'B'}" for i in range(50)]
    path.write_text("\n".join(["size,number,kind", *lines, "too,many,cells,here"]))
    told = []
    problem = find_problem(
        path, "kind", labels_separator=";", merge_case=True, columns={"size": "category"},
        drop=["number"], skip_bad_rows=True, tell=told.append,
    )  # fmt: skip
    assert problem.schema.kinds == {"size": "category"}
    assert problem.y_train[1] == {("a",), ("B",)} or problem.y_train[1] == {("a",), ("b",)}
    assert problem.hierarchy.n_leaves == 2
    assert any("1 row is skipped" in words for words in told)


def test_texts_and_tables_are_read_by_columns():
    texts = Problem("p", STAR, ["red apple", "blue bolt"], ["a", "b"], np.array(["nail"]), ["a"])
    assert texts.schema.kinds == {"text": "text"}
    assert texts.X_train["text"].tolist() == ["red apple", "blue bolt"]
    assert texts.X_test["text"].tolist() == ["nail"]
    frame = pd.DataFrame({"price": ["2,50 €", "1.300 €"] * 20, "empty": [None] * 40})
    table = Problem("p", STAR, frame, ["a", "b"] * 20)
    assert table.schema.kinds == {"price": "number"}
    assert table.X_train["price"].tolist()[:2] == [2.5, 1300.0]


def test_arrays_have_no_columns_to_read(toy):
    assert toy.schema is None


@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("nofile.csv", "kind", "nofile.csv: the file does not exist"),
        ("goods.csv", None, "is a table: name the column to predict with --target"),
        ("goods.csv", "nix", r"no target column 'nix' \(there is: price, kind\)"),
        ("notes.md", "kind", "notes.md: the suffix '.md' is not that of a table"),
        ("alone.csv", "kind", "no columns to learn from besides the target"),
    ],
)
def test_bad_tables(table, tmp_path, monkeypatch, name, target, words):
    (tmp_path / "notes.md").write_text("words")
    (tmp_path / "alone.csv").write_text("kind\na\nb\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PalmetteError, match=words):
        find_problem(name, target)


def test_check_reads_nothing(table, monkeypatch):
    monkeypatch.setattr("palmette.table._problem.read_problem", None)
    check_problem(table, "kind")
    with pytest.raises(ReadError):
        check_problem(table + ".csv", "kind")


def test_without_a_data_home_the_embedded_sets_are_named(monkeypatch):
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    with pytest.raises(DataHomeError, match=r"export PALMETTE_DATA=.*there are: stdlib, digits"):
        check_problem("imclef07a")


# ---------------------------------------------------------------------- bunches


def test_validation_rows_are_for_training():
    bunch = Bunch(
        hierarchy=STAR,
        X_train=np.zeros((2, 1)),
        y_train=["a", "b"],
        X_valid=np.ones((1, 1)),
        y_valid=["b"],
        X_test=np.zeros((1, 1)),
        y_test=["a"],
        categorical_features=np.array([True]),
    )
    problem = problem_of("p", bunch)
    assert problem.X_train.ravel().tolist() == [0, 0, 1]
    assert problem.y_train == ["a", "b", "b"]
    assert problem.has_split
    assert problem.categorical.tolist() == [True]


@pytest.mark.parametrize("part", ["", "_train", "_test"])
def test_a_single_part_is_all_there_is(part):
    bunch = Bunch(hierarchy=STAR, **{f"X{part}": [[1.0]], f"y{part}": ["a"]})
    problem = problem_of("p", bunch)
    assert problem.y_train == ["a"]
    assert not problem.has_split


def test_a_taxonomy_has_no_rows():
    with pytest.raises(PalmetteError, match="p is a taxonomy without rows"):
        problem_of("p", Bunch(hierarchy=STAR))


@pytest.mark.data
def test_sets_of_the_data_home(data_home):
    bridges = find_problem("bridges", data_home=data_home)
    assert (len(bridges.y_train), len(bridges.y_test)) == (65, 43)
    zoo = find_problem("zoo", data_home=data_home)
    assert zoo.categorical.sum() == 16
    with pytest.raises(PalmetteError, match="naics_2022 is a taxonomy"):
        check_problem("naics_2022", data_home=data_home)
    with pytest.raises(DataHomeError, match=r"Did you mean .*'imclef07a'"):
        check_problem("imclef07x", data_home=data_home)
