"""Everything together on small sets: tables, claims, figures and files."""

from __future__ import annotations

import json

import pytest

from palmette.compare import ResultStore
from palmette.exceptions import DataHomeError
from papers.adaboost_bhc import run as module
from papers.adaboost_bhc.judging import judge_tables
from papers.adaboost_bhc.methods import PAPER_PROTOCOL, Protocol
from papers.adaboost_bhc.outcome import Grid
from papers.adaboost_bhc.run import make, reproduce

GRID = Grid((40, 80), (2, 4), 4, 80, n_repeats=1)
CLOUDS = ([], [], [])  # no memory, nodes or few rows
SMALL = {"protocol": Protocol(2, 1, 1), "grid": GRID, "pair_grid": GRID}


def test_a_small_set_from_end_to_end(problem_of, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_clouds", lambda cells, seed: CLOUDS)
    seen = []
    store = ResultStore(tmp_path / "r.jsonl")
    options = {"rounds": 2, "store": store, "watch": lambda *names: seen.append(names), **SMALL}
    result = reproduce([problem_of("toy", has_split=True)], **options)
    assert [table.title.split(".")[0] for table in result.tables] == [
        "Table 1",
        "Table 1",
        "Table 2",
        "Table 3",
        *["Figures 2 to 8"] * 5,
        "AdaBoost",
        "AdaBoost",
        "How hard the binary problems are",
        "Table 1",
        "Table 1",
        "Rows of the nodes and of the classes",
    ]
    # three sizes by four methods by two kinds of weak learners, one test part by four methods by
    # two weak learners, MH over copies with these, two other trees, the hardness of problems, and
    # the rows of nodes
    assert len(seen) == 24 + 8 + 2 + 2 + 1 + 1
    assert result.facts["rounds"] == 2
    names = [path.name for path in result.write(tmp_path / "out")]
    assert names == ["tables.md", "results.json", "figure-toy.png"]
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    stored = [vars(claim) for claim in judge_tables(found["tables"], found["scores"])]
    assert json.loads(json.dumps(stored)) == found["claims"]
    assert len(found["scores"]["toy"]) == 8
    again = reproduce([problem_of("toy", has_split=True)], **options)
    assert len(seen) == 38
    assert again.to_markdown() == result.to_markdown()


@pytest.mark.data
def test_sets_of_the_paper(data_home, monkeypatch):
    monkeypatch.setattr(module, "Protocol", lambda: SMALL["protocol"])
    monkeypatch.setattr(module, "find_growth", lambda *_: [])
    monkeypatch.setattr(module, "find_pair_growth", lambda *_: [])
    monkeypatch.setattr(module, "find_clouds", lambda cells, seed: CLOUDS)
    result = make(["glass", "vehicle"], rounds=3)
    assert [claim.holds for claim in result.claims if claim.where == "Figure 1"] == [True, True]
    notes = next(table for table in result.tables if table.title.startswith("Table 2")).notes
    assert notes == [
        "glass: 10 attributes in the paper, 9 in the file (the number of the row is no attribute "
        "here)."
    ]
    assert list(result.figures) == ["figure-1", "figure-3", "figure-vehicle"]
    for method, found in result.scores["vehicle"].items():
        # guessing is wrong three times in four; a colouring a round has seen little after three
        assert 0.15 < found["test_error"] < (0.65 if method.startswith("ECC") else 0.4)


@pytest.mark.parametrize(
    ("options", "protocol", "timed"),
    [
        ({}, Protocol(4, 3, 5), True),
        ({"splits": 10}, PAPER_PROTOCOL, True),
        ({"quick": True}, Protocol(4, 1, 4), False),
        ({"quick": True, "splits": 2}, Protocol(4, 2, 8), False),
    ],
)
def test_splits_reach_the_protocol_of_the_paper(monkeypatch, options, protocol, timed):
    seen = []
    monkeypatch.setattr(module, "check_problem", lambda name: None)
    monkeypatch.setattr(module, "reproduce", lambda *args, **given: seen.append(given))
    make([], **options)
    assert seen == [{"protocol": protocol, "timed": timed}]


def test_rounds_are_those_of_the_paper(monkeypatch):
    seen = []
    monkeypatch.setattr(module, "find_growth", lambda _, __, grid, *___: seen.append(grid) or [])
    monkeypatch.setattr(module, "find_pair_growth", lambda *_: [])
    monkeypatch.setattr(module, "find_clouds", lambda cells, seed: CLOUDS)
    assert reproduce([]).facts["rounds"] == 100
    assert reproduce([], rounds=3).facts["rounds"] == 3
    assert [grid.rounds for grid in seen] == [20, 3]


def test_no_data_home_is_told_before_any_fit(monkeypatch):
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    monkeypatch.setattr(module, "find_growth", pytest.fail)
    with pytest.raises(DataHomeError, match="no data home"):
        make(["iris"])
