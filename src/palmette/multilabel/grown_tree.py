"""A tree grown by our kernel, in the form of those of scikit-learn: it answers and is kept so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import NODE_DTYPE, Tree

from palmette._kernels.entropy_tree import EntropyTree, grow_entropy_tree
from palmette.multilabel.sorted_rows import SortedRows

__all__ = ["grow_tree"]

FloatArray = NDArray[np.float64]

_MOST_LOGS = 2**24  # whole weights up to this sum have their logarithms looked up
_UNDEFINED = -2  # what scikit-learn has for feature and cut of a leaf


def grow_tree(
    rows: SortedRows,
    codes: NDArray[Any],
    weights: FloatArray | None,
    classes: NDArray[Any],
    least: float,
    seed: int,
) -> DecisionTreeClassifier:
    """Grow a tree by information gain until leaves are of one class or too light to split.

    Parameters
    ----------
    rows : SortedRows
    codes : int array of shape (n_rows,)
        Places of the rows' classes.
    weights : array of shape (n_rows,), optional
        All positive.
    classes : array of shape (n_classes,)
    least : float
        What a leaf weighs at least.
    seed : int
        Decides between equally good cuts.

    Returns
    -------
    DecisionTreeClassifier, fitted
    """
    if weights is None:
        amounts: NDArray[Any] = np.ones(len(codes), dtype=np.int64)
    elif weights.sum() < _MOST_LOGS and np.array_equal(weights, np.rint(weights)):
        amounts = weights.astype(np.int64)
    else:
        amounts = np.asarray(weights, dtype=np.float64)
    logs = np.zeros(0)
    if amounts.dtype == np.int64:
        logs = np.arange(int(amounts.sum()) + 1, dtype=np.float64)
        logs[1:] *= np.log(logs[1:])
    starts, places, values = rows.columns
    columns = type(rows.columns)(starts, places.copy(), values.copy())  # growing uses them up
    grown = grow_entropy_tree(
        columns, codes.astype(np.uint32), amounts, logs, len(classes), float(least), seed
    )
    return _as_classifier(grown, rows.shape[1], classes)


def _as_classifier(
    grown: EntropyTree, n_features: int, classes: NDArray[Any]
) -> DecisionTreeClassifier:
    """Fill a classifier with a tree, by the same door as unpickling does."""
    nodes = np.zeros(len(grown.left), dtype=NODE_DTYPE)
    inner, weights = grown.left >= 0, grown.masses.sum(axis=1).astype(np.float64)
    shares = grown.masses / weights[:, None]
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    nodes["left_child"] = grown.left
    nodes["right_child"] = np.where(inner, grown.left + 1, -1)
    nodes["feature"] = np.where(inner, grown.features, _UNDEFINED)
    nodes["threshold"] = np.where(inner, grown.cuts, _UNDEFINED)
    nodes["impurity"] = -(shares * logs).sum(axis=1)
    nodes["n_node_samples"] = grown.n_rows
    nodes["weighted_n_node_samples"] = weights
    tree = Tree(n_features, np.array([len(classes)], dtype=np.intp), 1)
    state = {"max_depth": _depth(grown.left), "node_count": len(nodes), "nodes": nodes}
    tree.__setstate__({**state, "values": np.ascontiguousarray(shares[:, None, :])})
    model = DecisionTreeClassifier(criterion="entropy")
    model.tree_, model.classes_, model.n_classes_ = tree, classes, np.int64(len(classes))
    model.n_features_in_ = model.max_features_ = n_features
    model.n_outputs_ = 1
    return model


def _depth(left: NDArray[np.int32]) -> int:
    depth = [0] * len(left)
    for node, child in enumerate(left.tolist()):  # children stand after their parents
        if child >= 0:
            depth[child] = depth[child + 1] = depth[node] + 1
    return max(depth)
