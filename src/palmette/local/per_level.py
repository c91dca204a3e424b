"""LocalPerLevelClassifier: a multi-class estimator at every depth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.decode import normalize_rows
from palmette.core.space import LabelSpace
from palmette.core.tasks import Task, TaskTable
from palmette.local.base import BaseLocalClassifier
from palmette.local.scores import option_scores

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
    hierarchy, decoding, n_jobs, random_state, verbose
        As in `LocalPerParentClassifier`.

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

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.per_level(space)

    def _task_name(self, task: Task) -> int:
        return task.key

    def _task_depth(self, task: Task) -> int:
        return task.key

    def _route_of(self, X: Any) -> _LevelRoute:
        return _LevelRoute(self.space_, self.estimators_, X)


class _LevelRoute:
    """Scores of a level are computed once for all rows, when it is first asked."""

    def __init__(self, space: LabelSpace, estimators: dict[int, Any], X: Any) -> None:
        self._space, self._estimators, self._X = space, estimators, X
        self._scores: dict[int, NDArray[np.float64]] = {}

    def __call__(
        self, parent: int, options: NDArray[np.int32], rows: NDArray[np.int32] | None
    ) -> NDArray[np.float64]:
        depth = int(self._space.depth[parent]) + 1
        estimator = self._estimators[depth]
        known = np.asarray(estimator.classes_)
        if depth not in self._scores:
            self._scores = {depth: option_scores(estimator, self._X, known)}
        columns = np.searchsorted(known, self._space.nodes[options])
        scores = self._scores[depth]
        return normalize_rows(scores[:, columns] if rows is None else scores[rows][:, columns])
