"""`palmette report`: a model and a table make a report."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from palmette import metrics
from palmette.cli.report import report
from palmette.persistence import save
from palmette.table import fit_table

GOODS = [
    ("red apple", "Food > Fruit"),
    ("green pear", "Food > Fruit"),
    ("rye bread", "Food > Bread"),
    ("small saw", "Tools > Saws"),
    ("long nail", "Tools > Nails"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    names, kinds = (list(column) * 12 for column in zip(*GOODS, strict=True))
    fitted = fit_table(
        {"title": names, "kind": kinds}, target="kind", model="local-per-parent", folds=0
    )
    path = tmp_path_factory.mktemp("models") / "goods.palmette"
    save(fitted, path)
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "test.csv"
    rows = [*GOODS, ("red nail", "Tools > Saws"), ("old pear", ""), ("green bread", "Food > Bread")]
    pd.DataFrame(rows, columns=["title", "kind"]).to_csv(path, index=False)
    return path


def test_every_option_is_a_parameter(parse):
    words = ["--html", "a.html", "--json", "a.json", "--md", "a.md", "--title", "t"]
    words += ["--map", "a=b", "--bootstrap", 9, "--seed", 3, "--format", "csv"]
    words += ["--encoding", "latin-1", "--delimiter", ";", "--sheet", "s", "--trust", "x.Y"]
    words += ["--precision", 0.9, "--train", "a.csv", "--decimal", ",", "--date-format", "%Y"]
    words += ["--no-header", "--skip-bad-rows", "--bad-rows", "b.csv", "--language", "fi"]
    words += ["--workers", 2, "--scheduler", "tcp://h:1", "--scratch", "folder"]
    given = {
        "scratch": Path("folder"),
        "language": "fi",
        "files": ["m.palmette", "t.csv"],
        "html": Path("a.html"),
        "json": Path("a.json"),
        "md": Path("a.md"),
        "title": "t",
        "precision": 0.9,
        "train": "a.csv",
        "renamed": ["a=b"],
        "n_bootstrap": 9,
        "seed": 3,
        "workers": 2,
        "scheduler": "tcp://h:1",
        "format": "csv",
        "encoding": "latin-1",
        "delimiter": ";",
        "sheet": "s",
        "decimal": [","],
        "date_format": ["%Y"],
        "header": False,
        "skip_bad_rows": True,
        "bad_rows": Path("b.csv"),
        "trusted": ["x.Y"],
    }
    assert parse(report, "m.palmette", "t.csv", *words) == given
    defaults = parse(report, "m.palmette", "t.csv")
    assert (defaults.pop("n_bootstrap"), defaults.pop("seed")) == (500, 0)
    assert defaults.pop("precision") == 0.95
    assert not any(list(defaults.values())[1:])


def test_one_call_of_the_library(palmette, called, model, table):
    calls = called("palmette.reporting.report")
    words = ["--title", "t", "--bootstrap", 9, "--seed", 3, "--precision", 0.9]
    rest = {"language": None, "client": None}  # these labels have none
    assert palmette("report", model, table, *words).exit_code == 0
    (((_, frame), options),) = calls
    assert list(frame.columns) == ["title", "kind"]
    names = range(1, len(frame) + 1)
    given = {"n_bootstrap": 9, "random_state": 3, "title": "t", "precision": 0.9}
    assert options == {"sample_names": names, **given, **rest}


def test_a_report_in_three_formats(palmette, model, table, tmp_path):
    out = [tmp_path / f"report{suffix}" for suffix in (".html", ".json", ".md")]
    words = [word for path in out for word in (f"--{path.suffix[1:]}", path)]
    result = palmette("report", model, table, *words, "--bootstrap", 20)
    assert result.exit_code == 0, result.output
    assert "Hierarchical F1" in result.stdout
    assert "1 rows without a label" in result.stdout
    assert all(f"wrote {path}" in result.stdout.replace("\n", "") for path in out)
    facts = json.loads(out[1].read_text(encoding="utf-8"))
    assert facts["title"] == "goods on test.csv"
    assert facts["setting"]["data"]["rows"] == 7
    assert facts["setting"]["fitted"]["rows"] == 60
    names = {each["text"]: each["name"] for each in facts["examples"]}
    assert names["red nail"] == "6"  # rows of the table count from 1
    assert "# goods on test.csv" in out[2].read_text(encoding="utf-8")
    assert "<title>goods on test.csv</title>" in out[0].read_text(encoding="utf-8")


def test_a_large_table_is_kept_on_disk(palmette, fails, model, table, tmp_path, monkeypatch):
    def facts_of(*words):
        result = palmette("report", model, table, "--json", tmp_path / "r.json", *words)
        assert result.exit_code == 0, result.output
        facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        return {name: facts[name] for name in facts if name != "made"}, result.stderr

    expected, told = facts_of()
    assert "the table is large" not in told
    monkeypatch.setattr("palmette.reporting._stored._MOST_BYTES", 100)
    (folder := tmp_path / "folder").mkdir()
    found, told = facts_of("--scratch", folder)
    assert found == expected
    assert f"in the scratch folder {folder}" in told.replace("\n", "")
    assert list(folder.iterdir()) == []
    folder.rmdir()
    assert "cannot create a scratch folder" in fails("report", model, table, "--scratch", folder)


def test_figures_are_those_of_the_model(palmette, model, table, tmp_path):
    from palmette.persistence import load

    palmette("report", model, table, "--json", tmp_path / "r.json", "--bootstrap", 0)
    facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    fitted = load(model)
    frame = pd.read_csv(table).dropna().reset_index(drop=True)
    truth = fitted.read_target(frame)
    wanted = metrics.hierarchical_f1_score(
        truth, fitted.predict(frame), hierarchy=fitted.hierarchy_
    )
    assert facts["figures"][0]["value"] == pytest.approx(wanted)


def test_columns_under_another_name(palmette, fails, model, table, tmp_path):
    other = tmp_path / "other.csv"
    pd.read_csv(table).rename(columns={"title": "name"}).to_csv(other, index=False)
    assert "has no column 'title'" in fails("report", model, other)
    assert palmette("report", model, other, "--map", "title=name").exit_code == 0
    assert "no column 'label'" in fails("report", model, other, "--map", "title=label")
    assert "expected COLUMN=NAME" in fails("report", model, other, "--map", "title")


def test_mistakes_show_before_any_work(fails, model, table, tmp_path):
    assert "expected one of the suffixes .html" in fails(
        "report", model, table, "--html", "report.pdf"
    )
    assert "there is no folder" in fails("report", model, table, "--md", tmp_path / "no" / "a.md")
    assert "expected a number between 0 and 1" in fails("report", model, table, "--precision", 95)
    fails("report", model, table, "--train", tmp_path / "none.csv")
    fails("report", tmp_path / "none.palmette", table)
    fails("report", model, tmp_path / "none.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["test.csv"]


def test_two_models_side_by_side(palmette, fails, model, table, tmp_path):
    from palmette.persistence import load

    second = tmp_path / "other.palmette"
    save(load(model), second)
    out = tmp_path / "two.json"
    result = palmette("report", model, second, table, "--json", out, "--bootstrap", 9)
    assert result.exit_code == 0, result.output
    assert "goods and other on test.csv" in result.stdout
    assert "other is right for" in result.stdout.replace("\n", " ")
    found = json.loads(out.read_text(encoding="utf-8"))["versus"]
    assert found["names"] == ["goods", "other"]
    assert found["n_differing"] == 0
    assert "got 1 file: expected a model and a table" in fails("report", model)
    assert "got 4 files" in fails("report", model, model, model, table)


def test_a_flat_linear_model_of_the_training_table(palmette, model, table, tmp_path):
    train = tmp_path / "train.csv"
    pd.DataFrame(GOODS * 12, columns=["title", "kind"]).to_csv(train, index=False)
    out = tmp_path / "r.json"
    result = palmette("report", model, table, "--json", out, "--bootstrap", 0)
    assert "--train TABLE" in result.stdout.replace("\n", " ")
    palmette("report", model, table, "--json", out, "--bootstrap", 0, "--train", train)
    facts = json.loads(out.read_text(encoding="utf-8"))
    majority, flat = facts["baselines"]
    assert "Food > Fruit, the most frequent class of the training rows" in majority["words"]
    assert flat["measured"] == "report"
    assert set(flat["scores"]) == {each["name"] for each in facts["figures"]}
    assert "the flat linear model" in facts["verdict"]


def test_numbers_of_training_rows_are_in_the_report(palmette, model, table, tmp_path):
    palmette("report", model, table, "--json", tmp_path / "r.json", "--bootstrap", 0)
    facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    names = [facts["nodes"]["name"][node] for node in facts["classes"]["node"]]
    assert dict(zip(names, facts["classes"]["train"], strict=True)) == {
        "Fruit": 24, "Bread": 12, "Saws": 12, "Nails": 12,
    }  # fmt: skip
    assert facts["setting"]["hierarchy"]["nodes"] == 6
    assert facts["setting"]["fitted"]["hierarchy"]["nodes"] == 6


def test_a_table_without_its_target(fails, model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("title\nred apple\n")
    assert "has no target column 'kind'" in fails("report", model, path)


def test_a_model_that_is_not_for_tables(fails, table, tmp_path):
    from sklearn.naive_bayes import GaussianNB

    from palmette import LocalPerParentClassifier

    path = tmp_path / "plain.palmette"
    save(LocalPerParentClassifier(GaussianNB()).fit([[0.0], [1.0]], ["a", "b"]), path)
    assert "does not read tables" in fails("report", path, table)


def test_help_shows_an_example(palmette):
    words = " ".join(palmette("report", "--help").stdout.split())
    assert "palmette report model.palmette test.csv --html report.html" in words.replace("│ ", "")
