"""How figures are written."""

from __future__ import annotations

import pytest

from palmette.compare._comparison import best_value, format_cost, format_score, is_best
from palmette.compare._scores import SCORES


def test_best_value_knows_the_direction():
    assert best_value([0.2, None, 0.4], SCORES["hierarchical_f1"]) == 0.4
    assert best_value([0.2, None, 0.4], SCORES["h_loss"]) == 0.2
    assert best_value([None], SCORES["h_loss"]) is None


def test_what_looks_equal_is_best_alike():
    assert is_best(0.70004, 0.70001)
    assert not is_best(0.701, 0.702)
    assert not is_best(None, 0.7)


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"h_loss": 0.25}, "0.250"),
        ({"h_loss": 0.25, "h_loss_sd": 0.0123}, "0.250±.012"),
        ({"h_loss": 2.5, "h_loss_sd": 1.25}, "2.500±1.250"),
        ({"h_loss": None}, "–"),
    ],
)
def test_scores(entry, text):
    assert format_score(entry, "h_loss") == text
    assert format_score(entry, "h_loss", deviation=False) == text.partition("±")[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.004, "0.00"), (1.26, "1.3"), (99.94, "99.9"), (1e4, "10,000")],
)
def test_costs(value, text):
    assert format_cost(value) == text
