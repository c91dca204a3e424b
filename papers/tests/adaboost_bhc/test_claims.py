"""Claims are judged by figures: the same words with other figures say the opposite."""

from __future__ import annotations

import pytest

from papers.adaboost_bhc.tables import judge


def verdict(claims, part):
    """Return the only claim whose words have a part."""
    (found,) = (claim for claim in claims if part in claim.words)
    assert (" and holds (" in found.words) == found.holds
    partly = found.so is not None and 0 < found.so[0] < found.so[1]
    assert (" and holds partly (" in found.words) == partly
    assert (" and does not hold (" in found.words) == (not found.holds and not partly)
    return found


@pytest.mark.parametrize(
    ("exponents", "holds"),
    [
        ({"MH": 1, "MI": 1.1, "ECC": 0, "BHC": 0.4}, True),
        ({"MH": 0.3, "MI": 1, "ECC": 0, "BHC": 0.4}, False),
        ({"MH": 1, "MI": 1, "ECC": 0.5, "BHC": 0.4}, False),
    ],
)
def test_table_1(growth_of, exponents, holds):
    growths = [growth_of(name, 1.0, power) for name, power in exponents.items()]
    claim, _ = judge([], growths)
    assert claim.holds == holds
    assert claim.words.endswith(f"most {'holds' if holds else 'does not hold'}.")
    assert f"BHC {exponents['BHC']:.2f}" in claim.words


@pytest.mark.parametrize(
    ("by_rows", "exponents", "near"),
    [
        # log2 of 2, 4, 8 grows like C to the power of .79
        (1.1, {"MH": 1.1, "MI": 0.9, "ECC": 0.1, "BHC": 0.8}, "MH, MI, ECC, BHC"),
        (1.1, {"MH": 2.0, "MI": 0.8, "ECC": 0.1, "BHC": 0.8}, "ECC, BHC"),
        (1.8, {"MH": 2.0, "MI": 1.0, "ECC": 0.1, "BHC": 0.4}, "MH, MI, ECC, BHC"),
        (1.8, {"MH": 1.0, "MI": 2.0, "ECC": 1.0, "BHC": 1.0}, "none"),
    ],
)
def test_the_formulas_of_table_1(growth_of, by_rows, exponents, near):
    growths = [growth_of(name, by_rows, power) for name, power in exponents.items()]
    _, claim = judge([], growths)
    assert claim.holds == (near == "MH, MI, ECC, BHC")
    assert f"of cost N^{round(by_rows)}," in claim.words
    assert f"within 0.15 of them for {near}: " in claim.words


def test_figure_1(glass):
    first, second = judge([], glass=glass)
    assert first.holds
    assert not second.holds
    assert "are not the classes of any node" in second.words


@pytest.mark.parametrize(
    ("seconds", "fastest", "faster"),
    [
        ({"MH": 3, "MI": 3, "ECC": 1, "BHC": 2}, True, True),
        ({"MH": 3, "MI": 2, "ECC": 1, "BHC": 2}, True, False),
        ({"MH": 3, "MI": 3, "ECC": 2, "BHC": 1}, False, True),
    ],
)
def test_table_3(outcome_of, seconds, fastest, faster):
    claims = judge([outcome_of("landsat", seconds=seconds)])
    assert verdict(claims, "ECC is trained fastest").holds == fastest
    assert verdict(claims, "BHC is trained faster than MH and MI").holds == faster


def test_small_sets_are_not_timed(outcome_of):
    assert not any("trained" in claim.words for claim in judge([outcome_of("iris")]))


def test_among_the_best_is_within_a_standard_error(outcome_of):
    # over 12 rows the standard error of .25 is .125
    near = outcome_of("a", MH=0.25, BHC=0.37)
    far = outcome_of("b", MH=0.25, BHC=0.38)
    assert verdict(judge([near]), "always among the best").holds
    claim = verdict(judge([near, far]), "always among the best")
    assert not claim.holds
    assert "is so on 1 of 2 sets" in claim.words
    assert claim.so == (1, 2)
    assert "b 38.00%, best MH 25.00% ± 12.50% (not so)" in claim.words


@pytest.mark.parametrize(("n_others", "holds"), [(1, True), (2, False)])
def test_most_is_more_than_half(outcome_of, n_others, holds):
    ours = [outcome_of(f"a{i}", MH=0.1, ECC=0.9, BHC=0.3) for i in range(2)]
    others = [outcome_of(f"b{i}", MI=0.1, ECC=0.2, BHC=0.3) for i in range(n_others)]
    claims = judge([*ours, *others])
    assert verdict(claims, "BHC or MH is best on most sets").holds == holds
    assert verdict(claims, "ECC errs more than BHC").holds == holds


@pytest.mark.parametrize(("ours", "other", "holds"), [(0.2, 0.3, True), (0.3, 0.3, False)])
def test_the_beginning(outcome_of, ours, other, holds):
    claims = judge([outcome_of(BHC=[ours, 0.1], MH=[other, 0.1])])
    assert verdict(claims, "errs less than MH at first").holds == holds


@pytest.mark.parametrize(("course", "holds"), [([0.1, 0.6], True), ([0.6, 0.1], False)])
def test_mi_rises_where_classes_are_unbalanced(outcome_of, course, holds):
    claims = judge([outcome_of("yeast_uci", MI=course), outcome_of("iris", MI=[0.5, 0.1])])
    claim = verdict(claims, "both errors of MI rise")
    assert claim.holds == holds
    assert "of 1 sets" in claim.words


def test_every_weak_learner_is_judged(outcome_of):
    outcome = outcome_of()
    outcome.curves["all"] = outcome.curves["few"]
    wheres = [claim.where for claim in judge([outcome])]
    assert wheres == [
        *["Figures 2 to 8, sqrt(d) features per split"] * 4,
        *["Figures 2 to 8, all features"] * 4,
    ]


def test_nothing_measured_no_claims():
    assert judge([]) == []
