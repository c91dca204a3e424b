"""Kernels of prediction along a class tree: scores of options, and the beam search."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64, kernel
from palmette.class_tree._lane_sums import add_products, search_step

# functions from margins to scores
SQUARED_HINGE, LOGISTIC, SOFTMAX, PAIRS, SIBLINGS, LABEL_HINGE, LABEL_LOGISTIC = range(7)

# forceinline: calls that pass many arrays took a fifth of the time of a search
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
    classifiers: NDArray[np.int32] | None,
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
    first_entry : int64 array, IN
        First weight of every feature, of shape (len(features) + 1,). If `classifiers` is None, all
        classifiers of a node have a weight for each of its features, and this is the first weight
        of every node, of shape (n_nodes + 1,).
    classifiers, weights : int32 and float64 arrays, IN
        Number of the classifier within the node, and its weight. If a feature has a weight for
        every classifier, they are in order. `classifiers` may be None.
    link : int
        `SQUARED_HINGE`, `LOGISTIC`, `SOFTMAX`, `SIBLINGS`; `PAIRS`: a node has a classifier for
        every pair of options, in order, which is positive for the second; or for label sets
        `LABEL_HINGE` and `LABEL_LOGISTIC`: every option has a classifier, and its score does not
        depend on the others.
    n_features : int
    scores : float64 array, OUT
    """
    margins, places, entries = _buffers(first_classifier, lengths)
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
        low, high = first_feature[node], first_feature[node + 1]
        by_table = n_entries * _LOOKUP > high - low
        if by_table:
            _fill(table, features, low, high)
        for pair in range(begin, end):
            i = rows[pair]
            _score(
                values, value_starts[i], lengths[i], columns, column_starts[i],
                node, first_option, first_classifier, bias, first_feature, features, first_entry,
                classifiers, weights, link, by_table, table, margins, places, entries,
                scores, starts[pair],
            )  # fmt: skip
        if by_table:
            _clear(table, features, low, high)
        begin = end


@inner
def _buffers(
    first_classifier: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Return arrays for the margins of a node, and for the entries of a row that it has."""
    widest, longest = int64(1), int64(1)
    for node in range(len(first_classifier) - 1):
        widest = max(widest, first_classifier[node + 1] - first_classifier[node])
    for i in range(len(lengths)):
        longest = max(longest, lengths[i])
    return np.empty(widest, np.float64), np.empty(longest, np.int64), np.empty(longest, np.float64)


@inner(inline="always")
def _fill(table: NDArray[np.int32], features: NDArray[np.int32], low: int, high: int) -> None:
    for f in range(low, high):
        table[features[f]] = f - low + 1


@inner(inline="always")
def _clear(table: NDArray[np.int32], features: NDArray[np.int32], low: int, high: int) -> None:
    for f in range(low, high):
        table[features[f]] = 0


@inner(forceinline=True)
def _score(
    values: NDArray[np.float64],
    first: int,
    length: int,
    columns: NDArray[np.int32],
    start: int,
    node: int,
    first_option: NDArray[np.int64],
    first_classifier: NDArray[np.int64],
    bias: NDArray[np.float64],
    first_feature: NDArray[np.int64],
    features: NDArray[np.int32],
    first_entry: NDArray[np.int64],
    classifiers: NDArray[np.int32] | None,
    weights: NDArray[np.float64],
    link: int,
    by_table: bool,
    table: NDArray[np.int32],
    margins: NDArray[np.float64],
    places: NDArray[np.int64],
    entries: NDArray[np.float64],
    scores: NDArray[np.float64],
    at: int,
) -> None:
    """Write the scores of the options of a node for one row to ``scores[at:]``."""
    n_options = first_option[node + 1] - first_option[node]
    n_classifiers = first_classifier[node + 1] - first_classifier[node]
    if n_classifiers == 0:
        scores[at] = 0.0
        return
    low, high = first_feature[node], first_feature[node + 1]
    # first the entries of the row that the node has, then their weights
    n_found = 0
    if by_table:
        for e in range(length):
            place = table[columns[start + e]] - 1
            places[n_found], entries[n_found] = place, values[first + e]
            n_found += place >= 0
    elif low < high:
        _find_all(features, low, high, columns, start, length, places)
        for e in range(length):
            f = places[e]
            places[n_found], entries[n_found] = f - low, values[first + e]
            n_found += features[f] == columns[start + e]
    for classifier in range(n_classifiers):
        margins[classifier] = bias[first_classifier[node] + classifier]
    if classifiers is None:
        offset = first_entry[node]
        add_products(entries, 0, places, 0, n_found, weights, offset, n_classifiers, margins)
    else:
        for e in range(n_found):
            value = entries[e]
            here, stop = first_entry[low + places[e]], first_entry[low + places[e] + 1]
            if stop - here == n_classifiers:
                for classifier in range(n_classifiers):
                    margins[classifier] += value * weights[here + classifier]
            else:
                for w in range(here, stop):
                    margins[classifiers[w]] += value * weights[w]
    _link(margins, 0, n_classifiers, n_options, link, scores, at)


@inner(inline="always")
def _find_all(
    features: NDArray[np.int32],
    low: int,
    high: int,
    columns: NDArray[np.int32],
    start: int,
    length: int,
    places: NDArray[np.int64],
) -> None:
    """Write the last feature of a node up to each entry of a row; the first if there is none.

    All entries make a step before any makes the next: they wait for the memory together.
    """
    for e in range(length):
        places[e] = low
    n = high - low
    while n > 1:
        half = n >> 1
        for e in range(length):
            places[e] = search_step(features, places[e], half, columns[start + e])
        n -= half


@inner(forceinline=True)
def _link(
    margins: NDArray[np.float64],
    first: int,
    n_classifiers: int,
    n_options: int,
    link: int,
    scores: NDArray[np.float64],
    at: int,
) -> None:
    """Write the scores of the options of a node to ``scores[at:]``; see `option_scores`."""
    if link == PAIRS:
        for k in range(n_options):
            scores[at + k] = 0.0
        classifier = 0
        for k in range(n_options):
            for other in range(k + 1, n_options):
                lost, gained = (
                    max(0.0, 1.0 + margins[first + classifier]),
                    max(0.0, 1.0 - margins[first + classifier]),
                )
                scores[at + k] -= lost * lost / (n_options - 1)
                scores[at + other] -= gained * gained / (n_options - 1)
                classifier += 1
        return
    if n_classifiers < n_options:  # one classifier for two options
        scores[at], scores[at + 1] = -margins[first], margins[first]
    else:
        for k in range(n_options):
            scores[at + k] = margins[first + k]
    if link in (SQUARED_HINGE, SIBLINGS, LABEL_HINGE):
        scale = 2.0 if link == SIBLINGS else 1.0
        for k in range(n_options):
            short = max(0.0, 1.0 - scores[at + k])
            scores[at + k] = -scale * short * short
        if link != SIBLINGS:
            return
    if link in (LOGISTIC, LABEL_LOGISTIC):
        for k in range(n_options):
            margin = scores[at + k]
            scores[at + k] = min(margin, 0.0) - np.log1p(np.exp(-abs(margin)))
        if link == LABEL_LOGISTIC:
            return
    top = scores[at]
    for k in range(1, n_options):
        top = max(top, scores[at + k])
    total = 0.0
    for k in range(n_options):
        total += np.exp(scores[at + k] - top)
    total = top + np.log(total)
    if link == SIBLINGS:
        total *= 0.5
    for k in range(n_options):
        scores[at + k] -= total


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
            first = first_classifier[node]
            _link(margins[i], first, n_classifiers, high - low, link, scores[i], low)


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
    unfinished = 0
    for i in range(len(new_nodes)):
        unfinished += _extend(
            i, nodes, labels, values, starts, scores, first_option, targets, ends,
            new_nodes.shape[1], new_nodes, new_labels, new_values,
        )  # fmt: skip
    return unfinished


@inner(forceinline=True)
def _extend(
    i: int,
    nodes: NDArray[np.int32],
    labels: NDArray[np.int32],
    values: NDArray[np.float64],
    starts: NDArray[np.int64],
    scores: NDArray[np.float64],
    first_option: NDArray[np.int64],
    targets: NDArray[np.int32],
    ends: NDArray[np.int32],
    most: int,
    new_nodes: NDArray[np.int32],
    new_labels: NDArray[np.int32],
    new_values: NDArray[np.float64],
) -> int:
    """Extend the paths of row i, of which at most `most` go on; see `keep_best`.

    Return how many have not ended.
    """
    n_kept = int64(0)  # a literal would be one more type that `_insert` is compiled for
    for b in range(nodes.shape[1]):
        if labels[i, b] >= 0:
            n_kept = _insert(
                _NONE, labels[i, b], values[i, b], n_kept, i, new_nodes, new_labels, new_values
            )
        elif nodes[i, b] >= 0:
            first = first_option[nodes[i, b]]
            for k in range(first_option[nodes[i, b] + 1] - first):
                n_kept = _insert(
                    targets[first + k],
                    ends[first + k],
                    values[i, b] + scores[starts[i, b] + k],
                    n_kept,
                    i,
                    new_nodes,
                    new_labels,
                    new_values,
                )
    unfinished, n_left = 0, 0
    for b in range(n_kept):
        if new_labels[i, b] < 0:
            if unfinished == most:
                continue
            unfinished += 1
        if n_left < b:
            new_nodes[i, n_left], new_labels[i, n_left] = new_nodes[i, b], new_labels[i, b]
            new_values[i, n_left] = new_values[i, b]
        n_left += 1
    for b in range(n_left, new_nodes.shape[1]):
        new_nodes[i, b], new_labels[i, b], new_values[i, b] = -1, -1, -np.inf
    return unfinished


@inner(forceinline=True)
def _insert(
    node: int,
    label: int,
    value: float,
    n_kept: int,
    i: int,
    nodes: NDArray[np.int32],
    labels: NDArray[np.int32],
    values: NDArray[np.float64],
) -> int:
    """Insert a path into the sorted paths of row i; return how many there are."""
    width = nodes.shape[1]
    if n_kept == width and value <= values[i, width - 1]:
        return n_kept
    last = n_kept  # position that is free for the paths after the new one to move to
    for b in range(n_kept):
        if nodes[i, b] == node and labels[i, b] == label:
            if values[i, b] >= value:
                return n_kept
            last = b
            break
    if last == n_kept:
        if n_kept == width:
            last = width - 1
        else:
            n_kept += 1
    while last > 0 and values[i, last - 1] < value:
        nodes[i, last], labels[i, last] = nodes[i, last - 1], labels[i, last - 1]
        values[i, last] = values[i, last - 1]
        last -= 1
    nodes[i, last], labels[i, last], values[i, last] = node, label, value
    return n_kept


# ---------------------------------------------------------------------- the whole search


class SearchSpace(NamedTuple):
    """Arrays that `follow_paths` writes to; in a kernel, every allocation takes time to compile.

    Parameters
    ----------
    nodes, starts, new_nodes, new_labels, new_totals : arrays of shape (n_rows, width)
        The paths of a step and of the next, as in `keep_best`.
    after : int64 array of shape (n_rows * width,)
    head : int64 array of shape (n_nodes,)
        The paths at a node are a list: the first of them, and after each path the next.
    here : int32 array of shape (n_nodes,)
        Nodes that a path has reached.
    table : int32 array of shape (n_features,)
    scores : float64 array of shape (n_rows * width * most options of a node,)
    margins : float64 array of shape (most classifiers of a node,)
    found, entries : int64 and float64 arrays of shape (most entries of a row,)
    """

    nodes: NDArray[np.int32]
    starts: NDArray[np.int64]
    new_nodes: NDArray[np.int32]
    new_labels: NDArray[np.int32]
    new_totals: NDArray[np.float64]
    after: NDArray[np.int64]
    head: NDArray[np.int64]
    here: NDArray[np.int32]
    table: NDArray[np.int32]
    scores: NDArray[np.float64]
    margins: NDArray[np.float64]
    found: NDArray[np.int64]
    entries: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        lengths: NDArray[np.int64],
        width: int,
        first_option: NDArray[np.int64],
        first_classifier: NDArray[np.int64],
        n_features: int,
    ) -> SearchSpace:
        """Allocate the arrays of a search; they are not filled."""
        shape = (len(lengths), width)
        n_paths, n_nodes = len(lengths) * width, len(first_option) - 1
        longest = int(lengths.max(initial=1))
        return cls(
            np.empty(shape, np.int32),
            np.empty(shape, np.int64),
            np.empty(shape, np.int32),
            np.empty(shape, np.int32),
            np.empty(shape),
            np.empty(n_paths, np.int64),
            np.empty(n_nodes, np.int64),
            np.empty(n_nodes, np.int32),
            np.empty(n_features, np.int32),
            np.empty(n_paths * int(np.diff(first_option).max())),
            np.empty(int(np.diff(first_classifier).max(initial=1))),
            np.empty(longest, np.int64),
            np.empty(longest),
        )


@kernel
def follow_paths(
    values: NDArray[np.float64],
    value_starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    columns: NDArray[np.int32],
    column_starts: NDArray[np.int64],
    targets: NDArray[np.int32],
    ends: NDArray[np.int32],
    first_option: NDArray[np.int64],
    first_classifier: NDArray[np.int64],
    bias: NDArray[np.float64],
    first_feature: NDArray[np.int64],
    features: NDArray[np.int32],
    first_entry: NDArray[np.int64],
    classifiers: NDArray[np.int32] | None,
    weights: NDArray[np.float64],
    link: int,
    n_features: int,
    most: int,
    labels: NDArray[np.int32],
    totals: NDArray[np.float64],
    space: SearchSpace,
) -> None:
    """Follow the best paths of every row from the root down to labels.

    The steps are those of `keep_best`, with the scores of `option_scores`. Rows that are at one
    node follow each other, and if they are many, the features of the node are looked up in a table.

    Parameters
    ----------
    values, value_starts, lengths, columns, column_starts : arrays, IN
        Rows, as in `_dual_descent`.
    targets, ends : int32 arrays of shape (n_options,), IN
        As in `keep_best`.
    first_option, ..., n_features : IN
        As in `option_scores`.
    most : int
        Maximum number of paths of a row that have not ended, at every step.
    labels, totals : int32 and float64 arrays of shape (n_rows, width), OUT
        Labels of the best paths, best first, and the sums of their scores; -1 and -inf for none.
    space : SearchSpace
    """
    nodes, starts, new_nodes, new_labels, new_totals, after, head, here = space[:8]
    table, scores, margins, found, entries = space[8:]
    n_rows, width = labels.shape
    for node in range(len(head)):
        head[node] = -1
    n_entries = 0
    for i in range(n_rows):
        n_entries += lengths[i]
        for b in range(width):
            nodes[i, b], labels[i, b], totals[i, b] = -1, -1, -np.inf
        nodes[i, 0], totals[i, 0] = 0, 0.0
    has_table = n_entries * _LOOKUP > n_features  # else to fill it would take longest
    if has_table:
        for j in range(n_features):
            table[j] = 0
    unfinished = n_rows
    while unfinished > 0:
        n_here, n_scores = 0, 0
        for i in range(n_rows):
            for b in range(width):
                node = nodes[i, b]
                if node < 0:
                    continue
                if head[node] < 0:
                    here[n_here] = node
                    n_here += 1
                after[i * width + b], head[node] = head[node], i * width + b
                starts[i, b] = n_scores
                n_scores += first_option[node + 1] - first_option[node]
        for k in range(n_here):
            node = here[k]
            low, high = first_feature[node], first_feature[node + 1]
            by_table = False
            if has_table:
                n_entries, path = 0, head[node]
                while path >= 0:
                    n_entries += lengths[path // width]
                    path = after[path]
                by_table = n_entries * _LOOKUP > high - low
            if by_table:
                _fill(table, features, low, high)
            path = head[node]
            while path >= 0:
                i = path // width
                _score(
                    values, value_starts[i], lengths[i], columns, column_starts[i],
                    node, first_option, first_classifier, bias, first_feature, features,
                    first_entry, classifiers, weights, link, by_table, table, margins, found,
                    entries, scores, starts[i, path - i * width],
                )  # fmt: skip
                path = after[path]
            head[node] = -1
            if by_table:
                _clear(table, features, low, high)
        unfinished = 0
        for i in range(n_rows):
            unfinished += _extend(
                i, nodes, labels, totals, starts, scores, first_option, targets, ends,
                most, new_nodes, new_labels, new_totals,
            )  # fmt: skip
            for b in range(width):
                nodes[i, b], labels[i, b] = new_nodes[i, b], new_labels[i, b]
                totals[i, b] = new_totals[i, b]
