"""Everything together on a small set."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from palmette.compare import ResultStore
from palmette.exceptions import DataHomeError, PalmetteError
from papers.hirr_fs import run as module
from papers.hirr_fs.complexity import STEPS, Curve
from papers.hirr_fs.methods import CHOSEN, METHODS
from papers.hirr_fs.run import make, reproduce

CURVE = Curve("n", {"n": 1}, [1, 2], {step: [1.0, 2.0] for step in STEPS})


def test_two_small_sets_from_end_to_end(problem, tmp_path, monkeypatch):
    seen = []
    store = ResultStore(tmp_path / "r.jsonl")
    options = {"store": store, "watch": lambda *names: seen.append(names)}
    problems = [problem, replace(problem, name="news20_951", X_test=None, y_test=None)]
    monkeypatch.setattr(module, "find_curves", lambda cells, quick: [CURVE])
    result = reproduce(problems, **options, with_couplings=False)
    assert [table.title.partition(".")[0] for table in result.tables] == [
        "Table 2",
        "Table 4",
        "Table 5",
        "Figure 9",
        "Table 3",
        "Table 7",
        "Table 8(c) to (f)",
        "Algorithms 2 to 4, as printed and in turn",
        "Section 3",
    ]
    methods = [*METHODS, CHOSEN]
    assert seen[: len(methods)] == [("toy", method) for method in methods]
    assert len(seen) == 2 * (len(methods) + 1)
    names = [path.name for path in result.write(tmp_path / "out")]
    drawn = [f"figure-{n}" for n in (7, 8, 9, 12, 13)] + ["section-3.4"]
    drawn += [f"figure-{n}" for n in (5, 6, 11)]
    assert names[2:] == [f"{name}.png" for name in drawn]
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert found["scores"]["toy"]["Hier-FS, 4 features"]["f1"] > 0.7
    again = reproduce(problems, **options, with_couplings=False)
    assert len(seen) == 2 * (len(methods) + 1)
    assert again.to_markdown() == result.to_markdown()


def test_rounds_mean_nothing_here(monkeypatch):
    monkeypatch.setattr(module, "read_set", pytest.fail)
    with pytest.raises(PalmetteError, match="rounds=5 was given, but hirr-fs boosts nothing"):
        make(["bridges"], rounds=5)


def test_no_data_home_is_told_before_any_fit(monkeypatch):
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    monkeypatch.setattr(module, "read_set", pytest.fail)
    with pytest.raises(DataHomeError, match="no data home"):
        make(["bridges"])
