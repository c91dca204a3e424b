"""Leading eigenvectors of symmetric matrices: all methods that the rules for class trees use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

Floats = NDArray[np.float64]

_SMALL = 48  # up to this size all eigenvectors are found sooner than a few
_DENSE = 512  # up to this size the full decomposition is as fast as a few iterations
EXTRA = 6  # additional vectors, which make the wanted ones converge faster
_STEPS, _TOLERANCE = 8, 1e-2


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
    rows: Any, centre: Floats, scale: Floats, n_vectors: int, start: NDArray[Any]
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

    Returns
    -------
    values, vectors
        As those of `leading_of_matrix`, accurate to about one percent.
    """
    forth, back = _products(rows, centre, scale)
    directions = start
    values = np.zeros(n_vectors)
    for _ in range(_STEPS):
        basis = np.linalg.qr(forth(directions))[0]
        directions = back(basis)
        before = values
        values, rotation = np.linalg.eigh(directions.T @ directions)
        values, rotation = values[::-1][:n_vectors], rotation[:, ::-1][:, :n_vectors]
        if (values - before <= _TOLERANCE * values).all():
            break
    return values, fix_signs(basis @ rotation)


def _products(
    rows: Any, centre: Floats, scale: Floats
) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """Return the functions that multiply by A and by A'."""
    transposed = rows.T

    def forth(directions: Floats) -> Floats:
        thin = np.ascontiguousarray(directions, dtype=rows.dtype)
        return np.asarray(scale[:, None] * (rows @ thin - centre @ directions))

    def back(basis: Floats) -> Floats:
        scaled = scale[:, None] * basis
        thin = np.ascontiguousarray(scaled, dtype=rows.dtype)
        product: Floats = np.multiply.outer(centre, scaled.sum(axis=0))
        np.subtract(transposed @ thin, product, out=product)
        return product

    return forth, back


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
