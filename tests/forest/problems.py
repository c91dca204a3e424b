"""Small problems for forests."""

from __future__ import annotations

import numpy as np

__all__ = ["labelled"]


def labelled(n_samples=120, n_features=8, n_labels=4, seed=0):
    """Features, and labels of several rates that depend on sums of two features each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    score = X[:, :n_labels] + X[:, 1 : n_labels + 1] + 0.4 * rng.normal(size=(n_samples, n_labels))
    return X, (score > np.linspace(-0.5, 2.0, n_labels)).astype(int)
