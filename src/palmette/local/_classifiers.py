"""Classifiers with one estimator in all, per parent node, or per level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, count_rows, take_cells
from palmette.base._foreign import at_level, at_node
from palmette.decisions._decode import Route, RouteByMarginals
from palmette.decisions._rules import BestPath
from palmette.labels._space import LabelSpace, Task, TaskTable
from palmette.local._base import BaseLocalClassifier
from palmette.local._features import ColumnsOf
from palmette.local._several import (
    LabelBlock,
    fit_one_label,
    label_blocks,
    level_blocks,
    multiplied_down,
    parent_blocks,
    proba_above,
    with_blocks,
)
from palmette.local._tasks import Scores, TaskKey, option_scores


class FlatClassifier(BaseLocalClassifier):
    """One estimator over all labels: the baseline for hierarchical methods.

    It ignores the hierarchy when it is fitted, and uses it when it predicts: the probability of a
    node is the sum of the probabilities of the labels at or below it. Rows may have several paths
    or none: then the labels, inner nodes among them, are decided separately, and a node is as
    probable as the most probable label at or below it.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        Logistic regression by default. With several paths per row it is cloned for every label,
        unless it supports several labels itself, as forests do.
    decoding : str or object of `palmette.decoding`
        As in `LocalPerParentClassifier`, but for an estimator with margins only ``"auto"`` is the
        label that the estimator itself predicts, as ``"best_path"`` is for any estimator.
    hierarchy, feature_selector, n_jobs, random_state, verbose, client
        As in `LocalPerParentClassifier`. The estimator uses the features selected at any node.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    estimators_ : dict of int to estimator
        One entry, with key 0; empty if there is only one label.
    label_nodes_ : dict of int to int array
        As in `LocalPerParentClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> flat = FlatClassifier().fit(X, y)
    >>> flat.predict_node_proba(X[:1], nodes=["animal"]).round(1)
    array([[0.9]])
    """

    _takes_several_paths: ClassVar[bool] = True
    _routes_cheaply = False

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.flat(space)

    def _make_blocks(self, Y: sparse.csr_array) -> list[LabelBlock]:
        return label_blocks(self._answers.columns, Y, self._answers.class_nodes)

    def _fit_tasks(
        self, X: Any, codes: Any, weights: FloatArray | None, choose: Callable[[TaskKey], Any]
    ) -> None:
        if self._chooses_one():
            fit_one_label(self, X, codes, weights, choose)
        else:
            super()._fit_tasks(X, codes, weights, choose)

    def _node_proba_of(self, X: Any) -> FloatArray:
        if self._chooses_one():
            return proba_above(self, X)
        columns = self._answers.columns
        proba = np.zeros((count_rows(X), columns.n_columns))
        proba[:, columns.place(np.intersect1d(self._answers.class_nodes, self.nodes_))] = 1.0
        return with_blocks(self, X, proba)

    def _chooses_one(self) -> bool:
        """Return whether the hierarchy is a DAG, but every row has one label."""
        return self._answers.by_node and not self.label_form_.several

    def _feature_nodes(self, key: int, ends: bool) -> None:
        return None

    def _class_proba_of(self, X: Any) -> FloatArray:
        if not self.estimators_:
            return np.ones((count_rows(X), 1))
        X = take_cells(X, columns=self._columns_of(0))
        return option_scores(self.estimators_[0], X, self.space_.classes).shares()

    def _rule_for_margins(self) -> Any:
        return BestPath()  # the largest margin is the prediction of the estimator itself

    def _route_of(self, X: Any) -> Route:
        return RouteByMarginals(self.space_, self._class_proba_of(X))


class LocalPerParentClassifier(BaseLocalClassifier):
    """One multi-class estimator per parent node, which chooses among its children.

    If training labels end at a parent, "the path ends here" is one more class of its estimator, so
    that internal nodes get probabilities like any other label. Rows may have several paths or none,
    and the hierarchy may be a DAG: then several children may be true, and the probability of each
    given its parent is multiplied with that of the parent.

    Parameters
    ----------
    estimator : scikit-learn classifier, dict or callable, optional
        Cloned for every parent; logistic regression by default. The keys of a dict are paths of
        parents, depths (int) and ``"default"``. A callable takes the path of the parent and
        returns an estimator. With several paths per row it is cloned for every child, unless it
        supports several labels itself, as forests do.
    hierarchy : Hierarchy, or a learner of one, optional
        By default that of `feature_selector`, else the tree of the paths in y; a star if y has
        names.
    feature_selector : HierarchicalFeatureSelector, optional
        Cloned and fitted on the same rows and hierarchy; every estimator then uses only the
        features selected at its node. A fitted selector in `sklearn.frozen.FrozenEstimator` is used
        as it is. Where no feature is selected at a node, class frequencies are predicted.
    decoding : str or object of `palmette.decoding`
        Decision rule. ``"auto"`` predicts the training label of highest expected hierarchical F1,
        on a star the most probable class; it evaluates all local models. ``"best_path"`` predicts
        the most probable label, and is several times faster with thousands of labels. If
        estimators have margins but no probabilities, ``"auto"`` is ``"top_down"``. With several
        paths per row it is a threshold or another rule for sets of nodes; ``"auto"`` is 0.5.
    n_jobs : int, optional
        Number of local models fitted in parallel; -1 for all cores.
    random_state : int, RandomState or None
        Seed from which every local model gets its own; with None they keep their ``random_state``.
    verbose : int
        Passed to joblib.
    client : distributed.Client or str, optional
        Dask cluster, or the address of its scheduler, on whose workers the local models are fitted.
        X is sent to every worker once. The result is the same, and has no part of the cluster.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels seen in training.
    estimators_ : dict of int to estimator
        By node number of the parent; parents with one option have none. Where all rows are equal,
        a classifier that predicts class frequencies.
    label_nodes_ : dict of int to int array
        With several paths per row, by the same keys: the nodes that an estimator decides, those
        that some of its rows have and others do not.
    feature_selector_ : HierarchicalFeatureSelector or None
        Fitted; None if there is no selector, or only one label.

    References
    ----------
    C. N. Silla, A. A. Freitas (2011). A survey of hierarchical classification across different
    application domains. Data Mining and Knowledge Discovery 22, 31-72.
    doi:10.1007/s10618-010-0175-9

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> LocalPerParentClassifier().fit(X, y).predict(X)
    [('animal', 'cat'), ('animal', 'dog'), ('plant', 'oak'), ('plant', 'fern')]
    """

    _takes_several_paths: ClassVar[bool] = True

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.per_parent(space)

    def _make_blocks(self, Y: sparse.csr_array) -> list[LabelBlock]:
        return parent_blocks(self._answers.columns, Y)

    def _node_proba_of(self, X: Any) -> FloatArray:
        return multiplied_down(self, X)

    def _route_of(self, X: Any) -> _ParentRoute:
        return _ParentRoute(self.space_, self.estimators_, self._columns_of, X)


class _ParentRoute:
    def __init__(
        self, space: LabelSpace, estimators: dict[int, Any], columns_of: ColumnsOf, X: Any
    ) -> None:
        self._space, self._estimators, self._X = space, estimators, X
        self._columns_of = columns_of

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        node = int(self._space.nodes[parent])
        X = take_cells(self._X, rows, self._columns_of(node))
        where = at_node(self._space.hierarchy, node)
        return option_scores(self._estimators[node], X, self._space.nodes[options], where).shares()


class LocalPerLevelClassifier(BaseLocalClassifier):
    """One multi-class estimator per level, over all nodes of that depth.

    Levels are fitted independently and may contradict each other. Scores of siblings are normalized
    to sum to one before they are multiplied along paths, so that probabilities are coherent. Rows
    may have several paths or none, and the hierarchy may be a DAG: then several nodes of a level
    may be true, and a node is at least as probable as those below it.

    Parameters
    ----------
    estimator : scikit-learn classifier, dict or callable, optional
        Cloned for every level; logistic regression by default. The keys of a dict are depths,
        from 1, and ``"default"``. A callable takes the depth and returns an estimator. With several
        paths per row it is cloned for every node, unless it supports several labels itself.
    hierarchy, feature_selector, decoding, n_jobs, random_state, verbose, client
        As in `LocalPerParentClassifier`. A level uses the features of all parents just above it.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    estimators_ : dict of int to estimator
        By depth, from 1; depths with one option have none.
    label_nodes_ : dict of int to int array
        As in `LocalPerParentClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [["animal", "cat"], ["animal", "dog"], ["plant"], ["plant"]]
    >>> LocalPerLevelClassifier().fit(X, y).predict(X)
    [['animal', 'cat'], ['animal', 'dog'], ['plant'], ['plant']]
    """

    _takes_several_paths: ClassVar[bool] = True
    _tasks_are_nodes = False
    _routes_cheaply = False  # an estimator scores all nodes of its level at once

    def _make_tasks(self, space: LabelSpace) -> TaskTable:
        return TaskTable.per_level(space)

    def _make_blocks(self, Y: sparse.csr_array) -> list[LabelBlock]:
        return level_blocks(self._answers.columns, Y)

    def _node_proba_of(self, X: Any) -> FloatArray:
        return with_blocks(self, X, np.ones((count_rows(X), len(self.nodes_))))

    def _feature_nodes(self, key: int, ends: bool) -> list[int]:
        """Return the parents of a level; for one with one option its next ancestor with several."""
        if self._answers.by_node:
            edges = self.hierarchy_.edges
            at_level = self.hierarchy_.depth[edges[:, 1]] == key
            parents = np.unique(edges[at_level & np.isin(edges[:, 1], self.nodes_), 0])
            return [int(node) for node in parents]
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
    """Route by levels; the scores of a level are computed once, for all rows."""

    def __init__(
        self, space: LabelSpace, estimators: dict[int, Any], columns_of: ColumnsOf, X: Any
    ) -> None:
        self._space, self._estimators, self._X = space, estimators, X
        self._columns_of = columns_of
        self._scores: dict[int, Scores] = {}

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        depth = int(self._space.depth[parent]) + 1
        nodes = self._level(depth)
        if depth not in self._scores:
            X = take_cells(self._X, columns=self._columns_of(depth))
            estimator = self._estimators[depth]
            self._scores[depth] = option_scores(estimator, X, nodes, at_level(depth))
        columns = np.searchsorted(nodes, self._space.nodes[options])
        scores = self._scores[depth]
        return scores.among((slice(None), columns) if rows is None else np.ix_(rows, columns))

    def _level(self, depth: int) -> IntArray:
        """Return the options of a level: its nodes, and labels above them where a path may end."""
        space = self._space
        may_end = space.is_class & space.has_children & (space.depth == depth - 1)
        options: IntArray = space.nodes[may_end | (space.depth == depth)]
        return options
