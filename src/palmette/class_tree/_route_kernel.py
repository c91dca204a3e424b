"""Kernels of prediction along a class tree: scores of options, and one step of a beam search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64, kernel

# functions from margins to scores
SQUARED_HINGE, LOGISTIC, SOFTMAX, PAIRS, SIBLINGS = 0, 1, 2, 3, 4

_NONE: Any = np.int32(-1)
_LOOKUP = 12  # cost of a binary search of a feature, in writes to a table of all features


@kernel
def option_scores(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    nodes: NDArray[np.int32],
    starts: NDArray[np.int64],
    first_option: NDArray[np.int64],
    first_classifier: NDArray[np.int64],
    bias: NDArray[np.float64],
    first_feature: NDArray[np.int64],
    features: NDArray[np.int32],
    first_entry: NDArray[np.int64],
    classifiers: NDArray[np.int32],
    weights: NDArray[np.float64],
    link: int,
    n_features: int,
    scores: NDArray[np.float64],
) -> None:
    """Score the options of one node for every pair of a row and a node.

    Parameters
    ----------
    values, value_starts, lengths, columns, column_starts : arrays, IN
        Rows, as in `_dual_descent`.
    rows, nodes : int arrays of shape (n_pairs,), IN
        Pairs, ordered by node, so that the table of a node's features is filled once.
    starts : int64 array of shape (n_pairs,), IN
        Position of the first score of a pair.
    first_option, first_classifier, first_feature : int64 arrays of shape (n_nodes + 1,), IN
        First option, classifier and feature of every node. The classifier of a node with two
        options and one classifier is positive for the second. A node with one option has none.
    bias : float64 array of shape (n_classifiers,), IN
    features : int32 array, IN
        Features with weights at a node, ascending within the node.
    first_entry : int64 array of shape (len(features) + 1,), IN
        First weight of every feature.
    classifiers, weights : int32 and float64 arrays, IN
        Number of the classifier within the node, and its weight. If a feature has a weight for
        every classifier, they are in order.
    link : int
        `SQUARED_HINGE`, `LOGISTIC`, `SOFTMAX`, or `PAIRS`: a node has a classifier for every pair
        of options, in order, which is positive for the second.
    n_features : int
    scores : float64 array, OUT
    """
    widest = 0
    for node in range(len(first_classifier) - 1):
        widest = max(widest, first_classifier[node + 1] - first_classifier[node])
    margins = np.empty(widest if widest > 0 else 1, np.float64)
    table = np.empty(n_features, np.int32)  # 1 + position of a feature in the node, 0 for none
    for j in range(n_features):
        table[j] = 0
    begin = 0
    while begin < len(rows):
        node = nodes[begin]
        end, n_entries = begin, 0
        while end < len(rows) and nodes[end] == node:
            n_entries += lengths[rows[end]]
            end += 1
        n_options = first_option[node + 1] - first_option[node]
        n_classifiers = first_classifier[node + 1] - first_classifier[node]
        if n_classifiers == 0:
            for pair in range(begin, end):
                scores[starts[pair]] = 0.0
            begin = end
            continue
        low, high = first_feature[node], first_feature[node + 1]
        by_table = n_entries * _LOOKUP > high - low
        if by_table:
            for f in range(low, high):
                table[features[f]] = f - low + 1
        for pair in range(begin, end):
            i = rows[pair]
            for classifier in range(n_classifiers):
                margins[classifier] = bias[first_classifier[node] + classifier]
            first, start = value_starts[i], column_starts[i]
            for e in range(lengths[i]):
                if by_table:
                    f = table[columns[start + e]] - 1
                else:
                    f = _find(features, low, high, columns[start + e])
                if f < 0:
                    continue
                value, here, stop = (
                    values[first + e],
                    first_entry[low + f],
                    first_entry[low + f + 1],
                )
                if stop - here == n_classifiers:
                    for classifier in range(n_classifiers):
                        margins[classifier] += value * weights[here + classifier]
                else:
                    for w in range(here, stop):
                        margins[classifiers[w]] += value * weights[w]
            _link(margins, n_classifiers, n_options, link, scores[starts[pair] :])
        if by_table:
            for f in range(low, high):
                table[features[f]] = 0
        begin = end


@inner(inline="always")
def _find(features: NDArray[np.int32], low: int, high: int, wanted: int) -> int:
    """Return the position of a feature among those of a node; -1 if it is not there."""
    left, right = low, high
    while left < right:
        middle = (left + right) // 2
        if features[middle] < wanted:
            left = middle + 1
        else:
            right = middle
    if left < high and features[left] == wanted:
        return left - low
    return -1


@inner
def _link(
    margins: NDArray[np.float64],
    n_classifiers: int,
    n_options: int,
    link: int,
    scores: NDArray[np.float64],
) -> None:
    """Write the scores of the options of a node; see `option_scores`."""
    if link == PAIRS:
        for k in range(n_options):
            scores[k] = 0.0
        classifier = 0
        for k in range(n_options):
            for other in range(k + 1, n_options):
                lost, gained = (
                    max(0.0, 1.0 + margins[classifier]),
                    max(0.0, 1.0 - margins[classifier]),
                )
                scores[k] -= lost * lost / (n_options - 1)
                scores[other] -= gained * gained / (n_options - 1)
                classifier += 1
        return
    if n_classifiers < n_options:  # one classifier for two options
        scores[0], scores[1] = -margins[0], margins[0]
    else:
        for k in range(n_options):
            scores[k] = margins[k]
    if link in (SQUARED_HINGE, SIBLINGS):
        scale = 1.0 if link == SQUARED_HINGE else 2.0
        for k in range(n_options):
            short = max(0.0, 1.0 - scores[k])
            scores[k] = -scale * short * short
        if link == SQUARED_HINGE:
            return
    if link == LOGISTIC:
        for k in range(n_options):
            margin = scores[k]
            scores[k] = min(margin, 0.0) - np.log1p(np.exp(-abs(margin)))
    top = scores[0]
    for k in range(1, n_options):
        top = max(top, scores[k])
    total = 0.0
    for k in range(n_options):
        total += np.exp(scores[k] - top)
    total = top + np.log(total)
    if link == SIBLINGS:
        total *= 0.5
    for k in range(n_options):
        scores[k] -= total


@kernel
def link_all(
    margins: NDArray[np.float64],
    first_option: NDArray[np.int64],
    first_classifier: NDArray[np.int64],
    link: int,
    scores: NDArray[np.float64],
) -> None:
    """Compute the scores of all options from the margins of all classifiers.

    Parameters
    ----------
    margins : float64 array of shape (n_rows, n_classifiers), IN
    first_option, first_classifier : int64 arrays of shape (n_nodes + 1,), IN
    link : int
        As in `option_scores`.
    scores : float64 array of shape (n_rows, n_options), OUT
        Unchanged for nodes with one option.
    """
    for i in range(len(margins)):
        for node in range(len(first_classifier) - 1):
            n_classifiers = first_classifier[node + 1] - first_classifier[node]
            if n_classifiers == 0:
                continue
            low, high = first_option[node], first_option[node + 1]
            _link(
                margins[i, first_classifier[node] :],
                n_classifiers,
                high - low,
                link,
                scores[i, low:high],
            )


@kernel
def keep_best(
    nodes: NDArray[np.int32],
    labels: NDArray[np.int32],
    values: NDArray[np.float64],
    starts: NDArray[np.int64],
    scores: NDArray[np.float64],
    first_option: NDArray[np.int64],
    targets: NDArray[np.int32],
    ends: NDArray[np.int32],
    new_nodes: NDArray[np.int32],
    new_labels: NDArray[np.int32],
    new_values: NDArray[np.float64],
) -> int:
    """Extend the paths of every row by one step and keep the best of them, best first.

    Of equal paths the first comes first. If two paths meet, as they may in a DAG, the better is
    kept.

    Parameters
    ----------
    nodes, labels : int32 arrays of shape (n_rows, width), IN
        Last node of a path, and the label at which it ended; -1 for none.
    values : float64 array of shape (n_rows, width), IN
        Sums of scores along the paths.
    starts : int64 array of shape (n_rows, width), IN
        Position of the first score of the options of a path's node.
    scores : float64 array, IN
    first_option : int64 array of shape (n_nodes + 1,), IN
    targets, ends : int32 arrays of shape (n_options,), IN
        Node that an option leads to, and the label at which it ends; -1 for none.
    new_nodes, new_labels, new_values : arrays of shape (n_rows, width), OUT

    Returns
    -------
    int
        Number of paths that have not ended.
    """
    n_rows, width = new_nodes.shape
    unfinished = 0
    for i in range(n_rows):
        n_kept = int64(0)  # a literal would be one more type that `_insert` is compiled for
        for b in range(nodes.shape[1]):
            if labels[i, b] >= 0:
                n_kept = _insert(
                    _NONE,
                    labels[i, b],
                    values[i, b],
                    n_kept,
                    new_nodes[i],
                    new_labels[i],
                    new_values[i],
                )
            elif nodes[i, b] >= 0:
                first = first_option[nodes[i, b]]
                for k in range(first_option[nodes[i, b] + 1] - first):
                    n_kept = _insert(
                        targets[first + k],
                        ends[first + k],
                        values[i, b] + scores[starts[i, b] + k],
                        n_kept,
                        new_nodes[i],
                        new_labels[i],
                        new_values[i],
                    )
        for b in range(n_kept):
            unfinished += new_labels[i, b] < 0
        for b in range(n_kept, width):
            new_nodes[i, b], new_labels[i, b], new_values[i, b] = -1, -1, -np.inf
    return unfinished


@inner
def _insert(
    node: int,
    label: int,
    value: float,
    n_kept: int,
    nodes: NDArray[np.int32],
    labels: NDArray[np.int32],
    values: NDArray[np.float64],
) -> int:
    """Insert a path into the sorted paths of a row; return how many there are."""
    width = len(nodes)
    if n_kept == width and value <= values[width - 1]:
        return n_kept
    last = n_kept  # position that is free for the paths after the new one to move to
    for b in range(n_kept):
        if nodes[b] == node and labels[b] == label:
            if values[b] >= value:
                return n_kept
            last = b
            break
    if last == n_kept:
        if n_kept == width:
            last = width - 1
        else:
            n_kept += 1
    while last > 0 and values[last - 1] < value:
        nodes[last], labels[last], values[last] = (
            nodes[last - 1],
            labels[last - 1],
            values[last - 1],
        )
        last -= 1
    nodes[last], labels[last], values[last] = node, label, value
    return n_kept
