"""Temperature scaling of probabilities, fitted on held-out rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import softmax

from palmette._arrays import FloatArray, IntArray

_MIN_LOG = -700.0  # of probabilities that underflowed to 0


def fit_inverse_temperature(proba: FloatArray, classes: IntArray, weights: FloatArray) -> float:
    """Return the inverse temperature that maximizes the likelihood of the true classes.

    Scaling keeps the order of the classes of a row.

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)
        Of held-out rows.
    classes : int array of shape (n_samples,)
    weights : array of shape (n_samples,)

    Returns
    -------
    float
        From 0.1 to 10.

    Examples
    --------
    >>> proba = np.tile([0.6, 0.4], (10, 1))
    >>> inverse = fit_inverse_temperature(proba, np.array([0] * 9 + [1]), np.ones(10))
    >>> temperature_scaled(proba, inverse)[0].round(3).tolist()
    [0.9, 0.1]
    """
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(proba), _MIN_LOG)
    logs -= logs.max(axis=1, keepdims=True)
    own = weights @ logs[np.arange(len(logs)), classes]
    powers = np.empty_like(logs)

    def slope(log_inverse: float) -> float:
        """Return that of the log likelihood, which decreases."""
        np.multiply(logs, np.exp(log_inverse), out=powers)
        np.exp(powers, out=powers)
        expected = np.einsum("ij,ij->i", powers, logs) / powers.sum(axis=1)
        return float(own - weights @ expected)

    low, high = np.log(0.1), np.log(10.0)
    if slope(low) <= 0:
        return 0.1
    if slope(high) >= 0:
        return 10.0
    return float(np.exp(optimize.brentq(slope, low, high, xtol=1e-12)))


def held_out_third(codes: IntArray, seed: int) -> NDArray[np.bool_]:
    """Draw a third of the rows of every class, rounded down.

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


def temperature_scaled(proba: FloatArray, inverse_temperature: float) -> FloatArray:
    """Return probabilities raised to the power of the inverse temperature and normalized.

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)
    inverse_temperature : float

    Returns
    -------
    array of shape (n_samples, n_classes)

    Examples
    --------
    >>> temperature_scaled(np.array([[0.5, 0.25, 0.25]]), 2.0).round(3).tolist()
    [[0.667, 0.167, 0.167]]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(softmax(inverse_temperature * np.log(proba), axis=1))
