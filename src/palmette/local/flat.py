"""FlatClassifier: one estimator over all labels, with probabilities summed up the hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.decode import Route, RouteByMarginals
from palmette.core.decoding import BestPath
from palmette.core.rows import count_rows, take_cells
from palmette.core.space import LabelSpace
from palmette.core.tasks import TaskTable
from palmette.local.base import BaseLocalClassifier
from palmette.local.scores import option_scores

__all__ = ["FlatClassifier"]


class FlatClassifier(BaseLocalClassifier):
    """One estimator over all labels: the baseline that any hierarchical method must beat.

    It ignores the hierarchy when it learns, and uses it when it decides: the probability of a node
    is the sum of those below it.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        Logistic regression by default.
    decoding : str or object of `palmette.decoding`
        As in `LocalPerParentClassifier`, but for an estimator that gives margins ``"auto"`` is
        the label that it would answer itself, as ``"best_path"`` is for any estimator.
    hierarchy, feature_selector, n_jobs, random_state, verbose
        As in `LocalPerParentClassifier`. The estimator sees the features of all nodes together.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    estimators_ : dict of int to estimator
        One entry, 0; empty where there is one label only.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> flat = FlatClassifier().fit(X, y)
    >>> flat.predict_node_proba(X[:1], nodes=["animal"]).round(1)
    array([[0.9]])
    """

    _routes_cheaply = False

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.flat(space)

    def _feature_nodes(self, key: int, ends: bool) -> None:
        return None

    def _class_proba_of(self, X: Any) -> NDArray[np.float64]:
        if not self.estimators_:
            return np.ones((count_rows(X), 1))
        X = take_cells(X, columns=self._columns_of(0))
        return option_scores(self.estimators_[0], X, self.space_.classes).shares()

    def _rule_for_margins(self) -> Any:
        return BestPath()  # the largest margin of all is what the estimator itself would answer

    def _route_of(self, X: Any) -> Route:
        return RouteByMarginals(self.space_, self._class_proba_of(X))
