"""Walking rows down sparse oblique trees, many trees at a time, and adding up what leaves say.

Trees are those of `structured_tree`, one after the other: ``tree_starts`` says where each begins
among all nodes; ``left`` and ``right`` count from there; ``weight_starts`` counts weights of all
trees together. Rows go down in blocks that stay in the cache while they meet all trees: small
enough for that, and large enough that a node's weights, once fetched, serve many rows. A block is
held in both orders: where most of its rows reach a node, a feature's values are read side by side,
and where few do, a row's. Sums run in the order in which they ran when the trees were grown.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["ObliqueTrees", "add_votes", "walk"]

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32]
SparseRows: TypeAlias = tuple[Reals, Indices, Offsets, int]
Sums: TypeAlias = NDArray[np.float64]

_BLOCK_VALUES = 2**17  # of a block that stays in the cache
_MOST_ROWS = 1024
_FEWEST_ROWS = 32
_WORTH_ALL = 3  # with one in so many of a block's rows at a node, it is quicker to score all

_Room: TypeAlias = tuple[Indices, Indices, Reals, Reals, Offsets]


class ObliqueTrees(NamedTuple):
    """Trees one after the other, as flat arrays.

    Attributes
    ----------
    tree_starts : int64 array of shape (n_trees + 1,)
    left, right : int32 arrays of shape (n_nodes,)
        Children within the tree; -1 at a leaf.
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


@njit(cache=True, nogil=True, error_model="numpy")
def _read_block(
    X: Reals,
    data: Reals,
    indices: Indices,
    indptr: Offsets,
    first: int,
    plain: Reals,
    turned: Reals,
) -> None:
    """Write rows of dense X, or of CSR where X has no rows, row by row and feature by feature."""
    n_rows = len(plain)
    if X.shape[0] > 0:
        plain[:] = X[first : first + n_rows]
    else:
        plain[:] = 0.0
        for i in range(n_rows):
            for k in range(indptr[first + i], indptr[first + i + 1]):
                plain[i, indices[k]] = data[k]
    for i in range(n_rows):
        for j in range(plain.shape[1]):
            turned[j, i] = plain[i, j]


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _score_all(
    turned: Reals, features: Indices, values: Reals, start: int, stop: int, scores: Reals
) -> None:
    """Write the products of all rows of a block with the weights from start to stop."""
    for i in range(len(scores)):
        scores[i] = 0.0
    whole = stop - (stop - start) % 4
    for k in range(start, whole, 4):  # four at a time, so that sums are read and written less often
        a, b = np.uint64(features[k]), np.uint64(features[k + 1])
        c, d = np.uint64(features[k + 2]), np.uint64(features[k + 3])
        p, q, r, s = values[k], values[k + 1], values[k + 2], values[k + 3]
        for i in range(len(scores)):
            score = (scores[i] + turned[a, i] * p) + turned[b, i] * q
            scores[i] = (score + turned[c, i] * r) + turned[d, i] * s
    for k in range(whole, stop):
        a, p = np.uint64(features[k]), values[k]
        for i in range(len(scores)):
            scores[i] += turned[a, i] * p


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _score_some(
    rows: Reals,
    order: Indices,
    first: int,
    last: int,
    features: Indices,
    values: Reals,
    start: int,
    stop: int,
    picked: Reals,
) -> None:
    """Write the products of the rows from first to last of an order, each at its place there."""
    here, there = np.uint64(start), np.uint64(stop)  # numbers that need no look at their sign
    place = first
    while place + 7 < last:  # eight sums side by side: none waits for another
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
        picked[place], picked[place + 1], picked[place + 2], picked[place + 3] = a, b, c, d
        picked[place + 4], picked[place + 5], picked[place + 6], picked[place + 7] = e, f, g, h
        place += 8
    while place + 1 < last:
        i, j = np.uint64(order[place]), np.uint64(order[place + 1])
        a = b = np.float32(0.0)
        for k in range(here, there):
            feature, value = np.uint64(features[k]), values[k]
            a += rows[i, feature] * value
            b += rows[j, feature] * value
        picked[place], picked[place + 1] = a, b
        place += 2
    if place < last:
        i, a = np.uint64(order[place]), np.float32(0.0)
        for k in range(here, there):
            a += rows[i, np.uint64(features[k])] * values[k]
        picked[place] = a


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _part(
    order: Indices, first: int, last: int, picked: Reals, bias: float, beyond: Indices
) -> int:
    """Put rows that go left before those that go right; return where the latter begin."""
    middle, n_right = first, 0
    for i in range(first, last):  # both are written and one counts: nothing to guess wrong
        row = order[i]
        goes_right = picked[i] + bias >= 0.0
        beyond[n_right] = row
        order[middle] = row
        n_right += goes_right
        middle += not goes_right
    for i in range(n_right):
        order[middle + i] = beyond[i]
    return middle


@njit(cache=True, nogil=True, error_model="numpy")
def _find_leaves(
    turned: Reals, rows: Reals, trees: ObliqueTrees, tree: int, room: _Room, leaves: Indices
) -> None:
    """Write the leaves of a block's rows in one tree, as places among the nodes of all trees."""
    base, left, right, bias = trees.tree_starts[tree], trees.left, trees.right, trees.bias
    starts, features, values = trees.weight_starts, trees.weight_features, trees.weight_values
    order, beyond, scores, picked, waiting = room
    n_rows = len(rows)
    for i in range(n_rows):
        order[i] = i
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, n_rows, base
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        first, last, place = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2]
        if left[place] < 0:
            for i in range(first, last):
                leaves[order[i]] = place
            continue
        start, stop = starts[place], starts[place + 1]
        if (last - first) * _WORTH_ALL >= n_rows:
            _score_all(turned, features, values, start, stop, scores)
            for i in range(first, last):
                picked[i] = scores[order[i]]
        else:
            _score_some(rows, order, first, last, features, values, start, stop, picked)
        middle = _part(order, first, last, picked, bias[place], beyond)
        if middle < last:
            waiting[n_waiting, 0], waiting[n_waiting, 1] = middle, last
            waiting[n_waiting, 2] = base + right[place]
            n_waiting += 1
        if first < middle:
            waiting[n_waiting, 0], waiting[n_waiting, 1] = first, middle
            waiting[n_waiting, 2] = base + left[place]
            n_waiting += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _make_room(n_features: int) -> tuple[Reals, Reals, Indices, _Room]:
    """Return a block of rows in both orders, their leaves, and what walking them asks for."""
    size = min(max(_BLOCK_VALUES // max(n_features, 1), _FEWEST_ROWS), _MOST_ROWS)
    plain, turned = (
        np.empty((size, n_features), np.float32),
        np.zeros((n_features, size), np.float32),
    )
    leaves, order, beyond = np.empty((3, size), np.int32)
    scores, picked = np.empty(size, np.float32), np.empty(size, np.float32)
    waiting = np.empty((size, 3), np.int64)  # a row waits at one node at a time
    return plain, turned, leaves, (order, beyond, scores, picked, waiting)


@njit(cache=True, nogil=True, error_model="numpy")
def _walk(
    X: Reals,
    data: Reals,
    indices: Indices,
    indptr: Offsets,
    n_features: int,
    trees: ObliqueTrees,
    leaves: Indices,
) -> None:
    plain, turned, own, room = _make_room(n_features)
    for first in range(0, leaves.shape[0], len(own)):
        n_rows = min(len(own), leaves.shape[0] - first)
        rows = plain[:n_rows]
        _read_block(X, data, indices, indptr, first, rows, turned)
        for tree in range(leaves.shape[1]):
            _find_leaves(turned, rows, trees, tree, room, own)
            for i in range(n_rows):
                leaves[first + i, tree] = own[i] - trees.tree_starts[tree]


@njit(cache=True, nogil=True, error_model="numpy")
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
    counts: Flags,
    votes: Sums,
) -> None:
    plain, turned, own, room = _make_room(n_features)
    all_count = counts.shape[0] == 0
    for first in range(0, votes.shape[0], len(own)):
        n_rows = min(len(own), votes.shape[0] - first)
        rows = plain[:n_rows]
        _read_block(X, data, indices, indptr, first, rows, turned)
        for tree in range(len(trees.tree_starts) - 1):
            _find_leaves(turned, rows, trees, tree, room, own)
            weights = vote_weights[tree]
            for i in range(n_rows):
                if not (all_count or counts[tree, first + i]):
                    continue
                mine, begin = votes[first + i], np.uint64(share_starts[own[i]])
                for k in range(begin, np.uint64(share_starts[own[i] + 1])):
                    label = np.uint64(share_labels[k])
                    mine[label] += weights[label] * share_values[k]


def _parts(X: Reals | SparseRows) -> tuple[Reals, Reals, Indices, Offsets, int]:
    """Return X as both forms, the one that it has not being empty."""
    if isinstance(X, tuple):
        return np.empty((0, 0), dtype=np.float32), *X
    nothing = np.empty(0, np.float32), np.empty(0, np.int32), np.zeros(1, np.int64)
    return X, *nothing, X.shape[1]


def walk(X: Reals | SparseRows, trees: ObliqueTrees) -> Indices:
    """Find the leaf of every row in every tree.

    Parameters
    ----------
    X : float32 array of shape (n_rows, n_features) or tuple, IN
        C-contiguous; or CSR as ``(data, indices, indptr, n_features)``, of float32, int32, int64.
    trees : ObliqueTrees, IN

    Returns
    -------
    int32 array of shape (n_rows, n_trees)
        Places within the tree.

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
    >>> walk(np.array([[0.0], [1.0]], dtype=np.float32), trees)
    array([[1],
           [2]], dtype=int32)
    """
    n_rows = len(X[2]) - 1 if isinstance(X, tuple) else len(X)
    leaves = np.empty((n_rows, len(trees.tree_starts) - 1), dtype=np.int32)
    _walk(*_parts(X), trees, leaves)
    return leaves


def add_votes(
    X: Reals | SparseRows,
    trees: ObliqueTrees,
    share_starts: Offsets,
    share_labels: Indices,
    share_values: Reals,
    vote_weights: Reals,
    votes: Sums,
    counts: Flags | None = None,
) -> None:
    """Walk rows down all trees and add what their leaves say, times the trees' say in each label.

    Parameters
    ----------
    X, trees
        As of `walk`, IN.
    share_starts, share_labels, share_values : int64, int32, float32 arrays, IN
        What each node says: labels and their shares (CSR over the nodes of all trees; inner nodes
        say nothing).
    vote_weights : float32 array of shape (n_trees, n_labels), IN
    votes : float64 array of shape (n_rows, n_labels), IN and OUT
    counts : bool array of shape (n_trees, n_rows), IN, optional
        Whether a row asks a tree: those that did not see it, for out-of-bag scores.

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
    >>> said = np.array([0, 1]), np.array([1], dtype=np.int32), np.array([0.5], dtype=np.float32)
    >>> add_votes(np.zeros((2, 1), np.float32), trees, *said, np.full((1, 2), 5, np.float32), votes)
    >>> votes
    array([[0. , 2.5],
           [0. , 2.5]])
    """
    everyone = np.empty((0, 0), dtype=np.bool_)
    asked = everyone if counts is None else counts
    _add_votes(
        *_parts(X), trees, share_starts, share_labels, share_values, vote_weights, asked, votes
    )
