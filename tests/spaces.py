"""Random label spaces, probabilities and routes, small enough to check by brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tests.strategies import parent_lists

from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import LabelSpace

__all__ = ["TableRoute", "label_spaces", "numbers", "probabilities", "seeds"]


@st.composite
def label_spaces(draw, max_nodes: int = 14) -> LabelSpace:
    """Any tree, with any of its nodes as labels: leaves, inner nodes, single-child chains."""
    parents = draw(parent_lists(max_nodes).filter(lambda parents: len(parents) > 1))
    hierarchy = Hierarchy.from_parents(parents)
    flags = draw(st.integers(1, 2 ** (hierarchy.n_nodes - 1) - 1))  # a bit a node but the root
    labels = [node for node in range(1, hierarchy.n_nodes) if flags >> (node - 1) & 1]
    return LabelSpace(hierarchy, np.array(labels, dtype=np.int32))


seeds = st.integers(0, 2**32 - 1)


def numbers(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def probabilities(space: LabelSpace, n_samples: int, seed: int, ties: bool = False) -> np.ndarray:
    """Rows that sum to one, some entries being zero; with `ties` many are equal."""
    rng = numbers(seed)
    shape = (n_samples, space.n_classes)
    values = rng.integers(0, 3, shape).astype(float) if ties else rng.exponential(size=shape)
    values[rng.random(shape) < 0.2] = 0.0
    values[values.sum(axis=1) == 0] = 1.0
    return values / values.sum(axis=1, keepdims=True)


class TableRoute:
    """A route that reads its answers from a table, and counts what it was asked.

    With `ties` the chances are multiples of a quarter, so that products are exact and often equal.
    """

    def __init__(self, space: LabelSpace, n_samples: int, seed: int, ties: bool = False) -> None:
        rng = numbers(seed)
        self.asked = np.zeros((space.n_active, n_samples), dtype=int)
        self.tables = {}
        for parent, options in space.families:
            if ties:
                weights = rng.multinomial(4, np.full(len(options), 1 / len(options)), n_samples) / 4
            else:
                weights = rng.dirichlet(np.full(len(options), 0.5), n_samples)
            self.tables[parent] = weights

    def __call__(self, parent, options, rows):
        table = self.tables[parent]
        assert table.shape[1] == len(options)
        rows = np.arange(len(table)) if rows is None else rows
        np.add.at(self.asked, (parent, rows), 1)
        return table[rows]
