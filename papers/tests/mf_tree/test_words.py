"""Claims in words: theory in numbers, and sizes, times and F1 of answers made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.mf_tree.outcome import Answer, Grown, Outcome
from papers.mf_tree.theory import judge_theory
from papers.mf_tree.words import judge_words


@pytest.mark.parametrize("seed", [0, 1])
def test_theory_holds_but_for_long_edges(seed):
    found = {claim.where: claim.holds for claim in judge_theory(seed)}
    assert found == {
        "Equations 3 to 5": True,
        "Equations 6 to 10": True,
        "Theorem 1": True,
        "Theorem 1, edges": False,
        "Figure 1": True,
        "Equations 6 and 7": True,
        "Figure 2, p = 1": True,
    }


def outcome_of(**values):
    """Answers by (macro F1, µs, depth)."""
    answers = {}
    for key, (f1, us, depth) in values.items():
        title = key.replace("__", ", p=").replace("_", " ").replace("MF Tree", "MF-Tree")
        answers[title] = Answer(title, "", f1, f1, us, 10.0 * us, depth, 1.0)
    problem = Problem("toy", Hierarchy.star(list("abc")), [[0.0]] * 3, list("abc"))
    return Outcome(problem, answers, {})


def held(**values):
    return {
        (claim.words.rsplit("that ", 1)[1].split(" does")[0].split(" holds")[0]): claim.holds
        for claim in judge_words([outcome_of(**values)])
    }


def test_all_of_it_holds():
    rows = {
        "RNMF_as_published": (0.1, 9.0, 3),
        "RNMF_as_published__3": (0.2, 8.0, 2),
        "RNMF_as_published__4": (0.3, 7.0, 2),
        "RNMF_as_published__5": (0.3, 6.0, 1),
    }
    found = held(MF_Tree_as_published=(0.5, 1.0, 5), DAGSVM=(0.4, 5.0, 9), **rows)
    assert found == {
        "RNMF is shorter and slower": True,
        "DAGSVM has the largest tree": True,
        "trees are less deep with a larger p": True,
        "F1 is lowest with p = 2": True,
        "tests take longest with p = 2, the deepest tree,": True,
        "it is better than the others": True,
    }


def test_none_of_it_holds():
    rows = {
        "RNMF_as_published": (0.9, 0.5, 8),
        "RNMF_as_published__3": (0.2, 8.0, 9),
        "RNMF_as_published__4": (0.3, 7.0, 9),
        "RNMF_as_published__5": (0.3, 6.0, 9),
    }
    found = held(MF_Tree_as_published=(0.5, 1.0, 5), DAGSVM=(0.4, 5.0, 4), **rows)
    assert len(found) == 6
    assert not any(found.values())


def test_related_classes_are_closer_than_by_chance():
    outcome = outcome_of()
    outcome.__dict__["chance"] = {"triplets": [0.49, 0.51]}
    for triplets, expected in ((0.52, False), (0.54, True)):
        outcome.__dict__["qualities"] = {"MF-Tree as published": {"triplets": triplets}}
        (claim,) = judge_words([outcome])
        assert claim.holds == expected
        assert "20 random trees in 0.500 ± 0.014 (at most 0.510)" in claim.words


@pytest.mark.parametrize(("names", "holds"), [("abc", True), ("abd", False)])
def test_one_leaf_for_every_class(names, holds):
    grown = {"MF-Tree as published": Grown("", Hierarchy.star(list(names)), None)}
    outcome = replace(outcome_of(), grown=grown)
    (claim,) = (one for one in judge_words([outcome]) if "one leaf" in one.words)
    assert claim.holds == holds
    assert "3 leaves for 3 classes" in claim.words


def test_nothing_is_said_of_what_is_not_there():
    assert list(judge_words([outcome_of(CMTL=(0.1, 1.0, 1))])) == []
