"""The estimators of local tasks: which one a task gets, fitting them, and scores of its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone

from palmette._arrays import FloatArray, IntArray, count_rows, seed_each, take_cells
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
from palmette.decisions._decode import normalize_rows
from palmette.exceptions import HierarchyError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import Task, TaskRows, TaskTable

EstimatorFor = Callable[[Task], Any]
ColumnsFor = Callable[[Task], NDArray[np.intp] | None]

DEFAULT = "default"  # key of the estimator for all tasks that a dict does not name


# ---------------------------------------------------------------------- choosing estimators


@dataclass(frozen=True)
class TaskKey:
    """Names of a task, by which its estimator is chosen.

    Parameters
    ----------
    name : str or int
        Argument of a function that makes estimators: the path of a node, or a depth.
    depth : int
    node : int or None
        Node number; None for a task of a whole level.
    """

    name: Any
    depth: int
    node: int | None


def default_estimator() -> Any:
    """Return the estimator that is used if none is given."""
    from sklearn.linear_model import LogisticRegression  # which imports all linear models

    return LogisticRegression(max_iter=1000)


def known_estimators(given: Any) -> list[Any]:
    """Return the estimators that are known before fitting: none where a function makes them."""
    if given is None:
        return [default_estimator()]
    if isinstance(given, dict):
        return list(given.values())
    return [given] if hasattr(given, "fit") and not inspect.isclass(given) else []


def estimator_chooser(
    given: Any, hierarchy: Hierarchy, *, by_node: bool, is_given: bool
) -> Callable[[TaskKey], Any]:
    """Return a function from the key of a task to its unfitted estimator.

    Parameters
    ----------
    given : estimator, dict, callable or None
        As the user passed it.
    hierarchy : Hierarchy
    by_node : bool
        Whether tasks belong to nodes, so that the keys of a dict can name nodes.
    is_given : bool
        Whether the user passed the hierarchy, so that a key that is not in it is an error. A
        hierarchy found in y may lack rare nodes, as in a fold of cross-validation.
    """
    if isinstance(given, dict):
        return _dict_chooser(given, hierarchy, by_node, is_given)
    if given is None:
        given = default_estimator()
    if inspect.isclass(given):
        name = given.__name__
        raise PalmetteError(f"estimator is the class {name}: expected an instance, {name}().")
    if hasattr(given, "fit"):
        return lambda key: given
    if callable(given):
        return lambda key: _call_factory(given, key)
    raise PalmetteError(
        f"estimator is a {type(given).__name__}: expected a scikit-learn classifier, a dict of "
        "them by node or depth, or a function that returns one."
    )


def _call_factory(factory: Callable[[Any], Any], key: TaskKey) -> Any:
    estimator = factory(key.name)
    if not hasattr(estimator, "fit") or inspect.isclass(estimator):
        raise PalmetteError(
            f"the estimator function returned {estimator!r} for {key.name!r}: expected a "
            "scikit-learn classifier."
        )
    return estimator


def _dict_chooser(
    given: dict[Any, Any], hierarchy: Hierarchy, by_node: bool, is_given: bool
) -> Callable[[TaskKey], Any]:
    at_node: dict[int, Any] = {}
    at_depth: dict[int, Any] = {}
    for key, estimator in given.items():
        if isinstance(key, Integral):
            at_depth[int(key)] = estimator
        elif by_node and key in hierarchy:
            at_node[hierarchy.index(key)] = estimator
        elif key != DEFAULT and (is_given or not by_node):
            raise HierarchyError(_describe_key(key, hierarchy, by_node))

    def choose(key: TaskKey) -> Any:
        if key.node in at_node:
            return at_node[key.node]
        if key.depth in at_depth:
            return at_depth[key.depth]
        if DEFAULT in given:
            return given[DEFAULT]
        raise PalmetteError(
            f"estimator has no entry for {key.name!r} (depth {key.depth}) among "
            f"{sorted(map(str, given))}. Add it, or a {DEFAULT!r}."
        )

    return choose


def _describe_key(key: Any, hierarchy: Hierarchy, by_node: bool) -> str:
    if not by_node:
        return (
            f"estimator has the key {key!r}: expected depths, from 1 to {hierarchy.max_depth}, or "
            f"{DEFAULT!r}."
        )
    return (
        f"estimator has the key {key!r}, which is not a node of the hierarchy (or the name of "
        f"several). Expected the path of a node, a depth as an int, or {DEFAULT!r}."
    )


# ---------------------------------------------------------------------- fitting tasks


def fit_tasks(
    table: TaskTable,
    X: Any,
    codes: IntArray,
    estimator_for: EstimatorFor,
    *,
    columns_for: ColumnsFor | None = None,
    sample_weight: FloatArray | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    client: Any = None,
) -> list[Any]:
    """Fit one estimator per task; its classes are the node numbers of the options.

    Parameters
    ----------
    table : TaskTable
    X : array, sparse matrix, DataFrame or list of n_samples rows
    codes : int array of shape (n_samples,)
        Class of every row.
    estimator_for : callable
        Returns the unfitted estimator of a task.
    columns_for : callable, optional
        Returns the columns of X that the estimator of a task uses, None for all.
    sample_weight : array of shape (n_samples,), optional
    random_state : int, RandomState or None
        If not None, the estimator of every task gets its own seed. Seeds are drawn before the
        first fit, so the result does not depend on the order of the tasks. With None the
        estimators keep their ``random_state``.
    n_jobs, verbose, client
        As in `fit_parts`.

    Returns
    -------
    list of fitted estimators, one per task
    """
    rows = TaskRows(codes, table.n_classes)
    estimators = [clone(estimator_for(task)) for task in table.tasks]
    names = [] if sample_weight is None else [weight_keyword(est) for est in estimators]
    if random_state is not None:
        seed_each(estimators, random_state)

    def parts() -> Iterator[Part]:
        for t, task in enumerate(table.tasks):
            seen, options = rows.select(task)
            columns = None if columns_for is None else columns_for(task)
            # a task of all rows, such as that of a flat classifier, needs no copy of them; but on
            # a worker, where arrays of a message may lie at other addresses, it has other last bits
            whole = len(seen) == len(codes) and client is None
            part = None if whole else seen
            yield Part(estimators[t], part, columns, options, names[t] if names else None)

    return fit_parts(X, sample_weight, parts(), len(table), n_jobs, verbose, client)


class Part(NamedTuple):
    """An estimator, and the cells of X that it is fitted to.

    Parameters
    ----------
    estimator : estimator
    rows : int array of shape (n_part,) or None
        None for all rows.
    columns : int array or None
        None for all columns.
    target : int array of shape (n_part,)
    weight_name : str or None
        Keyword of its `fit` for the weights of the rows; None if there are no weights.
    """

    estimator: Any
    rows: IntArray | None
    columns: NDArray[np.intp] | None
    target: IntArray
    weight_name: str | None


def fit_parts(
    X: Any,
    sample_weight: FloatArray | None,
    parts: Iterator[Part],
    n_parts: int,
    n_jobs: int | None,
    verbose: int,
    client: Any,
) -> list[Any]:
    """Fit one estimator per part of X.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or list of n_samples rows
    sample_weight : array of shape (n_samples,), optional
    parts : iterator of Part
    n_parts : int
    n_jobs : int, optional
        Number of estimators fitted in parallel processes; -1 for all cores.
    verbose : int
        Passed to joblib.
    client : distributed.Client or str, optional
        Cluster on whose workers they are fitted instead. X is sent to every worker once.

    Returns
    -------
    list of fitted estimators
    """
    if client is not None:
        from palmette.base._clients import connected
        from palmette.base._cluster import map_on

        listed = list(parts)
        sizes = [len(part.target) for part in listed]
        with connected(client) as cluster:
            return map_on(cluster, _fit_part, (X, sample_weight), listed, sizes=sizes)
    # rows are selected lazily: a worker process gets only the rows of its task
    jobs = (_cells_of(X, sample_weight, *part) for part in parts)
    return run_jobs(_fit_one, jobs, 1 if n_parts <= 1 else n_jobs, verbose=verbose)


def _fit_part(X: Any, sample_weight: FloatArray | None, *part: Any) -> Any:
    return _fit_one(*_cells_of(X, sample_weight, *part))


def _cells_of(
    X: Any,
    sample_weight: FloatArray | None,
    estimator: Any,
    rows: IntArray | None,
    columns: NDArray[np.intp] | None,
    target: IntArray,
    weight_name: str | None,
) -> tuple[Any, Any, IntArray, dict[str, FloatArray]]:
    weights = {}
    if sample_weight is not None and weight_name is not None:
        weights = {weight_name: sample_weight if rows is None else sample_weight[rows]}
    return estimator, take_cells(X, rows, columns), target, weights


def _fit_one(estimator: Any, X: Any, target: IntArray, weights: dict[str, FloatArray]) -> Any:
    return fit_foreign(estimator, X, target, **weights)


# ---------------------------------------------------------------------- scores of options


class Scores(NamedTuple):
    """Scores of options: probabilities, or margins where the estimator has no probabilities.

    Parameters
    ----------
    values : array of shape (n_samples, n_options)
    are_margins : bool
    """

    values: FloatArray
    are_margins: bool

    def shares(self) -> FloatArray:
        """Return the probabilities of the estimator, or the softmax of its margins."""
        return _softmax(self.values) if self.are_margins else self.values

    def among(self, cells: Any) -> FloatArray:
        """Return probabilities among some options, those of `cells`, which sum to one.

        The softmax is taken over the margins of these options only: after a softmax over all
        options those far from the best one could all be zero.
        """
        chosen = self.values[cells]
        return _softmax(chosen) if self.are_margins else normalize_rows(chosen)


def gives_proba(estimator: Any) -> bool:
    """Return whether an estimator has probabilities."""
    return hasattr(estimator, "predict_proba")


def option_scores(estimator: Any, X: Any, options: IntArray, where: Where = anywhere) -> Scores:
    """Return scores of every option: probabilities, else margins, else predictions as 0 and 1.

    Parameters
    ----------
    estimator : fitted scikit-learn classifier
    X : rows
    options : int array of shape (n_options,)
        Node numbers, ascending. Those that are not classes of the estimator have probability 0.
    where : callable, optional
        Writes where the estimator stands, for errors.
    """
    if not hasattr(estimator, "classes_"):  # no row of this task has come to `partial_fit`
        return Scores(np.full((count_rows(X), len(options)), 1 / len(options)), False)
    known = classes_of(estimator, options, where)
    are_margins = False
    if gives_proba(estimator):
        values = proba_of(estimator, X, where)
    elif hasattr(estimator, "decision_function"):
        values = margins_of(estimator, X, where)
        if values.ndim == 1:  # of the second of two classes
            values = np.column_stack([np.zeros(len(values)), values])
        are_margins = True
    else:
        values = (predicted_by(estimator, X, where)[:, None] == known).astype(np.float64)
    if np.array_equal(known, options):
        return Scores(values, are_margins)
    aligned = np.full((len(values), len(options)), -np.inf if are_margins else 0.0)
    aligned[:, np.searchsorted(options, known)] = values
    return Scores(aligned, are_margins)


def _softmax(margins: FloatArray) -> FloatArray:
    return np.asarray(softmax(margins, axis=1))
