"""Full classification trees (CART) for two classes: settings, drawing rows, growing, predicting.

A tree is a set of flat arrays with one place per node: ``features``, ``cuts``, ``left`` (the right
child follows the left one) and ``says`` (-1 or +1, the majority of the node). The root is at place
0. A code up to the cut goes left. A leaf is its own child: its ``left`` is its own place, and its
cut is 255, so that no code goes right. Trees are as deep as the rows require. Where several trees
are stored in one array, ``starts`` holds their offsets, and ``left`` is relative to them.

Weights are integers: the number of times a row was drawn, or its weight in small units. Sums are
therefore exact, in any order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import BinArray
from palmette._kernels import inner, int64, kernel
from palmette.base._parameters import is_count, is_number
from palmette.exceptions import PalmetteError
from palmette.persistence.checks import check_starts, numbers, require, same_shapes
from palmette.trees._binning import count_features
from palmette.trees._random import NODE_STRIDE, State, next_below

Codes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Packed: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.int8]
Sums: TypeAlias = NDArray[np.float64]
Tree: TypeAlias = tuple[Indices, Codes, Indices, Signs]

WHOLE = 2**30  # sum of the integer weights where rows are not drawn

_LOW = np.int64(0xFFFFFFFF)
_CLEARLY = 1.00001  # the gains of equally good cuts may differ by rounding
_NOTHING = -1.0  # below the gain of any cut
_FEW = 24  # up to this number of rows, sorting by code is faster than counting
_TOGETHER = 4  # rows descended at once: while one waits for memory, the others advance
_NO_LIMIT = 2**30
_FINE: Any = np.int64(2**31 - 1)  # number of equally likely values of a draw
_MOST_DRAWS = 10  # per row: limits the time that large sample weights can take


@dataclass(frozen=True)
class CartSettings:
    """Settings of the trees that `grow_cart` grows.

    Parameters
    ----------
    max_depth : int, optional
        No limit by default.
    max_features : int, float, "sqrt" or None
        Number or share of the features considered at a split; None for all.
    resample : bool or float
        Whether rows are drawn by weight, as many as there are or the given share of that number.
    """

    max_depth: int | None = None
    max_features: int | float | str | None = "sqrt"
    resample: bool | float = True

    def check(self) -> None:
        """Raise an error for invalid values."""
        if self.max_depth is not None and not is_count(self.max_depth):
            raise PalmetteError(
                f"max_depth={self.max_depth!r}: expected a positive integer or None."
            )
        is_share = is_number(self.resample) and 0 < self.resample <= 1
        if not isinstance(self.resample, bool | np.bool_) and not is_share:
            raise PalmetteError(
                f"resample={self.resample!r}: expected True, False or a share above 0 and up to 1."
            )
        count_features(self.max_features, 1)

    def n_draws(self, weights: NDArray[Any]) -> int:
        """Return the number of rows to draw from rows of given weights; 0 to use all rows."""
        # a weight of k counts as k rows; small weights do not reduce the number of rows
        n_rows, total = len(weights), float(weights.sum(dtype=np.float64))
        number = min(max(total, n_rows), _MOST_DRAWS * n_rows)
        return max(1, round(float(self.resample) * number)) if self.resample else 0

    def growth(self, n_features: int) -> tuple[int, int]:
        """Return `n_tried` and `max_depth` of `grow_cart`."""
        depth = _NO_LIMIT if self.max_depth is None else self.max_depth
        return count_features(self.max_features, n_features), depth


@inner(inline="always")
def _step(state: State) -> float:
    """Draw from the exponential distribution of mean one."""
    return float(-np.log((next_below(state, _FINE) + 1) / 2.0**31))


@inner(inline="always")
def _sort_by_sign(signed: Sums, order: Indices) -> tuple[Indices, int]:
    """Return the rows of non-zero weight, positive ones first, and the number of these."""
    n_positive, n_both = 0, 0
    for row in order:
        n_positive += signed[row] > 0.0
        n_both += signed[row] != 0.0
    rows = np.empty(n_both, np.int32)
    first, second = 0, n_positive
    for row in order:
        if signed[row] > 0.0:
            rows[first] = row
            first += 1
        elif signed[row] < 0.0:
            rows[second] = row
            second += 1
    return rows, n_positive


@inner(inline="always")
def _sizes(signed: Sums, rows: Indices) -> Sums:
    """Return the absolute weights of some rows."""
    sizes = np.empty(len(rows), np.float64)
    for i in range(len(rows)):
        sizes[i] = abs(signed[rows[i]])
    return sizes


@inner(inline="always")
def take_drawn(rows: Indices, counts: Indices, n_positive: int) -> tuple[Indices, Indices, Flags]:
    """Return the rows that were drawn, their counts, and whether they are positive.

    The first `n_positive` rows are.
    """
    n_drawn = 0  # loops: numba takes seconds to compile an assignment by mask or by slice
    for i in range(len(counts)):
        n_drawn += counts[i] != 0
    drawn, times = np.empty(n_drawn, np.int32), np.empty(n_drawn, np.int32)
    positive, at = np.empty(n_drawn, np.bool_), 0
    for i in range(len(counts)):
        if counts[i] != 0:
            drawn[at], times[at], positive[at] = rows[i], counts[i], i < n_positive
            at += 1
    return drawn, times, positive


@inner
def draw_counts(weights: Sums, n_draws: int, seed: State) -> Indices:
    """Draw rows with replacement; return the number of times each was drawn.

    Parameters
    ----------
    weights : float64 array of shape (n_rows,), IN
    n_draws : int
    seed : uint64 array of shape (1,), IN
    """
    counts, total = np.empty(len(weights), np.int32), 0.0
    for i in range(len(weights)):
        counts[i] = 0
        total += weights[i]
    # sorted uniform points are cumulative sums of exponential steps: no sorting is needed
    state, points, reached = np.empty(1, np.uint64), np.empty(n_draws, np.float64), 0.0
    state[0] = seed[0]
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


@inner(inline="always")
def round_weights(weights: Sums) -> Indices:
    """Round weights, as shares of their sum, to multiples of ``1 / WHOLE``."""
    counts, total = np.empty(len(weights), np.int32), 0.0
    for i in range(len(weights)):
        total += weights[i]
    for i in range(len(weights)):
        counts[i] = np.int32(np.rint(weights[i] / total * WHOLE))
    return counts


@kernel
def draw_rows(
    signed: Sums, order: Indices, n_draws: int, seed: State
) -> tuple[Indices, Indices, Flags]:
    """Draw rows with replacement, with probabilities proportional to their weights.

    Adjacent rows of one sign in `order` are drawn like one row of their total weight: where copies
    of a row are adjacent, a weight of two equals two copies.

    Parameters
    ----------
    signed : float64 array of shape (n_samples,), IN
        Weights of the rows, negative for negative rows.
    order : int32 array, IN
        The rows that may be drawn.
    n_draws : int
    seed : uint64 array of shape (1,), IN

    Returns
    -------
    rows : int32 array of shape (n_drawn,)
        The rows that were drawn, each once, positive ones first.
    counts : int32 array of shape (n_drawn,)
        Number of times each was drawn.
    positive : bool array of shape (n_drawn,)
    """
    rows, n_positive = _sort_by_sign(signed, order)
    counts = draw_counts(_sizes(signed, rows), n_draws, seed)
    return take_drawn(rows, counts, n_positive)


@kernel
def weigh_rows(signed: Sums, order: Indices) -> tuple[Indices, Indices, Flags]:
    """Return every row with its weight as an integer; see `draw_rows`.

    Rows of less than half of ``1 / WHOLE`` of the total weight are omitted.
    """
    rows, n_positive = _sort_by_sign(signed, order)
    return take_drawn(rows, round_weights(_sizes(signed, rows)), n_positive)


@inner(inline="always")
def _gain(left: int, total: int) -> float:
    """Return the Gini gain of a cut, up to a constant of the node.

    A sum of weights holds that of the positive rows in its upper 32 bits, that of the negative rows
    in its lower 32 bits.
    """
    positive, negative = left >> 32, left & _LOW
    rest_positive, rest_negative = (total >> 32) - positive, (total & _LOW) - negative
    lead, rest_lead = float(positive - negative), float(rest_positive - rest_negative)
    weight, rest = float(positive + negative), float(rest_positive + rest_negative)
    return lead * lead / weight + rest_lead * rest_lead / rest


@inner(inline="always")
def _best_by_sorting(
    codes: Codes, rows: Indices, packed: Packed, total: int, buffer: Packed
) -> tuple[int, float]:
    """Return the best cut of one feature and its gain; cut -1 if all codes are equal.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples,), IN
    rows, packed : int32 and int64 arrays of shape (n_rows,), IN
    total : int
        Sum of `packed`.
    buffer : int64 array of shape (>= 2 * n_rows,)
    """
    n_rows = len(rows)
    order, sums = buffer[:n_rows], buffer[n_rows : 2 * n_rows]
    for i in range(n_rows):
        code, value, j = np.int64(codes[rows[i]]), packed[i], i
        while j > 0 and order[j - 1] > code:
            order[j], sums[j] = order[j - 1], sums[j - 1]
            j -= 1
        order[j], sums[j] = code, value
    best, best_gain, reached = -1, _NOTHING, np.int64(0)
    for i in range(n_rows - 1):
        reached += sums[i]
        if order[i] < order[i + 1]:
            gain = _gain(reached, total)
            if gain > best_gain * _CLEARLY:
                best, best_gain = order[i], gain
    return best, best_gain


@inner(inline="always")
def _best_by_counting(
    codes: Codes, rows: Indices, packed: Packed, total: int, bins: Packed
) -> tuple[int, float]:
    """Return the same as `_best_by_sorting`; `bins`, one per code, are zero before and after."""
    low, high = 255, 0
    for i in range(len(rows)):
        code = int64(codes[rows[i]])
        bins[code] += packed[i]
        low = code if code < low else low
        high = code if code > high else high
    best, best_gain, reached = -1, _NOTHING, np.int64(0)
    for code in range(low, high):
        here = bins[code]
        if here != 0:
            bins[code] = 0
            reached += here
            gain = _gain(reached, total)
            if gain > best_gain * _CLEARLY:
                best, best_gain = code, gain
    bins[high] = 0
    return best, best_gain


@inner(inline="always")
def _partition(
    codes: Codes, cut: int, rows: Indices, packed: Packed, rows_buffer: Indices, buffer: Packed
) -> int:
    """Move the rows that go left before the others, keeping the order; return their number."""
    # every row is written to both sides, and one counter advances: no branch to mispredict
    n_left = np.uint64(0)
    for i in range(len(rows)):
        row, value, place = rows[i], packed[i], np.uint64(i) - n_left
        rows[n_left], packed[n_left] = row, value
        rows_buffer[place], buffer[place] = row, value
        n_left += np.uint64(codes[row] <= cut)
    size: int = int64(n_left)
    for i in range(len(rows) - size):
        rows[size + i], packed[size + i] = rows_buffer[i], buffer[i]
    return size


@inner
def grow_in_kernel(
    codes_by_feature: Codes,
    rows: Indices,
    weights: Indices,
    positive: Flags,
    n_tried: int,
    max_depth: int,
    seed: State,
) -> Tree:
    """Grow a tree until its leaves are pure, or no feature varies in them.

    The cut of largest Gini gain is chosen, even if the gain is zero. Cuts of a feature are compared
    in ascending order, then features in the order in which they are drawn; a cut replaces the best
    one so far only if its gain is larger by the factor 1.00001.

    Parameters
    ----------
    codes_by_feature : uint8 array of shape (n_features, n_samples), IN
    rows : int32 array of shape (n_rows,), IN
    weights : int32 array of shape (n_rows,), IN
        Positive, with a sum below 2**31.
    positive : bool array of shape (n_rows,), IN
    n_tried : int
        Number of features considered at a node, drawn from those that vary there.
    max_depth : int
    seed : uint64 array of shape (1,), IN
        Every node has its own random state.

    Returns
    -------
    features, cuts, left, says : arrays of shape (n_places,)
        The nodes, level by level.
    """
    n_features, n_rows = codes_by_feature.shape[0], len(rows)
    most = 2 * n_rows - 1 if n_rows > 0 else 1
    features, left = np.empty(most, np.int32), np.empty(most, np.int32)
    cuts, says = np.empty(most, np.uint8), np.empty(most, np.int8)
    begins, ends = np.empty(most, np.int32), np.empty(most, np.int32)
    depths = np.empty(most, np.int32)
    own, packed = np.empty(n_rows, np.int32), np.empty(n_rows, np.int64)
    for i in range(n_rows):
        own[i] = rows[i]
        packed[i] = np.int64(weights[i]) << 32 if positive[i] else np.int64(weights[i])
    rows_buffer = np.empty(n_rows, np.int32)
    buffer = np.empty(n_rows if n_rows > 2 * _FEW else 2 * _FEW, np.int64)
    bins, order = np.empty(256, np.int64), np.empty(n_features, np.int32)
    for code in range(256):
        bins[code] = 0
    for j in range(n_features):
        order[j] = j
    state, swaps = np.empty(1, np.uint64), np.empty(n_features, np.int32)
    begins[0], ends[0], depths[0], n_nodes, node = 0, n_rows, 0, 1, -1
    while node < n_nodes - 1:
        node += 1
        here, sums = own[begins[node] : ends[node]], packed[begins[node] : ends[node]]
        total = int64(0)
        for i in range(len(sums)):
            total += sums[i]
        features[node], cuts[node], left[node] = 0, 255, node  # a leaf, until it is split
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
                found, gain = _best_by_sorting(codes, here, sums, total, buffer)
            else:
                found, gain = _best_by_counting(codes, here, sums, total, bins)
            n_varied += found >= 0
            if found >= 0 and gain > best * _CLEARLY:
                feature, cut, best = order[n_seen], found, gain
            swaps[n_seen] = other
            n_seen += 1
        for k in range(n_seen - 1, -1, -1):  # restore the order for the next node
            order[k], order[swaps[k]] = order[swaps[k]], order[k]
        if feature < 0:
            continue
        size = _partition(codes_by_feature[feature], cut, here, sums, rows_buffer, buffer)
        features[node], cuts[node], left[node] = feature, cut, n_nodes
        depths[n_nodes] = depths[n_nodes + 1] = depths[node] + 1
        begins[n_nodes], ends[n_nodes] = begins[node], begins[node] + size
        begins[n_nodes + 1], ends[n_nodes + 1] = begins[node] + size, ends[node]
        n_nodes += 2
    return features[:n_nodes], cuts[:n_nodes], left[:n_nodes], says[:n_nodes]


@kernel
def grow_cart(
    codes_by_feature: Codes,
    rows: Indices,
    weights: Indices,
    positive: Flags,
    n_tried: int,
    max_depth: int,
    seed: State,
) -> Tree:
    """Grow a tree as `grow_in_kernel` does; this is the function that Python calls."""
    return grow_in_kernel(codes_by_feature, rows, weights, positive, n_tried, max_depth, seed)


# --------------------------------------------------------------------------------------- predicting


@kernel
def find_leaves(
    codes: Codes, rows: Indices, features: Indices, cuts: Codes, left: Indices, leaves: Indices
) -> None:
    """Find the leaves of some rows in one tree.

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


@kernel
def predict_carts(
    codes: Codes,
    rows: Indices,
    starts: Offsets,
    features: Indices,
    cuts: Codes,
    left: Indices,
    says: Signs,
    places: Codes,
) -> None:
    """Write the vote of every tree for every row.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    rows : int32 array of shape (n_rows,), IN
    starts : int64 array of shape (n_trees + 1,), IN
    features, cuts, left, says : arrays of shape (n_places,), IN
    places : uint8 array of shape (n_rows, n_trees), OUT
        1 for the vote -1, and 2 for the vote +1.
    """
    leaves = np.empty(len(rows), np.int32)
    for t in range(len(starts) - 1):
        own = slice(starts[t], starts[t + 1])
        find_leaves(codes, rows, features[own], cuts[own], left[own], leaves)
        for i in range(len(rows)):
            places[i, t] = 2 if says[starts[t] + leaves[i]] > 0 else 1


@dataclass(frozen=True, eq=False)
class Carts:
    """Several trees grown by `grow_cart`, concatenated.

    Parameters
    ----------
    starts : int64 array of shape (n_trees + 1,)
        Offset of each tree.
    features, cuts, left, says : int32, uint8, int32 and int8 arrays of shape (n_places,)
        Feature and cut of each place, place of its left child within the tree, and its vote, -1 or
        +1. A leaf is its own child.
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
        # a leaf is its own child for any code: no code exceeds the cut 255
        is_leaf = (left == places) & (self.cuts == 255)
        leads_on = (left > places) & (left + np.int64(1) < np.repeat(sizes, sizes))
        require(is_leaf | leads_on, "a tree leads to a place that does not exist")
        require(self.features >= 0, "a tree uses a feature that does not exist")

    @classmethod
    def of(cls, trees: Iterable[tuple[NDArray[Any], ...]]) -> Carts:
        """Concatenate trees, each (features, cuts, left, says)."""
        parts = list(zip(*trees, strict=True))
        starts = np.zeros(len(parts[0]) + 1, dtype=np.int64)
        np.cumsum([len(features) for features in parts[0]], out=starts[1:])
        return cls(starts, *(np.concatenate(part) for part in parts))

    def split_features(self, tree: int) -> NDArray[np.int32]:
        """Return the feature of every split of a tree."""
        own = slice(*self.starts[tree : tree + 2].tolist())
        splits = self.left[own] != np.arange(own.stop - own.start)
        return np.asarray(self.features[own][splits])

    def places(self, codes: BinArray) -> NDArray[np.uint8]:
        """Return the votes of the trees, (n_samples, n_trees): 1 for -1, and 2 for +1."""
        rows = np.arange(len(codes), dtype=np.int32)
        places = np.empty((len(rows), len(self.starts) - 1), dtype=np.uint8)
        parts = (self.starts, self.features, self.cuts, self.left, self.says)
        predict_carts(codes, rows, *parts, places)
        return places
