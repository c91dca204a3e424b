"""Pruning as C4.5 does it: subtrees become leaves, or are replaced by their larger branch.

A raised branch takes the place of its parent and receives the rows of the other branch. Only these
rows are sent down to estimate its errors, hence the cost is that of joining smaller sets to larger
ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palmette._kernels import inner, int64, kernel
from palmette.multilabel._c45_cuts import (
    Indices,
    Numbers,
    Offsets,
    Reals,
    SortedColumns,
    Sums,
)
from palmette.multilabel._c45_kernel import EntropyTree

_SLACK = 0.1 + 1e-6  # errors by which a smaller tree may be worse; differences of 1e-6 are ties
_TIE = 1e-6
_NO_BETTER = 1e-3  # training errors that a subtree has to save


class _Values(NamedTuple):
    """The nonzero values of the features that a tree uses, row by row."""

    starts: Offsets
    features: Indices
    values: Reals


@inner(error_model="numpy")
def _normal_limit(weight: float, errors: float, z: float) -> float:
    rate = (errors + 0.5) / weight
    spread = rate / weight - rate * rate / weight + z * z / (4.0 * weight * weight)
    limit = (rate + z * z / (2.0 * weight) + z * np.sqrt(spread)) / (1.0 + z * z / weight)
    return float(limit * weight - errors)


@inner(error_model="numpy")
def _further(weight: float, errors: float, z: float) -> float:
    further = weight - errors
    if errors + 0.5 < weight:
        further = _normal_limit(weight, errors, z)
    return max(further, 0.0)


@inner(error_model="numpy")
def _expected_errors(masses: Sums, others: Sums, confidence: float, z: float) -> float:
    """Return the errors to be expected of a leaf with the rows of two sums of weights."""
    weight, largest = 0.0, 0.0
    for k in range(len(masses)):
        mass = float(masses[k] + others[k])
        weight += mass
        largest = max(largest, mass)
    if weight <= _TIE:
        return 0.0
    errors = weight - largest
    if errors >= 1.0:
        return errors + _further(weight, errors, z)
    at_none: float = weight * (1.0 - confidence ** (1.0 / weight))
    if errors == 0.0:
        return at_none
    return errors + at_none + errors * (_further(weight, 1.0, z) - at_none)


@inner(error_model="numpy")
def _values_by_row(columns: SortedColumns, tree: EntropyTree, n_rows: int) -> _Values:
    """Collect the values of the features that the nodes split by."""
    n_features = len(columns.starts) - 1
    is_used = np.zeros(n_features, np.bool_)
    for node in range(len(tree.left)):
        if tree.left[node] >= 0:
            is_used[tree.features[node]] = True
    starts = np.zeros(n_rows + 1, np.int64)
    for j in range(n_features):
        if is_used[j]:
            for e in range(columns.starts[j], columns.starts[j + 1]):
                starts[columns.rows[e] + 1] += 1
    for row in range(n_rows):
        starts[row + 1] += starts[row]
    ends = starts[:-1].copy()
    features, values = np.empty(starts[n_rows], np.int32), np.empty(starts[n_rows], np.float32)
    for j in range(n_features):
        if is_used[j]:
            for e in range(columns.starts[j], columns.starts[j + 1]):
                place = ends[columns.rows[e]]
                features[place], values[place] = j, columns.values[e]
                ends[columns.rows[e]] = place + 1
    return _Values(starts, features, values)


@inner(error_model="numpy")
def _goes_right(values: _Values, row: int, feature: int, cut: float) -> bool:
    low, high = values.starts[row], values.starts[row + 1]
    stop = high
    while low < high:
        middle = (low + high) >> 1
        if values.features[middle] < feature:
            low = middle + 1
        else:
            high = middle
    if low < stop and values.features[low] == feature:
        return bool(float(values.values[low]) > cut)
    return bool(cut < 0.0)


@inner(error_model="numpy")
def _collapse(tree: EntropyTree) -> None:
    """Make leaves of subtrees that make no fewer training errors; in place."""
    n_nodes, n_classes = tree.masses.shape
    errors, below = np.empty(n_nodes), np.empty(n_nodes)
    for node in range(n_nodes - 1, -1, -1):  # children come after their parents
        total, largest = 0.0, 0.0
        for k in range(n_classes):
            total += tree.masses[node, k]
            largest = max(largest, float(tree.masses[node, k]))
        errors[node] = below[node] = total - largest
        child = tree.left[node]
        if child >= 0:
            below[node] = below[child] + below[child + 1]
    for node in range(n_nodes):
        if tree.left[node] >= 0 and below[node] >= errors[node] - _NO_BETTER:
            tree.left[node] = -1


@inner(error_model="numpy")
def _errors_if_raised(
    tree: EntropyTree,
    branch: int,
    other: int,
    values: _Values,
    classes: Numbers,
    weights: Sums,
    more: Sums,
    stack: Offsets,
    confidence: float,
    z: float,
) -> float:
    """Return the errors to be expected of a branch that also has the rows of the other one."""
    start = tree.starts[other]
    for i in range(start, start + tree.n_rows[other]):
        row, node = tree.members[i], int64(branch)
        while tree.left[node] >= 0:
            right = _goes_right(values, row, tree.features[node], tree.cuts[node])
            node = int64(tree.left[node]) + int64(right)
        more[node, classes[row]] += weights[row]
    errors, n_open = 0.0, 1
    stack[0] = branch
    while n_open:
        n_open -= 1
        node = stack[n_open]
        child = tree.left[node]
        if child >= 0:
            stack[n_open], stack[n_open + 1] = child + 1, child
            n_open += 2
            continue
        errors += _expected_errors(tree.masses[node], more[node], confidence, z)
        for k in range(more.shape[1]):
            more[node, k] = 0
    return errors


@inner(error_model="numpy")
def _redistribute(
    tree: EntropyTree,
    top: int,
    values: _Values,
    classes: Numbers,
    weights: Sums,
    buffer: Numbers,
    stack: Offsets,
) -> None:
    """Send the rows of a node down the subtree that it has now; in place."""
    members, n_open = tree.members, 1
    stack[0] = top
    while n_open:
        n_open -= 1
        node = stack[n_open]
        child = int64(tree.left[node])
        if child < 0:
            continue
        start = tree.starts[node]
        stop, middle, n_right = start + tree.n_rows[node], start, 0
        for k in range(tree.masses.shape[1]):
            tree.masses[child, k] = tree.masses[child + 1, k] = 0
        for i in range(start, stop):
            row = members[i]
            if _goes_right(values, row, tree.features[node], tree.cuts[node]):
                buffer[n_right] = row
                n_right += 1
                tree.masses[child + 1, classes[row]] += weights[row]
            else:
                members[middle] = row
                middle += 1
                tree.masses[child, classes[row]] += weights[row]
        for i in range(n_right):
            members[middle + i] = buffer[i]
        tree.starts[child], tree.n_rows[child] = start, middle - start
        tree.starts[child + 1], tree.n_rows[child + 1] = middle, n_right
        stack[n_open], stack[n_open + 1] = child, child + 1
        n_open += 2


@inner(error_model="numpy")
def _is_heavier(tree: EntropyTree, child: int) -> bool:
    """Return whether the right child is heavier than the left one, or as heavy."""
    gap = 0.0
    for k in range(tree.masses.shape[1]):
        gap += float(tree.masses[child + 1, k]) - float(tree.masses[child, k])
    return bool(gap > -_TIE)


@inner(error_model="numpy")
def _compact(tree: EntropyTree) -> EntropyTree:
    """Return the nodes that can be reached, children after their parents."""
    n_nodes = len(tree.left)
    order, left = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int32)
    n_kept, at = 1, 0
    order[0] = 0
    while at < n_kept:
        child = tree.left[order[at]]
        left[at] = -1
        if child >= 0:
            left[at] = n_kept
            order[n_kept], order[n_kept + 1] = child, child + 1
            n_kept += 2
        at += 1
    kept = order[:n_kept]
    return EntropyTree(
        tree.features[kept],
        tree.cuts[kept],
        left[:n_kept],
        tree.masses[kept],
        tree.n_rows[kept],
        tree.starts[kept],
        tree.members,
    )


@kernel(error_model="numpy")
def prune_and_raise(
    columns: SortedColumns,
    tree: EntropyTree,
    classes: Numbers,
    weights: Sums,
    confidence: float,
    z: float,
) -> EntropyTree:
    """Prune a tree, from the leaves to the root.

    Subtrees that make no fewer training errors than a leaf become leaves first. Then a subtree
    becomes a leaf, or its larger branch, if the expected errors do not grow.

    Parameters
    ----------
    columns : SortedColumns, IN
        In any order of the entries of a column.
    tree : EntropyTree, IN
        Overwritten.
    classes : uint32 array of shape (n_rows,), IN
    weights : int64 or float64 array of shape (n_rows,), IN
    confidence : float
    z : float
        Quantile of the normal distribution at ``1 - confidence``.

    Returns
    -------
    EntropyTree
    """
    _collapse(tree)
    tree = _compact(tree)
    n_nodes, n_rows = len(tree.left), len(classes)
    values = _values_by_row(columns, tree, n_rows)
    expected, more = np.zeros(n_nodes), np.zeros_like(tree.masses)
    stack, buffer = np.empty(n_nodes + 2, np.int64), np.empty(n_rows, np.uint32)
    tasks, is_return = np.empty(3 * n_nodes + 3, np.int64), np.zeros(3 * n_nodes + 3, np.bool_)
    n_tasks = 1
    tasks[0] = 0
    while n_tasks:
        n_tasks -= 1
        node = tasks[n_tasks]
        child = int64(tree.left[node])
        as_leaf = _expected_errors(tree.masses[node], more[node], confidence, z)
        if child < 0:
            expected[node] = as_leaf
            continue
        if not is_return[n_tasks]:  # children first
            is_return[n_tasks] = True
            tasks[n_tasks + 1], tasks[n_tasks + 2] = child + 1, child
            is_return[n_tasks + 1] = is_return[n_tasks + 2] = False
            n_tasks += 3
            continue
        as_tree = expected[child] + expected[child + 1]
        if _is_heavier(tree, child):
            branch, other = child + 1, child
        else:
            branch, other = child, child + 1
        raised = _errors_if_raised(
            tree, branch, other, values, classes, weights, more, stack, confidence, z
        )
        if as_leaf - as_tree < _SLACK and as_leaf - raised < _SLACK:
            tree.left[node] = -1
            expected[node] = as_leaf
        elif raised - as_tree < _SLACK:
            tree.features[node], tree.cuts[node] = tree.features[branch], tree.cuts[branch]
            tree.left[node] = tree.left[branch]
            _redistribute(tree, node, values, classes, weights, buffer, stack)
            tasks[n_tasks], is_return[n_tasks] = node, False
            n_tasks += 1
        else:
            expected[node] = as_tree
    return _compact(tree)
