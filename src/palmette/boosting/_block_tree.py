"""Growing a tree that all columns share on large data: level by level, with rows in blocks.

Every row has a place in the heap of the tree that grows, and the nodes of a level that may be split
are its slots. Threads divide the rows among them, or blocks of rows whose size does not depend on
the threads, so that the tree does not either. It is the tree of `grow_heap_tree` up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64, kernel
from palmette.base._fitting import Threads
from palmette.boosting._block_sums import (
    NO_SLOT,
    WORTH,
    block_rows,
    choose_splits,
    count_blocks,
    sum_blocks,
)
from palmette.boosting._histogram import LANES
from palmette.trees._random import NODE_STRIDE, next_below

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Maybe: TypeAlias = Any  # an array or None
Places: TypeAlias = NDArray[np.uint16]
State: TypeAlias = NDArray[np.uint64]
Sums: TypeAlias = NDArray[np.float64]

_MISSING = 255  # code of missing values
_BUCKETS = 2**17  # numbers in the buckets of a block, which stay in the cache
_LONGEST_GROUP = 8
_MOST_SUMS = 8  # per node, for which blocks are made larger


# ---------------------------------------------------------------------------- moving rows down


@inner(inline="always")
def _moved(codes: Codes, i: Any, place: Any, features: Indices, cuts: Codes) -> Any:
    """Return the place of a row below its present one; the same if that is not split."""
    feature = features[place]
    if feature >= 0:
        side = np.uint64(1) if codes[i, np.uint64(feature)] > cuts[place] else np.uint64(0)
        return np.uint64(2) * place + side
    return place


@kernel
def move_rows(
    codes: Codes,
    features: Indices,
    cuts: Codes,
    slot_at: Places,
    wanted: Indices,
    chosen: Maybe,
    places: Places,
    ranges: Codes,
    start: int,
    stop: int,
) -> None:
    """Move rows to the nodes of the next level, and find the ranges of some features there.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : int32 and uint8 arrays of shape (n_places,), IN
        The splits of the tree so far; the feature is -1 where there is none.
    slot_at : uint16 array of shape (n_places,), IN
        Slot of every place of the next level, `NO_SLOT` elsewhere.
    wanted : int32 array of shape (n_slots, n_wanted), IN
        The features of every slot whose ranges are found.
    chosen : bool array of shape (n_samples,) or None, IN
        The rows that count in ranges; None for all.
    places : uint16 array of shape (n_samples,), IN and OUT
    ranges : uint8 array of shape (n_slots, n_wanted, 3), IN and OUT
        The least and the largest code, and the largest known code plus one.
    start, stop : int
        The rows to move.
    """
    for row in range(start, stop):
        i = np.uint64(row)
        place = _moved(codes, i, np.uint64(places[i]), features, cuts)
        places[i] = place
        slot = np.uint64(slot_at[place])
        if slot == NO_SLOT:
            continue
        # numba drops a branch on an argument that is None only if that is the whole test
        if chosen is not None:  # noqa: SIM102
            if not chosen[i]:
                continue
        for q in range(np.uint64(wanted.shape[1])):
            code = codes[i, np.uint64(wanted[slot, q])]
            after = np.uint8(code + 1)
            if code < ranges[slot, q, 0]:
                ranges[slot, q, 0] = code
            if code > ranges[slot, q, 1]:
                ranges[slot, q, 1] = code
            if after > ranges[slot, q, 2]:
                ranges[slot, q, 2] = after


@kernel
def find_ranges(
    codes: Codes,
    slot_at: Places,
    chosen: Maybe,
    places: Places,
    low: Codes,
    high: Codes,
    after: Codes,
    start: int,
    stop: int,
) -> None:
    """Find the ranges of all features in some slots; arguments as of `move_rows`.

    `low`, `high` and `after`, (n_slots, n_features) each, are the three numbers of a range.
    """
    for row in range(start, stop):
        i = np.uint64(row)
        slot = np.uint64(slot_at[places[i]])
        if slot == NO_SLOT:
            continue
        if chosen is not None:  # noqa: SIM102
            if not chosen[i]:
                continue
        here, least, most, end = codes[i], low[slot], high[slot], after[slot]
        for j in range(np.uint64(len(here))):
            code = here[j]
            next_code = np.uint8(code + 1)
            least[j] = code if code < least[j] else least[j]
            most[j] = code if code > most[j] else most[j]
            end[j] = next_code if next_code > end[j] else end[j]


@kernel
def find_leaves(
    codes: Codes,
    features: Indices,
    cuts: Codes,
    leaf_at: Indices,
    places: Places,
    leaf: Indices,
    start: int,
    stop: int,
) -> None:
    """Move rows to the last level and write the number of the leaf of each, (n_samples,)."""
    for row in range(start, stop):
        i = np.uint64(row)
        leaf[i] = leaf_at[_moved(codes, i, np.uint64(places[i]), features, cuts)]


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


# ---------------------------------------------------------------------------- growing


def ranges_of_codes(codes: Codes, threads: Threads) -> Codes:
    """Return the ranges of all features over all rows: (1, n_features, 3); see `move_rows`."""
    places = np.zeros(len(codes), np.uint16)
    return _ranges(codes, np.zeros(1, np.uint16), None, places, 1, threads)


def _ranges(
    codes: Codes, slot_at: Places, chosen: Maybe, places: Places, n_slots: int, threads: Threads
) -> Codes:
    """Return the ranges of all features at some slots: (n_slots, n_features, 3)."""

    def find(start: int, stop: int) -> Codes:
        found = np.zeros((3, n_slots, codes.shape[1]), np.uint8)
        found[0] = _MISSING
        low, high, after = found
        find_ranges(codes, slot_at, chosen, places, low, high, after, start, stop)
        return found

    found = threads.share(find, len(codes), codes.size // (4 * WORTH))
    return np.ascontiguousarray(_widest(found, 0).transpose(1, 2, 0))


def _widest(parts: list[Codes], axis: int) -> Codes:
    """Return the union of ranges, whose three numbers are along an axis."""
    found = np.max(parts, axis=0)
    index = (slice(None),) * axis + (0,)
    found[index] = np.min([part[index] for part in parts], axis=0)
    return np.asarray(found)


@dataclass(frozen=True, eq=False)
class BlockGrower:
    """Grows trees by random splits.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features)
    ranges : uint8 array of shape (1, n_features, 3)
        From `ranges_of_codes`.
    weights : float32 array of shape (n_samples,)
        Positive.
    max_depth, n_draws, absolute, min_leaf
        As of `grow_heap_tree`.
    threads : Threads
    """

    codes: Codes
    ranges: Codes
    weights: Floats
    max_depth: int
    n_draws: int
    absolute: bool
    min_leaf: int
    threads: Threads

    def grow(
        self, gradients: Floats, chosen: Indices | None, seed: int
    ) -> tuple[Indices, Codes, Indices, Indices, int]:
        """Grow a tree on the gradients of all columns.

        Parameters
        ----------
        gradients : float32 array of shape (n_samples, n_columns)
            In C order, multiplied by the weights of the rows.
        chosen : int32 array, optional
            The rows to grow on; all by default.
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
        n_samples, n_places = len(self.codes), 2 ** (self.max_depth + 1)
        features, cuts = np.full(n_places, -1, np.int32), np.zeros(n_places, np.uint8)
        sizes = np.zeros(n_places, np.int64)
        sizes[1] = n_samples if chosen is None else len(chosen)
        places = np.ones(n_samples, np.uint16)
        mask = None
        if chosen is not None:
            mask = np.zeros(n_samples, np.bool_)
            mask[chosen] = True
        key = np.array([seed], np.uint64)
        for level in range(self.max_depth):
            nodes = np.arange(2**level, 2 ** (level + 1), dtype=np.int32)
            nodes = nodes[sizes[nodes] >= max(2, 2 * self.min_leaf)]
            if not len(nodes):
                break
            slot_at = _slots(nodes, n_places)
            drawn = self._draw(nodes, slot_at, mask, places, features, cuts, key)
            best, left = self._choose(gradients, slot_at, mask, places, *drawn)
            large = np.minimum(left, sizes[nodes] - left) >= self.min_leaf
            split = np.flatnonzero((drawn[2] > 0) & large)
            at = nodes[split]
            features[at], cuts[at] = (each[split, best[split]] for each in drawn[:2])
            sizes[2 * at], sizes[2 * at + 1] = left[split], sizes[at] - left[split]
        leaves = np.flatnonzero((features < 0) & (sizes > 0))
        leaf_at = np.full(n_places, -1, np.int32)
        leaf_at[leaves] = np.arange(len(leaves), dtype=np.int32)
        leaf = np.empty(n_samples, np.int32)
        find_some = partial(find_leaves, self.codes, features, cuts, leaf_at, places, leaf)
        self.threads.share(find_some, n_samples, 8 * n_samples // WORTH)
        return features, cuts, leaf_at, leaf, len(leaves)

    def _draw(
        self,
        nodes: Indices,
        slot_at: Places,
        chosen: Maybe,
        places: Places,
        features: Indices,
        cuts: Codes,
        seed: State,
    ) -> list[Any]:
        """Move rows to the nodes of a level, and draw splits there.

        Returns the features, cuts and numbers of draws of `draw_splits`.
        """
        n_features, shape = self.codes.shape[1], (len(nodes), self.n_draws)
        drawn: list[Any] = [np.empty(shape, np.int32), np.empty(shape, np.uint8)]
        drawn.append(np.empty(len(nodes), np.int32))
        if nodes[0] == 1 and chosen is None:
            draw_splits(nodes, self.ranges, n_features, True, seed, *drawn)
            return drawn
        # what is drawn if all features vary
        two_codes = np.broadcast_to(np.array([0, 1, 2], np.uint8), (*shape, 3)).copy()
        draw_splits(nodes, two_codes, n_features, False, seed, *drawn)
        wanted = drawn[0].copy()

        def move(start: int, stop: int) -> Codes:
            ranges = np.zeros((*shape, 3), np.uint8)
            ranges[:, :, 0] = _MISSING
            move_rows(
                *(self.codes, features, cuts, slot_at, wanted, chosen, places, ranges),
                *(start, stop),
            )
            return ranges

        n_codes = len(places) * (1 + self.n_draws)
        ranges = _widest(self.threads.share(move, len(places), 4 * n_codes // WORTH), 2)
        draw_splits(nodes, ranges, n_features, False, seed, *drawn)
        others = np.flatnonzero(drawn[2] < 0)  # where a feature that was drawn does not vary
        if len(others):
            slot_at = _slots(nodes[others], len(slot_at))
            ranges = _ranges(self.codes, slot_at, chosen, places, len(others), self.threads)
            again = [each[others] for each in drawn]
            draw_splits(nodes[others], ranges, n_features, True, seed, *again)
            for each, found in zip(drawn, again, strict=True):
                each[others] = found
        return drawn

    def _choose(
        self,
        gradients: Floats,
        slot_at: Places,
        chosen: Maybe,
        places: Places,
        features: Indices,
        cuts: Codes,
        n_drawn: Indices,
    ) -> tuple[Indices, NDArray[np.int64]]:
        """Return the best draw at every slot, and the number of rows on its left."""
        n_slots, n_columns = len(n_drawn), gradients.shape[1]
        n_rows = block_rows(len(places), n_columns, n_slots * min(1 + self.n_draws, _MOST_SUMS))
        n_blocks = count_blocks(len(places), n_rows)
        group, n_at_once = _plan(self.n_draws, n_slots, n_columns, n_rows)
        best, gains = np.zeros(n_slots, np.int32), np.zeros(n_slots)
        left = np.zeros(n_slots)
        for first in range(0, self.n_draws, n_at_once):
            some = np.s_[:, first : first + n_at_once]
            own_features, own_cuts = (
                np.ascontiguousarray(features[some]),
                np.ascontiguousarray(cuts[some]),
            )
            n_sums = 1 + own_cuts.shape[1]
            sums = np.empty((n_blocks, n_slots, n_sums, n_columns), np.float32)
            masses = np.empty((n_blocks, n_slots, n_sums, 2))
            sum_some = partial(
                sum_blocks,
                *(self.codes, gradients, self.weights, places, slot_at, chosen),
                *(own_features, own_cuts, group, n_rows, sums, masses),
            )
            self.threads.share(sum_some, n_blocks, gradients.size // WORTH)
            choose_some = partial(
                choose_splits, sums, masses, n_drawn, first, self.absolute, best, gains, left
            )
            self.threads.share(choose_some, n_slots, sums.size // (4 * WORTH))
        return best, left.astype(np.int64)


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
