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


def test_copies_are_slower_and_err_as_much(further_of, judged):
    def found(**options):
        one = further_of(**options)
        claims = judged([one.same_part], further=[one])
        return [claim for claim in claims if claim.where.startswith("Section 3, copies")]

    slower, same = found()  # a set that is not in the paper has no printed ratio
    assert slower.holds
    assert same.holds
    assert "toy: 3.00 times" in slower.words
    assert "scikit-learn" in slower.words
    slower, same = found(copies=0.9, seconds=1.0)
    assert not slower.holds
    assert not same.holds


def test_problems_of_trees_and_margin_trees(further_of, judged):
    def found(part, **options):
        one = further_of(**options)
        claims = judged([one.same_part], further=[one])
        return [claim.holds for claim in claims if part in claim.words]

    assert found("easier than those of MI and ECC") == [True] * 4
    assert found("easier than those of MI and ECC", bhc_f1=0.5) == [False, True, True, True]
    assert found("easier than those of a random tree", bhc_f1=1.0) == [False, True, True, True]
    assert found("was fitted over a margin tree", margin=0.9) == [True]
    assert found("it errs no more than over a BHC tree", margin=0.1) == [True]
    assert found("it errs no more than over a BHC tree", margin=0.9) == [False]


def test_an_infinite_ratio_is_stored_as_nothing_and_is_easy(further_of, judged):
    one = further_of(bhc_f1=None)
    (claim,) = (
        claim
        for claim in judged([one.same_part], further=[one])
        if claim.where == "Section 4, by F1" and "of MI and ECC" in claim.words
    )
    assert claim.holds
    assert "BHC inf, MI 1" in claim.words


def test_pair_tables(growth_of):
    exponents, _ = pair_tables([growth_of("MH", 2.0, 2.0)])
    assert exponents.rows[0][1:4] == pytest.approx((2.0, 2.0, 2.0))
