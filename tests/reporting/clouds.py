"""Four clouds of points, two below each of two parents."""

from __future__ import annotations

import numpy as np

LEAVES = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def clouds(n_rows=200, noise=0.4, seed=0):
    """Return rows of three features, of which two tell the classes apart, and their labels."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % 4
    X = np.column_stack([codes // 2, codes % 2, np.zeros(n_rows)]).astype(float)
    return X + rng.normal(0, noise, X.shape), [LEAVES[code] for code in codes]
