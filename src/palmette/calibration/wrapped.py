"""Any classifier, ours or another, behind one face: labels in, probabilities of given nodes out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from palmette.calibration.kinds import final_step, places_of_hierarchy, takes_node_labels
from palmette.core.decode import path_product
from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.core.rows import count_rows
from palmette.core.space import LabelSpace
from palmette.engine.answers import NodeRoute, nodes_in
from palmette.engine.classifier import HierarchicalClassifier
from palmette.engine.label_scorer import LabelScorer, check_scores
from palmette.engine.weights import weight_keyword
from palmette.exceptions import PalmetteError

__all__ = ["WrappedClassifier"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class WrappedClassifier:
    """A classifier that is given `NodeLabels` and asked for probabilities of classes or nodes.

    Ours, at the end of a pipeline too, get the labels as they are. Others get the class of every
    row, or a 0/1 matrix of the nodes that vary where rows have several paths.

    Parameters
    ----------
    estimator : classifier
        Unfitted, and nobody else's; or fitted, for `adopt`.
    learns_tree : bool
        Whether it is to learn a hierarchy over the labels: it then sees nothing but their names.
    """

    def __init__(self, estimator: Any, *, learns_tree: bool = False) -> None:
        self.estimator = estimator
        self.learns_tree = learns_tree
        self.class_nodes: IntArray | None = None  # of the columns of other people's probabilities
        self.label_scorer: LabelScorer | None = None  # of other people's, for several paths

    # ------------------------------------------------------------------ fitting

    def fit(
        self, X: Any, labels: NodeLabels, weights: FloatArray | None, *, several: bool
    ) -> WrappedClassifier:
        """Fit on rows with labels, which all have a weight above zero where they have one.

        Parameters
        ----------
        X : rows
        labels : NodeLabels
        weights : array of shape (n_samples,), optional
        several : bool
            Whether rows have several paths, or the hierarchy is a DAG.

        Returns
        -------
        self
        """
        with warnings.catch_warnings():
            # a fold may lack labels; the whole has been read, and warned about, by then
            warnings.filterwarnings("ignore", message=".*columns of y have no positive row")
            if takes_node_labels(self.estimator):
                self.estimator.fit(X, labels, **_weighted(self.estimator, weights))
            elif several:
                self._fit_matrix(X, labels, weights)
            else:
                self._fit_classes(X, labels, weights)
        return self

    def _fit_matrix(self, X: Any, labels: NodeLabels, weights: FloatArray | None) -> None:
        estimator = self.estimator
        if not get_tags(estimator).classifier_tags.multi_label:
            estimator = MultiOutputClassifier(estimator)
        check_scores(estimator)
        nodes = nodes_in(labels.closed)
        scorer = LabelScorer(estimator, labels.hierarchy, nodes)
        self.label_scorer = scorer.fit(X, labels.closed[:, nodes], weights)
        self.class_nodes = nodes
        self.estimator = scorer.estimator

    def _fit_classes(self, X: Any, labels: NodeLabels, weights: FloatArray | None) -> None:
        hierarchy = labels.hierarchy
        classes, codes = np.unique(labels.terminals, return_inverse=True)
        self.class_nodes = classes.astype(np.int32)
        if len(classes) == 1:
            self.estimator = None  # many refuse a single class
            return
        names = labels.form.class_labels(classes, hierarchy)
        places = [] if self.learns_tree else places_of_hierarchy(self.estimator)
        if places:
            self.estimator.set_params(**dict.fromkeys(places, hierarchy))
        if places or isinstance(names[0], tuple):
            names = hierarchy.path_strings[classes].astype(str)
        self.estimator.fit(X, names[codes], **_weighted(self.estimator, weights))
        node_of = dict(zip(names.tolist(), classes.tolist(), strict=True))
        known = np.asarray(self.estimator.classes_).tolist()
        self.class_nodes = np.array([node_of[name] for name in known], dtype=np.int32)

    def adopt(self, hierarchy: Hierarchy, *, several: bool) -> WrappedClassifier:
        """Take an estimator that has been fitted already, on labels of a hierarchy."""
        last = final_step(self.estimator)
        if not hasattr(last, "classes_"):
            raise PalmetteError(
                f"{type(self.estimator).__name__} has no classes_: expected a fitted classifier. "
                "Fit it first, or let it be fitted here, by folds."
            )
        if not takes_node_labels(self.estimator):
            if several:
                raise PalmetteError(
                    f"{type(last).__name__} was fitted on several labels a row: expected one of "
                    "palmette's classifiers, which know the nodes of their columns. Let it be "
                    "fitted here, or wrap it, in BinaryRelevance, say, before it is fitted."
                )
            self.class_nodes = NodeLabels.encode(np.asarray(last.classes_), hierarchy).terminals
        return self

    def known_nodes(self) -> IntArray:
        """Nodes that the fitted estimator tells apart: its classes, or nodes of several paths."""
        if self.class_nodes is not None:
            return self.class_nodes
        model = final_step(self.estimator)
        nodes: IntArray = model.nodes_ if _answers_by_node(model) else model.space_.classes
        return nodes

    # ------------------------------------------------------------------ answering

    def class_proba(self, X: Any, space: LabelSpace) -> FloatArray:
        """Probabilities of shape (n_samples, n_classes), columns as in ``space.classes``.

        Classes that the estimator does not know have none. Margins become shares by a softmax.
        """
        if self.estimator is None:
            values = np.ones((count_rows(X), 1))
        elif isinstance(final_step(self.estimator), HierarchicalClassifier):
            X, model = _to_last_step(self.estimator, X)
            if _answers_by_node(model):
                below_root = self.node_proba(X, space.nodes[1:], is_ready=True)
                return path_product(space, NodeRoute(below_root), count_rows(X))
            values = _own_class_proba(model, X)
        else:
            values = _shares(self.estimator, X)
        nodes = self._column_nodes()
        proba = np.zeros((len(values), space.n_classes))
        place = np.searchsorted(space.classes, nodes).clip(max=space.n_classes - 1)
        known = space.classes[place] == nodes
        proba[:, place[known]] = values[:, known]
        return proba

    def _column_nodes(self) -> IntArray:
        """Node of every column of the estimator's probabilities, one path a row."""
        if self.class_nodes is not None:
            return self.class_nodes
        model = final_step(self.estimator)
        nodes: IntArray = model.space_.classes[model._answers.class_order]
        return nodes

    def node_proba(self, X: Any, nodes: IntArray, *, is_ready: bool = False) -> FloatArray:
        """Probabilities of shape (n_samples, n_columns) of nodes below the root.

        Nodes that the estimator does not know have none.

        Parameters
        ----------
        X : rows
        nodes : int array of shape (n_columns,)
        is_ready : bool
            Whether X has gone through the pipeline already.
        """
        proba = np.zeros((count_rows(X), len(nodes)))
        if self.label_scorer is not None:
            known = np.isin(nodes, self.class_nodes)
            place = np.searchsorted(self.class_nodes, nodes[known])
            proba[:, known] = self.label_scorer.scores(X)[:, place]
            return proba
        model = final_step(self.estimator)
        if not is_ready:
            X, model = _to_last_step(self.estimator, X)
        if _answers_by_node(model):
            return np.asarray(model._proba_of_nodes(model._read_rows(X), nodes))
        return np.asarray(model.predict_node_proba(X)[:, nodes])


# ---------------------------------------------------------------------- asking


def _to_last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """X as the classifier at the end of a pipeline sees it, and that classifier."""
    while isinstance(estimator, Pipeline):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator.steps[-1][1]
    return X, estimator


def _own_class_proba(model: Any, X: Any) -> FloatArray:
    """Probabilities of one of ours, one path a row, columns as in its ``classes_``."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    shares = model._class_proba_of(model._read_features(X, reset=False))
    return np.asarray(shares[:, model._answers.class_order])


def _shares(estimator: Any, X: Any) -> FloatArray:
    """Probabilities of any classifier's classes, or the softmax of its margins."""
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X), dtype=np.float64)
    margins = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if margins.ndim == 1:  # of the second of two classes
        margins = np.column_stack([np.zeros(len(margins)), margins])
    if margins.shape[1] != len(estimator.classes_):
        raise PalmetteError(
            f"{type(estimator).__name__}.decision_function gave {margins.shape[1]} columns for "
            f"{len(estimator.classes_)} classes: expected one a class. Set "
            "decision_function_shape='ovr'."
        )
    return np.asarray(softmax(margins, axis=1))


def _answers_by_node(model: Any) -> bool:
    return bool(getattr(model, "several_paths_", False))


def _weighted(estimator: Any, weights: FloatArray | None) -> dict[str, FloatArray]:
    return {} if weights is None else {weight_keyword(estimator): weights}
