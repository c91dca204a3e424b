"""Rows with the labels of a chain beside the features: one matrix for all steps of the chain.

There is a column for every label of the chain from the start; those that are not yet known are
zero, which no classifier learns from. So nothing is copied from step to step, and sparse rows stay
sparse.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.multilabel.members import rows_to_fit
from palmette.multilabel.sorted_rows import SortedRows

__all__ = ["AskedChain", "TaughtChain"]


class TaughtChain:
    """Training rows of a chain, in which the labels before each step are the true ones.

    Parameters
    ----------
    X : array, CSR matrix or SortedRows of shape (n_rows, n_features)
    Y : sparse bool array of shape (n_rows, n_labels)
        Columns in the order of the chain.
    estimator : classifier or None
        Base of the chain, which says what type of rows suits it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> Y = sparse.csr_array(np.array([[1, 1], [0, 1]]))
    >>> chain = TaughtChain(np.array([[7.0], [8.0]]), Y, LogisticRegression())
    >>> chain.step(1)[0].tolist()
    [[7.0, 1.0, 0.0], [8.0, 0.0, 0.0]]
    """

    def __init__(self, X: Any, Y: sparse.csr_array, estimator: Any) -> None:
        self._labels = sparse.csc_array(Y)
        self._n_features = X.shape[1]
        if isinstance(X, SortedRows):
            ends = self._labels.indptr
            flags = [self._labels.indices[a:b] for a, b in itertools.pairwise(ends.tolist())]
            self._rows = X.with_flags(flags)
        elif sparse.issparse(X):
            both = sparse.hstack([X, self._labels.astype(X.dtype)], format="csc")
            self._rows = rows_to_fit(both, estimator)
        else:
            blank = np.zeros((X.shape[0], Y.shape[1]), dtype=X.dtype)
            self._rows = rows_to_fit(np.hstack([X, blank]), estimator)

    def step(self, place: int) -> tuple[Any, NDArray[np.int8]]:
        """Return the rows and the targets of one step; steps are asked for in their order."""
        target = self._column(place)
        if isinstance(self._rows, SortedRows):
            return self._rows.first_columns(self._n_features + place), target
        if not sparse.issparse(self._rows):
            if place:
                self._rows[:, self._n_features + place - 1] = self._column(place - 1)
            return self._rows, target
        rows, known = self._rows, self._n_features + place
        if rows.format != "csc":
            rows = self._rows = sparse.csc_array(rows)
        end = rows.indptr[known]
        starts = np.minimum(rows.indptr, end)  # columns from here on are empty
        return sparse.csc_array((rows.data[:end], rows.indices[:end], starts), rows.shape), target

    def _column(self, place: int) -> NDArray[np.int8]:
        return np.asarray(self._labels[:, [place]].toarray().ravel(), dtype=np.int8)


class AskedChain:
    """Rows to answer, to which every step adds what it found.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    n_labels : int

    Attributes
    ----------
    matrix : array or CSR matrix of shape (n_rows, n_features + n_labels)
        Changed in place by `tell`.
    """

    def __init__(self, X: Any, n_labels: int) -> None:
        self._n_labels = n_labels
        shape = (X.shape[0], n_labels)
        if sparse.issparse(X):
            # a place for every label of every row, at the end of the row
            places = sparse.csr_array(np.ones(shape, dtype=X.dtype))
            self.matrix = sparse.hstack([X, places], format="csr")
            self._places = self.matrix.indptr[1:, None] - n_labels + np.arange(n_labels)
            self.matrix.data[self._places] = 0
        else:
            self.matrix = np.hstack([X, np.zeros(shape, dtype=X.dtype)])

    def tell(self, place: int, votes: NDArray[np.bool_]) -> None:
        """Set the label at a place of the chain, for all rows."""
        if sparse.issparse(self.matrix):
            self.matrix.data[self._places[:, place]] = votes
        else:
            self.matrix[:, place - self._n_labels] = votes
