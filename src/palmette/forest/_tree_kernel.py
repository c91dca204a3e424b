"""Growing one sparse oblique structured tree.

At every node the label sets of its rows are clustered in two (`cluster_rows`), and a router is
fitted to separate the clusters by the features (`split_node`): a sparse linear split by the
Hellinger loss (`minimise`, or `adam` as published), one by logistic regression, or a single feature
(`best_axis`). The children of the node get the rows by the router; the clusters are discarded.

A tree is stored in flat arrays over its nodes in preorder, the root at 0: ``left`` and ``right``
(children as indices within the tree, -1 at a leaf); the weights of node k are
``weight_values[weight_starts[k] : weight_starts[k + 1]]``, of the features ``weight_features[...]``
in ascending order; ``bias``. A row goes right iff ``x.w + bias >= 0``, where the products are
summed in that order and the bias is added last. Leaves have no weights.

Random numbers depend only on the seed and on the path to a node. Memory: the features of the rows
of one node at a time, sparse if X is sparse.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette.forest._label_clusters import (
    cluster_rows,
    count_labels,
    distinct_sets,
    idf_weights,
    select_labels,
)
from palmette.forest._node_block import gather_dense, gather_sparse
from palmette.forest._node_split import split_node
from palmette.forest._settings import ROUTERS, TreeSettings
from palmette.trees._random import NODE_STRIDE, State, Word, mix, next_below

__all__ = ["ROUTERS", "StructuredTree", "TreeSettings", "grow_tree"]

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32]
Sums: TypeAlias = NDArray[np.float64]
SparseRows: TypeAlias = tuple[Reals, Indices, Offsets, int]


class StructuredTree(NamedTuple):
    """A tree as flat arrays, and the leaf of every training row."""

    left: Indices
    right: Indices
    weight_starts: Offsets
    weight_features: Indices
    weight_values: Reals
    bias: Reals
    leaf_of_row: Indices


@njit(cache=True, nogil=True, error_model="numpy")
def _child_seed(seed: Word, side: int) -> Word:
    return mix(seed + NODE_STRIDE * np.uint64(side + 1))


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_features(features: Indices, share: float, state: State) -> Indices:
    """Draw a proportion of the features, keeping their order."""
    n_drawn = min(max(int(np.rint(share * len(features))), 1), len(features))
    if n_drawn == len(features):
        return features
    drawn, n_taken = np.empty(n_drawn, dtype=np.int32), 0
    for j in range(len(features)):
        if next_below(state, len(features) - j) < n_drawn - n_taken:
            drawn[n_taken] = features[j]
            n_taken += 1
            if n_taken == n_drawn:
                break
    return drawn


@njit(cache=True, nogil=True, error_model="numpy")
def _with_capacity(values: NDArray[Any], n_used: int, n_more: int) -> NDArray[Any]:
    """Return the array, enlarged if it has no space for more values."""
    if n_used + n_more <= len(values):
        return values
    larger = np.empty(max(2 * len(values), n_used + n_more), dtype=values.dtype)
    for i in range(n_used):  # assignments of slices take seconds to compile
        larger[i] = values[i]
    return larger


@njit(cache=True, nogil=True, error_model="numpy")
def _partition(order: Indices, right: Flags) -> int:
    """Partition rows, left before right, keeping their order; return the number of left rows."""
    n_left = len(right) - right.sum()
    sorted_rows, first, second = np.empty_like(order), 0, n_left
    for i in range(len(order)):
        if right[i]:
            sorted_rows[second] = order[i]
            second += 1
        else:
            sorted_rows[first] = order[i]
            first += 1
    for i in range(len(order)):
        order[i] = sorted_rows[i]
    return int(n_left)


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(
    X: Reals,
    data: Reals,
    indices: Indices,
    indptr: Offsets,
    n_features: int,
    starts: Offsets,
    labels: Indices,
    n_labels: int,
    set_of: Indices,
    row_of: Indices,
    rows: Indices,
    row_weights: Sums,
    features: Indices,
    settings: TreeSettings,
    seed: np.uint64,
) -> tuple[Indices, Indices, Offsets, Indices, Reals, Reals, Indices]:
    """Grow a tree on dense ``X``, or on CSR arrays if ``X`` has no rows; see `grow_tree`."""
    is_sparse, n_rows = X.shape[0] == 0, len(rows)
    place_of_set = np.full(len(row_of), -1, dtype=np.int32)
    column_of = np.full(n_features if is_sparse else 0, -1, dtype=np.int32)
    order = np.arange(n_rows).astype(np.int32)
    global_weights = idf_weights(
        count_labels(starts, labels, order, row_weights, n_labels), row_weights.sum()
    )
    max_nodes = 2 * (n_rows // max(settings.min_samples_leaf, 1)) + 1
    left = np.full(max_nodes, -1, dtype=np.int32)
    right = np.full(max_nodes, -1, dtype=np.int32)
    bias, weight_starts = np.zeros(max_nodes, np.float32), np.zeros(max_nodes + 1, np.int64)
    weight_features, weight_values = np.empty(1024, np.int32), np.empty(1024, np.float32)
    leaf_of_row = np.zeros(n_rows, dtype=np.int32)
    # nodes to grow: first row, last row, depth, parent, side; and the seed of the path
    stack, seeds = np.empty((max_nodes, 5), np.int64), np.empty(max_nodes, np.uint64)
    stack[0] = np.array([0, n_rows, 0, -1, 0])
    seeds[0] = seed
    n_stacked, n_nodes, n_weights = 1, 0, 0
    state = np.empty(1, dtype=np.uint64)
    min_rows = max(settings.min_samples_split, 2 * settings.min_samples_leaf)
    while n_stacked > 0:
        n_stacked -= 1
        first, last, depth, parent, side = stack[n_stacked]
        state[0] = node_seed = seeds[n_stacked]
        node = n_nodes
        n_nodes += 1
        if parent >= 0:
            if side == 0:
                left[parent] = node
            else:
                right[parent] = node
        node_rows = order[first:last]
        found = False
        if last - first >= min_rows and (settings.max_depth < 0 or depth < settings.max_depth):
            second, goes_right = np.empty(last - first, np.bool_), np.empty(last - first, np.bool_)
            weights = row_weights[node_rows]
            found = cluster_rows(
                settings,
                starts,
                labels,
                global_weights,
                set_of,
                row_of,
                place_of_set,
                node_rows,
                weights,
                state,
                second,
            )
            if found:
                used = _draw_features(features, settings.feature_share, state)
                n_drawn = len(used)
                if is_sparse:
                    block, used = gather_sparse(
                        data,
                        indices,
                        indptr,
                        rows[node_rows],
                        used,
                        settings.min_column_rows,
                        column_of,
                    )
                else:
                    block = gather_dense(X, rows[node_rows], used)
                found, point = split_node(
                    settings, block, len(used), n_drawn, second, weights, state, goes_right
                )
                if found:
                    weight_features = _with_capacity(weight_features, n_weights, len(used))
                    weight_values = _with_capacity(weight_values, n_weights, len(used))
                    for j in range(len(used)):
                        if point[j] != 0.0:
                            weight_features[n_weights] = used[j]
                            weight_values[n_weights] = point[j]
                            n_weights += 1
                    bias[node] = point[-1]
                    middle = first + _partition(node_rows, goes_right)
                    stack[n_stacked] = np.array([middle, last, depth + 1, node, 1])
                    stack[n_stacked + 1] = np.array([first, middle, depth + 1, node, 0])
                    seeds[n_stacked] = _child_seed(node_seed, 1)
                    seeds[n_stacked + 1] = _child_seed(node_seed, 0)
                    n_stacked += 2
        weight_starts[node + 1] = n_weights
        if not found:
            for i in node_rows:
                leaf_of_row[i] = node
    return (
        left[:n_nodes].copy(),
        right[:n_nodes].copy(),
        weight_starts[: n_nodes + 1].copy(),
        weight_features[:n_weights].copy(),
        weight_values[:n_weights].copy(),
        bias[:n_nodes].copy(),
        leaf_of_row,
    )


def grow_tree(
    X: Reals | SparseRows,
    Y: tuple[Offsets, Indices, int],
    rows: Indices,
    row_weights: Sums,
    features: Indices,
    labels: Indices,
    settings: TreeSettings,
    seed: int,
) -> StructuredTree:
    """Grow one tree on some rows.

    Parameters
    ----------
    X : float32 array of shape (n_samples, n_features) or tuple, IN
        C-contiguous; or CSR with sorted indices as ``(data, indices, indptr, n_features)``, of
        float32, int32 and int64, which is much faster if most values are zero.
    Y : tuple, IN
        The label matrix (CSR) as ``(indptr, indices, n_labels)``, int64 and int32.
    rows : int32 array of shape (n_in_bag,), IN
        A row that occurs several times counts as several rows.
    row_weights : float64 array of shape (n_in_bag,), IN
        Positive.
    features : int32 array of shape (n_drawn,), IN
        Features of the tree, from which nodes draw: ascending, without duplicates.
    labels : int32 array of shape (n_drawn_labels,), IN
        Labels of the tree, which are clustered.
    settings : TreeSettings
    seed : int
        From 0 to 2**63 - 1.

    Returns
    -------
    StructuredTree

    Examples
    --------
    >>> X = np.array([[0], [1], [2], [3]], dtype=np.float32)
    >>> Y = (np.array([0, 1, 2, 3, 4]), np.array([0, 0, 1, 1], dtype=np.int32), 2)
    >>> rows, settings = np.arange(4, dtype=np.int32), TreeSettings(min_samples_leaf=1)
    >>> both = np.arange(2, dtype=np.int32)
    >>> tree = grow_tree(X, Y, rows, np.ones(4), both[:1], both, settings, 0)
    >>> tree.leaf_of_row.tolist()
    [2, 2, 1, 1]
    """
    if isinstance(X, tuple):
        data, indices, indptr, n_features = X
        dense = np.empty((0, 0), dtype=np.float32)
    else:
        dense, n_features = X, X.shape[1]
        data, indices = np.empty(0, X.dtype), np.empty(0, np.int32)
        indptr = np.zeros(1, dtype=np.int64)
    starts, drawn = select_labels(Y[0], Y[1], rows, labels, Y[2])
    sets = starts, drawn, len(labels), *distinct_sets(starts, drawn)
    return StructuredTree(
        *_grow(
            dense,
            data,
            indices,
            indptr,
            n_features,
            *sets,
            rows,
            row_weights,
            features,
            settings,
            np.uint64(seed),
        )
    )
