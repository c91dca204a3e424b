"""The two clusters of a node's rows: its distinct label sets, weighed by Eq. 1, by 2-means."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.label_clusters import cluster_sets, count_labels, idf_weights
from palmette._kernels.random import next_below
from palmette._kernels.tree_settings import TreeSettings

__all__ = ["cluster_rows"]

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
State: TypeAlias = NDArray[np.uint64]
Sums: TypeAlias = NDArray[np.float64]


@njit(cache=True, nogil=True, error_model="numpy")
def _drop_labels(share: float, state: State, weights: Sums) -> None:
    """Let only a share of the labels weigh something."""
    n_left = min(max(int(np.rint(share * len(weights))), 1), len(weights))
    if n_left == len(weights):
        return
    for j in range(len(weights)):
        if next_below(state, len(weights) - j) < n_left:
            n_left -= 1
        else:
            weights[j] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def cluster_rows(
    settings: TreeSettings,
    starts: Offsets,
    labels: Indices,
    overall: Sums,
    set_of: Indices,
    row_of: Indices,
    place_of_set: Indices,
    rows: Indices,
    weights: Sums,
    state: State,
    second: Flags,
) -> bool:
    """Write the cluster of every row of a node; return whether there are two.

    Parameters
    ----------
    settings : TreeSettings
    starts, labels : arrays, in
        Label sets of the tree's rows (CSR).
    overall : float64 array of shape (n_labels,), in
        The global half of Eq. 1.
    set_of, row_of : int32 arrays, in
        As of `distinct_sets`.
    place_of_set : int32 array of shape (n_sets,), in and out
        -1 everywhere, before and after.
    rows : int32 array of shape (n_rows,), in
        The node's, as places among the tree's rows.
    weights : float64 array of shape (n_rows,), in
    state : uint64 array of shape (1,), in and out
    second : bool array of shape (n_rows,), out
    """
    n_sets, found, masses = 0, np.empty(len(rows), dtype=np.int32), np.empty(len(rows))
    for i in range(len(rows)):
        own = set_of[rows[i]]
        if place_of_set[own] < 0:
            place_of_set[own] = n_sets
            found[n_sets], masses[n_sets] = row_of[own], 0.0
            n_sets += 1
        masses[place_of_set[own]] += weights[i]
    found, masses = found[:n_sets], masses[:n_sets]
    of_set = np.empty(n_sets, dtype=np.bool_)
    label_weights = np.ones(len(overall))
    if n_sets > 1 and settings.idf:
        counts = count_labels(starts, labels, found, masses, len(overall))
        local = idf_weights(counts, masses.sum())
        for j in range(len(overall)):
            label_weights[j] = settings.beta * overall[j] + (1.0 - settings.beta) * local[j]
    every = label_weights.copy()
    _drop_labels(settings.label_share, state, label_weights)
    n_starts, n_iterations, explained = settings.n_starts, settings.cluster_iterations, -1.0
    for tried in (label_weights, every):
        if explained < 0.0:
            explained = cluster_sets(
                starts, labels, found, masses, tried, n_starts, n_iterations, state, of_set
            )
    for i in range(len(rows)):
        second[i] = of_set[place_of_set[set_of[rows[i]]]]
    for row in found:
        place_of_set[set_of[row]] = -1
    return explained >= 0.0
