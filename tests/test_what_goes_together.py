"""The page on what goes together is what the command prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.what_goes_together import learner_row, learners, page, row_of, takers

import palmette

PAGE = Path(__file__).parents[1] / "docs" / "what_goes_together.md"


def test_every_estimator_has_a_row():
    """``python -m tests.what_goes_together > docs/what_goes_together.md`` makes the page anew."""
    found = [line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert sorted(found) == sorted(each.__name__ for each in [*takers(), *learners()])


@pytest.mark.parametrize("name", ["DAGSVMClassifier", "FlatClassifier", "MLkNN"])
def test_some_rows_are_what_is_printed(name):
    assert row_of(getattr(palmette, name)) in PAGE.read_text().splitlines()


def test_the_row_of_a_learner_is_what_is_printed():
    assert learner_row(palmette.RelaxedTree) in PAGE.read_text().splitlines()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_the_page_is_what_is_printed():
    assert PAGE.read_text() == page()
