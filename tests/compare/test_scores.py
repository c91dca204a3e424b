"""Scores: every scorer has a column, and columns know what is better."""

from __future__ import annotations

import pytest

from palmette.compare._scores import DEFAULT_SCORES, SCORES, find_scores
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.metrics._scorers import SCORERS

H = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])
TRUE = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
NEAR = [("a", "y"), ("a", "y"), ("b", "x"), ("b", "y")]
FAR = [("b", "y"), ("b", "x"), ("a", "y"), ("a", "x")]


def test_every_scorer_is_a_score():
    assert {name.removeprefix("neg_") for name in SCORERS} == set(SCORES)
    assert set(DEFAULT_SCORES) <= set(SCORES)


@pytest.mark.parametrize("name", SCORES)
def test_right_beats_near_beats_far(name):
    score = SCORES[name]
    values = [score(TRUE, answer, H) for answer in (TRUE, NEAR, FAR)]
    assert values == sorted(values, reverse=score.greater_is_better)
    assert len(set(values)) == 3
    assert values[0] == (1.0 if score.greater_is_better else 0.0)


def test_losses_keep_their_sign():
    assert SCORES["tree_induced_error"](TRUE, FAR, H) == 4.0


def test_titles_fit_a_table():
    titles = [score.title for score in SCORES.values()]
    assert len(set(titles)) == len(titles)
    assert max(map(len, titles)) <= 14


def test_find_scores_keeps_the_order():
    assert list(find_scores(["leaf_accuracy", "h_loss"])) == ["leaf_accuracy", "h_loss"]


@pytest.mark.parametrize(
    ("names", "words"),
    [(["nix"], "no score 'nix': expected some of"), ([], "at least one"), (["h_loss"] * 2, "once")],
)
def test_bad_names(names, words):
    with pytest.raises(PalmetteError, match=words):
        find_scores(names)
