"""Everything together on a small set: tables, claims, figures and files."""

from __future__ import annotations

import json

import pytest

from palmette.cli.bench import run_bench
from palmette.compare import ResultStore
from palmette.exceptions import DataHomeError
from papers.h_ada_mh import run as module
from papers.h_ada_mh.collapsed import collapsed_methods
from papers.h_ada_mh.methods import tree_methods
from papers.h_ada_mh.run import make, reproduce


def test_a_small_set_from_end_to_end(problem, tmp_path):
    seen = []
    store = ResultStore(tmp_path / "r.jsonl")
    methods = [m for m in (*collapsed_methods(), *tree_methods()) if "forest" not in m.key]
    options = {"rounds": 4, "store": store, "watch": lambda *names: seen.append(names)}
    options["methods"] = methods
    result = reproduce([problem], **options)
    assert [table.title for table in result.tables] == [
        "Table I. The data sets",
        "Table II. toy, the collapsed space",
        "Table II. toy, the tree",
        "Tuned baselines",
    ]
    assert [claim.where for claim in result.claims if "toy" not in claim.where] == [
        "Figure 1",
        "Figure 2",
        "Equation 6, as printed",
    ]
    chosen = result.tables[-1].rows
    assert [row[2] for row in chosen] == ["level 1", "level 2", "level 3", "all"]
    assert all("var_smoothing=" in row[3] for row in chosen)
    assert result.facts["rounds"] == {"toy": 4}
    assert len(seen) == len(methods)
    names = [path.name for path in result.write(tmp_path / "out")]
    assert names[2:] == [f"figure-{n}.png" for n in (3, 4, 5, 6, 7)]
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(found["scores"]["toy"]) == sum(len(method.answers) for method in methods)
    again = reproduce([problem], **options)
    assert len(seen) == len(methods)
    assert again.to_markdown() == result.to_markdown()


def test_the_paper_sets_rounds_and_levels(monkeypatch):
    seen = []
    monkeypatch.setattr(module, "check_problem", lambda name: None)
    monkeypatch.setattr(module, "find_outcome", lambda setting, *_: seen.append(setting) or stub)
    stub = type("Stub", (), {"name": "x"})
    monkeypatch.setattr(module, "find_problem", lambda name: type("P", (), {"name": name}))
    for name in (
        "set_table",
        "score_tables",
        "chosen_table",
        "judge",
        "judge_equation_6",
        "judge_printed",
        "judge_words",
        "figure_facts",
        "_titled_scores",
    ):
        monkeypatch.setattr(module, name, lambda *_: [])
    stub.setting = type("S", (), {"rounds": 1})
    make(["imclef07a", "diatoms"])
    make(["diatoms"], rounds=7)
    assert [(s.rounds, s.quick_rounds, s.n_levels) for s in seen] == [
        (600, None, 3),
        (200, None, 2),
        (7, 7, 2),
    ]


def test_no_data_home_is_told_before_any_fit(monkeypatch):
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    monkeypatch.setattr(module, "find_outcome", pytest.fail)
    with pytest.raises(DataHomeError, match="no data home"):
        make(["imclef07a"])


@pytest.mark.data
def test_the_command_on_a_published_set(data_home, monkeypatch, capsys):
    monkeypatch.setattr(module, "tree_methods", lambda: [])
    bayes = [m for m in collapsed_methods() if m.key == "naive Bayes per level"]
    monkeypatch.setattr(module, "collapsed_methods", lambda: bayes)
    run_bench("h-ada-mh", data=["imclef07a"])
    text = " ".join(capsys.readouterr().out.split())
    assert "'Global: naive Bayes per level' agrees in Micro-F1, Macro-F1, HMC-loss, but" in text
