"""Small problems, with labels as signs of columns, for the tests of boosting."""

from __future__ import annotations

import numpy as np

from palmette import Hierarchy, NodeLabels

__all__ = ["DAG", "PATHS", "dag_problem", "parents_of", "signs_of", "tree_problem"]

# unequal depths, an only child, an inner label, a name under two parents
PATHS = [
    ("a", "x"),
    ("a", "y", "p"),
    ("a", "y", "q"),
    ("b", "x"),
    ("b", "z"),
    ("b",),
    ("c",),
    ("d", "only"),
]

# "c" has two parents; "e" three, on paths of unequal length, and the root among them
DAG = Hierarchy(
    ["root", "a", "b", "c", "d", "e"],
    [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 5), (1, 5), (0, 5)],
)


def tree_problem(n_samples=72, seed=0):
    """Rows of few distinct values that no small model tells apart, and a path for each."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(PATHS), n_samples)
    labels[: len(PATHS)] = np.arange(len(PATHS))
    centres = rng.normal(scale=1.5, size=(len(PATHS), 4))
    X = np.round(2 * (centres[labels] + rng.normal(size=(n_samples, 4)))) / 2
    return X, [PATHS[label] for label in labels]


def dag_problem(n_samples=60, seed=0):
    """Rows with several nodes of `DAG` each, some with none."""
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(n_samples, 4))) / 2
    noisy = X @ rng.normal(size=(4, 5)) + 0.7 * rng.normal(size=(n_samples, 5)) > 0.8
    names = np.array(list("abcde"))
    return X, [set(names[row].tolist()) for row in noisy]


def parents_of(clf):
    """Parents of every column of a fitted model; -1 is the root."""
    column = {0: -1, **{int(node): k for k, node in enumerate(clf.nodes_)}}
    above = [clf.hierarchy_.parents_of(int(node)) for node in clf.nodes_]
    return [[column[int(parent)] for parent in parents] for parents in above]


def signs_of(clf, y):
    """-1 and +1 for every row and column of a fitted model."""
    closed = NodeLabels.encode(y, clf.hierarchy_).closed
    return 2.0 * closed.toarray()[:, clf.nodes_] - 1.0
