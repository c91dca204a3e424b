"""Sums over the rows of leaves, and how the votes of leaves move weights and scores.

A signed weight is the weight of a cell (row, column), negative where the row is a negative of the
column.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "add_leaf_values",
    "leaf_sums",
    "newton_sums",
    "reweigh",
    "reweigh_shared",
    "shared_leaf_sums",
]

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]


@njit(cache=True, nogil=True)
def leaf_sums(signed: Floats | Sums, places: Codes, positive: Sums, negative: Sums) -> None:
    """Sum the weights of positive and of negative rows at every place of every column's tree.

    Parameters
    ----------
    signed : float32 or float64 array of shape (n_samples, n_columns), in
    places : uint8 array of shape (n_samples, n_columns), in
    positive, negative : float64 arrays of shape (n_columns, n_places), out
    """
    n_columns, n_places = positive.shape
    # both sums of a place lie side by side: the sign is an index, not a branch
    sums = np.zeros((n_columns, 2 * n_places))
    for i in range(signed.shape[0]):
        for k in range(n_columns):
            value = signed[i, k]
            sums[k, 2 * places[i, k] + (value > 0.0)] += abs(value)
    for k in range(n_columns):
        for place in range(n_places):
            negative[k, place], positive[k, place] = sums[k, 2 * place], sums[k, 2 * place + 1]


@njit(cache=True, nogil=True)
def reweigh(signed: Sums, places: Codes, values: Sums, mass: Sums) -> None:
    """Multiply weights by ``exp(-y v)``, y being the sign of the cell and v its leaf's value.

    Parameters
    ----------
    signed : float64 array of shape (n_samples, n_columns), in and out
    places : uint8 array of shape (n_samples, n_columns), in
    values : float64 array of shape (n_columns, n_places), in
    mass : float64 array of shape (n_columns,), out
        Sums of the weights afterwards.
    """
    n_columns, n_places = values.shape
    factors = np.empty((n_columns, 2 * n_places))
    for k in range(n_columns):
        for place in range(n_places):
            factors[k, 2 * place] = np.exp(values[k, place])
            factors[k, 2 * place + 1] = np.exp(-values[k, place])
    mass[:] = 0.0
    for i in range(signed.shape[0]):
        for k in range(n_columns):
            value = signed[i, k]
            signed[i, k] = value * factors[k, 2 * places[i, k] + (value > 0.0)]
        for k in range(n_columns):
            mass[k] += abs(signed[i, k])


@njit(cache=True, nogil=True)
def shared_leaf_sums(signed: Sums, leaf: Indices, positive: Sums, negative: Sums) -> None:
    """Sum the weights of positive and of negative rows of every column in every leaf.

    Parameters
    ----------
    signed : float64 array of shape (n_samples, n_columns), in
    leaf : int32 array of shape (n_samples,), in
    positive, negative : float64 arrays of shape (n_leaves, n_columns), out
    """
    positive[:] = 0.0
    negative[:] = 0.0
    for i in range(signed.shape[0]):
        above, below = positive[leaf[i]], negative[leaf[i]]
        for k in range(signed.shape[1]):
            value, size = signed[i, k], abs(signed[i, k])
            above[k] += 0.5 * (size + value)  # exactly the value or nothing
            below[k] += 0.5 * (size - value)


@njit(cache=True, nogil=True)
def reweigh_shared(signed: Sums, leaf: Indices, values: Sums, mass: Sums) -> None:
    """Multiply weights by ``exp(-y v)``, as `reweigh` does, where all columns share one tree.

    Parameters
    ----------
    signed : float64 array of shape (n_samples, n_columns), in and out
    leaf : int32 array of shape (n_samples,), in
    values : float64 array of shape (n_leaves, n_columns), in
    mass : float64 array of shape (n_columns,), out
        Sums of the weights afterwards.
    """
    down, up = np.exp(-values), np.exp(values)
    mass[:] = 0.0
    for i in range(signed.shape[0]):
        if_positive, if_negative = down[leaf[i]], up[leaf[i]]
        for k in range(signed.shape[1]):
            value, one, other = signed[i, k], if_positive[k], if_negative[k]
            value = value * one if value > 0.0 else value * other
            signed[i, k] = value
            mass[k] += abs(value)


@njit(cache=True, nogil=True, fastmath=True)
def newton_sums(
    gradients: Floats, weights: Floats, leaf: Indices, sums: Sums, curvature: Sums
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
def add_leaf_values(leaf: Indices, values: Floats, scores: Floats) -> None:
    """Add the values of leaves, (n_leaves, n_labels), to scores, (n_samples, n_labels).

    `leaf` (n_samples,) names the leaf of every row.
    """
    for row in range(len(leaf)):
        at = leaf[row]
        for k in range(scores.shape[1]):
            scores[row, k] += values[at, k]
