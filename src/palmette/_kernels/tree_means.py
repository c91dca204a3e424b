"""Mean votes at every place of a tree, and how much of their variance each split explains.

A tree is a heap: the children of place ``p`` are ``2 p`` and ``2 p + 1``, the root is 1. A place
without a feature is a leaf, or nowhere. The mean at a split is that of its two sides, weighted by
the training rows there.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["add_class_gains", "add_shared_gains", "class_means", "shared_means"]

Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _right_share(left: float, right: float) -> float:
    """Share of the right side; half where there is nothing on either."""
    return right / (left + right) if left + right > 0.0 else 0.5


@njit(cache=True, nogil=True)
def shared_means(
    features: Indices, leaf_at: Indices, votes: Sums, cover: Sums
) -> tuple[Sums, Sums]:
    """Weight and mean votes at every place of a tree that all columns share.

    Parameters
    ----------
    features : int32 array of shape (n_places,), in
    leaf_at : int32 array of shape (n_places,), in
        Row of `votes` for leaves, -1 elsewhere.
    votes : float64 array of shape (n_leaves, n_columns), in
    cover : float64 array of shape (n_leaves,), in
        Weight of the training rows in each leaf.

    Returns
    -------
    mass : float64 array of shape (n_places,)
    means : float64 array of shape (n_places, n_columns)
    """
    n_places, n_columns = len(features), votes.shape[1]
    mass, means = np.zeros(n_places), np.zeros((n_places, n_columns))
    for place in range(n_places - 1, 0, -1):
        if features[place] >= 0:
            left, right = 2 * place, 2 * place + 1
            share = _right_share(mass[left], mass[right])
            mass[place] = mass[left] + mass[right]
            for k in range(n_columns):
                # written so that the mean of equal votes is that vote, without rounding
                means[place, k] = means[left, k] + share * (means[right, k] - means[left, k])
        elif leaf_at[place] >= 0:
            mass[place] = cover[leaf_at[place]]
            means[place] = votes[leaf_at[place]]
    return mass, means


@njit(cache=True, nogil=True)
def class_means(features: Indices, votes: Sums, cover: Sums) -> tuple[Sums, Sums]:
    """Weight and mean vote at every place of the tree of every column.

    Place 0, where masked rows stand, is in no tree: it keeps its weight and vote.

    Parameters
    ----------
    features : int32 array of shape (n_columns, n_places), in
    votes, cover : float64 arrays of shape (n_columns, n_places), in

    Returns
    -------
    mass, means : float64 arrays of shape (n_columns, n_places)
    """
    mass, means = cover.copy(), votes.copy()
    for k in range(features.shape[0]):
        for place in range(features.shape[1] - 1, 0, -1):
            if features[k, place] >= 0:
                left, right = 2 * place, 2 * place + 1
                share = _right_share(mass[k, left], mass[k, right])
                mass[k, place] = mass[k, left] + mass[k, right]
                means[k, place] = means[k, left] + share * (means[k, right] - means[k, left])
    return mass, means


@njit(cache=True, nogil=True)
def add_shared_gains(features: Indices, mass: Sums, means: Sums, gains: Sums) -> None:
    """Add what every split takes off the weighted variance of the votes to its feature.

    With the weights a and b and the means x and y of the two sides that is
    ``a b / (a + b) (x - y)**2``.

    Parameters
    ----------
    features : int32 array of shape (n_places,), in
    mass, means : float64 arrays of shape (n_places,) and (n_places, n_columns), in
        As from `shared_means`.
    gains : float64 array of shape (n_features, n_columns), in and out
    """
    for place in range(1, len(features)):
        if features[place] < 0:
            continue
        left, right = 2 * place, 2 * place + 1
        weight = mass[left] * _right_share(mass[left], mass[right])
        to = gains[features[place]]
        for k in range(means.shape[1]):
            apart = means[left, k] - means[right, k]
            to[k] += weight * apart * apart


@njit(cache=True, nogil=True)
def add_class_gains(
    features: Indices, mass: Sums, means: Sums, columns: Indices, gains: Sums
) -> None:
    """Do as `add_shared_gains`, where every column has a tree of its own.

    Parameters
    ----------
    features : int32 array of shape (n_trees, n_places), in
    mass, means : float64 arrays of shape (n_trees, n_places), in
        As from `class_means`.
    columns : int32 array of shape (n_trees,), in
        Column of `gains` for every tree.
    gains : float64 array of shape (n_features, n_columns), in and out
    """
    for k in range(features.shape[0]):
        for place in range(1, features.shape[1]):
            if features[k, place] < 0:
                continue
            left, right = 2 * place, 2 * place + 1
            weight = mass[k, left] * _right_share(mass[k, left], mass[k, right])
            apart = means[k, left] - means[k, right]
            gains[features[k, place], columns[k]] += weight * apart * apart
