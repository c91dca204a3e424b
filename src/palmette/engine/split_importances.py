"""What the splits of oblique trees gain, shared among their features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.engine.oblique_trees import ObliqueTrees

__all__ = ["split_importances"]

FloatArray = NDArray[np.float64]


def split_importances(trees: ObliqueTrees, spread: FloatArray) -> FloatArray:
    """Share what splits gain in telling labels apart among their features.

    The gain of a split is the decrease of the labels' variance from its node to its children,
    summed over the labels and the training rows at the node. A feature gets a part of it by the
    size of its weight times its standard deviation.

    Parameters
    ----------
    trees : ObliqueTrees
    spread : array of shape (n_features,)
        Standard deviations of the features that the trees see.

    Returns
    -------
    array of shape (n_features,)
        Summing to one; zeros where no split gains anything.
    """
    gains = np.concatenate([_gains_of(trees, tree) for tree in range(trees.n_trees)])
    sizes = np.abs(trees.weight_values.astype(np.float64)) * spread[trees.weight_features]
    node = np.repeat(np.arange(trees.n_nodes), np.diff(trees.weight_starts))
    total = np.bincount(node, sizes, minlength=trees.n_nodes)
    parts = np.divide(gains, total, out=np.zeros_like(gains), where=total > 0)
    importances = np.asarray(
        np.bincount(trees.weight_features, sizes * parts[node], minlength=len(spread)),
        dtype=np.float64,
    )
    return np.asarray(importances / importances.sum()) if importances.any() else importances


def _gains_of(trees: ObliqueTrees, tree: int) -> FloatArray:
    """Decrease of variance at every node of a tree, 0 at leaves."""
    start, stop = trees.tree_starts[tree : tree + 2]
    left, right = trees.left[start:stop], trees.right[start:stop]
    weight = trees.row_weight[start:stop]
    starts = trees.share_starts[start : stop + 1]
    own = slice(starts[0], starts[-1])
    counts = sparse.csr_array(
        (
            trees.share_values[own] * np.repeat(weight, np.diff(starts)),
            trees.share_labels[own],
            starts - starts[0],
        ),
        shape=(len(left), trees.drawn.shape[1]),
    )
    below = _below(left, right)
    weight = below @ weight
    counts = below @ counts
    # the sum over labels of (positives)^2 / rows: what the variance lacks, up to a constant
    told = np.asarray(counts.power(2).sum(axis=1)).ravel() / weight
    gains = np.zeros(len(left))
    inner = np.flatnonzero(left >= 0)
    gains[inner] = told[left[inner]] + told[right[inner]] - told[inner]
    return np.maximum(gains, 0.0)


def _below(left: NDArray[np.int32], right: NDArray[np.int32]) -> sparse.csr_array:
    """Which leaves lie below each node: sparse, (n_nodes, n_nodes)."""
    n_nodes, inner = len(left), np.flatnonzero(left >= 0)
    parent = np.full(n_nodes, -1)
    parent[left[inner]] = parent[right[inner]] = inner
    leaf = np.flatnonzero(left < 0)
    node, steps = leaf, []
    while node.size:
        steps.append((node, leaf))
        above = parent[node]
        node, leaf = above[above >= 0], leaf[above >= 0]
    at = tuple(np.concatenate(some) for some in zip(*steps, strict=True))
    return sparse.csr_array((np.ones(len(at[0])), at), shape=(n_nodes, n_nodes))
