"""Trees beside flat methods: the same words with other figures say the opposite."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.mf_tree.costs import judge_costs
from papers.mf_tree.outcome import Outcome

LITERAL = "MF-Tree as published"


def held(outcomes, words: str) -> list[bool]:
    return [claim.holds for claim in judge_costs(outcomes) if words in claim.words]


@pytest.mark.parametrize(("us", "dots", "verdicts"), [(4.0, 9.0, [True] * 2), (5, 63, [False] * 2)])
def test_time_and_products(outcome_of, tells, us, dots, verdicts):
    flat = [
        tells("one-vs-rest", us=20.0, dots=63.0),
        tells("one-vs-rest, scikit-learn", us=5.0, dots=63.0),
    ]
    outcome = outcome_of([tells(LITERAL, us=us, dots=dots), *flat])
    assert held([outcome], "flat methods") == verdicts


@pytest.mark.parametrize(
    ("accuracy", "dots", "verdicts"), [(0.52, 1.5, [True] * 2), (0.4, 1.6, [False] * 2)]
)
def test_all_pairs(outcome_of, tells, accuracy, dots, verdicts):
    """Six classes have 15 pairs."""
    pairs = tells("DAGSVM", accuracy=accuracy)
    flat = tells("one-vs-rest", accuracy=0.9)
    outcome = outcome_of([tells(LITERAL, dots=dots), tells("CMTL", accuracy=0.5), pairs, flat])
    assert held([outcome], "one-versus-one") == verdicts
    assert held([outcome], "a vote of all pairs takes 15 products") == verdicts[1:]


@pytest.mark.parametrize(("exact", "holds"), [(0.5, True), (0.6, False)])
def test_the_relaxation(outcome_of, tells, exact, holds):
    one_hot = tells("MF-Tree, one-hot router", macro_f1=exact)
    assert held([outcome_of([tells(LITERAL), one_hot])], "the relaxation") == [holds]


@pytest.mark.parametrize(("ours", "verdict"), [(0.4, [True]), (0.3, [False]), (None, [])])
def test_rare_classes(outcome_of, tells, ours, verdict):
    flat = replace(tells("one-vs-rest"), rare_f1=0.3)
    outcome = outcome_of([replace(tells("MF-Tree"), rare_f1=ours), flat])
    assert held([outcome], "helps rare classes") == verdict


@pytest.mark.parametrize(("power", "verdict"), [(0.5, True), (1.2, False)])
def test_growth(tells, power, verdict):
    def outcome(n: int) -> Outcome:
        names = [f"c{i}" for i in range(n)]
        problem = Problem(str(n), Hierarchy.star(names), [[0.0]] * n, names)
        return Outcome(problem, {LITERAL: tells(LITERAL, dots=3 * n**power)}, {})

    outcomes = [outcome(n) for n in (10, 20, 90)]
    assert held(outcomes, f"the power {power:.2f} of") == [verdict]
    assert held(outcomes[:2], "the power") == []
