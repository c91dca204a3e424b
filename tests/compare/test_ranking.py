"""Sentences about tests of significance."""

from __future__ import annotations

import pytest

from palmette.compare._comparison import ranking_sentences, ranking_title

FACTS = {
    "score": "tree_induced_error",
    "n_datasets": 5,
    "average_ranks": {"a": 1.2, "b": 1.8, "c": 3.0},
    "friedman_pvalue": 0.01234,
    "posthoc": "nemenyi",
    "alpha": 0.05,
    "critical_difference": 1.482,
    "groups": [["a", "b"], ["b", "c"]],
}


def test_title():
    assert ranking_title(FACTS) == "over 5 data sets, by tree error"


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([["a", "b"], ["b", "c"]], "no significant difference within (a, b); (b, c)"),
        ([["a", "b", "c"]], "no significant difference"),
        ([], "all pairs differ"),
    ],
)
def test_sentences(groups, words):
    assert ranking_sentences({**FACTS, "groups": groups}) == [
        "Friedman test: p = 0.0123.",
        f"Nemenyi test at 0.05: {words} (critical difference 1.48).",
    ]


def test_two_models_have_no_friedman_test():
    two = {**FACTS, "average_ranks": {"a": 1.0, "b": 2.0}, "groups": []}
    assert len(ranking_sentences(two)) == 1


def test_a_reason_in_place_of_tests():
    assert ranking_sentences({"reason": "no."}) == ["No test of significance: no."]
