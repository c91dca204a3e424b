"""Prediction with sparse oblique trees: the leaves of rows in all trees, and the sums of votes.

The trees of `_tree_kernel` are stored one after the other: ``tree_starts`` is the first node of
each; ``left`` and ``right`` are relative to it; ``weight_starts`` counts the weights of all trees.
Rows are processed in blocks through all trees: small enough to stay in the cache, and large enough
that the weights of a node are used for many rows. A block is stored by row and by feature: if many
of its rows reach a node, values are read by feature, otherwise by row. Products are summed in the
same order as when the trees were grown.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import read_only
from palmette._kernels import inner, kernel

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32]
SparseRows: TypeAlias = tuple[Reals, Indices, Offsets, int]
Sums: TypeAlias = NDArray[np.float64]

_BLOCK_VALUES = 2**17  # values of a block, which should stay in the cache
_MAX_ROWS = 1024
_MIN_ROWS = 32
_SCORE_ALL = 3  # if at least a third of a block's rows reach a node, scoring all is faster

_Buffers: TypeAlias = tuple[Indices, Indices, Reals, Reals, Offsets]


class ObliqueTrees(NamedTuple):
    """Trees one after the other, as flat arrays.

    Attributes
    ----------
    tree_starts : int64 array of shape (n_trees + 1,)
    left, right : int32 arrays of shape (n_nodes,)
        Children as indices within the tree; -1 at a leaf.
    weight_starts : int64 array of shape (n_nodes + 1,)
    weight_features, weight_values : int32 and float32 arrays of shape (n_weights,)
    bias : float32 array of shape (n_nodes,)
    """

    tree_starts: Offsets
    left: Indices
    right: Indices
    weight_starts: Offsets
    weight_features: Indices
    weight_values: Reals
    bias: Reals

    def read_only(self) -> ObliqueTrees:
        """Return the trees with read-only arrays; see `palmette._arrays.read_only`."""
        return ObliqueTrees._make(read_only(each) for each in self)


@inner(error_model="numpy")
def _read_block(
    X: Reals,
    data: Reals,
    indices: Indices,
    indptr: Offsets,
    first: int,
    by_row: Reals,
    by_feature: Reals,
) -> None:
    """Copy rows of dense X, or of CSR arrays if X has no rows, by row and by feature."""
    n_rows = len(by_row)
    if X.shape[0] > 0:
        for i in range(n_rows):
            for j in range(by_row.shape[1]):
                by_row[i, j] = X[first + i, j]
    else:
        by_row[:] = 0.0
        for i in range(n_rows):
            for k in range(indptr[first + i], indptr[first + i + 1]):
                by_row[i, indices[k]] = data[k]
    for i in range(n_rows):
        for j in range(by_row.shape[1]):
            by_feature[j, i] = by_row[i, j]


@inner(error_model="numpy", inline="always")
def _score_all(
    by_feature: Reals, features: Indices, values: Reals, start: int, stop: int, scores: Reals
) -> None:
    """Write the products of all rows of a block with the weights from start to stop."""
    for i in range(len(scores)):
        scores[i] = 0.0
    whole = stop - (stop - start) % 4
    for k in range(start, whole, 4):  # four at a time, to read and write the sums less often
        a, b = np.uint64(features[k]), np.uint64(features[k + 1])
        c, d = np.uint64(features[k + 2]), np.uint64(features[k + 3])
        p, q, r, s = values[k], values[k + 1], values[k + 2], values[k + 3]
        for i in range(len(scores)):
            score = (scores[i] + by_feature[a, i] * p) + by_feature[b, i] * q
            scores[i] = (score + by_feature[c, i] * r) + by_feature[d, i] * s
    for k in range(whole, stop):
        a, p = np.uint64(features[k]), values[k]
        for i in range(len(scores)):
            scores[i] += by_feature[a, i] * p


@inner(error_model="numpy", inline="always")
def _score_some(
    rows: Reals,
    order: Indices,
    first: int,
    last: int,
    features: Indices,
    values: Reals,
    start: int,
    stop: int,
    sums: Reals,
) -> None:
    """Write the products of the rows ``order[first:last]`` with the weights from start to stop."""
    here, there = np.uint64(start), np.uint64(stop)  # unsigned: numba need not check the sign
    place = first
    while place + 7 < last:  # eight independent sums
        i, j = np.uint64(order[place]), np.uint64(order[place + 1])
        m, n = np.uint64(order[place + 2]), np.uint64(order[place + 3])
        o, p = np.uint64(order[place + 4]), np.uint64(order[place + 5])
        q, r = np.uint64(order[place + 6]), np.uint64(order[place + 7])
        a = b = c = d = e = f = g = h = np.float32(0.0)
        for k in range(here, there):
            feature, value = np.uint64(features[k]), values[k]
            a += rows[i, feature] * value
            b += rows[j, feature] * value
            c += rows[m, feature] * value
            d += rows[n, feature] * value
            e += rows[o, feature] * value
            f += rows[p, feature] * value
            g += rows[q, feature] * value
            h += rows[r, feature] * value
        sums[place], sums[place + 1], sums[place + 2], sums[place + 3] = a, b, c, d
        sums[place + 4], sums[place + 5], sums[place + 6], sums[place + 7] = e, f, g, h
        place += 8
    while place + 1 < last:
        i, j = np.uint64(order[place]), np.uint64(order[place + 1])
        a = b = np.float32(0.0)
        for k in range(here, there):
            feature, value = np.uint64(features[k]), values[k]
            a += rows[i, feature] * value
            b += rows[j, feature] * value
        sums[place], sums[place + 1] = a, b
        place += 2
    if place < last:
        i, a = np.uint64(order[place]), np.float32(0.0)
        for k in range(here, there):
            a += rows[i, np.uint64(features[k])] * values[k]
        sums[place] = a


@inner(error_model="numpy", inline="always")
def _partition(
    order: Indices, first: int, last: int, sums: Reals, bias: float, right_rows: Indices
) -> int:
    """Partition rows, left before right; return the position of the first right row."""
    middle, n_right = first, 0
    for i in range(first, last):  # both are written, one is kept: no branch to mispredict
        row = order[i]
        goes_right = sums[i] + bias >= 0.0
        right_rows[n_right] = row
        order[middle] = row
        n_right += goes_right
        middle += not goes_right
    for i in range(n_right):
        order[middle + i] = right_rows[i]
    return middle


@inner(error_model="numpy")
def _leaves_in_tree(
    by_feature: Reals,
    rows: Reals,
    trees: ObliqueTrees,
    tree: int,
    buffers: _Buffers,
    leaves: Indices,
) -> None:
    """Write the leaves of a block's rows in one tree, as indices among the nodes of all trees."""
    base, left, right, bias = trees.tree_starts[tree], trees.left, trees.right, trees.bias
    starts, features, values = trees.weight_starts, trees.weight_features, trees.weight_values
    order, right_rows, scores, sums, stack = buffers
    n_rows = len(rows)
    for i in range(n_rows):
        order[i] = i
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n_rows, base
    n_stacked = 1
    while n_stacked > 0:
        n_stacked -= 1
        first, last, place = stack[n_stacked, 0], stack[n_stacked, 1], stack[n_stacked, 2]
        if left[place] < 0:
            for i in range(first, last):
                leaves[order[i]] = place
            continue
        start, stop = starts[place], starts[place + 1]
        if (last - first) * _SCORE_ALL >= n_rows:
            _score_all(by_feature, features, values, start, stop, scores)
            for i in range(first, last):
                sums[i] = scores[order[i]]
        else:
            _score_some(rows, order, first, last, features, values, start, stop, sums)
        middle = _partition(order, first, last, sums, bias[place], right_rows)
        if middle < last:
            stack[n_stacked, 0], stack[n_stacked, 1] = middle, last
            stack[n_stacked, 2] = base + right[place]
            n_stacked += 1
        if first < middle:
            stack[n_stacked, 0], stack[n_stacked, 1] = first, middle
            stack[n_stacked, 2] = base + left[place]
            n_stacked += 1


@inner(error_model="numpy")
def _allocate(n_features: int) -> tuple[Reals, Reals, Indices, _Buffers]:
    """Return arrays for a block of rows by row and by feature, their leaves, and buffers."""
    size = min(max(_BLOCK_VALUES // max(n_features, 1), _MIN_ROWS), _MAX_ROWS)
    by_row = np.empty((size, n_features), np.float32)
    by_feature = np.zeros((n_features, size), np.float32)
    leaves, order, right_rows = np.empty((3, size), np.int32)
    scores, sums = np.empty(size, np.float32), np.empty(size, np.float32)
    stack = np.empty((size, 3), np.int64)  # each row is at one node at a time
    return by_row, by_feature, leaves, (order, right_rows, scores, sums, stack)


@kernel(error_model="numpy")
def _find_leaves(
    X: Reals,
    data: Reals,
    indices: Indices,
    indptr: Offsets,
    n_features: int,
    trees: ObliqueTrees,
    leaves: Indices,
) -> None:
    by_row, by_feature, found, buffers = _allocate(n_features)
    for first in range(0, leaves.shape[0], len(found)):
        n_rows = min(len(found), leaves.shape[0] - first)
        rows = by_row[:n_rows]
        _read_block(X, data, indices, indptr, first, rows, by_feature)
        for tree in range(leaves.shape[1]):
            _leaves_in_tree(by_feature, rows, trees, tree, buffers, found)
            for i in range(n_rows):
                leaves[first + i, tree] = found[i] - trees.tree_starts[tree]


@kernel(error_model="numpy")
def _add_votes(
    X: Reals,
    data: Reals,
    indices: Indices,
    indptr: Offsets,
    n_features: int,
    trees: ObliqueTrees,
    share_starts: Offsets,
    share_labels: Indices,
    share_values: Reals,
    vote_weights: Reals,
    used: Flags,
    votes: Sums,
) -> None:
    by_row, by_feature, found, buffers = _allocate(n_features)
    use_all = used.shape[0] == 0
    for first in range(0, votes.shape[0], len(found)):
        n_rows = min(len(found), votes.shape[0] - first)
        rows = by_row[:n_rows]
        _read_block(X, data, indices, indptr, first, rows, by_feature)
        for tree in range(len(trees.tree_starts) - 1):
            _leaves_in_tree(by_feature, rows, trees, tree, buffers, found)
            weights = vote_weights[tree]
            for i in range(n_rows):
                if not (use_all or used[tree, first + i]):
                    continue
                row_votes, begin = votes[first + i], np.uint64(share_starts[found[i]])
                for k in range(begin, np.uint64(share_starts[found[i] + 1])):
                    label = np.uint64(share_labels[k])
                    row_votes[label] += weights[label] * share_values[k]


_NO_ROWS = read_only(np.empty((0, 0), dtype=np.float32))
_NO_ENTRIES = (
    read_only(np.empty(0, np.float32)),
    read_only(np.empty(0, np.int32)),
    read_only(np.zeros(1, np.int64)),
)


def _as_both_forms(X: Reals | SparseRows) -> tuple[Reals, Reals, Indices, Offsets, int]:
    """Return X in both forms, dense and CSR; the other one is empty."""
    if isinstance(X, tuple):
        data, indices, indptr, n_features = X
        return (_NO_ROWS, read_only(data), read_only(indices), read_only(indptr), n_features)
    return (read_only(X), *_NO_ENTRIES, X.shape[1])


def find_leaves(X: Reals | SparseRows, trees: ObliqueTrees) -> Indices:
    """Return the leaf of every row in every tree.

    Parameters
    ----------
    X : float32 array of shape (n_rows, n_features) or tuple, IN
        C-contiguous; or CSR as ``(data, indices, indptr, n_features)``, of float32, int32, int64.
    trees : ObliqueTrees, IN

    Returns
    -------
    int32 array of shape (n_rows, n_trees)
        Indices within the tree.

    Examples
    --------
    >>> trees = ObliqueTrees(
    ...     np.array([0, 3]),
    ...     np.array([1, -1, -1], dtype=np.int32),
    ...     np.array([2, -1, -1], dtype=np.int32),
    ...     np.array([0, 1, 1, 1]),
    ...     np.array([0], dtype=np.int32),
    ...     np.array([1.0], dtype=np.float32),
    ...     np.array([-0.5, 0.0, 0.0], dtype=np.float32),
    ... )
    >>> find_leaves(np.array([[0.0], [1.0]], dtype=np.float32), trees)
    array([[1],
           [2]], dtype=int32)
    """
    n_rows = len(X[2]) - 1 if isinstance(X, tuple) else len(X)
    leaves = np.empty((n_rows, len(trees.tree_starts) - 1), dtype=np.int32)
    _find_leaves(*_as_both_forms(X), trees.read_only(), leaves)
    return leaves


def add_votes(
    X: Reals | SparseRows,
    trees: ObliqueTrees,
    share_starts: Offsets,
    share_labels: Indices,
    share_values: Reals,
    vote_weights: Reals,
    votes: Sums,
    used: Flags | None = None,
) -> None:
    """Add the label shares of the leaves of all trees, weighted per tree and label.

    Parameters
    ----------
    X, trees
        As in `find_leaves`, IN.
    share_starts, share_labels, share_values : int64, int32, float32 arrays, IN
        Labels of each leaf and their shares (CSR over the nodes of all trees; inner nodes have no
        entries).
    vote_weights : float32 array of shape (n_trees, n_labels), IN
    votes : float64 array of shape (n_rows, n_labels), IN and OUT
    used : bool array of shape (n_trees, n_rows), IN, optional
        Whether a row uses a tree; for out-of-bag scores, the trees not fitted on it.

    Examples
    --------
    >>> trees = ObliqueTrees(
    ...     np.array([0, 1]),
    ...     np.array([-1], dtype=np.int32),
    ...     np.array([-1], dtype=np.int32),
    ...     np.array([0, 0]),
    ...     np.empty(0, dtype=np.int32),
    ...     np.empty(0, dtype=np.float32),
    ...     np.zeros(1, dtype=np.float32),
    ... )
    >>> votes = np.zeros((2, 2))
    >>> shares = np.array([0, 1]), np.array([1], dtype=np.int32), np.array([0.5], dtype=np.float32)
    >>> weights = np.full((1, 2), 5, np.float32)
    >>> add_votes(np.zeros((2, 1), np.float32), trees, *shares, weights, votes)
    >>> votes
    array([[0. , 2.5],
           [0. , 2.5]])
    """
    mask = np.empty((0, 0), dtype=np.bool_) if used is None else used
    _add_votes(
        *_as_both_forms(X),
        trees.read_only(),
        read_only(share_starts),
        read_only(share_labels),
        read_only(share_values),
        read_only(vote_weights),
        read_only(mask),
        votes,
    )
