"""Tests over the splits of one data set."""

from __future__ import annotations

import pytest

from palmette.compare._comparison import COSTS, Comparison
from palmette.metrics import resampled_ttest


def made_up(n_splits=5, share=0.3, score="hierarchical_f1"):
    values = {"good": 0.9, "like": 0.89, "poor": 0.5}
    wobble = [0.0, 0.02, -0.02, 0.01, -0.01]
    rows = [
        {"dataset": "d", "split": f"random-{i}", "test_size": share, "model": name}
        | {score: value + (wobble[i] if name == "like" else 0.001 * i * (name == "poor"))}
        | dict.fromkeys(COSTS, 1.0)
        for i in range(n_splits)
        for name, value in values.items()
    ]
    return Comparison(rows, (score,), list(values), ["d"])


def test_the_others_against_the_best():
    facts = made_up().split_test("d")
    assert (facts["best"], facts["n_splits"]) == ("good", 5)
    assert facts["pvalues"]["poor"] < 0.001
    raw = resampled_ttest([0.01, -0.01, 0.03, 0.0, 0.02], 0.3)[1]
    assert facts["pvalues"]["like"] == pytest.approx(raw)  # the last of Holm's steps
    words = "poor is worse than good; like is not significantly different from it."
    assert words in made_up().to_markdown()


def test_the_best_of_a_loss_is_the_least():
    assert made_up(score="h_loss").split_test("d")["best"] == "poor"


def test_no_test_without_splits():
    assert made_up(n_splits=2).split_test("d") is None
    assert made_up(share=None).split_test("d") is None
