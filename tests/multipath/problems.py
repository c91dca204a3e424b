"""Small problems with several paths per row, in a tree and a DAG."""

from __future__ import annotations

import numpy as np

from palmette import Hierarchy

__all__ = ["DAG", "TREE", "dag_problem", "tree_problem"]

TREE = Hierarchy.from_paths([("a", "b"), ("a", "c"), ("d", "e"), ("d", "f"), ("g",)])
DAG = Hierarchy.from_edges(
    [("root", "p"), ("root", "q"), ("p", "r"), ("q", "r"), ("q", "s"), ("r", "t"), ("s", "t")]
)


def _problem(sets: list[set[str]], n_rows: int, noise: float, seed: int):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(sets), 6))
    kind = rng.integers(len(sets), size=n_rows)
    X = centres[kind] + noise * rng.normal(size=(n_rows, 6))
    return X, [sets[k] for k in kind]


def tree_problem(n_rows: int = 120, noise: float = 0.3, seed: int = 0):
    """Rows of four kinds, with one to three labels each, and one kind without."""
    return _problem([{"a/b", "d/e"}, {"a/c"}, {"d/f", "g", "a"}, set()], n_rows, noise, seed)


def dag_problem(n_rows: int = 120, noise: float = 0.3, seed: int = 0):
    """Rows along a DAG with nodes of two parents."""
    return _problem([{"t"}, {"r"}, {"s", "p"}, {"q"}], n_rows, noise, seed)
