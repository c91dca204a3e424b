"""Routing problems: rows around class means, for a given hierarchy."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from tests.class_tree.routing_literal import table_of

from palmette.routing import RoutingProblem

__all__ = ["blobs", "problem_of", "sparse_rows"]


def blobs(n_classes, n_rows=12, n_features=5, seed=0, spread=2.0):
    """Return rows around the means of their classes, and the classes."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes, dtype=np.int32), n_rows)
    means = spread * rng.normal(size=(n_classes, n_features))
    return rng.normal(size=(len(codes), n_features)) + means[codes], codes


def sparse_rows(n_classes, n_rows=12, n_features=80, seed=0):
    """Return sparse rows, with too many features for Newton's method, and the classes."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_classes, dtype=np.int32), n_rows)
    X = rng.gamma(1.0, size=(len(codes), n_features)) * (rng.random((len(codes), n_features)) < 0.1)
    X[np.arange(len(codes)), codes % n_features] += 1.0
    return sparse.csr_array(X), codes


def problem_of(hierarchy, X, codes, **others):
    return RoutingProblem(X, codes, table_of(hierarchy), **others)
