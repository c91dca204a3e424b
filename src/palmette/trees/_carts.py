"""Full classification trees for two classes: what they are grown on, growing and walking them.

A tree is flat arrays, a place for every node: ``features``, ``cuts``, ``left`` (the right child
stands next to the left one) and ``says`` (-1 or +1, the majority of the node). The root is at place
0. A code up to the cut goes left. A leaf leads to itself: its ``left`` is its own place, and its
cut 255, so that nothing goes right. Trees are as deep as the rows require. Where several trees are
stored one after the other, ``starts`` says where each begins, and ``left`` counts from there.

Weights are whole numbers: how often a row was drawn, or its weight in small units. Sums are exact,
whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._arrays import BinArray
from palmette.persistence.checks import check_starts, numbers, require, same_shapes
from palmette.trees._random import NODE_STRIDE, State, next_below

__all__ = [
    "WHOLE",
    "Carts",
    "ask_carts",
    "draw_counts",
    "draw_rows",
    "find_leaves",
    "grow_cart",
    "hash_rows",
    "round_weights",
    "weigh_rows",
]


Codes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Packed: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.int8]
Sums: TypeAlias = NDArray[np.float64]
Tree: TypeAlias = tuple[Indices, Codes, Indices, Signs]

WHOLE = 2**30  # what weights that are not drawn by are rounded to sum to

_LOW = np.int64(0xFFFFFFFF)
_CLEARLY = 1.00001  # two cuts may be equally good, and their gains differ by rounding
_NOTHING = -1.0  # worth less than any cut
_FEW = 24  # rows that are sorted by their codes quicker than counted by them
_TOGETHER = 4  # rows that go down a tree side by side: one waits for memory while others move


@njit(cache=True, nogil=True)
def hash_rows(codes: Codes) -> NDArray[np.uint64]:
    """Return a number for every row that follows from its codes: copies of a row share it.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN

    Returns
    -------
    uint64 array of shape (n_samples,)
    """
    hashes = np.empty(codes.shape[0], dtype=np.uint64)
    for i in range(codes.shape[0]):
        value = np.uint64(0x9E3779B97F4A7C15)
        for j in range(codes.shape[1]):
            value = (value ^ np.uint64(codes[i, j])) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        hashes[i] = value
    return hashes


@njit(cache=True, nogil=True)
def _step(state: State) -> float:
    """Draw from the exponential distribution of mean one."""
    return float(-np.log((next_below(state, 2**31 - 1) + 1) / 2.0**31))


@njit(cache=True, nogil=True)
def _signs_apart(signed: Sums, order: Indices) -> tuple[Indices, int]:
    """Return the rows that weigh something, the positive ones first; and how many those are."""
    n_positive, n_both = 0, 0
    for row in order:
        n_positive += signed[row] > 0.0
        n_both += signed[row] != 0.0
    rows = np.empty(n_both, dtype=np.int32)
    first, second = 0, n_positive
    for row in order:
        if signed[row] > 0.0:
            rows[first] = row
            first += 1
        elif signed[row] < 0.0:
            rows[second] = row
            second += 1
    return rows, n_positive


@njit(cache=True, nogil=True)
def draw_counts(weights: Sums, n_draws: int, seed: State) -> Indices:
    """Draw rows with replacement; return how often each was drawn.

    Parameters
    ----------
    weights : float64 array of shape (n_rows,), IN
    n_draws : int
    seed : uint64 array of shape (1,), IN
    """
    counts, total = np.zeros(len(weights), dtype=np.int32), 0.0
    for weight in weights:
        total += weight
    # evenly spread points in ascending order are sums of exponential steps: nothing is sorted
    state, points, reached = seed.copy(), np.empty(n_draws), 0.0
    for k in range(n_draws):
        reached += _step(state)
        points[k] = reached
    scale = total / (reached + _step(state))
    if len(weights) == 0:
        return counts
    place, up_to = 0, weights[0]
    for k in range(n_draws):
        point = points[k] * scale
        while up_to <= point and place < len(weights) - 1:
            place += 1
            up_to += weights[place]
        counts[place] += 1
    return counts


@njit(cache=True, nogil=True)
def round_weights(weights: Sums) -> Indices:
    """Round weights, as shares of their sum, to multiples of ``1 / WHOLE``."""
    counts, total = np.zeros(len(weights), dtype=np.int32), 0.0
    for weight in weights:
        total += weight
    for i in range(len(weights)):
        counts[i] = np.int32(np.rint(weights[i] / total * WHOLE))
    return counts


@njit(cache=True, nogil=True)
def draw_rows(
    signed: Sums, order: Indices, n_draws: int, seed: State
) -> tuple[Indices, Indices, Flags]:
    """Draw rows with replacement, as their weights say.

    Rows of one sign that stand together in `order` are drawn as one row of their common weight
    would be: where copies stand together, a weight of two is two copies.

    Parameters
    ----------
    signed : float64 array of shape (n_samples,), IN
        Weights, negative for negative rows.
    order : int32 array, IN
        The rows that may be drawn.
    n_draws : int
    seed : uint64 array of shape (1,), IN

    Returns
    -------
    rows : int32 array of shape (n_drawn,)
        Those that were drawn, each once; the positive ones first.
    counts : int32 array of shape (n_drawn,)
        How often.
    positive : bool array of shape (n_drawn,)
    """
    rows, n_positive = _signs_apart(signed, order)
    counts = draw_counts(np.abs(signed[rows]), n_draws, seed)
    drawn = np.flatnonzero(counts)
    return rows[drawn], counts[drawn], drawn < n_positive


@njit(cache=True, nogil=True)
def weigh_rows(signed: Sums, order: Indices) -> tuple[Indices, Indices, Flags]:
    """Take every row once, with its weight as a whole number; see `draw_rows`.

    Rows of less than half of ``1 / WHOLE`` of the weight are left out.
    """
    rows, n_positive = _signs_apart(signed, order)
    counts = round_weights(np.abs(signed[rows]))
    kept = np.flatnonzero(counts)
    return rows[kept], counts[kept], kept < n_positive


@njit(cache=True, nogil=True)
def _worth(left: int, total: int) -> float:
    """Gini gain of a cut, up to what all cuts of a node share.

    A sum of weights is packed: the positive ones in the upper half, the negative ones in the lower.
    """
    positive, negative = left >> 32, left & _LOW
    rest_positive, rest_negative = (total >> 32) - positive, (total & _LOW) - negative
    lead, rest_lead = float(positive - negative), float(rest_positive - rest_negative)
    weight, rest = float(positive + negative), float(rest_positive + rest_negative)
    return lead * lead / weight + rest_lead * rest_lead / rest


@njit(cache=True, nogil=True)
def _best_by_sorting(
    codes: Codes, rows: Indices, packed: Packed, total: int, room: Packed
) -> tuple[int, float]:
    """Return the best cut of one feature and its worth; cut -1 where all codes are equal.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples,), IN
    rows, packed : int32 and int64 arrays of shape (n_rows,), IN
    total : int
        Sum of `packed`.
    room : int64 array of shape (>= 2 * n_rows,), for its own use
    """
    n_rows = len(rows)
    order, sums = room[:n_rows], room[n_rows : 2 * n_rows]
    for i in range(n_rows):
        code, value, j = np.int64(codes[rows[i]]), packed[i], i
        while j > 0 and order[j - 1] > code:
            order[j], sums[j] = order[j - 1], sums[j - 1]
            j -= 1
        order[j], sums[j] = code, value
    best, best_worth, reached = -1, _NOTHING, np.int64(0)
    for i in range(n_rows - 1):
        reached += sums[i]
        if order[i] < order[i + 1]:
            worth = _worth(reached, total)
            if worth > best_worth * _CLEARLY:
                best, best_worth = int(order[i]), worth
    return best, best_worth


@njit(cache=True, nogil=True)
def _best_by_counting(
    codes: Codes, rows: Indices, packed: Packed, total: int, bins: Packed
) -> tuple[int, float]:
    """Do as `_best_by_sorting`; `bins`, one for every code, are zero before and after."""
    low, high = 255, 0
    for i in range(len(rows)):
        code = int(codes[rows[i]])
        bins[code] += packed[i]
        low, high = min(low, code), max(high, code)
    best, best_worth, reached = -1, _NOTHING, np.int64(0)
    for code in range(low, high):
        here = bins[code]
        if here != 0:
            bins[code] = 0
            reached += here
            worth = _worth(reached, total)
            if worth > best_worth * _CLEARLY:
                best, best_worth = code, worth
    bins[high] = 0
    return best, best_worth


@njit(cache=True, nogil=True)
def _part(
    codes: Codes, cut: int, rows: Indices, packed: Packed, rows_room: Indices, room: Packed
) -> int:
    """Put the rows that go left before the others, each side in its old order; count them."""
    # every row is written to both sides, and one of them moves on: no branch to mispredict
    n_left = np.uint64(0)
    for i in range(len(rows)):
        row, value, place = rows[i], packed[i], np.uint64(i) - n_left
        rows[n_left], packed[n_left] = row, value
        rows_room[place], room[place] = row, value
        n_left += np.uint64(codes[row] <= cut)
    size = int(np.int64(n_left))
    for i in range(len(rows) - size):
        rows[size + i], packed[size + i] = rows_room[i], room[i]
    return size


@njit(cache=True, nogil=True)
def grow_cart(
    codes_by_feature: Codes,
    rows: Indices,
    weights: Indices,
    positive: Flags,
    n_tried: int,
    max_depth: int,
    seed: State,
) -> Tree:
    """Grow a tree until its leaves are pure, or no feature varies in them.

    Cuts compete by the Gini gain, also where it is nothing: cuts of a feature in ascending order,
    then the features in the order in which they are drawn. One takes the lead only where it is
    better by the factor 1.00001.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), IN
    rows : int32 array of shape (n_rows,), IN
    weights : int32 array of shape (n_rows,), IN
        Positive; sum to less than 2**31.
    positive : bool array of shape (n_rows,), IN
    n_tried : int
        Features that compete at a node, drawn anew for each, of those that vary there.
    max_depth : int
    seed : uint64 array of shape (1,), IN
        Every node draws from numbers of its own.

    Returns
    -------
    features, cuts, left, says : arrays of shape (n_places,)
        Level by level.
    """
    n_features, n_rows = codes_by_feature.shape[0], len(rows)
    most = max(2 * n_rows - 1, 1)
    features, cuts = np.zeros(most, dtype=np.int32), np.full(most, 255, dtype=np.uint8)
    left, says = np.arange(most).astype(np.int32), np.full(most, -1, dtype=np.int8)
    begins, ends = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.int32)
    depths = np.zeros(most, dtype=np.int32)
    own, packed = rows.copy(), weights.astype(np.int64)
    for i in range(n_rows):  # a loop: a masked assignment takes seconds to compile
        if positive[i]:
            packed[i] <<= 32
    rows_room = np.empty(n_rows, dtype=np.int32)
    room = np.empty(max(n_rows, 2 * _FEW), dtype=np.int64)
    bins, order = np.zeros(256, dtype=np.int64), np.arange(n_features).astype(np.int32)
    state, swaps = np.empty(1, dtype=np.uint64), np.empty(n_features, dtype=np.int32)
    ends[0], n_nodes, node = n_rows, 1, -1
    while node < n_nodes - 1:
        node += 1
        here, sums = own[begins[node] : ends[node]], packed[begins[node] : ends[node]]
        total = sums.sum()
        says[node] = 1 if total >> 32 > total & _LOW else -1
        if total >> 32 == 0 or total & _LOW == 0 or depths[node] >= max_depth:
            continue
        state[0] = seed[0] + np.uint64(node) * NODE_STRIDE
        feature, cut, best, n_seen, n_varied = -1, 0, _NOTHING, 0, 0
        while n_seen < n_features and n_varied < n_tried:
            other = n_seen + next_below(state, n_features - n_seen)
            order[n_seen], order[other] = order[other], order[n_seen]
            codes = codes_by_feature[order[n_seen]]
            if len(here) <= _FEW:
                found, worth = _best_by_sorting(codes, here, sums, total, room)
            else:
                found, worth = _best_by_counting(codes, here, sums, total, bins)
            n_varied += found >= 0
            if found >= 0 and worth > best * _CLEARLY:
                feature, cut, best = order[n_seen], found, worth
            swaps[n_seen] = other
            n_seen += 1
        for k in range(n_seen - 1, -1, -1):  # a node draws as if it were the first
            order[k], order[swaps[k]] = order[swaps[k]], order[k]
        if feature < 0:
            continue
        size = _part(codes_by_feature[feature], cut, here, sums, rows_room, room)
        features[node], cuts[node], left[node] = feature, cut, n_nodes
        depths[n_nodes : n_nodes + 2] = depths[node] + 1
        begins[n_nodes], ends[n_nodes] = begins[node], begins[node] + size
        begins[n_nodes + 1], ends[n_nodes + 1] = begins[node] + size, ends[node]
        n_nodes += 2
    return (
        features[:n_nodes].copy(),
        cuts[:n_nodes].copy(),
        left[:n_nodes].copy(),
        says[:n_nodes].copy(),
    )


# ------------------------------------------------------------------------------------------ walking


@njit(cache=True, nogil=True)
def find_leaves(
    codes: Codes, rows: Indices, features: Indices, cuts: Codes, left: Indices, leaves: Indices
) -> None:
    """Find the leaf of some rows in one tree.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    rows : int32 array of shape (n_rows,), IN
    features, cuts, left : arrays of shape (n_places,), IN
    leaves : int32 array of shape (>= n_rows,), OUT
    """
    n_rows = len(rows)
    for i in range(0, n_rows - n_rows % _TOGETHER, _TOGETHER):
        a, b, c, d = codes[rows[i]], codes[rows[i + 1]], codes[rows[i + 2]], codes[rows[i + 3]]
        p, q, r, s = 0, 0, 0, 0
        moving = True
        while moving:
            to_p = left[p] + (1 if a[features[p]] > cuts[p] else 0)
            to_q = left[q] + (1 if b[features[q]] > cuts[q] else 0)
            to_r = left[r] + (1 if c[features[r]] > cuts[r] else 0)
            to_s = left[s] + (1 if d[features[s]] > cuts[s] else 0)
            moving = to_p != p or to_q != q or to_r != r or to_s != s
            p, q, r, s = to_p, to_q, to_r, to_s
        leaves[i], leaves[i + 1], leaves[i + 2], leaves[i + 3] = p, q, r, s
    for i in range(n_rows - n_rows % _TOGETHER, n_rows):
        own, place = codes[rows[i]], 0
        while left[place] != place:
            place = left[place] + (1 if own[features[place]] > cuts[place] else 0)
        leaves[i] = place


@njit(cache=True, nogil=True)
def ask_carts(
    codes: Codes,
    rows: Indices,
    starts: Offsets,
    features: Indices,
    cuts: Codes,
    left: Indices,
    says: Signs,
    places: Codes,
) -> None:
    """Write what every tree says to every row.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    rows : int32 array of shape (n_rows,), IN
    starts : int64 array of shape (n_trees + 1,), IN
    features, cuts, left, says : arrays of shape (n_places,), IN
    places : uint8 array of shape (n_rows, n_trees), OUT
        1 for -1, and 2 for +1.
    """
    leaves = np.empty(len(rows), dtype=np.int32)
    for t in range(len(starts) - 1):
        own = slice(starts[t], starts[t + 1])
        find_leaves(codes, rows, features[own], cuts[own], left[own], leaves)
        for i in range(len(rows)):
            places[i, t] = 2 if says[starts[t] + leaves[i]] > 0 else 1


@dataclass(frozen=True, eq=False)
class Carts:
    """Full trees for two classes, one after the other, as `_kernels.carts` grows them.

    Parameters
    ----------
    starts : int64 array of shape (n_trees + 1,)
        Where each tree begins.
    features, cuts, left, says : int32, uint8, int32 and int8 arrays of shape (n_places,)
        What splits a place, where its left child is within the tree, and what its rows are: -1 or
        +1. A leaf leads to itself.
    """

    starts: NDArray[np.int64]
    features: NDArray[np.int32]
    cuts: BinArray
    left: NDArray[np.int32]
    says: NDArray[np.int8]

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        left = numbers(self.left, np.int32, 1, "left")
        same_shapes(
            left,
            numbers(self.features, np.int32, 1, "features"),
            numbers(self.cuts, np.uint8, 1, "cuts"),
            numbers(self.says, np.int8, 1, "says"),
        )
        numbers(self.starts, np.int64, 1, "starts")
        sizes = check_starts(self.starts, None, len(left))
        require(sizes > 0, "a tree has no places")
        places = np.arange(len(left)) - np.repeat(self.starts[:-1], sizes)
        # a leaf leads to itself, whatever the code of a row: no code is above the largest cut
        is_leaf = (left == places) & (self.cuts == 255)
        leads_on = (left > places) & (left + np.int64(1) < np.repeat(sizes, sizes))
        require(is_leaf | leads_on, "a tree leads to a place that does not exist")
        require(self.features >= 0, "a tree uses a feature that does not exist")

    @classmethod
    def of(cls, trees: Iterable[tuple[NDArray[Any], ...]]) -> Carts:
        """Put trees one after the other, each (features, cuts, left, says)."""
        parts = list(zip(*trees, strict=True))
        starts = np.zeros(len(parts[0]) + 1, dtype=np.int64)
        np.cumsum([len(features) for features in parts[0]], out=starts[1:])
        return cls(starts, *(np.concatenate(part) for part in parts))

    def split_features(self, tree: int) -> NDArray[np.int32]:
        """Feature of every split of a tree."""
        own = slice(*self.starts[tree : tree + 2].tolist())
        splits = self.left[own] != np.arange(own.stop - own.start)
        return np.asarray(self.features[own][splits])

    def places(self, codes: BinArray) -> NDArray[np.uint8]:
        """What every tree says to rows, (n_samples, n_trees): 1 for -1, and 2 for +1."""

        asked = np.arange(len(codes), dtype=np.int32)
        places = np.empty((len(asked), len(self.starts) - 1), dtype=np.uint8)
        parts = (self.starts, self.features, self.cuts, self.left, self.says)
        ask_carts(codes, asked, *parts, places)
        return places
