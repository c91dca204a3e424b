"""The threshold of each label that is best on rows with known labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.coherence import FloatArray
from palmette.core.rows import row_chunks
from palmette.exceptions import PalmetteError

__all__ = ["CutValue", "best_cuts"]

# value of thresholds, given weights of (true positives, false positives, positives, negatives)
CutValue = Callable[
    [NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    NDArray[np.float64],
]

_NUMBERS_AT_ONCE = 2**22  # scores that are sorted together: 32 MiB
_AS_GOOD = 1 - 1e-12  # differences below rounding errors do not make a threshold better


def best_cuts(
    proba: FloatArray,
    truth: sparse.csr_array,
    value_of: CutValue,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the best threshold of each column.

    Scores above a threshold are predicted positive. The candidates are the midpoints between
    neighbouring scores, and between the lowest score and 0; ties go to the highest threshold.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
        From 0 to 1.
    truth : sparse bool array of shape (n_samples, n_columns)
    value_of : callable
        Value of each threshold, computed from the weights of its true and false positives, of
        shape (n_columns, n_samples), and of all positives and negatives, of shape (n_columns, 1).
    weights : array of shape (n_samples,), optional

    Returns
    -------
    array of shape (n_columns,)
        0.5 where all labels or all scores are equal, or no threshold has a value above 0.

    Examples
    --------
    >>> truth = sparse.csr_array([[True], [False], [True]])
    >>> best_cuts(np.array([[0.9], [0.5], [0.7]]), truth, lambda tp, fp, p, n: tp / p - fp / n)
    array([0.6])
    """
    _check(proba, truth, weights)
    if weights is not None and not weights.all():
        used = np.flatnonzero(weights)
        proba, truth, weights = proba[used], truth[used], weights[used]
    cuts = np.full(proba.shape[1], 0.5)
    if not len(proba):
        return cuts
    by_column = sparse.csc_array(truth)
    for chunk in row_chunks(proba.shape[1], len(proba), at_once=_NUMBERS_AT_ONCE):
        flags = by_column[:, chunk].toarray().T.astype(bool)
        cuts[chunk] = _cuts_of(proba[:, chunk].T.astype(np.float64), flags, value_of, weights)
    return cuts


def _cuts_of(
    scores: NDArray[np.float64],
    flags: NDArray[np.bool_],
    value_of: CutValue,
    weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return thresholds of a few columns; scores and flags have shape (n_columns, n_samples)."""
    order = np.argsort(-scores, axis=1, kind="stable")
    scores = np.take_along_axis(scores, order, axis=1)
    flags = np.take_along_axis(flags, order, axis=1)
    each: Any = 1.0 if weights is None else weights[order]
    hits = np.cumsum(np.where(flags, each, 0.0), axis=1)
    alarms = np.cumsum(np.where(flags, 0.0, each), axis=1)
    following = np.concatenate([scores[:, 1:], np.zeros((len(scores), 1))], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = value_of(hits, alarms, hits[:, -1:], alarms[:, -1:])
    values = np.where(scores > following, values, -np.inf)  # no threshold separates equal scores
    top = values.max(axis=1)
    has_one_value = flags.all(axis=1) | ~flags.any(axis=1) | (scores[:, 0] == scores[:, -1])
    is_open = ~has_one_value & (top > 0)
    at = np.argmax(values >= np.where(is_open, top * _AS_GOOD, -np.inf)[:, None], axis=1)[:, None]
    above = np.take_along_axis(scores, at, axis=1)[:, 0]
    below = np.take_along_axis(following, at, axis=1)[:, 0]
    middle = (above + below) / 2
    middle = np.where(middle < above, middle, below)  # no float lies between adjacent floats
    return np.where(is_open, middle, 0.5)


def _check(proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None) -> None:
    if proba.ndim != 2 or proba.shape != truth.shape:
        raise PalmetteError(
            f"proba has shape {proba.shape} and truth has shape {truth.shape}: expected equal "
            "shapes."
        )
    if not ((proba >= 0) & (proba <= 1)).all():
        raise PalmetteError("proba has values outside [0, 1] or NaN: expected probabilities.")
    if weights is not None and weights.shape != (len(proba),):
        raise PalmetteError(
            f"weights have shape {weights.shape}: expected ({len(proba)},), one weight per row."
        )
