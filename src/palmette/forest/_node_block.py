"""Block: the features of a node's rows, copied once, and the products that the solvers need.

A block is dense or sparse (CSR); its columns are the node's features in ascending order. A sparse
block has only the columns that are nonzero in some row of the node.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]


class Block(NamedTuple):
    """Rows of a node by its features: ``dense``, or the other three arrays if ``is_sparse``."""

    dense: Reals
    starts: Offsets
    columns: Indices
    values: Reals
    is_sparse: bool


@njit(cache=True, nogil=True, error_model="numpy")
def gather_dense(X: Reals, rows: Indices, features: Indices) -> Block:
    """Copy rows and features of a dense matrix into a block.

    Parameters
    ----------
    X : float array of shape (n_samples, n_features), IN
    rows : int32 array of shape (n_rows,), IN
    features : int32 array of shape (n_columns,), IN
    """
    dense = np.empty((len(rows), len(features)), dtype=X.dtype)
    for i in range(len(rows)):
        row = X[rows[i]]
        for j in range(len(features)):
            dense[i, j] = row[features[j]]
    nothing = np.empty(0, dtype=X.dtype)
    return Block(dense, np.empty(0, np.int64), np.empty(0, np.int32), nothing, False)


@njit(cache=True, nogil=True, error_model="numpy")
def gather_sparse(
    data: Reals,
    indices: Indices,
    indptr: Offsets,
    rows: Indices,
    features: Indices,
    min_rows: int,
    column_of: Indices,
) -> tuple[Block, Indices]:
    """Copy rows and features of a sparse matrix, without features that are nonzero in few rows.

    Parameters
    ----------
    data, indices, indptr : arrays, IN
        CSR with sorted indices.
    rows : int32 array of shape (n_rows,), IN
    features : int32 array of shape (n_drawn,), IN
        Ascending.
    min_rows : int
        Minimum number of nonzero rows of a feature, at least one.
    column_of : int32 array of shape (n_features,), IN and OUT
        Buffer that is -1 everywhere, before and after.

    Returns
    -------
    block : Block
    used : int32 array of shape (n_columns,)
        The features of the block's columns.
    """
    # without branches: about half of the entries are of features not drawn, in no pattern
    for row in rows:
        for k in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            column_of[np.uint64(indices[k])] += np.int32(data[k] != 0.0)
    counts = column_of[features] + 1
    column_of[:] = -1
    n_entries, n_used, used = 0, 0, np.empty(len(features), dtype=np.int32)
    for j in range(len(features)):
        if counts[j] >= min_rows:
            column_of[features[j]] = n_used
            used[n_used] = features[j]
            n_used += 1
            n_entries += counts[j]
    used = used[:n_used].copy()
    starts = np.empty(len(rows) + 1, dtype=np.int64)
    columns = np.empty(n_entries + 1, dtype=np.int32)  # one more, for entries that are dropped
    values = np.empty(n_entries + 1, dtype=data.dtype)
    place = np.uint64(0)
    for i in range(len(rows)):
        starts[i] = place
        for k in range(np.uint64(indptr[rows[i]]), np.uint64(indptr[rows[i] + 1])):
            column, value = column_of[np.uint64(indices[k])], data[k]
            columns[place], values[place] = column, value
            place += np.uint64((column >= 0) & (value != 0.0))
    starts[len(rows)] = place
    columns, values = columns[:n_entries], values[:n_entries]
    for feature in used:
        column_of[feature] = -1
    return Block(np.empty((0, 0), data.dtype), starts, columns, values, True), used


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _project_dense(dense: Reals, weights: Reals, bias: float, scores: Reals) -> None:
    n_rows, n_columns = dense.shape
    shift = weights.dtype.type(bias)
    for i in range(0, n_rows - n_rows % 4, 4):  # four rows per read of the weights
        a, b, c, d = dense[i], dense[i + 1], dense[i + 2], dense[i + 3]
        p, q, r, s = shift, shift, shift, shift
        for j in range(n_columns):
            p += a[j] * weights[j]
            q += b[j] * weights[j]
            r += c[j] * weights[j]
            s += d[j] * weights[j]
        scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = p, q, r, s
    for i in range(n_rows - n_rows % 4, n_rows):
        p = shift
        for j in range(n_columns):
            p += dense[i, j] * weights[j]
        scores[i] = p


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _transpose_product_dense(dense: Reals, factors: Reals, sums: Reals) -> None:
    n_rows, n_columns = dense.shape
    for i in range(0, n_rows - n_rows % 4, 4):
        a, b, c, d = dense[i], dense[i + 1], dense[i + 2], dense[i + 3]
        p, q, r, s = (factors[i], factors[i + 1], factors[i + 2], factors[i + 3])
        for j in range(n_columns):
            sums[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j])
    for i in range(n_rows - n_rows % 4, n_rows):
        for j in range(n_columns):
            sums[j] += factors[i] * dense[i, j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _project_sparse(
    starts: Offsets, columns: Indices, values: Reals, weights: Reals, bias: float, scores: Reals
) -> None:
    # unsigned indices: numba need not handle negative ones
    shift, one = weights.dtype.type(bias), np.uint64(1)
    for i in range(len(scores)):
        k, stop = np.uint64(starts[i]), np.uint64(starts[i + 1])
        p, q = shift, weights.dtype.type(0.0)
        while k + one < stop:  # two independent sums
            p += values[k] * weights[np.uint64(columns[k])]
            q += values[k + one] * weights[np.uint64(columns[k + one])]
            k += one + one
        if k < stop:
            p += values[k] * weights[np.uint64(columns[k])]
        scores[i] = p + q


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def _transpose_product_sparse(
    starts: Offsets, columns: Indices, values: Reals, factors: Reals, sums: Reals
) -> None:
    for i in range(len(factors)):
        factor = factors[i]
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            sums[np.uint64(columns[k])] += factor * values[k]


@njit(cache=True, nogil=True, error_model="numpy")
def project(block: Block, weights: Reals, bias: float, scores: Reals) -> None:
    """Write ``block @ weights + bias`` to ``scores``.

    Parameters
    ----------
    block : Block, IN
    weights : float array of shape (n_columns,), IN
        Of the data type of the block, as all arrays here.
    bias : float
    scores : float array of shape (n_rows,), OUT
    """
    if not block.is_sparse:
        _project_dense(block.dense, weights, bias, scores)
        return
    _project_sparse(block.starts, block.columns, block.values, weights, bias, scores)


@njit(cache=True, nogil=True, error_model="numpy")
def transpose_product(block: Block, factors: Reals, sums: Reals) -> None:
    """Write ``block.T @ factors`` to ``sums``.

    Parameters
    ----------
    block : Block, IN
    factors : float array of shape (n_rows,), IN
    sums : float array of shape (n_columns,), OUT
    """
    sums[:] = 0.0
    if not block.is_sparse:
        _transpose_product_dense(block.dense, factors, sums)
        return
    _transpose_product_sparse(block.starts, block.columns, block.values, factors, sums)


@njit(cache=True, nogil=True, error_model="numpy")
def project_in_order(block: Block, weights: Reals, scores: Reals) -> None:
    """Write ``block @ weights``, summed from the first column to the last.

    Prediction sums in the same order, so that training rows reach the leaf they were put in.

    Parameters
    ----------
    block : Block, IN
    weights : float array of shape (n_columns,), IN
    scores : float array of shape (n_rows,), OUT
    """
    if block.is_sparse:
        for i in range(len(block.starts) - 1):
            score = weights.dtype.type(0.0)
            for k in range(block.starts[i], block.starts[i + 1]):
                score += block.values[k] * weights[block.columns[k]]
            scores[i] = score
        return
    kept, dense = np.flatnonzero(weights), block.dense
    n_rows = len(scores)
    for i in range(0, n_rows - n_rows % 4, 4):  # four independent sums
        p = q = r = s = weights.dtype.type(0.0)
        for j in kept:
            p += dense[i, j] * weights[j]
            q += dense[i + 1, j] * weights[j]
            r += dense[i + 2, j] * weights[j]
            s += dense[i + 3, j] * weights[j]
        scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = p, q, r, s
    for i in range(n_rows - n_rows % 4, n_rows):
        p = weights.dtype.type(0.0)
        for j in kept:
            p += dense[i, j] * weights[j]
        scores[i] = p


@njit(cache=True, nogil=True, error_model="numpy")
def take_rows(block: Block, rows: Indices) -> Block:
    """Return a block with some of the rows.

    Parameters
    ----------
    block : Block, IN
    rows : int32 array of shape (n_taken,), IN
        Indices within the block.
    """
    if not block.is_sparse:
        return Block(block.dense[rows], block.starts, block.columns, block.values, False)
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    for i in range(len(rows)):
        starts[i + 1] = starts[i] + block.starts[rows[i] + 1] - block.starts[rows[i]]
    columns = np.empty(starts[-1], dtype=np.int32)
    values = np.empty(starts[-1], dtype=block.values.dtype)
    for i in range(len(rows)):
        own = block.starts[rows[i]]
        for k in range(starts[i + 1] - starts[i]):
            columns[starts[i] + k] = block.columns[own + k]
            values[starts[i] + k] = block.values[own + k]
    return Block(block.dense, starts, columns, values, True)
