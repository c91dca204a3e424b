"""Fit a table of local tasks, in parallel, with any scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from palmette.core.rows import take_rows
from palmette.core.tasks import Task, TaskRows, TaskTable
from palmette.exceptions import PalmetteError

__all__ = ["fit_tasks", "weight_keyword"]

EstimatorFor = Callable[[Task], Any]


def fit_tasks(
    table: TaskTable,
    X: Any,
    codes: NDArray[np.int32],
    estimator_for: EstimatorFor,
    *,
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
    if random_state is not None:
        seed_each(estimators, random_state)
    jobs = zip(table.tasks, estimators, strict=True)
    if effective_n_jobs(n_jobs) == 1 or len(table) == 1:
        return [_fit_one(est, X, *rows.select(task), sample_weight) for task, est in jobs]
    fitted: list[Any] = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_fit_one)(est, X, *rows.select(task), sample_weight) for task, est in jobs
    )
    return fitted


def _fit_one(
    estimator: Any,
    X: Any,
    rows: NDArray[np.int32],
    options: NDArray[np.int32],
    sample_weight: NDArray[np.float64] | None,
) -> Any:
    keywords = {}
    if sample_weight is not None:
        keywords[weight_keyword(estimator)] = sample_weight[rows]
    return estimator.fit(take_rows(X, rows), options, **keywords)


def weight_keyword(estimator: Any) -> str:
    """Name under which an estimator's `fit` takes sample weights; an error where it takes none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_keyword(make_pipeline(StandardScaler(), LogisticRegression()))
    'logisticregression__sample_weight'
    """
    # with metadata routing a pipeline hands the plain name on to whoever requested it
    if isinstance(estimator, Pipeline) and not get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        return f"{name}__{weight_keyword(last)}"
    if isinstance(estimator, Pipeline) or has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    raise PalmetteError(
        f"sample_weight was given, but {type(estimator).__name__}.fit does not take it. Use an "
        "estimator that does, or leave the weights out."
    )


def seed_each(estimators: Sequence[Any], random_state: Any) -> None:
    """Give every estimator, and every part of it that has one, a random_state of its own."""
    rng = check_random_state(random_state)
    for estimator in estimators:
        seeds = {
            name: int(rng.randint(np.iinfo(np.int32).max))
            for name in sorted(estimator.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        if seeds:
            estimator.set_params(**seeds)
