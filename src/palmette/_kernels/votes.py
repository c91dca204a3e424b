"""What leaves hold, and how their votes move the weights: of class trees and of shared ones.

A signed weight is the weight of a cell (row, column), negative where the row is a negative of the
column.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["leaf_sums", "reweigh", "reweigh_shared", "shared_leaf", "shared_leaf_sums"]

Codes: TypeAlias = NDArray[np.uint8]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]


@njit(cache=True, nogil=True)
def leaf_sums(signed: Sums, places: Codes, positive: Sums, negative: Sums) -> None:
    """Sum the weights of positive and of negative rows at every place of every column's tree.

    Parameters
    ----------
    signed : float64 array of shape (n_samples, n_columns), in
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
def shared_leaf(codes: Codes, features: Indices, cuts: Codes, leaf_at: Indices) -> Indices:
    """Return the leaf of every row in a tree that all columns share.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), in
    features, cuts : int32 and uint8 arrays of shape (n_places,), in
    leaf_at : int32 array of shape (n_places,), in
        Number of the leaf at every place of the heap.

    Returns
    -------
    int32 array of shape (n_samples,)
    """
    leaf = np.empty(codes.shape[0], dtype=np.int32)
    for i in range(codes.shape[0]):
        place = 1
        while features[place] >= 0:
            place = 2 * place + (1 if codes[i, features[place]] > cuts[place] else 0)
        leaf[i] = leaf_at[place]
    return leaf


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
