"""Spoilt tables through the commands: an answer or one message, and never half a file."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from tests.fuzz.mutations import MUTATIONS, run_soundly

pytestmark = pytest.mark.thorough

KINDS = ["Food > Fruit", "Food > Bread", "Tools > Saws", "Tools > Nails"]
GOODS = pd.DataFrame(
    {
        "title": [f"{kind.lower()} no {i}, 'big'" for i, kind in enumerate(KINDS * 6)],
        "price": [f"{i / 3:.2f}" for i in range(24)],
        "since": [f"2024-0{i % 9 + 1}-15" for i in range(24)],
        "category": KINDS * 6,
    }
)


def as_bytes(suffix: str) -> bytes:
    """Return the table in one format."""
    stream = io.BytesIO()
    if suffix == ".jsonl":
        GOODS.to_json(stream, orient="records", lines=True)
    elif suffix == ".parquet":
        GOODS.to_parquet(stream)
    elif suffix == ".xlsx":
        GOODS.to_excel(stream, index=False)
    else:
        GOODS.to_csv(stream, index=False, sep="\t" if suffix == ".tsv" else ",")
    return stream.getvalue()


@pytest.fixture(scope="module")
def model():
    """Return a model of the sound table; it is loaded once, since its file is not in question."""
    from palmette.table import fit_table

    return fit_table(GOODS, target="category", model="class-tree", folds=0)


@pytest.fixture
def ready(model, monkeypatch):
    for place in ("palmette.cli.predict.load_table_model", "palmette.cli.report.load_table_model"):
        monkeypatch.setattr(place, lambda *_: model)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_predict_takes_any_csv_file(mutation, palmette, ready, tmp_path):
    sound = as_bytes(".csv")
    for seed in range(6):
        spoilt = tmp_path / "new.csv"
        spoilt.write_bytes(mutation(sound, np.random.default_rng(seed)))
        run_soundly(palmette, tmp_path, "predict", "m", spoilt, "--out", tmp_path / "p.csv")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", [".tsv", ".jsonl", ".parquet", ".xlsx", ".csv.gz"])
def test_predict_takes_any_file_of_other_formats(suffix, palmette, ready, tmp_path):
    sound = as_bytes(suffix)
    for seed, mutation in enumerate(MUTATIONS):
        spoilt = tmp_path / f"new{suffix}"
        spoilt.write_bytes(mutation(sound, np.random.default_rng(seed)))
        run_soundly(palmette, tmp_path, "predict", "m", spoilt, "--out", tmp_path / "p.jsonl")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_fit_and_learn_take_any_csv_file(mutation, palmette, tmp_path):
    sound = as_bytes(".csv")
    fit = ["--target", "category", "--model", "class-tree", "--folds", "0"]
    learn = ["--target", "category", "--method", "balanced"]
    for seed in range(100, 102):
        spoilt = tmp_path / "goods.csv"
        spoilt.write_bytes(mutation(sound, np.random.default_rng(seed)))
        run_soundly(palmette, tmp_path, "fit", spoilt, *fit, "--out", tmp_path / "m.palmette")
        run_soundly(palmette, tmp_path, "learn", spoilt, *learn, "--out", tmp_path / "t.json")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_report_takes_any_csv_file(mutation, palmette, ready, tmp_path):
    sound = as_bytes(".csv")
    options = ["--bootstrap", "0", "--json", tmp_path / "r.json"]
    for seed in range(200, 202):
        spoilt = tmp_path / "test.csv"
        spoilt.write_bytes(mutation(sound, np.random.default_rng(seed)))
        run_soundly(palmette, tmp_path, "report", "m", spoilt, *options)


CRAFTED = {
    "empty": b"",
    "header alone": b"title,price,since,category\n",
    "no rows but blank lines": b"title,price,since,category\n\n\n\n",
    "a column twice": b"title,title,price,since,category\na,b,1,2024-01-01,Food > Fruit\n",
    "no names": b",,,\na,1,2024-01-01,Food > Fruit\n",
    "a quote without an end": b'title,price,since,category\n"a,1,2024-01-01,Food > Fruit\n',
    "cells missing": b"title,price,since,category\na\nb,1\n",
    "no target at all": b"title,price,since,category\na,1,2024-01-01,\nb,2,2024-01-02,\n",
    "one class": b"title,price,since,category\n" + b"a,1,2024-01-01,Food\n" * 9,
    "only separators": b"title,price,since,category\n" + b"a,1,2024-01-01, > > \n" * 9,
    "words for numbers": b"title,price,since,category\na,much,yesterday,Food > Fruit\n" * 5,
    "codes that look like dates": b"title,price,since,category\n"
    + b"a,1,12-AB-001,Food > Fruit\n" * 5,
    "ten thousand columns": b",".join(b"c%d" % i for i in range(10_000)) + b"\n1,2,3\n",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CRAFTED)
def test_odd_tables_through_all_commands(name, palmette, ready, tmp_path):
    table = tmp_path / "goods.csv"
    table.write_bytes(CRAFTED[name])
    target = ["--target", "category"]
    quick = ["--model", "class-tree", "--folds", "0", "--out", tmp_path / "m.palmette"]
    for words in (
        ["predict", "m", table, "--out", tmp_path / "p.parquet"],
        ["fit", table, *target, *quick],
        ["learn", table, *target, "--method", "balanced", "--out", tmp_path / "t.svg"],
        ["report", "m", table, "--bootstrap", "0", "--html", tmp_path / "r.html"],
    ):
        run_soundly(palmette, tmp_path, *words)
