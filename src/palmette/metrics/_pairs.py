"""The labels that a metric compares: pairs on one hierarchy, and 0/1 matrices with scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.exceptions import HierarchyError, LabelError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.hierarchy._separators import SEPARATORS, detect_separator, split_path
from palmette.labels._containers import unwrap
from palmette.labels._forms import sorted_labels
from palmette.labels._labels import NodeLabels, carried_hierarchy


@dataclass(frozen=True)
class LabelPair:
    """True and predicted labels of the same rows, encoded on the same hierarchy.

    Parameters
    ----------
    true, pred : NodeLabels
    weight : float array of shape (n_samples,)
        Ones if the caller gave no weights.
    """

    true: NodeLabels
    pred: NodeLabels
    weight: FloatArray

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy of both."""
        return self.true.hierarchy

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @property
    def has_one_node_per_row(self) -> bool:
        """Whether every row is one node of a tree, so that two rows overlap down to their LCA."""
        return self.hierarchy.is_tree and all(
            bool((np.diff(labels.given.indptr) == 1).all()) for labels in (self.true, self.pred)
        )

    @property
    def nodes(self) -> tuple[IntArray, IntArray]:
        """True and predicted node of every row, where `has_one_node_per_row`."""
        return self.true.given.indices, self.pred.given.indices

    def mean(self, per_row: NDArray[Any]) -> float:
        """Weighted mean of one value per row."""
        return float(self.weight @ per_row) / self.total


def pair_labels(
    y_true: Any, y_pred: Any, hierarchy: Hierarchy | None = None, sample_weight: Any = None
) -> LabelPair:
    """Encode truth and prediction on one hierarchy.

    Parameters
    ----------
    y_true, y_pred : array-like
        In any form that `NodeLabels.encode` takes.
    hierarchy : Hierarchy, optional
        By default the one that `y_true` or `y_pred` carries, the union of the paths of both, or a
        star over the names of both.
    sample_weight : array-like of shape (n_samples,), optional
    """
    if hierarchy is None:
        hierarchy = carried_hierarchy(y_true) or carried_hierarchy(y_pred)
    if hierarchy is None:
        true, pred = _encode_on_union(y_true, y_pred)
    else:
        true = NodeLabels.encode(y_true, hierarchy)
        pred = NodeLabels.encode(y_pred, hierarchy)
    if true.n_samples != pred.n_samples:
        raise LabelError(
            f"y_true has {true.n_samples} rows and y_pred has {pred.n_samples}: expected the same "
            "number."
        )
    if not true.n_samples:
        raise LabelError("y_true and y_pred are empty: a metric needs at least one row.")
    return LabelPair(true, pred, check_weight(sample_weight, true.n_samples))


def check_weight(sample_weight: Any, n_samples: int) -> FloatArray:
    """Return weights as floats of shape (n_samples,), ones if none are given."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise LabelError(
            f"sample_weight has shape {weight.shape}, expected ({n_samples},): one weight per row."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise LabelError(
            "sample_weight has negative, infinite or NaN values: expected numbers of at least 0."
        )
    if not weight.any():
        raise LabelError("sample_weight is zero everywhere: no row is left to score.")
    return weight


# ---------------------------------------------------------------------- without a hierarchy


def _encode_on_union(y_true: Any, y_pred: Any) -> tuple[NodeLabels, NodeLabels]:
    true, pred = NodeLabels.encode(y_true, flat=True), NodeLabels.encode(y_pred, flat=True)
    tree = _tree_of_strings(true, pred)
    if tree is not None:
        return NodeLabels.encode(y_true, tree), NodeLabels.encode(y_pred, tree)
    if true.hierarchy == pred.hierarchy:
        return true, NodeLabels(true.hierarchy, pred.given, pred.form)
    if _is_by_name(true) != _is_by_name(pred):
        return _encode_names_on_paths(y_true, y_pred, true, pred)
    if true.form.kind == "indicator":
        raise LabelError(
            f"y_true has the columns of {true.hierarchy.n_nodes - 1} labels and y_pred those of "
            f"{pred.hierarchy.n_nodes - 1}, which differ. Pass hierarchy=, or give both the same "
            "columns."
        )
    union = _union(true.hierarchy, pred.hierarchy, star=_is_by_name(true))
    return _move(true, union), _move(pred, union)


def _tree_of_strings(true: NodeLabels, pred: NodeLabels) -> Hierarchy | None:
    """Return the tree of strings that `fit` would read as paths, None for other labels."""
    forms = (true.form, pred.form)
    if not all(form.kind in ("names", "sets") and form.style == "name" for form in forms):
        return None
    names = list(dict.fromkeys([*true.hierarchy.names[1:], *pred.hierarchy.names[1:]]))
    separator = detect_separator(names) if all(isinstance(n, str) for n in names) else None
    if separator is None:
        return None
    return Hierarchy.from_paths(sorted({split_path(name, separator) for name in names}))


def _is_by_name(labels: NodeLabels) -> bool:
    """Whether labels are names of nodes rather than paths."""
    if labels.form.kind == "sets":
        return labels.form.style != "tuple"
    return labels.form.kind in ("names", "indicator")


def _encode_names_on_paths(
    y_true: Any, y_pred: Any, true: NodeLabels, pred: NodeLabels
) -> tuple[NodeLabels, NodeLabels]:
    """Look names up in the hierarchy of the other side, which gives paths."""
    try:
        if _is_by_name(true):
            return NodeLabels.encode(y_true, pred.hierarchy), pred
        return true, NodeLabels.encode(y_pred, true.hierarchy)
    except HierarchyError as error:
        raise LabelError(
            "one of y_true and y_pred gives paths, the other names, and not every name is on "
            f"these paths: {error} Pass hierarchy=, or give both as paths."
        ) from None


def _union(first: Hierarchy, second: Hierarchy, *, star: bool) -> Hierarchy:
    if star:
        return Hierarchy.star(sorted_labels({*first.names[1:], *second.names[1:]}))
    return Hierarchy.from_paths(sorted_labels({*_leaf_paths(first), *_leaf_paths(second)}))


def _leaf_paths(hierarchy: Hierarchy) -> list[tuple[Any, ...]]:
    return [hierarchy.path(leaf) for leaf in hierarchy.leaves.tolist()]


def _move(labels: NodeLabels, hierarchy: Hierarchy) -> NodeLabels:
    """Put labels on a hierarchy that holds their own."""
    old, given = labels.hierarchy, labels.given
    steps = _steps(hierarchy)
    place = np.zeros(old.n_nodes, dtype=np.int32)
    for parent, child in old.edges.tolist():  # by child, and in preorder parents come first
        place[child] = steps[int(place[parent]), old.names[child]]
    shape = (given.shape[0], hierarchy.n_nodes)
    moved = sparse.csr_array((given.data, place[given.indices], given.indptr), shape=shape)
    moved.sort_indices()
    return NodeLabels(hierarchy, moved, labels.form)


def _steps(hierarchy: Hierarchy) -> dict[tuple[int, Any], int]:
    names = hierarchy.names
    return {(parent, names[child]): child for parent, child in hierarchy.edges.tolist()}


# ---------------------------------------------------------------------- labels not yet seen


def extend_hierarchy(hierarchy: Hierarchy, y: Any) -> Hierarchy:
    """Add the labels of `y` that a hierarchy lacks, so that unseen ones can be scored.

    A path, or a path string whose beginning is known, is added below its known part; a bare name is
    added below the root, as nothing else is known about it.

    Parameters
    ----------
    hierarchy : Hierarchy
    y : array-like
        In any form that `NodeLabels.encode` takes.

    Returns
    -------
    Hierarchy
        The same object if nothing is missing.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat")])
    >>> extend_hierarchy(h, ["cat", "animal/dog", "oak"]).path_strings.tolist()
    ['root', 'animal', 'animal/cat', 'animal/dog', 'oak']
    """
    labels = NodeLabels.encode(y, flat=True)
    if labels.form.kind == "indicator":
        return hierarchy  # its columns are nodes; the encoder reports any mismatch
    if _is_by_name(labels):
        paths = _unknown_names(hierarchy, labels.hierarchy.names[1:].tolist())
    else:
        paths = _leaf_paths(labels.hierarchy)
    return _grow(hierarchy, paths)


def _unknown_names(hierarchy: Hierarchy, names: Iterable[Any]) -> list[tuple[Any, ...]]:
    unknown = [name for name in names if name not in hierarchy]
    if not unknown:
        return []
    known = set(hierarchy.names.tolist())
    paths = []
    for name in unknown:
        if name in known:
            hierarchy.index(name)  # it occurs in several places: raises an error that lists them
        paths.append(_place_below(hierarchy, name))
    return paths


def _place_below(hierarchy: Hierarchy, name: Any) -> tuple[Any, ...]:
    """Return the path of an unknown label, below the known part of its string."""
    if isinstance(name, str) and hierarchy.is_tree:
        for separator in SEPARATORS:
            head, _, tail = name.rpartition(separator)
            if head in hierarchy and tail.strip():
                return (*hierarchy.path(head), tail.strip())
    return (name,)


def _grow(hierarchy: Hierarchy, paths: Iterable[tuple[Any, ...]]) -> Hierarchy:
    names = hierarchy.names.tolist()
    edges: list[tuple[int, int]] = []
    steps = _steps(hierarchy)
    for path in paths:
        node = 0
        for name in path:
            child = steps.get((node, name))
            if child is None:
                child = len(names)
                names.append(name)
                edges.append((node, child))
                steps[node, name] = child
            node = child
    if not edges:
        return hierarchy
    joined = np.vstack([hierarchy.edges, np.asarray(edges, dtype=np.int32)])
    return Hierarchy(names, joined, vocabulary=hierarchy.vocabulary)


# ---------------------------------------------------------------------- 0/1 matrices and scores


def read_indicator(y: Any, what: str) -> sparse.csr_array:
    """Read a 0/1 matrix as sparse booleans; `what` names it in errors."""
    values, _ = unwrap(y)
    matrix = values if sparse.issparse(values) else np.asarray(values)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise LabelError(
            f"{what} has shape {matrix.shape} and type {matrix.dtype}: expected a 0/1 matrix of "
            "shape (n_samples, n_labels)."
        )
    table = sparse.csr_array(matrix)
    if not np.isin(table.data, (0, 1)).all():
        raise LabelError(
            f"{what} has values other than 0 and 1: expected 0/1 labels. Apply a threshold to "
            "scores first."
        )
    table = table.astype(bool)
    table.eliminate_zeros()
    table.sort_indices()
    return table


def two_indicators(y_true: Any, y_pred: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read two 0/1 matrices of the same shape as sparse booleans."""
    true, pred = read_indicator(y_true, "y_true"), read_indicator(y_pred, "y_pred")
    if true.shape != pred.shape:
        raise LabelError(
            f"y_true has shape {true.shape} and y_pred {pred.shape}: expected the same shape."
        )
    return true, pred


def truth_and_scores(y_true: Any, y_score: Any) -> tuple[sparse.csr_array, NDArray[Any]]:
    """Read a 0/1 matrix and scores of the same shape."""
    true = read_indicator(y_true, "y_true")
    scores = np.asarray(y_score)
    if scores.shape != true.shape:
        raise LabelError(
            f"y_true has shape {true.shape} and y_score {scores.shape}: expected the same shape."
        )
    if not np.isfinite(scores).all():
        raise LabelError("y_score has infinite or NaN values: expected finite scores.")
    return true, scores
