"""Feature importances of boosted models, and the scores of nodes as sums over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.dummy import DummyClassifier

from palmette._arrays import FloatArray, IntArray, row_chunks
from palmette.boosting._hypotheses import (
    Bundle,
    CartVotes,
    ClassModels,
    ClassTrees,
    Coloured,
    SharedTree,
)
from palmette.boosting._members import LOSSES
from palmette.exceptions import PalmetteError
from palmette.labels._space import LabelSpace

_NUMBERS_AT_ONCE = 2**22  # size of an array of gains, (n_features, n_columns)


def member_maps(model: Any, nodes: IntArray) -> list[sparse.csc_array]:
    """Return, for each member of a model, the linear map from its columns to scores of nodes.

    A model of nodes has one column per node. In a model of labels, the score of a node is the mean
    over the labels at or below it.

    Parameters
    ----------
    model : BoostedClassifier
        Fitted.
    nodes : int array of shape (n_wanted,)
        Node numbers; the root and nodes without a training row have no score.

    Returns
    -------
    list of sparse arrays of shape (n_columns, n_wanted)
        One per member; a model that is not a bundle has one member.
    """
    places = np.searchsorted(model.nodes_, nodes).clip(max=len(model.nodes_) - 1)
    places = np.where(model.nodes_[places] == nodes, places, -1)
    return [
        _labels_below(model.space_, places) if of_labels else _own(len(model.nodes_), places)
        for of_labels in _members_of_labels(model)
    ]


def node_map(model: Any, nodes: IntArray) -> sparse.csc_array:
    """Return the map of all columns of a model: the mean over its members; see `member_maps`."""
    maps = member_maps(model, nodes)
    return sparse.csc_array(sparse.vstack(maps) / len(maps))


def column_scale(model: Any) -> FloatArray:
    """Return the amount that a vote of one adds to the score of each column: (n_columns,).

    It is one, except for models that scale their columns after the last round.
    """
    ones = np.ones((1, len(model.start_)))
    return np.asarray(model._scale(ones, len(model.rounds_))[0])


def _members_of_labels(model: Any) -> list[bool]:
    """Return whether the columns of each member are labels; else they are nodes."""
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


def overall_importances(model: Any) -> FloatArray:
    """Return the importances for all columns of a model together.

    Parameters
    ----------
    model : BoostedClassifier
        Fitted.

    Returns
    -------
    array of shape (n_features,)
        Sums to one, or to zero if there is no split.
    """
    n_features = model.bins_.n_features
    if not model.rounds_:
        return np.zeros(n_features)
    members, scales = _members(model)
    sums = np.zeros((n_features, len(members)))
    for i, (rounds, scale) in enumerate(zip(members, scales, strict=True)):
        to_columns = sparse.csc_array(sparse.diags_array(scale))
        for chunk in row_chunks(len(scale), n_features, _NUMBERS_AT_ONCE):
            sums[:, i] += _gains(rounds, to_columns[:, chunk], n_features).sum(axis=1)
    return _shares(_shares(sums).mean(axis=1))


def node_importances(model: Any, nodes: IntArray) -> FloatArray:
    """Return the importances for each node.

    Parameters
    ----------
    model : BoostedClassifier
        Fitted.
    nodes : int array of shape (n_wanted,)

    Returns
    -------
    array of shape (n_wanted, n_features)
        Rows sum to one, or to zero if there is no split for a node.
    """
    n_features = model.bins_.n_features
    shares = np.zeros((len(nodes), n_features))
    if not model.rounds_:
        return shares
    members, scales = _members(model)
    for chunk in row_chunks(len(nodes), n_features, _NUMBERS_AT_ONCE):
        maps = member_maps(model, nodes[chunk])
        parts = [
            _shares(_gains(rounds, sparse.csc_array(to_nodes * scale[:, None]), n_features))
            for rounds, scale, to_nodes in zip(members, scales, maps, strict=True)
        ]
        shares[chunk] = _shares(np.mean(parts, axis=0)).T
    return shares


def _members(model: Any) -> tuple[list[Sequence[Any]], list[FloatArray]]:
    """Return the rounds and the scales of the columns of every member of a model."""
    rounds, scale = model.rounds_, column_scale(model)
    if not isinstance(rounds[0], Bundle):
        return [rounds], [scale]
    bounds = rounds[0].bounds
    members: list[Sequence[Any]] = [
        [each.parts[i] for each in rounds] for i in range(len(rounds[0].parts))
    ]
    return members, np.split(scale, bounds[1:-1])


def _shares(gains: FloatArray) -> FloatArray:
    """Scale columns to sum to one; columns of zeros stay zero."""
    totals = gains.sum(axis=0)
    return gains / np.where(totals > 0, totals, 1.0)


def _gains(rounds: Sequence[Any], to_nodes: sparse.csc_array, n_features: int) -> FloatArray:
    gains = np.zeros((n_features, to_nodes.shape[1]))
    for hypothesis in rounds:
        _add_gains(hypothesis, to_nodes, gains)
    return gains


@singledispatch
def _add_gains(hypothesis: Any, to_nodes: sparse.csc_array, gains: FloatArray) -> None:
    """Add the gains of the splits of a round in the votes for nodes.

    Parameters
    ----------
    hypothesis : Hypothesis
    to_nodes : sparse array of shape (n_columns, n_wanted)
        Map from columns to scores of nodes.
    gains : array of shape (n_features, n_wanted), in and out
    """
    raise TypeError(f"there are no importances for a {type(hypothesis).__name__}.")


@_add_gains.register
def _(hypothesis: SharedTree, to_nodes: sparse.csc_array, gains: FloatArray) -> None:
    from palmette.boosting._votes import add_shared_gains, shared_means

    tree, votes = hypothesis, np.ascontiguousarray(hypothesis.values @ to_nodes)
    mass, means = shared_means(tree.features, tree.leaf_at, votes, tree.cover.astype(np.float64))
    add_shared_gains(tree.features, mass, means, gains)


@_add_gains.register
def _(hypothesis: ClassTrees, to_nodes: sparse.csc_array, gains: FloatArray) -> None:
    from palmette.boosting._votes import add_class_gains, class_means

    nodes, columns = _single_columns(to_nodes)
    features = hypothesis.features[columns]
    votes = hypothesis.values[columns] * to_nodes.data[:, None]
    mass, means = class_means(features, votes, hypothesis.cover[columns].astype(np.float64))
    add_class_gains(features, mass, means, nodes, gains)


@_add_gains.register
def _(hypothesis: Coloured, to_nodes: sparse.csc_array, gains: FloatArray) -> None:
    # the vote for a label has the sign of its colour; that for a node is the mean over labels
    to_binary = sparse.csc_array((hypothesis.code @ to_nodes)[None, :])
    _add_gains(hypothesis.binary, to_binary, gains)


@_add_gains.register
def _(hypothesis: ClassModels, to_nodes: sparse.csc_array, gains: FloatArray) -> None:
    def shares_of(column: int) -> FloatArray:
        return _foreign_importances(hypothesis.models[column], len(gains))

    _add_shares(hypothesis, to_nodes, gains, shares_of)


@_add_gains.register
def _(hypothesis: CartVotes, to_nodes: sparse.csc_array, gains: FloatArray) -> None:
    def shares_of(column: int) -> FloatArray:
        # full trees store no weights: the importance of a feature is its share of the splits
        splits = hypothesis.carts.split_features(column)
        return np.bincount(splits, minlength=len(gains)) / max(len(splits), 1)

    _add_shares(hypothesis, to_nodes, gains, shares_of)


def _add_shares(
    hypothesis: ClassModels | CartVotes,
    to_nodes: sparse.csc_array,
    gains: FloatArray,
    shares_of: Callable[[int], FloatArray],
) -> None:
    """Divide the variance of the votes of each column among the features by given shares."""
    # the numbers of rows per vote are not stored: the variance is that of two halves
    nodes, columns = _single_columns(to_nodes)
    _, no, yes = (hypothesis.values[columns] * to_nodes.data[:, None]).T
    sizes = (0.5 * (yes - no)) ** 2
    for column in np.unique(columns).tolist():
        own = np.flatnonzero(columns == column)
        gains[:, nodes[own]] += np.multiply.outer(shares_of(column), sizes[own])


def _single_columns(to_nodes: sparse.csc_array) -> tuple[IntArray, IntArray]:
    """Return the nodes that have a column, and the one column of each."""
    nodes = np.repeat(np.arange(to_nodes.shape[1]), np.diff(to_nodes.indptr))
    return nodes.astype(np.int32), to_nodes.indices.astype(np.int32)


def _foreign_importances(model: Any, n_features: int) -> FloatArray:
    """Return the importances of an estimator of another library, scaled to sum to one."""
    if isinstance(model, DummyClassifier):
        return np.zeros(n_features)  # the rows of the column have one sign
    found = getattr(model, "feature_importances_", None)
    if found is None:
        found = getattr(model, "coef_", None)
    if found is None:
        raise PalmetteError(
            f"the weak learner {type(model).__name__} has neither feature_importances_ nor coef_: "
            "expected one of them. Use a weak learner of palmette.weak, or "
            "sklearn.inspection.permutation_importance."
        )
    sizes = np.abs(found.toarray() if sparse.issparse(found) else np.asarray(found))
    return _shares(sizes.reshape(-1, n_features).sum(axis=0, dtype=np.float64))
