"""One tree for all labels, with random thresholds: growing it and walking it.

A tree is a heap: the children of node ``i`` are ``2 i`` and ``2 i + 1``, the root is 1, and place 0
is unused. A code up to the cut goes left. Gradients come multiplied by the weights of their rows.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette._kernels.random import next_below

__all__ = ["add_leaf_values", "add_tree_scores", "grow_random_tree", "newton_sums"]

NODE_STRIDE = np.uint64(0xD1B54A32D192ED03)  # odd, far from the stride of the generator

_CLEARLY = 1.00001  # float32 sums agree to six digits or so

_MISSING = 255  # code of missing values, which lie above all others

Codes: TypeAlias = NDArray[np.uint8]
Rows: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float32]
Sums: TypeAlias = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _draw_split(
    codes: Codes, rows: Rows, perm: NDArray[np.int64], n_left: int, state: NDArray[np.uint64]
) -> tuple[int, int, int]:
    """Draw a feature that varies among the rows, and one of its cuts, evenly from their range.

    Returns (feature, cut, how many features are left to draw from); feature -1 when none varies.
    """
    while n_left > 0:
        place = next_below(state, n_left)
        feature = perm[place]
        n_left -= 1
        perm[place] = perm[n_left]
        perm[n_left] = feature
        low = codes[rows[0], feature]
        high = low
        for row in rows[1:]:
            code = codes[row, feature]
            low = min(low, code)
            high = max(high, code)
        if low < high == _MISSING:
            # counts as the next to the largest, or most cuts would only part missing values
            high = low + 1
            for row in rows:
                code = codes[row, feature]
                high = max(high, code + 1 if code < _MISSING else 0)
        if low < high:
            return feature, low + next_below(state, high - low), n_left
    return -1, 0, 0


@njit(cache=True, nogil=True, fastmath=True)
def _best_split(
    codes: Codes,
    gradients: Floats,
    weights: Floats,
    rows: Rows,
    features: NDArray[np.int32],
    cuts: Codes,
    absolute: bool,
    total: Floats,
    left: Floats,
) -> tuple[int, int]:
    """Return the split with the largest sums of gradients on its sides, and its left size.

    Sums count by their squares over the weight of the side, or by their absolute values. `total`
    (n_labels,) and `left` (n_drawn, n_labels) are room to work in.
    """
    n_drawn, n_labels = len(features), gradients.shape[1]
    size_left = np.zeros(n_drawn, dtype=np.int64)
    weight_left = np.zeros(n_drawn, dtype=np.float64)
    weight = 0.0
    total[:] = 0.0
    left[:n_drawn] = 0.0
    for row in rows:
        weight += weights[row]
        for k in range(n_labels):
            total[k] += gradients[row, k]
        for q in range(n_drawn):
            if codes[row, features[q]] <= cuts[q]:
                size_left[q] += 1
                weight_left[q] += weights[row]
                for k in range(n_labels):
                    left[q, k] += gradients[row, k]
    best, best_gain = 0, 0.0
    for q in range(n_drawn):
        gain_left, gain_right = 0.0, 0.0
        if absolute:
            for k in range(n_labels):
                gain_left += abs(left[q, k])
                gain_right += abs(total[k] - left[q, k])
            gain = gain_left + gain_right
        else:
            for k in range(n_labels):
                gain_left += left[q, k] * left[q, k]
                gain_right += (total[k] - left[q, k]) * (total[k] - left[q, k])
            gain = gain_left / weight_left[q] + gain_right / (weight - weight_left[q])
        # two features may part the rows alike: the first one drawn wins, whatever rounding says
        if gain > best_gain * _CLEARLY:
            best, best_gain = q, gain
    return best, size_left[best]


@njit(cache=True, nogil=True)
def _partition(codes: Codes, rows: Rows, feature: int, cut: int, buffer: Rows) -> None:
    """Put the rows that go left before the others, each side in its old order."""
    n_left, n_right = 0, 0
    for row in rows:
        if codes[row, feature] <= cut:
            rows[n_left] = row
            n_left += 1
        else:
            buffer[n_right] = row
            n_right += 1
    rows[n_left:] = buffer[:n_right]


@njit(cache=True, nogil=True)
def grow_random_tree(
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
    """Grow a tree on the gradients of all labels; at every node a few random splits compete.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), in
    gradients : float32 or float64 array of shape (n_samples, n_labels), in
    weights : float32 array of shape (n_samples,), in
    n_draws : int
        Features drawn at a node, of those that vary there.
    min_leaf : int
        Least rows on a side of a split.
    absolute : bool
        Whether splits are judged by absolute sums of gradients, or by squares over weights.
    seed : uint64 array of shape (1,), in
        Every node draws from numbers of its own, so that what one draws does not depend on how
        many another needed.
    rows : int32 array of shape (n_rows,), in and out
        The rows to grow on; reordered, so that those of a leaf are consecutive.
    bounds : int64 array of shape (2 ** (max_depth + 1), 2), out
        Where in `rows` the rows of every node begin and end; (0, 0) where there is no node.

    Returns
    -------
    features : int32 array of shape (2 ** (max_depth + 1),)
        Feature that splits each node; -1 at leaves and where there is no node.
    cuts : uint8 array of the same shape
    """
    n_places, n_features = bounds.shape[0], codes.shape[1]
    features = np.full(n_places, -1, dtype=np.int32)
    cuts = np.zeros(n_places, dtype=np.uint8)
    drawn_features = np.zeros(n_draws, dtype=np.int32)
    drawn_cuts = np.zeros(n_draws, dtype=np.uint8)
    total = np.zeros(gradients.shape[1], dtype=gradients.dtype)
    left = np.zeros((n_draws, gradients.shape[1]), dtype=gradients.dtype)
    buffer = np.empty(len(rows), dtype=np.int32)
    bounds[:] = 0
    bounds[1, 1] = len(rows)
    for node in range(1, n_places // 2):
        start, stop = bounds[node]
        if stop - start < 2 * min_leaf or stop - start < 2:
            continue
        here = rows[start:stop]
        state = seed + np.uint64(node) * NODE_STRIDE
        perm = np.arange(n_features)
        n_drawn, n_left = 0, n_features
        while n_drawn < n_draws and n_left > 0:
            feature, cut, n_left = _draw_split(codes, here, perm, n_left, state)
            if feature >= 0:
                drawn_features[n_drawn] = feature
                drawn_cuts[n_drawn] = cut
                n_drawn += 1
        if n_drawn == 0:
            continue
        best, size = _best_split(
            codes,
            gradients,
            weights,
            here,
            drawn_features[:n_drawn],
            drawn_cuts[:n_drawn],
            absolute,
            total,
            left,
        )
        if size < min_leaf or stop - start - size < min_leaf:
            continue
        features[node], cuts[node] = drawn_features[best], drawn_cuts[best]
        _partition(codes, here, features[node], cuts[node], buffer)
        bounds[2 * node] = start, start + size
        bounds[2 * node + 1] = start + size, stop
    return features, cuts


@njit(cache=True, nogil=True, fastmath=True)
def newton_sums(
    gradients: Floats, weights: Floats, leaf: Rows, sums: Sums, curvature: Sums
) -> None:
    """Sum gradients, and the curvature that they imply, over the rows of every leaf.

    For a probability p the gradient is ``y - p`` and the curvature ``p (1 - p)``, which is
    ``|g| (1 - |g|)`` whether y is 0 or 1: it need not be kept.

    Parameters
    ----------
    gradients : float32 array of shape (n_samples, n_labels), in
    weights : float32 array of shape (n_samples,), in
    leaf : int32 array of shape (n_samples,), in
    sums, curvature : float64 arrays of shape (n_leaves, n_labels), in and out
    """
    for row in range(len(leaf)):
        weight, at = weights[row], leaf[row]
        for k in range(gradients.shape[1]):
            g = gradients[row, k]
            size = abs(g)
            sums[at, k] += g
            curvature[at, k] += size * (np.float32(1.0) - size / weight)


@njit(cache=True, nogil=True)
def add_leaf_values(leaf: Rows, values: Floats, scores: Floats) -> None:
    """Add the values of leaves, (n_leaves, n_labels), to scores, (n_samples, n_labels).

    `leaf` (n_samples,) names the leaf of every row.
    """
    for row in range(len(leaf)):
        at = leaf[row]
        for k in range(scores.shape[1]):
            scores[row, k] += values[at, k]


@njit(cache=True, nogil=True)
def add_tree_scores(
    codes: Codes,
    features: NDArray[np.int32],
    cuts: Codes,
    leaf_at: NDArray[np.int32],
    values: Floats,
    scores: Sums,
) -> None:
    """Walk every row down a tree and add its leaf's values to the row's scores.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), in
    features, cuts : arrays of one tree, in
    leaf_at : int32 array, in
        Row of `values` for every leaf of the heap.
    values : float32 array of shape (n_leaves, n_labels), in
    scores : float array of shape (n_samples, n_labels), in and out
    """
    for i in range(codes.shape[0]):
        node = 1
        while features[node] >= 0:
            node = 2 * node + (1 if codes[i, features[node]] > cuts[node] else 0)
        leaf = leaf_at[node]
        for k in range(scores.shape[1]):
            scores[i, k] += values[leaf, k]
