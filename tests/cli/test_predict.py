"""`palmette predict`: options reach the function, rows come back with answers, or nothing does."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from tests.table.goods import make_goods

from palmette.cli.predict import predict
from palmette.persistence import save
from palmette.table import fit_table
from palmette.table._predicting import Wishes


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Write a model of the goods by their titles."""
    path = tmp_path_factory.mktemp("model") / "model.palmette"
    goods = make_goods()[["title", "kind"]]
    save(fit_table(goods, "kind", model="class-tree", folds=0), path)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch, stored):
    monkeypatch.chdir(tmp_path)
    Path("model.palmette").write_bytes(stored.read_bytes())
    make_goods(40, seed=1)[["title", "price"]].to_csv("new.csv", index=False)
    return tmp_path


def test_every_option_is_a_parameter(parse):
    parameters = parse(
        predict,
        *["m.palmette", "new.csv", "--out", "o.csv", "--top", "3"],
        *["--confidence", ".8", "--explain", "--map", "title=name", "--chunk-rows", "5"],
        *["--format", "tsv", "--encoding", "latin-1", "--delimiter", ";", "--sheet", "one"],
        *["--trust", "some.Type", "--excel-safe", "--decimal", ",", "--date-format", "%d.%m.%Y"],
        *["--no-header", "--skip-bad-rows", "--bad-rows", "b.csv", "--jobs", "2"],
        *["--workers", "2", "--scheduler", "tcp://h:1"],
    )  # fmt: skip
    assert parameters == {
        "model": Path("m.palmette"),
        "table": "new.csv",
        "out": Path("o.csv"),
        "top": 3,
        "confidence": 0.8,
        "explain": True,
        "rename": ["title=name"],
        "chunk_rows": 5,
        "format": "tsv",
        "encoding": "latin-1",
        "delimiter": ";",
        "sheet": "one",
        "decimal": [","],
        "date_format": ["%d.%m.%Y"],
        "header": False,
        "skip_bad_rows": True,
        "bad_rows": Path("b.csv"),
        "trusted": ["some.Type"],
        "excel_safe": True,
        "n_jobs": 2,
        "workers": 2,
        "scheduler": "tcp://h:1",
    }


def test_one_call_of_the_library(palmette, called, folder):
    calls = called("palmette.table._predicting.predict_chunks")
    words = ["--top", "3", "--confidence", ".8", "--explain", "--map", "title=name"]
    result = palmette("predict", "model.palmette", "new.csv", *words, "--chunk-rows", 5)
    assert result.exit_code == 0, result.output
    (((_, source, wishes), options),) = calls
    assert source.name == "new.csv"
    assert wishes == Wishes(3, 0.8, True, {"title": "name"})
    assert options["rows"] == 5
    assert options["n_jobs"] is None
    assert options["client"] is None


def test_the_example_of_the_help_works(palmette, folder):
    text = re.sub(r"\s+", " ", palmette("predict", "--help").stdout.replace("│", " "))
    example = re.search(r"Example: palmette (predict .*? --out \S+)", text)[1]
    result = palmette(*example.split())
    assert result.exit_code == 0, result.output
    found = pd.read_csv("predicted.csv")
    assert found["prediction"].str.startswith(("Food", "Tools")).all()
    assert found["sure_probability"].ge(0.8).all()
    assert "wrote predicted.csv: 40 rows" in result.stderr


def test_standard_output_is_csv_and_nothing_else(palmette, folder):
    result = palmette("predict", "model.palmette", "new.csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(rows) == 40
    assert list(rows[0]) == ["title", "price", "prediction", "probability"]


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.jsonl", "o.parquet"])
def test_every_format_holds_the_same(palmette, folder, name):
    result = palmette("predict", "model.palmette", "new.csv", "--out", name, "--chunk-rows", 30)
    assert result.exit_code == 0, result.output
    readers = {
        "csv": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "jsonl": lambda path: pd.DataFrame(map(json.loads, Path(path).read_text().splitlines())),
        "parquet": pd.read_parquet,
    }
    found = readers[name.split(".")[1]](name)
    assert found["prediction"].tolist() == make_goods(40)["kind"].tolist()


@pytest.fixture
def long_table(folder):
    """Write the rows of five chunks, some with a price that is not a number."""
    goods = make_goods(40, seed=1)[["title", "price"]].astype(object)
    goods.loc[[11, 31], "price"] = "cheap"
    path = folder / "priced.palmette"
    save(
        fit_table(make_goods()[["title", "price", "kind"]], "kind", model="class-tree", folds=0),
        path,
    )
    goods.to_csv("new.csv", index=False)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["o.csv", "o.jsonl", "o.parquet"])
def test_the_number_of_jobs_changes_no_byte(palmette, long_table, name):
    words = ["predict", "priced.palmette", "new.csv", "--chunk-rows", 9, "--top", 2, "--explain"]
    results, files = [], []
    for n_jobs in (1, 3):
        results.append(palmette(*words, "--out", name, "-j", n_jobs))
        assert results[-1].exit_code == 0, results[-1].output
        files.append(Path(name).read_bytes())
    assert files[0] == files[1]
    assert results[0].stderr == results[1].stderr
    assert "2 values of the column 'price' cannot be read" in results[0].stderr
    assert "such as 'cheap' in line 13" in results[0].stderr


@pytest.mark.thorough
def test_a_wrong_row_is_the_same_error_for_any_number_of_jobs(palmette, folder):
    with Path("new.csv").open("a") as stream:
        stream.write("a title,1,more\n")
    results = [
        palmette("predict", "model.palmette", "new.csv", "--chunk-rows", 9, "-j", n_jobs)
        for n_jobs in (1, 2)
    ]
    assert [result.exit_code for result in results] == [2, 2]
    assert results[0].stdout == results[1].stdout
    assert len(results[0].stdout.splitlines()) == 1 + 36  # the chunks before that of the error
    assert results[0].stderr == results[1].stderr
    assert "error: new.csv:42: the row has 3 cells" in results[0].stderr


def test_zero_jobs_are_an_error(fails, folder):
    message = fails("predict", "model.palmette", "new.csv", "--jobs", 0)
    assert message == "got --jobs 0: expected a number of jobs, or -1 for all cores."


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no groups of processes")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_leaves_no_file_and_no_process(folder, number, code):
    words = ["predict", "model.palmette", "-", "--out", "o.csv", "--chunk-rows", "9", "-j", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "palmette.cli.main", *words],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as command:  # fmt: skip
        command.stdin.write("title\n")
        for _ in range(500):  # processes are at work, and wait for more
            command.stdin.write("a hammer of steel\n")
        command.stdin.flush()
        deadline = time.monotonic() + 120
        while _n_alive(command.pid) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(command.pid, number) if number == signal.SIGINT else command.send_signal(number)
        told = command.communicate()[1]
    assert command.returncode == code, told
    assert "Traceback" not in told
    assert not list(folder.glob("*o.csv*"))
    while _n_alive(command.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _n_alive(command.pid) == 0


def _n_alive(group: int) -> int:
    """Number of processes of a group."""
    found = subprocess.run(["ps", "-o", "pid=", "-g", str(group)], stdout=subprocess.PIPE)
    return len(found.stdout.split())


def test_a_missing_column_is_named_with_what_to_do(fails, folder):
    Path("new.csv").write_text("name,price\nx,1\n")
    assert fails("predict", "model.palmette", "new.csv") == (
        "new.csv has no column 'title' that the model was fitted on (it has: name, price). "
        "Rename it, or pass --map title=name."
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.palmette", "new.csv"], "none.palmette"),
        (["new.csv", "new.csv"], "new.csv"),
        (["model.palmette", "none.csv"], "none.csv: the file does not exist"),
        (["model.palmette", "new.csv", "--out", "o.doc"], "cannot write o.doc"),
        (["model.palmette", "new.csv", "--map", "title"], "expected COLUMN=NAME"),
    ],
)
def test_mistakes_are_one_message(fails, folder, words, message):
    assert message in fails("predict", *words)


def test_a_wrong_row_far_below_leaves_no_file(folder, palmette):
    with Path("new.csv").open("a") as stream:
        stream.write("a title,1,more\n")
    words = ["--out", "o.csv", "--chunk-rows", 10]
    result = palmette("predict", "model.palmette", "new.csv", *words)
    assert result.exit_code == 2
    assert "error: new.csv:42: the row has 3 cells, but the first line has 2" in result.stderr
    assert not list(folder.glob("*o.csv*"))


@pytest.mark.parametrize("seed", range(15))
def test_mutated_tables_never_end_in_a_traceback(palmette, folder, seed):
    rng = random.Random(seed)
    content = bytearray(Path("new.csv").read_bytes())
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(content))
        kind = rng.randrange(3)
        if kind == 0:
            content[place] = rng.choice(b'",;\n\r\0\xff\t1a')
        elif kind == 1:
            del content[place : place + rng.randint(1, 20)]
        else:
            content[place:place] = bytes(rng.choices(b'",\n\xe9x0', k=rng.randint(1, 9)))
    Path("new.csv").write_bytes(bytes(content))
    result = palmette("predict", "model.palmette", "new.csv", "--out", "o.csv")
    assert result.exit_code in (0, 2), result.output
    assert Path("o.csv").exists() == (result.exit_code == 0)
    assert "Traceback" not in result.stderr
    assert ("error: " in result.stderr) == (result.exit_code == 2)


def test_a_separator_is_used_exactly_as_given(palmette, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = ["T-shirts - Long-sleeve", "T-shirts - V-neck", "Shoes- - Low -", "Hats"]
    rows = [f"{'abcd'[i % 4]},{cells[i % 4]}" for i in range(24)]
    Path("goods.csv").write_text("\n".join(["x,kind", *rows]))
    words = ["--model", "flat-naive-bayes", "--folds", 0, "--column", "x=category"]
    fitted = palmette("fit", "goods.csv", "--target", "kind", "--separator", " - ", *words,
                      "--out", "m.palmette")  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    assert "paths with the separator ' - '" in fitted.stderr
    assert palmette("predict", "m.palmette", "goods.csv", "--out", "p.csv").exit_code == 0
    found = pd.read_csv("p.csv")
    assert found["prediction"].tolist() == found["kind"].tolist()


def test_bad_rows_are_written_and_counted(palmette, fails, folder):
    good = Path("new.csv").read_text().splitlines()
    Path("bad.csv").write_text("\n".join([*good[:3], "=1,x,y,z", *good[3:]]))
    assert "bad.csv:4: the row has 4 cells" in fails("predict", "model.palmette", "bad.csv")
    assert "expected one of the suffixes .csv" in fails(
        "predict", "model.palmette", "bad.csv", "--bad-rows", "out.txt"
    )
    words = ["--bad-rows", "out.csv", "--excel-safe", "--out", "p.csv"]
    result = palmette("predict", "model.palmette", "bad.csv", *words)
    assert result.exit_code == 0, result.output
    assert "1 row is skipped: line 4" in result.stderr
    assert Path("out.csv").read_text().splitlines()[1].startswith("4,")
    assert "'=1,x,y,z" in Path("out.csv").read_text()
    assert len(Path("p.csv").read_text().splitlines()) == len(good)


def test_numbers_may_be_given_for_all_columns_or_by_name(fails, folder):
    assert "--decimal ';'" in fails("predict", "model.palmette", "new.csv", "--decimal", ";")
    words = ["--decimal", ",", "--decimal", "price=."]
    message = fails("predict", "model.palmette", "new.csv", *words)
    assert message.startswith("got --decimal ',' 'price=.': expected one for all columns, or NAME=")
