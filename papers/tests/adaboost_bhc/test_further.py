"""Tables and claims of what the paper does not print."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.metrics import problem_complexity
from papers.adaboost_bhc.further import (
    Further,
    find_hardness,
    further_tables,
    pair_tables,
    tree_methods,
)
from papers.adaboost_bhc.judging import further_claims, words_claims
from papers.adaboost_bhc.outcome import Curves, Outcome
from papers.cells import Cells


@pytest.fixture
def further_of(outcome_of):
    def make(copies=0.1, margin=0.1, seconds=6.0, bhc_f1=9.0):
        base = outcome_of(MH=0.1, BHC=0.1, seconds={"BHC": 2.0})
        one = Curves(np.full((1, 2), copies), np.full((1, 2), copies), np.array([seconds]))
        other = Curves(np.full((1, 2), margin), np.full((1, 2), margin), np.array([1.0]))
        copied = Outcome(base.problem, 2, {"few": {"MH over copies": one}})
        trees = {"BHC": base.curves["few"]["BHC"], "margin tree": other, "random tree": other}
        easy = {"fisher_ratio": bhc_f1, "linear_error": 0.1, "boundary_share": 0.1}
        hard = {"fisher_ratio": 1.0, "linear_error": 0.2, "boundary_share": 0.2}
        kinds = ("BHC tree", "margin tree", "random tree", "one against the rest (MI)")
        hardness = {kind: {**hard, "neighbor_error": 0.2} for kind in (*kinds, "halves (ECC)")}
        hardness["BHC tree"] = {**easy, "neighbor_error": 0.1}
        return Further(copied, base, Outcome(base.problem, 2, {"few": trees}), hardness)

    return make


def test_tables(further_of):
    copies, trees, hard = further_tables([further_of()])
    assert copies.rows[0][1:3] == pytest.approx((10.0, 10.0))
    assert copies.rows[0][7] == pytest.approx(3.0)
    assert trees.rows[0][1:4] == pytest.approx((10.0, 10.0, 10.0))
    assert hard.rows[0][0] == "toy: BHC tree"
    assert further_tables([]) == []


def test_claims_hold_or_do_not(further_of):
    good = list(further_claims([further_of()], []))
    assert [claim.holds for claim in good if "all features" not in claim.where] == [True] * 7
    bad = [
        claim.holds
        for claim in further_claims([further_of(0.9, 0.9, 1.0, 0.5)], [])
        if "all features" not in claim.where
    ]
    assert bad == [False, False, False, True, True, True, False]


def test_exponents_are_compared_with_those_of_the_formulas(growth_of):
    told = {"MH": 2.0, "MI": 1.0, "ECC": 0.0, "BHC": 0.3}
    growths = [growth_of(name, 2.0, power) for name, power in told.items()]
    (claim,) = further_claims([], growths)
    assert claim.holds, claim.words
    exponents, _ = pair_tables(growths)
    assert exponents.rows[0][1:4] == pytest.approx((2.0, 2.0, 2.0))
    (wrong,) = further_claims([], [growth_of(name, 2.0, 3.0) for name in told])
    assert not wrong.holds


def test_hardness_is_that_of_the_problems(problem_of):
    problem = problem_of()
    found = find_hardness(problem, Cells(None, {}), 0)
    sides = [problem_complexity(problem.X_train, problem.y_train == k) for k in "abc"]
    rest = found["one against the rest (MI)"]
    assert rest["neighbor_error"] == pytest.approx(np.mean([one.neighbor_error for one in sides]))
    assert rest["fisher_ratio"] == pytest.approx(np.median([one.fisher_ratio for one in sides]))


def test_other_trees_are_learnt():
    names = [type(method.make(2, 0, 1).tree).__name__ for method in tree_methods()]
    assert names == ["MarginTree", "RandomTree"]


def test_what_is_said_in_passing(outcome_of):
    """The formula, the protocol, the sizes of classes, and methods that do not suffer."""
    outcomes = [
        outcome_of("yeast_uci", has_split=False, MH=0.2, BHC=0.2, ECC=[0.1, 0.9]),
        outcome_of("landsat", MH=0.1, BHC=0.9),
    ]
    found = {claim.where: claim for claim in words_claims(outcomes)}
    assert [key.split(",")[0] for key in found] == [
        "Section 4",
        "Section 5",
        "Section 5",
        "Abstract",
        "Section 5",
    ]
    assert "8 of 24 rows" in found["Section 5, class sizes"].words
    assert "test parts of landsat, none of yeast_uci" in found["Section 5, protocol"].words
    assert "1 of 2 sets" in found["Abstract, sqrt(d) features per split"].words
    steady = found["Section 5, unbalanced, sqrt(d) features per split"].words
    assert "2 of 3 methods" in steady
    assert "ECC 10.00% at least, 90.00% at last (not so)" in steady
    assert [claim.where for claim in words_claims([])] == ["Section 4, formula"]
