"""LocalPerParentClassifier: a multi-class estimator at every parent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.rows import take_cells
from palmette.core.space import LabelSpace
from palmette.core.tasks import TaskTable
from palmette.local.base import BaseLocalClassifier
from palmette.local.features import ColumnsOf
from palmette.local.scores import option_scores

__all__ = ["LocalPerParentClassifier"]


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
