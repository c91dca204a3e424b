"""MLROS, MLRUS and MLSMOTE: resampling of multi-label data, with imbalanced-learn's interface."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from palmette._arrays import count_rows, read_rows, take_rows
from palmette.exceptions import LabelError, PalmetteError
from palmette.labels._containers import unwrap
from palmette.labels._labels import NodeLabels

Rows = NDArray[np.intp]


class Resampler(BaseEstimator):  # type: ignore[misc]
    """Base of resamplers of multi-label data.

    imbalanced-learn's pipelines recognize a sampler by its method `fit_resample`. Subclasses
    implement `_fit_resample`. imbalanced-learn itself is not needed.
    """

    _estimator_type = "sampler"

    def _check_parameters(self) -> None:
        """Raise an error for invalid parameters."""

    def _check_features(self, X: Any) -> None:
        """Raise an error for invalid features; rows that are only selected may be of any kind."""
        if len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, skip_check_array=True)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        """Resample checked data; X and y are in their original form."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Any:
        """Check parameters and data, without resampling.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : labels of n_samples rows, in any form that `NodeLabels.encode` reads

        Returns
        -------
        self
        """
        self._check(X, y)
        return self

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Resample the data.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : labels of n_samples rows, in any form that `NodeLabels.encode` reads

        Returns
        -------
        X_resampled, y_resampled : in the form of X and of y
        """
        return self._fit_resample(X, y, self._check(X, y))

    def _check(self, X: Any, y: Any) -> NodeLabels:
        self._check_parameters()
        if y is None:
            name = type(self).__name__
            raise LabelError(f"{name} requires y to be passed, but the target y is None.")
        self._check_features(X)
        labels = NodeLabels.encode(y, flat=True)
        if count_rows(X) != labels.n_samples:
            raise LabelError(
                f"X has {count_rows(X)} rows and y has {labels.n_samples}: expected equal numbers."
            )
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.no_validation = True
        return tags


class MLROS(Resampler):
    """Random oversampling of multi-label data: rows of rare labels are copied.

    A label is rare if its imbalance ratio is above the mean (`palmette.metrics.imbalance_ratios`).
    In turn, a random row of each rare label is copied, until the ratio of the label, copies
    included, is not above that mean, or until enough rows are added.

    Parameters
    ----------
    share : float, default=0.25
        Maximum number of copies, as a proportion of the number of rows.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    sample_indices_ : int array of shape (n_resampled,)
        Indices of rows of X: all rows, then the copies.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera (2015). Addressing imbalance in multilabel
    classification: measures and random resampling algorithms. Neurocomputing 163.
    doi:10.1016/j.neucom.2014.08.091

    Examples
    --------
    >>> X, y = np.arange(5)[:, None], [{"a"}, {"a"}, {"a"}, {"a"}, {"b"}]
    >>> X_more, y_more = MLROS(random_state=0).fit_resample(X, y)
    >>> X_more.ravel().tolist(), y_more[-1]
    ([0, 1, 2, 3, 4, 4], {'b'})
    """

    def __init__(self, *, share: float = 0.25, random_state: Any = None) -> None:
        self.share = share
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_share(self.share)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        copies = self._copies(labels)
        self.sample_indices_ = np.concatenate([np.arange(labels.n_samples), copies])
        return chosen_rows(X, y, self.sample_indices_)

    def _copies(self, labels: NodeLabels) -> NDArray[np.intp]:
        random = check_random_state(self.random_state)
        flags = labels.closed[:, 1:]
        of_row = np.split(flags.indices, flags.indptr[1:-1])
        by_label = flags.tocsc()
        rows_of_label = np.split(by_label.indices, by_label.indptr[1:-1])
        counts = np.diff(by_label.indptr).astype(np.int64)
        present = counts > 0
        rare = np.flatnonzero(is_minority(counts)).tolist()
        mean_ratio = (counts.max() / counts[present]).mean() if rare else 0.0
        n_left = int(self.share * labels.n_samples)
        copies: list[int] = []
        while rare and len(copies) < n_left:
            for label in rare[: n_left - len(copies)]:
                row = rows_of_label[label][random.randint(len(rows_of_label[label]))]
                counts[of_row[row]] += 1
                copies.append(row)
            rare = [label for label in rare if counts.max() / counts[label] > mean_ratio]
        return np.asarray(copies, dtype=np.intp)


class MLRUS(Resampler):
    """Random undersampling of multi-label data: rows without rare labels are dropped.

    A label is rare if its imbalance ratio is above the mean (`palmette.metrics.imbalance_ratios`).
    All rows with a rare label are kept; some of the others are dropped at random.

    Parameters
    ----------
    share : float, default=0.25
        Proportion of rows to drop; fewer are dropped if too many rows have rare labels.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    sample_indices_ : int array of shape (n_resampled,)
        Indices of the rows of X that are kept, ascending.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera (2015). Addressing imbalance in multilabel
    classification: measures and random resampling algorithms. Neurocomputing 163.
    doi:10.1016/j.neucom.2014.08.091

    Examples
    --------
    >>> X, y = np.arange(5)[:, None], [{"a"}, {"a"}, {"a"}, {"a"}, {"b"}]
    >>> X_fewer, y_fewer = MLRUS(share=0.4, random_state=0).fit_resample(X, y)
    >>> y_fewer
    [{'a'}, {'a'}, {'b'}]
    """

    def __init__(self, *, share: float = 0.25, random_state: Any = None) -> None:
        self.share = share
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_share(self.share, below_one=True)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        flags = labels.closed[:, 1:]
        counts = np.bincount(flags.indices, minlength=flags.shape[1])
        has_rare = flags @ is_minority(counts)
        free = np.flatnonzero(~has_rare)
        n_dropped = min(int(self.share * labels.n_samples), len(free))
        random = check_random_state(self.random_state)
        dropped = random.choice(free, n_dropped, replace=False) if n_dropped else free[:0]
        self.sample_indices_ = np.setdiff1d(np.arange(labels.n_samples), dropped)
        return chosen_rows(X, y, self.sample_indices_)


class MLSMOTE(Resampler):
    """Synthetic oversampling of multi-label data.

    A label is rare if its imbalance ratio is above the mean (`palmette.metrics.imbalance_ratios`).
    For each row of a rare label, its nearest neighbours are found among the rows of that label. A
    new row is interpolated between the row and one of them, drawn at random, per feature, and has
    the labels of more than half of the row and its neighbours. A label of a single row is skipped.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours; reduced for labels with fewer rows.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Number of jobs of the neighbour search.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera (2015). MLSMOTE: approaching imbalanced
    multilabel learning through synthetic instance generation. Knowledge-Based Systems 89.
    doi:10.1016/j.knosys.2015.07.019

    Notes
    -----
    Distances are Euclidean: scale the features first. All features are treated as numbers; encode
    categories first.

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
            raise PalmetteError(f"n_neighbors={k!r}: expected a positive integer.")

    def _check_features(self, X: Any) -> None:
        self._numbers(X, reset=True)

    def _numbers(self, X: Any, *, reset: bool) -> Any:
        kinds = (np.float64, np.float32)
        return read_rows(X, self, dtype=kinds, reset=reset)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        numbers = self._numbers(X, reset=False)
        random = check_random_state(self.random_state)
        closed = labels.closed
        by_node = closed.tocsc()
        counts = np.diff(by_node.indptr).astype(np.int64)
        counts[0] = 0  # the root is not a label
        features, sets = [numbers], [closed]
        for node in np.flatnonzero(is_minority(counts)).tolist():
            rows = by_node.indices[by_node.indptr[node] : by_node.indptr[node + 1]]
            if len(rows) > 1:
                neighbours = self._neighbours(numbers[rows])
                chosen = neighbours[
                    np.arange(len(rows)), random.randint(neighbours.shape[1], size=len(rows))
                ]
                features.append(_between(numbers[rows], numbers[rows[chosen]], random))
                sets.append(_majority(closed[rows], neighbours))
        return _joined(X, features), _written(labels, sparse.vstack(sets, format="csr"))

    def _neighbours(self, rows: Any) -> Rows:
        """Return the neighbours of every row among the others, (n_rows, n_neighbours)."""
        from sklearn.neighbors import NearestNeighbors

        k = min(int(self.n_neighbors), rows.shape[0] - 1)
        search = NearestNeighbors(n_neighbors=k, n_jobs=self.n_jobs).fit(rows)
        # without an argument, a row is not a neighbour of itself
        neighbours: Rows = search.kneighbors(return_distance=False)
        return neighbours

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = False
        return tags


def _between(first: Any, second: Any, random: np.random.RandomState) -> Any:
    """Return rows interpolated between two, with a random factor per feature."""
    step = second - first
    if sparse.issparse(step):
        step = step.tocsr()
        step.data *= random.random_sample(step.nnz).astype(step.dtype)
    else:
        step *= random.random_sample(step.shape).astype(step.dtype)
    return first + step


def _majority(closed: sparse.csr_array, neighbours: Rows) -> sparse.csr_array:
    """Return the nodes of more than half of each row and its neighbours."""
    n_rows, k = neighbours.shape
    members = np.column_stack([np.arange(n_rows), neighbours])
    starts = np.arange(0, members.size + 1, k + 1)
    ones = np.ones(members.size, dtype=np.int32)
    gather = sparse.csr_array((ones, members.ravel(), starts), shape=(n_rows, n_rows))
    votes = sparse.csr_array(gather @ closed.astype(np.int32))
    votes.data = (2 * votes.data > k + 1).astype(np.int32)
    votes.eliminate_zeros()
    return votes.astype(bool)


def _joined(X: Any, features: list[Any]) -> Any:
    """Concatenate blocks of rows, in the form of X."""
    if sparse.issparse(X):
        return sparse.vstack(features).asformat(X.format)
    values = np.concatenate(features)
    _, container = unwrap(X)
    if container.library not in ("pandas", "polars", "pyarrow"):
        return values
    return replace(container, dtype=(None,) * values.shape[1]).wrap(values)


def _written(labels: NodeLabels, closed: sparse.csr_array) -> Any:
    """Return nodes, given with their ancestors, in the form of y."""
    closed.sort_indices()
    hierarchy, form = labels.hierarchy, labels.form
    every = NodeLabels(hierarchy, closed, form)
    if not form.lists_ancestors:
        return NodeLabels(hierarchy, every.specific, form).decode()
    if not labels.given[:, [0]].nnz:
        closed = closed.tolil()
        closed[:, 0] = False
    return NodeLabels(hierarchy, closed.tocsr(), form).decode()


def is_minority(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which labels are rare: present, with an imbalance ratio (IRLbl) above the mean."""
    present = np.asarray(counts > 0)
    if not present.any():
        return present
    ratios = np.where(present, counts.max() / np.maximum(counts, 1), 0.0)
    # equal ratios must not exceed their mean by rounding errors
    return np.asarray(present & (ratios > ratios[present].mean() * (1 + 1e-12)))


def check_share(share: Any, *, below_one: bool = False) -> None:
    """Raise an error unless the number is a valid proportion of rows."""
    number = float(share) if isinstance(share, Real) else np.nan
    if not number > 0 or (below_one and number >= 1):
        expected = "between 0 and 1" if below_one else "above 0"
        raise PalmetteError(f"share={share!r}: expected a number {expected}.")


def chosen_rows(X: Any, y: Any, rows: NDArray[np.intp]) -> tuple[Any, Any]:
    """Take rows of X and y, with a new index if they have one."""
    tables = (table.tocsr() if sparse.issparse(table) else table for table in (X, y))
    taken = (take_rows(table, rows) for table in tables)
    X_rows, y_rows = (t.reset_index(drop=True) if hasattr(t, "iloc") else t for t in taken)
    return X_rows, y_rows
