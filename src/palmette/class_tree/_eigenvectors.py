"""Leading eigenvectors of symmetric matrices: all methods that the rules for class trees use."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from palmette._kernels import inner, int64, kernel
from palmette.class_tree._lane_sums import add_products, move_weights

Floats = NDArray[np.float64]

_SMALL = 48  # up to this size all eigenvectors are found sooner than a few
_DENSE = 512  # up to this size the full decomposition is as fast as a few iterations
EXTRA = 6  # additional vectors, which make the wanted ones converge faster
_STEPS, _TOLERANCE = 8, 1e-2
_LANES = 8  # vectors of sparse rows are filled up with zeros to a multiple of this number
_RANGE = 1_000_000  # entries of sparse rows that one thread reads at a time
_MOST_RANGES = 16
_BLOCK = 64  # features whose directions are multiplied with each other at once


def leading_eigenvectors(matrix: Any, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of a symmetric matrix, sparse or not, and their eigenvectors.

    Parameters
    ----------
    matrix : array, sparse matrix or LinearOperator of shape (n, n)
    k : int
        Number of vectors; at most n.
    rng : Generator
        For the start of the iterations, for large matrices.

    Returns
    -------
    values : array of shape (k,), descending
    vectors : array of shape (n, k)
        See `fix_signs`.
    """
    n = matrix.shape[0]
    k = min(k, n)
    if n <= max(_DENSE, 2 * k + 1):
        values, vectors = np.linalg.eigh(_as_dense(matrix))
        values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    else:
        # a loose tolerance is enough: the vectors only group points
        values, vectors = sparse.linalg.eigsh(
            matrix, k, which="LA", tol=1e-4, v0=rng.uniform(0.5, 1.5, n)
        )
        order = np.argsort(-values, kind="stable")
        values, vectors = values[order], vectors[:, order]
    return values, fix_signs(vectors)


def _as_dense(matrix: Any) -> Floats:
    if isinstance(matrix, np.ndarray):
        return matrix
    if sparse.issparse(matrix):
        return np.asarray(matrix.toarray())
    return np.asarray(matrix @ np.eye(matrix.shape[0]))


def leading_of_matrix(matrix: Floats, n_vectors: int) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues of an array, descending, and their eigenvectors.

    Parameters
    ----------
    matrix : array of shape (n, n)
    n_vectors : int
        At most n.

    Returns
    -------
    values : array of shape (n_vectors,)
    vectors : array of shape (n, n_vectors)
        See `fix_signs`.

    Examples
    --------
    >>> leading_of_matrix(np.diag([1.0, 3.0]), 1)
    (array([3.]), array([[0.], [1.]]))
    """
    n = len(matrix)
    if n <= _SMALL:
        values, vectors = np.linalg.eigh(matrix)
        values, vectors = values[n - n_vectors :], vectors[:, n - n_vectors :]
    else:
        wanted = (n - n_vectors, n - 1)
        values, vectors = eigh(matrix, subset_by_index=wanted, check_finite=False)
    return values[::-1], fix_signs(vectors[:, ::-1])


def leading_of_rows(
    rows: Any,
    centre: Floats,
    scale: Floats,
    n_vectors: int,
    start: NDArray[Any],
    run: Callable[..., list[Any]] | None = None,
) -> tuple[Floats, Floats]:
    """Return the leading eigenvalues and eigenvectors of A A', where A = scale * (rows - centre).

    A is never formed, so that sparse rows stay sparse. Subspace iteration starts from directions
    in the space of the features: permuting the rows permutes the result.

    Parameters
    ----------
    rows : array or CSR array of shape (n, n_features)
    centre : array of shape (n_features,)
    scale : array of shape (n,)
    n_vectors : int
    start : array of shape (n_features, n_vectors + a few)
        Any directions; see `random_directions`.
    run : callable, optional
        Applies a function to items and returns the results in order, such as in threads.

    Returns
    -------
    values, vectors
        As those of `leading_of_matrix`, accurate to about one percent.
    """
    products = _SparseProducts if sparse.issparse(rows) else _DenseProducts
    towards = products(rows, centre, scale, start, run)
    values = np.zeros(n_vectors)
    image = towards.start()
    for _ in range(_STEPS):
        basis = np.linalg.qr(image)[0]
        gram, image = towards.step(basis)
        before = values
        values, rotation = np.linalg.eigh(gram)
        values, rotation = values[::-1][:n_vectors], rotation[:, ::-1][:, :n_vectors]
        if (values - before <= _TOLERANCE * values).all():
            break
    return values, fix_signs(basis @ rotation)


class _DenseProducts:
    """Products with A and A' of rows that are an array; see `_SparseProducts`."""

    def __init__(
        self, rows: Any, centre: Floats, scale: Floats, start: NDArray[Any], run: Any
    ) -> None:
        self.rows, self.centre, self.scale, self.directions = rows, centre, scale, start

    def start(self) -> Floats:
        """Return A times the directions to start from."""
        return self._forth(self.directions)

    def step(self, basis: Floats) -> tuple[Floats, Floats]:
        """Return B'AA'B and AA'B, for a basis B of shape (n, k)."""
        scaled = self.scale[:, None] * basis
        directions = self.rows.T @ scaled - np.multiply.outer(self.centre, scaled.sum(axis=0))
        return directions.T @ directions, self._forth(directions)

    def _forth(self, directions: Any) -> Floats:
        return np.asarray(self.scale[:, None] * (self.rows @ directions - self.centre @ directions))


class _SparseProducts:
    """Products with A and A' of sparse rows, feature by feature.

    The directions A'B of a feature are used as soon as they are known, and not kept: what remains
    has one row per row of A, not per feature. Threads share the features in ranges that depend on
    nothing but the rows, and the sums of the ranges are added in their order.

    Parameters
    ----------
    rows : CSR array of shape (n, n_features)
    centre, scale, start, run
        As in `leading_of_rows`.
    """

    def __init__(
        self, rows: Any, centre: Floats, scale: Floats, start: NDArray[Any], run: Any
    ) -> None:
        self.columns = rows.tocsc()
        self.centre, self.scale, self.run = centre, scale, run
        self.directions = np.asarray(start, dtype=rows.dtype)
        starts = self.columns.indptr
        n_ranges = min(1 + rows.nnz // _RANGE, _MOST_RANGES)
        cuts = np.searchsorted(starts, np.arange(1, n_ranges) * rows.nnz // n_ranges)
        self.ranges = list(pairwise([0, *cuts.tolist(), rows.shape[1]]))

    def start(self) -> Floats:
        """Return A times the directions to start from."""
        shape = self.columns.shape[0], self.directions.shape[1]
        return self._sums(np.zeros(shape), self.directions)[1]

    def step(self, basis: Floats) -> tuple[Floats, Floats]:
        """Return B'AA'B and AA'B, for a basis B of shape (n, k)."""
        nothing = np.zeros((0, 0), dtype=self.directions.dtype)
        return self._sums(self.scale[:, None] * basis, nothing)

    def _sums(self, scaled: Floats, directions: NDArray[Any]) -> tuple[Floats, Floats]:
        n, k = scaled.shape
        n_lanes = -(-k // _LANES) * _LANES
        basis = np.zeros((n, n_lanes), dtype=self.directions.dtype)
        basis[:, :k] = scaled
        total = np.zeros(n_lanes)
        total[:k] = scaled.sum(axis=0)
        columns = self.columns.indptr, self.columns.indices, self.columns.data

        def sums_of(features: tuple[int, int]) -> tuple[Floats, Floats, NDArray[Any]]:
            gram, offset = np.zeros((n_lanes, n_lanes)), np.zeros(n_lanes)
            towards = np.zeros_like(basis)
            _add_features(
                *columns, *features, self.centre, directions, basis, total, gram, offset, towards
            )
            return gram, offset, towards

        found = [sums_of(self.ranges[0])] if len(self.ranges) == 1 else None
        parts = found or (self.run or _one_by_one)(sums_of, self.ranges)
        gram, offset, towards = parts[0]
        for others in parts[1:]:
            gram += others[0]
            offset += others[1]
            towards += others[2]
        return gram[:k, :k], self.scale[:, None] * (towards[:, :k] - offset[:k])


def _one_by_one(function: Callable[..., Any], items: list[Any]) -> list[Any]:
    return [function(item) for item in items]


@kernel
def _add_features(
    starts: NDArray[Any],
    rows: NDArray[Any],
    values: NDArray[Any],
    low: int,
    high: int,
    centre: Floats,
    directions: NDArray[Any],
    basis: NDArray[Any],
    total: Floats,
    gram: Floats,
    offset: Floats,
    towards: NDArray[Any],
) -> None:
    """Add what a range of features contributes to the products with A and A'.

    Parameters
    ----------
    starts, rows, values : arrays, IN
        Entries of the rows, by feature.
    low, high : int
        The range of features.
    centre : array of shape (n_features,), IN
    directions : array of shape (n_features, k), IN
        Directions to start from; with no rows, the directions are A' times the basis.
    basis : array of shape (n, n_lanes), IN
        The basis, times the scale; n_lanes is k or more.
    total : array of shape (n_lanes,), IN
        Sums of the columns of the basis.
    gram : array of shape (n_lanes, n_lanes), OUT
        Products of the directions with each other.
    offset : array of shape (n_lanes,), OUT
        Products of the directions with the centre.
    towards : array of shape (n, n_lanes), OUT
        Products of the rows with the directions.
    """
    n_lanes = basis.shape[1]
    exact = np.zeros(n_lanes)
    rounded = np.zeros_like(basis[0])
    block, turned = np.empty((_BLOCK, n_lanes)), np.empty((n_lanes, _BLOCK))
    filled = int64(0)
    for feature in range(low, high):
        first = starts[feature]
        length = starts[feature + 1] - first
        middle = centre[feature]
        if length == 0 and middle == 0:
            continue
        if len(directions) > 0:
            for j in range(directions.shape[1]):
                rounded[j] = directions[feature, j]
                exact[j] = rounded[j]
        else:
            for j in range(n_lanes):
                rounded[j] = 0
            add_products(values, first, rows, first, length, basis, 0, n_lanes, rounded)
            for j in range(n_lanes):
                exact[j] = rounded[j] - middle * total[j]
                rounded[j] = exact[j]
            for j in range(n_lanes):
                block[filled, j] = exact[j]
                turned[j, filled] = exact[j]
            filled += 1
            if filled == _BLOCK:
                _add_block(turned, block, filled, gram)
                filled = 0
        for j in range(n_lanes):
            offset[j] += middle * exact[j]
        move_weights(values, first, rows, first, length, towards, n_lanes, rounded)
    _add_block(turned, block, filled, gram)


@inner
def _add_block(turned: Floats, block: Floats, n: int, gram: Floats) -> None:
    """Add the products of the first n rows of a block, which is given twice, to a matrix."""
    places = np.arange(n)
    line = np.empty(len(gram))
    for i in range(len(gram)):
        for j in range(len(gram)):
            line[j] = gram[i, j]
        add_products(turned, i * _BLOCK, places, 0, n, block, 0, len(gram), line)
        for j in range(len(gram)):
            gram[i, j] = line[j]


def random_directions(n_features: int, n_vectors: int) -> NDArray[np.float32]:
    """Return directions to start from, the same in every call."""
    draw = np.random.default_rng(0).standard_normal
    return draw((n_features, n_vectors + EXTRA), dtype=np.float32)


def fix_signs(vectors: Floats) -> Floats:
    """Multiply every column by 1 or -1, so that its entry of largest magnitude is positive.

    Examples
    --------
    >>> fix_signs(np.array([[0.6], [-0.8]]))
    array([[-0.6], [ 0.8]])
    """
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)
