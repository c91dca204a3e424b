"""One interface to any fitted classifier, of Palmette or scikit-learn, pipeline or search.

Reports, plots and tables use it: the parts of a model, its hierarchy, its classes as nodes,
probabilities of nodes, and predictions as nodes or sets of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, IntArray
from palmette.base._answers import best_of
from palmette.base._foreign import is_pipeline, proba_of
from palmette.decisions._decode import top_classes
from palmette.decisions._rules import BestPath, Confident, Decoding
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._names import as_list
from palmette.labels._containers import row_index
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace

# ---------------------------------------------------------------------- parts of a model


def final_step(estimator: Any) -> Any:
    """Return the classifier at the end of a pipeline, or the estimator itself."""
    while is_pipeline(estimator):
        estimator = estimator.steps[-1][1]
    return estimator


def to_last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return X as transformed for the classifier at the end of a pipeline, and that classifier."""
    while is_pipeline(estimator):
        if len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = estimator.steps[-1][1]
    return X, estimator


def model_parts(model: Any) -> Iterator[Any]:
    """Yield a model and the fitted classifiers that it wraps, from the outside to the inside.

    A wrapped classifier is ``best_estimator_``, ``estimator_``, or the last step of a pipeline.
    """
    for part, _ in parts_with_rows(model, None):
        yield part


def parts_with_rows(model: Any, X: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
    """Yield the parts of a model, each with a function that returns X as that part needs it."""
    seen: list[Any] = []

    def rows() -> Any:
        return X

    while model is not None and not any(model is other for other in seen):
        seen.append(model)
        yield model, rows
        model, rows = _step_inside(model, rows)


def _step_inside(model: Any, rows: Callable[[], Any]) -> tuple[Any, Callable[[], Any]]:
    steps = getattr(model, "steps", None)
    if steps:
        return steps[-1][1], lambda: model[:-1].transform(rows())
    for name in ("best_estimator_", "estimator_"):
        inner = getattr(model, name, None)
        # in forests `estimator_` is the unfitted tree that they clone
        if inner is not None and (hasattr(inner, "classes_") or hasattr(inner, "hierarchy_")):
            changes = hasattr(model, "vectorizer_") and hasattr(model, "features")
            return inner, (lambda: model.features(rows())) if changes else rows
    return None, rows


def find_in_parts(model: Any, name: str) -> Any:
    """Return the first value of an attribute in a model and its parts; None if there is none.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(LogisticRegression()).fit([[0.0], [1.0]], ["a", "b"])
    >>> find_in_parts(pipeline, "classes_").tolist(), find_in_parts(pipeline, "trees_")
    (['a', 'b'], None)
    """
    for part in model_parts(model):
        value = getattr(part, name, None)
        if value is not None:
            return value
    return None


# ---------------------------------------------------------------------- hierarchy and labels


def hierarchy_of(model: Any) -> Hierarchy:
    """Return the hierarchy of a fitted model; that of a flat classifier is a star."""
    if not hasattr(model, "predict"):
        raise PalmetteError(
            f"expected a fitted classifier, got {type(model).__name__} without `predict`."
        )
    found = find_in_parts(model, "hierarchy_")
    if isinstance(found, Hierarchy):
        return found
    classes = find_in_parts(model, "classes_")
    if classes is None:
        raise PalmetteError(
            f"{type(model).__name__} has neither `hierarchy_` nor `classes_`: expected a fitted "
            "classifier. Call `fit` first."
        )
    if isinstance(classes, list) and classes and isinstance(classes[0], np.ndarray):
        raise PalmetteError(
            f"{type(model).__name__} predicts several columns of classes: expected one label "
            "per row, or a 0/1 matrix with one column per label."
        )
    return Hierarchy.star(as_list(classes))


def fitted_hierarchy(estimator: Any) -> Hierarchy | None:
    """Return the hierarchy of a fitted classifier, None if it has none."""
    found = getattr(final_step(estimator), "hierarchy_", None)
    return found if isinstance(found, Hierarchy) else None


def truth_of(estimator: Any, X: Any, y: Any) -> Any:
    """Return the true labels: y, or those that a model of tables reads from the rows."""
    if y is None and hasattr(estimator, "read_target"):
        return estimator.read_target(X)
    if y is None:
        raise PalmetteError("y is missing: pass the true label of every row.")
    return y


# ---------------------------------------------------------------------- probabilities of nodes


def gives_node_proba(estimator: Any) -> bool:
    """Return whether a fitted classifier has probabilities of nodes, or of its classes."""
    inner = _over_nodes(estimator)
    if inner is not None:
        return hasattr(inner, "predict_proba")
    return hasattr(estimator, "predict_node_proba") or hasattr(estimator, "predict_proba")


def node_proba_of(model: Any, hierarchy: Hierarchy) -> Callable[[Any], FloatArray] | None:
    """Return a function from rows to probabilities of all nodes, None if there are none.

    Probabilities of classes, which exclude each other, are summed over a tree.

    Parameters
    ----------
    model : fitted classifier
    hierarchy : Hierarchy
        As from `hierarchy_of`.

    Returns
    -------
    callable or None
        Returns arrays of shape (n_samples, n_nodes), the root first.
    """
    if hasattr(model, "predict_node_proba"):
        return lambda X: np.asarray(model.predict_node_proba(X), dtype=np.float64)
    if getattr(model, "best_estimator_", None) is not None:
        return node_proba_of(model.best_estimator_, hierarchy)
    last = final_step(model)
    if hasattr(last, "predict_node_proba"):
        return lambda X: np.asarray(last.predict_node_proba(to_last_step(model, X)[0]), dtype=float)
    has_classes = find_in_parts(model, "classes_") is not None
    if not hasattr(model, "predict_proba") or not has_classes or not hierarchy.is_tree:
        return None
    answers = PathAnswers(model, hierarchy)
    return lambda X: answers.node_proba(answers.class_proba(X))


def node_proba(estimator: Any, X: Any, hierarchy: Hierarchy) -> FloatArray:
    """Return probabilities of all nodes, of shape (n_samples, n_nodes).

    Parameters
    ----------
    estimator : fitted classifier
    X : rows
    hierarchy : Hierarchy
    """
    found = node_proba_of(estimator, hierarchy)
    if found is None:
        raise PalmetteError(
            f"{type(estimator).__name__} has no probabilities. Fit one with probabilities, such as "
            "class-tree, or calibrate it."
        )
    return found(X)


def best_labels(
    estimator: Any, X: Any, hierarchy: Hierarchy, labels: IntArray, k: int
) -> tuple[IntArray, FloatArray]:
    """Return the best labels of rows with several: nodes and probabilities, (n_samples, k).

    They are those of ``predict_top_k``: ranked by the probability that a row lists this very label.

    Parameters
    ----------
    estimator : fitted classifier
        With probabilities of nodes.
    X : rows
    hierarchy : Hierarchy
    labels : int array of shape (n_labels,)
        Nodes that are labels, ascending.
    k : int
        Fewer are returned if there are fewer labels.
    """
    X, last = to_last_step(getattr(estimator, "best_estimator_", estimator), X)
    if not hasattr(last, "_top_k"):
        return best_of(node_proba(last, X, hierarchy)[:, labels], labels, k)
    nodes, proba = last._top_k(last._read_rows(X), k)
    return np.asarray(nodes), np.asarray(proba)


class PathAnswers:
    """Answers of a classifier with one path per row.

    Parameters
    ----------
    estimator : fitted classifier
        With probabilities.
    hierarchy : Hierarchy
        A tree.
    calibration : ChainCalibration, optional
        Of probabilities, after predictions are decided; see `palmette.calibration`.

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

    def __init__(self, estimator: Any, hierarchy: Hierarchy, calibration: Any = None) -> None:
        if not gives_node_proba(estimator):
            raise PalmetteError(
                f"{type(estimator).__name__} has no probabilities. Fit one with probabilities, "
                "such as class-tree, or calibrate it."
            )
        self.estimator, self.hierarchy = estimator, hierarchy
        self._calibration = calibration
        self._inner = _over_nodes(estimator)
        if self._inner is not None:
            nodes = np.asarray(self._inner.classes_, dtype=np.int32)
        else:
            classes = np.asarray(find_in_parts(estimator, "classes_"))
            nodes = np.asarray(hierarchy.index(as_list(classes)), dtype=np.int32)
        self._order = np.argsort(nodes)
        self.space = LabelSpace(hierarchy, nodes[self._order])

    def class_proba(self, X: Any) -> FloatArray:
        """Return what the model says of ``space.classes``: (n_samples, n_classes)."""
        if self._inner is not None:
            proba = proba_of(self._inner, X)
        elif hasattr(self.estimator, "predict_proba"):
            proba = proba_of(self.estimator, X, n_classes=len(self._order))
        else:
            return self._from_nodes(np.asarray(self.estimator.predict_node_proba(X)))
        is_sorted = bool((self._order == np.arange(len(self._order))).all())
        return proba if is_sorted else np.ascontiguousarray(proba[:, self._order])

    def calibrated(self, proba: FloatArray) -> FloatArray:
        """Return calibrated probabilities, with the same most probable class in every row."""
        return proba if self._calibration is None else self._calibration.apply(proba, self.space)

    def nodes(self, X: Any, proba: FloatArray) -> IntArray:
        """Return the predicted node of every row, (n_samples,), by what the model says."""
        rule = _decision_rule(self.estimator, self._inner)
        if rule is not None:
            return rule.choose(proba, self.space)
        return nodes_of(self.estimator, X, self.hierarchy)

    def sure(self, proba: FloatArray, confidence: float) -> IntArray:
        """Return the deepest node of every row that is sure enough; 0 is the root.

        Of calibrated answers this share is right; without calibration it is the probability that a
        node has at least.
        """
        if self._calibration is not None:
            return np.asarray(self._calibration.sure(proba, self.space, confidence))
        return Confident(confidence).choose(proba, self.space)

    def proba_of(self, proba: FloatArray, nodes: IntArray) -> FloatArray:
        """Return the probability of one node per row: (n_samples,)."""
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
        chosen = top_classes(proba, k)
        return self.space.classes[chosen], np.take_along_axis(proba, chosen, axis=1)

    def node_proba(self, proba: FloatArray) -> FloatArray:
        """Return probabilities of all nodes: (n_samples, n_nodes)."""
        full = np.zeros((len(proba), self.hierarchy.n_nodes))
        full[:, self.space.nodes] = self.space.marginals(proba).T
        return full

    def _from_nodes(self, full: FloatArray) -> FloatArray:
        """Return probabilities of classes: those of their nodes minus those of the children."""
        at_nodes = np.ascontiguousarray(full[:, self.space.nodes].T)
        own = at_nodes - self.space.sum_children(at_nodes)
        return np.clip(own[self.space.class_place].T, 0.0, 1.0)


# ---------------------------------------------------------------------- predictions as nodes


def nodes_of(estimator: Any, X: Any, hierarchy: Hierarchy) -> IntArray:
    """Predict one node of a hierarchy per row: (n_samples,)."""
    if hasattr(estimator, "predict_nodes"):
        return np.asarray(estimator.predict_nodes(X), dtype=np.int32)
    inner = _over_nodes(estimator)
    if inner is not None:
        return np.asarray(inner.predict(X), dtype=np.int32)
    return NodeLabels.encode(estimator.predict(X), hierarchy).terminals


def node_sets(estimator: Any, X: Any, hierarchy: Hierarchy) -> sparse.csr_array:
    """Predict the most specific nodes of every row: bool, (n_samples, n_nodes)."""
    if not hasattr(estimator, "predict_node_sets"):
        return NodeLabels.encode(estimator.predict(X), hierarchy).specific
    found = sparse.csr_array(estimator.predict_node_sets(X))
    return NodeLabels(hierarchy, found, estimator.label_form_).specific


def _over_nodes(estimator: Any) -> Any:
    """Return the wrapped classifier whose labels are node numbers, None if there is none."""
    return estimator.estimator_ if isinstance(estimator, OverLabels) else None


def _decision_rule(estimator: Any, inner: Any) -> Decoding | None:
    """Return the rule that decides by probabilities of classes, None if another one does."""
    if inner is not None:  # its labels are plain
        return BestPath() if getattr(inner, "decoding", None) in ("best_path", "exact") else None
    choose = getattr(estimator, "_decision_rule", None)
    rule = choose() if choose is not None and hasattr(estimator, "space_") else None
    return rule if isinstance(rule, Decoding) else None


# ---------------------------------------------------------------------- nodes as plain labels


def _has_probabilities(self: OverLabels) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class OverLabels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a classifier on the most specific nodes of y as plain labels; predict in the form of y.

    Parameters
    ----------
    estimator : classifier
        Classifier of plain labels, such as one that learns its hierarchy.
    hierarchy : Hierarchy, optional
        Used to read y; by default it is found in y. It is not passed to the classifier.

    Attributes
    ----------
    estimator_ : classifier
        Fitted; its labels are node numbers of ``hierarchy_``.
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels as written in y, in the order of ``estimator_.classes_``.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> clf = OverLabels(KNeighborsClassifier(1)).fit([[0.0], [1.0]], [("a", "x"), ("b", "x")])
    >>> clf.predict([[0.9]])
    [('b', 'x')]
    """

    def __init__(self, estimator: Any, hierarchy: Hierarchy | None = None) -> None:
        self.estimator = estimator
        self.hierarchy = hierarchy

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OverLabels:
        """Fit the classifier.

        Parameters
        ----------
        X : rows
        y : labels of n_samples rows
            One path per row, in any form.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        labels = NodeLabels.encode(y, self.hierarchy)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(X, labels.terminals, **given)
        self.hierarchy_ = labels.hierarchy
        self.label_form_ = labels.form.as_answer()
        nodes = np.asarray(self.estimator_.classes_, dtype=np.int32)
        self.classes_ = labels.form.class_labels(nodes, labels.hierarchy)
        return self

    def predict(self, X: Any) -> Any:
        """Predict labels in the form of y."""
        check_is_fitted(self)
        nodes = np.asarray(self.estimator_.predict(X), dtype=np.int32)
        return self.label_form_.write_answers(nodes, self.hierarchy_, row_index(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities of the labels ``classes_``: (n_samples, n_classes)."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))
