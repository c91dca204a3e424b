"""Fit models on data sets: a comparison of models, or a hierarchy learned over the labels."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from palmette._arrays import count_rows
from palmette.compare._comparison import COSTS, Comparison
from palmette.compare._measure import environment, measure
from palmette.compare._preparing import prepare
from palmette.compare._problems import Problem, Split, make_splits
from palmette.compare._scores import DEFAULT_SCORES, Score, find_scores
from palmette.compare._store import ResultStore, describe_estimator, fingerprint
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.models._registry import ModelContext, ModelSpec, find_models
from palmette.models._tree_learners import find_tree_learner, make_tree_learner
from palmette.table._group_names import columns_with_words, name_groups

Watch = Callable[[str, str, str], None]
Receive = Callable[[Split, str, Any], None]


def compare(
    problems: Iterable[Problem],
    models: Sequence[str],
    scores: Sequence[str] = DEFAULT_SCORES,
    *,
    n_splits: int | None = None,
    test_size: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    store: ResultStore | None = None,
    watch: Watch | None = None,
    receive: Receive | None = None,
    client: Any = None,
) -> Comparison:
    """Fit and score every model on every split of every problem.

    Numerical libraries use one thread, so that CPU seconds can be compared.

    Parameters
    ----------
    problems : iterable of Problem
    models : sequence of str
        Names in the registry.
    scores : sequence of str
    n_splits : int, optional
        Number of random splits. By default the published split is used where there is one; of other
        tables the folds of `fit_table`, and of other arrays three random splits.
    test_size : float, optional
        Share of test rows in random splits, by default 0.3; if it is given, there are no folds.
    seed : int
        Seed of splits and models.
    n_jobs : int, optional
        Number of jobs of the models; it changes no score. Peak memory excludes worker processes.
    store : ResultStore, optional
        Cells in it are not computed again, unless something that they depend on has changed:
        data, split, model, versions, machine or number of jobs.
    watch : callable, optional
        Called with (data set, split, model) before each cell is computed.
    receive : callable, optional
        Called with (split, model, predicted labels) after each cell is computed.
    client : distributed.Client or str, optional
        Dask cluster, or the address of its scheduler, on whose workers the cells are computed. For
        CPU seconds that can be compared, workers have one thread and equal processors.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> X, y = np.repeat(np.eye(4), 10, axis=0), np.repeat(["a/x", "a/y", "b/x", "b/y"], 10)
    >>> h = Hierarchy.from_paths([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])
    >>> found = compare([Problem("toy", h, X, y)], ["flat-naive-bayes"], n_splits=2)
    >>> [row["hierarchical_f1"] for row in found.rows]
    [1.0, 1.0]
    """
    run = _Run(find_models(models), find_scores(scores), n_jobs, store, watch, receive, client)
    for problem in problems:
        run.add(problem, n_splits, test_size, seed)
    return run.comparison


class _Run:
    """A running comparison."""

    def __init__(
        self,
        specs: list[ModelSpec],
        scores: dict[str, Score],
        n_jobs: int | None,
        store: ResultStore | None,
        watch: Watch | None,
        receive: Receive | None,
        client: Any,
    ) -> None:
        self._specs, self._scores, self._n_jobs = specs, scores, n_jobs
        self._store = ResultStore() if store is None else store
        self._watch, self._receive, self._client = watch, receive, client
        facts = {**environment(), "n_jobs": 1 if n_jobs is None else n_jobs}
        if client is not None:
            facts["cluster"] = "dask"
        self.comparison = Comparison([], tuple(scores), [spec.name for spec in specs], [], facts)

    def add(
        self, problem: Problem, n_splits: int | None, test_size: float | None, seed: int
    ) -> None:
        """Compute all cells of a problem."""
        if problem.name in self.comparison.datasets:
            raise PalmetteError(
                f"got two data sets named {problem.name!r}: expected different names. Rename one."
            )
        _require_fit(problem, self._specs)
        data = fingerprint(problem)
        self.comparison.datasets.append(problem.name)
        self.comparison.estimators[problem.name] = {}
        splits = make_splits(problem, n_splits, test_size, seed)
        if self._client is None:
            for split in splits:
                for spec in self._specs:
                    self._finish(*self._begin(problem, data, split, spec), problem, split, spec)
            return
        self._compute_on(self._client, problem, data, list(splits))

    def _begin(self, problem: Problem, data: str, split: Split, spec: ModelSpec) -> tuple[Any, Any]:
        """Return what a cell depends on, and its stored results or None."""
        described = describe_estimator(_make(problem, split, spec, bare=True))
        self.comparison.estimators[problem.name].setdefault(spec.name, described)
        row = _row_of(problem, split, spec)
        cell = {**row, "data": data, "estimator": described, "made_with": self.comparison.facts}
        results = self._store.get(cell)
        if results is None or any(name not in results for name in self._scores):
            changes = self._store.changes(cell)
            if changes:
                note = f"computed again, as these have changed: {', '.join(changes)}"
                self._note(problem, split, spec, note)
            return cell, None
        return cell, results

    def _finish(
        self, cell: Any, results: Any, problem: Problem, split: Split, spec: ModelSpec
    ) -> None:
        """Add a cell to the comparison, and compute it if it is not stored."""
        if results is None:
            results = self._compute(problem, split, spec)
            self._store.put(cell, results)
        self._list(results, problem, split, spec)

    def _compute(self, problem: Problem, split: Split, spec: ModelSpec) -> dict[str, Any]:
        if self._watch is not None:
            self._watch(problem.name, split.name, spec.name)
        results, predicted = compute_cell(problem, split, spec, self._scores, self._n_jobs)
        if self._receive is not None:
            self._receive(split, spec.name, predicted)
        return results

    def _list(
        self, results: dict[str, Any], problem: Problem, split: Split, spec: ModelSpec
    ) -> None:
        for note in results["notes"]:
            self._note(problem, split, spec, note)
        row = _row_of(problem, split, spec)
        self.comparison.rows.append({**row, **{k: results[k] for k in (*self._scores, *COSTS)}})

    def _note(self, problem: Problem, split: Split, spec: ModelSpec, note: str) -> None:
        place = {"dataset": problem.name, "split": split.name}
        self.comparison.notes.append({**place, "model": spec.name, "note": note})

    def _compute_on(self, client: Any, problem: Problem, data: str, splits: list[Split]) -> None:
        """Compute the cells that are not stored on the workers of a cluster.

        A cell is stored as soon as it is done; they are listed in the order of splits and models.
        """
        from palmette.base._clients import connected
        from palmette.base._cluster import each_on

        places = [(s, m) for s in range(len(splits)) for m in range(len(self._specs))]
        begun = [self._begin(problem, data, splits[s], self._specs[m]) for s, m in places]
        results = [stored for _, stored in begun]
        wanted = [i for i, stored in enumerate(results) if stored is None]
        jobs = [(places[i][0], self._specs[places[i][1]].name) for i in wanted]
        shared = (problem, splits, tuple(self._scores), self._n_jobs)
        if jobs:
            with connected(client) as cluster:
                for k, (found, predicted) in each_on(cluster, _cell_on_worker, shared, jobs):
                    s, m = places[wanted[k]]
                    if self._watch is not None:
                        self._watch(problem.name, splits[s].name, self._specs[m].name)
                    if self._receive is not None:
                        self._receive(splits[s], self._specs[m].name, predicted)
                    self._store.put(begun[wanted[k]][0], found)
                    results[wanted[k]] = found
        for (s, m), found in zip(places, results, strict=True):
            self._list(found, problem, splits[s], self._specs[m])


def _row_of(problem: Problem, split: Split, spec: ModelSpec) -> dict[str, Any]:
    place = {"dataset": problem.name, "split": split.name}
    return {**place, "seed": split.seed, "test_size": split.test_size, "model": spec.name}


def _cell_on_worker(
    problem: Problem,
    splits: list[Split],
    scores: tuple[str, ...],
    n_jobs: int | None,
    place: int,
    model: str,
) -> tuple[dict[str, Any], Any]:
    return compute_cell(
        problem, splits[place], find_models([model])[0], find_scores(scores), n_jobs
    )


def compute_cell(
    problem: Problem, split: Split, spec: ModelSpec, scores: dict[str, Score], n_jobs: int | None
) -> tuple[dict[str, Any], Any]:
    """Fit and score a model; return the scores with the costs, and the predicted labels."""
    with _named_errors(problem, split, spec), threadpool_limits(1):
        model = _make(problem, split, spec, n_jobs)
        gc.collect()  # memory of the previous model
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            with measure() as fitting:
                model.fit(split.X_train, split.y_train)
            with measure() as predicting:
                predicted = model.predict(split.X_test)
    results: dict[str, Any] = {
        name: score(split.y_test, predicted, problem.hierarchy) for name, score in scores.items()
    }
    peaks = [u.peak_mib for u in (fitting, predicting) if u.peak_mib is not None]
    results["fit_cpu_s"] = fitting.cpu_seconds
    results["predict_cpu_s"] = predicting.cpu_seconds
    results["peak_mib"] = max(peaks) if peaks else None
    results["notes"] = _first_lines(caught)
    return results, predicted


def _make(
    problem: Problem, split: Split, spec: ModelSpec, n_jobs: int | None = None, bare: bool = False
) -> Any:
    """Return the pipeline of a model; a bare one has no hierarchy, for a short description."""
    hierarchy = None if bare else problem.hierarchy
    has_text = problem.schema is not None and bool(problem.schema.names("text"))
    model = spec.make(ModelContext(hierarchy, split.seed, n_jobs, has_text))
    return prepare(
        model, spec, split.X_train, split.X_test, categorical=problem.categorical,
        schema=problem.schema,
    )  # fmt: skip


@contextmanager
def _named_errors(problem: Problem, split: Split, spec: ModelSpec) -> Any:
    """Add the names of model and data set to errors."""
    try:
        yield
    except ValueError as error:
        reason = (str(error).strip() or repr(error)).splitlines()[0]
        raise PalmetteError(f"{spec.name} on {problem.name}, {split.name}: {reason}") from error


def _first_lines(caught: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return the first line of every warning, once each."""
    texts = [str(warning.message).strip() or warning.category.__name__ for warning in caught]
    return list(dict.fromkeys(text.splitlines()[0] for text in texts))


def _require_fit(problem: Problem, specs: Sequence[ModelSpec]) -> None:
    """Raise an error for models that do not support the labels of a problem."""
    unfit = [spec.name for spec in specs if not spec.several_paths]
    if not unfit:
        return
    for y in (problem.y_train, problem.y_test):
        if y is not None and not NodeLabels.encode(y, problem.hierarchy).is_single_path:
            raise PalmetteError(
                f"{problem.name} has several paths per row, or rows without a label, which "
                f"{', '.join(unfit)} cannot learn. Leave them out, or choose a data set with one "
                "path per row."
            )


# ---------------------------------------------------------------------- learning a hierarchy


@dataclass(frozen=True)
class LearntTree:
    """A learned hierarchy, with its learner and counts.

    Attributes
    ----------
    hierarchy : Hierarchy
        Its leaves are the labels; its groups have words for labels in the vocabulary.
    learner : estimator
        Fitted, with positions of labels as classes.
    counts : int array of shape (n_nodes,)
        Number of training rows with a label at or below each node.
    members : CSR matrix of shape (n_rows, n_nodes)
        True for the nodes that a training row has a label at or below.
    n_rows : int
    cpu_seconds : float
    """

    hierarchy: Hierarchy
    learner: Any
    counts: NDArray[np.int64]
    members: Any
    n_rows: int
    cpu_seconds: float


def learn_tree(
    problem: Problem,
    method: str = "bhc",
    *,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    parameters: dict[str, Any] | None = None,
) -> LearntTree:
    """Learn a hierarchy over the labels of a data set, from its training rows.

    Labels that have a hierarchy already are used without it, each as one class.

    Parameters
    ----------
    problem : Problem
    method : str
        Name of a learner; see `palmette.models._tree_learners`.
    random_state : int or None
    n_jobs : int, optional
    parameters : dict, optional
        Parameters of the learner.

    Returns
    -------
    LearntTree

    Examples
    --------
    >>> h = Hierarchy.star(["ant", "bee", "whale"])
    >>> X, y = np.array([[0.0], [1.0], [9.0]] * 5), ["ant", "bee", "whale"] * 5
    >>> print(learn_tree(Problem("animals", h, X, y), "agglomerative").hierarchy.draw())
    root
    ├─ ant, bee
    │  ├─ ant
    │  └─ bee
    └─ whale
    """
    spec = find_tree_learner(method)
    learner = make_tree_learner(method, random_state, n_jobs, **(parameters or {}))
    labels = NodeLabels.encode(problem.y_train, problem.hierarchy)
    nodes = np.unique(labels.specific.indices)
    names = _label_names(labels.hierarchy, nodes)
    matrix = labels.specific[:, nodes]  # rows by labels
    started = time.process_time()
    # positions of the labels: one per row, or a 0/1 matrix
    codes = matrix.indices if labels.is_single_path else matrix.astype(np.int8)
    if spec.label_sets:
        learner.fit(np.zeros((matrix.shape[0], 1)), codes)
    else:
        as_model = ModelSpec(spec.name, lambda _: learner, spec.summary, scale=spec.scale)
        prepare(
            learner, as_model, problem.X_train, categorical=problem.categorical,
            schema=problem.schema,
        ).fit(problem.X_train, codes)  # fmt: skip
    seconds = time.process_time() - started
    # the learner was fitted on positions: an array of long label texts could be too large
    hierarchy = learner.tree_.to_hierarchy(names)
    members = _nodes_of_rows(hierarchy, names, matrix)
    hierarchy = name_groups(hierarchy, columns_with_words(problem.X_train), members)
    return LearntTree(
        hierarchy,
        learner,
        np.asarray(members.sum(axis=0), dtype=np.int64).ravel(),
        members,
        count_rows(problem.X_train),
        seconds,
    )


def _label_names(hierarchy: Hierarchy, nodes: NDArray[Any]) -> NDArray[np.object_]:
    """Return the names of labels if all differ, else their paths."""
    names = hierarchy.names[nodes]
    if len({str(name) for name in names}) < len(names):
        names = hierarchy.path_strings[nodes]
    return np.array(names, dtype=object)


def _nodes_of_rows(
    hierarchy: Hierarchy, names: NDArray[np.object_], matrix: Any
) -> sparse.csr_array:
    leaves = {hierarchy.names[leaf]: int(leaf) for leaf in hierarchy.leaves}
    at = np.array([leaves[name] for name in names], dtype=np.int64)
    above = hierarchy.closure[at].astype(np.int64)  # labels by nodes above them
    return sparse.csr_array((matrix.astype(np.int64) @ above) > 0)
