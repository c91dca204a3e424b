"""What every learner of class hierarchies shares: reading X and y, growing, the hierarchy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from palmette.core.model_html import FittedHTML
from palmette.core.rows import take_rows
from palmette.engine.grow import grow_class_tree
from palmette.engine.weights import check_weights
from palmette.exceptions import LabelError, PalmetteError
from palmette.partition.base import ClassProblem, Partition

__all__ = ["ClassTreeLearner"]


class ClassTreeLearner(FittedHTML, BaseEstimator):
    """Base of estimators that learn a hierarchy over the classes of y.

    A subclass gives `_partition`, and the parameters ``leaf_size``, ``min_side``, ``max_depth``,
    ``random_state`` and ``n_jobs`` as far as it has them.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree
        The groups as they were made, of positions in ``classes_``.
    """

    def _partition(self) -> Partition:
        raise NotImplementedError

    def _leaf_size(self) -> int:
        return getattr(self, "leaf_size", 1)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn the hierarchy.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels, one a row.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if y is None:
            raise LabelError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        y = np.asarray(y)
        check_consistent_length(X, y)
        if y.ndim != 1:
            raise LabelError(
                f"y has shape {y.shape}: expected one label a row, of shape ({X.shape[0]},). A "
                "hierarchy is learnt over labels, not over paths."
            )
        with warnings.catch_warnings():
            # one row a class, its sum, is as good as many here
            warnings.filterwarnings("ignore", message="The number of unique classes")
            check_classification_targets(y)
        weights = check_weights(sample_weight, X.shape[0])
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = take_rows(X, kept), y[kept], weights[kept]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise PalmetteError(
                f"y has one class only, {only!r}: expected two or more to put in order."
            )
        problem = ClassProblem(
            X,
            codes.astype(np.int32),
            len(self.classes_),
            weights,
            seed=int(check_random_state(getattr(self, "random_state", 0)).randint(2**31 - 1)),
            n_jobs=getattr(self, "n_jobs", None),
        )
        self.tree_ = grow_class_tree(
            self._partition(),
            problem,
            leaf_size=self._leaf_size(),
            min_side=getattr(self, "min_side", 0.0),
            max_depth=getattr(self, "max_depth", None),
        )
        self.hierarchy_ = self.tree_.to_hierarchy(self.classes_)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
