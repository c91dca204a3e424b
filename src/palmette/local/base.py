"""What the local classifiers and the flat one share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags

from palmette.core.decode import Route, path_product
from palmette.core.decoding import Decoding, RoutedDecoding, TopDown
from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.core.rows import count_rows, take_rows
from palmette.core.space import LabelSpace
from palmette.core.tasks import Task, TaskTable
from palmette.engine.reduce import fit_tasks
from palmette.engine.single_path import SinglePathClassifier
from palmette.engine.weights import check_weights, used_rows
from palmette.local.choice import TaskKey, estimator_chooser, known_estimators
from palmette.local.features import columns_of, fit_selector, hierarchy_setting
from palmette.local.scores import gives_proba

__all__ = ["BaseLocalClassifier"]

FloatArray = NDArray[np.float64]
Estimators = Any | dict[Any, Any] | Callable[[Any], Any] | None


class BaseLocalClassifier(SinglePathClassifier):
    """Base of classifiers that fit scikit-learn estimators on a table of local tasks.

    A subclass gives `_make_tasks` and `_route_of` or `_class_proba_of`.
    """

    _tasks_are_nodes = True
    _routes_cheaply = True

    def __init__(
        self,
        estimator: Estimators = None,
        *,
        hierarchy: Hierarchy | None = None,
        feature_selector: Any = None,
        decoding: str | Decoding | RoutedDecoding = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.feature_selector = feature_selector
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        raise NotImplementedError

    def _feature_nodes(self, key: int, ends: bool) -> list[int] | None:
        """Nodes whose features the estimator of a task sees; None for those of all nodes."""
        return [key]

    def _hierarchy_setting(self) -> Any:
        return hierarchy_setting(self.hierarchy, self.feature_selector)

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseLocalClassifier:
        """Fit an estimator on every local task.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of texts, of n_samples rows
            Whatever the estimator takes.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads, one path a row.
        sample_weight : array-like of shape (n_samples,), optional
            Given to every estimator; an error where one does not take weights. Rows of weight 0
            are left out.

        Returns
        -------
        self
        """
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        targets = self._read_labels(X, y, weights)
        used = used_rows(weights)
        if weights is not None and used is not None:  # a weight of zero is no copy of a row
            X, weights = take_rows(X, np.flatnonzero(used).astype(np.int32)), weights[used]
        choose = estimator_chooser(
            self.estimator,
            self.hierarchy_,
            by_node=self._tasks_are_nodes,
            is_given=self._given_hierarchy() is not None,
        )
        self._fit_tasks(X, targets, weights, choose)
        return self

    def _read_labels(self, X: Any, y: Any, weights: FloatArray | None) -> Any:
        """Read y: classes, one path a row."""
        return self._read_target(X, y, weights)

    def _fit_tasks(
        self,
        X: Any,
        codes: NDArray[np.int32],
        weights: FloatArray | None,
        choose: Callable[[TaskKey], Any],
    ) -> None:
        table = self._make_tasks(self.space_)
        self._fit_selector(X, codes, weights)
        fitted = fit_tasks(
            table,
            X,
            codes,
            lambda task: self._estimator_of(task, choose),
            columns_for=lambda task: self._columns_of(task.key, task.ends),
            sample_weight=weights,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self._keep(table, fitted)

    def _fit_selector(self, X: Any, codes: NDArray[np.int32], weights: FloatArray | None) -> None:
        """Set ``feature_selector_``, fitted on the rows and weights of this fit."""
        self.feature_selector_ = None
        if self.feature_selector is None or self.space_.n_classes == 1:  # nothing to tell apart
            return
        terminals = self.space_.classes[codes]
        self.feature_selector_ = fit_selector(
            self.feature_selector,
            X,
            NodeLabels.from_terminals(terminals, self.hierarchy_, self.label_form_),
            weights,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _columns_of(self, key: int, ends: bool = False) -> NDArray[np.intp] | None:
        """Columns that the estimator of a task sees, None for all."""
        if self.feature_selector_ is None:
            return None
        return columns_of(self.feature_selector_, self._feature_nodes(key, ends))

    def _estimator_of(self, task: Task, choose: Callable[[TaskKey], Any]) -> Any:
        columns = self._columns_of(task.key, task.ends)
        if columns is not None and not len(columns):
            return DummyClassifier(strategy="prior")  # without features the shares are all we know
        return choose(self._task_key(task))

    def _keep(self, table: TaskTable, fitted: list[Any]) -> None:
        self.estimators_ = {task.key: est for task, est in zip(table.tasks, fitted, strict=True)}

    def _task_key(self, task: Task) -> TaskKey:
        """What a dict of estimators or a factory calls a task; by default that of a node."""
        name, depth = self.hierarchy_.path_strings[task.key], self.hierarchy_.depth[task.key]
        return TaskKey(name, int(depth), task.key)

    def _fitted_estimators(self) -> list[Any]:
        return list(self.estimators_.values())

    # ------------------------------------------------------------------ answering

    def _gives_proba(self) -> bool:
        fitted = hasattr(self, "estimators_")
        estimators = self._fitted_estimators() if fitted else known_estimators(self.estimator)
        return all(gives_proba(estimator) for estimator in estimators)

    def _decision_rule(self) -> Any:
        if self.decoding == "auto" and not self._gives_proba():
            return self._rule_for_margins()
        return super()._decision_rule()

    def _rule_for_margins(self) -> Any:
        return TopDown()  # margins are no probabilities: their products along paths mean little

    def _class_proba_of(self, X: Any) -> FloatArray:
        return path_product(self.space_, self._route_of(X), count_rows(X))

    def _route_of(self, X: Any) -> Route:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = [get_tags(estimator).input_tags for estimator in known_estimators(self.estimator)]
        if inputs:
            tags.input_tags = replace(inputs[0], sparse=all(tag.sparse for tag in inputs))
        # estimators that cannot stand NaN will say so: here it is refused if none of them can
        takes_nan = any(tag.allow_nan for tag in inputs) or not inputs
        tags.input_tags.allow_nan = takes_nan and self.feature_selector is None
        return tags
