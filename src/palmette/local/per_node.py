"""LocalPerNodeClassifier: a binary estimator at every node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from palmette.core.decoding import Decoding, RoutedDecoding
from palmette.core.hierarchy import Hierarchy
from palmette.core.rows import take_cells
from palmette.core.space import LabelSpace
from palmette.core.tasks import REST, TaskTable
from palmette.exceptions import PalmetteError
from palmette.local.base import BaseLocalClassifier, Estimators, TaskKey
from palmette.local.features import ColumnsOf
from palmette.local.scores import Scores, option_scores
from palmette.local.several import fit_columns, proba_of_columns

__all__ = ["LocalPerNodeClassifier"]


class LocalPerNodeClassifier(BaseLocalClassifier):
    """A binary estimator at every node tells it from its siblings.

    With one path a row, the scores of siblings are scaled to sum to one, so that probabilities are
    coherent. Rows may have several paths or none, and the hierarchy may be a DAG: then every node
    is a yes or no of its own, and its probability is its share of its parents'.

    Parameters
    ----------
    estimator : scikit-learn classifier, dict or callable, optional
        Cloned for every node; logistic regression by default. A dict has estimators by the path of
        the node, by its depth (an int), and under ``"default"``. A callable takes the node's path
        and gives an estimator.
    negatives : {"siblings", "all"}
        What a node is told from: the other rows below its parent, or all other rows.
    dag_rule : "all" or "any"
        Whether a node of a DAG is true only where all of its parents are, or where one of them is.
    hierarchy, feature_selector, decoding, n_jobs, random_state, verbose
        As in `LocalPerParentClassifier`. A node is told from its siblings by their parent's
        features. With several paths a row `decoding` is a threshold or another rule for such
        answers, and there is no selecting of features.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    estimators_ : dict of int to estimator
        By node number: whether a path goes through this node. Only children need none.
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
        decoding: str | Decoding | RoutedDecoding = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            hierarchy=hierarchy,
            feature_selector=feature_selector,
            decoding=decoding,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.negatives = negatives
        self.dag_rule = dag_rule

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.per_node(space, self.negatives)

    # ------------------------------------------------------------------ several paths

    def _fit_tasks(
        self, X: Any, targets: Any, weights: Any, choose: Callable[[TaskKey], Any]
    ) -> None:
        if not self.several_paths_:
            super()._fit_tasks(X, targets, weights, choose)
            return
        if self.feature_selector is not None:
            raise PalmetteError(
                "feature_selector chooses features by rows of one path each, but y has several "
                "paths a row, or a DAG. Select features before, or leave it out."
            )
        TaskTable.check_negatives(self.negatives)
        names, depth = self.hierarchy_.path_strings, self.hierarchy_.depth
        self.feature_selector_ = None
        self.end_estimators_: dict[int, Any] = {}
        self.estimators_ = fit_columns(
            X,
            targets,
            self._answers.columns,
            lambda node: choose(TaskKey(names[node], int(depth[node]), node)),
            below_parents=self.negatives == "siblings",
            dag_rule=self.dag_rule,
            weights=weights,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _node_proba_of(self, X: Any) -> NDArray[np.float64]:
        return proba_of_columns(
            X,
            self._answers.columns,
            self.estimators_,
            below_parents=self.negatives == "siblings",
            dag_rule=self.dag_rule,
        )

    # ------------------------------------------------------------------ one path

    def _feature_nodes(self, key: int, ends: bool) -> list[int]:
        return [key if ends else int(self.hierarchy_.parents[key])]

    def _keep(self, table: TaskTable, fitted: list[Any]) -> None:
        self.estimators_: dict[int, Any] = {}
        self.end_estimators_ = {}
        for task, estimator in zip(table.tasks, fitted, strict=True):
            kept = self.end_estimators_ if task.ends else self.estimators_
            kept[task.key] = estimator

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

    def __call__(
        self, parent: int, options: NDArray[np.int32], rows: NDArray[np.int32] | None
    ) -> NDArray[np.float64]:
        first = int(options[0])  # siblings share their features
        node, ends = int(self._space.nodes[first]), first == parent
        X = take_cells(self._X, rows, self._columns_of(node, ends))
        answers = [self._ask(int(option), option == parent, X) for option in options]
        by_margin = all(answer.are_margins for answer in answers)
        columns = [answer.values if by_margin else answer.shares() for answer in answers]
        siblings = Scores(np.column_stack([column[:, 1] for column in columns]), by_margin)
        return siblings.among(slice(None))

    def _ask(self, option: int, ends: bool, X: Any) -> Scores:
        node = int(self._space.nodes[option])
        estimator = (self._ends if ends else self._estimators)[node]
        return option_scores(estimator, X, np.array([REST, node], dtype=np.int32))
