"""Reading a target of one path a row, along a hierarchy that is given, found in y, or learnt."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, has_fit_parameter

from palmette.core.hierarchy import Hierarchy
from palmette.core.label_forms import sorted_labels
from palmette.core.labels import NodeLabels
from palmette.core.rows import take_rows
from palmette.core.space import LabelSpace
from palmette.engine.weights import used_rows
from palmette.exceptions import HierarchyError, LabelError

__all__ = ["SinglePathTarget", "check_target", "label_order"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

_SEVERAL = (tuple, list, set, frozenset)  # rows that are more than one label


class SinglePathTarget:
    """What estimators with a parameter ``hierarchy`` and one path a row share.

    A subclass calls `_read_target` in its `fit`.
    """

    def _hierarchy_setting(self) -> Any:
        """Return what the user said of the hierarchy: a Hierarchy, a learner of one, or None."""
        return self.hierarchy

    def _read_target(self, X: Any, y: Any, weights: FloatArray | None = None) -> IntArray:
        """Encode y, and set ``hierarchy_``, ``space_``, ``classes_`` and ``label_form_``.

        Parameters
        ----------
        X : rows
        y : labels of n_samples rows
            Or `NodeLabels`, which are taken as they are.
        weights : array of shape (n_samples,), optional
            Labels of rows without weight are not learnt.

        Returns
        -------
        int array of shape (n_used,)
            Class of every row that is used, as a position in ``space_.classes``.
        """
        if isinstance(y, NodeLabels):
            labels = y
            self._check_same_hierarchy(labels.hierarchy)
        else:
            hierarchy, y = self._hierarchy_for(X, y, weights)
            is_read = isinstance(y, NodeLabels)  # by the learner of the hierarchy
            labels = y if is_read else NodeLabels.encode(check_target(y), hierarchy)
        labels.hierarchy.require_tree(type(self).__name__)
        check_consistent_length(X, labels.given)
        return self._learn_paths(labels, used_rows(weights))

    def _check_same_hierarchy(self, hierarchy: Hierarchy) -> None:
        """Refuse labels that were read along another hierarchy than the one that is set."""
        given = self._given_hierarchy()
        if given is not None and given != hierarchy:
            raise HierarchyError(
                f"y was read along {hierarchy!r}, but hierarchy={given!r}. Give the same to both."
            )

    def _learn_paths(self, labels: NodeLabels, used: NDArray[np.bool_] | None) -> IntArray:
        """Set what follows from labels of one path a row; see `_read_target`."""
        terminals = labels.terminals
        unlabelled = np.flatnonzero(terminals == 0)
        if unlabelled.size:
            raise LabelError(
                f"y[{unlabelled[0]}] names no node below the root ({unlabelled.size} such rows). "
                "Give it a label or drop the row."
            )
        classes, codes = np.unique(
            terminals if used is None else terminals[used], return_inverse=True
        )
        self.hierarchy_ = labels.hierarchy
        self.space_ = LabelSpace(labels.hierarchy, classes)
        self.label_form_ = labels.form.as_answer()
        names = labels.form.class_labels(self.space_.classes, labels.hierarchy)
        self._class_order = label_order(names)
        self.classes_ = names[self._class_order]
        return codes.astype(np.int32)

    def _given_hierarchy(self) -> Hierarchy | None:
        setting = self._hierarchy_setting()
        if setting is None or isinstance(setting, Hierarchy):
            return setting
        if hasattr(setting, "fit"):
            return None  # to be learnt
        raise HierarchyError(
            f"hierarchy is a {type(setting).__name__}: expected a palmette.Hierarchy (such "
            "as Hierarchy.from_paths(...) or Hierarchy.read(file)), a learner of one (such as "
            "palmette.MFTree()) or None."
        )

    def _hierarchy_for(
        self, X: Any, y: Any, weights: FloatArray | None = None
    ) -> tuple[Hierarchy | None, Any]:
        """Hierarchy that y is read with: the one given, or the one that a learner finds here.

        A learner sees the rows of this fit alone, so that cross-validation stays honest. Returns y
        too: labels of rows that are not used may be unknown to the learner, and are replaced. Label
        sets are for learners that have ``learns_from_label_sets``, which then encode y themselves.
        """
        setting = self._hierarchy_setting()
        if setting is None or not hasattr(setting, "fit"):
            return self._given_hierarchy(), y
        try:
            labels = np.asarray(y)
        except ValueError:  # paths of unequal length
            labels = np.empty((0, 0))
        if labels.ndim != 1 or (labels.size and isinstance(labels[0], _SEVERAL)):
            if getattr(setting, "learns_from_label_sets", False):
                return self._hierarchy_of_sets(X, y, weights)
            raise LabelError(
                f"hierarchy={setting!r} is learnt over labels, but y holds paths or sets. "
                "Give one label a row."
            )
        check_consistent_length(X, labels)
        used = used_rows(weights)
        if used is not None:
            X, kept = take_rows(X, np.flatnonzero(used)), labels[used]
            weights, y, labels = weights[used], np.where(used, labels, kept[0]), kept
        learner = clone(setting)
        given = {}
        if weights is not None and has_fit_parameter(learner, "sample_weight"):
            given["sample_weight"] = weights
        self.hierarchy_learner_ = learner.fit(X, labels, **given)
        return self.hierarchy_learner_.hierarchy_, y

    def _hierarchy_of_sets(
        self, X: Any, y: Any, weights: FloatArray | None
    ) -> tuple[Hierarchy, NodeLabels]:
        """Hierarchy that a learner finds over labels of which rows have several, and y along it."""
        learner = clone(self._hierarchy_setting())
        self.hierarchy_learner_ = learner.fit(X, y, sample_weight=weights)
        return learner.hierarchy_, learner.encode(y, skip_unknown=True)  # of rows without weight


def check_target(y: Any) -> Any:
    """Refuse what is no target for classification in scikit-learn's own words."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
    if getattr(getattr(y, "dtype", None), "kind", "") == "f" and y.ndim == 1:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
    return y


def label_order(names: NDArray[Any]) -> NDArray[np.intp]:
    """Order of labels: names sorted, as scikit-learn's tools expect; paths as they stand."""
    if isinstance(names[0], tuple):
        return np.arange(len(names))
    if names.dtype != object:
        return np.argsort(names, kind="stable")
    rank = {name: i for i, name in enumerate(sorted_labels(names.tolist()))}
    return np.argsort([rank[name] for name in names.tolist()], kind="stable")
