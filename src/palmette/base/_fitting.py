"""What a `fit` starts with: sample weights, labels and their hierarchy, threads, presets."""

from __future__ import annotations

import inspect
import itertools
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import assert_all_finite, has_fit_parameter
from threadpoolctl import ThreadpoolController

from palmette._arrays import FloatArray, IntArray, in_memory, take_rows
from palmette._text import caller_level
from palmette.base._answers import NodeSets, OnePath, lists_as_matrix
from palmette.base._foreign import is_pipeline
from palmette.base._one_path import check_single_paths, moved_to, tree_of_learnt
from palmette.exceptions import HierarchyError, LabelError, PalmetteError, PathLabelsWarning
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import distinct, is_padding, shown, sorted_labels
from palmette.labels._labels import NodeLabels, carried_hierarchy
from palmette.labels._space import LabelSpace

_SEVERAL = (tuple, list, set, frozenset)  # rows with more than one label

_MIN_WEIGHT = 1e-20  # as a share of the largest weight; smaller ones vanish in single precision
_MAX_COPIES = 1e6
_DIGITS = 40  # binary digits of weights that are not numbers of copies
_ROUNDING = 2.0**-_DIGITS
_SMALL = 2**22  # numbers of an array from which threads of BLAS pay


# ---------------------------------------------------------------------- sample weights


def check_weights(sample_weight: Any, n_samples: int) -> FloatArray | None:
    """Return relative weights as an array of shape (n_samples,), or None if there are none.

    Only the ratios of weights count: w and c w give the same array up to rounding. Priors,
    regularization and numbers of rows are absolute, so that every fit needs one scale:

    - If all weights are whole multiples of the smallest positive one, they are numbers of copies:
      the smallest is 1, and a weight of k equals k copies of the row.
    - Other weights are scaled to a mean of 1 over the rows of positive weight.

    Examples
    --------
    >>> check_weights([0.25, 0.5, 0], n_samples=3)
    array([1., 2., 0.])
    >>> check_weights([10.0, 15.0, 35.0], n_samples=3)
    array([0.5 , 0.75, 1.75])
    """
    if sample_weight is None:
        return None
    weights = np.asarray(in_memory(sample_weight), dtype=np.float64)
    if weights.shape != (n_samples,):
        raise PalmetteError(
            f"sample_weight has shape {weights.shape}: expected ({n_samples},), one per row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise PalmetteError(
            f"sample_weight[{row}] = {weights[row]}: expected finite numbers of at least 0."
        )
    if not weights.any():
        raise PalmetteError("sample_weight is zero for every row: expected some positive weight.")
    return _relative_weights(weights)


def _relative_weights(weights: FloatArray) -> FloatArray:
    """Return the weights on the scale of `check_weights`, which leaves such weights unchanged."""
    positive = weights[weights > 0]
    smallest, largest = float(positive.min()), float(positive.max())
    if smallest < _MIN_WEIGHT * largest:
        row = int(np.flatnonzero(weights == smallest)[0])
        raise PalmetteError(
            f"sample_weight[{row}] = {smallest} beside a weight of {largest}: expected positive "
            f"weights of at least {_MIN_WEIGHT:g} times the largest. Set smaller ones to 0, which "
            "leaves out their rows."
        )
    if largest <= _MAX_COPIES * smallest:
        copies = weights / smallest
        whole = np.rint(copies)
        if (np.abs(copies - whole) <= _ROUNDING * whole).all():
            return whole
    shares = weights / largest  # whose sum cannot overflow
    factor = len(positive) / float(shares.sum())
    if abs(factor / largest - 1.0) > _ROUNDING:  # otherwise the mean is 1
        weights = shares * factor
    # rounded, so that the last digits, which depend on the scale that they were given in, are equal
    digits, exponents = np.frexp(weights)
    rounded: FloatArray = np.ldexp(np.rint(np.ldexp(digits, _DIGITS)), exponents - _DIGITS)
    return rounded


def used_rows(weights: FloatArray | None) -> NDArray[np.bool_] | None:
    """Return which rows have a positive weight, or None if all have.

    Examples
    --------
    >>> used_rows(np.array([1.0, 0.0]))
    array([ True, False])
    """
    return None if weights is None or weights.all() else weights > 0


def weight_keyword(estimator: Any) -> str:
    """Return the keyword for sample weights of the `fit` of an estimator, or raise an error.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weight_keyword(make_pipeline(StandardScaler(), LogisticRegression()))
    'logisticregression__sample_weight'
    """
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    if _passes_keywords(estimator):
        # metadata routing passes the plain name to the step that requested it
        if get_config()["enable_metadata_routing"]:
            return "sample_weight"
        if is_pipeline(estimator):
            name, last = estimator.steps[-1]
            return f"{name}__{weight_keyword(last)}"
        return weight_keyword(estimator.estimator)
    raise PalmetteError(
        f"sample_weight was given, but {type(estimator).__name__}.fit does not accept it. Use an "
        "estimator that does, or leave out the weights."
    )


def _passes_keywords(estimator: Any) -> bool:
    """Return whether `fit` passes any keyword to an inner estimator, as searches do."""
    parameters = inspect.signature(estimator.fit).parameters.values()
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    return takes_any and (is_pipeline(estimator) or hasattr(estimator, "estimator"))


# ---------------------------------------------------------------------- labels


class ReadLabels(NamedTuple):
    """Labels that were read from y.

    Parameters
    ----------
    labels : NodeLabels
        Of all rows.
    learner : object or None
        The fitted learner of the hierarchy, if there is one.
    """

    labels: NodeLabels
    learner: Any


def read_labels(
    setting: Any,
    X: Any,
    y: Any,
    weights: FloatArray | None = None,
    *,
    takes_matrices: bool = False,
    needs_tree: str | None = None,
) -> ReadLabels:
    """Encode y with the hierarchy that the user set.

    Parameters
    ----------
    setting : Hierarchy, learner of one, or None
        None takes the hierarchy from y.
    X : rows
    y : labels of n_samples rows
        Or `NodeLabels`, which are used unchanged.
    weights : array of shape (n_samples,), optional
        A learner of the hierarchy does not get rows of weight 0.
    takes_matrices : bool
        Whether a list of lists of 0 and 1 is an indicator matrix.
    needs_tree : str, optional
        The estimator, if it has no form for DAGs: of a DAG that is learned it gets a tree.
    """
    learner, y = None, in_memory(y)
    if isinstance(y, NodeLabels):
        _check_same_hierarchy(setting, y.hierarchy)
    else:
        hierarchy, y, learner = _hierarchy_for(setting, X, y, weights, needs_tree)
    if isinstance(y, NodeLabels):  # given so, or read by the learner of the hierarchy
        labels = y
    else:
        y = lists_as_matrix(y, hierarchy) if takes_matrices else y
        labels = NodeLabels.encode(check_target(y), hierarchy)
        if hierarchy is None and carried_hierarchy(y) is None and labels.form.separator is not None:
            _warn_of_paths(labels)
    return ReadLabels(labels, learner)


def _warn_of_paths(labels: NodeLabels) -> None:
    label = next(iter(labels.form.spelling.values()))
    warnings.warn(
        f"labels such as {label!r} are read as paths with the separator "
        f"{labels.form.separator!r}, which gives {labels.hierarchy.n_nodes - 1} nodes below the "
        "root. If they are plain names, pass hierarchy=palmette.Hierarchy.star with all labels. If "
        "they are paths, pass tuples of names, or the hierarchy, to silence this warning.",
        PathLabelsWarning,
        stacklevel=caller_level(),
    )


def path_target(labels: NodeLabels, used: NDArray[np.bool_] | None) -> tuple[OnePath, IntArray]:
    """Return the answers and targets of a model with one path per row.

    Parameters
    ----------
    labels : NodeLabels
        Of all rows, in a tree.
    used : bool array of shape (n_samples,), optional
        Rows that the model is fitted on; None for all.

    Returns
    -------
    OnePath
    int array of shape (n_used,)
        Class of every used row, as a position in ``space.classes``.
    """
    terminals = labels.terminals
    unlabelled = np.flatnonzero(terminals == 0)
    if unlabelled.size:
        raise LabelError(
            f"y[{unlabelled[0]}] names no node below the root ({unlabelled.size} such rows). "
            "Add a label or drop the row."
        )
    classes, codes = np.unique(terminals if used is None else terminals[used], return_inverse=True)
    answers = OnePath(LabelSpace(labels.hierarchy, classes), labels.form)
    return answers, codes.astype(np.int32)


def node_target(labels: NodeLabels) -> tuple[NodeSets, sparse.csr_array]:
    """Return the answers and targets of a model with several paths per row, or a DAG.

    Parameters
    ----------
    labels : NodeLabels
        Of the rows that the model is fitted on.

    Returns
    -------
    NodeSets
    sparse bool array of shape (n_samples, n_columns)
        Columns that are true, ancestors included.
    """
    if not (labels.given.indices > 0).any():
        raise LabelError(
            f"none of the {labels.n_samples} rows of y has a label: expected at least one label."
        )
    answers = NodeSets.of(labels)
    empty = ~np.isin(answers.class_nodes, np.r_[0, answers.nodes])
    if empty.any():
        n_empty = int(empty.sum())
        has, they = ("has", "it is") if n_empty == 1 else ("have", "they are")
        warnings.warn(
            f"{n_empty} of the {len(empty)} columns of y {has} no positive row, e.g. "
            f"{shown(answers.classes[empty][0])}: {they} never predicted.",
            stacklevel=caller_level(),
        )
    n_open = _count_open_rows(labels)
    if n_open:
        warnings.warn(
            f"{n_open} of the {labels.n_samples} rows of y mark a node but not its ancestors, "
            "which are columns too: ancestors are assumed to be true.",
            stacklevel=caller_level(),
        )
    return answers, closed_targets(labels, answers)


def closed_targets(labels: NodeLabels, answers: OnePath | NodeSets) -> sparse.csr_array:
    """Return the nodes that are true of each row: sparse bool, (n_samples, n_columns)."""
    return sparse.csr_array(labels.closed[:, answers.nodes])


def has_several(labels: NodeLabels) -> bool:
    """Return whether nodes are decided separately: several paths per row, none, or a DAG."""
    if not labels.hierarchy.is_tree or not labels.is_single_path:
        return True
    # the root alone, in a matrix that lists it, is a row without labels
    return labels.form.several and bool((labels.terminals == 0).any())


def _count_open_rows(labels: NodeLabels) -> int:
    """Count the rows of a matrix that mark a node but not all of its ancestors.

    Sets and paths may always leave out ancestors; the root need not be marked.
    """
    columns = labels.form.columns
    if columns is None or labels.hierarchy.depth[columns].max(initial=0) <= 1:
        return 0  # nothing but the root is above
    columns = columns[columns > 0]
    gaps = labels.closed[:, columns].sum(axis=1) - labels.given[:, columns].sum(axis=1)
    return int(np.count_nonzero(gaps))


# ---------------------------------------------------------------------- the hierarchy


def given_hierarchy(setting: Any) -> Hierarchy | None:
    """Return the hierarchy that the user set; None if it is found in y or learned."""
    if setting is None or isinstance(setting, Hierarchy):
        return setting
    if hasattr(setting, "fit"):
        return None  # to be learned
    raise HierarchyError(
        f"hierarchy is a {type(setting).__name__}: expected a palmette.Hierarchy (such "
        "as Hierarchy.from_paths(...) or Hierarchy.read(file)), a learner of one (such as "
        "palmette.MFTree()) or None."
    )


def _check_same_hierarchy(setting: Any, hierarchy: Hierarchy) -> None:
    """Raise an error if labels were read with another hierarchy than the one that is set."""
    given = given_hierarchy(setting)
    if given is not None and given != hierarchy:
        raise HierarchyError(
            f"y was read with {hierarchy!r}, but hierarchy={given!r}: expected the same hierarchy."
        )


def _hierarchy_for(
    setting: Any, X: Any, y: Any, weights: FloatArray | None, needs_tree: str | None
) -> tuple[Hierarchy | None, Any, Any]:
    """Return the hierarchy that y is read with, y, and the fitted learner if there is one.

    A learner is fitted on the rows of this fit only, so that cross-validation has no leakage.
    Labels of unused rows may be unknown to the learner: they are replaced in y. Learners that have
    ``learns_from_label_sets`` accept label sets and encode y themselves.
    """
    if setting is None or not hasattr(setting, "fit"):
        return given_hierarchy(setting), y, None
    labels = label_column(y)
    if labels.ndim != 1 or has_rows_of_labels(labels):
        if getattr(setting, "learns_from_label_sets", False):
            learner = clone(setting).fit(X, y, sample_weight=weights)
            # skip_unknown: labels of rows without weight
            known = learner.encode(y, skip_unknown=True)
            if needs_tree is not None and not learner.hierarchy_.is_tree:
                check_single_paths(known, needs_tree)  # before it warns of the tree
                known = moved_to(_tree_of(learner, X, known, needs_tree), known)
            return known.hierarchy, known, learner
        raise LabelError(
            f"hierarchy={setting!r} is learned over labels, but y has paths or sets: expected one "
            "label per row."
        )
    check_consistent_length(X, labels)
    used = used_rows(weights)
    if weights is not None and used is not None:
        X, kept = take_rows(X, np.flatnonzero(used)), labels[used]
        weights, y, labels = weights[used], np.where(used, labels, kept[0]), kept
    learner = clone(setting)
    given = {}
    if weights is not None and has_fit_parameter(learner, "sample_weight"):
        given["sample_weight"] = weights
    learner = learner.fit(X, labels, **given)
    if needs_tree is None:
        return learner.hierarchy_, y, learner
    known = NodeLabels.encode(labels, learner.hierarchy_)
    return _tree_of(learner, X, known, needs_tree), y, learner


def _tree_of(learner: Any, X: Any, labels: NodeLabels, who: str) -> Hierarchy:
    return tree_of_learnt(learner, X, labels, who)


def label_column(y: Any) -> NDArray[Any]:
    """Return y as an array, in which labels of several types are not converted to strings."""
    if not isinstance(y, list | tuple):
        return np.asarray(y)
    types = set(map(type, y))
    is_text = {issubclass(each, str | bytes) for each in types}
    if len(is_text) == 1 and not any(issubclass(each, _SEVERAL) for each in types):
        return np.asarray(y)
    return np.fromiter(y, dtype=object, count=len(y))


def has_rows_of_labels(y: NDArray[Any]) -> bool:
    """Return whether rows of a column are paths or sets, not labels."""
    return y.dtype == object and any(isinstance(row, _SEVERAL) for row in y.tolist())


def sorted_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct labels of a column, by type and value, and the position of each row's.

    Examples
    --------
    >>> sorted_classes(np.array(["b", 2, "a"], dtype=object))
    (array([2, 'a', 'b'], dtype=object), array([2, 0, 1]))
    """
    if y.dtype != object:
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes
    found, codes = distinct(y.tolist())
    for code, label in enumerate(found):
        if is_padding(label):
            row = int(np.flatnonzero(codes == code)[0])
            raise LabelError(f"y[{row}] is missing ({label!r}). Fill it in or drop the row.")
    rank = {label: i for i, label in enumerate(sorted_labels(found))}
    classes = np.fromiter(rank, dtype=object, count=len(rank))
    return classes, np.array([rank[label] for label in found], dtype=np.intp)[codes]


def check_target(y: Any) -> Any:
    """Raise the errors and warnings of scikit-learn for an invalid y."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=caller_level(),
        )
    if getattr(getattr(y, "dtype", None), "kind", "") == "f" and y.ndim == 1:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
    return y


# ---------------------------------------------------------------------- jobs and threads


def check_jobs(estimator: Any) -> None:
    """Raise an error for an invalid `n_jobs` or `verbose` of an estimator, where it has them."""
    n_jobs, verbose = getattr(estimator, "n_jobs", None), getattr(estimator, "verbose", 0)
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise PalmetteError(
            f"n_jobs={n_jobs!r}: expected a number of jobs, -1 for one per processor, or None."
        )
    if not isinstance(verbose, Integral) and type(verbose).__name__ != "bool":  # of numpy
        raise PalmetteError(
            f"verbose={verbose!r}: expected 0 to print nothing, 1 for progress, 2 for more."
        )


def run_jobs(
    function: Callable[..., Any],
    jobs: Iterable[Sequence[Any]],
    n_jobs: int | None,
    prefer: str | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Call a function with the arguments of every job, here or in parallel.

    Parameters
    ----------
    function : callable
    jobs : iterable of sequences
        The arguments of each call, made when a worker is free.
    n_jobs, prefer, verbose
        As in joblib. With one job the calls are plain, and progress is printed here: joblib would
        copy scikit-learn's configuration and the filters of warnings for each of them, and early
        versions print nothing. BLAS has one thread while a job
        is small, as in the workers of joblib: its threads would mostly wait for each other.

    Returns
    -------
    list
        In the order of the jobs.

    Examples
    --------
    >>> run_jobs(pow, [(2, 3), (3, 2)], n_jobs=None)
    [8, 9]
    """
    if effective_n_jobs(n_jobs) == 1:
        results: list[Any] = []
        for job in jobs:
            results.append(_call(function, job))
            n = len(results)
            if verbose > 10 or (verbose and n & (n - 1) == 0):  # 1, 2, 4, ...
                print(f"Done {n} tasks", file=sys.stderr, flush=True)
        if verbose:
            print(f"Done all {len(results)} tasks", file=sys.stderr, flush=True)
        return results
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, verbose=verbose)
    return list(parallel(delayed(function)(*job) for job in jobs))


def _call(function: Callable[..., Any], job: Sequence[Any]) -> Any:
    with one_thread_if_small(_n_dense(tuple(job))):
        return function(*job)


def one_thread_if_small(n_values: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS has one thread if its largest table is small.

    Examples
    --------
    >>> with one_thread_if_small(100):
    ...     float(np.ones(2) @ np.ones(2))
    2.0
    """
    if n_values > _SMALL:
        return nullcontext()
    return one_blas_thread()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS has one thread, as `threadpool_limits` does.

    To look for all libraries that have threads takes milliseconds. They come with imports: as long
    as no module is imported, there are no others.
    """
    global _pools
    n_modules = len(sys.modules)
    if _pools is None or _pools[0] != n_modules:
        _pools = n_modules, ThreadpoolController()
    return _pools[1].limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


_pools: tuple[int, ThreadpoolController] | None = None  # number of modules, and what they have


def _n_dense(value: Any) -> int:
    """Return the number of values of the largest dense table in a job, in tuples too."""
    if isinstance(value, tuple):
        return max(map(_n_dense, value), default=0)
    is_table = hasattr(value, "shape") and not sparse.issparse(value)
    return int(np.prod(value.shape)) if is_table else 0


class Threads:
    """A team of threads that is kept during a fit, so that no round has to start threads.

    The thread that calls takes a part of the work itself. A call from within the work of the team
    is done by the thread that calls: levels of parallel work share the threads.

    Parameters
    ----------
    n_jobs : int, optional
        As in joblib; inside a parallel worker of joblib there may be fewer.

    Examples
    --------
    >>> with Threads(2) as threads:
    ...     threads.map(abs, [-1, -2, -3])
    [1, 2, 3]
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = effective_n_jobs(n_jobs)
        self._team: list[tuple[threading.Thread, SimpleQueue[Any]]] = []
        self._free = threading.Lock()

    def map(self, function: Callable[..., Any], items: Iterable[Any]) -> list[Any]:
        """Return the results of a function for all items, in their order.

        A thread that is done with an item takes the next one.
        """
        given = list(items)
        return self._results(lambda i: function(given[i]), len(given), self.n_threads)

    def share(self, function: Callable[[int, int], Any], n: int, most: int) -> list[Any]:
        """Return the results of ``function(start, stop)`` for ranges that make up 0 to n.

        At most `most` threads work, and there are two ranges for each of them, since some threads
        wake up late. What is computed from the results must not depend on the ranges.

        Examples
        --------
        >>> Threads(1).share(lambda start, stop: (start, stop), 10, most=4)
        [(0, 10)]
        """
        n_threads = min(self.n_threads, n, most)
        if n_threads <= 1 or self._free.locked():
            return [function(0, n)]
        n_parts = min(n, 2 * n_threads)
        bounds = [n * i // n_parts for i in range(n_parts + 1)]
        return self._results(lambda i: function(bounds[i], bounds[i + 1]), n_parts, n_threads)

    def _results(self, function: Callable[[int], Any], n: int, n_threads: int) -> list[Any]:
        """Return the results of a function for the numbers below n, by at most some threads."""
        results: dict[int, Any] = {}
        errors: dict[int, BaseException] = {}
        numbers = itertools.count()

        def work() -> None:
            while not errors and (i := next(numbers)) < n:
                try:
                    results[i] = function(i)
                except BaseException as error:
                    errors[i] = error

        self._run(work, min(n_threads, n))
        if errors:
            raise errors[min(errors)]
        return [results[i] for i in range(n)]

    def _run(self, work: Callable[[], None], n_threads: int) -> None:
        """Call a function in some threads, if they are free, until there is nothing left to do.

        When it returns here, threads that have not begun yet would find nothing to do, and are not
        waited for.
        """
        if n_threads <= 1 or not self._free.acquire(blocking=False):
            work()
            return
        try:
            while len(self._team) < n_threads - 1:
                tasks: SimpleQueue[Any] = SimpleQueue()
                thread = threading.Thread(target=_serve, args=(tasks,), daemon=True)
                thread.start()
                self._team.append((thread, tasks))
            begun: list[None] = []
            done: SimpleQueue[None] = SimpleQueue()
            for _, tasks in self._team[: n_threads - 1]:
                tasks.put((work, begun, done))
            try:
                work()
            finally:
                n_done = 0
                while n_done < len(begun):  # more may begin, and be done at once
                    done.get()
                    n_done += 1
        finally:
            self._free.release()

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *error: object) -> None:
        for _, tasks in self._team:
            tasks.put(None)
        for thread, _ in self._team:
            thread.join()
        self._team = []


def _serve(tasks: SimpleQueue[Any]) -> None:
    """Do the tasks of a thread until there is None."""
    while (task := tasks.get()) is not None:
        work, begun, done = task
        begun.append(None)
        work()
        done.put(None)
        del task, work  # which hold arrays of the fit
