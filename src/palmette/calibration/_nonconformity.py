"""Nonconformity scores of labels and nodes: high where a label is unlikely under a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray
from palmette.labels._space import LabelSpace

BoolArray = NDArray[np.bool_]


# ---------------------------------------------------------------------- sets of labels


def least_likely_score(proba: FloatArray) -> FloatArray:
    """Return one minus the probability of every label: leads to the smallest sets on average.

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)

    Returns
    -------
    array of shape (n_samples, n_classes)
    """
    return 1.0 - proba


def cumulative_score(proba: FloatArray) -> FloatArray:
    """Return the total probability of every label and all more probable ones.

    Not randomized: sets are somewhat larger than necessary, and adapt to the difficulty of a row.
    Of equally probable labels the first count as more probable.

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)

    Returns
    -------
    array of shape (n_samples, n_classes)

    Examples
    --------
    >>> cumulative_score(np.array([[0.25, 0.5, 0.25]]))
    array([[0.75, 0.5 , 1.  ]])
    """
    order = np.argsort(-proba, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(proba, order, axis=1), axis=1)
    scores = np.empty_like(proba)
    np.put_along_axis(scores, order, sums, axis=1)
    return scores


LABEL_SCORES = {"lac": least_likely_score, "aps": cumulative_score}


# ---------------------------------------------------------------------- single nodes


class Chains:
    """The nodes from the root down to the most probable label, per row.

    The nonconformity of a label is the probability of the first node of the chain that is not an
    ancestor of it. So the labels with a nonconformity up to a threshold are those below one node of
    the chain: the deepest one that is more probable than the threshold.

    Parameters
    ----------
    proba : array of shape (n_samples, n_classes)
    space : LabelSpace

    Attributes
    ----------
    places : int array of shape (n_samples, n_levels)
        Places of the chain's nodes in the space, the root first; the last one is repeated where
        the chain is shorter.
    values : array of shape (n_samples, n_levels)
        Their probabilities; 0 where the chain has ended.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> chains = Chains(np.array([[0.5, 0.3, 0.2]]), LabelSpace(h, h.leaves))
    >>> chains.scores().tolist()  # of cat, dog and oak
    [[0.0, 0.5, 0.8]]
    >>> [h.names[chains.space.nodes[chains.deepest_above(t)]].item() for t in (0.4, 0.6, 0.9)]
    ['cat', 'animal', 'root']
    """

    def __init__(self, proba: FloatArray, space: LabelSpace) -> None:
        marginals = space.marginals(proba)
        rows, best = np.arange(len(proba)), proba.argmax(axis=1)
        self.space = space
        self.places = paths_of_classes(space)[best]
        self.values = marginals[self.places, rows[:, None]]
        ended = np.arange(self.places.shape[1]) > space.depth[space.class_place[best]][:, None]
        self.values[ended] = 0.0

    def deepest_above(self, threshold: float) -> IntArray:
        """Return the places of the deepest nodes above a probability threshold: (n_samples,)."""
        sure = self.values > threshold
        sure[:, 0] = True
        depth = sure.sum(axis=1) - 1  # probabilities decrease along a chain
        deepest: IntArray = self.places[np.arange(len(depth)), depth]
        return deepest

    def scores_of(self, codes: IntArray) -> FloatArray:
        """Return the nonconformity of one label per row, given as a position of a class."""
        bounds = self.space.class_range[self.places]
        holds = (codes[:, None] >= bounds[..., 0]) & (codes[:, None] < bounds[..., 1])
        return np.asarray(np.where(holds, 0.0, self.values).max(axis=1))

    def scores(self) -> FloatArray:
        """Return the nonconformity of every label: (n_samples, n_classes)."""
        n_levels = self.places.shape[1]
        codes = np.arange(self.space.n_classes)
        scores = np.zeros((len(self.places), len(codes)))
        for level in range(n_levels - 1, 0, -1):
            bounds = self.space.class_range[self.places[:, level]]
            outside = (codes < bounds[:, :1]) | (codes >= bounds[:, 1:])
            np.maximum(
                scores, np.where(outside, self.values[:, level : level + 1], 0.0), out=scores
            )
        return scores


def paths_of_classes(space: LabelSpace) -> IntArray:
    """Return places from the root to every class, the last one repeated: (n_classes, n_levels)."""
    place = space.class_place.copy()
    paths = np.repeat(place[:, None], len(space.levels), axis=1)
    for level in range(len(space.levels) - 1, 0, -1):
        deep = space.depth[place] == level
        place[deep] = space.parent[place[deep]]
        paths[deep, level - 1] = place[deep]
    return paths


# ---------------------------------------------------------------------- true labels


def set_nonconformity(proba: FloatArray, truth: sparse.csr_array) -> dict[str, FloatArray]:
    """Return the nonconformity of the true set of every row, and the values of all true nodes.

    That of a set is one minus the probability of its least probable node.

    Parameters
    ----------
    proba : array of shape (n_samples, n_columns)
    truth : sparse bool array of shape (n_samples, n_columns)

    Returns
    -------
    dict with "set" and "label"
        Arrays of shape (n_samples,) and (n_true,), the latter row by row.
    """
    rows = np.repeat(np.arange(len(proba)), np.diff(truth.indptr))
    values = proba[rows, truth.indices]
    least = np.ones(len(proba))  # any set contains all labels of a row without labels
    np.minimum.at(least, rows, values)
    return {"set": 1.0 - least, "label": values}


# ---------------------------------------------------------------------- covers


def cover_of_sets(members: BoolArray, space: LabelSpace) -> BoolArray:
    """Return the fewest nodes, none above another, that cover every label of a set.

    A node covers all labels at or below it, so it replaces them where all of them are in the set.
    An inner label in the set is in the cover also where some of its descendants are not in the set.

    Parameters
    ----------
    members : bool array of shape (n_samples, n_classes)
    space : LabelSpace

    Returns
    -------
    bool array of shape (n_samples, n_active)
        Places of the nodes.

    Examples
    --------
    >>> from palmette.hierarchy._hierarchy import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog"), ("plant", "oak")])
    >>> space = LabelSpace(h, h.leaves)
    >>> cover = cover_of_sets(np.array([[True, True, False], [True, False, True]]), space)
    >>> [h.names[space.nodes[row]].tolist() for row in cover]
    [['animal'], ['cat', 'plant']]
    """
    first, stop = space.class_range.T
    sums = np.zeros((len(members), space.n_classes + 1), dtype=np.int64)
    np.cumsum(members, axis=1, out=sums[:, 1:])
    chosen = sums[:, stop] - sums[:, first] == stop - first
    chosen[:, space.class_place] |= members
    covered = np.zeros_like(chosen)  # by a node above
    for level in space.levels[1:]:
        above = space.parent[level]
        covered[:, level] = covered[:, above] | chosen[:, above]
    return np.asarray(chosen & ~covered)
