"""LocalPerNodeClassifier: one binary estimator per node, for one path per row or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from palmette._arrays import FloatArray, IntArray, count_rows, seed_each, take_cells
from palmette.base._fitting import weight_keyword
from palmette.base._foreign import at_node
from palmette.decisions._coherence import NodeColumns
from palmette.decisions._rules import Decoding, RoutedDecoding
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._space import REST, LabelSpace, Task, TaskTable
from palmette.local._base import BaseLocalClassifier, Estimators
from palmette.local._features import ColumnsOf
from palmette.local._several import fit_selector_of_sets, yes_proba
from palmette.local._tasks import Part, Scores, TaskKey, fit_parts, option_scores


class LocalPerNodeClassifier(BaseLocalClassifier):
    """One binary estimator per node, which separates it from its siblings or from all other rows.

    With one path per row, the scores of siblings are normalized to sum to one, so that
    probabilities are coherent. Rows may have several paths or none, and the hierarchy may be a DAG:
    then every node is decided separately, and its probability given its parents is multiplied with
    theirs.

    Parameters
    ----------
    estimator : scikit-learn classifier, dict or callable, optional
        Cloned for every node; logistic regression by default. The keys of a dict are paths of
        nodes, depths (int) and ``"default"``. A callable takes the path of the node and returns an
        estimator.
    negatives : {"siblings", "all"}
        Negative rows of a node: the other rows below its parent, or all other rows.
    dag_rule : {"all", "any"}
        Whether a node of a DAG is true only if all of its parents are, or if one of them is.
    hierarchy, feature_selector, decoding, n_jobs, random_state, verbose, client
        As in `LocalPerParentClassifier`. The estimator of a node uses the features selected at its
        parent. With several paths per row `decoding` is a threshold or another rule for sets of
        nodes.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    estimators_ : dict of int to estimator
        By node number: whether a path contains this node. Only children have none.
    end_estimators_ : dict of int to estimator
        By node number, for inner nodes that are labels themselves: whether a path ends there.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = np.array([["animal", "cat"], ["animal", "dog"], ["plant", "oak"], ["plant", "fern"]])
    >>> LocalPerNodeClassifier().fit(X, y).predict(X).tolist() == y.tolist()
    True
    """

    _takes_several_paths: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Estimators = None,
        *,
        negatives: str = "siblings",
        dag_rule: str = "all",
        hierarchy: Hierarchy | None = None,
        feature_selector: Any = None,
        decoding: str | float | Decoding | RoutedDecoding = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            hierarchy=hierarchy,
            feature_selector=feature_selector,
            decoding=decoding,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            client=client,
        )
        self.negatives = negatives
        self.dag_rule = dag_rule

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.per_node(space, self.negatives)

    # ------------------------------------------------------------------ several paths

    def _fit_tasks(
        self, X: Any, targets: Any, weights: Any, choose: Callable[[TaskKey], Any]
    ) -> None:
        if not self._answers.by_node:
            super()._fit_tasks(X, targets, weights, choose)
            return
        TaskTable.check_negatives(self.negatives)
        fit_selector_of_sets(self, X, targets, weights)
        self.end_estimators_: dict[int, Any] = {}
        self.estimators_ = fit_columns(
            X,
            targets,
            self._answers.columns,
            lambda node: self._estimator_of(Task.of(node, []), choose),
            columns_for=self._columns_of,
            below_parents=self.negatives == "siblings",
            dag_rule=self.dag_rule,
            weights=weights,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            client=self.client,
        )

    def _node_proba_of(self, X: Any) -> FloatArray:
        return proba_of_columns(
            X,
            self._answers.columns,
            self.estimators_,
            columns_for=self._columns_of,
            below_parents=self.negatives == "siblings",
            dag_rule=self.dag_rule,
        )

    # ------------------------------------------------------------------ one path

    def _feature_nodes(self, key: int, ends: bool) -> list[int]:
        return [key] if ends else [int(node) for node in self.hierarchy_.parents_of(key)]

    def _keep(self, table: TaskTable, fitted: list[Any]) -> None:
        self.estimators_: dict[int, Any] = {}
        self.end_estimators_ = {}
        for task, estimator in zip(table.tasks, fitted, strict=True):
            kept = self.end_estimators_ if task.ends else self.estimators_
            kept[task.key] = estimator

    def _estimator_at(self, task: Task) -> Any:
        return (self.end_estimators_ if task.ends else self.estimators_)[task.key]

    def _fitted_estimators(self) -> list[Any]:
        return [*self.estimators_.values(), *self.end_estimators_.values()]

    def _route_of(self, X: Any) -> _NodeRoute:
        return _NodeRoute(self.space_, self.estimators_, self.end_estimators_, self._columns_of, X)


class _NodeRoute:
    def __init__(
        self,
        space: LabelSpace,
        estimators: dict[int, Any],
        ends: dict[int, Any],
        columns_of: ColumnsOf,
        X: Any,
    ) -> None:
        self._space, self._estimators, self._ends, self._X = space, estimators, ends, X
        self._columns_of = columns_of

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        first = int(options[0])  # siblings share their features
        node, ends = int(self._space.nodes[first]), first == parent
        X = take_cells(self._X, rows, self._columns_of(node, ends))
        scores = [self._scores_of(int(option), option == parent, X) for option in options]
        by_margin = all(each.are_margins for each in scores)
        columns = [each.values if by_margin else each.shares() for each in scores]
        siblings = Scores(np.column_stack([column[:, 1] for column in columns]), by_margin)
        return siblings.among(slice(None))

    def _scores_of(self, option: int, ends: bool, X: Any) -> Scores:
        node = int(self._space.nodes[option])
        estimator = (self._ends if ends else self._estimators)[node]
        where = at_node(self._space.hierarchy, node)
        return option_scores(estimator, X, np.array([REST, node], dtype=np.int32), where)


# ---------------------------------------------------------------------- several paths


def fit_columns(
    X: Any,
    Y: sparse.csr_array,
    columns: NodeColumns,
    estimator_for: Callable[[int], Any],
    *,
    columns_for: Callable[[int], NDArray[np.intp] | None],
    below_parents: bool,
    dag_rule: str,
    weights: FloatArray | None,
    random_state: Any,
    n_jobs: int | None,
    verbose: int,
    client: Any,
) -> dict[int, Any]:
    """Fit one binary estimator per node.

    Parameters
    ----------
    X : rows
    Y : sparse bool array of shape (n_samples, n_columns)
        True nodes, with all of their ancestors.
    columns : NodeColumns
    estimator_for : callable
        Returns the unfitted estimator of a node number.
    columns_for : callable
        Returns the columns of X that the estimator of a node uses, None for all.
    below_parents : bool
        Whether to fit on rows that have the parents of the node only, or on all rows.
    dag_rule : {"all", "any"}
        Whether such a row has all parents of the node, or at least one.
    weights : array of shape (n_samples,), optional
    random_state, n_jobs, verbose, client
        As in `fit_tasks`.

    Returns
    -------
    dict of int to estimator
        By node number; nodes without negative rows have none.
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

    def parts() -> Iterator[Part]:
        for t, j in enumerate(wanted):
            flags = np.zeros(Y.shape[0], dtype=np.int32)
            flags[by_column.indices[by_column.indptr[j] : by_column.indptr[j + 1]]] = 1
            seen = seen_by[j]
            mine = flags if seen is None else flags[seen]
            yield Part(
                estimators[t],
                seen,
                columns_for(int(columns.nodes[j])),
                mine,
                names[t] if names else None,
            )

    fitted = fit_parts(X, weights, parts(), len(wanted), n_jobs, verbose, client)
    return {int(columns.nodes[j]): estimator for j, estimator in zip(wanted, fitted, strict=True)}


def _parents_of(columns: NodeColumns) -> list[IntArray]:
    """Return the columns of the parents of every column; none for the root."""
    parents: list[list[int]] = [[] for _ in range(columns.n_columns)]
    for parent, child in columns.edges.tolist():
        parents[child].append(parent)
    return [np.asarray(each, dtype=np.int32) for each in parents]


def _rows_below(by_column: sparse.csc_array, parents: IntArray, dag_rule: str) -> IntArray | None:
    """Return the rows that have all parents, or at least one; None for all rows."""
    if not len(parents):
        return None
    starts = by_column.indptr
    rows = [by_column.indices[starts[p] : starts[p + 1]] for p in parents]
    counts = np.bincount(np.concatenate(rows), minlength=by_column.shape[0])
    required = len(parents) if dag_rule == "all" else 1
    return np.flatnonzero(counts >= required).astype(np.int32)


def proba_of_columns(
    X: Any,
    columns: NodeColumns,
    estimators: dict[int, Any],
    *,
    columns_for: Callable[[int], NDArray[np.intp] | None],
    below_parents: bool,
    dag_rule: str,
) -> FloatArray:
    """Return probabilities of all columns: (n_samples, n_columns).

    Where a node was fitted on rows that have its parents, its probability is conditional: it is
    multiplied with that of the least probable parent, or of the most probable one if
    ``dag_rule="any"``.
    """
    proba = np.ones((count_rows(X), columns.n_columns))
    for j, parents in enumerate(_parents_of(columns)):  # parents come before children
        node = int(columns.nodes[j])
        estimator = estimators.get(node)
        if estimator is not None:
            where = at_node(columns.hierarchy, node)
            proba[:, j] = yes_proba(estimator, take_cells(X, columns=columns_for(node)), where)
        if below_parents and len(parents):
            above = proba[:, parents]
            proba[:, j] *= above.min(axis=1) if dag_rule == "all" else above.max(axis=1)
    return proba
