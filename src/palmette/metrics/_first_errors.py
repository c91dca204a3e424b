"""The first wrong node on every path: where H-loss and the hierarchy-aware Hamming loss begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.hierarchy import Hierarchy
from palmette.metrics._pairs import LabelPair

__all__ = ["first_errors", "first_steps"]

IntArray = NDArray[np.int32]


def first_errors(pair: LabelPair) -> tuple[NDArray[np.int64], IntArray]:
    """Find the nodes that are wrong while everything above them is right.

    Parameters
    ----------
    pair : LabelPair

    Returns
    -------
    rows, nodes : int arrays of shape (n_errors,)
        A node is wrong in a row where truth and prediction differ on it.
    """
    if pair.has_one_node_a_row:
        return _errors_of_nodes(pair)
    return _errors_of_sets(pair)


def first_steps(hierarchy: Hierarchy, above: IntArray, below: IntArray) -> IntArray:
    """Child of `above` on the way down to its proper descendant `below`, elementwise, in a tree.

    In preorder that is the last child of `above` that does not stand behind `below`.
    """
    by_parent = hierarchy.edges[np.lexsort((hierarchy.edges[:, 1], hierarchy.edges[:, 0]))]
    keys = by_parent[:, 0].astype(np.int64) * hierarchy.n_nodes + by_parent[:, 1]
    wanted = above.astype(np.int64) * hierarchy.n_nodes + below
    found: IntArray = by_parent[np.searchsorted(keys, wanted, side="right") - 1, 1]
    return found


def _errors_of_nodes(pair: LabelPair) -> tuple[NDArray[np.int64], IntArray]:
    true, pred = pair.nodes
    meeting = pair.hierarchy.lca(true, pred)
    rows, nodes = [], []
    for ends in (true, pred):
        beyond = np.flatnonzero(ends != meeting)
        rows.append(beyond)
        nodes.append(first_steps(pair.hierarchy, meeting[beyond], ends[beyond]))
    return np.concatenate(rows), np.concatenate(nodes)


def _errors_of_sets(pair: LabelPair) -> tuple[NDArray[np.int64], IntArray]:
    """In closed sets a wrong node's ancestors are right where none of its parents is wrong."""
    wrong = sparse.csr_array(pair.true.closed != pair.pred.closed)
    wrong.sort_indices()
    rows = np.repeat(np.arange(wrong.shape[0]), np.diff(wrong.indptr))
    nodes = wrong.indices.astype(np.int32)
    not_root = nodes > 0  # a row without labels lacks even the root, which is never wrong
    rows, nodes = rows[not_root], nodes[not_root]
    n_nodes = pair.hierarchy.n_nodes
    cells = rows * n_nodes + nodes
    # every cell once for each of the node's parents
    edges = pair.hierarchy.edges  # ordered by child
    starts = np.searchsorted(edges[:, 1], nodes, side="left")
    n_parents = np.searchsorted(edges[:, 1], nodes, side="right") - starts
    which = np.repeat(np.arange(len(cells)), n_parents)
    within = np.arange(len(which)) - np.repeat(np.cumsum(n_parents) - n_parents, n_parents)
    parents = edges[starts[which] + within, 0]
    above = rows[which] * n_nodes + parents
    place = np.minimum(np.searchsorted(cells, above), len(cells) - 1)
    under_error = np.bincount(which[cells[place] == above], minlength=len(cells))
    first = under_error == 0
    return rows[first], nodes[first]
