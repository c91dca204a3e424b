"""Trees stored as heaps: growing one, and finding the leaves of rows in one or many.

The children of node ``i`` are ``2 i`` and ``2 i + 1``, the root is 1, and a code up to the cut goes
left. Place 0 is not a node; where every column has a tree, it marks a row that the column's parents
mask. A place is stored in one byte there, so these trees have a depth of at most 7.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette._kernels import inner, int64, kernel
from palmette.boosting._class_split import choose_class_split
from palmette.boosting._shared_split import best_shared_split, draw_features, random_shared_split
from palmette.trees._random import NODE_STRIDE, State

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]
Maybe: TypeAlias = Any  # an array or None
Offsets: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.int8]
Sums: TypeAlias = NDArray[np.float64]

_BLOCK = 256  # rows processed together; their codes and places stay in the L1 cache


# ---------------------------------------------------------------------------------- growing


@inner(inline="always")
def _partition(codes: Codes, cut: int, rows: Indices, buffer: Indices) -> int:
    """Move the rows that go left before the others, keeping the order; return their number."""
    # every row is written to both sides, and one counter advances: no branch to mispredict
    n_left = np.uint64(0)
    for i in range(len(rows)):
        row = rows[i]
        rows[n_left] = row
        buffer[np.uint64(i) - n_left] = row
        n_left += np.uint64(codes[row] <= cut)
    size: int = int64(n_left)
    for i in range(len(rows) - size):
        rows[size + i] = buffer[i]
    return size


@kernel
def grow_heap_tree(
    codes: Maybe,
    codes_by_feature: Maybe,
    gradients: Maybe,
    weights: Maybe,
    signed: Maybe,
    candidates: Indices,
    n_draws: int,
    random_cuts: bool,
    absolute: bool,
    min_leaf: int,
    seed: State,
    rows: Indices,
    bounds: NDArray[np.int64],
) -> tuple[Indices, Codes]:
    """Grow a tree on the gradients of all columns, or on the signed weights of one column.

    Let G be the sum of a column's gradients on a side of a split and W the weight there. The gain
    of a split is the sum over columns and sides of ``G**2 / W``, or of ``|G|``. For one column G is
    ``P - N`` and W is ``P + N``, where P and N are the weights of the positive and the negative
    rows: the Gini gain. Nodes of a column whose rows all have one sign are not split. Where all
    columns share the tree, W is at least 1e-12 of the weight of the node.

    There are three variants; each takes some of the first five arguments, and None for the others.
    Numba then compiles only the variant that is called.

    - `codes`, `gradients` and `weights`: all columns share the tree, and cuts are random;
    - `codes_by_feature`, `gradients` and `weights`: the same, with the best cuts;
    - `codes_by_feature` and `signed`: the tree is grown for one column, with either kind of cuts.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features) or None, IN
    codes_by_feature : uint8 array of shape (n_features, n_samples) or None, IN
    gradients : float32 or float64 array of shape (n_samples, n_columns) or None, IN
        In C order, multiplied by the weights of the rows.
    weights : float32 array of shape (n_samples,) or None, IN
        Positive.
    signed : float32 array of shape (n_samples,) or None, IN
        Weights of the rows, negative for negative rows.
    candidates : int32 array, IN
        Features that may be drawn.
    n_draws : int
        Number of features considered at a node, out of those that vary there. For one column and
        ``n_draws >= len(candidates)``, all candidates are considered, in their order.
    random_cuts : bool
        For one column: whether one cut per feature is drawn uniformly from the range of the node's
        codes, instead of searching for the best one.
    absolute : bool
        For all columns: whether the gain uses ``|G|``.
    min_leaf : int
        Minimum number of rows on a side of a split.
    seed : uint64 array of shape (1,), IN
        Every node has its own random state, so that its draws do not depend on those of other
        nodes.
    rows : int32 array of shape (n_rows,), IN and OUT
        The rows to grow on; reordered, so that those of a leaf are consecutive.
    bounds : int64 array of shape (2 ** (max_depth + 1), 2), OUT
        First and last position (exclusive) of every node's rows in `rows`; (0, 0) for no node.

    Returns
    -------
    features : int32 array of shape (2 ** (max_depth + 1),)
        Feature that splits each node; -1 at leaves and where there is no node.
    cuts : uint8 array of the same shape
    """
    n_places = bounds.shape[0]
    features, cuts = np.empty(n_places, np.int32), np.empty(n_places, np.uint8)
    buffer, state = np.empty(len(rows), np.int32), np.empty(1, np.uint64)
    if codes is not None:
        workspace = np.empty((n_draws + 1, gradients.shape[1]), gradients.dtype)
    for place in range(n_places):  # loops: they compile faster than assignments of slices
        features[place], cuts[place], bounds[place, 0], bounds[place, 1] = -1, 0, 0, 0
    bounds[1, 1] = len(rows)
    for node in range(1, n_places // 2):
        start, stop = bounds[node, 0], bounds[node, 1]
        if stop - start < 2 or stop - start < 2 * min_leaf:
            continue
        here = rows[start:stop]
        state[0] = seed[0] + np.uint64(node) * NODE_STRIDE
        feature, cut, size = -1, 0, 0
        if codes is not None:
            feature, cut = random_shared_split(
                codes,
                gradients,
                weights,
                here,
                candidates,
                n_draws,
                absolute,
                min_leaf,
                state,
                workspace,
            )
        if signed is not None:
            feature, cut = choose_class_split(
                codes_by_feature, signed, here, candidates, n_draws, random_cuts, min_leaf, state
            )
        # numba drops a branch on an argument that is None only if that is the whole test: no `and`
        if gradients is not None:  # noqa: SIM102
            if codes_by_feature is not None:
                drawn = draw_features(codes_by_feature, here, candidates, n_draws, state)
                criterion = 1 if absolute else 0
                feature, cut, _, _ = best_shared_split(
                    codes_by_feature, gradients, weights, here, drawn, criterion, min_leaf
                )
        if feature < 0:
            continue
        features[node], cuts[node] = feature, cut
        if codes is not None:
            size = _partition(codes[:, feature], cut, here, buffer)
        if codes_by_feature is not None:
            size = _partition(codes_by_feature[feature], cut, here, buffer)
        bounds[2 * node, 0], bounds[2 * node, 1] = start, start + size
        bounds[2 * node + 1, 0], bounds[2 * node + 1, 1] = start + size, stop
    return features, cuts


# ------------------------------------------------------ leaves of a tree that all columns share


@inner(inline="always")
def _find_place(codes: Codes, features: Indices, cuts: Codes) -> int:
    """Return the place of the leaf of one row, given its codes of shape (n_features,)."""
    place = 1
    while features[place] >= 0:
        place = 2 * place + (1 if codes[features[place]] > cuts[place] else 0)
    return place


@kernel
def shared_leaf(codes: Codes, features: Indices, cuts: Codes, leaf_at: Indices) -> Indices:
    """Return the leaf of every row in a tree that all columns share.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : int32 and uint8 arrays of shape (n_places,), IN
    leaf_at : int32 array of shape (n_places,), IN
        Number of the leaf at every place of the heap.

    Returns
    -------
    int32 array of shape (n_samples,)
    """
    leaf = np.empty(codes.shape[0], np.int32)
    for i in range(codes.shape[0]):
        leaf[i] = leaf_at[_find_place(codes[i], features, cuts)]
    return leaf


@kernel
def add_tree_scores(
    codes: Codes,
    features: NDArray[np.int32],
    cuts: Codes,
    leaf_at: NDArray[np.int32],
    values: Floats,
    scores: Sums,
) -> None:
    """Add the values of the leaf of every row to the scores of the row.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : arrays of one tree, IN
    leaf_at : int32 array, IN
        Row of `values` for every leaf of the heap.
    values : float32 array of shape (n_leaves, n_labels), IN
    scores : float array of shape (n_samples, n_labels), IN and OUT
    """
    for i in range(codes.shape[0]):
        leaf = leaf_at[_find_place(codes[i], features, cuts)]
        for k in range(scores.shape[1]):
            scores[i, k] += values[leaf, k]


# ------------------------------------------------------------ leaves of one tree for every column


@inner(inline="always")
def _transpose(rows: NDArray[Any], columns: NDArray[Any]) -> None:
    """Transpose a block of rows, (n_rows, n_columns), into (n_columns, >= n_rows)."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            columns[j, i] = rows[i, j]


@inner(inline="always")
def _transpose_back(columns: NDArray[Any], rows: NDArray[Any]) -> None:
    """Reverse `_transpose`."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = columns[j, i]


@inner
def _descend(by_feature: Codes, features: Indices, cuts: Codes, places: Codes) -> None:
    """Find the leaves of a block of rows in one tree, comparing all rows with a node at once.

    Parameters
    ----------
    by_feature : uint8 array of shape (n_features, >= n_rows), IN
    features, cuts : int32 and uint8 arrays of shape (n_places,), IN
    places : uint8 array of shape (n_rows,), OUT
    """
    for i in range(len(places)):
        places[i] = 1
    for node in range(1, len(features) // 2):
        if features[node] < 0:
            continue
        codes, cut = by_feature[features[node]], cuts[node]
        here, left, right = np.uint8(node), np.uint8(2 * node), np.uint8(2 * node + 1)
        for i in range(len(places)):
            below = right if codes[i] > cut else left
            places[i] = below if places[i] == here else places[i]


@kernel
def find_class_leaves(codes: Codes, features: Indices, cuts: Codes, places: Codes) -> None:
    """Find the leaf of every row in the tree of every column.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : int32 and uint8 arrays of shape (n_columns, n_places), IN
    places : uint8 array of shape (n_samples, n_columns), OUT
    """
    n_columns = features.shape[0]
    by_feature = np.empty((codes.shape[1], _BLOCK), np.uint8)
    leaves = np.empty((n_columns, _BLOCK), np.uint8)
    for start in range(0, codes.shape[0], _BLOCK):
        block = codes[start : start + _BLOCK]
        _transpose(block, by_feature)
        for k in range(n_columns):
            _descend(by_feature, features[k], cuts[k], leaves[k, : len(block)])
        _transpose_back(leaves, places[start : start + _BLOCK])


@inner
def _mask_block(
    places: Codes,
    n_rows: int,
    signs: Signs,
    parent_starts: Offsets,
    parent_columns: Indices,
    need_all: bool,
    votes: Codes,
) -> None:
    """Mask a block of rows; see `mask_places`.

    `places` is (n_columns, >= n_rows), in and out; `votes` is a buffer of the same shape, 1
    where a column votes +1 and 0 where it votes -1.
    """
    for k in range(places.shape[0]):
        here, vote = places[k, :n_rows], votes[k, :n_rows]
        start, stop = parent_starts[k], parent_starts[k + 1]
        initial = np.uint8(1 if need_all or stop == start else 0)
        for i in range(n_rows):
            vote[i] = initial
        for p in range(start, stop):
            other = votes[parent_columns[p], :n_rows]
            for i in range(n_rows):
                vote[i] = vote[i] & other[i] if need_all else vote[i] | other[i]
        for i in range(n_rows):
            here[i] = here[i] if vote[i] else 0
            vote[i] = here[i] > 0 and signs[k, here[i]] > 0


@kernel
def mask_places(
    places: Codes, signs: Signs, parent_starts: Offsets, parent_columns: Indices, need_all: bool
) -> None:
    """Set the place to 0 in columns whose parents do not vote +1.

    A masked column votes -1, so the columns below it are masked too. Columns without parents are
    never masked.

    Parameters
    ----------
    places : uint8 array of shape (n_samples, n_columns), IN and OUT
    signs : int8 array of shape (n_columns, n_places), IN
        Votes of the leaves; place 0 counts as -1 whatever its value.
    parent_starts : int64 array of shape (n_columns + 1,), IN
        Offsets of the parents of each column in `parent_columns`. Parents come before their
        children.
    parent_columns : int32 array, IN
    need_all : bool
        Whether all parents have to vote +1, or any of them.
    """
    transposed = np.empty((places.shape[1], _BLOCK), np.uint8)
    votes = np.empty((places.shape[1], _BLOCK), np.uint8)
    for start in range(0, places.shape[0], _BLOCK):
        block = places[start : start + _BLOCK]
        _transpose(block, transposed)
        _mask_block(transposed, len(block), signs, parent_starts, parent_columns, need_all, votes)
        _transpose_back(transposed, block)


@inner(inline="always")
def _add_values(places: Codes, values: Sums, scores: Sums) -> None:
    for i in range(len(places)):
        scores[i] += values[places[i]]


@kernel
def add_class_tree_scores(
    codes: Codes, features: Indices, cuts: Codes, values: Sums, scores: Sums
) -> None:
    """Add the values of the leaves of every row in the trees of some rounds to its scores.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : int32 and uint8 arrays of shape (n_rounds, n_columns, n_places), IN
    values : float64 array of the same shape, IN
    scores : float64 array of shape (n_samples, n_columns), IN and OUT
    """
    n_rounds, n_columns, _ = features.shape
    by_feature = np.empty((codes.shape[1], _BLOCK), np.uint8)
    buffer, sums = np.empty(_BLOCK, np.uint8), np.empty((n_columns, _BLOCK), np.float64)
    for start in range(0, codes.shape[0], _BLOCK):
        block = codes[start : start + _BLOCK]
        here = scores[start : start + _BLOCK]
        places = buffer[: len(block)]
        _transpose(block, by_feature)
        _transpose(here, sums)
        for turn in range(n_rounds):
            for k in range(n_columns):
                _descend(by_feature, features[turn, k], cuts[turn, k], places)
                _add_values(places, values[turn, k], sums[k])
        _transpose_back(sums, here)


@kernel
def add_masked_class_tree_scores(
    codes: Codes,
    features: Indices,
    cuts: Codes,
    values: Sums,
    signs: Signs,
    parent_starts: Offsets,
    parent_columns: Indices,
    need_all: bool,
    scores: Sums,
) -> None:
    """Add scores as `add_class_tree_scores` does, with every round masked as by `mask_places`.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : int32 and uint8 arrays of shape (n_rounds, n_columns, n_places), IN
    values : float64 array of the same shape, IN
        Values for masked rows are at place 0.
    signs : int8 array of the same shape, IN
    parent_starts, parent_columns, need_all
        As of `mask_places`, IN.
    scores : float64 array of shape (n_samples, n_columns), IN and OUT
    """
    n_rounds, n_columns, _ = features.shape
    by_feature = np.empty((codes.shape[1], _BLOCK), np.uint8)
    places, sums = (
        np.empty((n_columns, _BLOCK), np.uint8),
        np.empty((n_columns, _BLOCK), np.float64),
    )
    votes = np.empty((n_columns, _BLOCK), np.uint8)
    for start in range(0, codes.shape[0], _BLOCK):
        block = codes[start : start + _BLOCK]
        here, n_rows = scores[start : start + _BLOCK], len(block)
        _transpose(block, by_feature)
        _transpose(here, sums)
        for turn in range(n_rounds):
            for k in range(n_columns):
                _descend(by_feature, features[turn, k], cuts[turn, k], places[k, :n_rows])
            _mask_block(places, n_rows, signs[turn], parent_starts, parent_columns, need_all, votes)
            for k in range(n_columns):
                _add_values(places[k, :n_rows], values[turn, k], sums[k])
        _transpose_back(sums, here)
