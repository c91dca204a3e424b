"""Printed numbers beside ours: what agrees is counted, and what does not is told."""

from __future__ import annotations

import dataclasses

import pytest

from papers.h_ada_mh.outcome import Outcome
from papers.h_ada_mh.printed import chosen_table, judge_equation_6, judge_printed
from papers.h_ada_mh.tables import paper_set

NAMES = ("micro_f1", "macro_f1_by_level", "h_f", "hmc_loss_unscaled")


def named(outcome: Outcome, name: str) -> Outcome:
    """Pass an outcome off as one of another data set."""
    problem = dataclasses.replace(outcome.setting.problem, name=name)
    setting = dataclasses.replace(outcome.setting, problem=problem)
    return dataclasses.replace(outcome, setting=setting)


def found(outcome: Outcome, where: str) -> list:
    return [claim for claim in judge_printed([outcome]) if claim.where.startswith(where)]


def scored(outcome_of, tells, monkeypatch, key: str, values) -> Outcome:
    outcome = named(
        outcome_of(*(tells(k, "collapsed") for k in ("h-ada-first", "mh-first"))), "diatoms"
    )
    monkeypatch.setitem(outcome.scores, key, dict(zip(NAMES, values, strict=True)))
    return outcome


def test_other_sets_have_nothing_printed(outcome_of):
    assert list(judge_printed([outcome_of()])) == []


def test_the_shape_of_a_set(outcome_of):
    (claim,) = found(named(outcome_of(), "diatoms"), "Table I")
    assert not claim.holds
    assert claim.so == (0, 4)
    assert "30 training rows (2,065 printed)" in claim.words
    assert "3 levels (2 printed)" in claim.words


def test_rounds_that_are_not_reached_say_why(outcome_of, tells, stages_to):
    stages = {**stages_to(0.1), "rounds": [1, 5]}
    tree = tells("a", "tree", method="H-Ada.MH", stages=stages_to(0.1))
    collapsed = tells("b", "collapsed", method="H-Ada.MH, collapsed", stages=stages)
    few, all_rounds = found(named(outcome_of(tree, collapsed), "diatoms"), "Section V.B")
    assert not few.holds
    assert "on the tree has 2 of 5 rounds, after which no weak learner has an edge" in few.words
    assert all_rounds.holds
    assert all_rounds.words.endswith("in the collapsed space has 5 of 5 rounds.")


@pytest.mark.parametrize(
    ("changes", "n_near"),
    [((0, 0, 0, 0), 4), ((0.029, -0.031, 0, 0), 3), ((0, 0, 0.2, 0.0013), 2), ((1, 1, 1, 1), 0)],
)
def test_numbers_that_come_out_are_counted(outcome_of, tells, monkeypatch, changes, n_near):
    printed = paper_set("diatoms").scores["H-Ada.MH"]
    values = [a + b for a, b in zip(printed, changes, strict=True)]
    outcome = scored(outcome_of, tells, monkeypatch, "h-ada-first", values)
    (claim,) = found(outcome, "Against print")
    assert claim.so == (n_near, 4)
    assert claim.holds == (n_near == 4)
    assert f"Micro-F1 {values[0]:.3f} (0.487 printed)" in claim.words


def test_the_printed_column_is_nearer_to_one_of_two(outcome_of, tells, monkeypatch):
    printed = paper_set("diatoms").scores["H-Ada.MH"]
    outcome = scored(outcome_of, tells, monkeypatch, "mh-first", [1.1 * p for p in printed])
    (claim,) = found(outcome, "Column of H-Ada.MH")
    assert not claim.holds
    assert "10.0% from AdaBoost.MH: nearer to AdaBoost.MH." in claim.words
    monkeypatch.setitem(outcome.scores, "h-ada-first", dict(zip(NAMES, printed, strict=True)))
    (claim,) = found(outcome, "Column of H-Ada.MH")
    assert claim.holds
    assert "0.0% from H-Ada.MH" in claim.words


def test_equation_6_as_printed(outcome_of):
    (claim,) = judge_equation_6([outcome_of()])
    assert not claim.holds
    # seven equal weights; 1/1/0 and 1/2/0 are only children
    assert "by level are 0.14, 0.14, 0.14; only children (2 of toy) divide by zero" in claim.words


def test_what_was_chosen_is_told(outcome_of, tells):
    outcome = outcome_of(tells("a", "tree"))
    told = dataclasses.replace(outcome, chosen={"a": {"all": "depth=2 (of 3)"}})
    assert chosen_table([outcome, told]).rows == [("toy", "the a", "all", "depth=2 (of 3)")]
