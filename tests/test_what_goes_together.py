"""The page on what goes together is what the command prints."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import pytest
from tests.what_goes_together import (
    PROBLEMS,
    Problem,
    learner_row,
    learners,
    outcome,
    page,
    row_of,
    rows_of,
    small,
    takers,
)

import palmette

PAGE = Path(__file__).parents[1] / "docs" / "what_goes_together.md"


def test_every_estimator_has_a_row():
    """``python -m tests.what_goes_together > docs/what_goes_together.md`` makes the page anew."""
    found = [line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert sorted(found) == sorted(each.__name__ for each in [*takers(), *learners()])


@pytest.mark.parametrize(
    "name", ["DAGSVMClassifier", "FlatClassifier", "MFTreeClassifier", "MLkNN"]
)
def test_some_rows_are_what_is_printed(name):
    assert row_of(getattr(palmette, name)) in PAGE.read_text().splitlines()


def test_the_row_of_a_learner_is_what_is_printed():
    assert learner_row(palmette.RelaxedTree) in PAGE.read_text().splitlines()


def test_no_tree_is_made_of_a_dag_if_the_labels_are_refused_anyway():
    (problem,) = (each for each in PROBLEMS if each.title == "learner of a DAG, label sets")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert outcome(palmette.DAGSVMClassifier, problem) == "no"
        classifier = palmette.DAGSVMClassifier(hierarchy=problem.hierarchy)
        with pytest.raises(palmette.PalmetteError, match="needs one path per row"):
            classifier.fit(*rows_of(True))
    assert not [each for each in told if "needs a tree" in str(each.message)]


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_the_page_is_what_is_printed():
    assert PAGE.read_text() == page()


@cache
def printed_outcomes():
    """What the page says of label sets and its learner of trees, by estimator."""
    (printed,) = (each for each in PROBLEMS if each.title == "learner, label sets")
    return {kind: outcome(kind, printed) for kind in takers()}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", learners(), ids=lambda each: each.__name__)
def test_every_learner_serves_as_the_one_of_the_page(learner):
    problem = Problem("another learner, label sets", small(learner), several=True)
    assert {kind: outcome(kind, problem) for kind in takers()} == printed_outcomes()
