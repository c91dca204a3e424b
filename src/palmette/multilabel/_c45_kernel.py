"""Growing full decision trees by information gain or gain ratio, on columns that are sorted once.

The nonzero entries of each column are stored in ascending order, and keep it in every node: a split
partitions the entries of each column together with the rows. Zeros are not stored. Hence a node
needs one pass over its entries without sorting, and only over the nonzero entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palmette._kernels import inner, int64, kernel
from palmette.multilabel._c45_cuts import (
    Flags,
    Indices,
    Numbers,
    Offsets,
    Reals,
    Rows,
    SortedColumns,
    Sums,
    choose,
    choose_by_ratio,
    down_to_a_value,
    find_flags,
)
from palmette.trees._random import draw_at


@kernel(error_model="numpy")
def take_sorted(columns: SortedColumns, starts: Offsets, order: Numbers) -> SortedColumns:
    """Return the columns of some rows, which are renumbered.

    Parameters
    ----------
    columns : SortedColumns, IN
    starts : int64 array of shape (n_rows + 1,), IN
        Start in `order` of the new numbers of each row: none, one or several.
    order : uint32 array of shape (n_new_rows,), IN
    """
    n_columns, total = len(columns.starts) - 1, 0
    for row in columns.rows:
        total += starts[row + 1] - starts[row]
    rows, values = np.empty(total, np.uint32), np.empty(total, np.float32)
    begins, place = np.zeros(n_columns + 1, np.int64), 0
    for j in range(n_columns):
        for e in range(columns.starts[j], columns.starts[j + 1]):
            row = columns.rows[e]
            for k in range(starts[row], starts[row + 1]):
                rows[place], values[place] = order[k], columns.values[e]
                place += 1
        begins[j + 1] = place
    return SortedColumns(begins, rows, values)


class EntropyTree(NamedTuple):
    """A tree in arrays, children after their parents.

    Parameters
    ----------
    features : int32 array of shape (n_places,)
        -1 at leaves.
    cuts : float64 array of shape (n_places,)
        Values up to the cut go left.
    left : int32 array of shape (n_places,)
        Left child, directly followed by the right child; -1 at leaves.
    masses : array of shape (n_places, n_classes), of the data type of the weights
        Total weights of the classes.
    n_rows : int64 array of shape (n_places,)
    starts : int64 array of shape (n_places,)
        Where the rows of a node start in `members`.
    members : uint32 array of shape (n_training_rows,)
        The training rows, those of a node next to each other.
    """

    features: Indices
    cuts: Sums
    left: Indices
    masses: Sums
    n_rows: Offsets
    starts: Offsets
    members: Numbers


@inner(error_model="numpy", inline="always")
def partition(items: Numbers, start: int, stop: int, goes_left: Flags, buffer: Numbers) -> int:
    """Partition rows stably, left before right; return the position of the first right row."""
    middle, n_right, one = np.uint64(start), np.uint64(0), np.uint64(1)
    for i in range(np.uint64(start), np.uint64(stop)):
        row = items[i]
        items[middle] = row
        buffer[n_right] = row
        stays = goes_left[row]
        middle += np.uint64(stays)
        n_right += one - np.uint64(stays)
    for i in range(n_right):
        items[middle + i] = buffer[i]
    first_right: int = int64(middle)
    return first_right


@inner(error_model="numpy", inline="always")
def _partition_entries(
    columns: SortedColumns,
    start: int,
    stop: int,
    goes_left: Flags,
    rows_right: Numbers,
    values_right: Reals,
) -> int:
    """Partition the entries of a column as the rows are partitioned."""
    rows, values = columns.rows, columns.values
    middle, n_right, one = np.uint64(start), np.uint64(0), np.uint64(1)
    for e in range(np.uint64(start), np.uint64(stop)):
        row, value = rows[e], values[e]
        rows[middle], values[middle] = row, value
        rows_right[n_right], values_right[n_right] = row, value
        stays = goes_left[row]
        middle += np.uint64(stays)
        n_right += one - np.uint64(stays)
    for i in range(n_right):
        rows[middle + i], values[middle + i] = rows_right[i], values_right[i]
    first_right: int = int64(middle)
    return first_right


@inner(error_model="numpy", inline="always")
def _mark_left(
    columns: SortedColumns, bounds: Indices, members: Numbers, cut: float, goes_left: Flags
) -> None:
    """Write which rows of a node go left."""
    for i in range(len(members)):
        goes_left[members[i]] = cut >= 0.0
    for e in range(bounds[0], bounds[1]):
        goes_left[columns.rows[e]] = columns.values[e] <= cut


@inner(error_model="numpy", inline="always")
def sum_masses(members: Numbers, rows: Rows, masses: Sums) -> bool:
    """Sum the weights of a node per class; return whether there is more than one class."""
    for k in range(len(masses)):
        masses[k] = 0
    for i in range(len(members)):
        masses[rows.classes[members[i]]] += rows.weights[members[i]]
    n_present = 0
    for k in range(len(masses)):
        n_present += 1 if masses[k] > 0.0 else 0
    return n_present > 1


@kernel(error_model="numpy")
def grow_entropy_tree(
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
    """Grow a tree until leaves are pure or too small to split.

    Parameters
    ----------
    columns : SortedColumns, IN
        Overwritten: the entries of each column are in another order.
    classes : uint32 array of shape (n_rows,), IN
    weights : int64 or float64 array of shape (n_rows,), IN
        All positive.
    logs : float64 array, IN
        For integer weights, x log x of 0, 1, ... up to their sum; otherwise empty.
    n_classes : int
    min_weight : float
        Minimum total weight of the rows in a leaf.
    seed : int
        Breaks ties between equally good cuts.
    mdl : bool
        Whether features with many cuts have to gain more.
    by_ratio : bool
        Whether features are chosen by gain ratio, and their cuts as J48 places them.

    Returns
    -------
    EntropyTree
    """
    n_rows, n_features = len(classes), len(columns.starts) - 1
    rows = Rows(classes, weights, logs)
    buffers = np.empty((3, n_classes), weights.dtype)
    members, goes_left = np.empty(n_rows, np.uint32), np.empty(n_rows, np.bool_)
    rows_right, values_right = np.empty(n_rows, np.uint32), np.empty(n_rows, np.float32)
    features = np.empty(n_features, np.int32)
    for i in range(n_rows):  # loops: np.zeros, np.full and np.arange take longer to compile
        members[i] = i
    for j in range(n_features):
        features[j] = j
    max_nodes = 2 * n_rows - 1
    split, cuts = np.empty(max_nodes, np.int32), np.empty(max_nodes, np.float64)
    left, counts = np.empty(max_nodes, np.int32), np.empty(max_nodes, np.int64)
    masses, n_places = np.empty((max_nodes, n_classes), weights.dtype), 1
    starts, found = np.empty(max_nodes, np.int64), np.empty((n_features, 3))
    are_flags = find_flags(columns)
    # stack of nodes: index, first and last member, features that cannot split it, bounds of the
    # columns (first and last entry, rows without one). The smaller child is grown first, which
    # bounds the size of the stack.
    depth = 2 + np.int64(np.log2(n_rows + 1))
    tasks, spans = np.empty((depth, 4), np.int32), np.empty((depth, n_features, 3), np.int32)
    keys = np.empty(depth, np.uint64)
    tasks[0, 0], tasks[0, 1], tasks[0, 2], tasks[0, 3] = 0, 0, n_rows, 0
    keys[0] = draw_at(np.uint64(seed), 0)
    for j in range(n_features):
        spans[0, j, 0], spans[0, j, 1] = columns.starts[j], columns.starts[j + 1]
        spans[0, j, 2] = n_rows - (columns.starts[j + 1] - columns.starts[j])
    n_tasks = 1
    bounds = np.empty((n_features, 3), np.int32)
    while n_tasks:
        n_tasks -= 1
        node, start = tasks[n_tasks, 0], tasks[n_tasks, 1]
        stop, n_constant = tasks[n_tasks, 2], tasks[n_tasks, 3]
        for j in range(n_features):
            for k in range(3):
                bounds[j, k] = spans[n_tasks, j, k]
        split[node], cuts[node], left[node], counts[node] = -1, 0.0, -1, stop - start
        starts[node] = start
        is_mixed, total = sum_masses(members[start:stop], rows, masses[node]), 0 * weights[0]
        for k in range(n_classes):
            total += masses[node, k]
        if not is_mixed or total < 2.0 * min_weight:
            continue
        if by_ratio:
            best, n_constant = choose_by_ratio(
                columns,
                bounds,
                features,
                n_constant,
                rows,
                masses[node],
                buffers,
                min_weight,
                mdl,
                are_flags,
                found,
            )
        else:
            best, n_constant = choose(
                columns,
                bounds,
                features,
                n_constant,
                rows,
                masses[node],
                buffers,
                min_weight,
                mdl,
                keys[n_tasks],
            )
        if best.feature < 0:
            continue
        cut = best.cut
        if by_ratio:
            cut = down_to_a_value(columns, best.feature, n_rows, cut)
        _mark_left(columns, bounds[best.feature], members[start:stop], cut, goes_left)
        middle = partition(members, start, stop, goes_left, rows_right)
        split[node], cuts[node], left[node] = best.feature, cut, n_places
        smaller_left = middle - start <= stop - middle
        first, second = (1, 0) if smaller_left else (0, 1)  # positions of left and right
        tasks[n_tasks + first, 0], tasks[n_tasks + second, 0] = n_places, n_places + 1
        tasks[n_tasks + first, 1], tasks[n_tasks + first, 2] = start, middle
        tasks[n_tasks + second, 1], tasks[n_tasks + second, 2] = middle, stop
        for i in range(n_constant, n_features):
            j = features[i]
            a, b = bounds[j, 0], bounds[j, 1]
            between = _partition_entries(columns, a, b, goes_left, rows_right, values_right)
            here, there = spans[n_tasks + first, j], spans[n_tasks + second, j]
            here[0], here[1], here[2] = a, between, middle - start - (between - a)
            there[0], there[1], there[2] = between, b, stop - middle - (b - between)
        tasks[n_tasks, 3] = tasks[n_tasks + 1, 3] = n_constant
        key = keys[n_tasks]
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
