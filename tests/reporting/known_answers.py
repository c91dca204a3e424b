"""A model whose answers and probabilities are written down, and small cases worked by hand."""

from __future__ import annotations

import numpy as np

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.reporting._confidence import read_cell_confidence, read_path_confidence
from palmette.reporting._evaluation import evaluate


class KnownAnswers:
    """Answers row i with the i-th answer; X is a column of row numbers.

    Parameters
    ----------
    hierarchy : Hierarchy
    answers : list of labels
    proba : array of shape (n_rows, n_nodes), optional
    """

    def __init__(self, hierarchy, answers, proba=None, several=False):
        self.hierarchy_ = hierarchy
        self.several_paths_ = several
        self._answers = answers
        if proba is not None:
            self.predict_node_proba = lambda X: np.asarray(proba, dtype=float)[_rows(X)]

    def predict(self, X):
        return [self._answers[row] for row in _rows(X)]


def _rows(X):
    return np.asarray(X).ravel().astype(int)


def numbered(n_rows):
    """Rows for `KnownAnswers`."""
    return np.arange(n_rows)[:, None]


ANIMALS = Hierarchy.from_paths(
    [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
)
# root, animal, cat, dog, plant, oak, fern
CAT, DOG, OAK, FERN = ("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")
ANIMAL = ("animal",)

# right, sibling, other branch, stopped short, sibling, right, went too far
TRUE = [CAT, CAT, DOG, OAK, DOG, FERN, ANIMAL]
PREDICTED = [CAT, DOG, OAK, ("plant",), CAT, FERN, CAT]
PROBA = [
    [1.0, 0.9, 0.8, 0.1, 0.1, 0.1, 0.0],
    [1.0, 0.7, 0.2, 0.5, 0.3, 0.2, 0.1],
    [1.0, 0.4, 0.1, 0.3, 0.6, 0.6, 0.0],
    [1.0, 0.2, 0.1, 0.1, 0.8, 0.4, 0.4],
    [1.0, 1.0, 0.6, 0.4, 0.0, 0.0, 0.0],
    [1.0, 0.05, 0.05, 0.0, 0.95, 0.05, 0.9],
    [1.0, 0.55, 0.5, 0.05, 0.45, 0.25, 0.2],
]


def animals():
    """Return the model, its rows and their labels."""
    return KnownAnswers(ANIMALS, PREDICTED, PROBA), numbered(len(TRUE)), TRUE


def random_case(seed, n_rows=200, several=False):
    """Return a model on a random tree, rows, and labels; answers are often right."""
    rng = np.random.default_rng(seed)
    paths = [(f"a{i % 3}", f"b{i % 7}", f"c{i}") for i in range(20)]
    hierarchy = Hierarchy.from_paths(paths)
    nodes = np.arange(1, hierarchy.n_nodes)

    def draw():
        if several:
            chosen = rng.choice(nodes, rng.integers(0, 4), replace=False)
            return {hierarchy.path(int(node)) for node in chosen}
        return hierarchy.path(int(rng.choice(nodes)))

    true = [draw() for _ in range(n_rows)]
    answers = [label if rng.random() < 0.6 else draw() for label in true]
    leaves = rng.dirichlet(np.full(hierarchy.n_leaves, 0.2), n_rows)
    proba = leaves @ hierarchy.closure[hierarchy.leaves].toarray()
    return KnownAnswers(hierarchy, answers, proba.clip(0, 1), several), numbered(n_rows), true


def paths_of(case):
    """Return the evaluation and the confidence of a case with one path a row."""
    model, X, y = case
    evaluation = evaluate(model, X, y)
    return evaluation, read_path_confidence(model.predict_node_proba, X, evaluation)


def cells_of(case):
    """Return the evaluation and the confidence of a case with several paths a row."""
    model, X, y = case
    evaluation = evaluate(model, X, y)
    return evaluation, read_cell_confidence(model.predict_node_proba, X, evaluation)
