"""Truth and prediction on one hierarchy: the door through which every metric lets `y` in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.hierarchy import Hierarchy
from palmette.core.label_forms import sorted_labels
from palmette.core.labels import NodeLabels
from palmette.core.lookup import SEPARATOR
from palmette.exceptions import HierarchyError, LabelError

__all__ = ["LabelPair", "check_weight", "extend_hierarchy", "pair_labels"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class LabelPair:
    """True and predicted labels of the same rows, encoded on the same hierarchy.

    Parameters
    ----------
    true, pred : NodeLabels
    weight : float array of shape (n_samples,)
        One for every row where the caller gave none.
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
    def has_one_node_a_row(self) -> bool:
        """Whether every row is one node of a tree, so that two rows overlap down to their LCA."""
        return self.hierarchy.is_tree and all(
            bool((np.diff(labels.given.indptr) == 1).all()) for labels in (self.true, self.pred)
        )

    @property
    def nodes(self) -> tuple[IntArray, IntArray]:
        """True and predicted node of every row, where `has_one_node_a_row`."""
        return self.true.given.indices, self.pred.given.indices

    def mean(self, per_row: NDArray[Any]) -> float:
        """Weighted mean of a value a row."""
        return float(self.weight @ per_row) / self.total


def pair_labels(
    y_true: Any,
    y_pred: Any,
    hierarchy: Hierarchy | None = None,
    sample_weight: Any = None,
) -> LabelPair:
    """Encode truth and prediction on one hierarchy.

    Parameters
    ----------
    y_true, y_pred : array-like
        In any form that `NodeLabels.encode` takes.
    hierarchy : Hierarchy, optional
        By default the union of the paths of both, or a star over the names of both.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    LabelPair
    """
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
    """Return weights as floats of shape (n_samples,), ones where there are none."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise LabelError(
            f"sample_weight has shape {weight.shape}, expected ({n_samples},): one weight a row."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise LabelError("sample_weight holds negative, infinite or NaN values.")
    if not weight.any():
        raise LabelError("sample_weight is zero everywhere: no row is left to score.")
    return weight


# ---------------------------------------------------------------------- without a hierarchy


def _encode_on_union(y_true: Any, y_pred: Any) -> tuple[NodeLabels, NodeLabels]:
    true, pred = NodeLabels.encode(y_true), NodeLabels.encode(y_pred)
    if true.hierarchy == pred.hierarchy:
        return true, NodeLabels(true.hierarchy, pred.given, pred.form)
    if _is_by_name(true) != _is_by_name(pred):
        return _encode_names_on_paths(y_true, y_pred, true, pred)
    if true.form.kind == "indicator":
        raise LabelError(
            f"y_true has the columns of {true.hierarchy.n_nodes - 1} labels and y_pred those of "
            f"{pred.hierarchy.n_nodes - 1}, which differ. Pass hierarchy=, or the same columns."
        )
    union = _union(true.hierarchy, pred.hierarchy, star=_is_by_name(true))
    return _move(true, union), _move(pred, union)


def _is_by_name(labels: NodeLabels) -> bool:
    """Whether labels name nodes rather than spell paths."""
    if labels.form.kind == "sets":
        return labels.form.style != "tuple"
    return labels.form.kind in ("names", "indicator")


def _encode_names_on_paths(
    y_true: Any, y_pred: Any, true: NodeLabels, pred: NodeLabels
) -> tuple[NodeLabels, NodeLabels]:
    """Look names up in the hierarchy of the other side, which spells paths."""
    try:
        if _is_by_name(true):
            return NodeLabels.encode(y_true, pred.hierarchy), pred
        return true, NodeLabels.encode(y_pred, true.hierarchy)
    except HierarchyError as error:
        raise LabelError(
            "one of y_true and y_pred gives paths, the other names, and not every name is on "
            f"these paths: {error} Pass hierarchy=, or write both alike."
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

    A path, or a path string whose beginning is known, goes where it belongs; a bare name, of which
    nothing is known, goes under the root.

    Parameters
    ----------
    hierarchy : Hierarchy
    y : array-like
        In any form that `NodeLabels.encode` takes.

    Returns
    -------
    Hierarchy
        The same object where nothing is missing.

    Examples
    --------
    >>> h = Hierarchy.from_paths([("animal", "cat")])
    >>> extend_hierarchy(h, ["cat", "animal/dog", "oak"]).path_strings.tolist()
    ['root', 'animal', 'animal/cat', 'animal/dog', 'oak']
    """
    labels = NodeLabels.encode(y)
    if labels.form.kind == "indicator":
        return hierarchy  # its columns are nodes already, or the encoder says what is wrong
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
            hierarchy.index(name)  # there, but in several places: raises and says where
        head, _, tail = name.rpartition(SEPARATOR) if isinstance(name, str) else ("", "", name)
        placed = head in hierarchy and hierarchy.is_tree
        paths.append((*hierarchy.path(head), tail) if placed else (name,))
    return paths


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
    return Hierarchy(names, np.vstack([hierarchy.edges, np.asarray(edges, dtype=np.int32)]))
