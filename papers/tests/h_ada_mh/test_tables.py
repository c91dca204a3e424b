"""Tables I and II: the counts of both readings, the paper's rows beside ours."""

from __future__ import annotations

import dataclasses

from papers.cells import Cells
from papers.h_ada_mh.outcome import Outcome, find_outcome
from papers.h_ada_mh.tables import score_tables, set_table


def named(outcome: Outcome, name: str) -> Outcome:
    """Pass an outcome off as one of another data set."""
    setting = outcome.setting
    problem = dataclasses.replace(setting.problem, name=name)
    return dataclasses.replace(outcome, setting=dataclasses.replace(setting, problem=problem))


def test_both_readings_are_counted(outcome_of):
    table = set_table([outcome_of()])
    assert table.rows == [
        ("toy: symbols of a level", 30, 30, 7, 2, 3, 4, "12.000 ± 6.000"),
        ("toy: the tree", 30, 30, 10, 5, 3, 4, None),
    ]
    assert table.notes == []


def test_a_set_of_the_paper_is_shown_beside_it(outcome_of):
    table = set_table([named(outcome_of(), "diatoms")])
    assert table.rows[0] == ("diatoms: paper", 2065, 1054, 343, 258, 2, 371, "7.530 ± 7.245")
    assert "343 classes and 258 leaves are NOT the symbols" in table.notes[0]
    assert "(7 and 2)" in table.notes[0]


def test_test_symbols_without_training_rows_are_told(setting):
    problem = setting.problem
    y_train = problem.y_train.copy()
    y_train[y_train == "2/3"] = "2/1/3"
    setting = dataclasses.replace(setting, problem=dataclasses.replace(problem, y_train=y_train))
    table = set_table([find_outcome(setting, [], Cells(None, {}))])
    n_lost = (problem.y_test == "2/3").sum()
    assert f"toy: {n_lost} symbols of the test rows occur in no training row" in table.notes[0]


def test_local_and_global_stand_together(outcome_of, tells):
    methods = [
        dataclasses.replace(tells(key, "tree"), answers={key: title})
        for key, title in (("g", "Global: g"), ("x", "ours"), ("l", "Local: l"))
    ]
    _, table = score_tables([named(outcome_of(*methods), "imclef07a")])
    assert [row[0] for row in table.rows] == [
        "H-Ada.MH (paper)",
        "ours",
        "Local (paper)",
        "Local: l",
        "Global (paper)",
        "Global: g",
    ]
    assert table.rows[0][1:] == (0.7143, 0.5096, 0.7445, 0.075, None)
    assert table.rows[1][1:] == (1.0, 1.0, 1.0, 0.0, 1.0)


def test_the_collapsed_space_is_scored_as_in_the_paper(outcome_of, tells):
    outcome = outcome_of(tells("a", "collapsed", 4))
    collapsed, tree = score_tables([outcome])
    scores = outcome.scores["a"]
    names = ("micro_f1", "macro_f1_by_level", "h_f", "hmc_loss_unscaled", "one_path")
    assert collapsed.rows == [("the a", *(scores[name] for name in names))]
    assert tree.rows == []


def test_agreement_with_the_paper_is_decided_by_the_figures(outcome_of, tells, monkeypatch):
    outcome = named(outcome_of(tells("global-bayes", "collapsed")), "imclef07a")
    table, _ = score_tables([outcome])
    assert table.notes[1] == (
        "With the paper's Global column (to 0.0006) 'the global-bayes' does not agree in Micro-F1, "
        "Macro-F1, H-F, HMC-loss."
    )
    told = {"micro_f1": 0.66335, "macro_f1_by_level": 0.47015, "h_f": 0.5, "hmc_loss_unscaled": 0.0}
    monkeypatch.setitem(outcome.scores, "global-bayes", {**told, "one_path": 1.0})
    table, _ = score_tables([outcome])
    assert table.notes[1] == (
        "With the paper's Global column (to 0.0006) 'the global-bayes' agrees in Micro-F1, "
        "Macro-F1, but does not agree in H-F, HMC-loss."
    )
