"""Evening out the two sides of a label before a binary classifier learns it."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from palmette.core.rows import take_rows

__all__ = ["BalancedRows", "balanced_weights", "down_sample", "over_sample"]

FloatArray = NDArray[np.float64]

_NEIGHBOURS = 5  # of ADASYN and SMOTE, as published


class BalancedRows(NamedTuple):
    """Rows, their targets and their weights."""

    X: Any
    target: NDArray[np.int64]
    weights: FloatArray | None


def balanced_weights(target: NDArray[np.int64], weights: FloatArray | None) -> FloatArray:
    """Return weights that give both sides of a label the same sum, and all rows the old one.

    Examples
    --------
    >>> balanced_weights(np.array([1, 0, 0, 0]), None).round(3)
    array([2.   , 0.667, 0.667, 0.667])
    """
    each = np.ones(len(target)) if weights is None else weights
    sides = np.bincount(target, each, minlength=2)
    balanced: FloatArray = each * (each.sum() / (2 * sides))[target]
    return balanced


def down_sample(
    X: Any, target: NDArray[np.int64], weights: FloatArray | None, seed: int | None
) -> BalancedRows:
    """Draw as many rows of the larger side, without replacement, as the smaller one has."""
    rng = check_random_state(seed)
    sides = [np.flatnonzero(target == side) for side in (0, 1)]
    size = min(map(len, sides))
    kept = [rows if len(rows) == size else rng.choice(rows, size, replace=False) for rows in sides]
    rows = np.sort(np.concatenate(kept))
    return BalancedRows(
        take_rows(X, rows), target[rows], None if weights is None else weights[rows]
    )


def over_sample(
    X: Any, target: NDArray[np.int64], weights: FloatArray | None, seed: int | None
) -> BalancedRows:
    """Add made-up rows to the smaller side until the sides are even, by ADASYN.

    Where ADASYN has nothing to go by, since no row of the smaller side has one of the other near
    it or shares are too small to count, SMOTE makes the rows; a side of one row is copied.
    Neighbours are fewer where the side is small. Made-up rows weigh as much as the side's mean.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    target : 0/1 array of shape (n_rows,)
    weights : array of shape (n_rows,), optional
    seed : int, optional

    Returns
    -------
    BalancedRows
        The rows given, then those that are made up.
    """
    counts = np.bincount(target, minlength=2)
    if counts[0] == counts[1]:
        return BalancedRows(X, target, weights)
    smaller = int(np.argmin(counts))
    rows, targets = _oversampled(X, target, int(counts[smaller]), seed)
    if weights is not None:
        mean = weights[target == smaller].mean()
        weights = np.concatenate([weights, np.full(len(targets) - len(target), mean)])
    return BalancedRows(rows, targets, weights)


def _oversampled(X: Any, target: NDArray[np.int64], n_smaller: int, seed: int | None) -> Any:
    samplers = _need_imblearn()
    if n_smaller == 1:
        return samplers.RandomOverSampler(random_state=seed).fit_resample(X, target)
    n_near = min(_NEIGHBOURS, n_smaller - 1)
    try:
        adasyn = samplers.ADASYN(n_neighbors=n_near, random_state=seed)
        return adasyn.fit_resample(X, target)
    except (ValueError, RuntimeError):  # its answer to "nothing to go by"
        smote = samplers.SMOTE(k_neighbors=n_near, random_state=seed)
        return smote.fit_resample(X, target)


def _need_imblearn() -> Any:
    try:
        return importlib.import_module("imblearn.over_sampling")
    except ImportError as error:
        raise ImportError(
            "balance='adasyn' needs imbalanced-learn, which is not installed: "
            "pip install 'palmette[imbalance]'"
        ) from error
