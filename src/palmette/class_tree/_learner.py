"""ClassTreeLearner: what all estimators that learn a hierarchy over classes share."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from palmette._arrays import read_rows, take_rows
from palmette.base._fitting import (
    Threads,
    check_weights,
    has_rows_of_labels,
    label_column,
    sorted_classes,
)
from palmette.base._grow import ClassProblem, IntArray, Partition, grow_class_tree
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._pictures import FittedHTML


class ClassTreeLearner(FittedHTML, BaseEstimator):  # type: ignore[misc]
    """Base of estimators that learn a hierarchy over the classes of y.

    A subclass divides the classes of a node in `_split`, with what `_begin` computed once for all
    nodes; or it returns a `Partition` from `_partition`. It has the parameters ``leaf_size``,
    ``min_side``, ``max_depth``, ``random_state`` and ``n_jobs`` as far as it needs them.

    Attributes
    ----------
    hierarchy_ : Hierarchy
        Its leaves are the classes.
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree
        The groups of classes in the order in which they were made, as positions in ``classes_``.
    """

    # The methods of the rule are private: scikit-learn regards an object with a method `split` as a
    # cross-validation splitter.
    _may_overlap: ClassVar[bool] = False
    _takes_any_scale: ClassVar[bool] = False  # else squares of X must neither overflow nor vanish
    _one_blas_thread: ClassVar[bool] = False

    def _begin(self, problem: ClassProblem) -> Any:
        """Check the parameters and compute what all nodes share; see `Partition.begin`."""
        return problem

    def _fork(self, state: Any) -> tuple[Any, int] | None:
        """Return a state for another thread, if groups are independent; see `Partition.fork`."""
        return None

    def _split(self, state: Any, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        raise NotImplementedError(f"{type(self).__name__} has neither _split nor _partition.")

    def _partition(self) -> Partition:
        return _OwnRule(self)

    def _leaf_size(self) -> int:
        size: int = getattr(self, "leaf_size", 1)
        return size

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the hierarchy.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Labels, one per row.
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight zero are left out.

        Returns
        -------
        self
        """
        problem = self._read(X, y, sample_weight)
        with Threads(problem.n_jobs) as threads:
            problem.run = threads.map if threads.n_threads > 1 else None
            self.tree_ = grow_class_tree(
                self._partition(),
                problem,
                leaf_size=self._leaf_size(),
                min_side=getattr(self, "min_side", 0.0),
                max_depth=getattr(self, "max_depth", None),
                run=problem.run,
            )
        self.hierarchy_ = self.tree_.to_hierarchy(self.classes_)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> ClassProblem:
        """Validate the rows and labels, and set `classes_`."""
        if y is None:
            raise LabelError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        kinds = [np.float64, np.float32]
        X = read_rows(X, self, any_scale=self._takes_any_scale, dtype=kinds)
        y = label_column(y)
        if y.ndim != 1 or has_rows_of_labels(y):
            what = f"shape {y.shape}" if y.ndim != 1 else "rows that are paths or sets"
            raise LabelError(
                f"y has {what}: expected one label per row, of shape ({X.shape[0]},). A hierarchy "
                "is learnt over labels, not over paths."
            )
        check_consistent_length(X, y)
        with warnings.catch_warnings():
            # a class of one row is enough: most rules use only the means of the classes
            warnings.filterwarnings("ignore", message="The number of unique classes")
            if y.dtype.kind in "fc":
                check_classification_targets(y)
        weights = check_weights(sample_weight, X.shape[0])
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = take_rows(X, kept), y[kept], weights[kept]
        self.classes_, codes = sorted_classes(y)
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise PalmetteError(f"y has one class only, {only!r}: expected two classes or more.")
        return ClassProblem(
            X,
            codes.astype(np.int32),
            len(self.classes_),
            weights,
            seed=int(check_random_state(getattr(self, "random_state", 0)).randint(2**31 - 1)),
            n_jobs=getattr(self, "n_jobs", None),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


class _OwnRule(Partition):
    """The rule of a learner, as the partition that `grow_class_tree` expects."""

    def __init__(self, learner: ClassTreeLearner) -> None:
        self.learner = learner
        self.one_blas_thread = learner._one_blas_thread

    def begin(self, problem: ClassProblem) -> Any:
        """Compute what all nodes share; see `Partition.begin`."""
        return self.learner._begin(problem)

    def fork(self, state: Any) -> tuple[Any, int] | None:
        """Return a state for another thread; see `Partition.fork`."""
        return self.learner._fork(state)

    def split(self, state: Any, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        return self.learner._split(state, classes, node)
