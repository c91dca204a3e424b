"""Weights, sums and scatter of rows by class: the arithmetic of ClassStatistics.

A matrix with one row per class is dense, or sparse if the rows that it sums were sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import COUNT, CountArray, OffsetArray
from palmette.exceptions import PalmetteError

Moments: TypeAlias = Literal["mean", "diagonal", "scatter", "pooled"]
Matrix: TypeAlias = CountArray | sparse.csr_array
Rows: TypeAlias = NDArray[Any] | sparse.csr_array
# applies a function to items and returns the results in order, as `Threads.map` does
Run: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], list[Any]]

# Values processed at once: 32 MB, more than the caches and far less than memory.
_BLOCK = 2**22
_PARTS = 32  # ranges of classes that threads sum


# ---------------------------------------------------------------------- computing


def moments_by_class(
    rows: Rows,
    codes: OffsetArray,
    weights: CountArray,
    n_classes: int,
    moments: Moments,
    run: Run | None = None,
) -> tuple[CountArray, Matrix, Moments, Matrix | None]:
    """Compute the weight, sum and scatter of every class.

    Parameters
    ----------
    rows : array or CSR array of shape (n_rows, n_features)
        A sparse array must have sorted indices and no duplicates.
    codes : int array of shape (n_rows,)
    weights : float array of shape (n_rows,)
    n_classes : int
    moments : {"mean", "diagonal", "scatter", "pooled"}
    run : callable, optional
        Applies a function to items and returns the results in order, such as in threads. Ranges of
        classes of sparse rows are then summed by it; every sum is the same as without.

    Returns
    -------
    weight : float array of shape (n_classes,)
    total : float array or CSR array of shape (n_classes, n_features)
    moments : str
        As given.
    scatter : array or None
        See `ClassStatistics`.
    """
    weight = np.bincount(codes, weights, minlength=n_classes).astype(COUNT)
    total = _sum_by_class(rows, codes, weights, n_classes, run)
    mean = scale_rows(total, inverse(weight))
    scatter: Matrix | None = None
    if moments == "scatter":
        scatter = _scatter_per_class(rows, codes, weights, mean)
    elif moments == "pooled":
        scatter = _pooled_scatter(rows, codes, weights, mean)
    elif moments == "diagonal" and isinstance(rows, sparse.csr_array):
        scatter = _sparse_diagonal(rows, codes, weights, cast(sparse.csr_array, mean), weight)
    elif moments == "diagonal":
        scatter = _dense_diagonal(rows, codes, weights, cast(CountArray, mean))
    return weight, total, moments, scatter


def _sum_by_class(
    rows: Rows, codes: OffsetArray, weights: CountArray, n_classes: int, run: Run | None
) -> Matrix:
    """Sum weighted rows by class, as a product with the sparse indicator of classes."""
    if isinstance(rows, sparse.csr_array):
        member = _indicator(codes, weights, n_classes).tocsr()
        # a product of two types of indices would copy those of the rows, for every part
        member.indices = member.indices.astype(rows.indices.dtype, copy=False)
        member.indptr = member.indptr.astype(rows.indptr.dtype, copy=False)
        if run is None or rows.nnz < _BLOCK:
            return _csr(member @ rows)
        wanted = np.arange(_PARTS + 1) * (len(codes) / _PARTS)  # about as many rows each
        bounds = np.unique(np.append(np.searchsorted(member.indptr, wanted[:-1]), n_classes))
        parts = run(lambda part: _csr(member[slice(*part)] @ rows), pairwise(bounds.tolist()))
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    total = np.zeros((n_classes, rows.shape[1]), dtype=COUNT)
    # a block has at least n_classes rows, since each block allocates an array like `total`
    for block in _blocks(len(codes), rows.shape[1], at_least=n_classes):
        chunk = np.asarray(rows[block], dtype=COUNT)
        total += _indicator(codes[block], weights[block], n_classes) @ chunk
    return total


def _dense_diagonal(
    rows: NDArray[Any], codes: OffsetArray, weights: CountArray, mean: CountArray
) -> CountArray:
    scatter = np.zeros_like(mean)
    for block in _blocks(len(codes), rows.shape[1], at_least=len(mean)):
        deviation = rows[block] - mean[codes[block]]
        np.square(deviation, out=deviation)
        scatter += _indicator(codes[block], weights[block], len(mean)) @ deviation
    return scatter


def _sparse_diagonal(
    rows: sparse.csr_array,
    codes: OffsetArray,
    weights: CountArray,
    mean: sparse.csr_array,
    weight: CountArray,
) -> sparse.csr_array:
    """Sum squared deviations of the stored entries, then add those of all zeros together."""
    order = np.argsort(codes, kind="stable")
    rows, codes, weights = _csr(rows[order]), codes[order], weights[order]
    indicator = _indicator(codes, weights, len(weight)).tocsr()
    deviation = _stored_deviations(rows, codes, mean)
    stored = _csr(indicator @ _with_data(rows, np.ones(rows.nnz)))
    # exactly zero where all rows store the feature: both sum the same weights in the same order
    absent = np.repeat(weight, np.diff(stored.indptr)) - stored.data
    of_zeros = mean.power(2).multiply(_with_data(stored, absent))
    return _csr(indicator @ _with_data(rows, deviation**2) + of_zeros)


def _stored_deviations(
    rows: sparse.csr_array, codes: OffsetArray, mean: sparse.csr_array
) -> CountArray:
    """Return the stored entries of rows sorted by class, minus the mean of their class."""
    deviation = np.empty(rows.nnz, dtype=COUNT)
    centre = np.empty(rows.shape[1], dtype=COUNT)
    # one dense mean at a time: searching the sparse mean for every entry takes four times as long
    starts = rows.indptr[np.searchsorted(codes, np.arange(mean.shape[0] + 1))]
    for code in np.flatnonzero(np.diff(starts)):
        here = slice(starts[code], starts[code + 1])
        known = slice(mean.indptr[code], mean.indptr[code + 1])
        centre[rows.indices[here]] = 0.0  # means of zero need not be stored
        centre[mean.indices[known]] = mean.data[known]
        deviation[here] = rows.data[here] - centre[rows.indices[here]]
    return deviation


def _scatter_per_class(
    rows: Rows, codes: OffsetArray, weights: CountArray, mean: Matrix
) -> CountArray:
    n_classes, n_features = mean.shape
    scatter = np.zeros((n_classes, n_features, n_features), dtype=COUNT)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes))])
    for code in np.flatnonzero(np.diff(starts)):
        own = order[starts[code] : starts[code + 1]]
        centre = dense(mean[[code]])
        for block in _blocks(len(own), n_features):
            chosen = own[block]
            scatter[code] += _products(dense(rows[chosen]) - centre, weights[chosen])
    return scatter


def _pooled_scatter(
    rows: Rows, codes: OffsetArray, weights: CountArray, mean: Matrix
) -> CountArray:
    n_features = mean.shape[1]
    scatter = np.zeros((n_features, n_features), dtype=COUNT)
    for block in _blocks(len(codes), n_features):
        deviation = dense(rows[block]) - dense(mean[codes[block]])
        scatter += _products(deviation, weights[block])
    return scatter


def _products(deviation: CountArray, weights: CountArray) -> CountArray:
    # square roots make it a product A.T @ A, which BLAS computes symmetrically, in half the time
    scaled = deviation * np.sqrt(weights)[:, None]
    return scaled.T @ scaled


# ---------------------------------------------------------------------- merging


def squares(shift: Matrix, weights: CountArray, moments: Moments) -> Matrix:
    """Return weighted squares of a shift per class, in the shape of the scatter of `moments`."""
    if moments == "diagonal":
        squared = shift.power(2) if isinstance(shift, sparse.csr_array) else shift**2
        return scale_rows(squared, weights)
    shift = dense(shift)
    if moments == "pooled":
        return _products(shift, weights)
    return (shift * weights[:, None])[:, :, None] * shift[:, None, :]


def combine_scatter(
    within: Matrix, means: Matrix, weight: CountArray, member: sparse.csr_array, moments: Moments
) -> Matrix:
    """Return the scatter of groups of classes: that within classes plus that of their means.

    The mean of a class counts as one row with the weight of the class.

    Parameters
    ----------
    within : array or CSR array
        Scatter of the classes.
    means : array or CSR array of shape (n_classes, n_features)
    weight : float array of shape (n_classes,)
    member : CSR array of shape (n_groups, n_classes)
        1 where a class belongs to a group.
    moments : {"diagonal", "scatter", "pooled"}

    Returns
    -------
    array or CSR array
        In the shape of `within`, with groups in place of classes.
    """
    n_classes, n_features = means.shape
    if moments == "pooled":
        if (np.bincount(member.indices, minlength=n_classes) != 1).any():
            raise PalmetteError(
                "a pooled scatter cannot be divided among groups that overlap or omit classes, as "
                "the nodes of a hierarchy do. Use moments='scatter'."
            )
        return add(within, _scatter_of_means(means, weight, member, moments))
    parts = [
        _scatter_of_means(means, weight, _csr(member[low:high]), moments)
        for low, high in _group_blocks(member, n_features)
    ]
    if isinstance(within, sparse.csr_array):
        return add(_csr(member @ within), _csr(sparse.vstack(parts)))
    flat = member @ within.reshape(n_classes, -1)
    return flat.reshape(-1, *within.shape[1:]) + np.concatenate([dense(p) for p in parts])


def _scatter_of_means(
    means: Matrix, weight: CountArray, member: sparse.csr_array, moments: Moments
) -> Matrix:
    n_groups = member.shape[0]
    group = np.repeat(np.arange(n_groups), np.diff(member.indptr))
    rows, weights = means[member.indices], weight[member.indices]
    return cast(Matrix, moments_by_class(rows, group, weights, n_groups, moments)[-1])


def _group_blocks(member: sparse.csr_array, n_features: int) -> Iterator[tuple[int, int]]:
    """Divide the groups into runs whose class means fit in a block; a large group is alone."""
    limit = max(1, _BLOCK // max(1, n_features))
    low = 0
    while low < member.shape[0]:
        fitting = np.searchsorted(member.indptr, member.indptr[low] + limit, side="right") - 1
        high = min(max(int(fitting), low + 1), member.shape[0])
        yield low, high
        low = high


# ---------------------------------------------------------------------- sparse or dense


def _indicator(codes: OffsetArray, weights: CountArray, n_classes: int) -> sparse.csc_array:
    """Return a matrix of shape (n_classes, n_rows) with each row's weight at its class."""
    starts = np.arange(len(codes) + 1)
    return sparse.csc_array((weights, codes, starts), shape=(n_classes, len(codes)))


def _blocks(n_rows: int, n_columns: int, at_least: int = 1) -> Iterator[slice]:
    size = max(1, at_least, _BLOCK // max(1, n_columns))
    for start in range(0, n_rows, size):
        yield slice(start, start + size)


def _csr(matrix: Any) -> sparse.csr_array:
    converted = sparse.csr_array(matrix)
    converted.sum_duplicates()
    return converted


def _with_data(matrix: sparse.csr_array, data: CountArray) -> sparse.csr_array:
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def dense(matrix: Any) -> CountArray:
    """Convert a dense or sparse matrix to a float64 array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=COUNT)


def add(a: Matrix, b: Matrix) -> Matrix:
    """Add two matrices; the sum is sparse if both are."""
    if isinstance(a, sparse.csr_array) and isinstance(b, sparse.csr_array):
        return _csr(a + b)
    return dense(a) + dense(b)


def scale_rows(matrix: Matrix, factors: CountArray) -> Matrix:
    """Multiply the row or matrix of every class by its factor."""
    if isinstance(matrix, sparse.csr_array):
        return _with_data(matrix, matrix.data * np.repeat(factors, np.diff(matrix.indptr)))
    return matrix * factors.reshape(-1, *[1] * (matrix.ndim - 1))


def inverse(weight: CountArray) -> CountArray:
    """Return 1 / weight, and 0 for a class without rows."""
    return np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)


def read_only(matrix: Matrix) -> Matrix:
    """Return a read-only view of a matrix."""
    if isinstance(matrix, sparse.csr_array):
        parts = [matrix.data.astype(COUNT, copy=False), matrix.indices, matrix.indptr]
        if not matrix.has_canonical_format:
            parts = [part.copy() for part in parts]
        data, indices, indptr = (part.view() for part in parts)
        locked = sparse.csr_array((data, indices, indptr), shape=matrix.shape)
        locked.sum_duplicates()
        for part in (locked.data, locked.indices, locked.indptr):
            part.setflags(write=False)
        return locked
    view = np.asarray(matrix, dtype=COUNT).view()
    view.setflags(write=False)
    return view
