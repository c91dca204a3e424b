"""The base of local classifiers, which fit one estimator per task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from palmette._arrays import FloatArray, IntArray, count_rows, take_rows
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._column_units import Kind, joint_kind
from palmette.base._fitting import check_weights, used_rows
from palmette.decisions._decode import Route, path_product
from palmette.decisions._rules import Decoding, RoutedDecoding, TopDown
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace, Task, TaskTable
from palmette.local._features import columns_of, fit_selector, hierarchy_setting
from palmette.local._several import fit_label_sets
from palmette.local._tasks import (
    TaskKey,
    estimator_chooser,
    fit_tasks,
    gives_proba,
    known_estimators,
)

Estimators = Any | dict[Any, Any] | Callable[[Any], Any] | None


def _learns_from_chunks(self: BaseLocalClassifier) -> bool:
    found = known_estimators(self.estimator)
    return bool(found) and all(hasattr(estimator, "partial_fit") for estimator in found)


class BaseLocalClassifier(HierarchicalClassifier):
    """Base of classifiers that fit scikit-learn estimators on a table of local tasks.

    A subclass defines `_make_tasks`, and `_route_of` or `_class_proba_of`; for several paths per
    row, and DAGs, also `_make_blocks` and `_node_proba_of`.
    """

    _takes_several_paths: ClassVar[bool] = False
    _tasks_are_nodes: ClassVar[bool] = True
    _routes_cheaply: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Estimators = None,
        *,
        hierarchy: Hierarchy | None = None,
        feature_selector: Any = None,
        decoding: str | float | Decoding | RoutedDecoding = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        self.estimator = estimator
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.feature_selector = feature_selector
        self.verbose = verbose
        self.client = client

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        raise NotImplementedError

    def _make_blocks(self, Y: sparse.csr_array) -> list[Any]:
        """Return the `LabelBlock`s that estimators decide, from the true nodes of all rows."""
        raise NotImplementedError

    def _feature_nodes(self, key: int, ends: bool) -> list[int] | None:
        """Return nodes whose features the estimator of a task uses; None for all nodes."""
        return [key]

    def _hierarchy_setting(self) -> Any:
        if self.feature_selector is None:
            return self.hierarchy
        return hierarchy_setting(self.hierarchy, self.feature_selector)

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BaseLocalClassifier:
        """Fit one estimator per local task.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of texts, of n_samples rows
            Anything that the estimator accepts.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to every estimator; an error is raised if one does not accept weights. Only
            their ratios count: estimators get whole multiples of the smallest weight as numbers of
            copies of the rows, other weights with a mean of 1, so that regularization such as the C
            of scikit-learn does not depend on their scale. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        targets = self._learn_target(X, y, weights)
        used = used_rows(weights)
        if weights is not None and used is not None:  # a row of weight 0 counts as absent
            X, weights = take_rows(X, np.flatnonzero(used).astype(np.int32)), weights[used]
        self._fit_tasks(X, targets, weights, self._chooser())
        return self

    @available_if(_learns_from_chunks)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> BaseLocalClassifier:
        """Let every local estimator learn from some more rows, by its own `partial_fit`.

        The chunks of a table, one call each, are one pass over its rows. Until its first row comes,
        the estimator of a task gives all of its options the same probability. A call after `fit`
        goes on with its estimators.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : labels of n_samples rows
            One path per row.
        classes : labels, optional
            All labels that will occur, in the form of y; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to the estimators unchanged: unlike in `fit`, their scale matters.

        Returns
        -------
        self

        Examples
        --------
        >>> from palmette.local import FlatClassifier, MixedNaiveBayes
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["a", "a", "b", "b"]
        >>> clf = FlatClassifier(MixedNaiveBayes()).partial_fit(X[:3], y[:3], classes=["a", "b"])
        >>> clf.partial_fit(X[3:], y[3:]).predict(X).tolist() == y
        True
        """
        from palmette.local._passes import learn_chunk

        learn_chunk(self, X, y, classes, sample_weight)
        return self

    def _kind_of_units(self) -> Kind:
        return joint_kind(known_estimators(self.estimator))

    def _chooser(self) -> Callable[[TaskKey], Any]:
        """Return a function from the key of a task to its unfitted estimator."""
        return estimator_chooser(
            self.estimator,
            self.hierarchy_,
            by_node=self._tasks_are_nodes,
            is_given=self._given_hierarchy() is not None,
        )

    def _fit_tasks(
        self, X: Any, codes: Any, weights: FloatArray | None, choose: Callable[[TaskKey], Any]
    ) -> None:
        if self._answers.by_node:
            fit_label_sets(self, X, codes, weights, choose)
            return
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
            client=self.client,
        )
        self._keep(table, fitted)

    def _fit_selector(self, X: Any, codes: IntArray, weights: FloatArray | None) -> None:
        """Set ``feature_selector_``, fitted on the rows and weights of this fit."""
        self.feature_selector_ = None
        if self.feature_selector is None or self.space_.n_classes == 1:
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
        """Return the columns that the estimator of a task uses; None for all."""
        if self.feature_selector_ is None:
            return None
        return columns_of(self.feature_selector_, self._feature_nodes(key, ends))

    def _estimator_of(self, task: Task, choose: Callable[[TaskKey], Any]) -> Any:
        columns = self._columns_of(task.key, task.ends)
        if columns is not None and not len(columns):
            return DummyClassifier(strategy="prior")  # no features are selected
        return choose(self._task_key(task))

    def _keep(self, table: TaskTable, fitted: list[Any]) -> None:
        self.estimators_ = {task.key: est for task, est in zip(table.tasks, fitted, strict=True)}

    def _estimator_at(self, task: Task) -> Any:
        """Return the estimator of a task that `_keep` has kept."""
        return self.estimators_[task.key]

    def _task_key(self, task: Task) -> TaskKey:
        """Return the key of a task for a dict or function of estimators; by default a node."""
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
        return TopDown()  # products of margins along a path are not meaningful

    def _class_proba_of(self, X: Any) -> FloatArray:
        return path_product(self.space_, self._route_of(X), count_rows(X))

    def _route_of(self, X: Any) -> Route:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inputs = [get_tags(estimator).input_tags for estimator in known_estimators(self.estimator)]
        if inputs:
            tags.input_tags = replace(inputs[0], sparse=all(tag.sparse for tag in inputs))
        # estimators without support for NaN raise an error: NaN is rejected here if none has it
        takes_nan = any(tag.allow_nan for tag in inputs) or not inputs
        tags.input_tags.allow_nan = takes_nan and self.feature_selector is None
        return tags
