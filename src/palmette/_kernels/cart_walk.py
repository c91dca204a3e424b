"""Asking full trees: what they say to rows, one tree or many at a time.

Trees are those of `binary_cart`, one after the other: ``starts`` says where each begins, and
``left`` counts from there.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["add_cart_votes", "ask_carts", "find_leaves"]

Codes: TypeAlias = NDArray[np.uint8]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.int8]
Sums: TypeAlias = NDArray[np.float64]

_TOGETHER = 4  # rows that go down a tree side by side: one waits for memory while others move
_BLOCK = 512  # rows that all trees are asked about before the next; their codes stay near


@njit(cache=True, nogil=True)
def find_leaves(
    codes: Codes, rows: Indices, features: Indices, cuts: Codes, left: Indices, leaves: Indices
) -> None:
    """Find the leaf of some rows in one tree.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), in
    rows : int32 array of shape (n_rows,), in
    features, cuts, left : arrays of shape (n_places,), in
    leaves : int32 array of shape (>= n_rows,), out
    """
    n_rows = len(rows)
    for i in range(0, n_rows - n_rows % _TOGETHER, _TOGETHER):
        a, b, c, d = codes[rows[i]], codes[rows[i + 1]], codes[rows[i + 2]], codes[rows[i + 3]]
        p, q, r, s = 0, 0, 0, 0
        moving = True
        while moving:
            to_p = left[p] + (1 if a[features[p]] > cuts[p] else 0)
            to_q = left[q] + (1 if b[features[q]] > cuts[q] else 0)
            to_r = left[r] + (1 if c[features[r]] > cuts[r] else 0)
            to_s = left[s] + (1 if d[features[s]] > cuts[s] else 0)
            moving = to_p != p or to_q != q or to_r != r or to_s != s
            p, q, r, s = to_p, to_q, to_r, to_s
        leaves[i], leaves[i + 1], leaves[i + 2], leaves[i + 3] = p, q, r, s
    for i in range(n_rows - n_rows % _TOGETHER, n_rows):
        own, place = codes[rows[i]], 0
        while left[place] != place:
            place = left[place] + (1 if own[features[place]] > cuts[place] else 0)
        leaves[i] = place


@njit(cache=True, nogil=True)
def ask_carts(
    codes: Codes,
    rows: Indices,
    starts: Offsets,
    features: Indices,
    cuts: Codes,
    left: Indices,
    says: Signs,
    places: Codes,
) -> None:
    """Write what every tree says to every row.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), in
    rows : int32 array of shape (n_rows,), in
    starts : int64 array of shape (n_trees + 1,), in
    features, cuts, left, says : arrays of shape (n_places,), in
    places : uint8 array of shape (n_rows, n_trees), out
        1 for -1, and 2 for +1.
    """
    leaves = np.empty(len(rows), dtype=np.int32)
    for t in range(len(starts) - 1):
        own = slice(starts[t], starts[t + 1])
        find_leaves(codes, rows, features[own], cuts[own], left[own], leaves)
        for i in range(len(rows)):
            places[i, t] = 2 if says[starts[t] + leaves[i]] > 0 else 1


@njit(cache=True, nogil=True)
def add_cart_votes(
    codes: Codes,
    rows: Indices,
    starts: Offsets,
    features: Indices,
    cuts: Codes,
    left: Indices,
    says: Signs,
    coefficients: Sums,
    scores: Sums,
) -> None:
    """Add what every tree says, times its coefficient, to the scores of rows.

    Parameters
    ----------
    codes, rows, starts, features, cuts, left, says
        As of `ask_carts`, in.
    coefficients : float64 array of shape (n_trees,), in
    scores : float64 array of shape (n_rows,), in and out
    """
    leaves = np.empty(_BLOCK, dtype=np.int32)
    for first in range(0, len(rows), _BLOCK):
        block = rows[first : first + _BLOCK]
        for t in range(len(starts) - 1):
            own = slice(starts[t], starts[t + 1])
            find_leaves(codes, block, features[own], cuts[own], left[own], leaves)
            for i in range(len(block)):
                scores[first + i] += coefficients[t] * says[starts[t] + leaves[i]]
