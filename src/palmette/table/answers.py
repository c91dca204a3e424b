"""Answers of any fitted classifier as nodes with probabilities, asked for once a row."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.decoding import BestPath, Confident, Decoding
from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.core.space import LabelSpace
from palmette.exceptions import PalmetteError

__all__ = [
    "PathAnswers",
    "gives_node_proba",
    "node_proba",
    "node_sets",
    "nodes_of",
    "write_nodes",
    "write_sets",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


def gives_node_proba(estimator: Any) -> bool:
    """Whether a fitted classifier has probabilities of nodes, or of its classes."""
    inner = _over_labels(estimator)
    if inner is not None:
        return hasattr(inner, "predict_proba")
    return hasattr(estimator, "predict_node_proba") or hasattr(estimator, "predict_proba")


def node_proba(estimator: Any, X: Any, hierarchy: Hierarchy) -> FloatArray:
    """Probabilities of all nodes, of shape (n_samples, n_nodes).

    Parameters
    ----------
    estimator : fitted classifier
    X : rows
    hierarchy : Hierarchy
    """
    if hasattr(estimator, "predict_node_proba"):
        return np.asarray(estimator.predict_node_proba(X))
    answers = PathAnswers(estimator, hierarchy)
    return answers.node_proba(answers.class_proba(X))


class PathAnswers:
    """Answers of a classifier with one path a row.

    Parameters
    ----------
    estimator : fitted classifier
        With probabilities.
    hierarchy : Hierarchy
        A tree.

    Examples
    --------
    >>> from palmette.local import FlatClassifier
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak")]
    >>> clf = FlatClassifier().fit([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0]], y)
    >>> answers = PathAnswers(clf, clf.hierarchy_)
    >>> proba = answers.class_proba([[0.0, 0.5]])
    >>> clf.hierarchy_.path_strings[answers.sure(proba, 0.9)].tolist()
    ['animal']
    """

    def __init__(self, estimator: Any, hierarchy: Hierarchy) -> None:
        if not gives_node_proba(estimator):
            raise PalmetteError(
                f"{type(estimator).__name__} gives no probabilities. Fit a model that does, such "
                "as class-tree, or calibrate it."
            )
        self.estimator, self.hierarchy = estimator, hierarchy
        self._inner = _over_labels(estimator)
        if self._inner is not None:
            nodes = np.asarray(self._inner.classes_, dtype=np.int32)
        else:
            nodes = np.asarray(hierarchy.index(list(estimator.classes_)), dtype=np.int32)
        self._order = np.argsort(nodes)
        self.space = LabelSpace(hierarchy, nodes[self._order])

    def class_proba(self, X: Any) -> FloatArray:
        """Probabilities of classes, (n_samples, n_classes), columns as in ``space.classes``."""
        if self._inner is not None:
            proba = self._inner.predict_proba(X)
        elif hasattr(self.estimator, "predict_proba"):
            proba = self.estimator.predict_proba(X)
        else:
            return self._from_nodes(np.asarray(self.estimator.predict_node_proba(X)))
        proba = np.asarray(proba, dtype=np.float64)
        is_sorted = bool((self._order == np.arange(len(self._order))).all())
        return proba if is_sorted else np.ascontiguousarray(proba[:, self._order])

    def nodes(self, X: Any, proba: FloatArray) -> IntArray:
        """Node of every row, as the classifier decides; of shape (n_samples,)."""
        rule = _decision_rule(self.estimator, self._inner)
        if rule is not None:
            return rule.choose(proba, self.space)
        return nodes_of(self.estimator, X, self.hierarchy)

    def sure(self, proba: FloatArray, confidence: float) -> IntArray:
        """Deepest node of every row that is sure enough; 0, the root, where none is."""
        return Confident(confidence).choose(proba, self.space)

    def proba_of(self, proba: FloatArray, nodes: IntArray) -> FloatArray:
        """Probability of a node for every row, of shape (n_samples,)."""
        place = np.searchsorted(self.space.nodes, nodes).clip(max=self.space.n_active - 1)
        known = self.space.nodes[place] == nodes
        spans = self.space.class_range[place]
        single = spans[:, 1] - spans[:, 0] == 1
        rows = np.arange(len(proba))
        found = np.zeros(len(proba))
        found[single] = proba[rows[single], spans[single, 0]]
        wide = np.flatnonzero(~single)
        if wide.size:
            totals = np.cumsum(proba[wide], axis=1)
            ends = totals[np.arange(len(wide)), spans[wide, 1] - 1]
            first = spans[wide, 0]
            before = np.where(first > 0, totals[np.arange(len(wide)), first - 1], 0.0)
            found[wide] = np.clip(ends - before, 0.0, 1.0)
        return np.where(known, found, 0.0)

    def best(self, proba: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return the `k` most probable classes, best first: nodes and probabilities, (n, k)."""
        from palmette.core.decode import top_classes

        chosen = top_classes(proba, k)
        return self.space.classes[chosen], np.take_along_axis(proba, chosen, axis=1)

    def node_proba(self, proba: FloatArray) -> FloatArray:
        """Probabilities of all nodes, of shape (n_samples, n_nodes)."""
        full = np.zeros((len(proba), self.hierarchy.n_nodes))
        full[:, self.space.nodes] = self.space.marginals(proba).T
        return full

    def _from_nodes(self, full: FloatArray) -> FloatArray:
        """Probabilities of classes where those of nodes are given: what no child takes."""
        at_nodes = np.ascontiguousarray(full[:, self.space.nodes].T)
        own = at_nodes - self.space.sum_children(at_nodes)
        return np.clip(own[self.space.class_place].T, 0.0, 1.0)


def nodes_of(estimator: Any, X: Any, hierarchy: Hierarchy) -> IntArray:
    """Predict one node of a hierarchy for every row, of shape (n_samples,)."""
    if hasattr(estimator, "predict_nodes"):
        return np.asarray(estimator.predict_nodes(X), dtype=np.int32)
    inner = _over_labels(estimator)
    if inner is not None:
        return np.asarray(inner.predict(X), dtype=np.int32)
    return NodeLabels.encode(estimator.predict(X), hierarchy).terminals


def node_sets(estimator: Any, X: Any, hierarchy: Hierarchy) -> sparse.csr_array:
    """Most specific nodes that are predicted of every row: bool, (n_samples, n_nodes)."""
    if not hasattr(estimator, "predict_node_sets"):
        return NodeLabels.encode(estimator.predict(X), hierarchy).specific
    found = sparse.csr_array(estimator.predict_node_sets(X))
    return NodeLabels(hierarchy, found, estimator.label_form_).specific


def write_nodes(nodes: Any, hierarchy: Hierarchy) -> list[Any]:
    """Paths of nodes as tuples; names in a DAG."""
    known = {
        node: hierarchy.path(node) if hierarchy.is_tree else hierarchy.names[node]
        for node in np.unique(nodes).tolist()
    }
    return [known[node] for node in np.asarray(nodes).tolist()]


def write_sets(sets: sparse.csr_array, hierarchy: Hierarchy) -> list[set[Any]]:
    """Sets of paths of rows that have several nodes; the root is left out."""
    rows = (sets.indices[a:b] for a, b in pairwise(sets.indptr.tolist()))
    return [set(write_nodes(row[row > 0], hierarchy)) for row in rows]


def _over_labels(estimator: Any) -> Any:
    """Return the classifier whose labels are node numbers, where one is wrapped; else None."""
    from palmette.models import OverLabels

    return estimator.estimator_ if isinstance(estimator, OverLabels) else None


def _decision_rule(estimator: Any, inner: Any) -> Decoding | None:
    """Return the rule that decides by probabilities of classes, None where something else does."""
    if inner is not None:  # its labels are plain: the best of them
        return BestPath() if getattr(inner, "decoding", None) in ("best_path", "exact") else None
    choose = getattr(estimator, "_decision_rule", None)
    rule = choose() if choose is not None and hasattr(estimator, "space_") else None
    return rule if isinstance(rule, Decoding) else None
