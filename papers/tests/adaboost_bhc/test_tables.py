"""Ours beside the paper's, in per cent, milliseconds and ratios."""

from __future__ import annotations

import pytest

from papers.adaboost_bhc.tables import (
    error_tables,
    glass_table,
    growth_tables,
    set_table,
    time_table,
)


def test_exponents_stand_beside_those_of_the_formulas(growth_of):
    exponents, times = growth_tables([growth_of("ECC", 2.0, 0.1), growth_of("MH", 2.0, 1.1)])
    ecc, mh = exponents.rows
    assert ecc == pytest.approx(("ECC", 2.0, 1.0, 2.0, 0.1, 0.0, 0.0, 0.0), abs=1e-9)
    # a weak learner of cost N^2, as measured, makes C^2 of the copies of MH
    assert mh == pytest.approx(("MH", 2.0, 1.0, 2.0, 1.1, 1.0, 2.0, 2.0))
    assert exponents.columns[-1] == "C, if N^2.00"
    assert times.columns == ("method", "N=10", "N=20", "N=40", "C=2", "C=4", "C=8")
    assert times.rows[0][1:4] == pytest.approx((1e5, 4e5, 16e5))
    assert growth_tables([]) == []


def test_sets_of_the_paper(outcome_of):
    table = set_table([outcome_of("glass", has_split=False), outcome_of("own")])
    assert table.rows == [
        ("glass: paper", 214, "CV", 10, 6),
        ("glass: file", 24, "CV", 3, 3),
        ("own: file", 24, 12, 3, 3),
    ]
    (note,) = table.notes
    assert "10 attributes in the paper, 3 in the file" in note
    assert "number of the row" in note


def test_times_and_ratios(outcome_of):
    seconds = {"MH": 6.0, "MI": 4.0, "ECC": 1.0, "BHC": 2.0}
    table = time_table([outcome_of("landsat", seconds=seconds), outcome_of("iris")])
    paper, ours = table.rows
    assert paper[:5] == ("landsat: paper, 100 rounds", 311.8, 331.0, 42.5, 167.1)
    assert paper[5] == pytest.approx(1.866, abs=0.001)
    assert ours == ("landsat: sqrt(d) features per split", 6, 4, 1, 2, 3, 2, 0.5)
    assert table.title == "Table 3. Training time of 2 rounds, s"


def test_errors_in_per_cent(outcome_of):
    one = outcome_of(MH=[0.15, 0.2], MI=0.3, ECC=0.4, BHC=0.1)
    end, train, early, least, least_train = error_tables([one])
    ((_, *errors, standard_error),) = end.rows
    assert errors == pytest.approx([20, 30, 40, 10])
    assert standard_error == pytest.approx(100 * (0.1 * 0.9 / 12) ** 0.5)
    assert train.rows[0][1:] == pytest.approx((10, 15, 20, 5))
    assert early.rows[0][1:] == pytest.approx((17.5, 60, 65, 50))
    assert least.rows[0][1:] == pytest.approx((15, 30, 40, 10))
    assert least_train.rows[0][1:] == pytest.approx((7.5, 15, 20, 5))


def test_splits_of_the_glass_tree(glass):
    table = glass_table(glass)
    assert table.columns[2:] == ("F1", "N1", "N3")
    assert table.rows[:2] == [
        ("x: root", "g | 2 (building windows, not float)", 2.0, 0.5, 0.25),
        ("x: g", "1 (building windows, float) | 5 (containers)", 2.0, 0.5, 0.25),
    ]
    assert table.notes[0] == "start from x: ((1,5)g,2)root;"
