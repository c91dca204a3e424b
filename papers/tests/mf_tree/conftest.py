"""A small problem under a given tree, and outcomes made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.mf_tree.outcome import Answer, Grown, Outcome

PATHS = [("p", "a"), ("p", "b"), ("q", "c"), ("q", "d"), ("r", "e"), ("r", "f")]


def make_problem(name: str = "toy", n_rows: int = 120) -> Problem:
    """Make a cloud of points for every class, those of a group side by side."""
    rng = np.random.default_rng(0)
    codes = np.arange(n_rows) % len(PATHS)
    middles = np.array([[9, 0, 1], [9, 0, -1], [0, 9, 1], [0, 9, -1], [-9, -9, 1], [-9, -9, -1]])
    X = middles[codes] + rng.normal(0, 0.3, (n_rows, 3))
    y = np.array(["/".join(PATHS[code]) for code in codes], dtype=object)
    half = n_rows // 2
    return Problem(name, Hierarchy.from_paths(PATHS), X[:half], y[:half], X[half:], y[half:])


@pytest.fixture
def problem() -> Problem:
    return make_problem()


@pytest.fixture
def outcome_of(problem):
    """Return a function that makes an outcome of answers and trees that are told to it."""

    def make(answers: list[Answer], trees: dict[str, Hierarchy] | None = None) -> Outcome:
        grown = {key: Grown(key, tree, 1.0) for key, tree in (trees or {}).items()}
        return Outcome(problem, {answer.title: answer for answer in answers}, grown)

    return make


@pytest.fixture
def tells():
    """Return a maker of answers with as much as a test says of them."""

    def make(method: str, way: str = "", **told: float) -> Answer:
        usual = {"accuracy": 0.5, "macro_f1": 0.5, "us": 10.0, "dots": 10.0, "depth": 3}
        return Answer(method, way, **{**usual, "fit_s": 1.0, **told})

    return make
