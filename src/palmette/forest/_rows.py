"""Preparing rows for oblique trees: merging of equal rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, row_chunks

_SEED = 0x5EED_0F_40_35  # of the hash coefficients; any value works, but it must not change
_MAX_COPIES = 32  # of a row: samples of a proportion of more copies would hardly differ


class DistinctRows(NamedTuple):
    """Distinct rows, and their numbers of copies."""

    first: NDArray[np.intp]  # (n_distinct,) index of one row per distinct row
    kind: NDArray[np.intp]  # (n_samples,) position in `first` of the row equal to each row
    copies: NDArray[np.int64]  # (n_distinct,)
    unit: FloatArray  # (n_distinct,) weight of one copy


def distinct_rows(X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> DistinctRows:
    """Merge rows that are equal in features and labels.

    The order of the distinct rows depends on their values only. Samples drawn by this order hence
    do not depend on the order of the input, and a weight of k equals k copies. Weights with a mean
    below one are scaled to mean one.

    Parameters
    ----------
    X : float array or CSR matrix of shape (n_samples, n_features)
    Y : sparse bool array of shape (n_samples, n_columns)
    weights : array of shape (n_samples,), optional
        All positive. A weight is represented by the nearest number of copies, up to a maximum, each
        with an equal part of the weight.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [1.0]])
    >>> Y = sparse.csr_array(np.array([[True], [False], [True]]))
    >>> rows = distinct_rows(X, Y, np.array([1.0, 5.0, 2.0]))
    >>> sorted(zip(X[rows.first, 0].tolist(), rows.copies.tolist()))
    [(1.0, 3), (2.0, 5)]
    """
    _, first, kind = np.unique(_keys(X, Y), return_index=True, return_inverse=True)
    total = np.bincount(kind, weights, minlength=len(first)).astype(np.float64)
    if weights is not None:
        total /= min(1.0, float(np.mean(weights)))
    copies = np.clip(np.rint(total), 1, _MAX_COPIES)
    return DistinctRows(first, kind, copies.astype(np.int64), total / copies)


def _keys(X: Any, Y: sparse.csr_array) -> NDArray[np.uint64]:
    """Return 64-bit keys of rows: multilinear hashes, which collide for no pattern in the data.

    Values are hashed as two halves of 32 bits; zeros add nothing, whether they are stored or not.
    """
    rng = np.random.default_rng(_SEED)
    n_features = X.shape[1]
    high, low = rng.integers(0, 2**64, (2, n_features, 2), dtype=np.uint64)
    of_labels = rng.integers(0, 2**64, (Y.shape[1], 2), dtype=np.uint64)
    sums = Y.astype(np.uint64) @ of_labels
    for chunk in row_chunks(X.shape[0], 4 * n_features):
        part = X[chunk]
        if sparse.issparse(part):
            upper, lower = _halves(part.data)
            for half, coefficients in ((upper, high), (lower, low)):
                bits = sparse.csr_array((half, part.indices, part.indptr), shape=part.shape)
                sums[chunk] += bits @ coefficients
        else:
            upper, lower = _halves(part)
            sums[chunk] += upper @ high + lower @ low
    shift, mask = np.uint64(32), np.uint64(0xFFFFFFFF00000000)
    return np.asarray((sums[:, 0] & mask) | (sums[:, 1] >> shift))


def _halves(values: NDArray[np.floating]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
    return bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)
