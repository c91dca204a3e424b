"""A small problem of two levels, and outcomes made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from palmette.compare import Problem
from palmette.hierarchy._hierarchy import Hierarchy
from papers.hirr_fs.authors import AUTHORS, FoldScores
from papers.hirr_fs.methods import (
    PAPER_CHOSEN,
    PAPER_GRID,
    STRENGTHS,
    Numbers,
)
from papers.hirr_fs.outcome import Answer, Outcome
from papers.hirr_fs.parity import ParityOutcome

PATHS = [("p", "a"), ("p", "b"), ("p", "c"), ("q", "d"), ("q", "e")]


def make_problem(name: str = "toy", n_rows: int = 100, n_features: int = 10) -> Problem:
    """Make a cloud of points for every class, told apart by five features; the others are noise."""
    rng = np.random.default_rng(0)
    codes = np.arange(n_rows) % len(PATHS)
    X = rng.normal(0, 0.5, (n_rows, n_features))
    X[:, : len(PATHS)] += np.eye(len(PATHS))[codes]
    y = np.array([PATHS[code][1] for code in codes], dtype=object)
    half = n_rows // 2
    return Problem(name, Hierarchy.from_paths(PATHS), X[:half], y[:half], X[half:], y[half:])


@pytest.fixture
def problem() -> Problem:
    return make_problem()


@pytest.fixture
def outcome_of(problem):
    """Return a function that makes an outcome of F1 scores at k = 2, by method."""

    def make(name: str = "toy", objective=None, lowest=None, **scores: float) -> Outcome:
        curves = {
            key.replace("_", "-") if key != "all_features" else "all features": value
            for key, value in scores.items()
        }
        answers = {
            method: [Answer(method, 2, f1, f1, 1 - f1, f1, 1.0 + (method == "all features"))]
            for method, f1 in curves.items()
        }
        seconds = {method: float(len(method)) for method in answers}
        named = Problem(name, problem.hierarchy, problem.X_train, problem.y_train)
        return Outcome(named, Numbers(2, (1, 2)), answers, seconds, 1, objective, lowest)

    return make


@pytest.fixture
def printed() -> ParityOutcome:
    """What the paper prints, as if found."""
    f1 = (0.7741, 0.8524, 0.8468, 0.8584, 0.8584, 0.8579, 0.8606)
    tie = (0.1355, 0.0886, 0.0919, 0.0850, 0.0850, 0.0853, 0.0836)
    curves = {
        method: {40: FoldScores(a, 10 * b, b)}
        for method, a, b in zip(AUTHORS, f1, tie, strict=True)
    }
    curves["all features"] = {473: FoldScores(0.8601, 0.84, 0.084)}
    grid = {
        (a, b): PAPER_GRID[row][column]
        for row, a in enumerate(STRENGTHS)
        for column, b in enumerate(STRENGTHS)
    }
    chosen = {name: list(features) for name, features in PAPER_CHOSEN.items()}
    standardized = {method: next(iter(curve.values())) for method, curve in curves.items()}
    seconds = dict.fromkeys(AUTHORS, 1.0)
    falling = [2.0, 1.0]
    return ParityOutcome(40, curves, seconds, chosen, grid, falling, falling, 1.0, standardized)
