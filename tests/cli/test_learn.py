"""`palmette learn`: a hierarchy from a table, drawn, compared and written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from palmette.cli.learn import learn
from palmette.cli.main import app
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.models import list_tree_learners

KINDS = ("Food > Fruit", "Food > Fish", "Tools > Saws", "Tools > Nails")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Make a table of four clouds, two near each other and two far off, in the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 4
    frame = pd.DataFrame(rng.normal(0, 0.1, (40, 2)), columns=["x", "y"])
    frame["x"] += np.array([0.0, 1.0, 9.0, 9.0])[codes]
    frame["y"] += np.array([0.0, 0.0, 9.0, 8.0])[codes]
    frame["kind"] = [KINDS[code] for code in codes]
    frame["labels"] = [["a;b", "a;b", "c;d", "c;d"][code] for code in codes]
    frame.to_csv("goods.csv", index=False)
    frame.drop(columns="labels").to_json("goods.jsonl", orient="records", lines=True)
    return tmp_path


def test_every_option_is_a_parameter(parse):
    parameters = parse(
        learn,
        *["a.csv", "--target", "x", "--target", "y", "--method", "mf-tree"],
        *["--separator", "/", "--labels-separator", ";", "--merge-case", "--compare", "t.json"],
        *["--column", "zip=category", "--drop", "id", "--skip-bad-rows"],
        *["--max-depth", "2", "--sheet", "one"],
        *["--set", "branching=4", "--lines", "9", "--seed", "3", "--jobs", "2"],
        *["--out", "a.svg", "--out", "b.nwk", "--excel-safe"],
    )
    assert parameters == {
        "data": "a.csv",
        "target": ["x", "y"],
        "method": "mf-tree",
        "separator": "/",
        "labels_separator": ";",
        "merge_case": True,
        "columns": ["zip=category"],
        "drop": ["id"],
        "skip_bad_rows": True,
        "max_depth": 2,
        "sheet": "one",
        "compare": Path("t.json"),
        "settings": ["branching=4"],
        "lines": 9,
        "seed": 3,
        "n_jobs": 2,
        "out": [Path("a.svg"), Path("b.nwk")],
        "excel_safe": True,
    }
    defaults = parse(learn, "digits")
    assert defaults.pop("data") == "digits"
    assert (defaults.pop("method"), defaults.pop("lines"), defaults.pop("n_jobs")) == ("bhc", 40, 1)
    assert not any(defaults.values())


@pytest.mark.parametrize("method", ["bhc", "mf-tree", "agglomerative", "cmtl"])
def test_near_classes_come_together(palmette, table, method):
    words = ["--target", "kind", "--target", "labels"][:2]
    result = palmette("learn", "goods.jsonl", *words, "--method", method, "--out", "tree.json")
    assert result.exit_code == 0, result.output
    tree = Hierarchy.read("tree.json")
    assert sorted(tree.names[tree.leaves]) == ["Fish", "Fruit", "Nails", "Saws"]
    assert tree.distance("Fish", "Fruit") == tree.distance("Nails", "Saws") == 2
    assert "compared with the hierarchy of goods.jsonl over 4 classes" in result.stdout
    assert "100.0%" in result.stdout


def test_all_formats_are_written(palmette, table):
    suffixes = ["json", "nwk", "dot", "txt", "edges", "csv", "svg", "html"]
    out = [word for suffix in suffixes for word in ("--out", f"tree.{suffix}")]
    result = palmette("learn", "goods.jsonl", "--target", "kind", *out)
    assert result.exit_code == 0, result.output
    tree = Hierarchy.read("tree.json")
    assert all(Hierarchy.read(f"tree.{suffix}") == tree for suffix in ["nwk", "txt", "edges"])
    assert Hierarchy.read("tree.csv") == tree
    assert Path("tree.svg").read_text().startswith("<svg")
    assert "<details" in Path("tree.html").read_text()


def test_the_hardest_nodes_are_printed_and_written(palmette, table):
    words = ["--target", "kind", "--method", "agglomerative"]
    out = ["--out", "tree.json", "--out", "tree.html", "--out", "tree.nwk"]
    result = palmette("learn", "goods.jsonl", *words, *out)
    assert result.exit_code == 0, result.output
    assert "how hard 3 nodes are to divide: mean N1 " in result.stdout
    assert "Fish | Fruit" in result.stdout or "Fruit | Fish" in result.stdout
    facts = json.loads(Path("tree.json").read_text())["complexity"]
    assert facts["n_nodes"] == len(facts["nodes"]) == 3
    assert Hierarchy.read("tree.json") == Hierarchy.read("tree.nwk")
    page = Path("tree.html").read_text()
    assert page.count("<tr>") == 4
    assert page.endswith("</body></html>\n")


def test_comparison_with_a_file(palmette, table):
    Path("other.txt").write_text("x > Fish\nx > Nails\ny > Fruit\ny > Saws\ny > Hammers\n")
    words = ["--target", "kind", "--method", "agglomerative", "--compare", "other.txt"]
    result = palmette("learn", "goods.jsonl", *words)
    assert result.exit_code == 0, result.output
    assert "compared with other.txt over 4 classes (1 only in the other)" in result.stdout
    row = next(
        line for line in result.stdout.splitlines() if line.startswith("precision of its groups")
    )
    assert row.split()[-2] == "0.0%"


@pytest.mark.parametrize(
    "options", [["bhc"], ["homer", "--set", "branching=2"], ["mf"], ["agglomerative"]]
)
def test_label_sets(palmette, table, options):
    words = ["--target", "labels", "--labels-separator", ";", "--merge-case", "--method", *options]
    result = palmette("learn", "goods.csv", *words, "--out", "tree.json")
    assert result.exit_code == 0, result.output
    tree = Hierarchy.read("tree.json")
    assert tree.distance("a", "b") == tree.distance("c", "d") == 2


def test_labels_of_one_per_row_are_grouped_by_homer(palmette, table):
    words = ["--target", "kind", "--method", "homer", "--set", "branching=2"]
    result = palmette("learn", "goods.jsonl", *words, "--out", "tree.json")
    assert result.exit_code == 0, result.output
    tree = Hierarchy.read("tree.json")
    assert sorted(tree.names[tree.leaves]) == ["Fish", "Fruit", "Nails", "Saws"]


def test_a_learned_dag_is_drawn_and_written(palmette, table):
    options = ["--method", "relaxed", "--set", "rho=0.0", "--set", "max_copies=3"]
    result = palmette("learn", "goods.csv", "--target", "kind", *options, "--out", "dag.json")
    assert result.exit_code == 0, result.output
    dag = Hierarchy.read("dag.json")
    assert not dag.is_tree
    assert dag.n_leaves == 4
    assert "4 classes; learned by relaxed" in result.stdout


def test_a_dag_is_not_compared(palmette, table, monkeypatch):
    dag = Hierarchy.from_edges([("r", "Fish"), ("r", "g"), ("g", "Fish"), ("g", "Saws")])
    dag.write("dag.json")
    words = ["--target", "kind", "--compare", "dag.json"]
    result = palmette("learn", "goods.jsonl", *words)
    assert result.exit_code == 0, result.output
    assert "dag.json is a DAG, and only trees are compared" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["goods.csv"], "name the column to predict with --target"),
        (["nix.csv", "--target", "kind"], "nix.csv: the file does not exist"),
        (["goods.csv", "--target", "nix"], "no target column 'nix'"),
        (["goods.csv", "--target", "kind", "--method", "bhs"], "Did you mean bhc?"),
        (["goods.csv", "--target", "kind", "--set", "x"], "got --set 'x': expected key=value"),
        (["goods.csv", "--target", "kind", "--set", "x=1"], "bhc has no parameter 'x'"),
        (["goods.csv", "--target", "kind", "--jobs", "0"], "got --jobs 0"),
        (
            ["goods.csv", "--target", "kind", "--out", "tree.xyz"],
            "expected one of the suffixes .json, .nwk",
        ),
        (
            ["goods.csv", "--target", "kind", "--compare", "no.txt"],
            "no.txt: the file does not exist",
        ),
    ],
)
def test_mistakes(fails, table, words, message):
    assert message in fails("learn", *words)


def test_the_help_names_all_methods():
    command = typer.main.get_command(app).commands["learn"]
    [option] = [each for each in command.params if each.name == "method"]
    for spec in list_tree_learners():
        assert re.search(rf"\b{spec.name}\b", option.help), spec.name
