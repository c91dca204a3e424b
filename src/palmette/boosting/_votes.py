"""Kernels of a round: gradients of the losses, weights and sums by leaf, and gains of splits.

The gradients here are those of float64 scores and of few columns; see `_loss_lanes` for others.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, kernel

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]

_LOWEST = np.finfo(np.float32).min  # finite, because fastmath assumes that there are no infinities


@kernel(fastmath=True)
def softmax_gradients(
    scores: NDArray[np.float32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float32],
    gradients: NDArray[np.float32],
) -> float:
    """Write the gradients ``weight (y - p)`` of a softmax over the labels; return the loss.

    Parameters
    ----------
    scores : float32 or float64 array of shape (n_samples, n_labels), IN
    targets : int32 array of shape (n_samples,), IN
        True label of every row.
    weights : float32 array of shape (n_samples,), IN
    gradients : float32 or float64 array of shape (n_samples, n_labels), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the true labels.
    """
    n_samples, n_labels = scores.shape
    loss = 0.0
    for i in range(n_samples):
        top = scores[i, 0]
        for k in range(1, n_labels):
            top = max(top, scores[i, k])
        total = np.float32(0.0)
        for k in range(n_labels):
            gradients[i, k] = np.exp(scores[i, k] - top)
            total += gradients[i, k]
        loss -= weights[i] * (scores[i, targets[i]] - top - np.log(total))
        share = weights[i] / total
        for k in range(n_labels):
            gradients[i, k] *= -share
        gradients[i, targets[i]] += weights[i]
    return loss


@kernel(fastmath=True)
def path_softmax_gradients(
    scores: NDArray[np.float32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float32],
    parents: NDArray[np.int32],
    ends: NDArray[np.bool_],
    gradients: NDArray[np.float32],
) -> float:
    """Write the gradients of a softmax over paths, whose scores are sums over their nodes.

    Parameters
    ----------
    scores : float32 or float64 array of shape (n_samples, n_columns), IN
        Scores of the nodes.
    targets : int32 array of shape (n_samples,), IN
        Column at which the true path of every row ends.
    weights : float32 array of shape (n_samples,), IN
    parents : int32 array of shape (n_columns,), IN
        Column of every node's parent, smaller than its own; -1 below the root.
    ends : bool array of shape (n_columns,), IN
        Whether a path may end at a node.
    gradients : float32 or float64 array of shape (n_samples, n_columns), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the true paths.
    """
    n_samples, n_columns = scores.shape
    path = np.empty(n_columns, dtype=scores.dtype)
    loss = 0.0
    for i in range(n_samples):
        top = _LOWEST
        for k in range(n_columns):
            path[k] = scores[i, k]
            if parents[k] >= 0:
                path[k] += path[parents[k]]
            if ends[k]:
                top = max(top, path[k])
        total = np.float32(0.0)
        for k in range(n_columns):
            gradients[i, k] = np.exp(path[k] - top) if ends[k] else np.float32(0.0)
            total += gradients[i, k]
        loss -= weights[i] * (path[targets[i]] - top - np.log(total))
        for k in range(n_columns - 1, -1, -1):
            if parents[k] >= 0:
                gradients[i, parents[k]] += gradients[i, k]
        share = weights[i] / total
        for k in range(n_columns):
            gradients[i, k] *= -share
        k = targets[i]
        while k >= 0:
            gradients[i, k] += weights[i]
            k = parents[k]
    return loss


@kernel(fastmath=True)
def logistic_gradients(
    scores: NDArray[np.float32],
    starts: NDArray[np.int64],
    positives: NDArray[np.int32],
    weights: NDArray[np.float32],
    gradients: NDArray[np.float32],
) -> float:
    """Write the gradients ``weight (y - p)`` of independent logistic columns; return the loss.

    Parameters
    ----------
    scores : float32 or float64 array of shape (n_samples, n_columns), IN
    starts : int array of shape (n_samples + 1,), IN
    positives : int array, IN
        Columns true of row ``i`` are ``positives[starts[i]:starts[i + 1]]``.
    weights : float32 array of shape (n_samples,), IN
    gradients : float32 or float64 array of shape (n_samples, n_columns), OUT

    Returns
    -------
    float
        Weighted sum of ``-log p`` of the true values, over rows and columns.
    """
    n_samples, n_columns = scores.shape
    one = np.float32(1.0)
    loss = 0.0
    for i in range(n_samples):
        row_loss = 0.0
        for k in range(n_columns):
            small = np.exp(-abs(scores[i, k]))
            share = one / (one + small)
            row_loss += np.log1p(small) + max(scores[i, k], np.float32(0.0))
            gradients[i, k] = -weights[i] * (share if scores[i, k] > 0 else small * share)
        for place in range(starts[i], starts[i + 1]):
            k = positives[place]
            row_loss -= scores[i, k]
            gradients[i, k] += weights[i]
        loss += weights[i] * row_loss
    return loss


@kernel
def leaf_sums(signed: Floats | Sums, places: Codes, positive: Sums, negative: Sums) -> None:
    """Sum the weights of positive and negative rows at every place of every column's tree.

    Parameters
    ----------
    signed : float32 or float64 array of shape (n_samples, n_columns), IN
    places : uint8 array of shape (n_samples, n_columns), IN
    positive, negative : float64 arrays of shape (n_columns, n_places), OUT
    """
    n_columns, n_places = positive.shape
    # the sums of a place are adjacent: the sign is an index, not a branch
    sums = np.zeros((n_columns, 2 * n_places))
    for i in range(signed.shape[0]):
        for k in range(n_columns):
            value = signed[i, k]
            sums[k, 2 * places[i, k] + (value > 0.0)] += abs(value)
    for k in range(n_columns):
        for place in range(n_places):
            negative[k, place], positive[k, place] = sums[k, 2 * place], sums[k, 2 * place + 1]


@kernel
def reweigh(signed: Sums, places: Codes, values: Sums, mass: Sums) -> None:
    """Multiply weights by ``exp(-y v)``, where y is the sign and v the value of the leaf.

    Parameters
    ----------
    signed : float64 array of shape (n_samples, n_columns), IN and OUT
    places : uint8 array of shape (n_samples, n_columns), IN
    values : float64 array of shape (n_columns, n_places), IN
    mass : float64 array of shape (n_columns,), OUT
        Sums of the weights afterwards.
    """
    n_columns, n_places = values.shape
    factors = np.empty((n_columns, 2 * n_places))
    for k in range(n_columns):
        for place in range(n_places):
            factors[k, 2 * place] = np.exp(values[k, place])
            factors[k, 2 * place + 1] = np.exp(-values[k, place])
    for k in range(n_columns):
        mass[k] = 0.0
    for i in range(signed.shape[0]):
        for k in range(n_columns):
            value = signed[i, k]
            signed[i, k] = value * factors[k, 2 * places[i, k] + (value > 0.0)]
        for k in range(n_columns):
            mass[k] += abs(signed[i, k])


@kernel
def shared_leaf_sums(signed: Sums, leaf: Indices, positive: Sums, negative: Sums) -> None:
    """Sum the weights of positive and negative rows of every column in every leaf.

    Parameters
    ----------
    signed : float64 array of shape (n_samples, n_columns), IN
    leaf : int32 array of shape (n_samples,), IN
    positive, negative : float64 arrays of shape (n_leaves, n_columns), OUT
    """
    for at in range(positive.shape[0]):
        for k in range(positive.shape[1]):
            positive[at, k] = negative[at, k] = 0.0
    for i in range(signed.shape[0]):
        above, below = positive[leaf[i]], negative[leaf[i]]
        for k in range(signed.shape[1]):
            value, size = signed[i, k], abs(signed[i, k])
            above[k] += 0.5 * (size + value)  # exactly the value or zero
            below[k] += 0.5 * (size - value)


@kernel
def reweigh_shared(signed: Sums, leaf: Indices, values: Sums, mass: Sums) -> None:
    """Multiply weights by ``exp(-y v)``, as `reweigh` does, where all columns share one tree.

    Parameters
    ----------
    signed : float64 array of shape (n_samples, n_columns), IN and OUT
    leaf : int32 array of shape (n_samples,), IN
    values : float64 array of shape (n_leaves, n_columns), IN
    mass : float64 array of shape (n_columns,), OUT
        Sums of the weights afterwards.
    """
    down, up = np.empty(values.shape, np.float64), np.empty(values.shape, np.float64)
    for at in range(values.shape[0]):
        for k in range(values.shape[1]):
            down[at, k], up[at, k] = np.exp(-values[at, k]), np.exp(values[at, k])
    for k in range(signed.shape[1]):
        mass[k] = 0.0
    for i in range(signed.shape[0]):
        if_positive, if_negative = down[leaf[i]], up[leaf[i]]
        for k in range(signed.shape[1]):
            value, one, other = signed[i, k], if_positive[k], if_negative[k]
            value = value * one if value > 0.0 else value * other
            signed[i, k] = value
            mass[k] += abs(value)


@kernel(fastmath=True)
def newton_sums(
    gradients: Floats, weights: Floats, leaf: Indices, sums: Sums, curvature: Sums
) -> None:
    """Sum gradients and curvatures over the rows of every leaf.

    For a probability p the gradient g is ``y - p`` and the curvature ``p (1 - p)``, which is
    ``|g| (1 - |g|)`` for y = 0 and y = 1, so it is computed from the gradient.

    Parameters
    ----------
    gradients : float32 array of shape (n_samples, n_labels), IN
    weights : float32 array of shape (n_samples,), IN
    leaf : int32 array of shape (n_samples,), IN
    sums, curvature : float64 arrays of shape (n_leaves, n_labels), IN and OUT
    """
    for row in range(len(leaf)):
        weight, at = weights[row], leaf[row]
        for k in range(gradients.shape[1]):
            g = gradients[row, k]
            size = abs(g)
            sums[at, k] += g
            curvature[at, k] += size * (np.float32(1.0) - size / weight)


@kernel
def add_leaf_values(leaf: Indices, values: Floats, scores: Floats) -> None:
    """Add the values of leaves, (n_leaves, n_labels), to scores, (n_samples, n_labels).

    `leaf`, of shape (n_samples,), is the leaf of every row.
    """
    for row in range(len(leaf)):
        at = leaf[row]
        for k in range(scores.shape[1]):
            scores[row, k] += values[at, k]


# -------------------------------------------------------------- means of votes, and gains of splits


@inner(inline="always")
def _right_share(left: float, right: float) -> float:
    """Return the share of the right side; one half if both are empty."""
    return right / (left + right) if left + right > 0.0 else 0.5


@kernel
def shared_means(
    features: Indices, leaf_at: Indices, votes: Sums, cover: Sums
) -> tuple[Sums, Sums]:
    """Return the weight and the mean votes at every place of a tree that all columns share.

    Parameters
    ----------
    features : int32 array of shape (n_places,), IN
    leaf_at : int32 array of shape (n_places,), IN
        Row of `votes` for leaves, -1 elsewhere.
    votes : float64 array of shape (n_leaves, n_columns), IN
    cover : float64 array of shape (n_leaves,), IN
        Weight of the training rows in each leaf.

    Returns
    -------
    mass : float64 array of shape (n_places,)
    means : float64 array of shape (n_places, n_columns)
    """
    n_places, n_columns = len(features), votes.shape[1]
    mass, means = np.zeros(n_places), np.zeros((n_places, n_columns))
    for place in range(n_places - 1, 0, -1):
        if features[place] >= 0:
            left, right = 2 * place, 2 * place + 1
            share = _right_share(mass[left], mass[right])
            mass[place] = mass[left] + mass[right]
            for k in range(n_columns):
                # in this form the mean of equal votes is exactly that vote
                means[place, k] = means[left, k] + share * (means[right, k] - means[left, k])
        elif leaf_at[place] >= 0:
            mass[place] = cover[leaf_at[place]]
            for k in range(n_columns):
                means[place, k] = votes[leaf_at[place], k]
    return mass, means


@kernel
def class_means(features: Indices, votes: Sums, cover: Sums) -> tuple[Sums, Sums]:
    """Return the weight and the mean vote at every place of the tree of every column.

    Place 0, which holds masked rows, is in no tree: it keeps its weight and vote.

    Parameters
    ----------
    features : int32 array of shape (n_columns, n_places), IN
    votes, cover : float64 arrays of shape (n_columns, n_places), IN

    Returns
    -------
    mass, means : float64 arrays of shape (n_columns, n_places)
    """
    mass, means = np.empty(cover.shape, np.float64), np.empty(votes.shape, np.float64)
    for k in range(features.shape[0]):
        for place in range(features.shape[1]):
            mass[k, place], means[k, place] = cover[k, place], votes[k, place]
        for place in range(features.shape[1] - 1, 0, -1):
            if features[k, place] >= 0:
                left, right = 2 * place, 2 * place + 1
                share = _right_share(mass[k, left], mass[k, right])
                mass[k, place] = mass[k, left] + mass[k, right]
                means[k, place] = means[k, left] + share * (means[k, right] - means[k, left])
    return mass, means


@kernel
def add_shared_gains(features: Indices, mass: Sums, means: Sums, gains: Sums) -> None:
    """Add the decrease of the weighted variance of the votes at every split to its feature.

    With the weights a and b and the means x and y of the two sides, the decrease is
    ``a b / (a + b) (x - y)**2``.

    Parameters
    ----------
    features : int32 array of shape (n_places,), IN
    mass, means : float64 arrays of shape (n_places,) and (n_places, n_columns), IN
        As from `shared_means`.
    gains : float64 array of shape (n_features, n_columns), IN and OUT
    """
    for place in range(1, len(features)):
        if features[place] < 0:
            continue
        left, right = 2 * place, 2 * place + 1
        weight = mass[left] * _right_share(mass[left], mass[right])
        to = gains[features[place]]
        for k in range(means.shape[1]):
            apart = means[left, k] - means[right, k]
            to[k] += weight * apart * apart


@kernel
def add_class_gains(
    features: Indices, mass: Sums, means: Sums, columns: Indices, gains: Sums
) -> None:
    """Add gains as `add_shared_gains` does, where every column has its own tree.

    Parameters
    ----------
    features : int32 array of shape (n_trees, n_places), IN
    mass, means : float64 arrays of shape (n_trees, n_places), IN
        As from `class_means`.
    columns : int32 array of shape (n_trees,), IN
        Column of `gains` for every tree.
    gains : float64 array of shape (n_features, n_columns), IN and OUT
    """
    for k in range(features.shape[0]):
        for place in range(1, features.shape[1]):
            if features[k, place] < 0:
                continue
            left, right = 2 * place, 2 * place + 1
            weight = mass[k, left] * _right_share(mass[k, left], mass[k, right])
            apart = means[k, left] - means[k, right]
            gains[features[k, place], columns[k]] += weight * apart * apart
