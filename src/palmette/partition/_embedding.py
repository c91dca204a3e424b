"""Points that stand for classes: leading eigenvectors, and groups of near points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.partition.base import IntArray

__all__ = ["groups_of", "leading_eigenvectors", "near_groups", "ordered_groups", "short_indices"]

_DENSE = 512  # rows up to which the full decomposition is as quick as a few vectors


def leading_eigenvectors(
    matrix: Any, k: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues of a symmetric matrix, and their vectors.

    Parameters
    ----------
    matrix : array, sparse matrix or LinearOperator of shape (n, n)
    k : int
        Number of vectors; at most n.
    rng : Generator
        For the start of the iterations, in large matrices.

    Returns
    -------
    values : array of shape (k,), descending
    vectors : array of shape (n, k)
        The entry of largest magnitude in every vector is positive.
    """
    n = matrix.shape[0]
    k = min(k, n)
    if n <= max(_DENSE, 2 * k + 1):
        values, vectors = np.linalg.eigh(_as_dense(matrix))
        values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    else:
        # a loose tolerance does: points are grouped, not reported
        values, vectors = sparse.linalg.eigsh(
            matrix, k, which="LA", tol=1e-4, v0=rng.uniform(0.5, 1.5, n)
        )
        order = np.argsort(-values, kind="stable")
        values, vectors = values[order], vectors[:, order]
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(k)] < 0, -1.0, 1.0)
    return values, vectors * signs


def _as_dense(matrix: Any) -> NDArray[np.float64]:
    if isinstance(matrix, np.ndarray):
        return matrix
    if sparse.issparse(matrix):
        return np.asarray(matrix.toarray())
    return np.asarray(matrix @ np.eye(matrix.shape[0]))


def near_groups(
    points: NDArray[np.float64], k: int, rng: np.random.Generator
) -> NDArray[np.intp] | None:
    """Group points by k-means.

    Parameters
    ----------
    points : array of shape (n, d)
    k : int
    rng : Generator

    Returns
    -------
    int array of shape (n,), or None
        Group of every point; None where fewer than two points differ.
    """
    rounded = np.round(points, 9) + 0.0  # rounding errors are no difference
    n_distinct = len(np.unique(rounded, axis=0))
    if n_distinct < 2:
        return None
    from sklearn.cluster import KMeans  # takes long to import

    model = KMeans(min(k, n_distinct), n_init=5, random_state=int(rng.integers(2**31 - 1)))
    return model.fit(rounded).labels_.astype(np.intp)


def groups_of(classes: IntArray, labels: NDArray[np.intp] | None, k: int) -> list[IntArray]:
    """Return the classes of every label in use, the group of the first class first.

    Where there are no labels, the classes are cut in k runs of one length.

    Examples
    --------
    >>> [group.tolist() for group in groups_of(np.arange(4), np.array([2, 0, 2, 0]), 2)]
    [[0, 2], [1, 3]]
    """
    if labels is None:
        return ordered_groups(classes, np.arange(len(classes)), k)
    first = np.unique(labels, return_index=True)[1]
    return [classes[labels == labels[i]] for i in np.sort(first)]


def ordered_groups(classes: IntArray, keys: NDArray[Any], k: int) -> list[IntArray]:
    """Cut classes in k groups of one size by the order of their keys.

    Examples
    --------
    >>> [group.tolist() for group in ordered_groups(np.arange(5), np.array([3, 1, 1, 9, 0]), 2)]
    [[0, 3], [1, 2, 4]]
    """
    order = np.argsort(keys, kind="stable")
    groups = [np.sort(part) for part in np.array_split(classes[order], k) if part.size]
    return sorted(groups, key=lambda group: int(group[0]))


def short_indices(X: Any) -> Any:
    """Return a CSR matrix with indices of 32 bits, which liblinear asks for, where they suffice."""
    if X.indices.dtype.itemsize == X.indptr.dtype.itemsize == 4 or X.nnz >= 2**31:
        return X
    short = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array((X.data, *short), shape=X.shape)
