"""Random hierarchies and labels, small enough to check by brute force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from palmette.hierarchy._hierarchy import Hierarchy


@dataclass(frozen=True)
class Case:
    """Truth and prediction of some rows, as sets of node numbers and in a form for the metrics."""

    hierarchy: Hierarchy
    true: list[set[int]]
    pred: list[set[int]]
    weight: np.ndarray

    def form(self, rows: list[set[int]]) -> Any:
        matrix = np.zeros((len(rows), self.hierarchy.n_nodes), dtype=int)
        for i, row in enumerate(rows):
            matrix[i, list(row)] = 1
        return matrix

    def closed(self, rows: list[set[int]]) -> np.ndarray:
        """Indicator with all ancestors, found by walking up."""
        matrix = np.zeros((len(rows), self.hierarchy.n_nodes), dtype=bool)
        for i, row in enumerate(rows):
            for node in row:
                matrix[i, self.hierarchy.ancestors(node, include_self=True)] = True
        return matrix

    @property
    def y_true(self) -> Any:
        return self.form(self.true)

    @property
    def y_pred(self) -> Any:
        return self.form(self.pred)


def random_tree(
    rng: np.random.Generator, n_nodes: int, names: list[Any] | None = None
) -> Hierarchy:
    parents = np.array([-1, *(rng.integers(i) for i in range(1, n_nodes))])
    return Hierarchy.from_parents(parents, names or [f"n{i}" for i in range(n_nodes)])


def random_dag(rng: np.random.Generator, n_nodes: int) -> Hierarchy:
    edges = {(f"n{rng.integers(i)}", f"n{i}") for i in range(1, n_nodes) for _ in range(2)}
    return Hierarchy.from_edges(sorted(edges))


@pytest.fixture(scope="session")
def make_case() -> Callable[..., Case]:
    """Return a maker of cases: kind "path" is one node a row, "tree" and "dag" are sets."""

    def make(seed: int, kind: str = "path", n_rows: int = 6, n_nodes: int = 9) -> Case:
        rng = np.random.default_rng(seed)
        hierarchy = random_dag(rng, n_nodes) if kind == "dag" else random_tree(rng, n_nodes)
        sides = []
        for _ in range(2):
            sizes = np.ones(n_rows, int) if kind == "path" else rng.integers(0, 4, n_rows)
            sides.append([set(rng.integers(1, n_nodes, size).tolist()) for size in sizes])
        pred = [t if rng.random() < 0.3 else p for t, p in zip(*sides, strict=True)]
        return Case(hierarchy, sides[0], pred, rng.integers(1, 4, n_rows).astype(float))

    return make


@pytest.fixture(scope="session")
def make_tree() -> Callable[..., Hierarchy]:
    """Return a maker of random trees."""
    return lambda seed, n_nodes, names=None: random_tree(
        np.random.default_rng(seed), n_nodes, names
    )
