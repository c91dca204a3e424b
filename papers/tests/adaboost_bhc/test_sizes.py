"""Rows of nodes, memory, few rows, and the small tables that are added to a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from papers.adaboost_bhc import added as module
from papers.adaboost_bhc.added import find_added
from papers.adaboost_bhc.methods import Protocol
from papers.adaboost_bhc.sizes import (
    find_memory,
    find_nodes,
    find_shortage,
    find_sizes,
    size_tables,
)
from papers.cells import Cells


@pytest.fixture
def cells():
    return Cells(None, {})


def test_rows_of_all_nodes(problem_of, cells):
    """Three classes of eight rows: the root has all of them, the node below it two classes."""
    found = find_sizes(problem_of(), cells)
    assert (found["n_rows"], found["n_classes"], found["node_rows"]) == (24, 3, 24 + 16)
    assert (found["smallest"], found["largest"]) == (8, 8)
    (table,) = size_tables([found])
    assert table.rows[0][2:4] == pytest.approx((40 / 24, np.log2(3)))


def test_memory_of_copies(cells):
    (found,) = find_memory(cells, [(20_000, 16)])
    if found["MH"] is None:
        pytest.skip("the system does not tell")
    copies = 16 * 20_000 * (16 + 16) * 8 / 2**20  # features and classes, in double precision
    assert found["MH"] > copies / 2
    assert found["MI"] < found["MH"]


def test_few_rows_are_enough_with_a_ridge(cells):
    few, many = find_shortage(cells, [(12, 40), (400, 40)], 4)
    assert few["n_found"] <= few["n_draws"] == 4
    assert many["n_found"] >= 3


def test_random_halves_need_larger_trees(cells):
    few, many = find_nodes(cells, (4, 16), 800)
    assert few["ECC"] < many["ECC"]
    assert many["largest"] < many["ECC"]


def test_small_tables_are_those_of_a_run(problem_of, monkeypatch, tmp_path):
    sizes = [{"n_rows": 100, "n_classes": 4, "MI": 1.0, "MH": 2.0}]
    monkeypatch.setattr(module, "find_clouds", lambda cells, seed: (sizes, [], []))
    problems = [problem_of("toy"), problem_of("yeast_uci", has_split=True)]
    options = {"rounds": 2, "protocol": Protocol(2, 1, 1)}
    result = find_added(problems, **options)
    titles = [table.title for table in result.tables]
    assert titles == [
        "Rows of the nodes and of the classes",
        "Memory of a round",
        "Figures 2 to 8. Least test error of a round, %",
        "Figures 2 to 8. Least training error of a round, %",
    ]
    least = result.tables[2].rows
    assert [row[0].split(":")[0] for row in least] == ["yeast_uci", "yeast_uci"]
    result.write(tmp_path / "out")
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert found["claims"] == []
    assert list(found["facts"]) == ["added with"]
    without = find_added(problems, with_curves=False, **options)
    assert [table.title for table in without.tables] == titles[:2]
