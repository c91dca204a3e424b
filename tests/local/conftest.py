"""Problems that all local classifiers are tried on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from palmette import (
    FlatClassifier,
    LocalPerLevelClassifier,
    LocalPerNodeClassifier,
    LocalPerParentClassifier,
)

CLASSIFIERS = [
    FlatClassifier,
    LocalPerLevelClassifier,
    LocalPerNodeClassifier,
    LocalPerParentClassifier,
]


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray


@pytest.fixture(params=CLASSIFIERS, ids=lambda each: each.__name__)
def classifier(request):
    return request.param


@pytest.fixture(scope="session")
def three_levels() -> Problem:
    """Eight leaves at depth 3, close enough for every local model to doubt."""
    rng = np.random.default_rng(0)
    paths = np.array([(a, a + b, a + b + c) for a in "pq" for b in "st" for c in "uv"])
    codes = np.arange(160) % 8
    X = 1.5 * rng.normal(size=(8, 3))[codes] + rng.normal(size=(160, 3))
    return Problem(X, paths[codes])


@pytest.fixture(scope="session")
def star() -> Problem:
    """Four classes, no hierarchy."""
    rng = np.random.default_rng(1)
    codes = np.arange(80) % 4
    X = rng.normal(size=(4, 3))[codes] + rng.normal(size=(80, 3))
    return Problem(X, np.array(["d", "b", "a", "c"])[codes])
