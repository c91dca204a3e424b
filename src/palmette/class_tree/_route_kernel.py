"""Prediction along a tree of linear classifiers: rows batched by node, the best paths kept."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "LOGISTIC",
    "PAIRS",
    "SOFTMAX",
    "SQUARED_HINGE",
    "keep_best",
    "link_all",
    "option_scores",
]

SQUARED_HINGE, LOGISTIC, SOFTMAX, PAIRS = 0, 1, 2, 3  # how margins become scores

_LOOKUP = 12  # steps of a search among the features of a node, in writes of a table of all features


@njit(cache=True, nogil=True)
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
    first_lane: NDArray[np.int64],
    bias: NDArray[np.float64],
    first_feature: NDArray[np.int64],
    features: NDArray[np.int32],
    first_entry: NDArray[np.int64],
    lanes: NDArray[np.int32],
    weights: NDArray[np.float64],
    link: int,
    n_features: int,
    scores: NDArray[np.float64],
) -> None:
    """Score the options of one node for every pair of a row and a node.

    Parameters
    ----------
    values, value_starts, lengths, columns, column_starts : arrays, IN
        Rows, as in `dual_descent`.
    rows, nodes : int arrays of shape (n_pairs,), IN
        Pairs; those of one node stand together, so that its features are laid out once.
    starts : int64 array of shape (n_pairs,), IN
        Where the scores of a pair begin.
    first_option, first_lane, first_feature : int64 arrays of shape (n_nodes + 1,), IN
        Options, classifiers and features of every node. A node of two options and one classifier
        has it for the second; the first has its negative. A node of one option has none.
    bias : float64 array of shape (n_lanes,), IN
    features : int32 array, IN
        Features that a node uses, ascending within it.
    first_entry : int64 array of shape (len(features) + 1,), IN
        Weights of every feature.
    lanes, weights : int32 and float64 arrays, IN
        Classifier, counted within the node, and its weight. A feature that has a weight for every
        classifier has them in order.
    link : int
        `SQUARED_HINGE`, `LOGISTIC`, `SOFTMAX`, or `PAIRS`: a node has a classifier for every two
        options, in order, that speaks for the second.
    n_features : int
    scores : float64 array, OUT
    """
    widest = 0
    for node in range(len(first_lane) - 1):
        widest = max(widest, first_lane[node + 1] - first_lane[node])
    margins = np.empty(max(widest, 1))
    table = np.zeros(n_features, dtype=np.int32)  # place of a feature in the node, from 1
    begin = 0
    while begin < len(rows):
        node = nodes[begin]
        end, n_entries = begin, 0
        while end < len(rows) and nodes[end] == node:
            n_entries += lengths[rows[end]]
            end += 1
        n_options = first_option[node + 1] - first_option[node]
        n_lanes = first_lane[node + 1] - first_lane[node]
        if n_lanes == 0:
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
            for lane in range(n_lanes):
                margins[lane] = bias[first_lane[node] + lane]
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
                if stop - here == n_lanes:
                    for lane in range(n_lanes):
                        margins[lane] += value * weights[here + lane]
                else:
                    for w in range(here, stop):
                        margins[lanes[w]] += value * weights[w]
            _link(margins, n_lanes, n_options, link, scores[starts[pair] :])
        if by_table:
            for f in range(low, high):
                table[features[f]] = 0
        begin = end


@njit(cache=True, nogil=True)
def _find(features: NDArray[np.int32], low: int, high: int, wanted: int) -> int:
    """Place of a feature among those of a node; -1 where it is not there."""
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


@njit(cache=True, nogil=True)
def _link(
    margins: NDArray[np.float64],
    n_lanes: int,
    n_options: int,
    link: int,
    scores: NDArray[np.float64],
) -> None:
    """Write the scores of the options of a node; see `option_scores`."""
    if link == PAIRS:
        for k in range(n_options):
            scores[k] = 0.0
        lane = 0
        for k in range(n_options):
            for other in range(k + 1, n_options):
                lost, gained = max(0.0, 1.0 + margins[lane]), max(0.0, 1.0 - margins[lane])
                scores[k] -= lost * lost / (n_options - 1)
                scores[other] -= gained * gained / (n_options - 1)
                lane += 1
        return
    if n_lanes < n_options:  # one classifier for two options
        scores[0], scores[1] = -margins[0], margins[0]
    else:
        for k in range(n_options):
            scores[k] = margins[k]
    if link == SQUARED_HINGE:
        for k in range(n_options):
            short = max(0.0, 1.0 - scores[k])
            scores[k] = -short * short
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
    for k in range(n_options):
        scores[k] -= total


@njit(cache=True, nogil=True)
def link_all(
    margins: NDArray[np.float64],
    first_option: NDArray[np.int64],
    first_lane: NDArray[np.int64],
    link: int,
    scores: NDArray[np.float64],
) -> None:
    """Turn margins of all classifiers into scores of all options.

    Parameters
    ----------
    margins : float64 array of shape (n_rows, n_lanes), IN
    first_option, first_lane : int64 arrays of shape (n_nodes + 1,), IN
    link : int
        As in `option_scores`.
    scores : float64 array of shape (n_rows, n_options), OUT
        Left alone at nodes of one option.
    """
    for i in range(len(margins)):
        for node in range(len(first_lane) - 1):
            n_lanes = first_lane[node + 1] - first_lane[node]
            if n_lanes == 0:
                continue
            low, high = first_option[node], first_option[node + 1]
            _link(margins[i, first_lane[node] :], n_lanes, high - low, link, scores[i, low:high])


@njit(cache=True, nogil=True)
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
    """Continue the paths of every row by one step and keep the best of them, best first.

    Of equal ones the first stays ahead. Two paths that meet, as they may in a DAG, become one: the
    better.

    Parameters
    ----------
    nodes, labels : int32 arrays of shape (n_rows, width), IN
        Node that a path has come to, or the label at which it ended; -1 for neither.
    values : float64 array of shape (n_rows, width), IN
    starts : int64 array of shape (n_rows, width), IN
        Where the scores of the options of a path's node begin.
    scores : float64 array, IN
    first_option : int64 array of shape (n_nodes + 1,), IN
    targets, ends : int32 arrays of shape (n_options,), IN
        Node that an option leads to, or the label at which it ends; -1 for neither.
    new_nodes, new_labels, new_values : arrays of shape (n_rows, width), OUT

    Returns
    -------
    int
        Number of paths that have not ended.
    """
    n_rows, width = new_nodes.shape
    unfinished = 0
    for i in range(n_rows):
        n_kept = 0
        for b in range(nodes.shape[1]):
            if labels[i, b] >= 0:
                n_kept = _insert(
                    -1,
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


@njit(cache=True, nogil=True)
def _insert(
    node: int,
    label: int,
    value: float,
    n_kept: int,
    nodes: NDArray[np.int32],
    labels: NDArray[np.int32],
    values: NDArray[np.float64],
) -> int:
    """Put a path among those kept, in order; returns how many there are."""
    width = len(nodes)
    if n_kept == width and value <= values[width - 1]:
        return n_kept
    last = n_kept  # place that opens when those behind the new path move up
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
