"""`palmette fit`: options reach the function, models reach the disk, mistakes show at once."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from tests.table.goods import make_goods

from palmette import Hierarchy
from palmette.base._scratch import Scratch
from palmette.cli.fit import fit
from palmette.exceptions import AmbiguousTableError
from palmette.persistence import load

QUICK = ("--model", "class-tree", "--folds", "0")


@pytest.fixture
def goods(tmp_path, monkeypatch):
    """Make the table of goods, in the working folder."""
    monkeypatch.chdir(tmp_path)
    table = make_goods()[["title", "kind"]]  # texts alone are quickest to store
    table.to_csv("goods.csv", index=False)
    return table


def test_every_option_is_a_parameter(parse):
    parameters = parse(
        fit,
        *["a.csv", "b.csv", "--target", "x", "--target", "y", "--out", "m.palmette"],
        *["--hierarchy", "t.txt", "--model", "flat", "--time", "5", "--set", "C=2"],
        *["--separator", ">", "--labels-separator", ";", "--merge-case"],
        *["--max-depth", "3", "--yes", "--verbose"],
        *["--column", "a=text", "--drop", "b"],
        *["--text", "hashing", "--folds", "4", "--calibrate", "sigmoid", "--coverage", ".9"],
        *["--search", "--use-labels", "--language", "fi"],
        *["--class-weight", "balanced", "--corrections", "r.csv", "--seed", "3", "--jobs", "2"],
        *["--memory", "2.5", "--scratch", "s", "--workers", "2", "--scheduler", "tcp://h:1"],
        *["--format", "tsv", "--encoding", "latin-1"],
        *["--delimiter", ";", "--sheet", "one", "--decimal", ",", "--date-format", "d=%d.%m.%Y"],
        *["--no-header", "--skip-bad-rows", "--bad-rows", "b.csv"],
    )  # fmt: skip
    assert parameters == {
        "table": ["a.csv", "b.csv"],
        "target": ["x", "y"],
        "out": Path("m.palmette"),
        "hierarchy": "t.txt",
        "model": "flat",
        "time": 5.0,
        "settings": ["C=2"],
        "separator": ">",
        "labels_separator": ";",
        "merge_case": True,
        "max_depth": 3,
        "yes": True,
        "verbose": True,
        "columns": ["a=text"],
        "drop": ["b"],
        "text": "hashing",
        "folds": 4,
        "calibrate": "sigmoid",
        "coverage": 0.9,
        "workers": 2,
        "scheduler": "tcp://h:1",
        "memory": 2.5,
        "scratch": Path("s"),
        "search": True,
        "use_labels": True,
        "language": "fi",
        "class_weight": "balanced",
        "corrections": Path("r.csv"),
        "seed": 3,
        "n_jobs": 2,
        "format": "tsv",
        "encoding": "latin-1",
        "delimiter": ";",
        "sheet": "one",
        "decimal": [","],
        "date_format": ["d=%d.%m.%Y"],
        "header": False,
        "skip_bad_rows": True,
        "bad_rows": Path("b.csv"),
    }


def test_one_call_of_the_library(palmette, called, goods):
    calls = called("palmette.table.fit_table")
    Path("goods.txt").write_bytes(Path("goods.csv").read_bytes())
    result = palmette(
        *["fit", "goods.txt", "--target", "x", "--target", "y", "--out", "m.palmette"],
        *["--hierarchy", "t.txt", "--model", "flat", "--time", "0", "--set", "C=2"],
        *["--separator", ">", "--labels-separator", ";", "--merge-case"],
        *["--max-depth", "3", "--yes", "--verbose"],
        *["--column", "a=b=text", "--drop", "b"],
        *["--text", "hashing", "--folds", "4", "--calibrate", "sigmoid", "--coverage", ".9"],
        *["--search", "--class-weight", "balanced", "--corrections", "r.csv"],
        *["--seed", "3", "--jobs", "2"],
        *["--use-labels", "--language", "fi", "--memory", "2.5", "--scratch", "s"],
        *["--format", "csv", "--encoding", "latin-1"],
        *["--delimiter", ";", "--decimal", ",", "--date-format", "d=%d.%m.%Y", "--no-header"],
        *["--bad-rows", "b.csv"],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (((source, target), options),) = calls
    assert (source.name, source.format, target) == ("goods.txt", "csv", ["x", "y"])
    assert (source.encoding, source.delimiter, source.header) == ("latin-1", ";", False)
    del options["watch"], options["tell"]
    assert options == {
        "hierarchy": "t.txt",
        "model": "flat",
        "time": None,
        "settings": {"C": 2},
        "separator": ">",
        "labels_separator": ";",
        "merge_case": True,
        "max_depth": 3,
        "yes": True,
        "verbose": True,
        "columns": {"a=b": "text"},
        "drop": ["b"],
        "decimal": ",",
        "date_format": {"d": "%d.%m.%Y"},
        "skip_bad_rows": False,
        "bad_rows": Path("b.csv"),
        "text": "hashing",
        "folds": 4,
        "calibrate": "sigmoid",
        "coverage": 0.9,
        "search": True,
        "class_weight": "balanced",
        "corrections": Path("r.csv"),
        "use_labels": True,
        "language": "fi",
        "seed": 3,
        "n_jobs": 2,
        "memory": 2.5,
        "scratch": Path("s"),
        "client": None,
    }


def test_the_example_of_the_help_works(palmette, goods):
    text = re.sub(r"\s+", " ", palmette("fit", "--help").stdout.replace("│", " "))
    example = re.search(r"Example: palmette (fit \S+ --target \S+ --out \S+)", text)[1]
    goods.rename(columns={"kind": "category"}).to_csv("products.csv", index=False)
    result = palmette(*example.split(), *QUICK)
    assert result.exit_code == 0, result.output
    assert "wrote model.palmette" in result.stdout
    assert "paths with the separator ' > '" in result.stderr
    assert load("model.palmette").summary_["rows"] == 80


def test_a_leaderboard_with_the_baseline(palmette, goods, monkeypatch):
    from palmette.table import _fit as module
    from palmette.table._candidates import Candidate

    names = [Candidate("class-tree"), Candidate("flat-linear"), Candidate("flat", "not today")]
    monkeypatch.setattr(module, "choose", lambda situation: names)
    result = palmette("fit", "goods.csv", "--target", "kind", "--folds", 2)
    assert result.exit_code == 0, result.output
    assert "baseline" in result.stdout
    assert "not tried: flat (not today)" in result.stdout
    assert re.search(r"on the same 2 folds: class-tree [01]\.\d+, the baseline", result.stdout)
    assert Path("model.palmette").is_file()


def test_the_leaderboard_says_how_many_folds_there_was_time_for(palmette, goods, monkeypatch):
    from palmette.table import _fit as module
    from palmette.table._candidates import Candidate

    quick = [Candidate("flat-naive-bayes"), Candidate("flat-linear")]
    monkeypatch.setattr(module, "choose", lambda situation: quick)
    words = ["goods.csv", "--target", "kind", "--out", "m.palmette", "--time"]
    result = palmette("fit", *words, 0)
    assert "over 10 folds, fitted on 72 rows each" in result.stdout
    assert "no time" not in result.stdout
    monkeypatch.setattr(module.Tournament, "_finer_seconds", lambda game, names: 1e6)
    result = palmette("fit", *words, 60)
    assert re.search(r"over 3 folds, fitted on 5\d rows each", result.stdout)
    assert result.stdout.count("no time for 10 folds") == 2


def test_figures_of_fewer_rows_or_folds_are_apart(capsys):
    from palmette.cli import fit as module

    def entry(model, f1, folds, rows, note=""):
        scores = {"hierarchical_f1": f1, "accuracy": f1, "hierarchical_f1_by_fold": [f1] * folds}
        spread = 0.01 if folds > 1 else None
        facts = {"folds": folds, "rows": rows, "hierarchical_f1_std": spread, "fit_seconds": 1.0}
        return {"model": model, **scores, **facts, "probabilities": True, "note": note}

    board = [
        entry("class-tree", 0.8, 3, 2000), entry("flat-linear", 0.7, 3, 2000),
        entry("mf-tree", 0.95, 1, 2000, "behind"), entry("flat-forest", 0.9, 1, 1000),
    ]  # fmt: skip
    facts = {"leaderboard": board, "winner": "class-tree", "rows_fitted": 3000, "seed": 0}
    model = SimpleNamespace(summary_={**facts, "fit_seconds": 1.0, "seconds": 2.0})
    module._print_result(model, Path("m.palmette"))
    lines = [line.split("  ")[0].strip() for line in capsys.readouterr().out.splitlines()]
    titles = [i for i, line in enumerate(lines) if line.startswith(("over ", "on "))]
    assert [lines[i] for i in titles] == [
        "over 3 folds, fitted on 2,000 rows each",
        "on 1 fold only, fitted on 2,000 rows: not to be compared with the figures above",
        "on 1 fold only, fitted on 1,000 rows: not to be compared with the figures above",
    ]
    place = {name: lines.index(name) for name in ("flat-linear", "mf-tree", "flat-forest")}
    assert titles[0] < place["flat-linear"] < titles[1] < place["mf-tree"] < titles[2]
    assert titles[2] < place["flat-forest"]


def test_a_learnt_tree_is_written_beside_the_model(palmette, goods):
    words = ["--hierarchy", "learn:agglomerative", "--out", "m.palmette"]
    result = palmette("fit", "goods.csv", "--target", "kind", *words, *QUICK)
    assert result.exit_code == 0, result.output
    assert "wrote m.tree.json, the learned hierarchy" in result.stdout
    assert Hierarchy.read("m.tree.json") == load("m.palmette").hierarchy_


@pytest.mark.parametrize("method", ["homer", "bhc", "mf", "relaxed"])
@pytest.mark.parametrize("target", ["kind", "sold"])
def test_a_tree_is_learnt_from_one_label_or_several(palmette, goods, method, target):
    frame = make_goods()
    frame["sold"] = [kind if i % 3 else f"{kind}|cheap" for i, kind in enumerate(frame["kind"])]
    frame[["price", target]].to_csv("sold.csv", index=False)
    mark = ["--labels-separator", "|"] if target == "sold" else []
    words = ["--target", target, "--hierarchy", f"learn:{method}", "--folds", 0]
    result = palmette("fit", "sold.csv", *words, *mark, "--model", "local-per-node")
    assert result.exit_code == 0, result.output
    tree = Hierarchy.read("model.tree.json")
    labels = set(frame["kind"]) | ({"cheap"} if target == "sold" else set())
    assert set(tree.names[tree.leaves]) == labels
    result = palmette("predict", "model.palmette", "sold.csv", "--out", "found.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv("found.csv")["prediction"].dropna()
    assert set(found.str.split("|").explode()) <= labels


def test_standard_input(palmette, goods, monkeypatch):
    import io

    class Input:
        buffer = io.BytesIO(Path("goods.csv").read_bytes())

    monkeypatch.setattr("palmette.table._sources.sys.stdin", Input)
    fit("-", ["kind"], Path("m.palmette"), model="class-tree", folds=0)
    assert load("m.palmette").summary_["rows"] == 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv", "--target", "kind"], "none.csv: the file does not exist"),
        (["goods.csv", "--target", "knd"], "there is no target column 'knd' (there is: title"),
        (
            ["goods.csv", "--target", "kind", "--out", "m.pkl"],
            "expected one of the suffixes .palmette",
        ),
        (["goods.csv", "--target", "kind", "--out", "no/m.palmette"], "there is no folder no"),
        (["goods.csv", "--target", "kind", "--model", "bosting"], "there is no model 'bosting'"),
        (["goods.csv", "--target", "kind", "--text", "bag"], "expected tfidf or hashing"),
        (["goods.csv", "--target", "kind", "--column", "title"], "expected NAME=KIND"),
        (["goods.csv", "--target", "kind", "--jobs", "0"], "got --jobs 0"),
        (
            ["goods.csv", "--target", "kind", "--hierarchy", "no.txt"],
            "no.txt: the file does not exist",
        ),
        (
            ["goods.csv", "--target", "kind", "--model", "class-tree", "--set", "beam=3"],
            "class-tree has no parameter 'beam'",
        ),
    ],
)
def test_mistakes_are_one_message_and_no_file(fails, goods, words, message):
    assert message in fails("fit", *words)
    assert not list(Path().glob("*.palmette"))


@pytest.mark.parametrize("fault", ["is full", "has vanished"])
def test_a_scratch_folder_that_fails_leaves_nothing(palmette, goods, monkeypatch, fault):
    def write(self, name, array):
        with self._explaining():
            raise OSError(errno.ENOSPC, "") if fault == "is full" else FileNotFoundError(self.path)

    monkeypatch.setattr(Scratch, "append", write)
    words = ("--target", "kind", "--memory", "1e-9", "--scratch", ".")
    result = palmette("fit", "goods.csv", *words, *QUICK)
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert "rows, which do not fit in memory: a fit to all rows in memory needs about" in told
    assert "GiB in the scratch folder" in told
    assert re.search(rf"error: the scratch folder \S+ {fault}.*: nothing was fitted", told)
    assert [path.name for path in Path().iterdir()] == ["goods.csv"]


def test_the_summary_is_in_the_file(palmette, goods):
    palmette("fit", "goods.csv", "--target", "kind", "--seed", 5, *QUICK)
    summary = load("model.palmette").summary_
    assert summary["seed"] == 5
    assert summary["columns"] == {"title": "text"}
    assert json.loads(json.dumps(summary)) == summary


def test_a_target_that_is_no_class_is_refused_unless_yes(palmette, fails, goods):
    make_goods().to_csv("goods.csv", index=False)
    words = ["fit", "goods.csv", "--target", "price", *QUICK]
    error = fails(*words)
    assert re.search(r"'price' has \d+ different numbers.*pass --yes", error)
    result = palmette(*words, "--yes")
    assert result.exit_code == 0, result.output
    assert "each of them would be a class" in result.stderr


@pytest.mark.parametrize(("answer", "code"), [("1", 0), ("0", 2)])
def test_a_terminal_is_asked(goods, monkeypatch, answer, code):
    from palmette.cli import _terminal

    class Terminal:
        isatty = staticmethod(lambda: True)

    error = AmbiguousTableError("What?", [("so", {"yes": True})])
    monkeypatch.setattr(_terminal, "sys", SimpleNamespace(stdin=Terminal, stderr=Terminal))
    monkeypatch.setattr(_terminal.typer, "prompt", lambda *words, **options: int(answer))
    if code:
        with pytest.raises(AmbiguousTableError, match="What"):
            _terminal.ask(error)
    else:
        assert _terminal.ask(error) == {"yes": True}


def test_every_column_is_shown_with_verbose(palmette, goods):
    table = make_goods().assign(number=range(1, 81))
    table.to_csv("goods.csv", index=False)
    result = palmette("fit", "goods.csv", "--target", "kind", "--max-depth", 2, "--verbose", *QUICK)
    assert result.exit_code == 0, result.output
    lines = [re.sub(r"  +", "|", line) for line in result.stderr.splitlines()]
    assert "number|left out: running numbers" in lines
    assert any(line.startswith("since|date|'20") for line in lines)
    (target,) = (line for line in lines if line.startswith("kind|target: paths with the separator"))
    assert "cut at 2 levels" in target
    assert re.search(r"'(\w+) > (\w+)': \1, then \2$", target)
    assert "|hierarchy: 6 nodes, 4 leaves, depth 2" in lines


def test_paths_are_cut_wherever_labels_are_read(palmette, goods):
    out = ["--out", "m.palmette"]
    result = palmette("fit", "goods.csv", "--target", "kind", "--max-depth", 1, *out, *QUICK)
    assert result.exit_code == 0, result.output
    assert set(load("m.palmette").classes_) == {("Food",), ("Tools",)}
    for words in (["eval", "m.palmette", "goods.csv"], ["report", "m.palmette", "goods.csv"]):
        result = palmette(*words)
        assert result.exit_code == 0, result.output
    error = palmette("fit", "goods.csv", "--target", "kind", "--max-depth", 0).stderr
    assert "--max-depth" in error
