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
        f"Figure 4, toy: share of wrong cells {ours:.4g} by H-Ada.MH after 2 of 5 rounds (then no "
        f"weak learner has an edge), {side} the {other:.4g} by AdaBoost.MH after 2 of 5 rounds "
        f"(then no weak learner has an edge): the claim of Figure 4 {word} on the tree."
    )


def test_all_rounds_are_not_explained(outcome_of, tells, stages_to):
    stages = {**stages_to(0.1), "rounds": [1, 5]}
    methods = (tells(key, "tree", method=key, stages=stages) for key in ("H-Ada.MH", "AdaBoost.MH"))
    claim = judge([outcome_of(*methods)])[0]
    assert "by H-Ada.MH after 5 rounds, equal to" in claim.words


def contest(tells, ours: int, others: int):
    return (
        tells("h-ada-first", "collapsed", ours),
        *(
            tells(key, "collapsed", others)
            for key in (*PAIRS["weak"], *PAIRS["full"], *PAIRS["tuned"])
        ),
    )


PAIRS = {
    "weak": ("local-shallow", "global-bayes"),
    "full": ("local-forest", "global-forest"),
    "tuned": ("local-level-tuned", "global-bayes-tuned"),
}


@pytest.mark.parametrize(("ours", "others", "holds"), [(2, 9, True), (9, 2, False), (4, 4, False)])
def test_table_2_and_figures_5_and_6(outcome_of, tells, ours, others, holds):
    found = judge([outcome_of(*contest(tells, ours, others))])
    claims = [claim for claim in found if not claim.where.startswith("Section V.E")]
    places = [place for place in ("Table II", "Figure 5", "Figure 6") for _ in PAIRS]
    assert [claim.where.split(",")[0] for claim in claims] == places
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


# of 30 rows, so many are silent, and have no path
@pytest.mark.parametrize(
    ("ours", "other", "said"),
    [(1, 15, "more"), (15, 1, "fewer"), (4, 6, "level"), (6, 4, "level"), (4, 4, "level")],
)
@pytest.mark.parametrize(
    ("mine", "theirs", "space", "place"),
    [
        ("h-ada-first", "local-shallow", "collapsed", "in the collapsed space"),
        ("h-ada-first", "global-bayes-tuned", "collapsed", "in the collapsed space"),
        ("literal-sign", "mh-sign", "tree", "on the tree"),
    ],
)
def test_consistent_labels(
    outcome_of, tells, monkeypatch, ours, other, said, mine, theirs, space, place
):
    outcome = outcome_of(tells(mine, space, ours), tells(theirs, space, other))
    answers = outcome.setting.answers(space)
    monkeypatch.setattr(type(answers), "is_one_path", lambda self, rows: rows.any(axis=1))
    claims = [c for c in judge([outcome]) if c.where == "Section V.E, consistent, toy"]
    (claim,) = claims
    assert claim.holds == (said == "more")
    assert f"toy: {place} {1 - ours / 30:.3f} of the rows" in claim.words
    assert claim.words.endswith(f": {said}.")
    # the rows of the smaller number are among those of the larger one
    share = abs(other - ours) / 30
    error = (share * (1 - share) / 30) ** 0.5
    assert f"(difference {(other - ours) / 30:+.3f} ± {error:.3f})" in claim.words


def test_no_answers_no_claims(outcome_of):
    assert judge([outcome_of()]) == []
