"""Tables and figures with what the paper prints for DD, as if it had been found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from papers.hirr_fs.figures import draw_figures, figure_facts
from papers.hirr_fs.tables import all_tables

SCORES = {
    "HierFisher": 0.5,
    "HierFSNM": 0.6,
    "HierMRMR": 0.7,
    "Hier_FS": 0.8,
    "HiRRpar_FS": 0.8,
    "HiRRsib_FS": 0.8,
    "HiRRfam_FS": 0.9,
    "HiRRfam_FS, chosen": 0.75,
    "all_features": 0.95,
}


@pytest.fixture
def outcome(outcome_of, printed):
    return replace(outcome_of("protein_dd", [2.0, 1.0], 1.0, **SCORES), parity=printed)


def test_found_and_printed_figures_stand_side_by_side(outcome):
    tables = {table.title.partition(".")[0]: table for table in all_tables([outcome])}
    for row in tables["Tables 4 and 5"].rows:
        if row[2] is not None:
            assert (row[1], row[3]) == (row[2], row[4])
    assert [row[1:] for row in tables["Table 6"].rows] == [(24, "none")] * 5
    for row in tables["Table 8(b)"].rows:
        assert row[1:6] == row[7:]
    assert [row[0] for row in tables["Table 7"].rows] == [
        "protein_dd",
        "protein_dd, authors' protocol",
        "protein_dd, printed",
    ]
    assert tables["Table 3"].rows == [("protein_dd", 1.0, 2.0, 0.858, 0.86)]


def test_honest_scores_and_ranks(outcome):
    tables = {table.title.partition(".")[0]: table for table in all_tables([outcome])}
    row, ranks, chosen = tables["Table 5"].rows
    f1 = ("0.5000", "0.6000", "0.7000", "0.8000", "0.9000", "0.7500", "0.9500")
    assert row == ("protein_dd", 2, *f1)
    assert ranks == ("mean rank", None, "5.00", "4.00", "3.00", "2.00", "1.00", None, None)
    # with chosen strengths in the place of the family
    assert chosen[2:] == ("5.00", "4.00", "3.00", "1.00", None, "2.00", None)
    assert tables["Table 4"].rows[1] == ranks


def test_figures_show_both_protocols(outcome):
    facts = figure_facts([outcome])
    drawn = ["table-6", "figure-7", "figure-8", "figure-9", "figure-13"]
    assert list(facts) == [*drawn, "figure-5", "figure-6", "figure-11"]
    for name in ("figure-7", "figure-9", "figure-13"):
        assert [panel["dataset"] for panel in facts[name]["panels"]] == [
            "protein_dd, authors' protocol",
            "protein_dd",
        ]
    assert len(facts["figure-8"]["panels"]) == 2  # as printed: of one set there are no ranks
    picture = draw_figures({"table-6": facts["table-6"]})
    assert picture["table-6.png"].startswith(b"\x89PNG")
