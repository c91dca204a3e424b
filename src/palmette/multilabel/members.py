"""The small classifiers that multi-label methods are made of: making, fitting and asking them."""

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
from sklearn.utils.parallel import Parallel, delayed

from palmette.core.rows import take_rows
from palmette.core.seeds import seed_each
from palmette.engine.weights import weight_keyword
from palmette.multilabel.c45 import C45Tree
from palmette.multilabel.sorted_rows import SortedRows

__all__ = [
    "ask_classes",
    "ask_positive",
    "fit_member",
    "half_suffices",
    "in_threads",
    "make_members",
    "part_to_fit",
    "part_to_share",
    "rows_to_ask",
    "rows_to_fit",
    "rows_to_share",
]

FloatArray = NDArray[np.float64]


def make_members(estimator: Any, count: int, rng: np.random.RandomState) -> list[Any]:
    """Make unfitted copies of an estimator, each with a seed of its own; `C45Tree` where None."""
    model = C45Tree() if estimator is None else estimator
    members = [clone(model) for _ in range(count)]
    seed_each(members, rng)
    return members


def in_threads(function: Callable[..., Any], jobs: Iterable[Any], n_jobs: int | None) -> list[Any]:
    """Call a function with the arguments of every job; answers stand in their order."""
    with config_context(assume_finite=True):  # X was checked at the door
        answers: list[Any] = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(function)(*job) for job in jobs
        )
    return answers


# ---------------------------------------------------------------------- rows


def _is_tree(estimator: Any) -> bool:
    return estimator is None or isinstance(estimator, C45Tree | BaseDecisionTree)


def rows_to_fit(X: Any, estimator: Any) -> Any:
    """Bring X to the type that the estimator would copy it to at every fit, once for all."""
    if not _is_tree(estimator):
        return _narrow(X)
    if sparse.issparse(X):
        return _narrow(sparse.csc_array(X, dtype=np.float32))
    return np.asfortranarray(X, dtype=np.float32)


def rows_to_share(X: Any, estimator: Any) -> Any:
    """Do for X, once for all members, what each would else do for its part: `C45Tree` sorts it."""
    return SortedRows.of(X) if estimator is None or isinstance(estimator, C45Tree) else X


def part_to_share(X: Any, rows: NDArray[np.intp]) -> Any:
    """Take some of the rows that `rows_to_share` made."""
    return X.take(rows) if isinstance(X, SortedRows) else take_rows(X, rows)


def part_to_fit(X: Any, estimator: Any, rows: NDArray[np.intp] | None = None) -> Any:
    """Take rows that `rows_to_share` made, as members are fitted with them; None takes all."""
    part = X if rows is None else part_to_share(X, rows)
    return part if isinstance(part, SortedRows) else rows_to_fit(part, estimator)


def rows_to_ask(X: Any, estimator: Any) -> Any:
    """Bring X to the type that the estimator would copy it to at every answer."""
    if not _is_tree(estimator):
        return _narrow(X)
    if sparse.issparse(X):
        return _narrow(sparse.csr_array(X, dtype=np.float32))
    return np.ascontiguousarray(X, dtype=np.float32)


def _narrow(X: Any) -> Any:
    """Number the places of a sparse matrix in 32 bits if it is small enough: trees ask for it."""
    if sparse.issparse(X) and X.indices.dtype != np.int32 and X.nnz <= np.iinfo(np.int32).max:
        places = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return type(X)((X.data, *places), shape=X.shape)
    return X


# ---------------------------------------------------------------------- one member


def fit_member(member: Any, X: Any, target: NDArray[Any], weights: FloatArray | None = None) -> Any:
    """Fit a classifier; where the target has one value only, one that always gives that.

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
        blank = np.broadcast_to(np.float32(0.0), X.shape) if isinstance(X, SortedRows) else X
        return DummyClassifier(strategy="prior").fit(blank, target)
    if isinstance(X, SortedRows):
        return member._fit_sorted(X, target, weights)
    keywords = {} if weights is None else {weight_keyword(member): weights}
    return member.fit(X, target, **keywords)


def ask_classes(model: Any, X: Any, n_classes: int) -> FloatArray:
    """Shares of classes 0, 1, ...: probabilities where the model has them, else its one answer.

    Returns
    -------
    array of shape (n_samples, n_classes)
        Zero for classes that the model never saw.
    """
    shares = np.zeros((X.shape[0], n_classes))
    if hasattr(model, "predict_proba"):
        shares[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(X)
    else:
        shares[np.arange(X.shape[0]), np.asarray(model.predict(X), dtype=np.intp)] = 1.0
    return shares


def ask_positive(model: Any, X: Any) -> FloatArray:
    """Probability of class 1 of a model of classes 0 and 1, of shape (n_samples,).

    Where a model has margins only, their logistic: on the same side of one half.
    """
    if hasattr(model, "predict_proba") or not hasattr(model, "decision_function"):
        return ask_classes(model, X, 2)[:, 1]
    margins: FloatArray = expit(model.decision_function(X))
    return margins


def half_suffices(votes: FloatArray) -> FloatArray:
    """Raise shares of votes of just one half a little above it, as ties are decided in MULAN."""
    return np.where(votes == 0.5, np.nextafter(0.5, 1.0), votes)
