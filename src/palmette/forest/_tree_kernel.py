"""Growing one sparse oblique structured tree.

At every node the label sets of its rows are clustered in two (`cluster_nodes`), and a router is
fitted to separate the clusters by the features (`split_nodes`): a sparse linear split by the
Hellinger loss (`minimize_by_owlqn`, or `minimize_by_adam` as published), one by logistic
regression, or a single feature (`best_axis`). The children of the node get the rows by the router;
the clusters are discarded. Both kernels process the nodes of one level of the tree. They are
separate because they are compiled separately: the first once, the second for each router, for dense
rows and for sparse rows.

A tree is stored in flat arrays over its nodes in preorder, the root at 0: ``left`` and ``right``
(children as indices within the tree, -1 at a leaf); the weights of node k are
``weight_values[weight_starts[k] : weight_starts[k + 1]]``, of the features ``weight_features[...]``
in ascending order; ``bias``. A row goes right iff ``x.w + bias >= 0``, where the products are
summed in that order and the bias is added last. Leaves have no weights.

Random numbers depend only on the seed and on the path to a node. Memory: the features of the rows
of one node at a time, sparse if X is sparse.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette.forest._label_clusters import (
    cluster_nodes,
    distinct_sets,
    overall_weights,
    select_labels,
)
from palmette.forest._node_block import Block, DenseBlock, SparseBlock
from palmette.forest._node_split import split_nodes
from palmette.forest._settings import ROUTERS, Nodes, TreeSettings

__all__ = ["ROUTERS", "StructuredTree", "TreeSettings", "grow_tree"]

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


def grow_tree(
    X: Reals | SparseRows,
    Y: tuple[Offsets, Indices, int],
    rows: Indices,
    row_weights: Sums,
    features: Indices,
    labels: Indices,
    label_shares: Sums,
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
    label_shares : float64 array of shape (n_drawn_labels,), IN
        Proportions of all training rows that have these labels, for the global term of Eq. 1.
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
    >>> tree = grow_tree(X, Y, rows, np.ones(4), both[:1], both, both / 2, settings, 0)
    >>> tree.leaf_of_row.tolist()
    [2, 2, 1, 1]
    """
    block: Block
    if isinstance(X, tuple):
        data, indices, indptr, n_features = X
        block, column_of = SparseBlock(indptr, indices, data), np.full(n_features, -1, np.int32)
    else:
        block, column_of = DenseBlock(X), np.empty(0, np.int32)
    starts, drawn = select_labels(Y[0], Y[1], rows, labels, Y[2])
    set_of, row_of = distinct_sets(starts, drawn)
    overall = overall_weights(label_shares)
    place_of_set = np.full(len(row_of), -1, np.int32)
    clusters, splits = settings.of_clusters(), settings.of_splits()
    min_rows = max(settings.min_samples_split, 2 * settings.min_samples_leaf)
    n_rows = len(rows)
    nodes = _first_node(n_rows, 2 * (n_rows // max(settings.min_samples_leaf, 1)) + 1, seed)
    order, second = np.arange(n_rows, dtype=np.int32), np.empty(n_rows, dtype=np.bool_)
    weight_features, weight_values = np.empty(1024, np.int32), np.empty(1024, block.values.dtype)
    counts = np.array([0, 1, 0])  # next node to split, nodes, weights
    depth = 0
    while counts[0] < counts[1] and depth != settings.max_depth:
        begin, end = int(counts[0]), int(counts[1])
        cluster_nodes(
            clusters,
            starts,
            drawn,
            set_of,
            row_of,
            place_of_set,
            overall,
            order,
            row_weights,
            nodes,
            begin,
            end,
            min_rows,
            second,
        )
        while not split_nodes(
            *splits,
            block,
            rows,
            row_weights,
            features,
            column_of,
            order,
            second,
            nodes,
            counts,
            end,
            weight_features,
            weight_values,
        ):
            n_more = max(len(weight_values), len(features))
            weight_features = np.concatenate([weight_features, np.empty(n_more, np.int32)])
            weight_values = np.concatenate([weight_values, np.empty(n_more, weight_values.dtype)])
        depth += 1
    nodes.weight_starts[counts[0] + 1 : counts[1] + 1] = counts[2]
    return _in_preorder(nodes, int(counts[1]), order, weight_features, weight_values)


def _first_node(n_rows: int, max_nodes: int, seed: int) -> Nodes:
    """Return the arrays of nodes with the root, which has all rows."""
    nodes = Nodes(
        first=np.zeros(max_nodes, np.int64),
        last=np.zeros(max_nodes, np.int64),
        seed=np.zeros(max_nodes, np.uint64),
        state=np.zeros(max_nodes, np.uint64),
        is_split=np.zeros(max_nodes, np.bool_),
        left=np.full(max_nodes, -1, np.int32),
        right=np.full(max_nodes, -1, np.int32),
        bias=np.zeros(max_nodes, np.float32),
        weight_starts=np.zeros(max_nodes + 1, np.int64),
    )
    nodes.last[0], nodes.seed[0] = n_rows, seed
    return nodes


def _in_preorder(
    nodes: Nodes, n_nodes: int, order: Indices, weight_features: Indices, weight_values: Reals
) -> StructuredTree:
    """Return a tree, whose nodes were numbered by level, in preorder."""
    first, last = nodes.first[:n_nodes], nodes.last[:n_nodes]
    # a node comes before those whose rows begin after its own, or are a part of its own
    by_rank = np.argsort(first * (len(order) + 1) - last)
    rank = np.empty(n_nodes + 1, np.int32)
    rank[by_rank] = np.arange(n_nodes, dtype=np.int32)
    rank[n_nodes] = -1  # that of no child
    sizes = np.diff(nodes.weight_starts[: n_nodes + 1])[by_rank]
    weight_starts = np.zeros(n_nodes + 1, np.int64)
    np.cumsum(sizes, out=weight_starts[1:])
    places = np.repeat(nodes.weight_starts[by_rank] - weight_starts[:-1], sizes)
    places += np.arange(len(places))
    left = nodes.left[by_rank]
    leaves = by_rank[left < 0]
    leaf_of_row = np.empty(len(order), np.int32)
    leaf_of_row[order] = np.repeat(rank[leaves], last[leaves] - first[leaves])
    return StructuredTree(
        rank[left],
        rank[nodes.right[by_rank]],
        weight_starts,
        weight_features[places],
        weight_values[places],
        nodes.bias[by_rank],
        leaf_of_row,
    )
