"""Errors by round, of models whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.compare import ResultStore
from papers.adaboost_bhc.methods import Protocol
from papers.adaboost_bhc.outcome import (
    Curves,
    find_outcome,
    staged_errors,
)
from papers.cells import Cells

OPTIONS = {"rounds": 3, "protocol": Protocol(2, 1, 2), "seed": 0, "n_jobs": 1}


def test_errors_of_every_round(stages):
    # three rows, then two, then one are said to be "b"; the truth is "a" but for the first row
    y = np.array(["b", "a", "a", "a"])
    assert staged_errors(stages(rounds=3), np.zeros((4, 1)), y, 3) == [0.5, 0.25, 0.0]


def test_boosting_that_ended_early_stays_as_it_was(stages):
    y = np.array(["a"] * 4)
    assert staged_errors(stages(rounds=2), np.zeros((4, 1)), y, 4) == [0.5, 0.25, 0.25, 0.25]


def test_boosting_that_never_began_predicts_all_the_same(stages):
    y = np.array(["b", "a", "a", "a"])
    assert staged_errors(stages(rounds=0), np.zeros((4, 1)), y, 2) == [0.25, 0.25]


def test_means():
    curves = Curves(np.array([[0.4, 0.2], [0.6, 0.0]]), np.ones((2, 2)), np.ones(2))
    np.testing.assert_allclose(curves.mean("train"), [0.5, 0.1])
    assert curves.last("train") == pytest.approx(0.1)
    assert curves.last("test") == 1.0


def test_an_outcome_has_all_fits_of_all_methods(problem_of, method_of, stages):
    methods = [method_of(stages, name) for name in ("MH", "BHC")]
    methods.append(method_of(stages, "MH", "all"))
    outcome = find_outcome(problem_of(), methods, Cells(None, {}), **OPTIONS)
    assert {key: list(found) for key, found in outcome.curves.items()} == {
        "few": ["MH", "BHC"],
        "all": ["MH"],
    }
    curves = outcome.curves["few"]["BHC"]
    assert curves.test.shape == curves.train.shape == (2, 3)
    assert curves.seconds.shape == (2,)


def test_the_second_time_nothing_is_fitted(problem_of, method_of, stages, tmp_path, monkeypatch):
    problem, method = problem_of(has_split=True), method_of(stages)
    path = tmp_path / "r.jsonl"
    first = find_outcome(problem, [method], Cells(ResultStore(path), {}), **OPTIONS)
    monkeypatch.setattr(stages, "fit", pytest.fail)
    again = find_outcome(problem, [method], Cells(ResultStore(path), {}), **OPTIONS)
    np.testing.assert_array_equal(again.curves["few"]["MH"].test, first.curves["few"]["MH"].test)


@pytest.mark.parametrize(("has_split", "n_tested"), [(True, 12), (False, 24)])
def test_the_standard_error_counts_rows_once(outcome_of, has_split, n_tested):
    outcome = outcome_of(has_split=has_split)
    assert outcome.n_tested == n_tested
    assert outcome.standard_error(0.5) == pytest.approx(0.5 / np.sqrt(n_tested))
