"""`palmette eval`: measures of the best labels of rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from palmette import metrics
from palmette.cli.eval import command
from palmette.exceptions import PalmetteError
from palmette.persistence import save
from palmette.table import fit_table

TEXTS = [
    ("grey cat", "cat;grey"),
    ("black cat", "cat;black"),
    ("grey dog", "dog;grey"),
    ("black dog", "dog;black"),
]


@pytest.fixture(scope="module")
def fitted():
    texts, tags = (list(column) * 10 for column in zip(*TEXTS, strict=True))
    table = {"text": texts, "tags": tags}
    return fit_table(table, "tags", labels_separator=";", model="label-tree", folds=0)


@pytest.fixture
def files(fitted, tmp_path):
    model, table = tmp_path / "tags.palmette", tmp_path / "test.csv"
    save(fitted, model)
    rows = [*TEXTS, ("grey horse", "horse;grey"), ("a thing", "")]
    pd.DataFrame(rows, columns=["text", "tags"]).to_csv(table, index=False)
    return model, table


def test_every_option_is_a_parameter(parse):
    words = ["m.palmette", "t.csv", "--k", 1, "--k", 4, "--train", "a.csv", "--json", "a.json"]
    words += ["--map", "a=b", "--format", "csv", "--encoding", "latin-1", "--delimiter", ";"]
    words += ["--sheet", "s", "--decimal", ",", "--date-format", "%Y", "--no-header"]
    words += ["--trust", "x.Y", "--workers", 2, "--scheduler", "tcp://h:1"]
    given = {
        "model": Path("m.palmette"),
        "table": "t.csv",
        "k": [1, 4],
        "train": "a.csv",
        "json": Path("a.json"),
        "renamed": ["a=b"],
        "format": "csv",
        "encoding": "latin-1",
        "delimiter": ";",
        "sheet": "s",
        "decimal": [","],
        "date_format": ["%Y"],
        "header": False,
        "workers": 2,
        "scheduler": "tcp://h:1",
        "trusted": ["x.Y"],
    }
    assert parse(command, *words) == given


def test_figures_are_those_of_the_measures(files, fitted, tmp_path, capsys):
    model, table = files
    command(model, str(table), k=[2, 1], train=str(table), json=tmp_path / "out.json")
    out = capsys.readouterr().out
    assert "5 rows, 1 without a label left out, 1 labels that the model does not know" in out
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["k"] == [1, 2]
    frame = pd.read_csv(table).iloc[:5]
    true = [{(name,) for name in cell.split(";")} for cell in frame["tags"]]
    best, values = fitted.predict_top_k(frame, 4)
    proba, column = fitted.predict_proba(frame), {c: i for i, c in enumerate(fitted.classes_)}
    assert np.array_equal(values, -np.sort(-proba, axis=1))
    for i, row in enumerate(best):
        assert values[i].tolist() == proba[i, [column[label] for label in row]].tolist()
    at_k = found["at_k"]
    assert at_k["precision"] == metrics.precision_at_k(true, best, k=[1, 2]).tolist()
    assert at_k["nDCG"] == metrics.ndcg_at_k(true, best, k=[1, 2]).tolist()
    assert at_k["precision"][1] == pytest.approx(0.9)  # of the horse, only its colour is known
    shares = metrics.label_propensities([*true, set()])
    expected = metrics.propensity_scored_precision_at_k(true, best, propensities=shares, k=[1, 2])
    np.testing.assert_allclose(at_k["PSP"], expected)
    assert found["predictions"]["labels per row, true"] == 2.0


def test_one_label_per_row(tmp_path, capsys):
    table = pd.DataFrame({"text": ["a b", "c d"] * 10, "kind": ["x > y", "z"] * 10})
    table.to_csv(tmp_path / "rows.csv", index=False)
    save(fit_table(table, "kind", model="class-tree", folds=0), tmp_path / "m.palmette")
    command(tmp_path / "m.palmette", str(tmp_path / "rows.csv"))
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if line.startswith("precision")).split()[1] == "1.0000"


def test_bad_input_is_told(files, tmp_path):
    model, table = files
    with pytest.raises(PalmetteError, match="got --k 0: expected a positive number of labels"):
        command(model, str(table), k=[0])
    pd.DataFrame({"text": ["a"], "tags": [None]}).to_csv(tmp_path / "none.csv", index=False)
    with pytest.raises(PalmetteError, match="no row of the table has a label"):
        command(model, str(tmp_path / "none.csv"))
