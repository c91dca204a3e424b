"""Explanations of predictions: features with the largest weights, similar rows, probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.migration import MigratedClassifier

if TYPE_CHECKING:
    from palmette.table._answering import TableAnswers

FloatArray = NDArray[np.float64]
Weights = Callable[[int], FloatArray | None]

_SHOWN = 5  # features, or rows


class Explainer:
    """Explain predictions of a model.

    For linear models these are the features with the largest contributions to the path, for forests
    the most similar training rows; for all models the probabilities along the path.

    Parameters
    ----------
    model : TableModel
    """

    def __init__(self, model: TableAnswers) -> None:
        self._model = model
        self._weights = linear_weights(model)
        self._names: NDArray[np.object_] | None = None
        self._forest = _neighbor_model(model.estimator_)

    def explain(self, X: Any, nodes: Any, proba: FloatArray | None) -> list[str]:
        """Explain rows.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        nodes : int array of shape (n_samples,)
            Predicted nodes.
        proba : array of shape (n_samples, n_nodes) or None

        Returns
        -------
        list of n_samples str
        """
        paths = [""] * len(nodes) if proba is None else self._path_texts(nodes, proba)
        reasons = self._reasons(X, nodes)
        return [" | ".join(part for part in pair if part) for pair in zip(paths, reasons,
                strict=True)]  # fmt: skip

    def _path_texts(self, nodes: Any, proba: FloatArray) -> list[str]:
        h = self._model.hierarchy_
        if not h.is_tree or self._model.learnt_:  # names of learned groups mean nothing
            return ["" for _ in nodes]
        above = {n: [*h.ancestors(n).tolist(), n] for n in np.unique(nodes).tolist() if n > 0}
        steps = {n: sorted(node for node in path if node > 0) for n, path in above.items()}
        return [
            " > ".join(f"{h.names[step]} {proba[i, step]:.2f}" for step in steps.get(node, []))
            for i, node in enumerate(np.asarray(nodes).tolist())
        ]

    def _reasons(self, X: Any, nodes: Any) -> list[str]:
        if self._weights is not None:
            return self._by_weights(X, np.asarray(nodes))
        return self.near_rows(X)

    def near_rows(self, X: Any) -> list[str]:
        """List the most similar training rows of each row, if the model has a forest."""
        if self._forest is None:
            return [""] * int(X.shape[0])
        rows, parts = self._forest.neighbors(X, _SHOWN)
        return [
            "similar to row " + ", ".join(f"{r + 1} ({p:.2f})" for r, p in zip(*pair, strict=True))
            for pair in zip(rows.tolist(), parts.tolist(), strict=True)
        ]

    def _by_weights(self, X: Any, nodes: NDArray[Any]) -> list[str]:
        if self._names is None:
            self._names = self._model.vectorizer_.get_feature_names_out()
        matrix = sparse.csr_array(X)
        texts = [""] * len(nodes)
        for node in np.unique(nodes).tolist():
            weights = self._weights(node) if self._weights is not None else None
            if weights is None:
                continue
            for row in np.flatnonzero(nodes == node).tolist():
                part = slice(matrix.indptr[row], matrix.indptr[row + 1])
                columns = matrix.indices[part]
                votes = matrix.data[part] * weights[columns]
                best = np.argsort(-votes, kind="stable")[:_SHOWN]
                texts[row] = ", ".join(
                    f"{str(self._names[columns[i]])!r} {votes[i]:+.2f}"
                    for i in best.tolist()
                    if votes[i] > 0
                )
        return texts


def linear_weights(model: TableAnswers) -> Weights | None:
    """Return a function from a node to the weights of its path; None if the model is not linear.

    Parameters
    ----------
    model : TableModel

    Returns
    -------
    callable or None
        Weights have the shape (n_features,), summed over the decisions along the path.
    """
    return _weights_of(model.estimator_)


def _weights_of(estimator: Any) -> Weights | None:
    from palmette.models import OverLabels

    if isinstance(estimator, MigratedClassifier):
        inner = _weights_of(estimator.fitted_)
        return None if inner is None else _moved_weights(estimator, inner)
    while estimator is not None:
        inner = estimator.estimator_ if isinstance(estimator, OverLabels) else estimator
        if hasattr(inner, "routes_") and hasattr(inner.routes_, "coef"):
            return _route_weights(inner, isinstance(estimator, OverLabels))
        if isinstance(getattr(inner, "estimators_", None), dict):
            return _local_weights(inner) if inner is estimator else None
        estimator = getattr(estimator, "estimator_", None)
    return None


def _moved_weights(model: MigratedClassifier, inner: Weights) -> Weights:
    """Weights of nodes of a changed hierarchy: the mean over those that are now this node."""

    def weights(node: int) -> FloatArray | None:
        found = [inner(old) for old in model.origins_of(node).tolist()]
        known = [each for each in found if each is not None]
        return np.mean(known, axis=0) if known else None

    return weights


def _route_weights(tree: Any, labels_are_nodes: bool) -> Weights | None:
    """Weights of a `ClassTreeClassifier` whose router is linear."""
    table, routes = tree.options_, tree.routes_
    if routes.link == "pairs":
        return None
    coef, scale = routes.coef, getattr(tree, "scale_", None)
    class_of = {int(node): i for i, node in enumerate(tree.space_.classes.tolist())}
    if labels_are_nodes:  # labels of the inner tree are nodes of the outer one
        names = tree.hierarchy_.names[tree.space_.classes].tolist()
        class_of = {int(name): i for i, name in enumerate(names)}
    below = sparse.csc_array(table.below)

    def weights(node: int) -> FloatArray | None:
        place = class_of.get(node)
        if place is None:
            return None
        total = np.zeros(routes.n_features)
        for option in below.indices[below.indptr[place] : below.indptr[place + 1]].tolist():
            at = int(np.searchsorted(table.first, option, side="right")) - 1
            lanes = slice(int(routes.first_lane[at]), int(routes.first_lane[at + 1]))
            which = option - int(table.first[at])
            total += _lane(coef, lanes, which)
        return total if scale is None else total / scale.scale_  # weights of the unscaled X

    return weights


def _lane(coef: Any, lanes: slice, which: int) -> FloatArray | float:
    """Weights for one option; a single binary classifier has the weights of the second."""
    count = lanes.stop - lanes.start
    if count == 0:
        return 0.0
    if count == 1:
        row: FloatArray = coef[[lanes.start]].toarray().ravel()
        return row if which == 1 else -row
    return np.asarray(coef[[lanes.start + which]].toarray().ravel())


def _local_weights(local: Any) -> Weights | None:
    """Weights of flat and local classifiers whose estimators are linear."""
    estimators = local.estimators_
    if getattr(local, "feature_selector_", None) is not None or not estimators:
        return None
    if not all(
        hasattr(each, "coef_") and hasattr(each, "classes_") for each in estimators.values()
    ):
        return None
    h = local.hierarchy_

    def weights(node: int) -> FloatArray | None:
        total: Any = 0.0
        for step in [*h.ancestors(node).tolist(), node]:
            for estimator in estimators.values():
                classes = np.asarray(estimator.classes_)
                where = np.flatnonzero(classes == step)
                if classes.dtype.kind in "iu" and len(where):
                    total = total + _coef_row(estimator.coef_, int(where[0]))
        return total if isinstance(total, np.ndarray) else None

    return weights


def _coef_row(coef: Any, which: int) -> FloatArray:
    rows: FloatArray = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
    if len(rows) == 1:
        return np.asarray(rows[0] if which == 1 else -rows[0])
    return np.asarray(rows[which])


def _neighbor_model(estimator: Any) -> Any:
    """Return the forest inside a model that can list similar rows; else None."""
    while estimator is not None:
        if hasattr(estimator, "neighbors"):
            return estimator
        inner = "fitted_" if isinstance(estimator, MigratedClassifier) else "estimator_"
        estimator = getattr(estimator, inner, None)
    return None
