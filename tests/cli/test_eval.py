"""`palmette eval`: measures of the best labels of rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from palmette import metrics
from palmette.cli.eval import command, evaluate
from palmette.exceptions import PalmetteError
from palmette.persistence import save
from palmette.reporting import _parts
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
    assert "5 rows, 1 without a label left out, 1 label that the model does not know" in out
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


def in_parts(table, n_rows):
    return (table.iloc[i : i + n_rows].reset_index(drop=True) for i in range(0, len(table), n_rows))


def literally(model, frame, ks, training):
    """Measure lists of labels, all rows at once."""
    rows = frame[frame["tags"] != ""]
    true, train = (
        [{(name,) for name in cell.split(";") if name} for cell in each["tags"]]
        for each in (rows, training)
    )
    best, predicted = model.predict_top_k(rows, max(ks))[0], model.predict(rows)
    known = set(model.classes_.tolist())
    shares = metrics.label_propensities(train, labels=known.union(*true))
    inside = [labels & known for labels in true]
    both = sum(len(a & b) for a, b in zip(true, predicted, strict=True))
    return {
        "at_k": {
            "precision": metrics.precision_at_k(true, best, k=ks).tolist(),
            "recall": metrics.recall_at_k(true, best, k=ks).tolist(),
            "F1": metrics.f1_at_k(true, best, k=ks).tolist(),
            "nDCG": metrics.ndcg_at_k(true, best, k=ks).tolist(),
            "PSP": metrics.propensity_scored_precision_at_k(
                true, best, propensities=shares, k=ks
            ).tolist(),
            "hierarchical F1": metrics.hierarchical_precision_recall_fscore_at_k(
                inside, best, hierarchy=model.hierarchy_, k=ks
            )[2].tolist(),
        },
        "predictions": {
            "micro F1 of the predictions": 2 * both / sum(map(len, [*true, *predicted])),
            "labels per row, predicted": sum(map(len, predicted)) / len(true),
            "labels per row, true": sum(map(len, true)) / len(true),
        },
        "rows": len(true),
        "rows_left_out": len(frame) - len(true),
        "unknown_labels": len(set().union(*true) - known),
    }


@pytest.mark.parametrize("n_rows", [1, 4, 100])
def test_rows_in_parts_are_measured_as_all_at_once(fitted, n_rows, monkeypatch):
    monkeypatch.setattr(_parts, "_ROWS", 5)
    rows = [*TEXTS, ("grey horse", "horse;grey"), ("a thing", ""), ("cat dog", "dog;cat;black")]
    frame = pd.DataFrame([*rows, *rows[:3]], columns=["text", "tags"])
    training = pd.DataFrame([*rows[:5], ("wolf", "wolf")], columns=["text", "tags"])
    found = evaluate(fitted, in_parts(frame, n_rows), [1, 3], in_parts(training, n_rows))
    drift = found.pop("drift")
    assert found == literally(fitted, frame, [1, 3], training)
    assert drift == evaluate(fitted, frame, [1, 3], training)["drift"]


def test_the_row_of_an_error_is_that_of_the_table(tmp_path):
    table = pd.DataFrame({"text": ["a b", "c d"] * 5, "kind": ["x > y", "z > u"] * 5})
    model = fit_table(table, "kind", model="class-tree", folds=0)
    table.loc[7, "kind"] = " > "
    with pytest.raises(PalmetteError, match="row 8 of the target column 'kind'"):
        evaluate(model, in_parts(table, 3), [1])
