"""LocalPerLevelClassifier: a multi-class estimator at every depth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.rows import take_cells
from palmette.core.space import LabelSpace
from palmette.core.tasks import Task, TaskTable
from palmette.local.base import BaseLocalClassifier, TaskKey
from palmette.local.features import ColumnsOf
from palmette.local.scores import Scores, option_scores

__all__ = ["LocalPerLevelClassifier"]


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
