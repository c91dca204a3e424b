"""How the columns that a model adds votes to make the scores of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.boosting.members import LOSSES
from palmette.core.space import LabelSpace

__all__ = ["column_scale", "member_maps", "node_map"]

IntArray = NDArray[np.int32]


def member_maps(model: Any, nodes: IntArray) -> list[sparse.csc_array]:
    """How the columns of every member of a model make the scores of nodes.

    A model of nodes has a column for each. In a model of labels the score of a node is the mean
    over the labels at or below it.

    Parameters
    ----------
    model : BoostedClassifier
        Fitted.
    nodes : int array of shape (n_wanted,)
        Node numbers; the root, and nodes without a training row, have no score.

    Returns
    -------
    list of sparse arrays of shape (n_columns, n_wanted)
        One for each member; a model that is no bundle has one.
    """
    places = np.searchsorted(model.nodes_, nodes).clip(max=len(model.nodes_) - 1)
    places = np.where(model.nodes_[places] == nodes, places, -1)
    return [
        _labels_below(model.space_, places) if of_labels else _own(len(model.nodes_), places)
        for of_labels in _members_of_labels(model)
    ]


def node_map(model: Any, nodes: IntArray) -> sparse.csc_array:
    """Like `member_maps`, for all columns of a model together: the mean over its members."""
    maps = member_maps(model, nodes)
    return sparse.csc_array(sparse.vstack(maps) / len(maps))


def column_scale(model: Any) -> NDArray[np.float64]:
    """What a vote of one adds to the score of each column: (n_columns,).

    One, but for models that bring their columns to one scale at the end.
    """
    ones = np.ones((1, len(model.start_)))
    return np.asarray(model._scale(ones, len(model.rounds_))[0])


def _members_of_labels(model: Any) -> list[bool]:
    """Whether each member has columns for labels; else they are for nodes."""
    if model._by_node:
        return [False]
    if not hasattr(model, "_members"):
        return [True]
    return [isinstance(member, LOSSES["leaf_softmax"]) for member in model._members()]


def _own(n_columns: int, places: NDArray[np.intp]) -> sparse.csc_array:
    there = places >= 0
    starts = np.concatenate([[0], np.cumsum(there)])
    return sparse.csc_array(
        (np.ones(there.sum()), places[there], starts), shape=(n_columns, len(places))
    )


def _labels_below(space: LabelSpace, places: NDArray[np.intp]) -> sparse.csc_array:
    first, stop = space.class_range[places + 1].T  # the root is among the active nodes
    sizes = np.where(places >= 0, stop - first, 0)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
    shares = np.repeat(1.0 / np.maximum(sizes, 1), sizes)
    return sparse.csc_array((shares, columns, starts), shape=(space.n_classes, len(places)))
