"""Fitting any classifier, of Palmette or not, on labels that have been read.

`WrappedClassifier` is fitted on `NodeLabels` and returns probabilities of any nodes; `LabelScorer`
is fitted on a matrix of true nodes and returns a matrix of probabilities.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags

from palmette._arrays import FloatArray, IntArray, count_rows, take_rows
from palmette.base._adapters import final_step, to_last_step
from palmette.base._answers import NodeRoute, nodes_in
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._fitting import weight_keyword
from palmette.base._foreign import classes_of, fit_foreign, margins_of, outputs_of, proba_of
from palmette.base._multilabel import MultilabelClassifier
from palmette.decisions._decode import path_product
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace
from palmette.persistence.checks import array, held

# ---------------------------------------------------------------------- kinds of classifiers


def _has_a_tree(classifier: Any) -> bool:
    """Return whether a classifier is one over class trees, which reads labels itself."""
    return isinstance(getattr(type(classifier), "hierarchy", None), property)


def takes_node_labels(estimator: Any) -> bool:
    """Return whether `fit` accepts `NodeLabels`."""
    last = final_step(estimator)
    if not isinstance(last, HierarchicalClassifier):
        return False
    inner = getattr(last, "estimator", None)
    is_wrapper = isinstance(final_step(inner), HierarchicalClassifier)
    return not _has_a_tree(last) and (not is_wrapper or takes_node_labels(inner))


def learns_its_tree(estimator: Any, *, from_names: bool) -> bool:
    """Return whether an estimator, or one that it wraps, learns a hierarchy in `fit`.

    Parameters
    ----------
    estimator : classifier
    from_names : bool
        Whether y has plain names: classifiers over class trees then learn a tree if none is set.
    """
    last = final_step(estimator)
    if not isinstance(last, HierarchicalClassifier):
        return False
    setting = last.hierarchy
    if setting is not None:
        return hasattr(setting, "fit")
    if _has_a_tree(last):
        return from_names
    return learns_its_tree(getattr(last, "estimator", None), from_names=from_names)


def places_of_hierarchy(estimator: Any) -> list[str]:
    """Return the names of the parameters for a hierarchy, of the outermost part that has one.

    That part sets the hierarchy of the parts inside it, which may be fitted on other labels.
    """
    found = estimator.get_params(deep=True)
    places = [name for name in found if name.rpartition("__")[2] == "hierarchy"]
    trees = [name for name in found if name.rpartition("__")[2] == "tree"]
    places += [name for name in trees if _has_a_tree(_owner(estimator, found, name))]
    outermost = min((name.count("__") for name in places), default=0)
    return [name for name in places if name.count("__") == outermost]


def _owner(estimator: Any, parameters: dict[str, Any], name: str) -> Any:
    """Return the part of an estimator that a parameter belongs to."""
    prefix = name.rpartition("__")[0]
    return parameters[prefix] if prefix else estimator


def check_wrapped(estimator: Any) -> None:
    """Raise an error unless an estimator is a classifier with probabilities or margins."""
    if not hasattr(estimator, "fit"):
        raise PalmetteError(
            f"estimator is {estimator!r}: expected a classifier, such as "
            "LocalPerParentClassifier(LogisticRegression()) or LogisticRegression()."
        )
    last = final_step(estimator)
    if isinstance(last, HierarchicalClassifier):
        own, base = type(last), HierarchicalClassifier
        scored = (
            own._class_proba_of is not base._class_proba_of
            or own._node_proba_of is not base._node_proba_of
        )
    else:
        scored = hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")
    if not scored:
        raise PalmetteError(
            f"{type(last).__name__} has neither probabilities nor margins: expected a classifier "
            "with predict_proba or decision_function."
        )


def takes_node_sets(estimator: Any) -> bool:
    """Return whether an estimator is one of Palmette that supports several paths per row."""
    return isinstance(estimator, HierarchicalClassifier) and estimator._takes_several_paths


def check_scores(estimator: Any) -> None:
    """Raise an error for an estimator without probabilities."""
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict_proba"):
        raise PalmetteError(
            f"{estimator!r} has no predict_proba: expected a classifier with probabilities, which "
            "thresholds need. BinaryRelevance(estimator) derives them from margins."
        )


def has_out_of_bag(estimator: Any) -> bool:
    """Return whether an estimator has, or can be set to have, out-of-bag scores."""
    if isinstance(estimator, MultilabelClassifier):
        return estimator._tunes_itself() and not estimator._tunes_on_seen_rows
    if takes_node_sets(estimator):
        return False
    parameters = estimator.get_params(deep=False)
    return "oob_score" in parameters and bool(parameters.get("bootstrap"))


def with_out_of_bag(estimator: Any) -> Any:
    """Return a clone of an estimator that will keep its out-of-bag scores."""
    copy = clone(estimator)
    if not takes_node_sets(estimator) and not copy.oob_score:
        copy.set_params(oob_score=True)
    return copy


# ---------------------------------------------------------------------- a matrix of nodes


class LabelScorer:
    """An estimator that is fitted on a matrix of true nodes and returns one of probabilities.

    A classifier of Palmette gets the hierarchy and a column for each of its nodes. Others get a 0/1
    matrix of the columns that vary: many of them cannot be fitted on a constant column.

    Parameters
    ----------
    estimator : classifier
        Unfitted; it is fitted in place.
    hierarchy : Hierarchy
    nodes : int array of shape (n_columns,)
        Nodes of the columns.

    Attributes
    ----------
    estimator : classifier
        Fitted; None if no column varies.
    """

    in_files: ClassVar = {
        "estimator": held(object),
        "_is_ours": held(bool),
        "_n_nodes": held(int, np.integer, below=2**31),
        "_nodes": array("i", None, below="_n_nodes"),
    }

    def __init__(self, estimator: Any, hierarchy: Hierarchy, nodes: IntArray) -> None:
        self._is_ours = takes_node_sets(estimator)  # a classifier of Palmette
        if self._is_ours:
            # its own predictions are not used, so thresholds need not be tuned
            estimator = estimator.set_params(hierarchy=hierarchy, decoding=0.5)
        self.estimator = estimator
        self._n_nodes = hierarchy.n_nodes
        self._nodes = nodes

    def fit(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> LabelScorer:
        """Fit on rows X and true nodes Y, sparse bool of shape (n_samples, n_columns)."""
        keywords = {} if weights is None else {weight_keyword(self.estimator): weights}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*columns of y ha(s|ve) no positive row")
            warnings.simplefilter("ignore", DataConversionWarning)  # one label is a matrix too
            if self._is_ours:
                self.estimator.fit(X, self._by_node(Y), **keywords)
                return self
            counts = np.asarray(Y.sum(axis=0)).ravel()
            self._always = counts == Y.shape[0]
            self._varies = np.flatnonzero((counts > 0) & ~self._always)
            targets = Y[:, self._varies].toarray().astype(np.int64)
            fitted = fit_foreign(self.estimator, X, targets, **keywords) if targets.size else None
            self.estimator = fitted
        return self

    def _by_node(self, Y: sparse.csr_array) -> sparse.csr_array:
        """Return a matrix with a column for every node but the root, as y may be written."""
        places = (Y.data.astype(np.int8), self._nodes[Y.indices] - 1, Y.indptr)
        return sparse.csr_array(places, shape=(Y.shape[0], self._n_nodes - 1))

    # ------------------------------------------------------------------ scores

    def scores(self, X: Any) -> FloatArray:
        """Return probabilities of shape (n_samples, n_columns)."""
        if self._is_ours:
            proba: FloatArray = self.estimator.predict_proba(X)[:, self._nodes - 1]
            return proba
        varying = None if self.estimator is None else self._positive(X)
        return self._all_columns(varying, count_rows(X))

    def out_of_bag(self, X: Any) -> FloatArray:
        """Return the out-of-bag scores of the rows X of the fit: (n_samples, n_columns)."""
        if self._is_ours:
            return np.array(self.estimator._out_of_bag_proba(), dtype=np.float64)
        if self.estimator is None:
            return self.scores(X)
        by_class = self.estimator.oob_decision_function_.reshape(count_rows(X), 2, -1)
        varying = np.array(by_class[:, 1])
        is_missing = ~(by_class[:, :, 0].sum(axis=1) > 0)  # in every bag
        missing = np.flatnonzero(is_missing).astype(np.int32)
        if len(missing):
            varying[missing] = self._positive(take_rows(X, missing))
        return self._all_columns(varying, count_rows(X))

    def _positive(self, X: Any) -> FloatArray:
        return outputs_of(self.estimator, X, len(self._varies))

    def _all_columns(self, varying: FloatArray | None, n_rows: int) -> FloatArray:
        table = np.repeat(self._always[None, :].astype(np.float64), n_rows, axis=0)
        if varying is not None:
            table[:, self._varies] = varying
        return table


# ---------------------------------------------------------------------- labels that were read


class WrappedClassifier:
    """A classifier that is fitted on `NodeLabels` and returns probabilities of classes or nodes.

    A classifier of Palmette, also at the end of a pipeline, gets the labels unchanged. Others get
    the class of every row, or a 0/1 matrix of the nodes that vary if rows have several paths.

    Parameters
    ----------
    estimator : classifier
        Unfitted, to be fitted in place; or fitted, for `adopt`.
    learns_tree : bool
        Whether it learns a hierarchy over the labels: it then gets only their names.
    """

    in_files: ClassVar = {
        "estimator": held(object),
        "learns_tree": held(bool),
        "class_nodes": array("i", None, or_none=True),
        "label_scorer": held(LabelScorer, or_none=True),
    }

    def __init__(self, estimator: Any, *, learns_tree: bool = False) -> None:
        self.estimator = estimator
        self.learns_tree = learns_tree
        self.class_nodes: IntArray | None = None  # of the columns of `predict_proba`
        self.label_scorer: LabelScorer | None = None  # for several paths

    # ------------------------------------------------------------------ fitting

    def fit(
        self, X: Any, labels: NodeLabels, weights: FloatArray | None, *, several: bool
    ) -> WrappedClassifier:
        """Fit on rows with labels; weights, if there are any, are positive.

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
            # a fold may lack labels; the user was warned when all labels were read
            warnings.filterwarnings("ignore", message=".*columns of y ha(s|ve) no positive row")
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
            from sklearn.multioutput import MultiOutputClassifier  # which imports its searches

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
            self.estimator = None  # many classifiers raise an error for a single class
            return
        names = labels.form.class_labels(classes, hierarchy)
        places = [] if self.learns_tree else places_of_hierarchy(self.estimator)
        if places:
            self.estimator.set_params(**dict.fromkeys(places, hierarchy))
        if places or isinstance(names[0], tuple):
            names = hierarchy.path_strings[classes].astype(str)
            if not places and len(set(names.tolist())) < len(names):  # a name contains "/"
                names = classes.astype(str)
        given = _weighted(self.estimator, weights)
        self.estimator = fit_foreign(self.estimator, X, names[codes], **given)
        node_of = dict(zip(names.tolist(), classes.tolist(), strict=True))
        known = classes_of(self.estimator, names).tolist()
        self.class_nodes = np.array([node_of[name] for name in known], dtype=np.int32)

    def adopt(self, hierarchy: Hierarchy, *, several: bool) -> WrappedClassifier:
        """Use an estimator that is fitted already, on labels of a hierarchy."""
        last = final_step(self.estimator)
        if not hasattr(last, "classes_"):
            raise PalmetteError(
                f"{type(self.estimator).__name__} has no classes_: expected a fitted classifier. "
                "Fit it first, or use folds to have it fitted."
            )
        if not takes_node_labels(self.estimator):
            if several:
                raise PalmetteError(
                    f"{type(last).__name__} was fitted on several labels per row: expected a "
                    "classifier of palmette, which stores the nodes of its columns. Pass it "
                    "unfitted, or wrap it in BinaryRelevance before it is fitted."
                )
            self.class_nodes = NodeLabels.encode(np.asarray(last.classes_), hierarchy).terminals
        return self

    def known_nodes(self) -> IntArray:
        """Return the nodes of the fitted estimator: its classes, or all nodes if by node."""
        if self.class_nodes is not None:
            return self.class_nodes
        model = final_step(self.estimator)
        nodes: IntArray = model.nodes_ if answers_by_node(model) else model.space_.classes
        return nodes

    # ------------------------------------------------------------------ answering

    def class_proba(self, X: Any, space: LabelSpace) -> FloatArray:
        """Return probabilities of ``space.classes``: (n_samples, n_classes).

        Classes that the estimator lacks have probability 0. Margins are passed through a softmax.
        """
        if self.estimator is None:
            values = np.ones((count_rows(X), 1))
        elif isinstance(final_step(self.estimator), HierarchicalClassifier):
            X, model = to_last_step(self.estimator, X)
            if answers_by_node(model):
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
        """Return the nodes of the columns of the probabilities, for one path per row."""
        if self.class_nodes is not None:
            return self.class_nodes
        model = final_step(self.estimator)
        nodes: IntArray = model.space_.classes[model._answers.class_order]
        return nodes

    def node_proba(self, X: Any, nodes: IntArray, *, is_ready: bool = False) -> FloatArray:
        """Return probabilities of nodes below the root: (n_samples, n_columns).

        Nodes that the estimator lacks have probability 0.

        Parameters
        ----------
        X : rows
        nodes : int array of shape (n_columns,)
        is_ready : bool
            Whether X was already transformed by the steps of the pipeline.
        """
        proba = np.zeros((count_rows(X), len(nodes)))
        if self.label_scorer is not None and self.class_nodes is not None:
            known = np.isin(nodes, self.class_nodes)
            place = np.searchsorted(self.class_nodes, nodes[known])
            proba[:, known] = self.label_scorer.scores(X)[:, place]
            return proba
        model = final_step(self.estimator)
        if not is_ready:
            X, model = to_last_step(self.estimator, X)
        if answers_by_node(model):
            return np.asarray(model._proba_of_nodes(model._read_rows(X), nodes))
        return np.asarray(model.predict_node_proba(X)[:, nodes])


def _own_class_proba(model: Any, X: Any) -> FloatArray:
    """Return probabilities of ``classes_`` of a Palmette classifier with one path per row."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    shares = model._class_proba_of(model._read_rows(X))
    return np.asarray(shares[:, model._answers.class_order])


def _shares(estimator: Any, X: Any) -> FloatArray:
    """Return the probabilities of any classifier, or the softmax of its margins."""
    if hasattr(estimator, "predict_proba"):
        return proba_of(estimator, X)
    margins = margins_of(estimator, X)
    if margins.ndim == 1:  # of the second of two classes
        margins = np.column_stack([np.zeros(len(margins)), margins])
    return np.asarray(softmax(margins, axis=1))


def answers_by_node(model: Any) -> bool:
    """Return whether a fitted classifier decides every node separately."""
    return getattr(getattr(model, "_answers", None), "by_node", False)


def _weighted(estimator: Any, weights: FloatArray | None) -> dict[str, FloatArray]:
    return {} if weights is None else {weight_keyword(estimator): weights}
