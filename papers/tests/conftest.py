"""A small problem with a published split, and stand-ins for slow methods."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from tests.conftest import data_home

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.cells import Cells
from papers.h_ada_mh.outcome import Method, Setting, find_outcome, listed

__all__ = ["data_home"]

# "1" under "1" and under "2" is one symbol of level 2; "0" is on level 3 everywhere
LEAVES = [("1", "1", "0"), ("1", "2", "0"), ("2", "1", "0"), ("2", "1", "3"), ("2", "3")]


def make_problem(name: str = "toy", n_rows: int = 60, noise: float = 0.4) -> Problem:
    """Make a cloud of points for every leaf, in a training and a test part."""
    rng = np.random.default_rng(0)
    codes = np.arange(n_rows) % len(LEAVES)
    X = rng.normal(0, noise, (n_rows, 4)) + 2.0 * np.eye(5, 4)[codes]
    y = np.array(["/".join(LEAVES[code]) for code in codes], dtype=object)
    half = n_rows // 2
    return Problem(name, Hierarchy.from_paths(LEAVES), X[:half], y[:half], X[half:], y[half:])


class Fixed(BaseEstimator):
    """An estimator that nothing is learned by."""

    def __init__(self, name: str = "fixed") -> None:
        self.name = name


@pytest.fixture
def tells():
    """Return a maker of methods that tell the truth but for some rows, of which they are silent."""

    def make(key: str, space: str, n_silent: int = 0, method: str | None = None, stages=None):
        def work(setting: Setting, estimator: object) -> dict:
            truth = setting.answers(space).truth.copy()
            truth[:n_silent] = False
            depth = int(setting.answers(space).level.max())
            share = 1 - n_silent / len(truth)
            found = {"predicted": {key: listed(truth)}, "top_k": [share] * depth}
            return found if stages is None else {**found, "stages": stages}

        return Method(method or key, space, {key: f"the {key}"}, lambda _: Fixed(key), work)

    return make


@pytest.fixture
def stages_to():
    """Return a maker of test errors by round that end at a value."""
    return lambda loss: {
        "rounds": [1, 2],
        "hamming": [0.5, loss],
        "hierarchical_hamming": [0.6, 2 * loss],
    }


@pytest.fixture
def problem() -> Problem:
    return make_problem()


@pytest.fixture
def setting(problem) -> Setting:
    return Setting(problem, rounds=5, quick_rounds=5)


@pytest.fixture
def outcome_of(setting):
    """Return a function that gives the outcome of some methods."""
    return lambda *methods: find_outcome(setting, methods, Cells(None, {}))
