"""Algorithms 1 to 4 as printed, followed on a small problem."""

from __future__ import annotations

import numpy as np
import pytest

from papers.hirr_fs.algorithms import (
    Descent,
    descent_table,
    follow,
    judge_algorithms,
    regression_gap,
    rises,
)


def test_strong_couplings_at_once_raise_the_objective_and_in_turn_do_not():
    assert rises(follow(0.0, 100.0, in_turn=False))
    assert not rises(follow(0.0, 100.0, in_turn=True))
    assert not rises(follow(1.0, 1.0, in_turn=False))


def test_without_couplings_both_are_the_same():
    at_once, in_turn = (follow(0.0, 0.0, in_turn=each, n_sweeps=5) for each in (False, True))
    np.testing.assert_allclose(at_once, in_turn)


def test_hier_fs_of_one_node_is_plain_regression():
    plain, ours, gap = regression_gap()
    assert ours == pytest.approx(plain, rel=1e-9)
    assert gap < 1e-6


def test_rises_are_told():
    falls = Descent(2, 1.0, 0.0, [3.0, 2.0], [3.0, 1.0])
    odd = Descent(3, 0.0, 1.0, [3.0, 2.0, 4.0], [3.0, 2.0, 1.0])
    _, first, second = judge_algorithms([falls, odd])
    assert first.holds
    assert not second.holds
    assert "rises in 1 of 2 sweeps as printed, by up to 100%, in 0 with" in second.words
    assert descent_table([odd]).rows[0][1:] == (1, "100%", "4.0000", 0, "0%", "1.0000")
