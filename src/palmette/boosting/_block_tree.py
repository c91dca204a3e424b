"""Growing a tree that all columns share on large data: level by level, with rows in blocks.

The tree does not depend on who has the rows, threads or workers of a cluster, since blocks of rows
do not. It is the tree of `grow_heap_tree` up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import int64, kernel
from palmette.base._fitting import Threads
from palmette.boosting._block_sums import CLEARLY, LEAST, NO_SLOT, WORTH, block_rows
from palmette.boosting._histogram import LANES
from palmette.trees._random import NODE_STRIDE, next_below

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Places: TypeAlias = NDArray[np.uint16]
State: TypeAlias = NDArray[np.uint64]
Sums: TypeAlias = NDArray[np.float64]

_MISSING = 255  # code of missing values
_BUCKETS = 2**17  # numbers in the buckets of a block, which stay in the cache
_LONGEST_GROUP = 8
_MOST_SUMS = 8  # per node, for which blocks are made larger


# ---------------------------------------------------------------------------- random splits


@kernel
def draw_splits(
    nodes: Indices,
    ranges: Codes,
    n_features: int,
    by_feature: bool,
    seed: State,
    features: Indices,
    cuts: Codes,
    n_drawn: Indices,
) -> None:
    """Draw features that vary at nodes, and a cut of each, uniformly from the range of codes.

    Draws are those of `random_shared_split`. The state of the generator moves by one step per draw,
    whatever is drawn: as long as every feature drawn varies, features do not depend on the ranges.

    Parameters
    ----------
    nodes : int32 array of shape (n_slots,), IN
    ranges : uint8 array of shape (n_slots, n_ranges, 3), IN
        Ranges of all features, or of those that are drawn if all vary.
    n_features : int
    by_feature : bool
        Whether the ranges are those of all features.
    seed : uint64 array of shape (1,), IN
    features, cuts : int32 and uint8 arrays of shape (n_slots, n_draws), OUT
        The cut is 255 where fewer features vary.
    n_drawn : int32 array of shape (n_slots,), OUT
        -1 where a feature does not vary and the ranges of others are not known.
    """
    perm, state = np.empty(n_features, np.int32), np.empty(1, np.uint64)
    n_draws = features.shape[1]
    for slot in range(len(nodes)):
        state[0] = seed[0] + np.uint64(nodes[slot]) * NODE_STRIDE
        for j in range(n_features):
            perm[j] = j
        for q in range(n_draws):
            features[slot, q], cuts[slot, q] = 0, _MISSING
        found, n_left = 0, n_features
        while found < n_draws and n_left > 0:
            place = next_below(state, n_left)
            feature = perm[place]
            n_left -= 1
            perm[place] = perm[n_left]
            at = feature if by_feature else found
            low, high = int64(ranges[slot, at, 0]), int64(ranges[slot, at, 1])
            if low < high:
                # missing values count as the largest known code plus one
                high = int64(ranges[slot, at, 2]) if high == _MISSING else high
                features[slot, found] = feature
                cuts[slot, found] = low + next_below(state, high - low)
                found += 1
            elif not by_feature:
                found = -1
                break
        n_drawn[slot] = found


# ---------------------------------------------------------------------------- choosing splits


@kernel
def choose_splits(
    sums: Floats,
    masses: Sums,
    n_drawn: Indices,
    first_draw: int,
    absolute: bool,
    best: Indices,
    gains: Sums,
    sizes: Sums,
    start: int,
    stop: int,
) -> None:
    """Add up the sums of blocks, and choose the split of largest gain at every slot.

    The gain is that of `grow_heap_tree`.

    Parameters
    ----------
    sums, masses
        As of `sum_blocks`, IN.
    n_drawn : int32 array of shape (n_slots,), IN
        Number of splits to choose from.
    first_draw : int
        Number of the first draw in `sums`; those before it were in an earlier call.
    absolute : bool
        Whether the gain uses absolute values instead of squares.
    best : int32 array of shape (n_slots,), IN and OUT
        Number of the best draw so far.
    gains : float64 array of shape (n_slots,), IN and OUT
        Its gain.
    sizes : float64 array of shape (n_slots,), IN and OUT
        Number of rows on the left of it.
    start, stop : int
        The slots to choose for.
    """
    n_blocks, _, n_sums, n_columns = sums.shape
    total, left = np.empty(n_columns, np.float64), np.empty(n_columns, np.float64)
    for slot in range(start, stop):
        weight = 0.0
        for k in range(n_columns):
            total[k] = 0.0
        for block in range(n_blocks):
            weight += masses[block, slot, 0, 0]
            for k in range(n_columns):
                total[k] += sums[block, slot, 0, k]
        for q in range(min(n_sums - 1, n_drawn[slot] - first_draw)):
            weight_left, size_left = 0.0, 0.0
            for k in range(n_columns):
                left[k] = 0.0
            for block in range(n_blocks):
                weight_left += masses[block, slot, 1 + q, 0]
                size_left += masses[block, slot, 1 + q, 1]
                for k in range(n_columns):
                    left[k] += sums[block, slot, 1 + q, k]
            gain_left, gain_right = 0.0, 0.0
            if absolute:
                for k in range(n_columns):
                    gain_left += abs(left[k])
                    gain_right += abs(total[k] - left[k])
                gain = gain_left + gain_right
            else:
                for k in range(n_columns):
                    right = total[k] - left[k]
                    gain_left += left[k] * left[k]
                    gain_right += right * right
                rest = max(weight - weight_left, LEAST * weight)
                gain = gain_left / weight_left + gain_right / rest
            # if two features separate the rows equally well, the first one drawn wins despite
            # rounding
            if first_draw + q == 0 or gain > gains[slot] * CLEARLY:
                best[slot], gains[slot], sizes[slot] = first_draw + q, gain, size_left


# ---------------------------------------------------------------------------- growing


@dataclass(frozen=True, eq=False)
class BlockGrower:
    """Grows trees by random splits.

    Parameters
    ----------
    ranges : uint8 array of shape (1, n_features, 3)
        From `ranges_of_codes`.
    max_depth, n_draws, absolute, min_leaf
        As of `grow_heap_tree`.
    threads : Threads
        Add up the sums of blocks.
    """

    ranges: Codes
    max_depth: int
    n_draws: int
    absolute: bool
    min_leaf: int
    threads: Threads

    def grow(self, rows: Any, seed: int) -> tuple[Indices, Codes, Indices, Any, int]:
        """Grow a tree on the gradients of all columns.

        Parameters
        ----------
        rows : GrowingRows, or an object with its methods
        seed : int

        Returns
        -------
        features : int32 array of shape (2 ** (max_depth + 1),)
            Feature that splits each node; -1 at leaves and where there is no node.
        cuts : uint8 array of the same shape
        leaf_at : int32 array of the same shape
            Number of the leaf at every place; -1 where there is none.
        leaf : int32 array of shape (n_samples,)
            Leaf of every row.
        n_leaves : int
        """
        n_places = 2 ** (self.max_depth + 1)
        features, cuts = np.full(n_places, -1, np.int32), np.zeros(n_places, np.uint8)
        sizes = np.zeros(n_places, np.int64)
        sizes[1] = rows.n_chosen
        key = np.array([seed], np.uint64)
        for level in range(self.max_depth):
            nodes = np.arange(2**level, 2 ** (level + 1), dtype=np.int32)
            nodes = nodes[sizes[nodes] >= max(2, 2 * self.min_leaf)]
            if not len(nodes):
                break
            slot_at = _slots(nodes, n_places)
            drawn = self._draw(rows, nodes, slot_at, features, cuts, key)
            best, left = self._choose(rows, slot_at, *drawn)
            large = np.minimum(left, sizes[nodes] - left) >= self.min_leaf
            split = np.flatnonzero((drawn[2] > 0) & large)
            at = nodes[split]
            features[at], cuts[at] = (each[split, best[split]] for each in drawn[:2])
            sizes[2 * at], sizes[2 * at + 1] = left[split], sizes[at] - left[split]
        leaves = np.flatnonzero((features < 0) & (sizes > 0))
        leaf_at = np.full(n_places, -1, np.int32)
        leaf_at[leaves] = np.arange(len(leaves), dtype=np.int32)
        return features, cuts, leaf_at, rows.leaves(features, cuts, leaf_at), len(leaves)

    def _draw(
        self,
        rows: Any,
        nodes: Indices,
        slot_at: Places,
        features: Indices,
        cuts: Codes,
        seed: State,
    ) -> list[Any]:
        """Move rows to the nodes of a level, and draw splits there.

        Returns the features, cuts and numbers of draws of `draw_splits`.
        """
        n_features, shape = self.ranges.shape[1], (len(nodes), self.n_draws)
        drawn: list[Any] = [np.empty(shape, np.int32), np.empty(shape, np.uint8)]
        drawn.append(np.empty(len(nodes), np.int32))
        if nodes[0] == 1 and rows.is_whole:
            draw_splits(nodes, self.ranges, n_features, True, seed, *drawn)
            return drawn
        # what is drawn if all features vary
        two_codes = np.broadcast_to(np.array([0, 1, 2], np.uint8), (*shape, 3)).copy()
        draw_splits(nodes, two_codes, n_features, False, seed, *drawn)
        ranges = rows.move(features, cuts, slot_at, drawn[0].copy())
        draw_splits(nodes, ranges, n_features, False, seed, *drawn)
        others = np.flatnonzero(drawn[2] < 0)  # where a feature that was drawn does not vary
        if len(others):
            ranges = rows.ranges(_slots(nodes[others], len(slot_at)), len(others))
            again = [each[others] for each in drawn]
            draw_splits(nodes[others], ranges, n_features, True, seed, *again)
            for each, found in zip(drawn, again, strict=True):
                each[others] = found
        return drawn

    def _choose(
        self, rows: Any, slot_at: Places, features: Indices, cuts: Codes, n_drawn: Indices
    ) -> tuple[Indices, NDArray[np.int64]]:
        """Return the best draw at every slot, and the number of rows on its left."""
        n_slots, (n_samples, n_columns) = len(n_drawn), rows.shape
        n_rows = rows_of_level(n_samples, n_columns, n_slots, self.n_draws)
        group, n_at_once = _plan(self.n_draws, n_slots, n_columns, n_rows)
        best, gains = np.zeros(n_slots, np.int32), np.zeros(n_slots)
        left = np.zeros(n_slots)
        for first in range(0, self.n_draws, n_at_once):
            some = np.s_[:, first : first + n_at_once]
            drawn = (np.ascontiguousarray(each[some]) for each in (features, cuts))
            sums, masses = rows.sums(slot_at, *drawn, group, n_rows)
            choose_some = partial(
                choose_splits, sums, masses, n_drawn, first, self.absolute, best, gains, left
            )
            self.threads.share(choose_some, n_slots, sums.size // (4 * WORTH))
        return best, left.astype(np.int64)


def rows_of_level(n_samples: int, n_columns: int, n_slots: int, n_draws: int) -> int:
    """Return the number of rows of a block while sums of a level are computed."""
    return block_rows(n_samples, n_columns, n_slots * min(1 + n_draws, _MOST_SUMS))


def _slots(nodes: Indices, n_places: int) -> Places:
    slot_at = np.full(n_places, NO_SLOT, np.uint16)
    slot_at[nodes] = np.arange(len(nodes), dtype=np.uint16)
    return slot_at


def _plan(n_draws: int, n_slots: int, n_columns: int, n_rows: int) -> tuple[int, int]:
    """Return how sums are computed at the slots of a level: see `sum_blocks`.

    The cost of a way is the number of rows of gradients that are added for one block. Reading them
    from memory, and clearing and adding up a bucket, counts as some.

    Returns
    -------
    group : int
        Number of draws of a group, 0 for no buckets.
    n_at_once : int
        Number of draws in one pass over the rows.
    """
    width = -(-n_columns // LANES) * LANES
    # sums of all blocks take no more memory than a quarter of the gradients
    most = max(1, min(n_draws, n_rows // (4 * n_slots) - 1))
    best, plan = n_rows * (2 * -(-n_draws // most) + n_draws / 2), (0, most)
    for group in range(1, min(n_draws, _LONGEST_GROUP) + 1):
        n_groups, n_patterns = -(-n_draws // group), n_slots << group
        at_once = n_groups if most == n_draws else most // group
        at_once = min(at_once, _BUCKETS // (n_patterns * width))
        if at_once == 0:
            continue
        n_passes = -(-n_groups // at_once)
        # buckets of less than half the limit stay nearer
        far = 2 * min(at_once, n_groups) * n_patterns * width > _BUCKETS
        cost = n_rows * (n_groups * (1.5 if far else 1.0) + n_passes) + 3 * n_groups * n_patterns
        if cost < best:
            best, plan = cost, (group, min(n_draws, at_once * group))
    return plan
