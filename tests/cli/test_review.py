"""`palmette review`: options reach the function, and findings come as CSV and HTML."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from tests.table.goods import make_goods

from palmette.cli.review import review
from palmette.persistence import save
from palmette.table import fit_table


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.palmette"
    goods = make_goods(120)[["title", "kind"]]
    save(fit_table(goods, "kind", model="class-tree", folds=0, columns={"title": "text"}), path)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch, stored):
    monkeypatch.chdir(tmp_path)
    Path("model.palmette").write_bytes(stored.read_bytes())
    goods = make_goods(120)[["title", "kind"]]
    goods.loc[7, "kind"] = "Food > Fish"  # of Tools > Nails
    goods.loc[9, "title"] = "=2+3"
    goods.to_csv("products.csv", index=False)
    return tmp_path


def test_every_option_is_a_parameter(parse):
    parameters = parse(
        review,
        *["m.palmette", "new.csv", "--out", "o.csv", "--html", "o.html", "--folds", "3"],
        *["--time", "9", "--top", "5", "--by-level", "--title", "T", "--map", "title=name"],
        *["--seed", "4"],
        *["--format", "tsv", "--encoding", "latin-1", "--delimiter", ";", "--sheet", "one"],
        *["--decimal", ",", "--date-format", "%d.%m.%Y", "--no-header"],
        *["--trust", "some.Type", "--excel-safe"],
    )  # fmt: skip
    assert parameters == {
        "model": Path("m.palmette"),
        "table": "new.csv",
        "out": Path("o.csv"),
        "html": Path("o.html"),
        "folds": 3,
        "time": 9.0,
        "top": 5,
        "by_level": True,
        "title": "T",
        "rename": ["title=name"],
        "seed": 4,
        "format": "tsv",
        "encoding": "latin-1",
        "delimiter": ";",
        "sheet": "one",
        "decimal": [","],
        "date_format": ["%d.%m.%Y"],
        "header": False,
        "trusted": ["some.Type"],
        "excel_safe": True,
    }


def test_one_call_of_the_library(palmette, called, folder):
    calls = called("palmette.reviewing.review")
    words = ["--folds", "3", "--time", "9", "--top", "0", "--seed", "4"]
    result = palmette("review", "model.palmette", "products.csv", *words)
    assert result.exit_code == 0, result.output
    (((_, rows), options),) = calls
    assert rows.index.name == "line"
    assert rows.index[0] == 2
    chosen = {name: options[name] for name in ("folds", "time", "top", "seed")}
    assert chosen == {"folds": 3, "time": 9.0, "top": None, "seed": 4}


def test_a_table_without_names_is_read_as_in_the_fit(palmette, called, folder):
    goods = make_goods(60)[["title", "kind"]]
    goods.to_csv("plain.csv", index=False, header=False)
    fit = ["fit", "plain.csv", "--no-header", "--target", "col2", "--model", "class-tree"]
    result = palmette(*fit, "--folds", "0", "--out", "plain.palmette")
    assert result.exit_code == 0, result.output
    calls = called("palmette.reviewing.review")
    result = palmette("review", "plain.palmette", "plain.csv")
    assert result.exit_code == 0, result.output
    (((_, rows), _),) = calls
    assert list(rows) == ["col1", "col2"]
    assert len(rows) == 60
    changes = "old,new\nFood > Fish,Food > Sea food\n"
    Path("map.csv").write_text(changes)
    words = ["--map", "map.csv", "--table", "plain.csv", "--dry-run"]
    result = palmette("migrate", "plain.palmette", *words)
    assert result.exit_code == 0, result.output


def test_the_example_of_the_help_works(palmette, folder):
    text = re.sub(r"\s+", " ", palmette("review", "--help").stdout.replace("│", " "))
    example = re.search(r"Example: palmette (review .*? --html \S+)", text)[1]
    result = palmette(*example.split(), "--folds", 2, "--excel-safe")
    assert result.exit_code == 0, result.output
    found = pd.read_csv("review.csv")
    wrong = found[found["finding"] == "wrong label"]
    assert wrong["line"].tolist() == [9]
    assert wrong["proposed"].tolist() == ["Tools > Nails"]
    assert found.loc[found["line"] == 11, "title"].iloc[0] == "'=2+3"
    assert "Labels that are probably wrong" in Path("review.html").read_text(encoding="utf-8")
    assert "wrote review.csv" in result.stderr
    assert re.search(r"By estimate, \d+ of 120 labels", result.stderr)
    assert result.stdout == ""


def test_without_a_file_the_findings_are_printed(palmette, folder):
    table = Path("products.csv").read_text().replace("title", "name", 1)
    Path("renamed.csv").write_text(table)
    result = palmette("review", "model.palmette", "renamed.csv", "--map", "title=name",
                      "--folds", 0, "--top", 2)  # fmt: skip
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {row["finding"] for row in rows} >= {"no class"}
    assert set(rows[0]) >= {"line", "given", "proposed", "reason", "title"}
    assert "the given model" in result.stderr


def test_wrong_input(fails, folder):
    assert "expected 2 or more" in fails("review", "model.palmette", "products.csv", "--folds", 1)
    assert "expected one of the suffixes" in fails(
        "review", "model.palmette", "products.csv", "--html", "review.txt"
    )
    assert "no column 'x'" in fails("review", "model.palmette", "products.csv", "--map", "title=x")
    assert "--excel-safe is for" in fails(
        "review", "model.palmette", "products.csv", "--html", "r.html", "--excel-safe"
    )
    assert not Path("review.html").exists()
