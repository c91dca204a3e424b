"""Small problems for the bench."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from palmette.compare._problems import Problem
from palmette.hierarchy._hierarchy import Hierarchy

LEAVES = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


@pytest.fixture(autouse=True)
def _nothing_to_collect():
    """Keep `gc.collect`, which runs before every measured fit, from visiting all of pytest."""
    gc.freeze()


def make_problem(name: str = "toy", seed: int = 0, n_rows: int = 60, noise: float = 1.0) -> Problem:
    """Make four clouds of points, two below each of two parents."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % len(LEAVES)
    X = rng.normal(0, noise, (n_rows, 3)) + 2.0 * np.eye(4, 3)[codes]
    return Problem(name, Hierarchy.from_paths(LEAVES), X, [LEAVES[code] for code in codes])


@pytest.fixture
def toy() -> Problem:
    return make_problem()


@pytest.fixture(scope="session")
def toys() -> list[Problem]:
    """Return two data sets of growing difficulty."""
    return [make_problem(f"toy{i}", seed=i, noise=0.5 + i) for i in range(2)]


@pytest.fixture
def texts() -> Problem:
    """Make a problem of texts, each with a word of its class."""
    words = {("a", "x"): "apple", ("a", "y"): "pear", ("b", "x"): "bolt", ("b", "y"): "nail"}
    labels = [LEAVES[i % 4] for i in range(48)]
    rows = [f"one {words[label]} number {i} of {words[label]}" for i, label in enumerate(labels)]
    return Problem("texts", Hierarchy.from_paths(LEAVES), rows, labels)
