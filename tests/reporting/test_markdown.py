"""The report as Markdown."""

from __future__ import annotations

import re

from tests.reporting.known_answers import KnownAnswers, animals, numbered, random_case

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting import report
from palmette.reporting._markdown import to_markdown


def tables(text):
    """Rows of cells of every table; escaped bars are no ends of cells."""
    for block in text.split("\n\n"):
        if block.startswith("|"):
            yield [re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()]


def test_figures_and_sections():
    text = to_markdown(report(*animals(), n_bootstrap=50).facts)
    assert text.startswith("# KnownAnswers on 7 rows\n")
    assert "| Hierarchical F1 | 0.6154 |" in text
    assert (
        "5 of 7 rows are wrong: 3 in another branch, 1 ended too early, 1 ended too deep." in text
    )
    assert "| animal / cat | animal / dog | 1 |" in text
    for title in ("By level", "Errors", "Calibration", "Accuracy and coverage"):
        assert f"## {title}\n" in text


def test_tables_are_rectangles():
    for several in (False, True):
        text = to_markdown(report(*random_case(0, several=several), n_bootstrap=10).facts)
        found = list(tables(text))
        assert len(found) >= 5
        for table in found:
            assert len({len(row) for row in table}) == 1


def test_names_are_no_markup():
    names = ["a|b", "<b>bold</b>", "*stars*", "two\nlines", "[link](x)", "plain"]
    model = KnownAnswers(Hierarchy.star(names), names[::-1])
    text = to_markdown(report(model, numbered(6), names, n_bootstrap=0, title="<i>|").facts)
    assert text.startswith("# \\<i\\>\\|\n")
    assert "<b>" not in text
    assert "\\*stars\\*" in text
    for table in tables(text):
        assert len({len(row) for row in table}) == 1
