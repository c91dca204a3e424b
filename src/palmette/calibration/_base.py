"""Base class of classifiers that wrap another one: folds, reading of labels, wrapped models."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, check_random_state, get_tags

from palmette._arrays import FloatArray, seed_each, take_rows
from palmette.base._adapters import final_step
from palmette.base._answers import lists_as_matrix
from palmette.base._classifier import HierarchicalClassifier
from palmette.base._column_units import Kind, unit_kind_of
from palmette.base._fitting import check_target, used_rows, weight_keyword
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._parameters import is_count, is_number
from palmette.base._wrapping import WrappedClassifier, check_wrapped, learns_its_tree
from palmette.exceptions import LabelError, PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to fit on, rows to calibrate on


def check_folds(cv: Any) -> None:
    """Raise an error unless there are at least two folds."""
    if isinstance(cv, Integral) and (isinstance(cv, bool) or cv < 2):
        raise PalmetteError(f"cv={cv!r}: expected at least 2 folds.")
    if isinstance(cv, list | tuple) and not cv:
        raise PalmetteError(
            f"cv={cv!r} has no splits: expected a number of folds, a splitter of scikit-learn, or "
            "pairs of rows to fit on and rows to calibrate on."
        )


def stratified_folds(
    cv: Any, labels: NodeLabels, random_state: Any, used: NDArray[np.bool_] | None = None
) -> list[Fold]:
    """Return folds that are stratified by label, or by set of labels.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        Given splits index all rows, including unused ones.
    labels : NodeLabels
        Of the used rows.
    random_state : int, RandomState or None
    used : bool array of shape (n_all,), optional
        Which of all rows are used; all by default.

    Returns
    -------
    list of (train, test)
        Positions among the used rows, each of which is tested once.
    """
    if not isinstance(cv, Integral):
        everything = np.ones(labels.n_samples, dtype=bool)
        return _given_folds(cv, labels, everything if used is None else used)
    kinds = _strata(labels)
    shuffled = check_random_state(random_state).permutation(len(kinds))
    order = shuffled[np.argsort(kinds[shuffled], kind="stable")]
    return _deal(order, int(cv))


def random_folds(cv: int, n_rows: int, random_state: Any) -> list[Fold]:
    """Return folds drawn independently of the labels, so that rows stay exchangeable."""
    return _deal(check_random_state(random_state).permutation(n_rows), int(cv))


def held_out_part(size: Any, n_rows: int, random_state: Any) -> Fold:
    """Return rows to fit on and rows to calibrate on, drawn independently of the labels.

    Parameters
    ----------
    size : float or int
        Share or number of the rows to calibrate on.
    n_rows : int
    random_state : int, RandomState or None
    """
    is_whole = is_count(size, 0)
    if not (is_whole or (is_number(size) and 0 < size < 1)):
        raise PalmetteError(
            f"calibration_size={size!r}: expected a share between 0 and 1, or a number of rows."
        )
    count = max(int(size) if is_whole else round(size * n_rows), 1)
    if count >= n_rows:
        raise PalmetteError(
            f"calibration_size={size!r} leaves none of the n_samples={n_rows} rows to fit on. "
            "Pass more rows, or a smaller size."
        )
    order = check_random_state(random_state).permutation(n_rows)
    return np.sort(order[count:]), np.sort(order[:count])


def take_labels(labels: NodeLabels, rows: NDArray[Any]) -> NodeLabels:
    """Return the labels of some rows."""
    return NodeLabels(labels.hierarchy, labels.given[rows], labels.form)


def _deal(order: NDArray[np.intp], n_folds: int) -> list[Fold]:
    """Assign rows to folds in turn."""
    n_rows = len(order)
    if n_rows < n_folds:
        raise PalmetteError(
            f"cv={n_folds} folds, but n_samples={n_rows} rows of positive weight: expected at "
            "least as many rows as folds. Use fewer folds."
        )
    fold = np.empty(n_rows, dtype=np.intp)
    fold[order] = np.arange(n_rows) % n_folds
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n_folds)]


def _strata(labels: NodeLabels) -> NDArray[np.intp]:
    """Number the distinct sets of labels in the order in which they first occur.

    The numbers do not depend on how the hierarchy numbers its nodes.
    """
    sets = labels.closed
    random = np.random.default_rng(0).integers(2**62, size=sets.shape[1])  # sums identify sets
    sums = np.zeros(sets.shape[0], dtype=np.int64)
    rows = np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr))
    np.add.at(sums, rows, random[sets.indices])
    _, first, kinds = np.unique(sums, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[kinds]


def _given_folds(cv: Any, labels: NodeLabels, used: NDArray[np.bool_]) -> list[Fold]:
    kinds = np.zeros(len(used), dtype=np.intp)
    kinds[used] = _strata(labels)
    folds = list(check_cv(cv).split(np.zeros((len(used), 1)), kinds))
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(used))
    wrong = np.flatnonzero(used & (tested[: len(used)] != 1))
    if wrong.size or len(tested) > len(used):
        row = int(wrong[0]) if wrong.size else len(tested) - 1
        raise PalmetteError(
            f"cv tests row {row} {tested[row]} times, of {len(used)} rows: expected splits that "
            "test every row once."
        )
    place = np.cumsum(used) - 1
    return [
        (place[train[used[train]]], place[test[used[test]]])
        for train, test in ((np.asarray(a), np.asarray(b)) for a, b in folds)
    ]


class WrappingClassifier(HierarchicalClassifier):
    """Base class of classifiers that wrap one of Palmette, or one like those of scikit-learn.

    A subclass sets the parameters ``estimator``, ``hierarchy``, ``decoding`` and ``random_state``.
    """

    verbose: int = 0  # in models of files that do not know the parameter

    def _base(self) -> Any:
        """Return the wrapped estimator; a flat logistic regression by default."""
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    def _kind_of_units(self) -> Kind:
        is_fitted = "prefit" in (getattr(self, "cv", None), getattr(self, "method", None))
        return "own" if is_fitted else unit_kind_of(self._base())

    def _unfitted(self, count: int, *, learns_tree: bool = False) -> list[WrappedClassifier]:
        """Return clones of the estimator, with different seeds where there is a `random_state`."""
        models = [clone(self._base()) for _ in range(count)]
        if self.random_state is not None:
            seed_each(models, self.random_state)
        return [WrappedClassifier(model, learns_tree=learns_tree) for model in models]

    # ------------------------------------------------------------------ labels

    def _hierarchy_setting(self) -> Any:
        if self.hierarchy is not None:
            return self.hierarchy
        setting = getattr(final_step(self._base()), "_hierarchy_setting", None)
        found = None if setting is None else setting()
        return None if hasattr(found, "fit") else found  # the estimator learns it

    def _dag_rule(self) -> str:
        return getattr(final_step(self._base()), "dag_rule", "all")

    def _check_base(self) -> None:
        check_wrapped(self._base())
        if self.hierarchy is not None and learns_its_tree(self._base(), from_names=False):
            raise PalmetteError(
                f"hierarchy={self.hierarchy!r} is given, but the estimator learns one of its own: "
                "expected only one of them. Leave hierarchy at None, or pass it to the estimator."
            )

    def _learns_tree(self, y: Any) -> bool:
        """Return whether the hierarchy is known only after the estimator has been fitted."""
        if self.hierarchy is not None or isinstance(y, NodeLabels):
            return False
        return learns_its_tree(self._base(), from_names=_holds_names(y))

    def _read_labelled(
        self, X: Any, y: Any, weights: FloatArray | None, along: Hierarchy | None = None
    ) -> NodeLabels:
        """Read y, set the attributes that depend on it, and return the labels of the used rows.

        Parameters
        ----------
        X : rows
        y : labels of n_samples rows
        weights : array of shape (n_samples,), optional
        along : Hierarchy, optional
            Hierarchy found elsewhere, such as in a fitted estimator.
        """
        if along is not None and not isinstance(y, NodeLabels):
            y = NodeLabels.encode(check_target(lists_as_matrix(y, along)), along)
        by_node = isinstance(final_step(self._base()), MultilabelClassifier)
        targets = self._learn_target(X, y, weights, by_node=by_node)
        if self._answers.by_node:
            given = self._answers.columns.sets_of_nodes(targets)
            labels = NodeLabels(self.hierarchy_, given, self.label_form_)
            self._check_several(labels)
            return labels
        if by_node:  # the last node of a path, in preorder, is the deepest
            terminals = self.nodes_[targets.indices[targets.indptr[1:] - 1]]
        else:
            terminals = self.space_.classes[targets]
        return NodeLabels.from_terminals(terminals, self.hierarchy_, self.label_form_)

    def _check_several(self, labels: NodeLabels) -> None:
        """Raise an error for several paths, or a DAG, where the estimator does not support them."""
        last = final_step(self._base())
        if isinstance(last, HierarchicalClassifier) and not last._takes_several_paths:
            self.hierarchy_.require_tree(type(self).__name__)
            _ = labels.terminals  # the error names a row with several paths

    def _add_known(self, model: WrappedClassifier) -> None:
        """Add the classes of a fitted model to those of y: the model may predict them."""
        known = model.known_nodes()
        inner = getattr(final_step(model.estimator), "_answers", None)
        listed = inner.class_nodes if inner is not None and inner.by_node else known
        self._set_answers(self._answers.with_nodes(known, listed))

    def _adopt(self, fitted: Any) -> WrappedClassifier:
        """Wrap an estimator that is fitted already, after y has been read."""
        model = WrappedClassifier(fitted).adopt(self.hierarchy_, several=self._answers.by_node)
        self._add_known(model)
        return model

    def _fit_tree_learner(
        self, X: Any, y: Any, weights: FloatArray | None, *, is_weighted: bool = True
    ) -> Any:
        """Fit an estimator that learns its hierarchy, on the labels themselves; X has been checked.

        Rows of weight 0 are left out. The estimator gets the weights only if `is_weighted`.
        """
        if not _holds_names(y):
            raise LabelError(
                "the estimator learns a hierarchy over labels, but y has paths or sets: expected "
                "one label per row."
            )
        names = np.asarray(y)
        check_consistent_length(X, names)
        used = used_rows(weights)
        if used is not None:
            y = names[used]
        X, weights = used_part(X, weights)
        estimator = self._unfitted(1)[0].estimator
        hands_on = weights is not None and is_weighted
        keywords = {weight_keyword(estimator): weights} if hands_on else {}
        return estimator.fit(X, y, **keywords)

    # ------------------------------------------------------------------ tags

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = self._base()
        if not hasattr(base, "fit"):
            return tags  # fit raises an error
        inner = get_tags(base)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        last = final_step(base)
        takes_hierarchy = hasattr(last, "_hierarchy_setting")
        tags.classifier_tags.multi_label = (
            inner.classifier_tags.multi_label if takes_hierarchy else hasattr(base, "predict_proba")
        )
        return tags


def used_part(X: Any, weights: FloatArray | None) -> tuple[Any, FloatArray | None]:
    """Return the rows of positive weight, and their weights."""
    used = used_rows(weights)
    if weights is None or used is None:
        return X, weights
    return take_rows(X, np.flatnonzero(used)), weights[used]


def _holds_names(y: Any) -> bool:
    """Return whether y has one plain label per row."""
    try:
        labels = np.asarray(y)
    except ValueError:  # paths of unequal length
        return False
    return labels.ndim == 1 and not (
        len(labels) and isinstance(labels[0], tuple | list | set | frozenset)
    )
