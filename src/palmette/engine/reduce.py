"""Fit a table of local tasks, in parallel, with any scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from palmette.core.rows import take_cells
from palmette.core.seeds import seed_each
from palmette.core.tasks import Task, TaskRows, TaskTable
from palmette.engine.weights import weight_keyword

__all__ = ["fit_tasks", "seed_each"]

EstimatorFor = Callable[[Task], Any]
ColumnsFor = Callable[[Task], NDArray[np.intp] | None]


def fit_tasks(
    table: TaskTable,
    X: Any,
    codes: NDArray[np.int32],
    estimator_for: EstimatorFor,
    *,
    columns_for: ColumnsFor | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Fit an estimator on the rows of every task; its targets are the options' node numbers.

    Parameters
    ----------
    table : TaskTable
    X : array, sparse matrix, DataFrame or list of n_samples rows
    codes : int array of shape (n_samples,)
        Class of every row.
    estimator_for : callable
        Gives the unfitted estimator of a task.
    columns_for : callable, optional
        Gives the columns of X that a task's estimator sees, None for all.
    sample_weight : array of shape (n_samples,), optional
    random_state : int, RandomState or None
        If not None, every task's estimator gets a seed of its own, drawn before any is fitted, so
        that the order in which tasks run changes nothing. None leaves the estimators' own.
    n_jobs : int, optional
        Tasks fitted at a time, in processes; -1 for all cores.
    verbose : int
        Passed to joblib.

    Returns
    -------
    list of fitted estimators, one a task
    """
    rows = TaskRows(codes, table.n_classes)
    estimators = [clone(estimator_for(task)) for task in table.tasks]
    names = [] if sample_weight is None else [weight_keyword(est) for est in estimators]
    if random_state is not None:
        seed_each(estimators, random_state)

    def jobs() -> Iterator[tuple[Any, Any, NDArray[np.int32], dict[str, Any]]]:
        # rows are cut out here, one task ahead of the work: a worker gets no more than it needs
        for t, task in enumerate(table.tasks):
            seen, options = rows.select(task)
            weights = {} if sample_weight is None else {names[t]: sample_weight[seen]}
            columns = None if columns_for is None else columns_for(task)
            yield estimators[t], take_cells(X, seen, columns), options, weights

    if effective_n_jobs(n_jobs) == 1 or len(table) == 1:
        return [_fit_one(*job) for job in jobs()]
    fitted: list[Any] = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_fit_one)(*job) for job in jobs()
    )
    return fitted


def _fit_one(
    estimator: Any, X: Any, options: NDArray[np.int32], weights: dict[str, NDArray[np.float64]]
) -> Any:
    return estimator.fit(X, options, **weights)
