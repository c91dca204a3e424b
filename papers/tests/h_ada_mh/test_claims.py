"""Claims are judged by figures: the same words with other figures say the opposite."""

from __future__ import annotations

import dataclasses

import pytest

from papers.h_ada_mh.judging import judge


@pytest.mark.parametrize(
    ("ours", "other", "holds", "side"),
    [(0.1, 0.2, True, "below"), (0.2, 0.1, False, "above"), (0.1, 0.1, False, "equal to")],
)
def test_figure_4(outcome_of, tells, stages_to, ours, other, holds, side):
    methods = (
        tells("a", "tree", method="H-Ada.MH", stages=stages_to(ours)),
        tells("b", "tree", method="AdaBoost.MH", stages=stages_to(other)),
        tells("c", "collapsed", method="H-Ada.MH, collapsed", stages=stages_to(other)),
        tells("d", "collapsed", method="AdaBoost.MH, collapsed", stages=stages_to(other)),
    )
    claims = judge([outcome_of(*methods)])
    assert [claim.holds for claim in claims] == [holds, holds, False, False]
    assert claims[2].words.endswith("does not hold in the collapsed space.")
    word = "holds" if holds else "does not hold"
    assert claims[0].words == (
        f"Figure 4, toy: share of wrong cells {ours:.4g} by H-Ada.MH after 2 rounds, {side} the "
        f"{other:.4g} by AdaBoost.MH after 2: the claim of Figure 4 {word} on the tree."
    )


def contest(tells, ours: int, others: int):
    return (
        tells("h-ada-first", "collapsed", ours),
        *(
            tells(key, "collapsed", others)
            for key in ("local-shallow", "global-bayes", "local-forest", "global-forest")
        ),
    )


@pytest.mark.parametrize(("ours", "others", "holds"), [(2, 9, True), (9, 2, False), (4, 4, False)])
def test_table_2_and_figures_5_and_6(outcome_of, tells, ours, others, holds):
    claims = judge([outcome_of(*contest(tells, ours, others))])
    assert [claim.where.split(",")[0] for claim in claims] == [
        "Table II",
        "Table II",
        "Figure 5",
        "Figure 5",
        "Figure 6",
        "Figure 6",
    ]
    assert {claim.holds for claim in claims} == {holds}
    word = "holds" if holds else "does not hold"
    assert all(f"{word} " in claim.words for claim in claims)


def test_what_is_lost_is_named(outcome_of, tells, monkeypatch):
    outcome = outcome_of(*contest(tells, 2, 9))
    scores = outcome.scores["local-forest"]
    monkeypatch.setitem(scores, "macro_f1_by_level", 0.999)
    weak, forests, *_ = judge([outcome])
    assert weak.holds
    assert not forests.holds
    assert "is not better in Macro-F1 (" in forests.words
    assert "the best of them 0.999)" in forests.words


def test_the_paper_excepts_one_figure_itself(outcome_of, tells, monkeypatch):
    outcome = outcome_of(*contest(tells, 2, 9))
    monkeypatch.setitem(outcome.scores["local-forest"], "macro_f1_by_level", 0.999)
    problem = dataclasses.replace(outcome.setting.problem, name="imclef07d")
    setting = dataclasses.replace(outcome.setting, problem=problem)
    renamed = dataclasses.replace(outcome, setting=setting)
    monkeypatch.setitem(renamed.scores["local-forest"], "macro_f1_by_level", 0.999)
    assert [claim.holds for claim in judge([renamed])][:2] == [True, True]


@pytest.mark.parametrize(("ours", "other", "holds"), [(1, 5, True), (5, 1, False)])
def test_consistent_labels(outcome_of, tells, ours, other, holds):
    methods = tells("literal-sign", "tree", ours), tells("mh-sign", "tree", other)
    (claim,) = judge([outcome_of(*methods)])
    assert claim.holds == holds
    assert claim.where == "Section V.E, toy"


def test_no_answers_no_claims(outcome_of):
    assert judge([outcome_of()]) == []
