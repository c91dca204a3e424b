"""What the local classifiers and the flat one share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight

from palmette.core.decode import Route, path_product
from palmette.core.decoding import Decoding, RoutedDecoding, resolve_decoding
from palmette.core.hierarchy import Hierarchy
from palmette.core.rows import count_rows
from palmette.core.space import LabelSpace
from palmette.core.tasks import Task, TaskTable
from palmette.engine.reduce import fit_tasks
from palmette.engine.single_path import SinglePathClassifier
from palmette.exceptions import PalmetteError
from palmette.local.scores import gives_proba

__all__ = ["BaseLocalClassifier"]

FloatArray = NDArray[np.float64]
Estimators = Any | dict[Any, Any] | Callable[[Any], Any] | None


def _has_proba(self: BaseLocalClassifier) -> bool:
    if hasattr(self, "estimators_"):
        return all(gives_proba(estimator) for estimator in self.estimators_.values())
    estimator = self._example_estimator()
    return estimator is None or gives_proba(estimator)


class BaseLocalClassifier(SinglePathClassifier):
    """Base of classifiers that fit scikit-learn estimators on a table of local tasks.

    A subclass gives `_make_tasks` and `_route_of` or `_class_proba_of`.
    """

    def __init__(
        self,
        estimator: Estimators = None,
        *,
        hierarchy: Hierarchy | None = None,
        decoding: str | Decoding | RoutedDecoding = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        raise NotImplementedError

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
            Given to every estimator; an error where one does not take weights.

        Returns
        -------
        self
        """
        X = self._read_features(X, reset=True)
        labels = self._read_target(X, y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight,
                np.empty((count_rows(X), 0)),
                dtype=np.float64,
                ensure_non_negative=True,
            )
        table = self._make_tasks(self.space_)
        fitted = fit_tasks(
            table,
            X,
            np.searchsorted(self.space_.classes, labels.terminals).astype(np.int32),
            self._estimator_at,
            sample_weight=sample_weight,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self._keep(table, fitted)
        return self

    def _keep(self, table: TaskTable, fitted: list[Any]) -> None:
        self.estimators_ = {task.key: est for task, est in zip(table.tasks, fitted, strict=True)}

    def _estimator_at(self, task: Task) -> Any:
        """Return the unfitted estimator of a task: the one, that of a dict, or a factory's."""
        given = self.estimator
        if given is None:
            return LogisticRegression(max_iter=1000)
        if isinstance(given, dict):
            return self._estimator_from_dict(given, task)
        if hasattr(given, "fit"):
            return given
        if callable(given):
            return given(self._task_name(task))
        raise PalmetteError(
            f"estimator is a {type(given).__name__}: expected a scikit-learn classifier, a dict of "
            "them by node or depth, or a function that makes one."
        )

    def _estimator_from_dict(self, given: dict[Any, Any], task: Task) -> Any:
        for key in (self._task_name(task), self._task_depth(task), "default"):
            if key in given:
                return given[key]
        for key, estimator in given.items():
            named = isinstance(key, str | tuple) and key in self.hierarchy_
            if named and self.hierarchy_.index(key) == task.key:
                return estimator
        raise PalmetteError(
            f"estimator has no entry for {self._task_name(task)!r} (depth "
            f"{self._task_depth(task)}) among {sorted(map(str, given))}. Add it, or a 'default'."
        )

    def _task_name(self, task: Task) -> Any:
        return self.hierarchy_.path_strings[task.key]

    def _task_depth(self, task: Task) -> int:
        return int(self.hierarchy_.depth[task.key])

    def _example_estimator(self) -> Any:
        """Return some estimator, for what can be known before fitting; None if there is none."""
        if self.estimator is None:
            return LogisticRegression()
        if isinstance(self.estimator, dict):
            return next(iter(self.estimator.values()), None)
        return self.estimator if hasattr(self.estimator, "fit") else None

    # ------------------------------------------------------------------ answering

    def _decision_rule(self) -> Any:
        if self.decoding == "auto":
            # margins are no probabilities: their products along paths mean little
            return resolve_decoding("best_path" if _has_proba(self) else "top_down")
        return super()._decision_rule()

    def _class_proba_of(self, X: Any) -> FloatArray:
        return path_product(self.space_, self._route_of(X), count_rows(X))

    def _route_of(self, X: Any) -> Route:
        raise NotImplementedError

    @available_if(_has_proba)
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the labels seen in training, by the chain rule over the local models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns as in ``classes_``; rows sum to one.
        """
        return self._predict_proba(X)

    @available_if(_has_proba)
    def predict_node_proba(self, X: Any, nodes: Any = None) -> FloatArray:
        """Probabilities of nodes: a child never exceeds its parent, siblings sum to it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        nodes : list of names or paths, optional
            Nodes wanted; all of ``hierarchy_`` by default.

        Returns
        -------
        array of shape (n_samples, n_nodes)
        """
        return self._predict_node_proba(X, nodes)

    @available_if(_has_proba)
    def predict_top_k(self, X: Any, k: int = 5) -> tuple[list[Any], FloatArray]:
        """Return the `k` most probable labels of every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        k : int

        Returns
        -------
        labels : list of k answers
            The best label of every row, the second best, ...: each in the form of `y`.
        proba : array of shape (n_samples, k)
        """
        return self._predict_top_k(X, k)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        example = self._example_estimator()
        if example is not None:
            tags.input_tags = get_tags(example).input_tags
        return tags
