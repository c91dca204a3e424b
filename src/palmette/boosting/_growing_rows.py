"""The rows that a tree grows on: their places in it, ranges of their codes, and sums over blocks.

Every row has a place in the heap of the tree that grows, and the nodes of a level that may be split
are its slots. Threads divide the rows among them, or blocks of rows whose size does not depend on
the threads. The rows may be those of one worker of a cluster, if they are whole blocks.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, kernel
from palmette.base._fitting import Threads
from palmette.boosting._block_sums import NO_SLOT, WORTH, count_blocks, sum_blocks

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Maybe: TypeAlias = Any  # an array or None
Places: TypeAlias = NDArray[np.uint16]
Sums: TypeAlias = NDArray[np.float64]

_MISSING = 255  # code of missing values


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


# ---------------------------------------------------------------------------- rows in blocks


class GrowingRows:
    """Rows and their places in one tree that grows.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features)
    weights : float32 array of shape (n_samples,)
        Positive.
    gradients : float32 array of shape (n_samples, n_columns)
        In C order, multiplied by the weights of the rows.
    chosen : bool array of shape (n_samples,) or None
        The rows to grow on; None for all.
    threads : Threads
    """

    def __init__(
        self, codes: Codes, weights: Floats, gradients: Floats, chosen: Maybe, threads: Threads
    ) -> None:
        self._codes, self._weights, self._gradients = codes, weights, gradients
        self._chosen, self._threads = chosen, threads
        self._places = np.ones(len(codes), np.uint16)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return len(self._codes), self._gradients.shape[1]

    @property
    def n_chosen(self) -> int:
        """Number of rows to grow on."""
        return len(self._codes) if self._chosen is None else int(np.count_nonzero(self._chosen))

    @property
    def is_whole(self) -> bool:
        """Whether the tree grows on all rows."""
        return self._chosen is None

    def move(self, features: Indices, cuts: Codes, slot_at: Places, wanted: Indices) -> Codes:
        """Move rows to the next level, and return ranges of codes there; see `move_rows`."""
        shape = (*wanted.shape, 3)

        def move(start: int, stop: int) -> Codes:
            ranges = np.zeros(shape, np.uint8)
            ranges[:, :, 0] = _MISSING
            move_rows(
                *(self._codes, features, cuts, slot_at, wanted, self._chosen, self._places),
                *(ranges, start, stop),
            )
            return ranges

        n_codes = len(self._places) * (1 + wanted.shape[1])
        return widest(self._threads.share(move, len(self._places), 4 * n_codes // WORTH), 2)

    def ranges(self, slot_at: Places, n_slots: int) -> Codes:
        """Return the ranges of all features at some slots: (n_slots, n_features, 3)."""
        return _ranges(self._codes, slot_at, self._chosen, self._places, n_slots, self._threads)

    def sums(
        self, slot_at: Places, features: Indices, cuts: Codes, group: int, n_rows: int
    ) -> tuple[Floats, Sums]:
        """Return sums and masses of blocks of `n_rows` rows; see `sum_blocks`."""
        n_blocks = count_blocks(len(self._places), n_rows)
        (n_slots, n_draws), n_columns = features.shape, self._gradients.shape[1]
        sums = np.empty((n_blocks, n_slots, 1 + n_draws, n_columns), np.float32)
        masses = np.empty((n_blocks, n_slots, 1 + n_draws, 2))
        sum_some = partial(
            sum_blocks,
            *(self._codes, self._gradients, self._weights, self._places, slot_at, self._chosen),
            *(features, cuts, group, n_rows, sums, masses),
        )
        self._threads.share(sum_some, n_blocks, self._gradients.size // WORTH)
        return sums, masses

    def leaves(self, features: Indices, cuts: Codes, leaf_at: Indices) -> Indices:
        """Move rows to the last level, and return the number of the leaf of each, (n_samples,)."""
        n_samples = len(self._places)
        leaf = np.empty(n_samples, np.int32)
        find_some = partial(find_leaves, self._codes, features, cuts, leaf_at, self._places, leaf)
        self._threads.share(find_some, n_samples, 8 * n_samples // WORTH)
        return leaf


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
    return np.ascontiguousarray(widest(found, 0).transpose(1, 2, 0))


def widest(parts: list[Codes], axis: int) -> Codes:
    """Return the union of ranges, whose three numbers are along an axis."""
    found = np.max(parts, axis=0)
    index = (slice(None),) * axis + (0,)
    found[index] = np.min([part[index] for part in parts], axis=0)
    return np.asarray(found)
