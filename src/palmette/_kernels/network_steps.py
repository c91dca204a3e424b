"""What a step of a network costs besides its products: the loss, and Adam's move.

Both go once through arrays that do not fit the cache, where numpy would go through them ten times.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["adam_move", "cross_entropy"]

Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

_FACTORS = 64  # factors of at most 2 that are multiplied before a logarithm is taken


@njit(cache=True, nogil=True, error_model="numpy")
def cross_entropy(
    odds: Reals, powers: Reals, starts: Indices, columns: Indices, rows: Indices, weights: Reals
) -> float:
    """Return the mean binary cross-entropy of a batch; `odds` become its gradient.

    Parameters
    ----------
    odds : float array of shape (n_rows, n_columns), IN and OUT
    powers : float array of shape (n_rows, n_columns), IN
        ``exp(-abs(odds))``, which numpy takes many at a time.
    starts, columns : int arrays, IN
        True cells of a sparse matrix by rows.
    rows : int array of shape (n_rows,), IN
        Those of that matrix that are the batch.
    weights : float array of shape (n_rows,), IN
    """
    n_rows, n_columns = odds.shape
    loss, none, one = 0.0, odds.dtype.type(0.0), odds.dtype.type(1.0)
    for i in range(n_rows):
        own, small = odds[i], powers[i]
        scale = weights[i] / odds.dtype.type(odds.size)
        total, product = 0.0, 1.0
        for k in range(n_columns):
            total += max(own[k], none)
            product *= 1.0 + small[k]
            if k % _FACTORS == _FACTORS - 1:
                total += np.log(product)
                product = 1.0
        total += np.log(product)
        first, after = starts[rows[i]], starts[rows[i] + 1]
        for place in range(first, after):
            total -= own[columns[place]]
        for k in range(n_columns):
            share = one / (one + small[k])
            own[k] = scale * (share if own[k] >= 0 else one - share)
        for place in range(first, after):
            own[columns[place]] -= scale
        loss += weights[i] * total
    return loss / odds.size


@njit(cache=True, nogil=True, error_model="numpy")
def adam_move(
    part: Reals,
    slope: Reals,
    first: Reals,
    second: Reals,
    size: float,
    decay: float,
    betas: tuple[float, float],
    tiny: float,
) -> None:
    """Move weights by a step of Adam.

    Parameters
    ----------
    part : float32 array of shape (n,), IN and OUT
        The weights.
    slope : float32 array of shape (n,), IN
    first, second : float32 arrays of shape (n,), IN and OUT
        Running means of the slope and of its square.
    size : float
        Learning rate, corrected for the start of the means.
    decay : float
        Share of a weight that joins its slope.
    betas : (float, float)
        Shares of the means that stay.
    tiny : float
    """
    size32, decay32, tiny32 = np.float32(size), np.float32(decay), np.float32(tiny)
    stay1, stay2 = np.float32(betas[0]), np.float32(betas[1])
    join1, join2 = np.float32(1.0 - betas[0]), np.float32(1.0 - betas[1])
    for i in range(len(part)):
        pull = slope[i] + decay32 * part[i]
        mean = stay1 * first[i] + join1 * pull
        square = stay2 * second[i] + join2 * pull * pull
        first[i], second[i] = mean, square
        part[i] = part[i] - size32 * mean / (np.sqrt(square) + tiny32)
