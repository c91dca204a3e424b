"""How sure probabilities are: the power that makes held-out classes most likely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

__all__ = ["fit_exponent", "held_out_third", "raise_to"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

_LEAST_LOG = -700.0  # of what has underflown


def fit_exponent(proba: FloatArray, classes: IntArray, weights: FloatArray) -> float:
    """Power of probabilities, scaled to sum to one again, that makes classes most likely.

    The most probable class stays so.

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)
        Of rows that were not learnt from.
    classes : int array of shape (n_samples,)
    weights : array of shape (n_samples,)

    Returns
    -------
    float
        From 0.1 to 10.

    Examples
    --------
    >>> proba = np.tile([0.6, 0.4], (10, 1))
    >>> exponent = fit_exponent(proba, np.array([0] * 9 + [1]), np.ones(10))
    >>> raise_to(proba, exponent)[0].round(3).tolist()
    [0.9, 0.1]
    """
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(proba), _LEAST_LOG)
    own = logs[np.arange(len(logs)), classes]
    low, high = np.log(0.1), np.log(10.0)
    for _ in range(40):  # the slope of the likelihood falls: halve where it changes its sign
        middle = 0.5 * (low + high)
        expected = (softmax(np.exp(middle) * logs, axis=1) * logs).sum(axis=1)
        if weights @ (own - expected) > 0:
            low = middle
        else:
            high = middle
    return float(np.exp(0.5 * (low + high)))


def held_out_third(codes: IntArray, seed: int) -> NDArray[np.bool_]:
    """Choose a third of every class's rows, rounded down, at random.

    Parameters
    ----------
    codes : int array of shape (n_samples,)
    seed : int

    Returns
    -------
    bool array of shape (n_samples,)
        True for rows that are held out; never all rows of a class.

    Examples
    --------
    >>> held = held_out_third(np.array([0, 0, 0, 0, 1, 1]), seed=0)
    >>> held[:4].sum(), held[4:].sum()
    (np.int64(1), np.int64(0))
    """
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    sizes = np.bincount(codes)
    ends = np.cumsum(sizes)
    rank = np.arange(len(codes)) - np.repeat(ends - sizes, sizes)
    held = np.empty(len(codes), dtype=bool)
    held[by_class] = rank < np.repeat(sizes // 3, sizes)
    return held


def raise_to(proba: FloatArray, exponent: float) -> FloatArray:
    """Probabilities to a power, scaled to sum to one.

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)
    exponent : float

    Returns
    -------
    array of shape (n_samples, n_classes)

    Examples
    --------
    >>> raise_to(np.array([[0.5, 0.25, 0.25]]), 2.0).round(3).tolist()
    [[0.667, 0.167, 0.167]]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(softmax(exponent * np.log(proba), axis=1))
