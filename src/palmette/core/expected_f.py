"""The expected F score of label sets, from probabilities of independent labels."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from palmette.core.coherence import FloatArray
from palmette.core.rows import row_chunks

__all__ = ["best_set_sizes", "f_thresholds"]

_LARGEST_SET = 1000  # largest size tried: the cost of the quadrature grows with its square root
_ROUNDING = 1e-9  # larger than the error of the quadrature
_NUMBERS_AT_ONCE = 2**20


def best_set_sizes(proba: FloatArray, beta: float = 1.0) -> NDArray[np.intp]:
    """Return how many of the most probable labels of each row have the best expected F.

    If a row has S true labels, F of the first k is (1 + b) * hits / (k + b * S) with b = beta^2;
    F of the empty set is 1 if S = 0. As 1 / (k + b S) is the integral of u^(k - 1 + b S) over u
    from 0 to 1, the expectation is that of u^(k - 1) times a product over labels, and for each u
    one cumulative sum serves all k. Gaussian quadrature is exact to nine digits if the number of
    points grows with the square root of the largest power.

    Parameters
    ----------
    proba : array of shape (n_samples, n_labels)
        Descending in every row.
    beta : float

    Returns
    -------
    int array of shape (n_samples,)
        At most 1,000; ties go to the smallest size.

    Examples
    --------
    >>> best_set_sizes(np.array([[0.4], [0.6]]))
    array([0, 1])
    """
    sizes = np.zeros(len(proba), dtype=np.intp)
    for chunk in row_chunks(len(proba), proba.shape[1], at_once=_NUMBERS_AT_ONCE):
        expected = _expected_f(proba[chunk].astype(np.float64), beta * beta)
        none = np.prod(1 - proba[chunk].astype(np.float64), axis=1)
        all_sizes = np.column_stack([none, expected])
        as_good = all_sizes >= all_sizes.max(axis=1, keepdims=True) - _ROUNDING
        sizes[chunk] = np.argmax(as_good, axis=1)
    return sizes


def _expected_f(proba: NDArray[np.float64], square: float) -> NDArray[np.float64]:
    """Return the expected F of the first 1, 2, ... labels, of shape (n_samples, n_sizes)."""
    counts = np.arange(1, min(proba.shape[1], _LARGEST_SET) + 1)
    expected = np.zeros((len(proba), len(counts)))
    first = proba[:, : len(counts)]
    for v, mass in zip(*_quadrature(len(counts), square), strict=True):
        u = v * v  # v makes the integrand smooth at 0 even if beta is small
        lifted = u**square
        factors = np.maximum(1 - proba + proba * lifted, 1e-300)  # with a large beta, u^b vanishes
        all_labels = np.exp(np.log(factors).sum(axis=1, keepdims=True))
        hits = np.cumsum(first * lifted / factors[:, : len(counts)], axis=1) * all_labels
        expected += (mass * 2 * v) * u ** (counts - 1) * hits
    return (1 + square) * expected


@lru_cache(maxsize=8)
def _quadrature(n_sizes: int, square: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points from 0 to 1 and their weights."""
    enough = max(64, int(4 * np.sqrt(n_sizes * (1 + square))))
    points, masses = np.polynomial.legendre.leggauss(min(enough, 1000))
    return (points + 1) / 2, masses / 2


def f_thresholds(proba: FloatArray, beta: float = 1.0) -> NDArray[np.float64]:
    """Return the threshold F*/(1 + beta^2) of each label; F* is the best ratio of expected counts.

    Parameters
    ----------
    proba : array of shape (n_samples, n_labels)
    beta : float

    Returns
    -------
    array of shape (n_labels,)
        The positives of the best ratio are exactly the scores above it.

    Examples
    --------
    >>> f_thresholds(np.array([[0.9], [0.3]])).round(3)
    array([0.409])
    """
    square = beta * beta
    counts = np.arange(1, len(proba) + 1)[:, None]
    best = np.zeros(proba.shape[1])
    for chunk in row_chunks(proba.shape[1], len(proba), at_once=_NUMBERS_AT_ONCE):
        falling = -np.sort(-proba[:, chunk].astype(np.float64), axis=0)
        total = falling.sum(axis=0)
        ratio = (1 + square) * np.cumsum(falling, axis=0) / (square * total + counts)
        best[chunk] = ratio.max(axis=0, initial=0.0)
    return best / (1 + square)
