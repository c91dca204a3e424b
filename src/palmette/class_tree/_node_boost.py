"""Binary AdaBoost of full trees at one node: fitting all rounds, and the votes of the trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import BinArray, read_only
from palmette._kernels import as_read_only, inner, kernel
from palmette.persistence.checks import numbers, require
from palmette.trees._binning import BinnedRows
from palmette.trees._carts import (
    Carts,
    CartSettings,
    draw_counts,
    find_leaves,
    grow_in_kernel,
    round_weights,
    take_drawn,
)

Codes: TypeAlias = NDArray[np.uint8]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.int8]
Sums: TypeAlias = NDArray[np.float64]

LEAST_ERROR = 1e-3  # a tree without an error would have an infinite coefficient

_TINY = np.finfo(np.float64).tiny
_BLOCK = 512  # rows that all trees predict before the next; their codes stay in the cache


@inner(inline="always")
def _edge(
    weights: Sums, says: Signs, leaves: Indices, n_positive: int, right: NDArray[np.uint8]
) -> float:
    """Mark the rows that a tree predicts correctly; return its edge."""
    lead, total = 0.0, 0.0
    for i in range(len(weights)):
        agrees = (says[leaves[i]] > 0) == (i < n_positive)
        right[i] = agrees
        lead += weights[i] if agrees else -weights[i]
        total += weights[i]
    return lead / total


@inner(inline="always")
def _reweigh(weights: Sums, right: NDArray[np.uint8], coefficient: float) -> None:
    """Multiply the weights by the loss of the votes, and scale them to sum to one."""
    # a table lookup: there is no branch to mispredict
    factors, total = np.empty(2, np.float64), 0.0
    factors[0], factors[1] = np.exp(coefficient), np.exp(-coefficient)
    for i in range(len(weights)):
        weights[i] *= factors[right[i]]
        total += weights[i]
    scale = 1.0 / total
    for i in range(len(weights)):
        weights[i] *= scale


def boost_carts(*arguments: Any) -> tuple[Offsets, Indices, Codes, Indices, Signs, Sums]:
    """Fit AdaBoost to positive and negative rows; see `_boost_carts` for the arguments.

    Returns
    -------
    starts : int64 array of shape (n_rounds + 1,)
    features, cuts, left, says : arrays of shape (n_places,)
        The trees, concatenated.
    coefficients : float64 array of shape (n_rounds,)
    """
    starts, places, coefficients = _boost_carts(*arguments)
    features, cuts, left, says = places[: starts[-1]].T
    return (
        starts,
        features.copy(),
        cuts.astype(np.uint8),
        left.copy(),
        says.astype(np.int8),
        coefficients,
    )


@kernel
def _boost_carts(
    codes: Codes,
    codes_by_feature: Codes,
    index: Indices,
    n_positive: int,
    weights: Sums,
    n_draws: int,
    n_tried: int,
    max_depth: int,
    least_error: float,
    seeds: NDArray[np.uint64],
) -> tuple[Offsets, Indices, Sums]:
    """Fit AdaBoost to positive and negative rows.

    The error of a tree counts as at least `least_error`, so that boosting continues after a tree
    without an error. A tree that is no better than chance has the coefficient 0, and the next round
    draws other rows.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    codes_by_feature : uint8 array of shape (n_features, n_samples), IN
    index : int32 array of shape (n_rows,), IN
        The rows of the node: positive rows first, copies of a row adjacent.
    n_positive : int
    weights : float64 array of shape (n_rows,), IN and OUT
        Positive; on return, the weights after the last round.
    n_draws : int
        Number of rows drawn by weight for every tree; 0 to use all rows with their weights.
    n_tried, max_depth : int
        See `grow_in_kernel`.
    least_error : float
    seeds : uint64 array of shape (n_rounds,), IN

    Returns
    -------
    starts : int64 array of shape (n_rounds + 1,)
    places : int32 array of shape (>= n_places, 4)
        Features, cuts, left children and votes of the trees, one after the other. One array of one
        type: numba compiles every function of arrays once per type.
    coefficients : float64 array of shape (n_rounds,)
    """
    n_rounds, n_rows = len(seeds), len(index)
    starts, coefficients = np.empty(n_rounds + 1, np.int64), np.empty(n_rounds, np.float64)
    starts[0] = 0
    places = np.empty((n_rows, 4), np.int32)
    leaves, right = np.empty(n_rows, np.int32), np.empty(n_rows, np.uint8)
    for turn in range(n_rounds):
        seed = seeds[turn : turn + 1]
        counts = draw_counts(weights, n_draws, seed) if n_draws > 0 else round_weights(weights)
        rows, times, positive = take_drawn(index, counts, n_positive)
        features, cuts, left, says = grow_in_kernel(
            codes_by_feature, rows, times, positive, n_tried, max_depth, seed
        )
        find_leaves(
            codes, index, as_read_only(features), as_read_only(cuts), as_read_only(left), leaves
        )
        edge = _edge(weights, says, leaves, n_positive, right)
        most = 1.0 - 2.0 * least_error
        edge = edge if edge < most else most
        coefficients[turn] = 0.0
        if edge > 0.0:
            coefficients[turn] = np.arctanh(edge)
            _reweigh(weights, right, coefficients[turn])
        start, stop = starts[turn], starts[turn] + len(features)
        starts[turn + 1] = stop
        if stop > len(places):
            longer = np.empty((2 * stop, 4), np.int32)
            for i in range(start):
                for k in range(4):
                    longer[i, k] = places[i, k]
            places = longer
        for i in range(stop - start):
            places[start + i, 0], places[start + i, 1] = features[i], cuts[i]
            places[start + i, 2], places[start + i, 3] = left[i], says[i]
    return starts, places, coefficients


@kernel
def add_cart_votes(
    codes: Codes,
    rows: Indices,
    starts: Offsets,
    features: Indices,
    cuts: Codes,
    left: Indices,
    says: Signs,
    coefficients: Sums,
    scores: Sums,
) -> None:
    """Add the vote of every tree, times its coefficient, to the scores of rows.

    Parameters
    ----------
    codes, rows, starts, features, cuts, left, says
        See `predict_carts`, IN.
    coefficients : float64 array of shape (n_trees,), IN
    scores : float64 array of shape (n_rows,), IN and OUT
    """
    leaves = np.empty(_BLOCK, np.int32)
    for first in range(0, len(rows), _BLOCK):
        block = rows[first : first + _BLOCK]
        for t in range(len(starts) - 1):
            own = slice(starts[t], starts[t + 1])
            find_leaves(codes, block, features[own], cuts[own], left[own], leaves)
            for i in range(len(block)):
                scores[first + i] += coefficients[t] * says[starts[t] + leaves[i]]


@dataclass(frozen=True, eq=False)
class NodeVotes:
    """The trees of a node and their coefficients.

    Parameters
    ----------
    carts : Carts
        One tree per round.
    coefficients : float64 array of shape (n_rounds,)
        0 for a tree that is no better than chance.
    """

    carts: Carts
    coefficients: Sums

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.carts, Carts), "the trees of a node are not Carts")
        n_trees = len(numbers(self.coefficients, np.float64, 1, "coefficients"))
        require(n_trees == len(self.carts.starts) - 1, "trees and coefficients do not fit together")

    def scores(self, codes: BinArray, rows: Indices | None = None) -> Sums:
        """Return the mean vote of the trees weighted by their coefficients, from -1 to +1."""
        chosen = np.arange(len(codes), dtype=np.int32) if rows is None else rows
        sums = np.zeros(len(chosen))
        self._add(slice(0, len(self.coefficients)), codes, chosen, sums)
        return np.asarray(sums / max(self._totals[-1], _TINY))

    def staged_scores(self, codes: BinArray) -> Iterator[Sums]:
        """Yield the scores after each round."""
        rows, sums = np.arange(len(codes), dtype=np.int32), np.zeros(len(codes))
        for turn, total in enumerate(self._totals.tolist()):
            self._add(slice(turn, turn + 1), codes, rows, sums)
            yield sums / max(total, _TINY)

    @property
    def _totals(self) -> Sums:
        # summed in the order of the rounds, so that the last stage is bit-equal to `scores`
        return np.cumsum(self.coefficients)

    def _add(self, rounds: slice, codes: BinArray, rows: Indices, sums: Sums) -> None:
        starts = self.carts.starts[rounds.start : rounds.stop + 1]
        own = slice(int(starts[0]), int(starts[-1]))
        carts = self.carts
        add_cart_votes(
            codes,
            rows,
            starts - starts[0],
            read_only(carts.features[own]),
            read_only(carts.cuts[own]),
            read_only(carts.left[own]),
            read_only(carts.says[own]),
            read_only(self.coefficients[rounds]),
            sums,
        )


def boost_node(
    table: BinnedRows,
    index: Indices,
    positive: NDArray[np.bool_],
    settings: CartSettings,
    seeds: NDArray[np.uint64],
) -> NodeVotes:
    """Fit AdaBoost to two groups of rows.

    Parameters
    ----------
    table : BinnedRows
        Shared by all nodes.
    index : int32 array of shape (n_rows,)
        The rows of the node.
    positive : bool array of shape (n_rows,)
        Whether each of them is in the first group.
    settings : CartSettings
    seeds : uint64 array of shape (n_rounds,)

    Returns
    -------
    NodeVotes
        If all rows are in one group, the trees vote for that group.

    Examples
    --------
    >>> codes = np.arange(8, dtype=np.uint8)[:, None]
    >>> table = BinnedRows(codes, np.array([8]), np.ones(8, dtype=np.float32))
    >>> index = np.arange(8, dtype=np.int32)
    >>> seeds = np.arange(20, dtype=np.uint64)
    >>> votes = boost_node(table, index, index < 4, CartSettings(), seeds)
    >>> np.sign(votes.scores(codes)).astype(int).tolist()
    [1, 1, 1, 1, -1, -1, -1, -1]
    """
    order = np.lexsort((table.content_rank[index], ~positive))
    index = index[order]
    weights = table.weights[index].astype(np.float64)
    starts, features, cuts, left, says, coefficients = boost_carts(
        table.codes,
        table.by_feature,
        index,
        int(positive.sum()),
        weights / weights.sum(),
        settings.n_draws(weights),
        *settings.growth(table.n_features),
        LEAST_ERROR,
        seeds,
    )
    return NodeVotes(Carts(starts, features, cuts, left, says), coefficients)
