"""Rows that are alike in truth and answer, so that figures are summed over few groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.metrics._counts import row_overlap
from palmette.reporting.evaluation import Evaluation

__all__ = ["RowGroups", "group_rows"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RowGroups:
    """Groups of rows with the same truth and answer.

    Parameters
    ----------
    evaluation : Evaluation
    first : int array of shape (n_groups,)
        A row of each group.
    sizes : int array of shape (n_groups,)
    """

    evaluation: Evaluation
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @cached_property
    def overlap(self) -> NDArray[np.int64]:
        """Nodes true, predicted, and both, of shape (n_groups, 3)."""
        found = self.evaluation.overlap
        return np.column_stack([side[self.first] for side in (found.true, found.pred, found.both)])

    @cached_property
    def is_right(self) -> NDArray[np.bool_]:
        """Whether the answer of each group is right."""
        return self.evaluation.is_right[self.first]

    @cached_property
    def level_flags(self) -> NDArray[np.int64]:
        """Whether each level is right, then whether it is reached: (n_groups, 2 * max_depth)."""
        right, reached = [], []
        for level in range(1, self.evaluation.hierarchy.max_depth + 1):
            found = row_overlap(self.evaluation.pair, level)
            there = (found.true + found.pred > 0)[self.first]
            reached.append(there)
            right.append(there & (found.apart == 0)[self.first])
        return np.column_stack([*right, *reached]).astype(np.int64)

    @cached_property
    def node_sides(self) -> list[sparse.csr_array]:
        """Nodes below the root that each group has, is given, and both; those in use only."""
        pair = self.evaluation.pair
        true, pred = (side.closed[self.first][:, 1:] for side in (pair.true, pair.pred))
        used = np.unique(np.concatenate([true.indices, pred.indices]))
        true, pred = (sparse.csr_array(side[:, used], dtype=np.int64) for side in (true, pred))
        return [true, pred, sparse.csr_array(true.multiply(pred))]


def group_rows(evaluation: Evaluation) -> RowGroups:
    """Group rows by truth and answer; with several paths a row every row stands alone."""
    if evaluation.several:
        rows = np.arange(evaluation.n_rows)
        return RowGroups(evaluation, rows, np.ones(len(rows), dtype=np.int64))
    true, pred = evaluation.pair.nodes
    key = true.astype(np.int64) * evaluation.hierarchy.n_nodes + pred
    _, first, sizes = np.unique(key, return_index=True, return_counts=True)
    return RowGroups(evaluation, first, sizes)
