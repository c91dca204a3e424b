"""The logistic loss of a split, in the form that `owlqn.minimise` asks for.

``shares`` are weights of the rows, those of the first class in row 0 and those of the second in row
1; here they add up to one over both classes together.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["logistic_loss", "logistic_pulls", "row_shares"]

Flags: TypeAlias = NDArray[np.bool_]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Sums: TypeAlias = NDArray[np.float64]


@njit(cache=True, nogil=True, error_model="numpy")
def row_shares(second: Flags, weights: Sums, shares: Reals) -> None:
    """Write how much each row counts among all.

    Parameters
    ----------
    second : bool array of shape (n_rows,), in
    weights : float64 array of shape (n_rows,), in
    shares : float array of shape (2, n_rows), out
    """
    total = weights.sum()
    for i in range(len(second)):
        shares[0, i] = 0.0 if second[i] else weights[i] / total
        shares[1, i] = weights[i] / total if second[i] else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def logistic_loss(scores: Reals, shares: Reals) -> float:
    """Return the mean of ``log(1 + exp(-y * score))``.

    Parameters
    ----------
    scores : float array of shape (n_rows,), in
    shares : float array of shape (2, n_rows), in
    """
    loss = 0.0
    for i in range(len(scores)):
        tail = np.log1p(np.exp(-abs(scores[i])))
        loss += shares[0, i] * (tail + max(scores[i], 0.0))
        loss += shares[1, i] * (tail + max(-scores[i], 0.0))
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def logistic_pulls(scores: Reals, shares: Reals, pulls: Reals) -> None:
    """Write the derivatives of the loss by the scores.

    Parameters
    ----------
    scores : float array of shape (n_rows,), in
    shares : float array of shape (2, n_rows), in
    pulls : float array of shape (n_rows,), out
    """
    for i in range(len(scores)):
        chance = 0.5 * (np.tanh(0.5 * scores[i]) + 1.0)
        pulls[i] = shares[0, i] * chance - shares[1, i] * (1.0 - chance)
