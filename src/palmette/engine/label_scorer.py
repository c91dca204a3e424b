"""Any multi-label estimator with probabilities, ours or scikit-learn's, behind one face."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from palmette.core.hierarchy import Hierarchy
from palmette.core.rows import count_rows, take_rows
from palmette.engine.classifier import HierarchicalClassifier
from palmette.engine.multilabel import MultilabelClassifier
from palmette.engine.weights import weight_keyword
from palmette.exceptions import PalmetteError

__all__ = ["LabelScorer", "check_scores", "has_out_of_bag", "with_out_of_bag"]

FloatArray = NDArray[np.float64]


class LabelScorer:
    """An estimator that is given a matrix of true nodes and asked for one of probabilities.

    Ours get the hierarchy and a column for each of its nodes. Others get the columns that vary, as
    a 0/1 matrix: many of them cannot learn a label with one value.

    Parameters
    ----------
    estimator : classifier
        Unfitted, and nobody else's.
    hierarchy : Hierarchy
    nodes : int array of shape (n_columns,)
        Nodes that the columns are.

    Attributes
    ----------
    estimator : classifier
        Fitted; None where no label varies.
    """

    def __init__(self, estimator: Any, hierarchy: Hierarchy, nodes: NDArray[np.int32]) -> None:
        self._is_ours = takes_node_sets(estimator)
        if self._is_ours:
            # what the estimator would answer with does not matter, and tuning it takes time
            estimator = estimator.set_params(hierarchy=hierarchy, decoding=0.5)
        self.estimator = estimator
        self._n_nodes = hierarchy.n_nodes
        self._nodes = nodes

    def fit(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> LabelScorer:
        """Fit on rows X and true nodes Y, sparse bool of shape (n_samples, n_columns)."""
        keywords = {} if weights is None else {weight_keyword(self.estimator): weights}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*columns of y have no positive row")
            warnings.simplefilter("ignore", DataConversionWarning)  # one label is a matrix too
            if self._is_ours:
                self.estimator.fit(X, self._by_node(Y), **keywords)
                return self
            counts = np.asarray(Y.sum(axis=0)).ravel()
            self._always = counts == Y.shape[0]
            self._varies = np.flatnonzero((counts > 0) & ~self._always)
            targets = Y[:, self._varies].toarray().astype(np.int64)
            self.estimator = self.estimator.fit(X, targets, **keywords) if targets.size else None
        return self

    def _by_node(self, Y: sparse.csr_array) -> sparse.csr_array:
        """Return a matrix with a column for every node but the root, as y may be written."""
        places = (Y.data.astype(np.int8), self._nodes[Y.indices] - 1, Y.indptr)
        return sparse.csr_array(places, shape=(Y.shape[0], self._n_nodes - 1))

    # ------------------------------------------------------------------ scores

    def scores(self, X: Any) -> FloatArray:
        """Probabilities of shape (n_samples, n_columns)."""
        if self._is_ours:
            proba: FloatArray = self.estimator.predict_proba(X)[:, self._nodes - 1]
            return proba
        varying = None if self.estimator is None else self._positive(X)
        return self._all_columns(varying, count_rows(X))

    def out_of_bag(self, X: Any) -> FloatArray:
        """Scores of the rows X that it was fitted on, by parts of the model that did not see them.

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
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
        return _positive(self.estimator, X, len(self._varies))

    def _all_columns(self, varying: FloatArray | None, n_rows: int) -> FloatArray:
        table = np.repeat(self._always[None, :].astype(np.float64), n_rows, axis=0)
        if varying is not None:
            table[:, self._varies] = varying
        return table


def _positive(estimator: Any, X: Any, n_outputs: int) -> FloatArray:
    """Probabilities of 1, of shape (n_samples, n_outputs), from any form of `predict_proba`."""
    proba = estimator.predict_proba(X)
    if isinstance(proba, list):  # an array of shape (n_samples, 2) for each output
        return np.column_stack([each[:, 1] for each in proba])
    proba = np.asarray(proba, dtype=np.float64)
    return proba[:, 1:] if n_outputs == 1 and proba.shape[1] == 2 else proba


# ---------------------------------------------------------------------- what estimators have


def takes_node_sets(estimator: Any) -> bool:
    """Whether an estimator is one of ours that learns several paths per row."""
    return isinstance(estimator, HierarchicalClassifier) and estimator._takes_several_paths


def check_scores(estimator: Any) -> None:
    """Refuse an estimator without probabilities."""
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict_proba"):
        raise PalmetteError(
            f"{estimator!r} has no predict_proba: expected a classifier with probabilities to put "
            "thresholds on. BinaryRelevance(estimator) makes them of margins too."
        )


def has_out_of_bag(estimator: Any) -> bool:
    """Whether an estimator has, or can be told to have, out-of-bag scores."""
    if isinstance(estimator, MultilabelClassifier):
        return estimator._tunes_itself() and not estimator._tunes_on_seen_rows
    if takes_node_sets(estimator):
        return False
    parameters = estimator.get_params(deep=False)
    return "oob_score" in parameters and bool(parameters.get("bootstrap"))


def with_out_of_bag(estimator: Any) -> Any:
    """Return a copy of an estimator that will keep its out-of-bag scores."""
    copy = clone(estimator)
    if not takes_node_sets(estimator) and not copy.oob_score:
        copy.set_params(oob_score=True)
    return copy
