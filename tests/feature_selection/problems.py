"""Problems whose best features are known: one feature per inner node."""

from __future__ import annotations

import numpy as np

from palmette import Hierarchy

__all__ = ["HIERARCHY", "NOISE", "PATHS", "planted"]

PATHS = [
    ("a", "x"),
    ("a", "y", "deep"),
    ("a", "y", "deeper"),
    ("b", "z"),
    ("b", "w"),
    ("c", "only"),
]
HIERARCHY = Hierarchy.from_paths(PATHS)
NOISE = 6  # number of noise features; then four for the root, "a", "a/y" and "b"


def planted(n_each: int = 15, seed: int = 0) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Return rows with noise features, and one feature per node that separates its children."""
    rng = np.random.default_rng(seed)
    y = [path for path in PATHS for _ in range(n_each)]
    order = rng.permutation(len(y))
    y = [y[i] for i in order]
    X = rng.normal(size=(len(y), NOISE + 4))
    for row, path in zip(X, y, strict=True):
        row[NOISE] += 4.0 * "abc".index(path[0])
        row[NOISE + 1] += 5.0 * (path[:2] == ("a", "y"))
        row[NOISE + 2] += 5.0 * (path[-1] == "deeper")
        row[NOISE + 3] += 5.0 * (path == ("b", "z"))
    return X, y
