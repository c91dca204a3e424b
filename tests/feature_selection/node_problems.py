"""Small problems to test scores of single nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from palmette import Hierarchy
from palmette.feature_selection._base import FeatureScore, ScoringProblem
from palmette.labels._space import LabelSpace

__all__ = ["HIERARCHY", "both_forms", "problem", "rows_and_classes", "scores_of", "two_options"]

# unequal depths, an only child, an inner label ("b")
HIERARCHY = Hierarchy.from_paths(
    [("a", "x"), ("a", "y", "deep"), ("a", "y", "deeper"), ("b", "z"), ("b", "w"), ("c", "only")]
)
LABELS = ["a/x", "a/y/deep", "a/y/deeper", "b", "b/z", "b/w", "c/only"]
SPACE = LabelSpace(HIERARCHY, HIERARCHY.index(LABELS))


def rows_and_classes(
    n_rows: int = 84, n_features: int = 9, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows around label centres, with a constant feature and two equal features."""
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.arange(n_rows) % len(LABELS)).astype(np.int32)
    centres = rng.normal(size=(len(LABELS), n_features)) * (np.arange(n_features) % 3)
    X = centres[classes] + rng.normal(size=(n_rows, n_features))
    X[:, 3] = 0.1
    X[:, 7] = X[:, 2]
    return X, classes


def two_options(X: Any, codes: np.ndarray) -> ScoringProblem:
    """Return a star of two classes."""
    star = Hierarchy.star("pq")
    return ScoringProblem(X, LabelSpace(star, star.leaves), codes.astype(np.int32))


def problem(X: Any, classes: np.ndarray, **options: Any) -> ScoringProblem:
    return ScoringProblem(X, SPACE, classes, **options)


def scores_of(score: FeatureScore, X: Any, classes: np.ndarray, **options: Any) -> np.ndarray:
    """Return scores of shape (n_tasks, n_features)."""
    return np.array(list(score.score(problem(X, classes, **options)).rows()))


def both_forms(X: np.ndarray) -> tuple[np.ndarray, sparse.csr_array]:
    """Return rows with many zeros, dense and sparse."""
    thinned = np.where(np.abs(X) < 1.0, 0.0, X)
    return thinned, sparse.csr_array(thinned)
