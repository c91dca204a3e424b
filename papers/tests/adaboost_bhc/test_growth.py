"""Exponents of laws that are known, and a clock that keeps one."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from palmette.compare import ResultStore, Usage
from papers.adaboost_bhc import outcome as module
from papers.adaboost_bhc.outcome import (
    Grid,
    find_growth,
    fitted_exponent,
    make_clouds,
)
from papers.cells import Cells


@given(power=st.floats(-2, 3), factor=st.floats(1e-6, 1e3))
def test_a_power_law_has_its_exponent(power, factor):
    sizes = np.array([2.0, 4.0, 8.0, 100.0])
    assert fitted_exponent(sizes, factor * sizes**power) == pytest.approx(power, abs=1e-8)


def test_noise_does_not_lean():
    assert fitted_exponent([1, 10, 100], [1.0, 20.0, 100.0]) == pytest.approx(1.0)


def test_clouds_are_even_and_drawn_by_the_seed():
    X, y = make_clouds(64, 8, seed=1, n_features=5)
    assert X.shape == (64, 5)
    assert np.bincount(y).tolist() == [8] * 8
    np.testing.assert_array_equal(make_clouds(64, 8, seed=1, n_features=5)[0], X)
    assert not np.array_equal(make_clouds(64, 8, seed=2, n_features=5)[0], X)


def test_classes_of_one_branch_are_near():
    X, y = make_clouds(4000, 8, n_features=200)
    centres = np.stack([X[y == k].mean(axis=0) for k in range(8)])
    # the class numbers of a branch agree in their last bits
    near = np.linalg.norm(centres[1] - centres[5])
    assert near < np.linalg.norm(centres[1] - centres[3])
    assert near < np.linalg.norm(centres[1] - centres[0])


class Costly(BaseEstimator):
    """Takes 5 s at first, then n ** 1.5 * c seconds per round, by a clock of its own."""

    clock = 0.0

    def __init__(self, name="costly", rounds=1):
        self.name = name
        self.rounds = rounds

    def fit(self, X, y):
        Costly.clock += 5 + self.rounds * len(X) ** 1.5 * len(np.unique(y))
        return self


@pytest.fixture
def own_clock(monkeypatch):
    @contextmanager
    def measure():
        usage, start = Usage(), Costly.clock
        yield usage
        usage.cpu_seconds = Costly.clock - start

    monkeypatch.setattr(module, "measure", measure)


def test_what_is_done_once_is_no_part_of_a_round(own_clock, method_of):
    grid = Grid((16, 32, 64), (2, 4, 8), 4, 32, rounds=3, n_repeats=2)
    (found,) = find_growth([method_of(Costly, "ECC")], Cells(None, {}), grid, 0, 1)
    assert found.method == "ECC"
    assert found.by_rows == pytest.approx([4 * n**1.5 for n in grid.n_rows])
    assert found.row_exponent == pytest.approx(1.5)
    assert found.class_exponent == pytest.approx(1.0)


def test_timings_are_kept(own_clock, method_of, tmp_path, monkeypatch):
    grid = Grid((16, 32), (2, 4), 4, 32, rounds=3, n_repeats=1)
    store = ResultStore(tmp_path / "r.jsonl")
    first = find_growth([method_of(Costly)], Cells(store, {}), grid, 0, 1)
    monkeypatch.setattr(Costly, "fit", pytest.fail)
    assert find_growth([method_of(Costly)], Cells(store, {}), grid, 0, 1) == first
