"""OverLabels: a classifier that learns a hierarchy of its own, where the data have one given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from palmette.core.containers import row_index
from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels

__all__ = ["OverLabels"]


def _has_probabilities(self: OverLabels) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class OverLabels(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Let a classifier see the most specific nodes of y as plain labels, and answer in their form.

    Parameters
    ----------
    estimator : classifier
        Over plain labels, such as one whose hierarchy is learnt.
    hierarchy : Hierarchy, optional
        That y is read with; it is taken from y by default. The classifier never sees it.

    Attributes
    ----------
    estimator_ : classifier
        Fitted; its labels are node numbers of ``hierarchy_``.
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels as y spells them, in the order of the classifier's.

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

    def fit(self, X: Any, y: Any) -> OverLabels:
        """Fit the classifier.

        Parameters
        ----------
        X : rows
        y : labels of n_samples rows
            One path a row, in any form.

        Returns
        -------
        self
        """
        labels = NodeLabels.encode(y, self.hierarchy)
        self.estimator_ = clone(self.estimator).fit(X, labels.terminals)
        self.hierarchy_ = labels.hierarchy
        self.label_form_ = labels.form.as_answer()
        nodes = np.asarray(self.estimator_.classes_, dtype=np.int32)
        self.classes_ = labels.form.class_labels(nodes, labels.hierarchy)
        return self

    def predict(self, X: Any) -> Any:
        """Predict labels, in the form of y."""
        check_is_fitted(self)
        nodes = np.asarray(self.estimator_.predict(X), dtype=np.int32)
        return self.label_form_.write_answers(nodes, self.hierarchy_, row_index(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of labels, of shape (n_samples, n_classes), columns as in ``classes_``."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))
