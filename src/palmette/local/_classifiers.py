"""FlatClassifier: one estimator over all labels, with probabilities summed up the hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import count_rows, take_cells
from palmette.decisions._decode import Route, RouteByMarginals
from palmette.decisions._rules import BestPath
from palmette.labels._space import LabelSpace, Task, TaskTable
from palmette.local._base import BaseLocalClassifier, Scores, TaskKey, option_scores
from palmette.local._features import ColumnsOf

__all__ = ["FlatClassifier", "LocalPerLevelClassifier", "LocalPerParentClassifier"]


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


class LocalPerParentClassifier(BaseLocalClassifier):
    """A multi-class estimator at every parent tells its children apart.

    Where training labels end at a parent, "the path ends here" is one more option of it, so that
    internal nodes get probabilities like any other label.

    Parameters
    ----------
    estimator : scikit-learn classifier, dict or callable, optional
        Cloned for every parent; logistic regression by default. A dict has estimators by the path
        of the parent, by its depth (an int), and under ``"default"``. A callable takes the
        parent's path and gives an estimator.
    hierarchy : Hierarchy, optional
        A tree. By default that of `feature_selector`, else taken from the paths in y, or a star.
    feature_selector : HierarchicalFeatureSelector, optional
        Cloned and fitted on the rows of this fit, along the same hierarchy; every estimator then
        sees the features of its own node only. A fitted one in `sklearn.frozen.FrozenEstimator` is
        used as it is. Where it chooses no features for a node, the shares of the options decide.
    decoding : str or object of `palmette.decoding`
        How to decide. ``"auto"`` is the label of best expected hierarchical F1 among those seen in
        training, on a star the most probable class; it asks all local models. ``"best_path"`` is
        the most probable label, and is several times quicker where there are thousands of labels.
        Where estimators give margins and no probabilities, ``"auto"`` is ``"top_down"``.
    n_jobs : int, optional
        Local models fitted at a time; -1 for all cores.
    random_state : int, RandomState or None
        If given, seeds every local model by itself; None leaves their own ``random_state``.
    verbose : int
        Passed to joblib.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels seen in training.
    estimators_ : dict of int to estimator
        By node number of the parent; parents with one option need none.
    feature_selector_ : HierarchicalFeatureSelector or None
        Fitted; None where there is none, or one label only.

    References
    ----------
    Silla and Freitas, "A survey of hierarchical classification across different application
    domains", Data Mining and Knowledge Discovery 22 (2011).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> LocalPerParentClassifier().fit(X, y).predict(X)
    [('animal', 'cat'), ('animal', 'dog'), ('plant', 'oak'), ('plant', 'fern')]
    """

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.per_parent(space)

    def _route_of(self, X: Any) -> _ParentRoute:
        return _ParentRoute(self.space_, self.estimators_, self._columns_of, X)


class _ParentRoute:
    def __init__(
        self, space: LabelSpace, estimators: dict[int, Any], columns_of: ColumnsOf, X: Any
    ) -> None:
        self._space, self._estimators, self._X = space, estimators, X
        self._columns_of = columns_of

    def __call__(
        self, parent: int, options: NDArray[np.int32], rows: NDArray[np.int32] | None
    ) -> NDArray[np.float64]:
        node = int(self._space.nodes[parent])
        X = take_cells(self._X, rows, self._columns_of(node))
        return option_scores(self._estimators[node], X, self._space.nodes[options]).shares()


class LocalPerLevelClassifier(BaseLocalClassifier):
    """A multi-class estimator at every depth tells all nodes of that depth apart.

    Levels are fitted alone and may contradict each other; scores of siblings are scaled to sum to
    one before they are multiplied along paths, so that probabilities are coherent.

    Parameters
    ----------
    estimator : scikit-learn classifier, dict or callable, optional
        Cloned for every level; logistic regression by default. A dict has estimators by depth, from
        1, and under ``"default"``. A callable takes the depth and gives an estimator.
    hierarchy, feature_selector, decoding, n_jobs, random_state, verbose
        As in `LocalPerParentClassifier`. A level sees the features of all parents just above it.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    estimators_ : dict of int to estimator
        By depth, from 1; depths with one option need none.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [["animal", "cat"], ["animal", "dog"], ["plant"], ["plant"]]
    >>> LocalPerLevelClassifier().fit(X, y).predict(X)
    [['animal', 'cat'], ['animal', 'dog'], ['plant'], ['plant']]
    """

    _tasks_are_nodes = False
    _routes_cheaply = False  # a level answers for all of its nodes at once

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.per_level(space)

    def _feature_nodes(self, key: int, ends: bool) -> list[int]:
        """Parents of a level; for one with a single option, the next above it that has several."""
        space = self.space_
        n_options = np.bincount(space.parent[1:], minlength=space.n_active) + space.is_class
        above = np.flatnonzero((space.depth == key - 1) & space.has_children)
        while (single := (n_options[above] == 1) & (above > 0)).any():
            above[single] = space.parent[above[single]]
        return [int(node) for node in space.nodes[np.unique(above)]]

    def _task_key(self, task: Task) -> TaskKey:
        return TaskKey(task.key, task.key, None)

    def _route_of(self, X: Any) -> _LevelRoute:
        return _LevelRoute(self.space_, self.estimators_, self._columns_of, X)


class _LevelRoute:
    """Scores of a level are computed once for all rows, when it is first asked."""

    def __init__(
        self, space: LabelSpace, estimators: dict[int, Any], columns_of: ColumnsOf, X: Any
    ) -> None:
        self._space, self._estimators, self._X = space, estimators, X
        self._columns_of = columns_of
        self._scores: dict[int, Scores] = {}

    def __call__(
        self, parent: int, options: NDArray[np.int32], rows: NDArray[np.int32] | None
    ) -> NDArray[np.float64]:
        depth = int(self._space.depth[parent]) + 1
        nodes = self._level(depth)
        if depth not in self._scores:
            X = take_cells(self._X, columns=self._columns_of(depth))
            self._scores[depth] = option_scores(self._estimators[depth], X, nodes)
        columns = np.searchsorted(nodes, self._space.nodes[options])
        scores = self._scores[depth]
        return scores.among((slice(None), columns) if rows is None else np.ix_(rows, columns))

    def _level(self, depth: int) -> NDArray[np.int32]:
        """Options of a level: its nodes, and the labels above them where a path may end."""
        space = self._space
        may_end = space.is_class & space.has_children & (space.depth == depth - 1)
        options: NDArray[np.int32] = space.nodes[may_end | (space.depth == depth)]
        return options
