"""The numbers of the paper, and its formulas for the cost of a round."""

from __future__ import annotations

import math

import pytest

from palmette.exceptions import PalmetteError
from papers.adaboost_bhc.methods import METHODS, paper_cost, paper_set


@pytest.mark.parametrize("n_classes", [2, 4, 8, 64])
def test_table_1(n_classes):
    linear = {name: paper_cost(name, 100, n_classes, 1) for name in METHODS}
    assert linear == {
        "MH": 100 * n_classes,
        "MI": 100 * n_classes,
        "ECC": 100,
        "BHC": 100 * math.log2(n_classes),
    }
    square = {name: paper_cost(name, 100, n_classes, 2) for name in METHODS}
    assert square == pytest.approx(
        {
            "MH": 10**4 * n_classes**2,
            "MI": 10**4 * n_classes,
            "ECC": 10**4,
            "BHC": 2 * (1 - 1 / n_classes) * 10**4,
        }
    )


def test_a_method_that_is_not_in_the_paper():
    with pytest.raises(PalmetteError, match="method='M1': expected one of MH, MI, ECC, BHC"):
        paper_cost("M1", 1, 2, 1)


def test_sets():
    assert paper_set("digits") is None
    assert [paper_set(name).figure for name in ("iris", "pendigits")] == [2, 8]
    mh, *_, bhc = paper_set("pendigits").seconds
    assert mh / bhc == pytest.approx(6.28, abs=0.01)
