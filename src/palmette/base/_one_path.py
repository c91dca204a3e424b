"""What estimators of one path per row in a tree need: an error for all else, or a tree of a DAG."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette._text import caller_level
from palmette.exceptions import HierarchyError, LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._forms import node_csr
from palmette.labels._labels import NodeLabels

_OTHERS = (
    "HierarchicalBoostingClassifier and LocalPerNodeClassifier take several paths per row and "
    "DAGs; the page 'What goes together' of the documentation lists all that do."
)


def check_one_path(labels: NodeLabels, who: str) -> None:
    """Raise the error of an estimator that has no form for DAGs, or for several paths per row.

    Parameters
    ----------
    labels : NodeLabels
        Of all rows.
    who : str
        The estimator.

    Examples
    --------
    >>> check_one_path(NodeLabels.encode([{"a"}, {"a", "b"}]), "BestClassifier")
    Traceback (most recent call last):
        ...
    palmette.exceptions.LabelError: BestClassifier needs one path per row, but 1 of 2 rows do not...
    """
    check_tree(labels.hierarchy, who)
    check_single_paths(labels, who)


def check_single_paths(labels: NodeLabels, who: str) -> None:
    """Raise the error of an estimator that has no form for several paths per row."""
    if not labels.is_single_path:
        n_paths = np.diff(labels.specific.indptr)
        bad = np.flatnonzero(n_paths != 1)
        what = "no label" if n_paths[bad[0]] == 0 else f"{n_paths[bad[0]]} paths"
        raise LabelError(
            f"{who} needs one path per row, but {len(bad)} of {len(n_paths)} rows do not have one "
            f"path (row {bad[0]} has {what}). {_OTHERS}"
        )


def check_tree(hierarchy: Hierarchy, who: str) -> None:
    """Raise the error of an estimator that has no form for DAGs."""
    if hierarchy.is_tree:
        return
    n_parents = np.bincount(hierarchy.edges[:, 1], minlength=hierarchy.n_nodes)
    several = np.flatnonzero(n_parents > 1)
    raise HierarchyError(
        f"{who} needs a tree, but {len(several)} of {hierarchy.n_nodes} nodes have several "
        f"parents (e.g. {hierarchy.names[several[0]]!r} has {n_parents[several[0]]}). {_OTHERS}"
    )


def tree_of_learnt(learner: Any, X: Any, labels: NodeLabels, who: str) -> Hierarchy:
    """Return the hierarchy of a learner; of a DAG, with a warning, a tree of the best parents.

    Parameters
    ----------
    learner : fitted learner of a hierarchy
    X : rows
    labels : NodeLabels
        In the hierarchy of the learner.
    who : str
        The estimator that needs a tree.
    """
    hierarchy: Hierarchy = learner.hierarchy_
    if hierarchy.is_tree:
        return hierarchy
    kept = best_parents(hierarchy, X, labels.closed)
    several = np.flatnonzero(np.bincount(hierarchy.edges[:, 1]) > 1)
    example = several[0]
    warnings.warn(
        f"{who} needs a tree, but {type(learner).__name__} has learned a DAG. The {len(several)} "
        f"of {hierarchy.n_nodes} nodes that have several parents keep the one whose other rows are "
        f"nearest: {hierarchy.names[example]!r} stays below {hierarchy.names[kept[example]]!r}.",
        stacklevel=caller_level(),
    )
    nodes = np.arange(1, hierarchy.n_nodes)
    tree = Hierarchy(hierarchy.names.tolist(), np.column_stack([kept[nodes], nodes]))
    return _without_empty(tree, hierarchy.leaves, hierarchy)


def moved_to(tree: Hierarchy, labels: NodeLabels) -> NodeLabels:
    """Return labels as nodes of another hierarchy, in which they have the same names."""
    names, form = labels.hierarchy.names, labels.form
    number = {name: i for i, name in enumerate(tree.names.tolist())}
    nodes = np.array([number.get(name, -1) for name in names.tolist()], dtype=np.int32)
    form = replace(
        form,
        columns=None if form.columns is None else nodes[form.columns],
        spelling={int(nodes[node]): name for node, name in form.spelling.items()},
    )
    given = node_csr(nodes[labels.given.indices], labels.given.indptr, tree.n_nodes)
    return NodeLabels(tree, given, form, index=labels._index)


def _without_empty(tree: Hierarchy, leaves: IntArray, before: Hierarchy) -> Hierarchy:
    """Return the tree without groups that have lost all of their classes."""
    wanted = set(before.names[leaves].tolist())
    is_class = np.array([name in wanted for name in tree.names.tolist()])
    counts = np.asarray(tree.closure[is_class].sum(axis=0)).ravel()
    if (counts > 0).all():
        return tree
    number = np.cumsum(counts > 0) - 1
    edges = tree.edges[counts[tree.edges[:, 1]] > 0]
    return Hierarchy(tree.names[counts > 0].tolist(), number[edges])


def best_parents(hierarchy: Hierarchy, X: Any, closed: sparse.csr_array) -> IntArray:
    """Return one parent per node, -1 for the root: that whose other rows are most similar.

    The rows of a node are compared with those that its parent has besides: the parent with the
    smallest distance between the two means is kept, and the first of several. Columns of a dense X
    are divided by their standard deviations. A parent without other rows has a distance of 0.

    Parameters
    ----------
    hierarchy : Hierarchy
    X : array or sparse matrix of shape (n_samples, n_features)
    closed : sparse bool array of shape (n_samples, n_nodes)
        True nodes, with all of their ancestors.

    Returns
    -------
    int array of shape (n_nodes,)
    """
    rows = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if not sparse.issparse(rows):
        spread = rows.std(axis=0)
        rows = rows / np.where(spread > 0, spread, 1.0)
    edges = hierarchy.edges
    n_parents = np.bincount(edges[:, 1], minlength=hierarchy.n_nodes)
    chosen = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
    sole = n_parents[edges[:, 1]] == 1
    chosen[edges[sole, 1]] = edges[sole, 0]
    members = sparse.csc_array(closed.astype(np.float64))
    sums: dict[int, tuple[float, FloatArray]] = {}

    def total(node: int) -> tuple[float, FloatArray]:
        if node not in sums:
            column = members[:, [node]]
            sums[node] = float(column.sum()), _dense(column.T @ rows)
        return sums[node]

    for node in np.flatnonzero(n_parents > 1).tolist():
        parents = np.sort(edges[edges[:, 1] == node, 0]).tolist()
        distances = [_distance(total(node), total(parent)) for parent in parents]
        chosen[node] = parents[int(np.argmin(distances))]
    return chosen


def _dense(values: Any) -> FloatArray:
    return np.asarray(values.toarray() if sparse.issparse(values) else values).ravel()


def _distance(own: tuple[float, FloatArray], above: tuple[float, FloatArray]) -> float:
    """Return the distance between the mean of a node and that of the other rows of a parent."""
    n_other = above[0] - own[0]
    if n_other <= 0 or own[0] <= 0:
        return 0.0
    return float(np.linalg.norm(own[1] / own[0] - (above[1] - own[1]) / n_other))
