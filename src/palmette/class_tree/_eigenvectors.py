"""Leading eigenvectors of symmetric matrices: all methods that the rules for class trees use."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from palmette._kernels import kernel
from palmette.base._class_moments import Run
from palmette.class_tree._lane_sums import add_products, move_weights

Floats = NDArray[np.float64]

_SMALL = 48  # up to this size all eigenvectors are found sooner than a few
_DENSE = 512  # up to this size the full decomposition is as fast as a few iterations
EXTRA = 6  # additional vectors, which make the wanted ones converge faster
_STEPS, _TOLERANCE = 8, 1e-2
_LANES = 8  # vectors of sparse rows are filled up with zeros to a multiple of this number
_RANGE = 1_000_000  # entries of sparse rows that one thread reads at a time
_MOST_RANGES = 16


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
    run: Run | None = None,
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

    The directions A'B of a feature multiply the rows as soon as they are known. Features in which
    A is zero are left out. Threads share the others in ranges that depend on nothing but the rows,
    and the sums of the ranges are added in their order.

    Parameters
    ----------
    rows : CSR array of shape (n, n_features)
    centre, scale, start, run
        As in `leading_of_rows`.
    """

    def __init__(
        self, rows: Any, centre: Floats, scale: Floats, start: NDArray[Any], run: Any
    ) -> None:
        columns = rows.tocsc()
        used = np.flatnonzero((np.diff(columns.indptr) > 0) | (centre != 0))
        self.starts = np.append(columns.indptr[used], columns.indptr[-1:])
        self.rows, self.values = columns.indices, columns.data
        self.centre, self.scale, self.run = centre[used], scale, run
        n_lanes = -(-start.shape[1] // _LANES) * _LANES
        self.directions = np.zeros((len(used), n_lanes))
        self.directions[:, : start.shape[1]] = start[used]
        self.n_vectors = start.shape[1]
        n_ranges = min(1 + rows.nnz // _RANGE, _MOST_RANGES)
        cuts = np.searchsorted(self.starts, np.arange(1, n_ranges) * rows.nnz // n_ranges)
        self.ranges = list(pairwise([0, *cuts.tolist(), len(used)]))

    def start(self) -> Floats:
        """Return A times the directions to start from."""
        return self._sums(np.zeros((len(self.scale), self.n_vectors)), are_given=True)[1]

    def step(self, basis: Floats) -> tuple[Floats, Floats]:
        """Return B'AA'B and AA'B, for a basis B of shape (n, k)."""
        return self._sums(self.scale[:, None] * basis, are_given=False)

    def _sums(self, scaled: Floats, *, are_given: bool) -> tuple[Floats, Floats]:
        n, k = scaled.shape
        n_lanes = self.directions.shape[1]
        basis = np.zeros((n, n_lanes), dtype=self.values.dtype)
        basis[:, :k] = scaled
        total = np.zeros(n_lanes)
        total[:k] = scaled.sum(axis=0)

        def sums_of(features: tuple[int, int]) -> tuple[Floats, Floats, NDArray[Any]]:
            low, high = features
            starts, centre = self.starts[low : high + 1], self.centre[low:high]
            directions, towards = self.directions[low:high], np.zeros_like(basis)
            entries = starts, self.rows, self.values
            _add_features(*entries, centre, basis, total, are_given, directions, towards)
            return directions.T @ directions, centre @ directions, towards

        if len(self.ranges) == 1 or self.run is None:
            parts = map(sums_of, self.ranges)
        else:
            parts = iter(self.run(sums_of, self.ranges))
        gram, offset, towards = next(parts)
        for others in parts:
            gram += others[0]
            offset += others[1]
            towards += others[2]
        return gram[:k, :k], self.scale[:, None] * (towards[:, :k] - offset[:k])


@kernel
def _add_features(
    starts: NDArray[Any],
    rows: NDArray[Any],
    values: NDArray[Any],
    centre: Floats,
    basis: NDArray[Any],
    total: Floats,
    are_given: bool,
    directions: Floats,
    towards: NDArray[Any],
) -> None:
    """Find the directions of some features, unless they are given, and multiply the rows by them.

    Parameters
    ----------
    starts : int array of shape (n_features + 1,), IN
    rows, values : arrays, IN
        Entries of the rows, by feature; those of a feature are from its start to the next.
    centre : array of shape (n_features,), IN
    basis : array of shape (n, n_lanes), IN
        The basis, times the scale.
    total : array of shape (n_lanes,), IN
        Sums of the columns of the basis.
    are_given : bool
    directions : array of shape (n_features, n_lanes), OUT
        A' times the basis; or IN, if they are given.
    towards : array of shape (n, n_lanes), OUT
        The rows times the directions are added.
    """
    n_lanes = basis.shape[1]
    line = np.zeros_like(basis[0])
    for feature in range(len(centre)):
        first = starts[feature]
        length = starts[feature + 1] - first
        if are_given:
            for j in range(n_lanes):
                line[j] = directions[feature, j]
        else:
            for j in range(n_lanes):
                line[j] = 0
            add_products(values, first, rows, first, length, basis, 0, n_lanes, line)
            middle = centre[feature]
            for j in range(n_lanes):
                exact = line[j] - middle * total[j]
                directions[feature, j] = exact
                line[j] = exact
        move_weights(values, first, rows, first, length, towards, n_lanes, line)


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
