"""What the paper says of its own figures, and its three hierarchies."""

from __future__ import annotations

import numpy as np
import pytest

from papers.hirr_fs.complexity import (
    STEPS,
    Curve,
    complexity_table,
    judge_curves,
    make_problem,
    measure_curve,
)
from papers.hirr_fs.figures import draw_figures
from papers.hirr_fs.hierarchies import HIERARCHIES, hierarchy_facts, hierarchy_of
from papers.hirr_fs.methods import PAPER_SECONDS
from papers.hirr_fs.printed import PAPER_GRIDS, TIME_F, judge_printed, printed_grids
from papers.hirr_fs.tables import rank_five, statistic_of


def verdicts(where):
    return [claim.holds for claim in judge_printed() if claim.where == where]


def test_the_printed_f_of_seconds_is_that_of_rounded_ranks():
    found = rank_five(PAPER_SECONDS, "Hier-FS", higher_is_better=False)
    ranks = list(found["average_ranks"].values())
    assert found["statistic"] == pytest.approx(31.0)
    assert statistic_of(ranks, 6) == pytest.approx(31.0)
    assert round(statistic_of([round(rank, 2) for rank in ranks], 6), 2) == TIME_F
    assert verdicts("Figure 10, as printed") == [False]


def test_statements_on_printed_tables():
    for number in (4, 5):
        assert verdicts(f"Table {number}, as printed") == [False, True, True]
    assert verdicts("Table 3, as printed") == [False]  # 4 to 6 times
    assert verdicts("Table 6, as printed") == [True, True, True, False]
    assert verdicts("Table 6, as printed, overlap") == [False]  # 10.5 in common against 13
    assert verdicts("Table 7, as printed") == [False]  # of two proteins HierFisher is slower
    assert verdicts("Figure 8, as printed, alike") == [True]
    assert verdicts("Table 8(a), as printed") == [False, True]
    assert verdicts("Table 8(b), as printed") == [False]
    for part in "cdef":
        assert verdicts(f"Table 8({part}), as printed") == [True]


def test_the_objective_and_its_equations():
    assert verdicts("Section 1") == [False]  # the sibling term is not convex
    assert verdicts("Equations 12 and 25") == [False]


def test_printed_grids_are_complete():
    assert all(np.shape(grid) == (5, 5) for grid in PAPER_GRIDS.values())
    assert PAPER_GRIDS["F194"][0][4] == 0.6329
    assert PAPER_GRIDS["SUN"][4][0] == 0.8374
    assert len(printed_grids().rows) == 20


def test_hierarchies_have_the_numbers_of_table_2():
    assert [hierarchy_of(figure).n_nodes for figure in HIERARCHIES] == [30, 121, 25]
    assert [len(hierarchy_of(figure).leaves) for figure in HIERARCHIES] == [20, 100, 20]
    assert hierarchy_of("figure-5").max_depth == 4
    facts = hierarchy_facts()
    assert draw_figures({"figure-11": facts["figure-11"]})["figure-11.png"][:4] == b"\x89PNG"


def test_exponents_by_hand():
    seconds = {"matrices": [1.0, 4.0], "sweeps": [1.0, 16.0], "descent": [1.0, 2.0]}
    curve = Curve("n", {"n": 1}, [10, 20], seconds)
    assert [round(curve.slope(step), 6) for step in STEPS] == [2.0, 4.0, 1.0]
    (claim,) = judge_curves([curve])
    assert not claim.holds  # 4 is above the 3 of the formula
    assert "matrices 2.00 (formula 2), sweeps 4.00 (formula 3)" in claim.words
    assert complexity_table([curve]).rows[-1] == ("exponent of n", "2.00 (2)", "4.00 (3)", "1.00")


def test_seconds_are_measured():
    found = measure_curve("m", [60], {"n": 10, "m": 60, "d": 2})
    assert {len(seconds) for seconds in found.values()} == {1}
    problem = make_problem(10, 60, 3)
    assert [task.n_options for task in problem.tasks()] == [2, 3, 3]
