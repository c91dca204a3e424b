"""Sums of gradients over blocks of rows, at the nodes of a level and at the leaves of a tree.

A sum over a block of rows is in float32, and the sums of blocks are added in float64, block after
block: results do not depend on how blocks are divided among threads. Rows stay where they are; see
`_block_tree` for their places and slots.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64, kernel
from palmette.base._fitting import Threads
from palmette.boosting._histogram import LANES
from palmette.boosting._lanes import add_curved, add_row

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Maybe: TypeAlias = Any  # an array or None
Places: TypeAlias = NDArray[np.uint16]
Sums: TypeAlias = NDArray[np.float64]

NO_SLOT = 2**16 - 1
CLEARLY = 1.00001  # a later split must be better by this factor
LEAST = 1e-12  # share of the weight of a node that a side has at least
_MOST_BLOCKS = 64
# rows of a block of smaller data: so many that they have a number of gradients, within bounds
_FEWEST_ROWS, _MOST_FEW_ROWS, _FEW_NUMBERS = 64, 2048, 2**18
_FEW_SQUARES = 32  # in float32: draws of columns depend on the sixth digit of their sums
WORTH = 2**16  # numbers to add from which one more thread pays


# ---------------------------------------------------------------------------- sums of blocks


@inner
def _pattern(
    codes: Codes, i: Any, features: Indices, cuts: Codes, slot: Any, first: Any, last: Any
) -> Any:
    """Return a number whose bits are whether a row goes left of the draws from first to last."""
    pattern = np.uint64(0)
    for q in range(first, last):
        left = codes[i, np.uint64(features[slot, q])] <= cuts[slot, q]
        pattern |= np.uint64(left) << (q - first)
    return pattern


@inner
def _fold(buckets: Floats, first: int, width: int, group: int, sums: Floats, to: int) -> None:
    """Add the sums of patterns of draws to those of the draws, and clear all but the first.

    In the bucket of the first pattern is then the sum of all rows.

    Parameters
    ----------
    buckets : float32 array, IN and OUT
        Pattern p has `width` numbers from ``first + p width`` on.
    group : int
        Number of draws.
    sums : float32 array in C order, IN and OUT
        The sums of draw j are from element ``to + j n_columns`` on.
    """
    n_columns = sums.shape[3]
    for j in range(group - 1, -1, -1):
        half = 1 << j
        for pattern in range(half):
            above = first + (half + pattern) * width
            add_row(sums, to + j * n_columns, buckets, above, n_columns)
            add_row(buckets, first + pattern * width, buckets, above, n_columns)
            for k in range(above, above + width):
                buckets[k] = 0.0


@inner
def _fold_masses(heaps: Sums, first: int, group: int, masses: Sums, q: int) -> None:
    """Add the weights of patterns to those of the draws from q on, as `_fold` does."""
    for j in range(group - 1, -1, -1):
        half = 1 << j
        for pattern in range(first, first + half):
            for side in range(2):
                masses[q + j, side] += heaps[half + pattern, side]
                heaps[pattern, side] += heaps[half + pattern, side]
                heaps[half + pattern, side] = 0.0


@inner
def _fold_block(
    buckets: Floats, heaps: Sums, group: int, sums: Floats, masses: Sums, block: int
) -> None:
    """Add up the buckets of a block, and clear them; arguments as in `sum_blocks`."""
    _, n_slots, n_sums, n_columns = sums.shape
    width, n_patterns = len(buckets) // heaps.shape[0], 1 << group
    for node in range(n_slots):
        for first in range(1, n_sums, group):
            at = ((first - 1) // group * n_slots + node) * n_patterns
            to = ((block * n_slots + node) * n_sums + first) * n_columns
            n_here = min(group, n_sums - first)
            _fold(buckets, at * width, width, n_here, sums, to)
            _fold_masses(heaps, at, n_here, masses[block, node], first)
            if first == 1:  # the sums over all rows are the same for every group
                add_row(sums, to - n_columns, buckets, at * width, n_columns)
                masses[block, node, 0, 0] = heaps[at, 0]
                masses[block, node, 0, 1] = heaps[at, 1]
            heaps[at, 0] = heaps[at, 1] = 0.0
            for k in range(at * width, (at + 1) * width):
                buckets[k] = 0.0


@inner
def _add_directly(
    codes: Codes,
    gradients: Floats,
    row: int,
    features: Indices,
    cuts: Codes,
    weight: float,
    sums: Floats,
    to: int,
    masses: Sums,
) -> None:
    """Add a row to the sums of all rows and of the draws that it goes left of.

    `features` and `cuts`, (n_draws,), and `masses` are those of the node of the row, and its sums
    are from element `to` on.
    """
    i, n_columns = np.uint64(row), gradients.shape[1]
    add_row(sums, to, gradients, row * n_columns, n_columns)
    masses[0, 0] += weight
    masses[0, 1] += 1.0
    for q in range(len(features)):
        if codes[i, np.uint64(features[q])] <= cuts[q]:
            add_row(sums, to + (q + 1) * n_columns, gradients, row * n_columns, n_columns)
            masses[q + 1, 0] += weight
            masses[q + 1, 1] += 1.0


@kernel
def sum_blocks(
    codes: Codes,
    gradients: Floats,
    weights: Floats,
    places: Places,
    slot_at: Places,
    chosen: Maybe,
    features: Indices,
    cuts: Codes,
    group: int,
    n_rows: int,
    sums: Floats,
    masses: Sums,
    start: int,
    stop: int,
) -> None:
    """Sum gradients and weights at every slot, over all rows and those left of every draw.

    With ``group > 0`` a row is added once for every group of draws, to the bucket of its node and
    of the draws of the group that it goes left of; sums of buckets are the result. Otherwise it is
    added to the sum of all rows and to those of the draws that it goes left of.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    gradients : float32 array of shape (n_samples, n_columns), IN
        In C order.
    weights : float32 array of shape (n_samples,), IN
    places, slot_at, chosen
        As of `move_rows`, IN.
    features, cuts : int32 and uint8 arrays of shape (n_slots, n_draws), IN
    group : int
        Number of draws of a group, 0 for no buckets.
    n_rows : int
        Rows of a block.
    sums : float32 array of shape (n_blocks, n_slots, 1 + n_draws, n_columns), OUT
    masses : float64 array of shape (n_blocks, n_slots, 1 + n_draws, 2), OUT
        Weights and numbers of rows.
    start, stop : int
        The blocks to sum.
    """
    n_slots, n_draws = features.shape
    n_columns = gradients.shape[1]
    width = -(-n_columns // LANES) * LANES
    n_groups = -(-n_draws // group) if group > 0 else 0
    step, n_all = np.uint64(group), np.uint64(n_draws)
    n_buckets = n_groups * n_slots << group
    buckets, heaps = np.zeros(n_buckets * width, np.float32), np.zeros((n_buckets, 2), np.float64)
    rows_here, bucket_of = np.empty(n_rows, np.uint32), np.empty(n_groups * n_rows, np.uint32)
    for block in range(start, stop):
        for node in range(n_slots):
            for q in range(1 + n_draws):
                masses[block, node, q, 0] = masses[block, node, q, 1] = 0.0
                for k in range(n_columns):
                    sums[block, node, q, k] = 0.0
        n_here, n_filled = np.uint64(0), np.uint64(0)
        for row in range(block * n_rows, min((block + 1) * n_rows, len(places))):
            i = np.uint64(row)
            slot = np.uint64(slot_at[places[i]])
            if slot == NO_SLOT:
                continue
            if chosen is not None:  # noqa: SIM102
                if not chosen[i]:
                    continue
            weight = np.float64(weights[i])
            if group == 0:
                to = (block * n_slots + int64(slot)) * (1 + n_draws) * n_columns
                own_features, own_cuts, mass = features[slot], cuts[slot], masses[block, slot]
                _add_directly(codes, gradients, row, own_features, own_cuts, weight, sums, to, mass)
                continue
            # first the buckets of all rows, then their sums: fewer loads wait for each other
            rows_here[n_here] = row
            n_here += np.uint64(1)
            for number in range(np.uint64(n_groups)):
                first = number * step
                last = first + step if first + step < n_all else n_all
                pattern = _pattern(codes, i, features, cuts, slot, first, last)
                at = ((number * np.uint64(n_slots) + slot) << step) + pattern
                bucket_of[n_filled] = at
                n_filled += np.uint64(1)
                heaps[at, 0] += weight
                heaps[at, 1] += 1.0
        filled = np.uint64(0)
        for r in range(n_here):
            of = int64(rows_here[r]) * n_columns
            for _ in range(n_groups):
                add_row(buckets, int64(bucket_of[filled]) * width, gradients, of, n_columns)
                filled += np.uint64(1)
        if group > 0:
            _fold_block(buckets, heaps, group, sums, masses, block)


# ---------------------------------------------------------------------------- leaves and columns


@kernel
def sum_leaves(
    gradients: Floats,
    weights: Floats,
    leaf: Indices,
    n_rows: int,
    sums: Floats,
    cover: Sums,
    start: int,
    stop: int,
) -> None:
    """Sum gradients, curvatures and weights over the rows of every leaf in some blocks.

    The curvature of a gradient g of a row of weight w is ``|g| (1 - |g| / w)``; see `newton_sums`.

    Parameters
    ----------
    gradients : float32 array of shape (n_samples, n_columns), IN
    weights : float32 array of shape (n_samples,), IN
    leaf : int32 array of shape (n_samples,), IN
    n_rows : int
        Rows of a block.
    sums : float32 array of shape (n_blocks, n_leaves, 2, n_columns), OUT
        Of gradients, and of curvatures.
    cover : float64 array of shape (n_blocks, n_leaves), OUT
    start, stop : int
        The blocks to sum.
    """
    n_leaves, n_columns = sums.shape[1], sums.shape[3]
    for block in range(start, stop):
        for number in range(n_leaves):
            cover[block, number] = 0.0
            for k in range(n_columns):
                sums[block, number, 0, k] = sums[block, number, 1, k] = 0.0
        for row in range(block * n_rows, min((block + 1) * n_rows, len(leaf))):
            i = np.uint64(row)
            at = np.uint64(leaf[i])
            cover[block, at] += weights[i]
            share = np.float32(1.0) / weights[i]
            to = 2 * (block * n_leaves + int64(at)) * n_columns
            add_curved(sums, to, to + n_columns, gradients, row * n_columns, n_columns, share)


@kernel
def add_blocks(parts: Floats, total: Sums, start: int, stop: int) -> None:
    """Add sums of blocks, (n_blocks, n), in their order; write numbers `start` to `stop`."""
    for k in range(start, stop):
        total[k] = 0.0
    for block in range(parts.shape[0]):
        for k in range(start, stop):
            total[k] += parts[block, k]


@kernel
def sum_squares(gradients: Floats, n_rows: int, sums: Sums, start: int, stop: int) -> None:
    """Sum the squares of every column over the rows of some blocks: (n_blocks, n_columns)."""
    few = np.empty(sums.shape[1], np.float32)
    for block in range(start, stop):
        to, end = sums[block], min((block + 1) * n_rows, gradients.shape[0])
        to[:] = 0.0
        for first in range(block * n_rows, end, _FEW_SQUARES):
            few[:] = 0.0
            for row in range(first, min(first + _FEW_SQUARES, end)):
                here = gradients[np.uint64(row)]
                for k in range(np.uint64(len(few))):
                    few[k] += here[k] * here[k]
            for k in range(np.uint64(len(few))):
                to[k] += few[k]


@kernel
def take_columns(
    gradients: Floats, columns: Indices, scale: Floats, some: Floats, start: int, stop: int
) -> None:
    """Write columns of some rows, each times its scale, to `some`: (n_samples, n_some)."""
    for row in range(start, stop):
        here, to = gradients[np.uint64(row)], some[np.uint64(row)]
        for k in range(np.uint64(len(to))):
            to[k] = here[np.uint64(columns[k])] * scale[k]


# ---------------------------------------------------------------------------- blocks


def block_rows(n_samples: int, n_columns: int, n_sums: int = 1) -> int:
    """Return the number of rows of a block, which does not depend on threads or workers.

    There are at most 64 blocks. A block has `n_sums` sums, which take at most a quarter of the
    memory of the gradients. Of the same rows, larger blocks are made of smaller ones, so that a
    worker of a cluster that has all rows of the largest blocks has whole blocks always.

    Examples
    --------
    >>> block_rows(1_000_000, 100), block_rows(1_000_000, 100, 5000)
    (15625, 31250)
    """
    few = min(_MOST_FEW_ROWS, max(_FEWEST_ROWS, _FEW_NUMBERS // n_columns))
    n_rows, wanted = max(-(-n_samples // _MOST_BLOCKS), _FEWEST_ROWS), max(few, 4 * n_sums)
    while n_rows < wanted:
        n_rows *= 2
    return n_rows


def count_blocks(n_samples: int, n_rows: int) -> int:
    """Return the number of blocks of `n_rows` rows."""
    return -(-n_samples // n_rows)


def rows_of_leaves(n_samples: int, n_columns: int, n_leaves: int) -> int:
    """Return the number of rows of a block while sums at leaves are computed."""
    return block_rows(n_samples, n_columns, 2 * n_leaves)


def leaf_parts(
    gradients: Floats,
    weights: Floats,
    leaf: Indices,
    n_leaves: int,
    n_rows: int,
    threads: Threads,
) -> tuple[Floats, Sums]:
    """Return the sums and covers of blocks of `n_rows` rows; see `sum_leaves`."""
    n_blocks = count_blocks(len(leaf), n_rows)
    parts = np.empty((n_blocks, n_leaves, 2, gradients.shape[1]), np.float32)
    cover = np.empty((n_blocks, n_leaves))
    sum_some = partial(sum_leaves, gradients, weights, leaf, n_rows, parts, cover)
    threads.share(sum_some, n_blocks, gradients.size // WORTH)
    return parts, cover


def add_leaf_parts(parts: Floats, cover: Sums, threads: Threads) -> tuple[Sums, Sums, Sums]:
    """Add up the sums of blocks of `leaf_parts`; return those of `sum_at_leaves`."""
    total = np.empty(parts.shape[1:])
    add_some = partial(add_blocks, parts.reshape(len(parts), -1), total.reshape(-1))
    threads.share(add_some, total.size, parts.size // (4 * WORTH))
    return total[:, 0], total[:, 1], cover.sum(axis=0)


def sum_at_leaves(
    gradients: Floats, weights: Floats, leaf: Indices, n_leaves: int, threads: Threads
) -> tuple[Sums, Sums, Sums]:
    """Sum gradients, curvatures and weights over the rows of every leaf; see `newton_sums`.

    Returns
    -------
    sums, curvature : float64 arrays of shape (n_leaves, n_columns)
    cover : float64 array of shape (n_leaves,)
    """
    n_rows = rows_of_leaves(len(gradients), gradients.shape[1], n_leaves)
    parts = leaf_parts(gradients, weights, leaf, n_leaves, n_rows, threads)
    return add_leaf_parts(*parts, threads)


def square_parts(gradients: Floats, n_rows: int, threads: Threads) -> Sums:
    """Return the sums of squares of the columns over blocks of rows, (n_blocks, n_columns)."""
    n_samples, n_columns = gradients.shape
    parts = np.empty((count_blocks(n_samples, n_rows), n_columns))
    sum_some = partial(sum_squares, gradients, n_rows, parts)
    threads.share(sum_some, len(parts), gradients.size // WORTH)
    return parts


def column_squares(gradients: Floats, threads: Threads) -> Sums:
    """Return the sums of squares of the columns, (n_columns,)."""
    parts = square_parts(gradients, block_rows(*gradients.shape), threads)
    return np.asarray(parts.sum(axis=0))


def scaled_columns(
    gradients: Floats, columns: Indices, scale: Floats, some: Floats, threads: Threads
) -> Floats:
    """Write some columns, each times its scale, to `some`, (n_samples, n_some), and return it."""
    take_some = partial(take_columns, gradients, columns, scale, some)
    threads.share(take_some, len(gradients), some.size // WORTH)
    return some
