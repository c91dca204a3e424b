"""The losses of a split, their gradients, and the cut with the best true Hellinger distance.

``shares`` holds the normalized weights of the rows: ``shares[0]`` for rows of the first class (0
for rows of the other class), ``shares[1]`` for rows of the second.

- Hellinger (Eq. 2 to 7): the soft side of a row is ``phi = (tanh(alpha * score) + 1) / 2``, and the
  shares sum to one within each class (`class_shares`). The soft rate of the second class is the
  true positive rate.
- Logistic: the shares sum to one over both classes together (`row_shares`).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner

Flags: TypeAlias = NDArray[np.bool_]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Sums: TypeAlias = NDArray[np.float64]

CLAMP = 1e-8  # smallest value of a rate under a square root
_SHORT = 15  # values that insertion sort is faster for
_CHUNK = 1024  # rows that are summed in the data type of the scores, before float64
_TANH_LIMIT = 9.0  # tanh of larger values is 1 in float32


@inner(error_model="numpy")
def class_shares(second: Flags, weights: Sums, shares: Reals) -> None:
    """Write the weight of each row divided by the total weight of its class.

    Parameters
    ----------
    second : bool array of shape (n_rows,), IN
    weights : float64 array of shape (n_rows,), IN
    shares : float array of shape (2, n_rows), OUT
    """
    of_first, of_second = 0.0, 0.0
    for i in range(len(second)):
        if second[i]:
            of_second += weights[i]
        else:
            of_first += weights[i]
    for i in range(len(second)):
        shares[0, i] = 0.0 if second[i] else weights[i] / of_first
        shares[1, i] = weights[i] / of_second if second[i] else 0.0


@inner(error_model="numpy")
def exact_tanh(scores: Reals, alpha: float, tanhs: Reals) -> None:
    """Write ``tanh(alpha * scores)``; ``tanhs`` may be ``scores``."""
    for i in range(len(scores)):
        tanhs[i] = np.tanh(alpha * scores[i])


@inner(error_model="numpy", fastmath=True)
def approximate_tanh(scores: Reals, alpha: float, tanhs: Reals) -> None:
    """Write ``tanh(alpha * scores)`` with an error of about 1e-7, in vectorizable operations.

    Lambert's continued fraction is evaluated at a quarter of the argument, then doubled twice.
    """
    kind = scores.dtype.type
    quarter, limit = kind(alpha / 4.0), kind(_TANH_LIMIT / 4.0)
    a, b, c = kind(10395.0), kind(1260.0), kind(21.0)
    d, e = kind(4725.0), kind(210.0)
    one, two = kind(1.0), kind(2.0)
    for i in range(len(scores)):
        x = min(max(quarter * scores[i], -limit), limit)
        y = x * x
        t = x * (a + y * (b + y * c)) / (a + y * (d + y * (e + y)))
        t = two * t / (one + t * t)
        tanhs[i] = two * t / (one + t * t)


@inner(error_model="numpy", fastmath=True)
def _weighted_sums(shares: Reals, tanhs: Reals) -> tuple[float, float]:
    kind = shares.dtype.type
    first, second = kind(0.0), kind(0.0)
    for i in range(len(tanhs)):
        first += shares[0, i] * tanhs[i]
        second += shares[1, i] * tanhs[i]
    return float(first), float(second)


@inner(error_model="numpy")
def soft_rates(shares: Reals, tanhs: Reals) -> tuple[float, float]:
    """Return the soft true and false positive rates (Eq. 5).

    Parameters
    ----------
    shares : float array of shape (2, n_rows), IN
    tanhs : float array of shape (n_rows,), IN
        ``tanh(alpha * scores)``, as `approximate_tanh` or `exact_tanh` writes them.
    """
    first, second, n_rows = 0.0, 0.0, len(tanhs)
    for start in range(0, n_rows, _CHUNK):
        stop = start + _CHUNK if start + _CHUNK < n_rows else n_rows
        of_first, of_second = _weighted_sums(shares[:, start:stop], tanhs[start:stop])
        first += of_first
        second += of_second
    return 0.5 * (second + 1.0), 0.5 * (first + 1.0)


@inner(error_model="numpy")
def hellinger_loss(true_rate: float, false_rate: float) -> float:
    """Return minus the squared Hellinger distance of two rates (Eq. 2 and 6).

    Parameters
    ----------
    true_rate, false_rate : float
        Clamped at ``CLAMP`` under the square roots.
    """
    right = np.sqrt(max(true_rate, CLAMP)) - np.sqrt(max(false_rate, CLAMP))
    left = np.sqrt(max(1.0 - true_rate, CLAMP)) - np.sqrt(max(1.0 - false_rate, CLAMP))
    return float(-(right * right) - left * left)


@inner(error_model="numpy", fastmath=True)
def _write_derivatives(
    shares: Reals, tanhs: Reals, by_first: float, by_second: float, derivatives: Reals
) -> None:
    kind = shares.dtype.type
    a, b, one = kind(by_first), kind(by_second), kind(1.0)
    for i in range(len(tanhs)):
        derivatives[i] = (a * shares[0, i] + b * shares[1, i]) * (one - tanhs[i] * tanhs[i])


@inner(error_model="numpy")
def hellinger_derivatives(
    true_rate: float,
    false_rate: float,
    shares: Reals,
    tanhs: Reals,
    alpha: float,
    derivatives: Reals,
) -> None:
    """Write the derivatives of the loss with respect to the scores: ``X.T @ derivatives`` is Eq. 7.

    Parameters
    ----------
    true_rate, false_rate : float
    shares : float array of shape (2, n_rows), IN
    tanhs : float array of shape (n_rows,), IN
        ``tanh(alpha * scores)``.
    alpha : float
    derivatives : float array of shape (n_rows,), OUT
    """
    root_tpr, root_fpr = np.sqrt(max(true_rate, CLAMP)), np.sqrt(max(false_rate, CLAMP))
    root_fnr, root_tnr = np.sqrt(max(1.0 - true_rate, CLAMP)), np.sqrt(max(1.0 - false_rate, CLAMP))
    by_true = (root_fpr - root_tpr) / root_tpr - (root_tnr - root_fnr) / root_fnr
    by_false = (root_tpr - root_fpr) / root_fpr - (root_fnr - root_tnr) / root_tnr
    _write_derivatives(shares, tanhs, by_false * alpha / 2.0, by_true * alpha / 2.0, derivatives)


@inner(error_model="numpy")
def sort_positions(values: Reals, order: Offsets) -> None:
    """Write the positions of values in ascending order; equal values come in any order.

    Quicksort with the median of three, and insertion sort for short parts. `numpy.argsort` takes
    seconds to compile.

    Parameters
    ----------
    values : float array of shape (n,), IN
    order : int64 array of shape (n,), OUT
    """
    for i in range(len(values)):
        order[i] = i
    stack = np.empty((64, 2), np.int64)  # the larger part waits, so that 64 are enough
    stack[0, 0], stack[0, 1] = 0, len(values) - 1
    n_stacked = 1
    while n_stacked > 0:
        n_stacked -= 1
        low, high = stack[n_stacked, 0], stack[n_stacked, 1]
        while high - low >= _SHORT:
            middle = (low + high) >> 1
            if values[order[middle]] < values[order[low]]:
                order[low], order[middle] = order[middle], order[low]
            if values[order[high]] < values[order[middle]]:
                order[high], order[middle] = order[middle], order[high]
            if values[order[middle]] < values[order[low]]:
                order[low], order[middle] = order[middle], order[low]
            pivot = values[order[middle]]
            order[high], order[middle] = order[middle], order[high]
            i, j = low, high - 1
            while True:
                while i < high and values[order[i]] < pivot:
                    i += 1
                while j >= low and pivot < values[order[j]]:
                    j -= 1
                if i >= j:
                    break
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
            order[i], order[high] = order[high], order[i]
            if high - i > i - low:
                stack[n_stacked, 0], stack[n_stacked, 1] = i + 1, high
                high = i - 1
            else:
                stack[n_stacked, 0], stack[n_stacked, 1] = low, i - 1
                low = i + 1
            n_stacked += 1
        for i in range(low + 1, high + 1):
            moved = order[i]
            j = i
            while j > low and values[moved] < values[order[j - 1]]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = moved


@inner(error_model="numpy")
def best_cut(scores: Reals, shares: Reals, min_rows: int) -> tuple[float, float]:
    """Find the cut of the scores with the largest true Hellinger distance.

    Parameters
    ----------
    scores : float array of shape (n_rows,), IN
    shares : float array of shape (2, n_rows), IN
    min_rows : int
        Minimum number of rows on each side.

    Returns
    -------
    cut : float
        Rows with scores of at least the cut go right; of the data type of the scores.
    distance : float
        The squared distance; -1 if no cut is allowed.
    """
    order = np.empty(len(scores), np.int64)
    sort_positions(scores, order)
    above, second_above = 1.0, 1.0  # rates above the cut
    best, cut, n_rows = -1.0, 0.0, len(scores)
    for place in range(1, n_rows - min_rows + 1):
        i = order[place - 1]
        above -= shares[0, i]
        second_above -= shares[1, i]
        low, high = scores[i], scores[order[place]]
        if place >= min_rows and low < high:
            distance = -hellinger_loss(second_above, above)
            if distance > best:
                best = distance
                middle = scores.dtype.type(0.5 * low + 0.5 * high)
                cut = float(middle if middle > low else high)
    return cut, best


# -------------------------------------------------------------------------------- the logistic loss


@inner(error_model="numpy")
def row_shares(second: Flags, weights: Sums, shares: Reals) -> None:
    """Write the weight of each row divided by the total weight.

    Parameters
    ----------
    second : bool array of shape (n_rows,), IN
    weights : float64 array of shape (n_rows,), IN
    shares : float array of shape (2, n_rows), OUT
    """
    total = 0.0
    for i in range(len(second)):
        total += weights[i]
    for i in range(len(second)):
        shares[0, i] = 0.0 if second[i] else weights[i] / total
        shares[1, i] = weights[i] / total if second[i] else 0.0


@inner(error_model="numpy")
def logistic_loss(scores: Reals, shares: Reals) -> float:
    """Return the mean of ``log(1 + exp(-y * score))``.

    Parameters
    ----------
    scores : float array of shape (n_rows,), IN
    shares : float array of shape (2, n_rows), IN
    """
    loss = 0.0
    for i in range(len(scores)):
        tail = np.log1p(np.exp(-abs(scores[i])))
        loss += shares[0, i] * (tail + max(scores[i], 0.0))
        loss += shares[1, i] * (tail + max(-scores[i], 0.0))
    return loss


@inner(error_model="numpy")
def logistic_derivatives(scores: Reals, shares: Reals, derivatives: Reals) -> None:
    """Write the derivatives of the loss with respect to the scores.

    Parameters
    ----------
    scores : float array of shape (n_rows,), IN
    shares : float array of shape (2, n_rows), IN
    derivatives : float array of shape (n_rows,), OUT
    """
    for i in range(len(scores)):
        probability = 0.5 * (np.tanh(0.5 * scores[i]) + 1.0)
        derivatives[i] = shares[0, i] * probability - shares[1, i] * (1.0 - probability)
