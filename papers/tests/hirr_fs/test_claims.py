"""Statements of the paper, judged on outcomes made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from papers.hirr_fs.authors import FoldScores
from papers.hirr_fs.judging import judge
from papers.hirr_fs.parity import Exchange, judge_parity

FIVE = {"HierFisher": 0.5, "HierFSNM": 0.6, "HierMRMR": 0.7, "Hier_FS": 0.8}


def verdicts(claims, where):
    return [claim.holds for claim in claims if claim.where == where]


@pytest.mark.parametrize(("family", "holds"), [(0.9, True), (0.75, False)])
def test_the_family_is_best_or_not(outcome_of, family, holds):
    claims = judge([outcome_of(**FIVE, HiRRfam_FS=family)])
    assert verdicts(claims, "Table 5, toy") == [holds]


def test_without_a_method_nothing_is_said(outcome_of):
    claims = judge([outcome_of(**FIVE)])
    assert verdicts(claims, "Table 5, toy") == []
    assert claims == []


@pytest.mark.parametrize(("every", "holds"), [(0.804, True), (0.81, False)])
def test_few_features_do_as_well_as_all_or_not(outcome_of, every, holds):
    claims = judge([outcome_of(**FIVE, all_features=every)])
    assert verdicts(claims, "Figure 7, toy") == [holds]
    assert verdicts(claims, "Table 3, toy") == [True]  # a second against two


@pytest.mark.parametrize(
    ("values", "lowest", "holds"),
    [([3.0, 2.0, 1.0], 1.0, True), ([3.0, 2.0, 1.1], 1.0, False), ([1.0, 2.0, 1.0], 1.0, False)],
)
def test_the_objective_falls_and_settles_or_not(outcome_of, values, lowest, holds):
    claims = judge([outcome_of(objective=values, lowest=lowest)])
    assert verdicts(claims, "Figure 13, toy") == [holds]


def test_ranks_over_sets(outcome_of):
    sets = [outcome_of(f"set {n}", **FIVE, HiRRfam_FS=0.9) for n in range(8)]
    claims = judge(sets)
    assert verdicts(claims, "Figure 8, 8 sets") == [True, True, False]
    assert verdicts(claims, "Figure 10, 8 sets") == [False]  # seconds by the lengths of names


def test_on_texts_few_features_are_compared(outcome_of):
    claims = judge([outcome_of("news20_951", **FIVE)])
    assert verdicts(claims, "Figure 12, news20_951") == [True]


def test_what_is_printed_agrees_with_itself(printed):
    holds = [claim.holds for claim in judge_parity(printed)]
    # five columns; the few as all but for .005; the family above parents above siblings; Table 6;
    # Table 8 with its axes exchanged only; settled; first
    assert holds == [True] * 5 + [True, True, True, False, True, True, True]


def test_a_tie_is_no_lead(outcome_of):
    claims = judge([outcome_of(**FIVE, HiRRfam_FS=0.8, HiRRpar_FS=0.8, HiRRsib_FS=0.8)])
    assert verdicts(claims, "Table 5, toy") == [False]
    assert verdicts(claims, "Figure 9, toy") == [False, False, False]
    claims = judge([outcome_of(**FIVE, HiRRfam_FS=0.9, HiRRpar_FS=0.8, HiRRsib_FS=0.7)])
    assert verdicts(claims, "Figure 9, toy") == [True, True, True]


def test_chosen_strengths_are_judged_where_there_are_some(outcome_of):
    def claims(own, strengths):
        found = outcome_of(**FIVE, HiRRfam_FS=0.8, **{"HiRRfam_FS, chosen": own})
        claims = judge([replace(found, strengths=strengths)])
        return [one for one in claims if one.where == "Chosen, Table 5, toy"]

    chosen, above, rivals = claims(0.82, [[0.0, 0.0], [1.0, 0.1]])
    assert "0 and 0 in 1; 1 and 0.1 in 1 of 2 parts; couplings are chosen." in chosen.words
    assert (chosen.holds, above.holds, rivals.holds) == (True, True, True)
    assert [one.holds for one in claims(0.65, [[1.0, 0.1]])] == [True, False, False]
    chosen, rivals = claims(0.8, [[0.0, 0.0]])
    assert not chosen.holds
    assert "which is Hier-FS" in chosen.words
    assert rivals.holds


def test_documents_are_evenly_distributed_or_not(outcome_of):
    found = outcome_of("news20_951", **FIVE)
    assert verdicts(judge([found]), "Section 4.4.6, news20_951") == [True]
    odd = replace(found, problem=replace(found.problem, y_train=["a"] * 50))
    odd.problem.y_train[:10] = ["b"] * 10
    assert verdicts(judge([odd]), "Section 4.4.6, news20_951") == [False]


def test_an_exchange_that_gives_the_printed_digits_is_told_with_the_search(printed):
    other, same = FoldScores(0.85, 0.88, 0.088), FoldScores(0.8524, 0.886, 0.0886)
    tried = [Exchange("a", 41, other), Exchange("b", 43, same)]
    found = [
        one
        for one in judge_parity(replace(printed, exchanges=tried))
        if "exchanges of one feature" in one.words
    ]
    (claim,) = found
    assert claim.holds
    assert "of 2 exchanges" in claim.words
    assert "1 gives the printed F1" in claim.words
    assert "node b, rank 43" in claim.words
    claims = judge_parity(replace(printed, exchanges=tried[:1]))
    assert [one.holds for one in claims if "exchanges of one feature" in one.words] == [False]


def test_a_digit_that_differs_is_told(printed):
    printed.curves["HierFisher"][40] = FoldScores(0.7742, 1.355, 0.1355)
    claim = judge_parity(printed)[0]
    assert not claim.holds
    assert "HierFisher has F1 0.7742000000 (printed 0.7741)" in claim.words
