"""Weak learners that grow one decision stump or one small tree per column."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import IntArray
from palmette.base._parameters import is_count
from palmette.boosting._hypotheses import mask_by_parents
from palmette.boosting._weak import (
    ColumnMask,
    Floats,
    GrownColumns,
    TrainingRows,
    WeakLearner,
    check_parameters,
    majority,
)
from palmette.trees._binning import count_features

_SMALL = 2**20  # up to this number of additions per round, the cost of float64 is negligible


class _PerClass(WeakLearner):
    """Base class of stumps and trees: the levels of a mask, and the votes of leaves."""

    _max_depth: int

    def _search(
        self, rows: TrainingRows, signed: Floats, chosen: IntArray | None, seed: int
    ) -> tuple[Any, Any]:
        """Return features and cuts, each (n_columns, n_places)."""
        raise NotImplementedError

    def grow(
        self, rows: TrainingRows, signed: Floats, chosen: IntArray | None, seed: int
    ) -> GrownColumns:
        """Grow one hypothesis per column; see `WeakLearner`."""
        n_samples, n_columns = signed.shape
        n_places = 2 ** (self._max_depth + 1)
        features = np.full((n_columns, n_places), -1, dtype=np.int32)
        cuts = np.zeros((n_columns, n_places), dtype=np.uint8)
        signs = np.full((n_columns, n_places), -1, dtype=np.int8)
        places = np.zeros((n_samples, n_columns), dtype=np.uint8)
        mask = rows.mask
        if mask is None or not mask.in_search:
            features, cuts = self._search(rows, signed, chosen, seed)
            self._set_votes(rows, signed, features, cuts, signs, places)
            if mask is not None:
                mask_by_parents(places, signs, mask.parents)
        else:
            for level in mask.levels:
                passes = passes_parents(mask, level, signs, places)
                part = signed[:, level] * passes
                found = self._search(rows, part, chosen, seed)
                at, vote = np.empty(part.shape, dtype=np.uint8), signs[level]
                self._set_votes(rows, part, *found, vote, at)
                features[level], cuts[level], signs[level] = *found, vote
                places[:, level] = np.where(passes, at, 0)
        parents = None if mask is None else mask.parents
        return GrownColumns((features, cuts), signs, places, parents)

    def _set_votes(
        self,
        rows: TrainingRows,
        signed: Floats,
        features: Any,
        cuts: Any,
        signs: NDArray[np.int8],
        places: NDArray[np.uint8],
    ) -> None:
        """Find the leaf of every row, and set the majority vote of every leaf."""
        from palmette.boosting._heap_tree import find_class_leaves
        from palmette.boosting._votes import leaf_sums

        find_class_leaves(rows.codes, features, cuts, places)
        positive, negative = np.zeros(features.shape), np.zeros(features.shape)
        leaf_sums(signed, places, positive, negative)
        signs[:] = self._votes_of(positive, negative)
        signs[:, 0] = -1

    def _votes_of(self, positive: Any, negative: Any) -> NDArray[np.int8]:
        return majority(positive, negative)


def passes_parents(
    mask: ColumnMask, level: IntArray, signs: NDArray[np.int8], places: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Return whether the parents of each column of a level vote +1: (n_samples, n_level)."""
    parents = mask.parents
    through = np.ones((len(places), len(level)), dtype=bool)
    for place, column in enumerate(level.tolist()):
        above = parents.columns[parents.starts[column] : parents.starts[column + 1]]
        if above.size:
            votes = signs[above, places[:, above]] > 0
            through[:, place] = votes.all(axis=1) if parents.need_all else votes.any(axis=1)
    return through


class StumpPerClass(_PerClass):
    """The best decision stump per label: one feature, one threshold, two votes.

    Parameters
    ----------
    max_features : int, float, "sqrt" or None
        Number or share of the features drawn in a round; all by default.
    votes : "sign" or "confidence"
        Votes of the leaves: the majority, or half the log-odds of their weights.
    two_sided : bool
        Whether the two sides of a stump always have different votes. By default each side has its
        majority vote, and one vote for all rows is considered as well.

    Examples
    --------
    >>> StumpPerClass(max_features=0.5)
    StumpPerClass(max_features=0.5)
    """

    _max_depth = 1

    def __init__(
        self,
        max_features: int | float | str | None = None,
        *,
        votes: str = "sign",
        two_sided: bool = False,
    ) -> None:
        self.max_features = max_features
        self.votes = votes
        self.two_sided = two_sided

    def check(self) -> None:
        """Raise an error for invalid parameters."""
        super().check()
        count_features(self.max_features, 1)

    def _search(
        self, rows: TrainingRows, signed: Floats, chosen: IntArray | None, seed: int
    ) -> tuple[Any, Any]:
        candidates = draw_features(self.max_features, rows.n_features, seed)
        feature, cut = search_stumps(rows, signed, chosen, candidates, self.two_sided)
        features = np.full((len(feature), 4), -1, dtype=np.int32)
        cuts = np.zeros((len(feature), 4), dtype=np.uint8)
        features[:, 1], cuts[:, 1] = feature, cut
        return features, cuts

    def _votes_of(self, positive: Any, negative: Any) -> NDArray[np.int8]:
        signs = majority(positive, negative)
        if self.two_sided:
            lead = positive - negative
            split = (positive + negative)[:, 2:4].sum(axis=1) > 0
            left = np.where(lead[:, 2] > lead[:, 3], 1, -1)
            signs[split, 2], signs[split, 3] = left[split], -left[split]
        return signs


class TreePerClass(_PerClass):
    """One small tree per label, grown by the Gini gain of its weighted binary problem.

    Parameters
    ----------
    max_depth : int
        Maximum depth of a tree, 1 to 7.
    max_features : int, float, "sqrt" or None
        Number or share of the features drawn in a round, the same for all labels.
    thresholds : "best" or "random"
        The best threshold per feature, or one drawn uniformly from the bins at a node.
    min_samples_leaf : int
        Minimum number of rows in a leaf.
    votes : "sign" or "confidence"
        Votes of the leaves: the majority, or half the log-odds of their weights.

    Examples
    --------
    >>> TreePerClass(max_depth=2)
    TreePerClass(max_depth=2)
    """

    def __init__(
        self,
        max_depth: int = 3,
        *,
        max_features: int | float | str | None = 0.2,
        thresholds: str = "best",
        min_samples_leaf: int = 1,
        votes: str = "sign",
    ) -> None:
        self.max_depth = max_depth
        self.max_features = max_features
        self.thresholds = thresholds
        self.min_samples_leaf = min_samples_leaf
        self.votes = votes

    @property
    def _max_depth(self) -> int:  # type: ignore[override]
        return self.max_depth

    def check(self) -> None:
        """Raise an error for invalid parameters."""
        super().check()
        checks = [
            (
                "max_depth",
                is_count(self.max_depth) and self.max_depth <= 7,
                "an integer from 1 to 7",
            ),
            ("thresholds", self.thresholds in ("random", "best"), "'random' or 'best'"),
            ("min_samples_leaf", is_count(self.min_samples_leaf), "a positive integer"),
        ]
        check_parameters(self, checks)
        count_features(self.max_features, 1)

    def _search(
        self, rows: TrainingRows, signed: Floats, chosen: IntArray | None, seed: int
    ) -> tuple[Any, Any]:
        from palmette.boosting._heap_tree import grow_heap_tree

        candidates = draw_features(self.max_features, rows.n_features, seed)
        columns = np.ascontiguousarray(signed.T, dtype=np.float32)
        n_places = 2 ** (self.max_depth + 1)

        def grow(k: int) -> tuple[Any, Any]:
            order = np.arange(rows.n_samples, dtype=np.int32) if chosen is None else chosen
            order = order[columns[k, order] != 0]  # masked rows have no weight
            return grow_heap_tree(
                None,
                rows.by_feature,
                None,
                None,
                columns[k],
                candidates,
                len(candidates),
                self.thresholds == "random",
                False,
                self.min_samples_leaf,
                np.array([seed + k], dtype=np.uint64),
                order,
                np.zeros((n_places, 2), dtype=np.int64),
            )

        grown = rows.threads.map(grow, range(len(columns)))
        return np.stack([tree[0] for tree in grown]), np.stack([tree[1] for tree in grown])


def draw_features(max_features: int | float | str | None, n_features: int, seed: int) -> IntArray:
    """Return the features of a round in ascending order: int32 array of shape (n_drawn,)."""
    number = count_features(max_features, n_features)
    if number == n_features:
        return np.arange(n_features, dtype=np.int32)
    rng = np.random.default_rng([seed, 3])
    return np.sort(rng.choice(n_features, number, replace=False)).astype(np.int32)


def search_stumps(
    rows: TrainingRows,
    signed: Floats,
    chosen: IntArray | None,
    candidates: IntArray,
    must_split: bool = False,
) -> tuple[IntArray, NDArray[np.uint8]]:
    """Find the stump of largest edge for every column; threads do not change the result.

    Parameters
    ----------
    rows : TrainingRows
    signed : float array of shape (n_samples, n_columns)
    chosen : int array, optional
        Rows to use; all by default.
    candidates : int32 array of shape (n_candidates,)
        Features to consider.
    must_split : bool
        Whether a stump has to split if it can.

    Returns
    -------
    features : int32 array of shape (n_columns,)
        -1 if no split is better than one vote for all rows.
    cuts : uint8 array of shape (n_columns,)
    """
    from palmette.boosting._histogram import (
        column_totals,
        exact_stump_edges,
        pick_stumps,
        stump_edges,
    )

    codes = rows.by_feature
    if chosen is not None:
        codes, signed = np.ascontiguousarray(codes[:, chosen]), signed[chosen]
    values: Any = np.ascontiguousarray(signed)
    is_small = values.size * len(candidates) <= _SMALL
    if is_small:
        values = values.astype(np.float64)
    find, dtype = (exact_stump_edges, np.float64) if is_small else (stump_edges, np.float32)
    totals = column_totals(values)
    shape = len(candidates), values.shape[1]
    cuts, edges = np.empty(shape, dtype=np.uint8), np.empty(shape, dtype=dtype)

    def search(block: slice) -> None:
        find(codes, values, totals, candidates[block], cuts[block], edges[block])

    rows.threads.map(search, _blocks(len(candidates), rows.threads.n_threads))
    not_to_split = np.zeros_like(totals) if must_split else totals
    features, best, _ = pick_stumps(candidates, cuts, edges, not_to_split)
    return features, best


def _blocks(n: int, n_threads: int) -> list[slice]:
    bounds = np.linspace(0, n, min(n_threads, n) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(bounds)]
