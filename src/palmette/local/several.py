"""A binary estimator at every node, where rows have several paths or the hierarchy is a DAG."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from palmette.core.coherence import NodeColumns
from palmette.core.rows import count_rows, take_rows
from palmette.core.seeds import seed_each
from palmette.engine.weights import weight_keyword
from palmette.local.scores import option_scores

__all__ = ["fit_columns", "proba_of_columns"]

FloatArray = NDArray[np.float64]


def fit_columns(
    X: Any,
    Y: sparse.csr_array,
    columns: NodeColumns,
    estimator_for: Callable[[int], Any],
    *,
    below_parents: bool,
    dag_rule: str,
    weights: FloatArray | None,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
) -> dict[int, Any]:
    """Fit an estimator for every column, on the rows that may have its node.

    Parameters
    ----------
    X : rows
    Y : sparse bool array of shape (n_samples, n_columns)
        Closed upwards.
    columns : NodeColumns
    estimator_for : callable
        Gives the unfitted estimator of a node number.
    below_parents : bool
        Whether a node is told from rows that have its parents only, or from all rows.
    dag_rule : {"all", "any"}
        Which parents a row must have.
    weights : array of shape (n_samples,), optional
    random_state, n_jobs, verbose
        As in `fit_tasks`.

    Returns
    -------
    dict of int to estimator
        By node number; nodes that all of their rows have need none.
    """
    by_column = sparse.csc_array(Y)
    seen_by = [
        _rows_below(by_column, parents, dag_rule) if below_parents else None
        for parents in _parents_of(columns)
    ]
    sizes = np.diff(by_column.indptr)
    totals = [Y.shape[0] if seen is None else len(seen) for seen in seen_by]
    wanted = [j for j in range(columns.n_columns) if sizes[j] < totals[j]]
    estimators = [clone(estimator_for(int(columns.nodes[j]))) for j in wanted]
    names = [] if weights is None else [weight_keyword(estimator) for estimator in estimators]
    if random_state is not None:
        seed_each(estimators, random_state)

    def jobs() -> Iterator[tuple[Any, Any, NDArray[np.int32], dict[str, Any]]]:
        for t, j in enumerate(wanted):
            flags = np.zeros(Y.shape[0], dtype=np.int32)
            flags[by_column.indices[by_column.indptr[j] : by_column.indptr[j + 1]]] = 1
            seen = seen_by[j]
            part = X if seen is None else take_rows(X, seen)
            mine = flags if seen is None else flags[seen]
            given = {}
            if weights is not None:
                given = {names[t]: weights if seen is None else weights[seen]}
            yield estimators[t], part, mine, given

    if effective_n_jobs(n_jobs) == 1 or len(wanted) <= 1:
        fitted = [_fit_one(*job) for job in jobs()]
    else:
        fitted = Parallel(n_jobs=n_jobs, verbose=verbose)(delayed(_fit_one)(*j) for j in jobs())
    return {int(columns.nodes[j]): estimator for j, estimator in zip(wanted, fitted, strict=True)}


def _fit_one(estimator: Any, X: Any, flags: NDArray[np.int32], given: dict[str, FloatArray]) -> Any:
    return estimator.fit(X, flags, **given)


def _parents_of(columns: NodeColumns) -> list[NDArray[np.int32]]:
    """Columns of the parents of every column; none for the root."""
    parents: list[list[int]] = [[] for _ in range(columns.n_columns)]
    for parent, child in columns.edges.tolist():
        parents[child].append(parent)
    return [np.asarray(each, dtype=np.int32) for each in parents]


def _rows_below(
    by_column: sparse.csc_array, parents: NDArray[np.int32], dag_rule: str
) -> NDArray[np.int32] | None:
    """Rows that have all the parents, or one of them; None for all rows."""
    if not len(parents):
        return None
    starts = by_column.indptr
    rows = [by_column.indices[starts[p] : starts[p + 1]] for p in parents]
    counts = np.bincount(np.concatenate(rows), minlength=by_column.shape[0])
    least = len(parents) if dag_rule == "all" else 1
    return np.flatnonzero(counts >= least).astype(np.int32)


def proba_of_columns(
    X: Any, columns: NodeColumns, estimators: dict[int, Any], *, below_parents: bool, dag_rule: str
) -> FloatArray:
    """Probabilities of all columns: (n_samples, n_columns).

    Where a node was told from rows that have its parents, its probability is its share of the least
    probable parent, or of the most probable one where one suffices.
    """
    proba = np.ones((count_rows(X), columns.n_columns))
    for j, parents in enumerate(_parents_of(columns)):  # parents come before children
        estimator = estimators.get(int(columns.nodes[j]))
        if estimator is not None:
            proba[:, j] = _proba_of(estimator, X)
        if below_parents and len(parents):
            above = proba[:, parents]
            proba[:, j] *= above.min(axis=1) if dag_rule == "all" else above.max(axis=1)
    return proba


def _proba_of(estimator: Any, X: Any) -> FloatArray:
    scores = option_scores(estimator, X, np.array([0, 1], dtype=np.int32))
    if scores.are_margins:
        return np.asarray(expit(scores.values[:, 1] - scores.values[:, 0]))
    return scores.values[:, 1]
