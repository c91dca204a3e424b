"""Base classifiers of multi-label methods: creating, fitting, predicting, and sampling of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.tree import BaseDecisionTree

from palmette._arrays import (
    FloatArray,
    check_single_precision,
    row_chunks,
    seed_each,
    short_indices,
    take_rows,
)
from palmette.base._fitting import run_jobs, weight_keyword
from palmette.base._foreign import (
    Where,
    anywhere,
    classes_of,
    fit_foreign,
    margins_of,
    predicted_by,
    proba_of,
)
from palmette.base._parameters import check_classifier
from palmette.multilabel._c45 import C45Tree, SortedRows, rows_of_trees
from palmette.trees._random import STRIDE, mix_array

Hashes = NDArray[np.uint64]
IntArray = NDArray[np.intp]
Drawn = tuple[IntArray, "FloatArray | None"]

_MAX_DRAWS = 20  # of one unit in a bootstrap: more have a probability below 1e-18
_MAX_UNITS = 64  # of one row, whatever its weight


def make_members(estimator: Any, count: int, rng: np.random.RandomState) -> list[Any]:
    """Return unfitted copies of an estimator (`C45Tree` if None), each with a seed of its own."""
    check_classifier(estimator)
    model = C45Tree() if estimator is None else estimator
    members = [clone(model) for _ in range(count)]
    seed_each(members, rng)
    return members


def in_threads(
    function: Callable[..., Any], jobs: Iterable[Any], n_jobs: int | None, verbose: int = 0
) -> list[Any]:
    """Call a function with the arguments of every job; return the results in order."""
    with config_context(assume_finite=True):  # X has been validated
        return run_jobs(function, jobs, n_jobs, "threads", verbose)


# ---------------------------------------------------------------------- rows


def _is_tree(estimator: Any) -> bool:
    return estimator is None or isinstance(estimator, C45Tree | BaseDecisionTree)


def rows_to_fit(X: Any, estimator: Any) -> Any:
    """Convert X once to the type that the estimator would convert it to in every fit."""
    if not _is_tree(estimator):
        return short_indices(X) if sparse.issparse(X) else X
    check_single_precision(X)
    if sparse.issparse(X):
        return short_indices(sparse.csc_array(X, dtype=np.float32))
    return np.asfortranarray(X, dtype=np.float32)


def rows_to_share(X: Any, estimator: Any) -> Any:
    """Prepare X once for all members: sort its columns if they are `C45Tree`."""
    return SortedRows.of(X) if estimator is None or isinstance(estimator, C45Tree) else X


def part_to_share(X: Any, rows: NDArray[np.intp]) -> Any:
    """Take some of the rows that `rows_to_share` returned."""
    return X.take(rows) if isinstance(X, SortedRows) else take_rows(X, rows)


def part_to_fit(X: Any, estimator: Any, rows: NDArray[np.intp] | None = None) -> Any:
    """Take rows that `rows_to_share` returned, in the type of `rows_to_fit`; None takes all."""
    part = X if rows is None else part_to_share(X, rows)
    return part if isinstance(part, SortedRows) else rows_to_fit(part, estimator)


def rows_to_predict(X: Any, estimator: Any) -> Any:
    """Convert X once to the type that the estimator would convert it to in every prediction."""
    if not _is_tree(estimator):
        return short_indices(X) if sparse.issparse(X) else X
    return rows_of_trees(X)


# ---------------------------------------------------------------------- one member


def fit_member(member: Any, X: Any, target: NDArray[Any], weights: FloatArray | None = None) -> Any:
    """Fit a classifier; if the target is constant, a constant classifier instead.

    Parameters
    ----------
    member : unfitted classifier
    X : array, sparse matrix or SortedRows of shape (n_rows, n_features)
    target : int or bool array of shape (n_rows,)
    weights : array of shape (n_rows,), optional

    Returns
    -------
    fitted classifier
    """
    if (target == target[0]).all():
        zeros = np.broadcast_to(np.float32(0.0), X.shape) if isinstance(X, SortedRows) else X
        return DummyClassifier(strategy="prior").fit(zeros, target)
    if isinstance(X, SortedRows):
        return member._fit_sorted(X, target, weights)
    keywords = {} if weights is None else {weight_keyword(member): weights}
    return fit_foreign(member, X, target, **keywords)


def class_proba(model: Any, X: Any, n_classes: int, where: Where = anywhere) -> FloatArray:
    """Return probabilities of classes 0, 1, ..., or 1 for the predicted class without them.

    Returns
    -------
    array of shape (n_samples, n_classes)
        Zero for classes that the model was not fitted on.
    """
    shares = np.zeros((X.shape[0], n_classes))
    if isinstance(model, C45Tree) and X.dtype == np.float32:  # as `rows_to_predict` returns rows
        known = model.tree_.predict_proba(X, check_input=False)
        shares[:, np.asarray(model.classes_, dtype=np.intp)] = known
    elif hasattr(model, "predict_proba"):
        known = classes_of(model, np.arange(n_classes), where).astype(np.intp)
        shares[:, known] = proba_of(model, X, where)
    else:
        shares[np.arange(X.shape[0]), predicted_by(model, X, where).astype(np.intp)] = 1.0
    return shares


def positive_proba(model: Any, X: Any, where: Where = anywhere) -> FloatArray:
    """Return the probability of class 1 of a binary model, of shape (n_samples,).

    If the model has margins only, their logistic function, on the same side of one half.
    """
    if hasattr(model, "predict_proba") or not hasattr(model, "decision_function"):
        return class_proba(model, X, 2, where)[:, 1]
    return np.asarray(expit(margins_of(model, X, where)))


def ties_to_positive(votes: FloatArray) -> FloatArray:
    """Replace exactly one half by the next larger number: ties are positive, as in MULAN."""
    return np.where(votes == 0.5, np.nextafter(0.5, 1.0), votes)


# ---------------------------------------------------------------------- samples of rows


class RowDraws:
    """Draw samples of weighted rows.

    A row consists of units of weight one, and a last unit with the rest of its weight. Units are
    drawn by hashes of the rows, so that a sample does not depend on the order of the rows.

    Parameters
    ----------
    X : float array or CSR matrix of shape (n_samples, n_features)
    weights : array of shape (n_samples,), optional
        All positive.

    Notes
    -----
    A sample is a pair of row indices and their weights or None. Without weights, the index of a row
    that is drawn twice occurs twice, so that any estimator can be fitted on the sample.

    Examples
    --------
    >>> draws = RowDraws(np.arange(8.0)[:, None])
    >>> rows, weights = draws.subsample(seed=0, share=0.5)
    >>> len(rows), weights
    (4, None)
    """

    def __init__(self, X: Any, weights: FloatArray | None = None) -> None:
        hashes = hash_rows(X)
        self._weights = weights
        if weights is None:
            self._rows = np.arange(len(hashes))
            self._sizes = np.ones(len(hashes))
        else:
            counts = np.minimum(np.ceil(weights - 1e-9), _MAX_UNITS).astype(np.int64).clip(min=1)
            self._rows = np.repeat(np.arange(len(hashes)), counts)
            self._sizes = np.ones(len(self._rows))
            last = np.cumsum(counts) - 1
            whole = np.minimum(weights, counts) - (counts - 1)  # weight of the last unit
            self._sizes[last] = whole
            self._sizes *= (weights / np.minimum(weights, counts))[self._rows]
        self._hashes = _mix(hashes[self._rows] + _earlier_equals(hashes[self._rows]))

    def bootstrap(self, seed: int) -> Drawn:
        """Draw each unit a number of times that is Poisson-distributed with mean 1."""
        factorials = np.cumprod(np.r_[1.0, np.arange(1.0, _MAX_DRAWS)])
        cumulative = np.cumsum(np.exp(-1.0) / factorials)
        return self._take(np.searchsorted(cumulative, self._uniform(seed), side="right"))

    def subsample(self, seed: int, share: float) -> Drawn:
        """Draw a proportion of the units, by weight and without replacement; at least one."""
        everything = np.zeros(len(self._weights) if self._weights is not None else len(self._rows))
        return self.balanced(seed, everything.astype(np.int8), share * float(self._sizes.sum()))

    def balanced(self, seed: int, codes: NDArray[np.int8], size: float) -> Drawn:
        """Draw units of every class without replacement, up to a total weight of `size` each.

        Parameters
        ----------
        seed : int
        codes : int array of shape (n_samples,)
            Class of every row.
        size : float
        """
        draws, of_units = self._uniform(seed), codes[self._rows]
        counts = np.zeros(len(draws), dtype=np.int64)
        for code in np.unique(codes).tolist():
            units = np.flatnonzero(of_units == code)
            units = units[np.argsort(draws[units], kind="stable")]
            reached = np.cumsum(self._sizes[units])
            counts[units[: int(np.searchsorted(reached, size * (1.0 - 1e-9))) + 1]] = 1
        return self._take(counts)

    def _uniform(self, seed: int) -> FloatArray:
        """Return a uniform random number from 0 to 1 for every unit."""
        return _mix(self._hashes ^ _mix(np.array([seed], dtype=np.uint64))) / 2.0**64

    def _take(self, counts: NDArray[np.int64]) -> Drawn:
        """Return the sample of the units drawn; all units if none was drawn."""
        if not counts.any():
            counts = np.ones_like(counts)
        if self._weights is None:
            return np.repeat(self._rows, counts), None
        sizes = counts * self._sizes
        drawn = np.asarray(
            np.bincount(self._rows, sizes, minlength=len(self._weights)), dtype=np.float64
        )
        rows = np.flatnonzero(drawn)
        return rows, drawn[rows]


def hash_rows(X: Any) -> Hashes:
    """Return hashes of the values of each row, of shape (n_samples,).

    Parameters
    ----------
    X : float array or CSR matrix of shape (n_samples, n_features)

    Examples
    --------
    >>> a, b, c = hash_rows(np.array([[0.0, 2.0], [0.0, 2.0], [2.0, 0.0]]))
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    n_rows, n_columns = X.shape
    hashes = np.empty(n_rows, dtype=np.uint64)
    for rows in row_chunks(n_rows, n_columns, at_once=2**20):
        part = sparse.csr_array(X[rows])
        part.sum_duplicates()
        part.eliminate_zeros()
        bits = part.data.astype(np.float64).view(np.uint64)
        mixed = _mix(bits ^ _mix(part.indices.astype(np.uint64)))
        # sums are modulo 2**64: differences of cumulative sums are correct despite overflow
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
        hashes[rows] = running[part.indptr[1:]] - running[part.indptr[:-1]]
    return hashes


def _earlier_equals(hashes: Hashes) -> Hashes:
    """Return the number of earlier elements equal to each element."""
    order = np.argsort(hashes, kind="stable")
    new = np.r_[True, np.diff(hashes[order]) != 0]
    starts = np.flatnonzero(new)[np.cumsum(new) - 1]
    earlier = np.empty(len(hashes), dtype=np.uint64)
    earlier[order] = np.arange(len(hashes)) - starts
    return earlier


def _mix(values: Hashes) -> Hashes:
    """Apply a bijective hash function to 64-bit numbers."""
    return np.asarray(mix_array(values + STRIDE))
