"""`palmette compare`: options reach the function, results reach the user, mistakes show at once."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest

from palmette.cli.compare import compare
from palmette.compare import _compare

COLOURS = ["red", "blue", "grey", "grey", "red", "blue", "white", "grey"]
NB = "flat-naive-bayes,local-per-parent-naive-bayes"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Make a table of goods with numbers, categories and gaps, in the working folder."""
    kinds = ["Food > Fruit", "Food > Fish", "Tools > Saws", "Tools > Nails"]
    rows = [
        {
            "price": i % 4 + 0.01 * i,
            "colour": None if i % 9 == 0 else COLOURS[i % 8],
            "kind": kinds[i % 4],
            "top": kinds[i % 4].split(" > ")[0],
            "below": kinds[i % 4].split(" > ")[1],
        }
        for i in range(60)
    ]
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rows)
    frame.drop(columns=["top", "below"]).to_csv("goods.csv", index=False)
    frame.drop(columns=["kind"]).to_csv("levels.csv", index=False)
    return tmp_path


# ---------------------------------------------------------------------- one call


def test_every_option_is_a_parameter(parse):
    parameters = parse(
        compare,
        *["a.csv", "b", "--models", "flat, local-per-node"],
        *["--metrics", "h_loss,lca_f1", "--target", "x", "--target", "y"],
        *["--separator", " > ", "--labels-separator", ";", "--merge-case", "--splits", "5"],
        *["--column", "zip=category", "--drop", "id", "--skip-bad-rows"],
        *["--max-depth", "2", "--sheet", "one"],
        *["--test-size", ".25", "--seed", "7", "--jobs", "-1", "--resume", "r.jsonl"],
        *["--workers", "2", "--scheduler", "tcp://h:1"],
        *["--posthoc", "wilcoxon-holm", "--control", "flat", "--alpha", ".1"],
        *["--out", "o.md", "--out", "o.json", "--diagram", "d.png", "--excel-safe"],
    )  # fmt: skip
    assert parameters == {
        "data": ["a.csv", "b"],
        "models": "flat, local-per-node",
        "metrics": "h_loss,lca_f1",
        "target": ["x", "y"],
        "separator": " > ",
        "labels_separator": ";",
        "merge_case": True,
        "columns": ["zip=category"],
        "drop": ["id"],
        "skip_bad_rows": True,
        "max_depth": 2,
        "sheet": "one",
        "n_splits": 5,
        "test_size": 0.25,
        "seed": 7,
        "n_jobs": -1,
        "workers": 2,
        "scheduler": "tcp://h:1",
        "resume": Path("r.jsonl"),
        "posthoc": "wilcoxon-holm",
        "control": "flat",
        "alpha": 0.1,
        "out": [Path("o.md"), Path("o.json")],
        "excel_safe": True,
        "diagram": Path("d.png"),
    }


def test_defaults(parse):
    options = parse(compare, "digits")
    assert options.pop("data") == ["digits"]
    assert options.pop("models") == "flat-linear,flat-naive-bayes,local-per-parent-svm,class-tree"
    assert options.pop("metrics") == "hierarchical_f1,tree_induced_error,leaf_accuracy"
    assert options.pop("seed") == 0
    assert options.pop("n_jobs") == 1
    assert options.pop("posthoc") == "nemenyi"
    assert options.pop("alpha") == 0.05
    assert not any(options.values())


def test_the_call_reaches_the_library(table, monkeypatch):
    from palmette.compare import Comparison

    seen = {}

    def record(problems, models, scores, **options):
        seen.update(options, problems=[p.name for p in problems], models=models, scores=scores)
        return Comparison([], tuple(scores), models, [])

    monkeypatch.setattr("palmette.compare.compare", record)
    compare(
        ["goods.csv"], "flat", "h_loss", target=["kind"], separator=">", n_splits=2,
        test_size=0.5, seed=3, n_jobs=2, resume=Path("r.jsonl"),
    )  # fmt: skip
    del seen["watch"]
    assert seen.pop("store").path == Path("r.jsonl")
    assert seen == {
        "problems": ["goods.csv"],
        "models": ["flat"],
        "scores": ["h_loss"],
        "n_splits": 2,
        "test_size": 0.5,
        "seed": 3,
        "n_jobs": 2,
        "client": None,
    }


# ---------------------------------------------------------------------- results


def test_a_table_with_a_path_column(palmette, table):
    words = ["goods.csv", "--target", "kind", "--separator", " > ", "--splits", 1, "--models", NB]
    result = palmette("compare", *words, "--out", "o.json", "--out", "o.md", "--out", "o.csv")
    assert result.exit_code == 0, result.output
    assert "goods.csv, 1 random split" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert result.stdout.endswith("wrote o.json\nwrote o.md\nwrote o.csv\n")
    found = json.loads(Path("o.json").read_text())
    assert all(row["hierarchical_f1"] > 0.9 for row in found["rows"])
    assert Path("o.md").read_text().startswith("### goods.csv\n")
    assert len(pd.read_csv("o.csv")) == 2


def test_a_table_with_a_column_for_each_level(palmette, table):
    words = ["--target", "top", "--target", "below", "--splits", 1, "--models", NB]
    result = palmette("compare", "levels.csv", *words, "--out", "o.json")
    assert result.exit_code == 0, result.output
    assert json.loads(Path("o.json").read_text())["rows"][0]["hierarchical_f1"] == 1.0


def test_several_sets_are_ranked_and_drawn(palmette, table):
    words = ["--target", "kind", "--separator", " > ", "--splits", 1]
    models = f"{NB},local-per-level-naive-bayes"
    files = ["--diagram", "cd.png", "--out", "o.md", "--resume", "r.jsonl"]
    args = ["compare", "goods.csv", "digits", *words, "--models", models, *files]
    result = palmette(*args)
    assert result.exit_code == 0, result.output
    assert "over 2 data sets, by hier. F1" in result.stdout
    assert "Friedman test: p = " in result.stdout
    assert Path("cd.png").read_bytes().startswith(b"\x89PNG")
    assert "average rank" in Path("o.md").read_text()
    again = palmette(*args)
    assert again.stdout == result.stdout  # times included: nothing was fitted again


def test_a_folder_gets_everything(tmp_path, monkeypatch, capsys):
    from palmette.compare import COSTS, Comparison

    models, sets = ["flat", "mf-tree", "flat-svm"], ["digits", "stdlib"]
    rows = [
        {"dataset": d, "split": f"random-{i}", "test_size": 0.3, "model": m, "h_loss": 0.1 * k + i}
        | dict.fromkeys(COSTS, 1.0)
        for d in sets
        for i in range(3)
        for k, m in enumerate(models)
    ]
    made = Comparison(rows, ("h_loss",), models, sets)
    monkeypatch.setattr("palmette.compare.compare", lambda *args, **options: made)
    compare(
        sets, ",".join(models), "h_loss", posthoc="bonferroni-dunn", control="flat", alpha=0.5,
        out=[tmp_path / "all"],
    )  # fmt: skip
    printed = " ".join(capsys.readouterr().out.split())
    assert "Bonferroni-dunn test against flat at 0.5" in printed
    assert "over 3 splits at 0.5: mf-tree and flat-svm are worse than flat." in printed
    names = {"comparison.json", "comparison.md", "comparison.csv", "critical-difference.svg"}
    assert {path.name for path in (tmp_path / "all").iterdir()} == names
    found = json.loads((tmp_path / "all" / "comparison.json").read_text())
    assert set(found["split_tests"]) == set(sets)
    assert (tmp_path / "all" / "critical-difference.svg").read_text().startswith("<?xml")


def test_equal_models_have_no_significance_but_results(palmette, table):
    words = ["--target", "kind", "--splits", 1, "--models", "flat,flat-logistic"]
    result = palmette("compare", "goods.csv", "digits", *words, "--out", "o.md")
    assert result.exit_code == 0, result.output
    assert "No test of significance: all methods have equal scores" in result.stdout
    assert Path("o.md").exists()


def test_stale_results_are_told(palmette, table):
    words = ["--target", "kind", "--splits", 1, "--models", "flat-naive-bayes"]
    args = ["compare", "goods.csv", *words, "--resume", "r.jsonl"]
    palmette(*args)
    text = Path("goods.csv").read_text()
    Path("goods.csv").write_text(text.replace("red", "pink"))
    assert "computed again, as these have changed: data" in palmette(*args).stdout
    assert "computed again" not in palmette(*args).stdout


def test_an_interrupted_run_says_how_to_go_on(palmette, table, monkeypatch):
    compute = _compare._Run._compute
    calls = []

    def interrupt_the_second(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return compute(*args)

    monkeypatch.setattr(_compare._Run, "_compute", interrupt_the_second)
    words = ["goods.csv", "--target", "kind", "--splits", 1, "--models", NB]
    args = ["compare", *words, "--resume", "r.jsonl"]
    result = palmette(*args)
    assert result.exit_code == 130
    assert result.stderr == (
        "r.jsonl has the finished fits: run the same command again\ninterrupted\n"
    )
    assert palmette(*args).exit_code == 0
    assert len(calls) == 3


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["digits", "--models", "flat-forrest"], "no model 'flat-forrest'"),
        (["digits", "--models", "flat,flat"], "the model 'flat' is named twice"),
        (["digits", "--models", ","], "no model is named"),
        (["digits", "--metrics", "f1"], "there is no score 'f1'"),
        (["digits", "digits"], "the data set 'digits' is listed twice"),
        (["digits", "--jobs", "0"], "got --jobs 0"),
        (["digits", "--posthoc", "tukey"], "--posthoc 'tukey'"),
        (["digits", "--control", "nix", "--posthoc", "wilcoxon-holm"], "--control 'nix'"),
        (["digits", "--alpha", "2"], "--alpha 2.0"),
        (["digits", "--test-size", "1.5"], "--test-size 1.5"),
        (["nofile.csv", "--target", "kind"], "nofile.csv: the file does not exist"),
        (["digits", "nofile.csv", "--target", "kind"], "nofile.csv: the file does not exist"),
        (["goods.csv"], "name the column to predict with --target"),
        (["goods.csv", "--target", "nix"], "no target column 'nix' (there is: price, colour,"),
        (["levels.csv", "--target", "below", "--target", "nix"], "no target column 'nix'"),
        (["digits", "--out", "nowhere/o.md"], "there is no folder nowhere"),
        (["digits", "--out", "o.txt"], "expected one of the suffixes .json, .md, .csv"),
        (["digits", "--out", "folder.md"], "it is a folder"),
        (["digits", "--diagram", "cd.png"], "expected at least two of both, got 4 models and 1"),
        (
            ["digits", "stdlib", "--diagram", "cd.bmp"],
            "expected one of the suffixes .png, .svg, .pdf",
        ),
        (["digits", "--resume", "goods.csv"], "goods.csv:1: this is not a line of comparison"),
        (["digits", "--resume", "nowhere/r.jsonl"], "nowhere/r.jsonl: No such file"),
        (["digits", "--resume", "folder.md"], "folder.md: Is a directory"),
    ],
)
def test_mistakes_show_before_any_fit(fails, table, monkeypatch, words, message):
    Path("folder.md").mkdir()
    monkeypatch.setattr(_compare._Run, "_compute", pytest.fail)
    before = Path("goods.csv").read_bytes()
    assert message in fails("compare", *words)
    assert Path("goods.csv").read_bytes() == before


def test_a_folder_without_leave_to_write(fails, table, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert "no permission to write" in fails("compare", "digits", "--out", "o.md")


def test_no_data_home(fails, monkeypatch):
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    message = fails("compare", "imclef07a")
    assert "export PALMETTE_DATA=/path/to/data" in message
    assert message.count("\n") == 0
    monkeypatch.setenv("PALMETTE_DATA", "/nowhere")
    assert "/nowhere is not a folder" in fails("compare", "imclef07a")


def test_a_diagram_needs_its_packages(fails, table, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    words = ["goods.csv", "digits", "--target", "kind", "--diagram", "cd.png"]
    assert "pip install 'palmette[plot]'" in fails("compare", *words)


def test_usage_mistakes(palmette):
    for words in (["--splits", "0"], ["--seed", "-1"], ["--nonsense"], ["--splits", "many"]):
        result = palmette("compare", "digits", *words)
        assert result.exit_code == 2
        assert "Traceback" not in result.output


@pytest.mark.data
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["naics_2022"], "naics_2022 is a taxonomy without rows"),
        (["digits", "naics_2022"], "naics_2022 is a taxonomy without rows"),
        (["imclef07"], "there is no data set 'imclef07'"),
        (["emotions"], "emotions has several paths"),
    ],
)
def test_mistakes_with_the_data_home(fails, data_home, words, message):
    assert message in fails("compare", *words)


@pytest.mark.data
def test_a_published_set(palmette, data_home, tmp_path):
    out = tmp_path / "o.json"
    models = "flat-extra-trees,local-per-parent-extra-trees"
    result = palmette("compare", "bridges", "--models", models, "--out", out)
    assert result.exit_code == 0, result.output
    assert "bridges, published split" in result.stdout
    assert all(row["hierarchical_f1"] > 0.6 for row in json.loads(out.read_text())["rows"])
