"""Nonconformity scores of labels and nodes: high where a label is unlikely under a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray
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
