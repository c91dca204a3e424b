"""Binary AdaBoost of full trees: what tells two groups of classes apart at a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from palmette.core.dtypes import BinArray
from palmette.engine.carts import Carts
from palmette.engine.weak.answers import CartPerClass
from palmette.engine.weak.base import TrainingRows
from palmette.persistence.checks import numbers, require

__all__ = ["LEAST_ERROR", "NodeVotes", "boost_node"]

LEAST_ERROR = 1e-3  # a tree without a mistake would have an infinite coefficient, and end it all

_TINY = np.finfo(np.float64).tiny

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class NodeVotes:
    """The trees of a node and their coefficients.

    Parameters
    ----------
    carts : Carts
        A tree for every round.
    coefficients : float64 array of shape (n_rounds,)
        0 for a tree that was no better than chance.
    """

    carts: Carts
    coefficients: FloatArray

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.carts, Carts), "the trees of a node are no Carts")
        n_trees = len(numbers(self.coefficients, np.float64, 1, "coefficients"))
        require(n_trees == len(self.carts.starts) - 1, "trees and coefficients do not fit together")

    def scores(self, codes: BinArray, rows: IntArray | None = None) -> FloatArray:
        """Mean vote of the trees, by their coefficients, from -1 to +1: shape (n_rows,)."""
        asked = np.arange(len(codes), dtype=np.int32) if rows is None else rows
        sums = np.zeros(len(asked))
        self._add(slice(0, len(self.coefficients)), codes, asked, sums)
        return np.asarray(sums / max(self._totals[-1], _TINY))

    def staged_scores(self, codes: BinArray) -> Iterator[FloatArray]:
        """Yield what `scores` gives after each round."""
        asked, sums = np.arange(len(codes), dtype=np.int32), np.zeros(len(codes))
        for turn, total in enumerate(self._totals.tolist()):
            self._add(slice(turn, turn + 1), codes, asked, sums)
            yield sums / max(total, _TINY)

    @property
    def _totals(self) -> FloatArray:
        # added up in the order of the rounds, so that the last stage is the whole, bit by bit
        return np.cumsum(self.coefficients)

    def _add(self, rounds: slice, codes: BinArray, rows: IntArray, sums: FloatArray) -> None:
        from palmette._kernels.cart_boost import add_cart_votes

        starts = self.carts.starts[rounds.start : rounds.stop + 1]
        own = slice(int(starts[0]), int(starts[-1]))
        carts = self.carts
        trees = (carts.features[own], carts.cuts[own], carts.left[own], carts.says[own])
        add_cart_votes(codes, rows, starts - starts[0], *trees, self.coefficients[rounds], sums)


def boost_node(
    table: TrainingRows,
    index: IntArray,
    positive: NDArray[np.bool_],
    learner: CartPerClass,
    seeds: NDArray[np.uint64],
) -> NodeVotes:
    """Tell two groups of rows apart by AdaBoost.

    Parameters
    ----------
    table : TrainingRows
        Shared by all nodes.
    index : int32 array of shape (n_rows,)
        The rows of the node.
    positive : bool array of shape (n_rows,)
        Which of them are of the first group.
    learner : CartPerClass
    seeds : uint64 array of shape (n_rounds,)

    Returns
    -------
    NodeVotes
        Where all rows are of one group, that is what they say.

    Examples
    --------
    >>> codes = np.arange(8, dtype=np.uint8)[:, None]
    >>> table = TrainingRows(codes, np.array([8]), np.ones(8, dtype=np.float32))
    >>> index = np.arange(8, dtype=np.int32)
    >>> seeds = np.arange(20, dtype=np.uint64)
    >>> votes = boost_node(table, index, index < 4, CartPerClass(), seeds)
    >>> np.sign(votes.scores(codes)).astype(int).tolist()
    [1, 1, 1, 1, -1, -1, -1, -1]
    """
    from palmette._kernels.cart_boost import boost_carts

    order = np.lexsort((table.content_rank[index], ~positive))
    index = index[order]
    weights = table.weights[index].astype(np.float64)
    starts, features, cuts, left, says, coefficients = boost_carts(
        table.codes,
        table.by_feature,
        index,
        int(positive.sum()),
        weights / weights.sum(),
        learner.n_draws(weights),
        *learner.growth(table.n_features),
        LEAST_ERROR,
        seeds,
    )
    return NodeVotes(Carts(starts, features, cuts, left, says), coefficients)
