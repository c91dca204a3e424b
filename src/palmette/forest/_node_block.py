"""Blocks: the features of a node's rows, copied once, and the products that the solvers need.

A block is dense or sparse (CSR); its columns are the node's features in ascending order. A sparse
block has only the columns that are nonzero in some row of the node. Both kinds, and the rows of all
nodes that they are copied from, are tuples of different lengths: numba leaves out the branches of
``if len(block) == 1`` that do not apply, and compiles what is used only.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner

Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]


class DenseBlock(NamedTuple):
    """A dense matrix: values of shape (n_rows, n_columns)."""

    values: Reals


class SparseBlock(NamedTuple):
    """A sparse matrix (CSR)."""

    starts: Offsets
    columns: Indices
    values: Reals


Block: TypeAlias = DenseBlock | SparseBlock


@inner(error_model="numpy")
def gather_dense(X: Reals, rows: Indices, order: Indices, features: Indices) -> Reals:
    """Copy rows and features of a dense matrix.

    Parameters
    ----------
    X : float array of shape (n_samples, n_features), IN
    rows : int32 array of shape (n_in_bag,), IN
    order : int32 array of shape (n_rows,), IN
        Positions in ``rows``.
    features : int32 array of shape (n_columns,), IN
    """
    values = np.empty((len(order), len(features)), X.dtype)
    for i in range(len(order)):
        row = X[rows[order[i]]]
        for j in range(len(features)):
            values[i, j] = row[features[j]]
    return values


@inner(error_model="numpy")
def gather_sparse(
    X: SparseBlock,
    rows: Indices,
    order: Indices,
    features: Indices,
    min_rows: int,
    column_of: Indices,
    used: Indices,
) -> tuple[Offsets, Indices, Reals, int]:
    """Copy rows and features of a sparse matrix, without features that are nonzero in few rows.

    Parameters
    ----------
    X : SparseBlock, IN
        With sorted columns.
    rows, order : int32 arrays, IN
        As in `gather_dense`.
    features : int32 array of shape (n_drawn,), IN
        Ascending.
    min_rows : int
        Minimum number of nonzero rows of a feature, at least one.
    column_of : int32 array of shape (n_features,), IN and OUT
        Buffer that is -1 everywhere, before and after.
    used : int32 array of shape (n_drawn,), OUT
        The features of the block's columns come first.

    Returns
    -------
    starts, columns, values : arrays
        Of the block.
    n_columns : int
    """
    indptr, indices, data = X.starts, X.columns, X.values
    # without branches: about half of the entries are of features not drawn, in no pattern
    for i in range(len(order)):
        row = rows[order[i]]
        for k in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            column_of[np.uint64(indices[k])] += np.int32(data[k] != 0.0)
    for j in range(len(features)):
        used[j] = column_of[features[j]] + 1
    for j in range(len(column_of)):
        column_of[j] = -1
    n_entries, n_columns = 0, 0
    for j in range(len(features)):
        count = used[j]
        if count >= min_rows:
            column_of[features[j]] = n_columns
            used[n_columns] = features[j]
            n_columns += 1
            n_entries += count
    starts = np.empty(len(order) + 1, np.int64)
    columns = np.empty(n_entries + 1, np.int32)  # one more, for entries that are dropped
    values = np.empty(n_entries + 1, data.dtype)
    place = np.uint64(0)
    for i in range(len(order)):
        row = rows[order[i]]
        starts[i] = place
        for k in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            column, value = column_of[np.uint64(indices[k])], data[k]
            columns[place], values[place] = column, value
            place += np.uint64((column >= 0) & (value != 0.0))
    starts[len(order)] = place
    for j in range(n_columns):
        column_of[used[j]] = -1
    return starts, columns[:n_entries], values[:n_entries], n_columns


@inner(error_model="numpy", fastmath=True)
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


@inner(error_model="numpy", fastmath=True)
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


@inner(error_model="numpy", fastmath=True)
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


@inner(error_model="numpy", fastmath=True)
def _transpose_product_sparse(
    starts: Offsets, columns: Indices, values: Reals, factors: Reals, sums: Reals
) -> None:
    for i in range(len(factors)):
        factor = factors[i]
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            sums[np.uint64(columns[k])] += factor * values[k]


@inner(error_model="numpy")
def project(block: Block, weights: Reals, bias: float, scores: Reals) -> None:
    """Write ``block @ weights + bias`` to ``scores``.

    Parameters
    ----------
    block : DenseBlock or SparseBlock, IN
    weights : float array of shape (n_columns,), IN
        Of the data type of the block, as all arrays here.
    bias : float
    scores : float array of shape (n_rows,), OUT
    """
    if len(block) == 1:
        _project_dense(block.values, weights, bias, scores)
    else:
        _project_sparse(block.starts, block.columns, block.values, weights, bias, scores)


@inner(error_model="numpy")
def transpose_product(block: Block, factors: Reals, sums: Reals) -> None:
    """Write ``block.T @ factors`` to ``sums``.

    Parameters
    ----------
    block : DenseBlock or SparseBlock, IN
    factors : float array of shape (n_rows,), IN
    sums : float array of shape (n_columns,), OUT
    """
    for j in range(len(sums)):
        sums[j] = 0.0
    if len(block) == 1:
        _transpose_product_dense(block.values, factors, sums)
    else:
        _transpose_product_sparse(block.starts, block.columns, block.values, factors, sums)


@inner(error_model="numpy")
def project_in_order(block: Block, weights: Reals, scores: Reals) -> None:
    """Write ``block @ weights``, summed from the first column to the last.

    Prediction sums in the same order, so that training rows reach the leaf they were put in.

    Parameters
    ----------
    block : DenseBlock or SparseBlock, IN
    weights : float array of shape (n_columns,), IN
    scores : float array of shape (n_rows,), OUT
    """
    if len(block) == 1:
        dense, kept, n_kept = block.values, np.empty(len(weights), np.int64), 0
        for j in range(len(weights)):
            if weights[j] != 0.0:
                kept[n_kept] = j
                n_kept += 1
        n_rows = len(scores)
        for i in range(0, n_rows - n_rows % 4, 4):  # four independent sums
            p = q = r = s = weights.dtype.type(0.0)
            for k in range(n_kept):
                j = kept[k]
                p += dense[i, j] * weights[j]
                q += dense[i + 1, j] * weights[j]
                r += dense[i + 2, j] * weights[j]
                s += dense[i + 3, j] * weights[j]
            scores[i], scores[i + 1], scores[i + 2], scores[i + 3] = p, q, r, s
        for i in range(n_rows - n_rows % 4, n_rows):
            p = weights.dtype.type(0.0)
            for k in range(n_kept):
                p += dense[i, kept[k]] * weights[kept[k]]
            scores[i] = p
    else:
        for i in range(len(scores)):
            score = weights.dtype.type(0.0)
            for k in range(block.starts[i], block.starts[i + 1]):
                score += block.values[k] * weights[block.columns[k]]
            scores[i] = score


@inner(error_model="numpy")
def take_rows(block: Block, rows: Indices) -> Block:
    """Return a block with some of the rows.

    Parameters
    ----------
    block : DenseBlock or SparseBlock, IN
    rows : int32 array of shape (n_taken,), IN
        Indices within the block.
    """
    if len(block) == 1:
        taken = np.empty((len(rows), block.values.shape[1]), block.values.dtype)
        for i in range(len(rows)):
            for j in range(taken.shape[1]):
                taken[i, j] = block.values[rows[i], j]
        return DenseBlock(taken)
    starts, n_entries = np.empty(len(rows) + 1, np.int64), 0
    for i in range(len(rows)):
        starts[i] = n_entries
        n_entries += block.starts[rows[i] + 1] - block.starts[rows[i]]
    starts[len(rows)] = n_entries
    columns, values = np.empty(n_entries, np.int32), np.empty(n_entries, block.values.dtype)
    for i in range(len(rows)):
        own = block.starts[rows[i]]
        for k in range(starts[i + 1] - starts[i]):
            columns[starts[i] + k] = block.columns[own + k]
            values[starts[i] + k] = block.values[own + k]
    return SparseBlock(starts, columns, values)
