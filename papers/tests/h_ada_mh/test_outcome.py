"""Answers are held as they were given, and come from the store the second time."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from palmette.compare import ResultStore
from papers.cells import Cells
from papers.h_ada_mh.methods import tree_methods
from papers.h_ada_mh.outcome import find_outcome


def test_answers_come_back(setting, outcome_of, tells, stages_to):
    outcome = outcome_of(tells("a", "tree", 3), tells("b", "collapsed", stages=stages_to(0.1)))
    predicted = outcome.answers["a"].predicted
    assert not predicted[:3].any()
    assert (predicted[3:] == setting.tree.truth[3:]).all()
    assert outcome.keys("tree") == ["a"]
    assert outcome.keys("collapsed") == ["b"]
    assert outcome.stages == {"b": stages_to(0.1)}
    assert outcome.level_accuracy["b"] == [1, 1, 1]
    assert outcome.scores["a"]["micro_f1"] < 1


def test_the_second_time_nothing_is_fitted(setting, tells, tmp_path):
    path = tmp_path / "r.jsonl"
    method = tells("a", "tree", 3)
    first = find_outcome(setting, [method], Cells(ResultStore(path), {}))
    silent = dataclasses.replace(method, work=pytest.fail)
    again = find_outcome(setting, [silent], Cells(ResultStore(path), {}))
    np.testing.assert_array_equal(again.answers["a"].predicted, first.answers["a"].predicted)


@pytest.mark.parametrize("change", [{"rounds": 6}, {"seed": 1}])
def test_other_parameters_are_other_cells(setting, tmp_path, change):
    method = next(m for m in tree_methods() if m.key == "AdaBoost.MH")
    store = ResultStore(tmp_path / "r.jsonl")
    find_outcome(setting, [method], Cells(store, {}))
    cells = Cells(store, {})
    find_outcome(dataclasses.replace(setting, **change), [method], cells)
    assert cells.notes == ["toy: computed again, as these have changed: estimator (AdaBoost.MH)"]
    assert len(store) == 2


def test_a_cell_does_not_spell_the_hierarchy(setting, tmp_path):
    method = next(m for m in tree_methods() if m.key == "AdaBoost.MH")
    path = tmp_path / "r.jsonl"
    find_outcome(setting, [method], Cells(ResultStore(path), {}))
    assert "Hierarchy:" not in path.read_text()
