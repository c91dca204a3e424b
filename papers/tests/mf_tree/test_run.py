"""Everything together: on a small set, and on some rows of a real one."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from palmette._arrays import take_rows
from palmette.compare import Problem, ResultStore
from palmette.exceptions import DataHomeError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from papers import find_published
from papers.mf_tree import run as module
from papers.mf_tree.methods import (
    GENERATED,
    approximations,
    methods,
    plain_trees,
    read_set,
    variants,
)
from papers.mf_tree.run import make, reproduce

SOME = [method for method in methods() if method.key.startswith(("MF-Tree", "CMTL"))]


def test_a_small_set_from_end_to_end(problem, tmp_path):
    seen = []
    store = ResultStore(tmp_path / "r.jsonl")
    chosen = [*SOME, *variants()[-1:], *(approximations()[i] for i in (0, 2, 5)), *plain_trees()]
    options = {"store": store, "watch": lambda *names: seen.append(names), "chosen": chosen}
    result = reproduce([problem], **options)
    assert [table.title for table in result.tables] == [
        "Table 1. The data sets, in place of the paper's",
        "Table 2 of the paper, in part",
        "Table 2. toy",
        "Figure 3. Four classes",
        "Figure 4. toy",
        "Table 3. The first tau levels divided the quick way",
        "Equation 5. toy",
    ]
    assert seen == [("toy", method.key) for method in chosen]
    score_rows = [row[0] for row in result.tables[2].rows]
    assert score_rows[:2] == ["MF-Tree as published", "MF-Tree, one-hot router"]
    assert not any("tau" in title or "p=" in title for title in score_rows)
    assert [row[:2] for row in result.tables[5].rows] == [("toy", tau) for tau in (0, 3, 6)]
    names = [path.name for path in result.write(tmp_path / "out")]
    assert names[2:] == [f"figure-{n}.png" for n in (2, 3, 4, 5)]
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(found["scores"]["toy"]) == sum(len(method.answers) for method in chosen)
    again = reproduce([problem], **options)
    assert len(seen) == len(chosen)
    assert again.to_markdown() == result.to_markdown()


def test_several_sets_are_shown_side_by_side(problem):
    chosen = [method for method in methods() if method.key in ("MF-Tree, binary", "DAGSVM")]
    result = reproduce([problem, replace(problem, name="other")], chosen=chosen)
    table = next(table for table in result.tables if "at a glance" in table.title)
    assert table.columns == ("method", "toy", "other")
    titles, first, second = zip(*table.rows, strict=True)
    assert titles == ("MF-Tree, binary, greedy", "MF-Tree, binary, beam 5", "DAGSVM")
    assert first == second
    assert first[2] == "1.000 (5)"


@pytest.mark.data
@pytest.mark.usefixtures("data_home")
def test_some_rows_of_a_real_set():
    whole = read_set("imclef07a")
    some = np.arange(0, len(whole.y_train), 8)  # they come by class
    problem = replace(whole, X_train=take_rows(whole.X_train, some), y_train=whole.y_train[some])
    keys = ("MF-Tree as published", "MF-Tree", "MF-Tree, binary", "RDM", "one-vs-rest")
    result = reproduce([problem], chosen=[m for m in methods() if m.key in keys])
    scores = result.scores["imclef07a"]
    ours, literal = scores["MF-Tree"], scores["MF-Tree as published"]
    assert ours["accuracy"] > 0.65 > 0.55 > literal["accuracy"]
    assert scores["MF-Tree, binary, beam 5"]["accuracy"] > 0.65
    n_classes = len(set(problem.y_train))
    assert scores["one-vs-rest"]["dot_products"] == n_classes
    assert scores["MF-Tree, binary, greedy"]["dot_products"] < n_classes / 3
    assert {"figure-2", "figure-4", "figure-5"} <= result.figures.keys()


def test_rounds_mean_nothing_here(monkeypatch):
    monkeypatch.setattr(module, "read_set", pytest.fail)
    with pytest.raises(PalmetteError, match="rounds=5 was given, but mf-tree boosts nothing"):
        make(["letter"], rounds=5)


def test_no_data_home_is_told_before_any_fit(monkeypatch):
    monkeypatch.delenv("PALMETTE_DATA", raising=False)
    monkeypatch.setattr(module, "read_set", pytest.fail)
    with pytest.raises(DataHomeError, match="no data home"):
        make(["letter"])


def chosen_for(n_classes: int, X: object = None) -> set[str]:
    names = [f"c{i}" for i in range(n_classes)]
    X = np.zeros((n_classes, 1)) if X is None else X
    problem = Problem("many", Hierarchy.star(names), X, names)
    every = [*methods(), *variants(), *approximations(), *plain_trees()]
    return {method.key for method in every if module._is_feasible(method, problem)}


def test_what_is_left_out_of_many_classes():
    """No pairs of classes, and no classifier of all rows for every class."""
    some, many = chosen_for(100), chosen_for(1000)
    assert some >= {"DAGSVM", "one-vs-rest", "DRHL", "RNMF as published", "RNMF, p=3", "MarginTree"}
    assert some > many
    assert many >= {"MF-Tree as published", "MF-Tree", "RNMF", "RDM", "CMTL", "MF-Tree, tau=3"}
    left = ("DAGSVM", "one-vs-rest", "DRHL", "RNMF as", "RNMF, p", "RDM as", "RDM, p", "Margin")
    assert not any(key.startswith(left) for key in many)


def test_hulls_of_few_classes_with_dense_rows_only():
    assert "MarginTree" not in chosen_for(150)
    assert "MarginTree" not in chosen_for(20, sparse.csr_array((20, 1)))


def test_the_set_of_many_classes_is_one_of_the_usual_ones():
    assert GENERATED in find_published("mf-tree").datasets
