"""Cuts of scores, a label at a time: which one serves best on rows whose labels are known."""

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

# worth of cuts from weights of (true positives, false positives, all positives, all negatives)
CutValue = Callable[
    [NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    NDArray[np.float64],
]

_NUMBERS_AT_ONCE = 2**22  # scores that are sorted together: 32 MiB
_AS_GOOD = 1 - 1e-12  # a cut is not better than another by what rounding adds


def best_cuts(
    proba: FloatArray,
    truth: sparse.csr_array,
    value_of: CutValue,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return for each column the threshold of the best worth.

    Scores above a threshold are positive answers. Thresholds are midpoints of neighbouring scores,
    0 being below all; of equally good ones the highest is taken.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
        From 0 to 1.
    truth : sparse bool array of shape (n_samples, n_columns)
    value_of : callable
        Gives the worth of cuts from the weights of their true and false positives, of shape
        (n_columns, n_samples), and of all positives and negatives, of shape (n_columns, 1).
    weights : array of shape (n_samples,), optional

    Returns
    -------
    array of shape (n_columns,)
        One half where the labels or the scores have one value only, or no cut is worth more than 0.

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
    """Cuts of a few columns; scores and flags of shape (n_columns, n_samples)."""
    order = np.argsort(-scores, axis=1, kind="stable")
    scores = np.take_along_axis(scores, order, axis=1)
    flags = np.take_along_axis(flags, order, axis=1)
    each: Any = 1.0 if weights is None else weights[order]
    hits = np.cumsum(np.where(flags, each, 0.0), axis=1)
    alarms = np.cumsum(np.where(flags, 0.0, each), axis=1)
    following = np.concatenate([scores[:, 1:], np.zeros((len(scores), 1))], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = value_of(hits, alarms, hits[:, -1:], alarms[:, -1:])
    worth = np.where(scores > following, worth, -np.inf)  # equal scores cannot be cut apart
    top = worth.max(axis=1)
    has_one_value = flags.all(axis=1) | ~flags.any(axis=1) | (scores[:, 0] == scores[:, -1])
    is_open = ~has_one_value & (top > 0)
    at = np.argmax(worth >= np.where(is_open, top * _AS_GOOD, -np.inf)[:, None], axis=1)[:, None]
    above = np.take_along_axis(scores, at, axis=1)[:, 0]
    below = np.take_along_axis(following, at, axis=1)[:, 0]
    middle = (above + below) / 2
    middle = np.where(middle < above, middle, below)  # neighbouring floats have nothing between
    return np.where(is_open, middle, 0.5)


def _check(proba: FloatArray, truth: sparse.csr_array, weights: NDArray[np.float64] | None) -> None:
    if proba.ndim != 2 or proba.shape != truth.shape:
        raise PalmetteError(
            f"proba has shape {proba.shape} and truth {truth.shape}: expected the same rows and "
            "columns."
        )
    if not ((proba >= 0) & (proba <= 1)).all():
        raise PalmetteError("proba has values other than numbers from 0 to 1.")
    if weights is not None and weights.shape != (len(proba),):
        raise PalmetteError(
            f"weights have shape {weights.shape}: expected ({len(proba)},), one for every row."
        )
