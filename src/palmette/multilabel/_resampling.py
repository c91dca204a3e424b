"""What resamplers share: imbalanced-learn's interface, without need of that package."""

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

from palmette._arrays import count_rows, take_rows
from palmette.exceptions import LabelError, PalmetteError
from palmette.labels._containers import unwrap
from palmette.labels._labels import NodeLabels

__all__ = ["MLROS", "MLRUS", "MLSMOTE", "Resampler", "check_share", "chosen_rows", "is_minority"]


class Resampler(BaseEstimator):  # type: ignore[misc]
    """Base of resamplers of multi-label data.

    imbalanced-learn's pipelines know a sampler by its method `fit_resample`. A subclass gives
    `_fit_resample`.
    """

    _estimator_type = "sampler"

    def _check_parameters(self) -> None:
        """Refuse bad parameters."""

    def _check_features(self, X: Any) -> None:
        """Refuse bad features; rows of any kind will do where they are only chosen among."""
        if len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, skip_check_array=True)

    def _fit_resample(self, X: Any, y: Any, labels: NodeLabels) -> tuple[Any, Any]:
        """Resample data that are checked; X and y are as they came."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Any:
        """Check parameters and data; `fit_resample` does the work.

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
        """Resample.

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
        labels = NodeLabels.encode(y)
        if count_rows(X) != labels.n_samples:
            raise LabelError(f"X has {count_rows(X)} rows and y {labels.n_samples}: must match.")
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.no_validation = True
        return tags


def check_share(share: Any, *, below_one: bool = False) -> None:
    """Refuse what is no share of the rows."""
    number = float(share) if isinstance(share, Real) else np.nan
    if not number > 0 or (below_one and number >= 1):
        expected = "between 0 and 1" if below_one else "above 0"
        raise PalmetteError(f"got share={share!r}: expected a number {expected}.")


def is_minority(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Labels that are rarer than usual: IRLbl above MeanIR, of those that some row has."""
    present = np.asarray(counts > 0)
    if not present.any():
        return present
    ratios = np.where(present, counts.max() / np.maximum(counts, 1), 0.0)
    # equal ratios are not above their mean, whatever rounding says
    return np.asarray(present & (ratios > ratios[present].mean() * (1 + 1e-12)))


def chosen_rows(X: Any, y: Any, rows: NDArray[np.intp]) -> tuple[Any, Any]:
    """Take rows of X and y, numbered anew where they have an index."""
    tables = (table.tocsr() if sparse.issparse(table) else table for table in (X, y))
    taken = (take_rows(table, rows) for table in tables)
    X_rows, y_rows = (t.reset_index(drop=True) if hasattr(t, "iloc") else t for t in taken)
    return X_rows, y_rows


class MLROS(Resampler):
    """Random over-sampling of multi-label data: rows of rare labels are copied.

    A label is rare if its imbalance ratio is above the mean (`palmette.metrics.imbalance_ratios`).
    Rare labels take turns: of each a random row is copied, until the label's ratio, copies
    included, is down at that mean, or until enough rows are added.

    Parameters
    ----------
    share : float, default=0.25
        Copies over rows, at most.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    sample_indices_ : int array of shape (n_resampled,)
        Rows of X: all of them, then the copies.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera (2015). Addressing imbalance in multilabel
    classification: measures and random resampling algorithms. Neurocomputing 163.

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
        bags = np.split(by_label.indices, by_label.indptr[1:-1])
        counts = np.diff(by_label.indptr).astype(np.int64)
        present = counts > 0
        rare = np.flatnonzero(is_minority(counts)).tolist()
        usual = (counts.max() / counts[present]).mean() if rare else 0.0
        left = int(self.share * labels.n_samples)
        copies: list[int] = []
        while rare and len(copies) < left:
            for label in rare[: left - len(copies)]:
                row = bags[label][random.randint(len(bags[label]))]
                counts[of_row[row]] += 1
                copies.append(row)
            rare = [label for label in rare if counts.max() / counts[label] > usual]
        return np.asarray(copies, dtype=np.intp)


class MLRUS(Resampler):
    """Random under-sampling of multi-label data: rows of frequent labels alone are dropped.

    A label is rare if its imbalance ratio is above the mean (`palmette.metrics.imbalance_ratios`).
    Rows with a rare label are all kept; of the others some are dropped at random.

    Parameters
    ----------
    share : float, default=0.25
        Rows to drop over rows; fewer are dropped where too many have rare labels.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    sample_indices_ : int array of shape (n_resampled,)
        Rows of X that are kept, ascending.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera (2015). Addressing imbalance in multilabel
    classification: measures and random resampling algorithms. Neurocomputing 163.

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
