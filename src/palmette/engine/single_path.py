"""What every classifier with one path a row shares: reading X, deciding, answering."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from palmette import metrics  # noqa: F401 (makes scoring="hierarchical_f1" known to scikit-learn)
from palmette.core.containers import row_index
from palmette.core.decode import Route, RouteByMarginals, top_classes
from palmette.core.decoding import (
    BestPath,
    Decoding,
    MinExpectedLoss,
    RoutedDecoding,
    resolve_decoding,
)
from palmette.core.labels import NodeLabels
from palmette.core.marginal import Marginal
from palmette.core.model_html import FittedHTML
from palmette.core.rows import count_rows, is_text, row_chunks, take_rows
from palmette.engine.target import SinglePathTarget
from palmette.exceptions import PalmetteError

__all__ = ["SinglePathClassifier"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


def _asked_for_proba(self: SinglePathClassifier) -> bool:
    return self._gives_proba()


class SinglePathClassifier(FittedHTML, SinglePathTarget, ClassifierMixin, BaseEstimator):
    """Base of classifiers that choose one path for every row.

    A subclass sets the parameters ``hierarchy`` and ``decoding``, calls `_read_target` in its
    `fit`, and gives `_class_proba_of` and, if it can do so cheaply, `_route_of`.
    """

    _routes_cheaply = False  # whether a route costs less than the probabilities of all classes

    # ------------------------------------------------------------------ for subclasses

    def _class_proba_of(self, X: Any) -> FloatArray:
        """Probabilities of shape (n_samples, n_classes), columns as in ``space_.classes``."""
        raise NotImplementedError

    def _route_of(self, X: Any) -> Route:
        """Route over the rows of X; by default what the class probabilities imply."""
        return RouteByMarginals(self.space_, self._class_proba_of(X))

    def _gives_proba(self) -> bool:
        """Whether there are probabilities; margins, say, are none."""
        return True

    def _decision_rule(self) -> Any:
        if self.decoding != "auto":
            rule = resolve_decoding(self.decoding)
            chosen = getattr(self, "decoding_", None)
            is_open = isinstance(rule, Marginal) and rule.is_open
            return chosen if is_open and chosen is not None else rule
        if self.space_.depth.max() <= 1:
            return BestPath()  # what the expected F1 comes to on a star
        return MinExpectedLoss("hierarchical_f1", candidates="classes")

    # ------------------------------------------------------------------ reading

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        """Check X; tables and texts stay what they are, so that pipelines can use their columns."""
        if is_text(X) or hasattr(X, "columns") or hasattr(X, "column_names"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not is_text(X) and 0 in X.shape:
                raise ValueError(f"X has shape {X.shape}: expected at least one row and column.")
            return X
        tags = self.__sklearn_tags__().input_tags
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=None,
            accept_sparse="csr",
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )

    # ------------------------------------------------------------------ answering

    def predict(self, X: Any) -> Any:
        """Predict labels, in the form of the `y` that the model was fitted on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels of n_samples rows
        """
        return self._write(self.predict_nodes(X), row_index(X))

    def _write(self, nodes: IntArray, index: Any) -> Any:
        """Write one node a row in the form of `y`, with its ancestors if `y` listed them."""
        return self.label_form_.write_answers(nodes, self.hierarchy_, index)

    def predict_nodes(self, X: Any) -> IntArray:
        """Predict node numbers of ``hierarchy_``, of shape (n_samples,)."""
        check_is_fitted(self)
        X = self._read_features(X, reset=False)
        rule = self._decision_rule()
        by_route = isinstance(rule, RoutedDecoding) and (
            self._routes_cheaply or not isinstance(rule, Decoding)
        )
        lean = by_route and self._routes_cheaply
        answers = []
        for part in self._parts(X, rule.numbers_a_row(self.space_) if lean else None):
            if by_route:
                chosen = rule.follow(self._route_of(part), count_rows(part), self.space_)
            else:
                chosen = rule.choose(self._class_proba_of(part), self.space_)
            answers.append(chosen)
        return np.concatenate(answers)

    @available_if(_asked_for_proba)
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the labels seen in training.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns as in ``classes_``; rows sum to one.
        """
        check_is_fitted(self)
        X = self._read_features(X, reset=False)
        proba = [self._class_proba_of(part)[:, self._class_order] for part in self._parts(X)]
        return np.concatenate(proba)

    @available_if(_asked_for_proba)
    def predict_node_proba(self, X: Any, nodes: Any = None) -> FloatArray:
        """Probabilities of nodes: a child never exceeds its parent, siblings sum to it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        nodes : list of names or paths, optional
            Nodes wanted; all of ``hierarchy_`` by default.

        Returns
        -------
        array of shape (n_samples, n_nodes)
        """
        check_is_fitted(self)
        X = self._read_features(X, reset=False)
        hierarchy, space = self.hierarchy_, self.space_
        wanted = np.arange(hierarchy.n_nodes) if nodes is None else hierarchy.index(_listed(nodes))
        place = np.searchsorted(space.nodes, wanted).clip(max=space.n_active - 1)
        active = space.nodes[place] == wanted
        proba = np.zeros((count_rows(X), len(wanted)))
        start = 0
        for part in self._parts(X):
            marginals = space.marginals(self._class_proba_of(part))
            proba[start : start + count_rows(part), active] = marginals[place[active]].T
            start += count_rows(part)
        return proba

    @available_if(_asked_for_proba)
    def predict_top_k(self, X: Any, k: int = 5) -> tuple[list[Any], FloatArray]:
        """Return the `k` most probable labels of every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        k : int

        Returns
        -------
        labels : list of k answers
            The best label of every row, the second best, ...: each in the form of `y`.
        proba : array of shape (n_samples, k)
        """
        check_is_fitted(self)
        X = self._read_features(X, reset=False)
        if k < 1:
            raise PalmetteError(f"k={k!r}: expected a positive integer.")
        best, values = [], []
        for part in self._parts(X):
            proba = self._class_proba_of(part)
            chosen = top_classes(proba, k)
            best.append(self.space_.classes[chosen])
            values.append(np.take_along_axis(proba, chosen, axis=1))
        nodes = np.concatenate(best)
        answers = [self._write(column, row_index(X)) for column in nodes.T]
        return answers, np.concatenate(values)

    def _parts(self, X: Any, numbers_a_row: int | None = None) -> Iterator[Any]:
        """Chunks of rows that fit in memory with the numbers of each: tables over all nodes."""
        n_rows = count_rows(X)
        if numbers_a_row is None:
            numbers_a_row = self._numbers_over_nodes()
        for chunk in row_chunks(n_rows, numbers_a_row):
            yield X if chunk == slice(0, n_rows) else take_rows(X, chunk)

    def _numbers_over_nodes(self) -> int:
        """Numbers that probabilities of all classes and nodes hold for a row."""
        return 2 * self.space_.n_active + self.space_.n_classes

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose most specific node is predicted exactly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : labels of n_samples rows
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        check_consistent_length(X, y, sample_weight)
        right = self.predict_nodes(X) == self._true_nodes(y)
        return float(np.average(right, weights=sample_weight))

    def _true_nodes(self, y: Any) -> IntArray:
        """Node of every row of y; -1 for labels that a hierarchy taken from y never saw."""
        if self._given_hierarchy() is not None:
            return NodeLabels.encode(y, self.hierarchy_).terminals
        labels = NodeLabels.encode(y)
        seen, codes = np.unique(labels.terminals, return_inverse=True)
        names = labels.form.class_labels(seen, labels.hierarchy).tolist()
        known = [self.hierarchy_.index(n) if n in self.hierarchy_ else -1 for n in names]
        return np.asarray(known, dtype=np.int32)[codes]


def _listed(nodes: Any) -> list[Any]:
    """Nodes as a list; a single one, a string or a path tuple, is a list of one."""
    return [nodes] if isinstance(nodes, str | tuple) else list(nodes)
