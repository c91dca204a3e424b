"""One tree for all labels with the best thresholds; see `shared_tree` for the shape of trees."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.histogram import best_shared_split
from palmette._kernels.random import next_below
from palmette._kernels.shared_tree import NODE_STRIDE, Codes, Floats, Rows

__all__ = ["grow_best_tree"]


@njit(cache=True, nogil=True)
def _draw_features(
    codes: Codes, rows: Rows, n_draws: int, state: NDArray[np.uint64]
) -> NDArray[np.int32]:
    """Draw some of the features that vary among the rows, and return them ascending."""
    n_features = codes.shape[0]
    perm = np.arange(n_features)
    drawn = np.empty(n_draws, dtype=np.int32)
    n_drawn, n_left = 0, n_features
    while n_drawn < n_draws and n_left > 0:
        place = next_below(state, n_left)
        feature = perm[place]
        n_left -= 1
        perm[place] = perm[n_left]
        first = codes[feature, rows[0]]
        for row in rows[1:]:
            if codes[feature, row] != first:
                drawn[n_drawn] = feature
                n_drawn += 1
                break
    return np.sort(drawn[:n_drawn])


@njit(cache=True, nogil=True)
def grow_best_tree(
    codes: Codes,
    gradients: Floats,
    weights: Floats,
    n_draws: int,
    min_leaf: int,
    absolute: bool,
    seed: NDArray[np.uint64],
    rows: Rows,
    bounds: NDArray[np.int64],
) -> tuple[NDArray[np.int32], Codes]:
    """Grow a tree on the gradients of all labels; at every node some features compete.

    Parameters
    ----------
    codes : uint8 array of shape (n_features, n_samples), in
    gradients : float32 array of shape (n_samples, n_labels), in
    weights : float32 array of shape (n_samples,), in
    n_draws : int
        Features drawn at a node, of those that vary there.
    min_leaf : int
    absolute : bool
        Whether splits are judged by absolute sums of gradients, or by squares over weights.
    seed : uint64 array of shape (1,), in
    rows : int32 array of shape (n_rows,), in and out
        Reordered, so that those of a leaf are consecutive.
    bounds : int64 array of shape (2 ** (max_depth + 1), 2), out

    Returns
    -------
    features : int32 array of shape (2 ** (max_depth + 1),)
    cuts : uint8 array of the same shape
    """
    n_places = bounds.shape[0]
    features = np.full(n_places, -1, dtype=np.int32)
    cuts = np.zeros(n_places, dtype=np.uint8)
    buffer = np.empty(len(rows), dtype=np.int32)
    bounds[:] = 0
    bounds[1, 1] = len(rows)
    for node in range(1, n_places // 2):
        start, stop = bounds[node]
        if stop - start < 2 * min_leaf or stop - start < 2:
            continue
        here = rows[start:stop]
        state = seed + np.uint64(node) * NODE_STRIDE
        drawn = _draw_features(codes, here, n_draws, state)
        if len(drawn) == 0:
            continue
        feature, cut, _, size = best_shared_split(
            codes, gradients, weights, here, drawn, 1 if absolute else 0, min_leaf
        )
        if feature < 0:
            continue
        features[node], cuts[node] = feature, cut
        n_left, n_right = 0, 0
        for row in here:
            if codes[feature, row] <= cut:
                here[n_left] = row
                n_left += 1
            else:
                buffer[n_right] = row
                n_right += 1
        here[n_left:] = buffer[:n_right]
        bounds[2 * node] = start, start + size
        bounds[2 * node + 1] = start + size, stop
    return features, cuts
