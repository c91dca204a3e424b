"""Average precision over the cells of a table, counted chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.rows import row_chunks

__all__ = ["average_precision_of_cells"]

FloatArray = NDArray[np.float64]


def average_precision_of_cells(
    truth: sparse.csr_array, scores: NDArray[Any], weight: FloatArray | None = None
) -> float:
    """Average precision of all cells together, which is what scikit-learn gives for them in a row.

    Only scores of true cells are sorted: precision matters where recall rises, which is there. So
    what is held besides the scores grows with the true cells and not with the table.

    Parameters
    ----------
    truth : sparse bool array of shape (n_samples, n_columns)
    scores : array of shape (n_samples, n_columns)
    weight : array of shape (n_samples,), optional
        Of the rows.

    Returns
    -------
    float
        0.0 where no cell is true.

    Examples
    --------
    >>> truth = sparse.csr_array(np.array([[True, False], [False, True]]))
    >>> average_precision_of_cells(truth, np.array([[0.9, 0.2], [0.3, 0.1]]))
    0.75
    """
    rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    levels, place = np.unique(scores[rows, truth.indices], return_inverse=True)
    weights = np.ones(truth.shape[0]) if weight is None else weight
    true_at = np.bincount(place, weights[rows], minlength=len(levels))
    if not true_at.sum():
        return 0.0
    told = _counts_from(levels, scores) if weight is None else _weights_from(levels, scores, weight)
    found, told = np.cumsum(true_at[::-1]), told[::-1]
    precision = np.divide(found, told, out=np.zeros_like(found), where=told > 0)
    return float(np.sum(true_at[::-1] * precision) / found[-1])


def _counts_from(levels: NDArray[Any], scores: NDArray[Any]) -> FloatArray:
    """Number of the cells from each level upwards: shape (n_levels,)."""
    counts = np.zeros(len(levels))
    for chunk in row_chunks(len(scores), scores.shape[1], 2**22):
        values = np.sort(scores[chunk], axis=None)
        counts += len(values) - np.searchsorted(values, levels, side="left")
    return counts


def _weights_from(levels: NDArray[Any], scores: NDArray[Any], weight: FloatArray) -> FloatArray:
    """Weight of the cells from each level upwards: shape (n_levels,)."""
    between = np.zeros(len(levels) + 1)
    for chunk in row_chunks(len(scores), scores.shape[1], 2**22):
        values = scores[chunk].ravel()
        order = np.argsort(values)  # sorted values are found faster, one after the other
        above = np.searchsorted(levels, values[order], side="right")
        each = np.repeat(weight[chunk], scores.shape[1])[order]
        between += np.bincount(above, each, minlength=len(between))
    return np.asarray(np.cumsum(between[:0:-1])[::-1])
