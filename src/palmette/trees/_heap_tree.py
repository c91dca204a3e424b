"""Trees in the shape of heaps: growing one, and walking rows down one or many.

The children of node ``i`` are ``2 i`` and ``2 i + 1``, the root is 1, and a code up to the cut goes
left. Place 0 is no node; in the trees of columns it stands for a row that the column's parents
keep out of its tree. So that a place is one byte there, such trees are at most 7 deep.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from palmette.trees._class_split import choose_class_split
from palmette.trees._random import NODE_STRIDE, State
from palmette.trees._shared_split import best_shared_split, draw_features, random_shared_split

__all__ = [
    "add_class_tree_scores",
    "add_masked_class_tree_scores",
    "add_tree_scores",
    "grow_heap_tree",
    "mask_places",
    "shared_leaf",
    "walk_class_trees",
]

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]
Maybe: TypeAlias = Any  # an array or None
Offsets: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.int8]
Sums: TypeAlias = NDArray[np.float64]

_BLOCK = 256  # rows that walk together; their codes and places stay in the nearest cache


# ---------------------------------------------------------------------------------- growing


@njit(cache=True, nogil=True)
def _partition(codes: Codes, cut: int, rows: Indices, buffer: Indices) -> int:
    """Put the rows that go left before the others, each side in its old order; count them."""
    # every row is written to both sides, and one of them moves on: no branch to mispredict
    n_left = np.uint64(0)
    for i in range(len(rows)):
        row = rows[i]
        rows[n_left] = row
        buffer[np.uint64(i) - n_left] = row
        n_left += np.uint64(codes[row] <= cut)
    size = int(np.int64(n_left))
    for i in range(len(rows) - size):
        rows[size + i] = buffer[i]
    return size


@njit(cache=True, nogil=True)
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

    With G the sum of a column's gradients on a side of a split and W the weight there, a split is
    worth the sum over columns and sides of ``G**2 / W``, or of ``|G|``. For one column G is
    ``P - N`` and W is ``P + N``, P and N being the weights of the positive and the negative rows:
    the Gini gain. Nodes of a column that have one sign only are not split.

    There are three variants; each takes some of the first five arguments, and None for the others.
    Numba then compiles the variant that is called, and no other.

    - `codes`, `gradients` and `weights`: all columns share the tree, and cuts are random;
    - `codes_by_feature`, `gradients` and `weights`: the same, and cuts are the best ones;
    - `codes_by_feature` and `signed`: the tree is grown for one column, with either kind of cuts.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features) or None, IN
    codes_by_feature : uint8 array of shape (n_features, n_samples) or None, IN
    gradients : float32 or float64 array of shape (n_samples, n_columns) or None, IN
        In C order; multiplied by the weights of their rows.
    weights : float32 array of shape (n_samples,) or None, IN
        Positive.
    signed : float32 array of shape (n_samples,) or None, IN
        Weights of the rows, negative for negative rows.
    candidates : int32 array, IN
        Features that may be drawn.
    n_draws : int
        Number of features that compete at a node, of those that vary there. With as many as there
        are in `candidates`, one column draws none: all compete, in that order.
    random_cuts : bool
        For one column: whether a feature competes with one cut, drawn uniformly from the range of
        the node's codes, instead of its best one.
    absolute : bool
        For all columns: whether splits are judged by ``|G|``.
    min_leaf : int
        Minimum number of rows on a side of a split.
    seed : uint64 array of shape (1,), IN
        Every node draws from numbers of its own, so that its draws do not depend on how many
        another node needed.
    rows : int32 array of shape (n_rows,), IN and OUT
        The rows to grow on; reordered, so that those of a leaf are consecutive.
    bounds : int64 array of shape (2 ** (max_depth + 1), 2), OUT
        Where in `rows` the rows of every node begin and end; (0, 0) where there is no node.

    Returns
    -------
    features : int32 array of shape (2 ** (max_depth + 1),)
        Feature that splits each node; -1 at leaves and where there is no node.
    cuts : uint8 array of the same shape
    """
    n_places = bounds.shape[0]
    features = np.full(n_places, -1, dtype=np.int32)
    cuts = np.zeros(n_places, dtype=np.uint8)
    buffer = np.empty(len(rows), dtype=np.int32)
    if codes is not None:
        room = np.empty((n_draws + 1, gradients.shape[1]), dtype=gradients.dtype)
    bounds[:] = 0
    bounds[1, 1] = len(rows)
    for node in range(1, n_places // 2):
        start, stop = bounds[node, 0], bounds[node, 1]
        if stop - start < max(2, 2 * min_leaf):
            continue
        here, state = rows[start:stop], seed + np.uint64(node) * NODE_STRIDE
        # numba leaves out what needs an argument that is None, one test at a time: hence no `and`
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
                room,
            )
        if signed is not None:
            feature, cut = choose_class_split(
                codes_by_feature, signed, here, candidates, n_draws, random_cuts, min_leaf, state
            )
        if gradients is not None:
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


# ------------------------------------------------------------- walking a tree of all columns


@njit(cache=True, nogil=True)
def _find_place(codes: Codes, features: Indices, cuts: Codes) -> int:
    """Return the leaf of one row; `codes` is (n_features,)."""
    place = 1
    while features[place] >= 0:
        place = 2 * place + (1 if codes[features[place]] > cuts[place] else 0)
    return place


@njit(cache=True, nogil=True)
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
    leaf = np.empty(codes.shape[0], dtype=np.int32)
    for i in range(codes.shape[0]):
        leaf[i] = leaf_at[_find_place(codes[i], features, cuts)]
    return leaf


@njit(cache=True, nogil=True)
def add_tree_scores(
    codes: Codes,
    features: NDArray[np.int32],
    cuts: Codes,
    leaf_at: NDArray[np.int32],
    values: Floats,
    scores: Sums,
) -> None:
    """Walk every row down a tree and add its leaf's values to the row's scores.

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


# ------------------------------------------------------------ walking the trees of all columns


@njit(cache=True, nogil=True)
def _turn(rows: NDArray[Any], columns: NDArray[Any]) -> None:
    """Write a block of rows, (n_rows, n_columns), column by column, (n_columns, >= n_rows)."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            columns[j, i] = rows[i, j]


@njit(cache=True, nogil=True)
def _turn_back(columns: NDArray[Any], rows: NDArray[Any]) -> None:
    """Undo `_turn`."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = columns[j, i]


@njit(cache=True, nogil=True)
def _descend(by_feature: Codes, features: Indices, cuts: Codes, places: Codes) -> None:
    """Walk a block of rows down one tree, node by node: all rows of a node are compared at once.

    Parameters
    ----------
    by_feature : uint8 array of shape (n_features, >= n_rows), IN
    features, cuts : int32 and uint8 arrays of shape (n_places,), IN
    places : uint8 array of shape (n_rows,), OUT
    """
    places[:] = 1
    for node in range(1, len(features) // 2):
        if features[node] < 0:
            continue
        codes, cut = by_feature[features[node]], cuts[node]
        here, left, right = np.uint8(node), np.uint8(2 * node), np.uint8(2 * node + 1)
        for i in range(len(places)):
            below = right if codes[i] > cut else left
            places[i] = below if places[i] == here else places[i]


@njit(cache=True, nogil=True)
def walk_class_trees(codes: Codes, features: Indices, cuts: Codes, places: Codes) -> None:
    """Find the leaf of every row in the tree of every column.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : int32 and uint8 arrays of shape (n_columns, n_places), IN
    places : uint8 array of shape (n_samples, n_columns), OUT
    """
    n_columns = features.shape[0]
    by_feature = np.empty((codes.shape[1], _BLOCK), dtype=np.uint8)
    room = np.empty((n_columns, _BLOCK), dtype=np.uint8)
    for start in range(0, codes.shape[0], _BLOCK):
        block = codes[start : start + _BLOCK]
        _turn(block, by_feature)
        for k in range(n_columns):
            _descend(by_feature, features[k], cuts[k], room[k, : len(block)])
        _turn_back(room, places[start : start + _BLOCK])


@njit(cache=True, nogil=True)
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

    `places` is (n_columns, >= n_rows), in and out; `votes`, of the same shape, is room for 1 where
    a column says +1 and 0 where it says -1.
    """
    for k in range(places.shape[0]):
        here, said = places[k, :n_rows], votes[k, :n_rows]
        start, stop = parent_starts[k], parent_starts[k + 1]
        said[:] = 1 if need_all or stop == start else 0
        for p in range(start, stop):
            other = votes[parent_columns[p], :n_rows]
            for i in range(n_rows):
                said[i] = said[i] & other[i] if need_all else said[i] | other[i]
        for i in range(n_rows):
            here[i] = here[i] if said[i] else 0
            said[i] = here[i] > 0 and signs[k, here[i]] > 0


@njit(cache=True, nogil=True)
def mask_places(
    places: Codes, signs: Signs, parent_starts: Offsets, parent_columns: Indices, need_all: bool
) -> None:
    """Put rows at place 0 of the columns whose parents do not say +1.

    A masked column says -1, so whatever is below it is masked too. Columns without parents are
    never masked.

    Parameters
    ----------
    places : uint8 array of shape (n_samples, n_columns), IN and OUT
    signs : int8 array of shape (n_columns, n_places), IN
        What the leaves say; place 0 says -1 whatever stands there.
    parent_starts : int64 array of shape (n_columns + 1,), IN
        Where in `parent_columns` the parents of each column begin. Parents come before their
        children.
    parent_columns : int32 array, IN
    need_all : bool
        Whether all parents have to say +1, or any.
    """
    turned = np.empty((places.shape[1], _BLOCK), dtype=np.uint8)
    votes = np.empty_like(turned)
    for start in range(0, places.shape[0], _BLOCK):
        block = places[start : start + _BLOCK]
        _turn(block, turned)
        _mask_block(turned, len(block), signs, parent_starts, parent_columns, need_all, votes)
        _turn_back(turned, block)


@njit(cache=True, nogil=True)
def _add_values(places: Codes, values: Sums, scores: Sums) -> None:
    for i in range(len(places)):
        scores[i] += values[places[i]]


@njit(cache=True, nogil=True)
def add_class_tree_scores(
    codes: Codes, features: Indices, cuts: Codes, values: Sums, scores: Sums
) -> None:
    """Walk every row down the trees of some rounds and add what their leaves are worth.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : int32 and uint8 arrays of shape (n_rounds, n_columns, n_places), IN
    values : float64 array of the same shape, IN
    scores : float64 array of shape (n_samples, n_columns), IN and OUT
    """
    n_rounds, n_columns, _ = features.shape
    by_feature = np.empty((codes.shape[1], _BLOCK), dtype=np.uint8)
    room, sums = np.empty(_BLOCK, dtype=np.uint8), np.empty((n_columns, _BLOCK))
    for start in range(0, codes.shape[0], _BLOCK):
        block = codes[start : start + _BLOCK]
        here = scores[start : start + _BLOCK]
        places = room[: len(block)]
        _turn(block, by_feature)
        _turn(here, sums)
        for turn in range(n_rounds):
            for k in range(n_columns):
                _descend(by_feature, features[turn, k], cuts[turn, k], places)
                _add_values(places, values[turn, k], sums[k])
        _turn_back(sums, here)


@njit(cache=True, nogil=True)
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
    """Do as `add_class_tree_scores`, with every round's hypotheses masked as by `mask_places`.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), IN
    features, cuts : int32 and uint8 arrays of shape (n_rounds, n_columns, n_places), IN
    values : float64 array of the same shape, IN
        Those of masked rows are at place 0.
    signs : int8 array of the same shape, IN
    parent_starts, parent_columns, need_all
        As of `mask_places`, IN.
    scores : float64 array of shape (n_samples, n_columns), IN and OUT
    """
    n_rounds, n_columns, _ = features.shape
    by_feature = np.empty((codes.shape[1], _BLOCK), dtype=np.uint8)
    places, sums = np.empty((n_columns, _BLOCK), dtype=np.uint8), np.empty((n_columns, _BLOCK))
    votes = np.empty_like(places)
    for start in range(0, codes.shape[0], _BLOCK):
        block = codes[start : start + _BLOCK]
        here, n_rows = scores[start : start + _BLOCK], len(block)
        _turn(block, by_feature)
        _turn(here, sums)
        for turn in range(n_rounds):
            for k in range(n_columns):
                _descend(by_feature, features[turn, k], cuts[turn, k], places[k, :n_rows])
            _mask_block(places, n_rows, signs[turn], parent_starts, parent_columns, need_all, votes)
            for k in range(n_columns):
                _add_values(places[k, :n_rows], values[turn, k], sums[k])
        _turn_back(sums, here)
