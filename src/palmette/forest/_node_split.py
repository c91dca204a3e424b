"""The split of a node, which separates its two clusters, and the side of each row.

The split is one feature and a cut, chosen by information gain, or a linear split that is fitted.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, kernel
from palmette.forest._label_clusters import sample_weights
from palmette.forest._node_block import (
    Block,
    DenseBlock,
    SparseBlock,
    gather_dense,
    gather_sparse,
    project_in_order,
)
from palmette.forest._settings import (
    AdamSettings,
    LogisticSettings,
    Nodes,
    OwlqnSettings,
    SplitSettings,
    StartSettings,
)
from palmette.forest._split_losses import best_cut, class_shares, row_shares, sort_positions
from palmette.forest._split_solvers import (
    alpha_at,
    least_squares,
    minimize_by_adam,
    minimize_by_owlqn,
    soft_distance,
)
from palmette.trees._random import NODE_STRIDE, State, mix, next_below

Flags: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.int32]
Offsets: TypeAlias = NDArray[np.int64]
Real: TypeAlias = Any  # of 32 or 64 bits
Reals: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Sums: TypeAlias = NDArray[np.float64]

_MIN_IMPROVEMENT = 1e-9  # a later cut must be better by this, so that rounding decides no tie


# -------------------------------------------------------------------------------------- one feature


@inner(error_model="numpy")
def _entropy(first: Real, second: Real) -> float:
    """Return the entropy of two weights, times their sum, in nats."""
    total = first + second
    entropy = 0.0
    if first > 0.0:
        entropy -= first * np.log(first / total)
    if second > 0.0:
        entropy -= second * np.log(second / total)
    return entropy


@inner(error_model="numpy")
def _by_column(block: SparseBlock, n_columns: int) -> tuple[Offsets, Indices, Reals]:
    """Return the entries of a sparse block by column (CSC): starts, rows, values.

    The column j ends where the next one starts, at ``starts[j + 1]``.
    """
    starts, n_entries = np.empty(n_columns + 2, np.int64), len(block.columns)
    for j in range(n_columns + 2):
        starts[j] = 0
    for k in range(n_entries):
        starts[block.columns[k] + 2] += 1
    for j in range(n_columns):
        starts[j + 2] += starts[j + 1]
    # starts[j + 1] is the next place of column j, and in the end the start of the next column
    rows, values = np.empty(n_entries, np.int32), np.empty(n_entries, block.values.dtype)
    for i in range(len(block.starts) - 1):
        for k in range(block.starts[i], block.starts[i + 1]):
            place = starts[block.columns[k] + 1]
            rows[place], values[place] = i, block.values[k]
            starts[block.columns[k] + 1] += 1
    return starts, rows, values


@inner(error_model="numpy")
def _scan(
    values: Reals,
    counts: Indices,
    masses: Sums,
    first_total: Real,
    second_total: Real,
    n_rows: int,
    min_rows: int,
    order: Offsets,
) -> tuple[float, float]:
    """Return the best cut of one feature, and the entropy after it (infinite: no cut).

    An entry may represent several rows: all zeros of a sparse column are one entry.
    """
    sort_positions(values, order)
    first_below, second_below = 0.0, 0.0
    n_below, least, cut = 0, np.inf, 0.0
    for place in range(len(values) - 1):
        i = order[place]
        first_below += masses[0, i]
        second_below += masses[1, i]
        n_below += counts[i]
        low, high = values[i], values[order[place + 1]]
        if low < high and n_below >= min_rows and n_rows - n_below >= min_rows:
            left = _entropy(first_below, second_below)
            left += _entropy(first_total - first_below, second_total - second_below)
            if left < least - _MIN_IMPROVEMENT:
                least = left
                middle = values.dtype.type(0.5 * low + 0.5 * high)
                cut = float(middle if middle > low else high)
    return cut, least


@inner(error_model="numpy")
def best_axis(
    block: Block, n_columns: int, shares: Reals, min_rows: int
) -> tuple[int, float, float]:
    """Find the column and the cut with the largest information gain.

    Parameters
    ----------
    block : DenseBlock or SparseBlock, IN
    n_columns : int
    shares : float array of shape (2, n_rows), IN
        Weights of the rows by class, as `row_shares` writes them.
    min_rows : int
        Minimum number of rows on each side.

    Returns
    -------
    column : int
        -1 if no cut is allowed or none has a gain.
    cut : float
        Rows with values of at least the cut go right.
    gain : float
        In nats.
    """
    n_rows = shares.shape[1]
    values, counts = np.empty(n_rows + 1, shares.dtype), np.empty(n_rows + 1, np.int32)
    masses, order = np.empty((2, n_rows + 1), np.float64), np.empty(n_rows + 1, np.int64)
    first_total = second_total = shares.dtype.type(0.0)
    for i in range(n_rows):
        first_total += shares[0, i]
        second_total += shares[1, i]
        masses[0, i], masses[1, i] = shares[0, i], shares[1, i]
        counts[i] = 1
    before = _entropy(first_total, second_total) - _MIN_IMPROVEMENT
    least, best, best_cut = before, -1, 0.0
    if len(block) == 3:
        starts, rows, entries = _by_column(block, n_columns)
    for j in range(n_columns):
        n_kept = n_rows
        if len(block) == 1:
            for i in range(n_rows):
                values[i] = block.values[i, j]
        else:  # all zeros are one entry, the last
            n_own = starts[j + 1] - starts[j]
            masses[0, n_own], masses[1, n_own] = first_total, second_total
            for k in range(n_own):
                i = rows[starts[j] + k]
                values[k] = entries[starts[j] + k]
                counts[k] = 1
                masses[0, k], masses[1, k] = shares[0, i], shares[1, i]
                masses[0, n_own] -= shares[0, i]
                masses[1, n_own] -= shares[1, i]
            values[n_own], counts[n_own] = 0.0, n_rows - n_own
            if n_own < n_rows:
                n_kept = n_own + 1
        cut, left = _scan(
            values[:n_kept], counts, masses, first_total, second_total, n_rows, min_rows, order
        )
        if left < least - _MIN_IMPROVEMENT:
            least, best, best_cut = left, j, cut
    return best, best_cut, before - least


# -------------------------------------------------------------------------------------- a direction


@inner(error_model="numpy")
def _send_rows(
    block: Block, shares: Reals, refit: bool | None, min_rows: int, point: Reals, right: Flags
) -> bool:
    """Write the side of each row, after refitting the bias; return whether both are allowed."""
    n_rows, n_columns = len(right), len(point) - 1
    scores = np.empty(n_rows, point.dtype)
    project_in_order(block, point[:-1], scores)
    if refit is not None and refit:
        cut, distance = best_cut(scores, shares, min_rows)
        if distance < 0.0:
            return False
        point[n_columns] = -cut
    n_right = 0
    for i in range(n_rows):
        right[i] = scores[i] + point[n_columns] >= 0.0
        n_right += right[i]
    return min_rows <= n_right <= n_rows - min_rows


@inner(error_model="numpy")
def _rho(rho: float, n_features: int, n_rows: int) -> float:
    if rho >= 0.0:
        return rho
    rho = np.log1p(n_features / n_rows)
    return rho if rho < 0.4 else 0.4


@inner(error_model="numpy")
def _gamma(rho: float, distance: float, point: Reals) -> float:
    """Return the strength of the penalty (Eq. 10)."""
    norm = 0.0
    for j in range(len(point) - 1):
        norm += abs(point[j])
    return rho * distance / norm if norm > 0.0 else 0.0


@inner(error_model="numpy")
def _drop_small(part: float, point: Reals) -> None:
    """Set weights to zero that are smaller than a fraction of the largest."""
    largest = 0.0
    for j in range(len(point) - 1):
        if abs(point[j]) > largest:
            largest = abs(point[j])
    for j in range(len(point) - 1):
        if abs(point[j]) < part * largest:
            point[j] = 0.0


@inner(error_model="numpy")
def _learn_direction(
    adam: AdamSettings | None,
    owlqn: OwlqnSettings | None,
    logistic: LogisticSettings | None,
    block: Block,
    second: Flags,
    weights: Sums,
    shares: Reals,
    n_features: int,
    state: State,
    point: Reals,
) -> None:
    """Minimize the loss of the router, starting from the least-squares solution."""
    if adam is not None:
        alpha = adam.alpha_last
        if adam.max_iterations > 0:
            alpha = alpha_at(adam, adam.max_iterations - 1)
        minimize_by_adam(adam, block, second, weights, 0.0, state, point)
        rho = _rho(adam.rho, n_features, len(second))
        gamma = _gamma(rho, soft_distance(block, shares, alpha, point), point)
        if gamma > 0.0:
            minimize_by_adam(adam, block, second, weights, gamma, state, point)
    if owlqn is not None:
        n, alpha, tolerance = owlqn.scale_iterations, owlqn.alpha_first, owlqn.tolerance
        loss = minimize_by_owlqn(block, shares, alpha, 0.0, None, n, tolerance, point)
        gamma = _gamma(_rho(owlqn.rho, n_features, len(second)), -loss, point)
        done = 0
        while True:
            is_last = alpha >= owlqn.alpha_last
            n = owlqn.max_iterations - done if is_last else owlqn.alpha_stage
            minimize_by_owlqn(block, shares, alpha, gamma, None, n, tolerance, point)
            done += n
            if is_last or done >= owlqn.max_iterations:
                break
            alpha *= owlqn.alpha_factor
            if alpha > owlqn.alpha_last:
                alpha = owlqn.alpha_last
        _drop_small(owlqn.prune, point)
    if logistic is not None:
        row_shares(second, weights, shares)
        n, tolerance = logistic.max_iterations, logistic.tolerance
        minimize_by_owlqn(block, shares, None, 0.0, logistic.ridge, n, tolerance, point)
        class_shares(second, weights, shares)


@inner(error_model="numpy")
def _sample_of_both(max_rows: int, second: Flags, weights: Sums, state: State) -> Sums:
    """Return the weights of a sample, zero for all other rows; of all, if a cluster has no row."""
    sample = weights.copy()
    if sample_weights(max_rows, state, sample):
        n_first, n_second = 0, 0
        for i in range(len(second)):
            if sample[i] > 0.0:
                if second[i]:
                    n_second += 1
                else:
                    n_first += 1
        if n_first == 0 or n_second == 0:
            return weights
    return sample


@inner(error_model="numpy")
def _split_node(
    settings: SplitSettings,
    axis: bool | None,
    start: StartSettings | None,
    adam: AdamSettings | None,
    owlqn: OwlqnSettings | None,
    logistic: LogisticSettings | None,
    block: Block,
    n_features: int,
    second: Flags,
    weights: Sums,
    state: State,
    point: Reals,
    right: Flags,
) -> bool:
    """Fit the split of a node to its two clusters: write its weights, and who goes right.

    Returns
    -------
    bool
        Whether both sides have enough rows, with the fitted split or with its initial value.
    """
    min_rows, n_columns, found = settings.min_samples_leaf, len(point) - 1, False
    shares = np.empty((2, len(second)), point.dtype)
    if axis is not None:
        row_shares(second, weights, shares)
        column, cut, _ = best_axis(block, n_columns, shares, min_rows)
        if column >= 0:
            for j in range(n_columns):
                point[j] = 0.0
            point[column], point[n_columns] = 1.0, -cut
            found = _send_rows(block, shares, None, min_rows, point, right)
    if start is not None:
        class_shares(second, weights, shares)
        sample = _sample_of_both(start.max_rows, second, weights, state)
        point[n_columns] = least_squares(
            block, second, sample, start.iterations, start.tolerance, point[:-1]
        )
        first_point = np.empty(n_columns + 1, point.dtype)
        for j in range(n_columns + 1):
            first_point[j] = point[j]
        _learn_direction(
            adam, owlqn, logistic, block, second, weights, shares, n_features, state, point
        )
        for attempt in range(2):
            if not found:
                if attempt == 1:
                    for j in range(n_columns + 1):
                        point[j] = first_point[j]
                found = _send_rows(block, shares, start.refit_bias, min_rows, point, right)
    return found


# ----------------------------------------------------------------------------- the nodes of a level


@inner(error_model="numpy")
def _draw_features(features: Indices, share: float, state: State, drawn: Indices) -> int:
    """Write a part of the features, keeping their order; return how many are drawn."""
    n_features, n_taken = len(features), 0
    n_drawn = int(np.rint(share * n_features))
    if n_drawn < 1:
        n_drawn = 1
    if n_drawn >= n_features:
        for j in range(n_features):
            drawn[j] = features[j]
        return n_features
    for j in range(n_features):
        if next_below(state, n_features - j) < n_drawn - n_taken:
            drawn[n_taken] = features[j]
            n_taken += 1
            if n_taken == n_drawn:
                break
    return n_drawn


@inner(error_model="numpy")
def _partition(order: Indices, right: Flags) -> int:
    """Partition rows, left before right, keeping their order; return the number of left rows."""
    n_rows, n_left, n_right = len(order), 0, 0
    right_rows = np.empty(n_rows, np.int32)
    for i in range(n_rows):
        if right[i]:
            right_rows[n_right] = order[i]
            n_right += 1
        else:
            order[n_left] = order[i]
            n_left += 1
    for i in range(n_right):
        order[n_left + i] = right_rows[i]
    return n_left


@inner(error_model="numpy")
def _gather(
    X: Block,
    rows: Indices,
    order: Indices,
    features: Indices,
    min_rows: int,
    column_of: Indices,
    used: Indices,
) -> tuple[Block, int]:
    """Return a block, and its number of columns; write which features they are."""
    if len(X) == 1:
        for j in range(len(features)):
            used[j] = features[j]
        return DenseBlock(gather_dense(X.values, rows, order, features)), len(features)
    starts, columns, values, n_used = gather_sparse(
        X, rows, order, features, min_rows, column_of, used
    )
    return SparseBlock(starts, columns, values), n_used


@kernel(error_model="numpy")
def split_nodes(
    settings: SplitSettings,
    axis: bool | None,
    start: StartSettings | None,
    adam: AdamSettings | None,
    owlqn: OwlqnSettings | None,
    logistic: LogisticSettings | None,
    X: Block,
    rows: Indices,
    row_weights: Sums,
    features: Indices,
    column_of: Indices,
    order: Indices,
    second: Flags,
    nodes: Nodes,
    counts: Offsets,
    end: int,
    weight_features: Indices,
    weight_values: Reals,
) -> bool:
    """Split nodes that have two clusters; see `palmette.forest._tree_kernel.grow_tree`.

    Parameters
    ----------
    settings, axis, start, adam, owlqn, logistic
        As `TreeSettings.of_splits` returns them.
    X : DenseBlock or SparseBlock, IN
        All rows.
    rows, row_weights, features : arrays, IN
        Rows and features of the tree.
    column_of : int32 array of shape (n_features,), IN and OUT
        Buffer that is -1 everywhere, before and after; empty for dense rows.
    order : int32 array of shape (n_in_bag,), IN and OUT
        Positions in ``rows`` by node; the rows of a node are partitioned among its children.
    second : bool array of shape (n_in_bag,), IN
        The clusters, in this order.
    nodes : Nodes, IN and OUT
    counts : int64 array of shape (3,), IN and OUT
        The first node to split, the number of nodes, and the number of weights.
    end : int
        The node after the last to split.
    weight_features, weight_values : int32 and float arrays of shape (capacity,), OUT

    Returns
    -------
    bool
        False if the weights of the node ``counts[0]`` have no space. If there is more, the
        function can be called again.
    """
    state, drawn = np.empty(1, np.uint64), np.empty(len(features), np.int32)
    used = np.empty(len(features), np.int32)
    n_weights = counts[2]
    for node in range(counts[0], end):
        counts[0] = node
        if nodes.is_split[node]:
            first, last = nodes.first[node], nodes.last[node]
            own, size = order[first:last], last - first
            state[0] = nodes.state[node]
            n_drawn = _draw_features(features, settings.feature_share, state, drawn)
            block, n_used = _gather(
                X, rows, own, drawn[:n_drawn], settings.min_column_rows, column_of, used
            )
            if n_weights + n_used > len(weight_values):
                return False
            weights, right = np.empty(size, np.float64), np.empty(size, np.bool_)
            for i in range(size):
                weights[i] = row_weights[own[i]]
            point = np.empty(n_used + 1, weight_values.dtype)
            nodes.is_split[node] = _split_node(
                settings,
                axis,
                start,
                adam,
                owlqn,
                logistic,
                block,
                n_drawn,
                second[first:last],
                weights,
                state,
                point,
                right,
            )
            if nodes.is_split[node]:
                for j in range(n_used):
                    if point[j] != 0.0:
                        weight_features[n_weights] = used[j]
                        weight_values[n_weights] = point[j]
                        n_weights += 1
                nodes.bias[node] = point[n_used]
                middle, child = first + _partition(own, right), counts[1]
                nodes.left[node], nodes.right[node] = child, child + 1
                nodes.first[child], nodes.last[child] = first, middle
                nodes.first[child + 1], nodes.last[child + 1] = middle, last
                nodes.seed[child] = mix(nodes.seed[node] + NODE_STRIDE)
                nodes.seed[child + 1] = mix(nodes.seed[node] + NODE_STRIDE + NODE_STRIDE)
                counts[1] += 2
        nodes.weight_starts[node + 1] = n_weights
        counts[2] = n_weights
    counts[0] = end
    return True
