"""MLSMOTE: new rows with rare labels, between those that are there."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from palmette.core.containers import unwrap
from palmette.core.labels import NodeLabels
from palmette.exceptions import PalmetteError
from palmette.multilabel._resampler import Resampler, is_minority

__all__ = ["MLSMOTE"]

Rows = NDArray[np.intp]


class MLSMOTE(Resampler):
    """Synthetic over-sampling of multi-label data.

    A label is rare if its imbalance ratio is above the mean (`palmette.metrics.imbalance_ratios`).
    For each row of a rare label its nearest neighbours are found among the rows of that label; a
    new row lies between it and one of them, drawn at random, feature by feature, and has the labels
    that more than half of the row and its neighbours have. A label of a single row stays alone.

    Parameters
    ----------
    n_neighbors : int, default=5
        Fewer, where a label has fewer other rows.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        For finding neighbours.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera (2015). MLSMOTE: approaching imbalanced
    multilabel learning through synthetic instance generation. Knowledge-Based Systems 89.

    Notes
    -----
    Distances are Euclidean: scale features that are not alike. All features are taken as numbers;
    encode categories first.

    Examples
    --------
    >>> X, y = np.array([[0.0], [0.0], [0.0], [1.0], [2.0]]), [{"a"}, {"a"}, {"a"}, {"b"}, {"b"}]
    >>> X_more, y_more = MLSMOTE(random_state=0).fit_resample(X, y)
    >>> X_more[5:].round(2).tolist(), y_more[5:]
    ([[1.55], [1.28]], [{'b'}, {'b'}])
    """

    def __init__(
        self, *, n_neighbors: int = 5, random_state: Any = None, n_jobs: int | None = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        k = self.n_neighbors
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise PalmetteError(f"got n_neighbors={k!r}: expected an integer from 1 on.")

    def _check_features(self, X: Any) -> None:
        self._numbers(X, reset=True)

    def _numbers(self, X: Any, *, reset: bool) -> Any:
        kinds = (np.float64, np.float32)
        return validate_data(self, X, accept_sparse="csr", dtype=kinds, reset=reset)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        numbers = self._numbers(X, reset=False)
        random = check_random_state(self.random_state)
        closed = labels.closed
        by_node = closed.tocsc()
        counts = np.diff(by_node.indptr).astype(np.int64)
        counts[0] = 0  # the root is no label
        features, sets = [numbers], [closed]
        for node in np.flatnonzero(is_minority(counts)).tolist():
            rows = by_node.indices[by_node.indptr[node] : by_node.indptr[node + 1]]
            if len(rows) > 1:
                near = self._neighbours(numbers[rows])
                chosen = near[np.arange(len(rows)), random.randint(near.shape[1], size=len(rows))]
                features.append(_between(numbers[rows], numbers[rows[chosen]], random))
                sets.append(_majority(closed[rows], near))
        return _joined(X, features), _written(labels, sparse.vstack(sets, format="csr"))

    def _neighbours(self, rows: Any) -> Rows:
        """Return neighbours of every row among the others, of shape (n_rows, n_neighbours)."""
        from sklearn.neighbors import NearestNeighbors

        k = min(int(self.n_neighbors), rows.shape[0] - 1)
        search = NearestNeighbors(n_neighbors=k, n_jobs=self.n_jobs).fit(rows)
        near: Rows = search.kneighbors(return_distance=False)  # of the rows themselves: others only
        return near

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = False
        return tags


def _between(first: Any, second: Any, random: np.random.RandomState) -> Any:
    """Return rows between two, a random part of the way for every feature."""
    step = second - first
    if sparse.issparse(step):
        step = step.tocsr()
        step.data *= random.random_sample(step.nnz).astype(step.dtype)
    else:
        step *= random.random_sample(step.shape).astype(step.dtype)
    return first + step


def _majority(closed: sparse.csr_array, near: Rows) -> sparse.csr_array:
    """Return the nodes that more than half of each row and its neighbours have."""
    n_rows, k = near.shape
    members = np.column_stack([np.arange(n_rows), near])
    starts = np.arange(0, members.size + 1, k + 1)
    ones = np.ones(members.size, dtype=np.int32)
    gather = sparse.csr_array((ones, members.ravel(), starts), shape=(n_rows, n_rows))
    votes = sparse.csr_array(gather @ closed.astype(np.int32))
    votes.data = (2 * votes.data > k + 1).astype(np.int32)
    votes.eliminate_zeros()
    return votes.astype(bool)


def _joined(X: Any, features: list[Any]) -> Any:
    """Put the blocks of rows one below the other, in the form of X."""
    if sparse.issparse(X):
        return sparse.vstack(features).asformat(X.format)
    values = np.concatenate(features)
    _, container = unwrap(X)
    if container.library not in ("pandas", "polars", "pyarrow"):
        return values
    return replace(container, dtype=(None,) * values.shape[1]).wrap(values)


def _written(labels: NodeLabels, closed: sparse.csr_array) -> Any:
    """Write nodes, ancestors included, in the form in which y came."""
    closed.sort_indices()
    hierarchy, form = labels.hierarchy, labels.form
    every = NodeLabels(hierarchy, closed, form)
    if not form.lists_ancestors:
        return NodeLabels(hierarchy, every.specific, form).decode()
    if not labels.given[:, [0]].nnz:
        closed = closed.tolil()
        closed[:, 0] = False
    return NodeLabels(hierarchy, closed.tocsr(), form).decode()
