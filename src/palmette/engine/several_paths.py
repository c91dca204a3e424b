"""The steps behind `PathClassifier` that need no model: labels in, labels and arrays out."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.containers import Container
from palmette.core.decode import normalize_rows
from palmette.core.hierarchy import Hierarchy
from palmette.core.indicators import is_indicator
from palmette.core.label_forms import as_dtype
from palmette.core.labels import NodeLabels
from palmette.core.readings import node_csr
from palmette.engine.target import label_order

__all__ = [
    "NodeRoute",
    "closed_on",
    "count_open_rows",
    "has_several",
    "labels_listed",
    "lists_as_matrix",
    "nodes_in",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


# ---------------------------------------------------------------------- reading


def lists_as_matrix(y: Any, hierarchy: Hierarchy | None) -> Any:
    """Make an indicator matrix of lists of 0 and 1, as scikit-learn does; other lists are paths.

    Examples
    --------
    >>> lists_as_matrix([[0, 1], [1, 1]], None)
    array([[0, 1], [1, 1]])
    >>> lists_as_matrix([[2019, 1], [2020, 1]], None)
    [[2019, 1], [2020, 1]]
    """
    if not isinstance(y, list) or not all(isinstance(row, list | np.ndarray) for row in y):
        return y
    if len(set(map(len, y))) != 1 or not all(isinstance(cell, Real) for cell in y[0]):
        return y
    matrix = np.asarray(y)
    is_numeric = matrix.ndim == 2 and matrix.shape[1] > 1 and matrix.dtype.kind in "biuf"
    return matrix if is_numeric and is_indicator(matrix, Container("numpy"), hierarchy) else y


def has_several(labels: NodeLabels) -> bool:
    """Whether labels ask for an answer node by node: several paths a row, none, or a DAG."""
    if not labels.hierarchy.is_tree or not labels.is_single_path:
        return True
    # the root alone, in a matrix that lists it, is a row without labels
    return labels.form.several and bool((labels.terminals == 0).any())


def labels_listed(labels: NodeLabels) -> tuple[NDArray[Any], IntArray]:
    """Labels that occur, and their nodes: both of shape (n_labels,).

    Of an indicator matrix they are its columns, in their order, whether they occur or not.
    """
    form, hierarchy = labels.form, labels.hierarchy
    if form.columns is not None:
        names = [form.spell(node, hierarchy) for node in form.columns.tolist()]
        # the type of the zeros and ones says nothing about the names
        return as_dtype(_objects(names), np.dtype(np.int64)), form.columns
    nodes = nodes_in(labels.given)
    names = form.class_labels(nodes, hierarchy)
    order = label_order(names)
    return names[order], nodes[order]


def count_open_rows(labels: NodeLabels) -> int:
    """Rows of a matrix that say no to an ancestor of a node to which they say yes.

    Sets and paths leave ancestors out as a matter of course; the root is never asked for.
    """
    columns = labels.form.columns
    if columns is None:
        return 0
    columns = columns[columns > 0]
    gaps = labels.closed[:, columns].sum(axis=1) - labels.given[:, columns].sum(axis=1)
    return int(np.count_nonzero(gaps))


def nodes_in(sets: sparse.csr_array) -> IntArray:
    """Nodes below the root that occur in sparse sets of nodes, ascending."""
    counts = np.bincount(sets.indices, minlength=1)
    counts[0] = 0
    return np.flatnonzero(counts).astype(np.int32)


def _objects(values: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# ---------------------------------------------------------------------- deciding and scoring


class NodeRoute:
    """The route that coherent probabilities of nodes imply for one path a row.

    The options of a family share what there is; a label with children takes what they leave.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
        Columns are the active nodes of a `LabelSpace`, in its order, without the root.
    """

    def __init__(self, proba: Any) -> None:
        self._proba = proba

    def __call__(self, parent: int, options: IntArray, rows: IntArray | None) -> FloatArray:
        """Return probabilities of shape (n_rows, n_options); see `Route`."""
        proba = self._proba if rows is None else self._proba[rows]
        values = proba[:, options - 1].astype(np.float64)
        if options[0] == parent:
            values[:, 0] = np.maximum(values[:, 0] - values[:, 1:].sum(axis=1), 0.0)
        return normalize_rows(values)


def closed_on(
    hierarchy: Hierarchy, y: Any, columns: IntArray | None = None
) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
    """Read labels on a hierarchy that may lack some of them.

    Parameters
    ----------
    hierarchy : Hierarchy
    y : labels of n_samples rows
    columns : int array of shape (n_columns,), optional
        Nodes of the columns of a matrix whose columns have no names.

    Returns
    -------
    closed : sparse bool array of shape (n_samples, n_nodes)
        Labels that are there, and their ancestors.
    known : bool array of shape (n_samples,)
        Whether all labels of a row are there.
    """
    labels = NodeLabels.encode(y)
    if labels.form.kind == "indicator":
        container, nodes = labels.form.container, labels.given.indices
        unnamed = container.columns is None or container.is_numbered
        if columns is not None and unnamed and labels.form.width == len(columns):
            given = node_csr(columns[nodes - 1], labels.given.indptr, hierarchy.n_nodes)
            labels = NodeLabels(hierarchy, given, labels.form)
        else:
            labels = NodeLabels.encode(y, hierarchy)
        return labels.closed, np.ones(len(labels), dtype=bool)
    seen, codes = np.unique(labels.given.indices, return_inverse=True)
    names = labels.form.class_labels(seen, labels.hierarchy).tolist()
    numbers = [hierarchy.index(name) if name in hierarchy else -1 for name in names]
    nodes = np.asarray(numbers, dtype=np.int32)[codes]
    rows = np.repeat(np.arange(len(labels)), np.diff(labels.given.indptr))
    there = nodes >= 0
    known = np.bincount(rows, ~there, minlength=len(labels)) == 0
    flags = np.ones(int(there.sum()), dtype=bool)
    shape = (len(labels), hierarchy.n_nodes)
    given = sparse.csr_array((flags, (rows[there], nodes[there])), shape=shape)
    return NodeLabels(hierarchy, given, labels.form).closed, known
