"""Everything together on small sets."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from palmette.compare import ResultStore
from palmette.exceptions import DataHomeError, PalmetteError
from papers.registry import run
from papers.soshf import run as module
from papers.soshf.methods import METHODS
from papers.soshf.run import make, reproduce


def test_two_small_sets_from_end_to_end(problem, trees, failing, tmp_path):
    seen = []
    options = {
        "store": ResultStore(tmp_path / "r.jsonl"),
        "watch": lambda *names: seen.append(names),
        "n_splits": 2,
        "methods": [
            trees,
            replace(trees, key="ours"),
            replace(METHODS["ml-knn"], folds=2),
            METHODS["svm-cost"],
            failing,
        ],
    }
    problems = [problem, replace(problem, name="emotions")]
    result = reproduce(problems, **options)
    assert len(seen) == 2 * 2 * (2 + 2 * 2)
    assert [claim.where for claim in result.claims][11:] == [
        "Our default, seconds, toy",
        "Table 1, emotions",
        "Our default, seconds, emotions",
        "Against print, svm-cost",
        "Against print, ml-knn",
        "Our default, macro-AUC",
        "Our default, macro-F",
        "Our default, macro-AUC",
        "Our default, macro-F, thresholds tuned",
    ]
    names = [path.name for path in result.write(tmp_path / "out")]
    assert names == ["tables.md", "results.json", "ranks-all.png", "scores.png"]
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert found["scores"]["toy"]["extra-trees"]["auc"] > 0.8
    assert found["facts"]["splits"] == 2
    assert "cocoa failed" in (tmp_path / "out" / "tables.md").read_text()
    again = reproduce(problems, **options)
    assert len(seen) == 2 * 2 * (2 + 2 * 2)
    assert again.to_markdown() == result.to_markdown()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"n_splits": 8, "quick": False, "minutes": None}),
        ({"quick": True}, {"n_splits": 1, "quick": True, "minutes": None}),
        ({"splits": 3, "minutes": 2.5}, {"n_splits": 3, "quick": False, "minutes": 2.5}),
        ({"quick": True, "splits": 2}, {"n_splits": 2, "quick": True, "minutes": None}),
    ],
)
def test_options_reach_the_work(monkeypatch, options, expected):
    calls = []
    monkeypatch.setattr(module, "check_problem", lambda name: None)
    monkeypatch.setattr(module, "read_set", lambda name: name)
    monkeypatch.setattr(
        module, "reproduce", lambda problems, *_, **told: calls.append((list(problems), told))
    )
    run("soshf", ["yeast", "bibtex"], **options)
    assert calls == [(["yeast", "bibtex"], expected)]


def test_a_quick_look_is_at_two_small_sets(monkeypatch):
    calls = []
    monkeypatch.setattr(module, "check_problem", lambda name: None)
    monkeypatch.setattr(module, "read_set", lambda name: name)
    monkeypatch.setattr(module, "reproduce", lambda problems, *_, **told: calls.append([*problems]))
    run("soshf", quick=True)
    assert calls == [["emotions", "medical"]]


def test_mistakes(monkeypatch):
    monkeypatch.setattr(module, "read_set", pytest.fail)
    with pytest.raises(PalmetteError, match="rounds=5 was given, but soshf boosts nothing"):
        make(["yeast"], rounds=5)
    with pytest.raises(PalmetteError, match="splits=0: expected a positive integer"):
        run("soshf", splits=0)
    with pytest.raises(PalmetteError, match="hirr-fs has no random splits"):
        run("hirr-fs", splits=2)


def test_no_data_home_is_told_before_any_fit(monkeypatch):
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    monkeypatch.setattr(module, "read_set", pytest.fail)
    with pytest.raises(DataHomeError, match="no data home"):
        make(["yeast"])
