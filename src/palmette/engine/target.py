"""Reading y along a hierarchy that is given, found in y, or learnt."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, has_fit_parameter

from palmette.core.hierarchy import Hierarchy
from palmette.core.labels import NodeLabels
from palmette.core.rows import take_rows
from palmette.core.space import LabelSpace
from palmette.engine.answers import NodeSets, OnePath, lists_as_matrix
from palmette.engine.weights import used_rows
from palmette.exceptions import HierarchyError, LabelError

__all__ = [
    "ReadLabels",
    "check_target",
    "closed_targets",
    "given_hierarchy",
    "has_several",
    "node_target",
    "path_target",
    "read_labels",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

_SEVERAL = (tuple, list, set, frozenset)  # rows that are more than one label


class ReadLabels(NamedTuple):
    """Labels that were read from y.

    Parameters
    ----------
    labels : NodeLabels
        Of all rows.
    learner : object or None
        The fitted learner of the hierarchy, where one was set.
    """

    labels: NodeLabels
    learner: Any


def read_labels(
    setting: Any, X: Any, y: Any, weights: FloatArray | None = None, *, takes_matrices: bool = False
) -> ReadLabels:
    """Encode y along the hierarchy that a user asks for.

    Parameters
    ----------
    setting : Hierarchy, learner of one, or None
        None takes the hierarchy from y.
    X : rows
    y : labels of n_samples rows
        Or `NodeLabels`, which are taken as they are.
    weights : array of shape (n_samples,), optional
        A learner of the hierarchy does not see rows without weight.
    takes_matrices : bool
        Whether a list of lists of 0 and 1 is an indicator matrix.

    Returns
    -------
    ReadLabels
    """
    learner = None
    if isinstance(y, NodeLabels):
        _check_same_hierarchy(setting, y.hierarchy)
    else:
        hierarchy, y, learner = _hierarchy_for(setting, X, y, weights)
    if isinstance(y, NodeLabels):  # given so, or read by the learner of the hierarchy
        labels = y
    else:
        y = lists_as_matrix(y, hierarchy) if takes_matrices else y
        labels = NodeLabels.encode(check_target(y), hierarchy)
    return ReadLabels(labels, learner)


def path_target(labels: NodeLabels, used: NDArray[np.bool_] | None) -> tuple[OnePath, IntArray]:
    """Return what a model of one path per row learns.

    Parameters
    ----------
    labels : NodeLabels
        Of all rows, in a tree.
    used : bool array of shape (n_samples,), optional
        Rows that are learnt from; None for all.

    Returns
    -------
    OnePath
    int array of shape (n_used,)
        Class of every used row, as a position in ``space.classes``.
    """
    terminals = labels.terminals
    unlabelled = np.flatnonzero(terminals == 0)
    if unlabelled.size:
        raise LabelError(
            f"y[{unlabelled[0]}] names no node below the root ({unlabelled.size} such rows). "
            "Give it a label or drop the row."
        )
    classes, codes = np.unique(terminals if used is None else terminals[used], return_inverse=True)
    answers = OnePath(LabelSpace(labels.hierarchy, classes), labels.form)
    return answers, codes.astype(np.int32)


def node_target(labels: NodeLabels) -> tuple[NodeSets, sparse.csr_array]:
    """Return what a model of several paths per row, or of a DAG, learns.

    Parameters
    ----------
    labels : NodeLabels
        Of the rows that are learnt from.

    Returns
    -------
    NodeSets
    sparse bool array of shape (n_samples, n_columns)
        Columns that are true, ancestors included.
    """
    if not (labels.given.indices > 0).any():
        raise LabelError(
            f"none of the {labels.n_samples} rows of y has a label: expected some to learn."
        )
    answers = NodeSets.of(labels)
    empty = ~np.isin(answers.class_nodes, np.r_[0, answers.nodes])
    if empty.any():
        warnings.warn(
            f"{empty.sum()} of the {len(empty)} columns of y have no positive row, e.g. "
            f"{answers.classes[empty][0]!r}: they are never predicted.",
            stacklevel=5,
        )
    n_open = _count_open_rows(labels)
    if n_open:
        warnings.warn(
            f"{n_open} of the {labels.n_samples} rows of y mark a node but not its ancestors, "
            "which are columns too: ancestors are taken to be true.",
            stacklevel=5,
        )
    return answers, closed_targets(labels, answers)


def closed_targets(labels: NodeLabels, answers: OnePath | NodeSets) -> sparse.csr_array:
    """Return the nodes that are true of each row: sparse bool, (n_samples, n_columns)."""
    return sparse.csr_array(labels.closed[:, answers.nodes])


def has_several(labels: NodeLabels) -> bool:
    """Whether labels ask for answers node by node: several paths per row, none, or a DAG."""
    if not labels.hierarchy.is_tree or not labels.is_single_path:
        return True
    # the root alone, in a matrix that lists it, is a row without labels
    return labels.form.several and bool((labels.terminals == 0).any())


def _count_open_rows(labels: NodeLabels) -> int:
    """Count the rows of a matrix that mark a node but not all of its ancestors.

    Sets and paths leave ancestors out as a matter of course; the root need not be marked.
    """
    columns = labels.form.columns
    if columns is None:
        return 0
    columns = columns[columns > 0]
    gaps = labels.closed[:, columns].sum(axis=1) - labels.given[:, columns].sum(axis=1)
    return int(np.count_nonzero(gaps))


# ---------------------------------------------------------------------- the hierarchy


def given_hierarchy(setting: Any) -> Hierarchy | None:
    """Return the hierarchy that a user gave; None where it is found in y or learnt."""
    if setting is None or isinstance(setting, Hierarchy):
        return setting
    if hasattr(setting, "fit"):
        return None  # to be learnt
    raise HierarchyError(
        f"hierarchy is a {type(setting).__name__}: expected a palmette.Hierarchy (such "
        "as Hierarchy.from_paths(...) or Hierarchy.read(file)), a learner of one (such as "
        "palmette.MFTree()) or None."
    )


def _check_same_hierarchy(setting: Any, hierarchy: Hierarchy) -> None:
    """Refuse labels that were read along another hierarchy than the one that is set."""
    given = given_hierarchy(setting)
    if given is not None and given != hierarchy:
        raise HierarchyError(
            f"y was read along {hierarchy!r}, but hierarchy={given!r}. Give the same to both."
        )


def _hierarchy_for(
    setting: Any, X: Any, y: Any, weights: FloatArray | None
) -> tuple[Hierarchy | None, Any, Any]:
    """Return the hierarchy that y is read with, y, and the fitted learner where there is one.

    A learner sees the rows of this fit alone, so that cross-validation stays honest. Labels of rows
    that are not used may be unknown to the learner: they are replaced in y. Label sets are for
    learners that have ``learns_from_label_sets``, which then encode y themselves.
    """
    if setting is None or not hasattr(setting, "fit"):
        return given_hierarchy(setting), y, None
    try:
        labels = np.asarray(y)
    except ValueError:  # paths of unequal length
        labels = np.empty((0, 0))
    if labels.ndim != 1 or (labels.size and isinstance(labels[0], _SEVERAL)):
        if getattr(setting, "learns_from_label_sets", False):
            learner = clone(setting).fit(X, y, sample_weight=weights)
            # skip_unknown: labels of rows without weight
            return learner.hierarchy_, learner.encode(y, skip_unknown=True), learner
        raise LabelError(
            f"hierarchy={setting!r} is learnt over labels, but y holds paths or sets. "
            "Give one label per row."
        )
    check_consistent_length(X, labels)
    used = used_rows(weights)
    if weights is not None and used is not None:
        X, kept = take_rows(X, np.flatnonzero(used)), labels[used]
        weights, y, labels = weights[used], np.where(used, labels, kept[0]), kept
    learner = clone(setting)
    given = {}
    if weights is not None and has_fit_parameter(learner, "sample_weight"):
        given["sample_weight"] = weights
    learner = learner.fit(X, labels, **given)
    return learner.hierarchy_, y, learner


def check_target(y: Any) -> Any:
    """Refuse what is no target for classification, in scikit-learn's own words."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None.")
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
    if getattr(getattr(y, "dtype", None), "kind", "") == "f" and y.ndim == 1:
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
    return y
