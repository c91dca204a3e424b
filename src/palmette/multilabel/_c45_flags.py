"""Growing the same trees on tables of zeros and ones, such as words in texts.

A column of zeros and ones has one cut, which the weights of its ones by class decide. One pass over
the ones of a node's rows, row by row, adds them up for all columns. Hence nothing is sorted, and a
split moves rows only, not the entries of every column.
"""

from __future__ import annotations

import numpy as np

from palmette._kernels import inner, int64, kernel
from palmette.multilabel._c45_cuts import (
    FIRST,
    MIN_IMPROVEMENT,
    TIE_OF_J48,
    Best,
    Flags,
    Indices,
    Numbers,
    Offsets,
    Rows,
    SortedColumns,
    Sums,
    better,
    highest_ratio,
    purity_of,
    score_zeros,
    x_log_x,
)
from palmette.multilabel._c45_kernel import EntropyTree, partition, sum_masses
from palmette.trees._random import Word, draw_at

_MAX_SUMS = 2**22  # weights by column and class of one node, in memory at once


def has_flags_only(columns: SortedColumns, n_classes: int) -> bool:
    """Return whether `grow_flag_tree` can grow a tree, in little memory.

    Examples
    --------
    >>> rows, values = np.array([0, 1], dtype=np.uint32), np.ones(2, dtype=np.float32)
    >>> has_flags_only(SortedColumns(np.array([0, 1, 2]), rows, values), 2)
    True
    """
    n_columns = len(columns.starts) - 1
    return n_columns * n_classes <= _MAX_SUMS and bool(np.all(columns.values == 1.0))


@inner(error_model="numpy")
def _ones_by_row(columns: SortedColumns, n_rows: int) -> tuple[Offsets, Indices]:
    """Return where the ones of each row start, and their columns in ascending order."""
    starts = np.zeros(n_rows + 1, np.int64)
    for row in columns.rows:
        starts[row + 1] += 1
    for row in range(n_rows):
        starts[row + 1] += starts[row]
    ends, ones = starts[:-1].copy(), np.empty(len(columns.rows), np.int32)
    for j in range(len(columns.starts) - 1):
        for e in range(columns.starts[j], columns.starts[j + 1]):
            row = columns.rows[e]
            ones[ends[row]] = j
            ends[row] += 1
    return starts, ones


@inner(error_model="numpy")
def _sum_zeros(
    starts: Offsets,
    ones: Indices,
    members: Numbers,
    rows: Rows,
    masses: Sums,
    features: Indices,
    zeros: Sums,
    n_ones: Indices,
) -> None:
    """Sum the weights per class of a node's zeros, and count its ones, by column."""
    n_classes = len(masses)
    for i in range(len(features)):
        j = features[i]
        n_ones[j] = 0
        for k in range(n_classes):
            zeros[j, k] = masses[k]
    for i in range(len(members)):
        row = members[i]
        c, weight = rows.classes[row], rows.weights[row]
        for e in range(starts[row], starts[row + 1]):
            zeros[ones[e], c] -= weight
            n_ones[ones[e]] += 1


@inner(error_model="numpy")
def _choose(
    zeros: Sums,
    n_ones: Indices,
    n_members: int,
    features: Indices,
    n_constant: int,
    rows: Rows,
    masses: Sums,
    min_weight: float,
    mdl: bool,
    key: Word,
) -> tuple[Best, int]:
    """Return the best cut of a node, and how many features, moved first, cannot split it."""
    nothing = Best(-1, 0.0, -np.inf, np.uint64(0), 0.0)
    low, high = np.float32(0.0), np.float32(1.0)
    score, total = purity_of(masses, rows.logs)
    margin = MIN_IMPROVEMENT * total
    best = nothing
    if mdl:  # one cut has no correction, but a cut without a gain is none
        best = Best(-1, 0.0, score - x_log_x(total, rows.logs) + margin, FIRST, 0.0)
    for i in range(n_constant, len(features)):
        j, allowed = int64(features[i]), False
        if 0 < n_ones[j] < n_members:
            score, below = score_zeros(masses, zeros, j, rows.logs)
            allowed = min(below, total - below) >= min_weight
            if allowed and score > best.score - margin:
                found = better(nothing if mdl else best, j, low, high, score, below, margin, key)
                if not mdl or score > best.score + margin or found.rank > best.rank:
                    best = found
        if not allowed:
            features[i], features[n_constant] = features[n_constant], features[i]
            n_constant += 1
    return best, n_constant


@inner(error_model="numpy")
def _choose_by_ratio(
    zeros: Sums,
    n_ones: Indices,
    n_members: int,
    features: Indices,
    n_constant: int,
    rows: Rows,
    masses: Sums,
    min_weight: float,
    found: Sums,
) -> tuple[Best, int]:
    """Return the cut of the highest gain ratio, and how many features, moved first, are constant.

    As for columns of numbers, but features without a gain count in the average. `found` has the
    gain, weight and cut of each feature.
    """
    score, mass = purity_of(masses, rows.logs)
    before = score - x_log_x(mass, rows.logs)
    total = float(mass)
    bits = total * np.log(2.0)
    sum_gains, n_found = 0.0, 0
    for j in range(len(features)):
        found[j, 0] = 0.0
    for i in range(n_constant, len(features)):
        j, allowed = int64(features[i]), False
        if 0 < n_ones[j] < n_members:
            score, below = score_zeros(masses, zeros, j, rows.logs)
            allowed = min(below, mass - below) >= min_weight - TIE_OF_J48
            if allowed:
                gain = (score - before) / bits
                if gain * total < TIE_OF_J48:
                    gain = 0.0
                found[j, 0], found[j, 1], found[j, 2] = gain, below, 0.0
                sum_gains += gain
                n_found += 1
        if not allowed:
            features[i], features[n_constant] = features[n_constant], features[i]
            n_constant += 1
    return highest_ratio(found, sum_gains, n_found, total), n_constant


@inner(error_model="numpy")
def _mark_left(starts: Offsets, ones: Indices, j: int, members: Numbers, goes_left: Flags) -> None:
    """Write which rows of a node have no one in a column."""
    for i in range(len(members)):
        row = members[i]
        low, high = starts[row], starts[row + 1]
        stop = high
        while low < high:
            middle = (low + high) >> 1
            if ones[middle] < j:
                low = middle + 1
            else:
                high = middle
        goes_left[row] = low == stop or ones[low] != j


@kernel(error_model="numpy")
def grow_flag_tree(
    columns: SortedColumns,
    classes: Numbers,
    weights: Sums,
    logs: Sums,
    n_classes: int,
    min_weight: float,
    seed: int,
    mdl: bool,
    by_ratio: bool,
) -> EntropyTree:
    """Grow the tree that `grow_entropy_tree` grows, where all entries of the columns are ones.

    Parameters
    ----------
    columns : SortedColumns, IN
    classes, weights, logs, n_classes, min_weight, seed, mdl, by_ratio
        As for `grow_entropy_tree`.

    Returns
    -------
    EntropyTree
    """
    n_rows, n_features = len(classes), len(columns.starts) - 1
    rows = Rows(classes, weights, logs)
    row_starts, ones = _ones_by_row(columns, n_rows)
    zeros, n_ones = np.empty((n_features, n_classes), weights.dtype), np.zeros(n_features, np.int32)
    members, goes_left = np.empty(n_rows, np.uint32), np.empty(n_rows, np.bool_)
    buffer, found = np.empty(n_rows, np.uint32), np.empty((n_features, 3))
    features = np.empty(n_features, np.int32)
    for i in range(n_rows):  # loops: np.zeros, np.full and np.arange take longer to compile
        members[i] = i
    for j in range(n_features):
        features[j] = j
    max_nodes = 2 * n_rows - 1
    split, cuts = np.empty(max_nodes, np.int32), np.empty(max_nodes, np.float64)
    left, counts = np.empty(max_nodes, np.int32), np.empty(max_nodes, np.int64)
    masses, n_places = np.empty((max_nodes, n_classes), weights.dtype), 1
    starts = np.empty(max_nodes, np.int64)
    # stack of nodes: index, first and last member, features that cannot split it. The smaller child
    # is grown first, which bounds the size of the stack.
    depth = 2 + np.int64(np.log2(n_rows + 1))
    tasks, keys = np.empty((depth, 4), np.int32), np.empty(depth, np.uint64)
    tasks[0, 0], tasks[0, 1], tasks[0, 2], tasks[0, 3] = 0, 0, n_rows, 0
    keys[0] = draw_at(np.uint64(seed), 0)
    n_tasks = 1
    while n_tasks:
        n_tasks -= 1
        node, start = tasks[n_tasks, 0], tasks[n_tasks, 1]
        stop, n_constant = tasks[n_tasks, 2], tasks[n_tasks, 3]
        key, inside = keys[n_tasks], members[start:stop]
        split[node], cuts[node], left[node], counts[node] = -1, 0.0, -1, stop - start
        starts[node] = start
        is_mixed, total = sum_masses(inside, rows, masses[node]), 0 * weights[0]
        for k in range(n_classes):
            total += masses[node, k]
        if not is_mixed or total < 2.0 * min_weight:
            continue
        open_features = features[n_constant:]
        _sum_zeros(row_starts, ones, inside, rows, masses[node], open_features, zeros, n_ones)
        if by_ratio:
            best, n_constant = _choose_by_ratio(
                zeros,
                n_ones,
                stop - start,
                features,
                n_constant,
                rows,
                masses[node],
                min_weight,
                found,
            )
        else:
            best, n_constant = _choose(
                zeros,
                n_ones,
                stop - start,
                features,
                n_constant,
                rows,
                masses[node],
                min_weight,
                mdl,
                key,
            )
        if best.feature < 0:
            continue
        _mark_left(row_starts, ones, best.feature, inside, goes_left)
        middle = partition(members, start, stop, goes_left, buffer)
        split[node], cuts[node], left[node] = best.feature, best.cut, n_places
        smaller_left = middle - start <= stop - middle
        first, second = (1, 0) if smaller_left else (0, 1)  # positions of left and right
        tasks[n_tasks + first, 0], tasks[n_tasks + second, 0] = n_places, n_places + 1
        tasks[n_tasks + first, 1], tasks[n_tasks + first, 2] = start, middle
        tasks[n_tasks + second, 1], tasks[n_tasks + second, 2] = middle, stop
        tasks[n_tasks, 3] = tasks[n_tasks + 1, 3] = n_constant
        keys[n_tasks + first], keys[n_tasks + second] = draw_at(key, 0), draw_at(key, 1)
        n_tasks += 2
        n_places += 2
    return EntropyTree(
        split[:n_places],
        cuts[:n_places],
        left[:n_places],
        masses[:n_places],
        counts[:n_places],
        starts[:n_places],
        members,
    )
