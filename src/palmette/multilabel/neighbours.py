"""Labels among the nearest training rows: what instance-based multi-label methods count."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from palmette.core.rows import row_chunks, take_rows
from palmette.exceptions import PalmetteError

__all__ = ["NeighbourLabels", "check_n_neighbors"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_NEIGHBOURS_AT_ONCE = 2**23  # places of neighbours, and their distances, that are held at a time


def check_n_neighbors(n_neighbors: Any) -> None:
    """Refuse what is no positive whole number."""
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise PalmetteError(f"n_neighbors={n_neighbors!r}: expected a positive integer.")


class NeighbourLabels:
    """How many of the nearest training rows have each label.

    Weights are numbers of copies: neighbours are taken in the order of their distance until their
    weights come to `n_neighbors`, and of the last one as much as is needed.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    Y : sparse bool array of shape (n_samples, n_labels)
    weights : array of shape (n_samples,), optional
    n_neighbors : int
        At most as many as there are other rows for a training row, so that all rows, old and new,
        have equally many.
    n_jobs : int, optional
    **search
        Metric and algorithm, as in scikit-learn's NearestNeighbors.

    Attributes
    ----------
    n_neighbors : int
        Of every row.

    Examples
    --------
    >>> X, Y = np.array([[0.0], [1.0], [5.0]]), sparse.csr_array([[1, 0], [1, 1], [0, 1]])
    >>> labels = NeighbourLabels(X, Y.astype(bool), None, 2)
    >>> next(labels.of_training_rows())[1].toarray()
    array([[1., 2.],
           [1., 1.],
           [2., 1.]])
    """

    def __init__(
        self,
        X: Any,
        Y: sparse.csr_array,
        weights: FloatArray | None,
        n_neighbors: int,
        *,
        n_jobs: int | None = None,
        **search: Any,
    ) -> None:
        self._X, self._Y, self._weights = X, Y.astype(np.float64), weights
        n_rows = X.shape[0]
        total = n_rows if weights is None else int(np.ceil(weights.sum() - 1e-9))
        self.n_neighbors = min(int(n_neighbors), total - 1)
        n_asked = self.n_neighbors
        if weights is not None:  # the lightest rows tell how many it may take
            reached = np.cumsum(np.sort(weights))
            n_asked = int(np.searchsorted(reached, self.n_neighbors - 1e-9)) + 1
        self._n_asked = min(n_asked, n_rows)
        self._search = NearestNeighbors(
            n_neighbors=max(self._n_asked, 1), n_jobs=n_jobs, **search
        ).fit(X)

    def of_training_rows(self) -> Iterator[tuple[slice, sparse.csr_array]]:
        """Rows, a slice at a time, and their counts; a row is no neighbour of itself."""
        n_rows = self._X.shape[0]
        for rows in row_chunks(n_rows, 2 * self._n_asked + 2, _NEIGHBOURS_AT_ONCE):
            part = self._X if rows == slice(0, n_rows) else take_rows(self._X, rows)
            itself = np.arange(rows.start, rows.stop)
            yield rows, self._count(self._nearest_others(part, itself), itself)

    def of(self, X: Any) -> sparse.csr_array:
        """Counts of new rows: sparse float64, of shape (n_samples, n_labels)."""
        if self.n_neighbors == 0:
            return self._none(X.shape[0])
        chunks = row_chunks(X.shape[0], 2 * self._n_asked, _NEIGHBOURS_AT_ONCE)
        counts = [
            self._count(self._search.kneighbors(X[rows], self._n_asked, return_distance=False))
            for rows in chunks
        ]
        return sparse.vstack(counts, format="csr")

    def _nearest_others(self, X: Any, itself: IntArray) -> IntArray:
        """Neighbours of training rows, nearest first, without the rows themselves."""
        n_others = min(self._n_asked, self._X.shape[0] - 1)
        if n_others < 1:
            return np.empty((len(itself), 0), dtype=np.int64)
        found = self._search.kneighbors(X, n_others + 1, return_distance=False)
        others = found != itself[:, None]
        # among many copies of a row it may not be found itself: then the farthest is left out
        others[others.all(axis=1), -1] = False
        return np.asarray(found[others].reshape(len(itself), n_others))

    def _count(self, found: IntArray, itself: IntArray | None = None) -> sparse.csr_array:
        n_rows = len(found)
        if self.n_neighbors == 0:
            return self._none(n_rows)
        if self._weights is None:
            found = found[:, : self.n_neighbors]
            shares = np.ones(found.shape)
        else:
            shares = self._weights[found]
            if itself is not None:  # a row of weight w has w - 1 copies of itself beside it
                copies = np.maximum(self._weights[itself] - 1.0, 0.0)[:, None]
                found, shares = np.hstack([itself[:, None], found]), np.hstack([copies, shares])
            before = np.cumsum(shares, axis=1) - shares
            shares = np.clip(self.n_neighbors - before, 0.0, shares)
        starts = np.arange(n_rows + 1) * found.shape[1]
        shape = (n_rows, self._X.shape[0])
        near = sparse.csr_array((shares.ravel(), found.ravel(), starts), shape=shape)
        return sparse.csr_array(near @ self._Y)

    def _none(self, n_rows: int) -> sparse.csr_array:
        return sparse.csr_array((n_rows, self._Y.shape[1]), dtype=np.float64)
