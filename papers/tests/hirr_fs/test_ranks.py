"""Friedman's test of the printed table."""

from __future__ import annotations

import pytest

from papers.hirr_fs.methods import PAPER_CD, PAPER_F1, PAPER_SECONDS
from papers.hirr_fs.tables import rank_five


def test_the_printed_ranks_come_out():
    found = rank_five(PAPER_F1, "HiRRfam-FS", higher_is_better=True)
    ranks = [round(rank, 2) for rank in found["average_ranks"].values()]
    assert ranks == [4.33, 4.33, 3.33, 1.67, 1.33]
    assert found["critical_difference"] == pytest.approx(PAPER_CD, abs=5e-4)
    assert found["alike"] == ["HierMRMR", "Hier-FS", "HiRRfam-FS"]


def test_what_ran_out_of_memory_is_last_in_time_too():
    found = rank_five(PAPER_SECONDS, "Hier-FS", higher_is_better=False)
    ranks = [round(rank, 2) for rank in found["average_ranks"].values()]
    assert ranks == [1.5, 4.67, 4.33, 1.67, 2.83]


def test_one_set_is_too_few():
    assert rank_five({"a": [1, 2, 3, 4, 5]}, "Hier-FS", higher_is_better=True) is None
