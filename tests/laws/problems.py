"""Small problems that the laws are tried on."""

from __future__ import annotations

import numpy as np

__all__ = ["PATHS", "problem", "well_apart"]

# unequal depths, an only child, an inner label ("b"), a name under two parents
PATHS = [
    ("a", "x"),
    ("a", "y", "deep"),
    ("a", "y", "deeper"),
    ("b", "x"),
    ("b", "z"),
    ("b",),
    ("c",),
    ("d", "only"),
]


def problem(n_each: int = 12, seed: int = 0) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Rows scattered around a centre for each label of `PATHS`, so that no model is sure of all."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=2.0, size=(len(PATHS), 4))
    X = np.repeat(centres, n_each, axis=0) + rng.normal(size=(n_each * len(PATHS), 4))
    y = [path for path in PATHS for _ in range(n_each)]
    order = rng.permutation(len(y))
    return X[order], [y[i] for i in order]


def well_apart() -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Labels so far apart that every sane model gets them right: a feature for each."""
    codes = np.repeat(np.arange(len(PATHS)), 6)
    return 10.0 * np.eye(len(PATHS))[codes], [PATHS[c] for c in codes]
