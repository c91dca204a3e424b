"""ClassTreeLearner: what all estimators that learn a hierarchy over classes share."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from palmette._arrays import FloatArray, read_rows, take_rows
from palmette.base._answers import lists_as_matrix
from palmette.base._column_units import ColumnUnits, Kind
from palmette.base._fitting import (
    Threads,
    check_jobs,
    check_weights,
    has_rows_of_labels,
    label_column,
    sorted_classes,
)
from palmette.base._grow import ClassProblem, IntArray, Partition, grow_class_tree
from palmette.base._label_sets import (
    LabelSets,
    LabelSetsProblem,
    encode_label_sets,
    read_label_sets,
)
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._pictures import FittedHTML
from palmette.labels._labels import NodeLabels


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
    learns_from_label_sets = True
    _may_overlap: ClassVar[bool] = False
    _takes_any_scale: ClassVar[bool] = False  # else squares of X must neither overflow nor vanish
    _kind_of_units: ClassVar[Kind] = "rows"
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

    def _finish(self, state: Any) -> None:
        """Set further attributes when the hierarchy is learned, from what `_begin` computed."""

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
        y : labels of n_samples rows
            One label per row, an array of shape (n_samples,); or label sets, or a 0/1 matrix: a row
            with several labels then counts for each of them, and columns of a matrix without rows
            become children of the root.
        sample_weight : array-like of shape (n_samples,), optional
            Only their ratios count; rows of weight zero are left out.

        Returns
        -------
        self
        """
        return self._learn(*self._read(X, y, sample_weight))

    def fit_read(self, X: Any, labels: NodeLabels, weights: FloatArray | None) -> Self:
        """Learn the hierarchy from rows and labels that a classifier has read and checked.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        labels : NodeLabels
            Label sets, without a hierarchy.
        weights : array of shape (n_samples,), optional
            All positive, as from `check_weights`.
        """
        self.n_features_in_ = int(X.shape[1])
        return self._learn(*self._read_sets(X, labels, weights, None))

    def _learn(self, problem: ClassProblem, others: Any) -> Self:
        rule = self._partition()
        # other kernels than the linear one are of rows in the units that the caller gave them
        kind = self._kind_of_units if getattr(self, "kernel", "linear") == "linear" else "own"
        if (units := ColumnUnits.of(problem.X, kind)) is not None:
            problem.X, problem.exponent = units.apply(problem.X), int(units.exponents[0])
        with Threads(problem.n_jobs) as threads:
            problem.run = threads.map if threads.n_threads > 1 else None
            self.tree_ = grow_class_tree(
                rule,
                problem,
                leaf_size=self._leaf_size(),
                min_side=getattr(self, "min_side", 0.0),
                max_depth=getattr(self, "max_depth", None),
                run=problem.run,
            )
        self.hierarchy_ = self.tree_.to_hierarchy(self.classes_, others)
        self._finish(getattr(rule, "state", None))
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[ClassProblem, Any]:
        """Validate the rows and labels, and set `classes_`; return also labels without rows."""
        if y is None:
            raise LabelError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        check_jobs(self)
        kinds = [np.float64, np.float32]
        X = read_rows(X, self, any_scale=self._takes_any_scale, dtype=kinds)
        weights = check_weights(sample_weight, X.shape[0])
        kept = None
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            weights = weights[kept]
        y = y if isinstance(y, NodeLabels) else lists_as_matrix(y, None)
        column = None if isinstance(y, NodeLabels) else label_column(y)
        if column is None or column.ndim != 1 or has_rows_of_labels(column):
            return self._read_sets(X, y, weights, kept)
        check_consistent_length(X, column)
        with warnings.catch_warnings():
            # a class of one row is enough: most rules use only the means of the classes
            warnings.filterwarnings("ignore", message="The number of unique classes")
            if column.dtype.kind in "fc":
                check_classification_targets(column)
        if kept is not None:
            X, column = take_rows(X, kept), column[kept]
        self.classes_, codes = sorted_classes(column)
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise PalmetteError(f"y has one class only, {only!r}: expected two classes or more.")
        settings = self._seed(), getattr(self, "n_jobs", None)
        classes = codes.astype(np.int32)
        return ClassProblem(X, classes, len(self.classes_), weights, *settings), None

    def _read_sets(self, X: Any, y: Any, weights: Any, kept: Any) -> tuple[ClassProblem, Any]:
        """Validate label sets; `kept` are the rows with a weight, None for all."""
        labels = read_label_sets(y)
        check_consistent_length(X, labels.given)
        if kept is not None:
            X = take_rows(X, kept)
            labels = NodeLabels(labels.hierarchy, labels.given[kept], labels.form)
        found = LabelSets.of(labels)
        self.classes_ = found.classes
        settings = self._seed(), getattr(self, "n_jobs", None)
        return LabelSetsProblem(X, found.members, weights, *settings), found.others

    def _seed(self) -> int:
        return int(check_random_state(getattr(self, "random_state", 0)).randint(2**31 - 1))

    def encode(self, y: Any, *, skip_unknown: bool = False) -> NodeLabels:
        """Encode labels as nodes of ``hierarchy_``.

        Parameters
        ----------
        y : labels of n_samples rows
        skip_unknown : bool
            Whether labels that are not in the hierarchy are skipped; otherwise they are an error.

        Returns
        -------
        NodeLabels
            The columns of a matrix are the leaves of their labels, in the order of the columns.
        """
        check_is_fitted(self)
        return encode_label_sets(self.hierarchy_, y, skip_unknown=skip_unknown)

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
        self.state = self.learner._begin(problem)
        return self.state

    def fork(self, state: Any) -> tuple[Any, int] | None:
        """Return a state for another thread; see `Partition.fork`."""
        return self.learner._fork(state)

    def split(self, state: Any, classes: IntArray, node: int) -> list[IntArray]:
        """Divide the classes of a node; see `Partition.split`."""
        return self.learner._split(state, classes, node)
