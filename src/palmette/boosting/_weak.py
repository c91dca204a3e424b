"""Weak learners: their training rows, what they grow, and one tree for all columns at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette._arrays import BinArray, FloatArray, IntArray
from palmette.base._fitting import Threads
from palmette.base._parameters import is_count
from palmette.base._scratch import Empty
from palmette.boosting._hypotheses import (
    CartVotes,
    ClassModels,
    ClassTrees,
    ColumnParents,
    Samples,
    mask_by_parents,
)
from palmette.boosting._hypotheses import (
    SharedTree as SharedVotes,
)
from palmette.exceptions import PalmetteError
from palmette.trees._binning import BinnedRows, count_features
from palmette.trees._carts import Carts

Floats = NDArray[np.float32] | FloatArray
Sums = FloatArray

_CLEARLY = 1e-9
_SMALL = 2**16  # numbers of gradients of small data
_MANY_COLUMNS = 512  # with more columns, splits are chosen by a sample of them


@dataclass(frozen=True, eq=False)
class ColumnMask:
    """The mask of children by the hypotheses of their parents.

    Parameters
    ----------
    parents : ColumnParents
    levels : list of int arrays
        Columns by depth, parents before children.
    in_search : bool
        Whether the hypothesis of a child is fitted only on the rows that its parents vote +1 for;
        else it is fitted on all rows and masked afterwards (eq. 7 as published).
    """

    parents: ColumnParents
    levels: list[IntArray]
    in_search: bool


class TrainingRows(BinnedRows):
    """The rows that a boosted model is fitted on.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features)
    n_bins : int array of shape (n_features,)
    weights : float32 array of shape (n_samples,)
    X : array or sparse matrix of shape (n_samples, n_features)
    mask : ColumnMask, optional
    threads : Threads
    empty : callable
        Makes arrays of rows and columns.
    """

    def __init__(
        self,
        codes: BinArray,
        n_bins: NDArray[np.int64],
        weights: Floats,
        X: Any = None,
        mask: ColumnMask | None = None,
        threads: Threads | None = None,
        empty: Empty = np.empty,
    ) -> None:
        super().__init__(codes, n_bins, weights)
        self.empty = empty
        self.X = X
        self.mask = mask
        self.threads = threads or Threads(1)
        self._placed: dict[Any, Any] = {}

    @cached_property
    def ranges(self) -> BinArray:
        """Ranges of the codes of all features; see `ranges_of_codes`."""
        from palmette.boosting._growing_rows import ranges_of_codes

        return ranges_of_codes(self.codes, self.threads)

    def on(self, device: Any, place: Callable[[TrainingRows, Any], Any]) -> Any:
        """Return the rows on a device, where `place` copies them once."""
        if device not in self._placed:
            self._placed[device] = place(self, device)
        return self._placed[device]


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree for all columns whose votes are not set yet.

    Parameters
    ----------
    features, cuts, leaf_at : arrays of shape (n_places,)
    leaf : int32 array of shape (n_samples,)
        Leaf of each training row.
    n_leaves : int
    """

    features: IntArray
    cuts: BinArray
    leaf_at: IntArray
    leaf: IntArray
    n_leaves: int

    def sums(self, signed: Sums) -> tuple[Sums, Sums]:
        """Return the positive and negative weight in every leaf: (n_columns, n_leaves) each."""
        from palmette.boosting._votes import shared_leaf_sums

        positive = np.zeros((self.n_leaves, signed.shape[1]))
        negative = np.zeros_like(positive)
        shared_leaf_sums(signed, self.leaf, positive, negative)
        return positive.T, negative.T

    def signs(self, positive: Sums, negative: Sums) -> Sums:
        """Return the majority votes, (n_columns, n_leaves)."""
        return majority(positive, negative).astype(np.float64)

    def reweigh(self, signed: Sums, values: Sums, mass: Sums) -> None:
        """Multiply weights by exp(-vote * sign), and write their sums by column to `mass`."""
        from palmette.boosting._votes import reweigh_shared

        reweigh_shared(signed, self.leaf, np.ascontiguousarray(values.T), mass)

    def votes(self, values: Sums) -> Sums:
        """Return the votes for the training rows: (n_samples, n_columns)."""
        return values.T[self.leaf]

    def hypothesis(
        self,
        values: Sums,
        weights: Floats,
        mass: Sums | None = None,
        cover: Sums | None = None,
    ) -> SharedVotes:
        """Return the hypothesis with the votes `values`, (n_columns, n_leaves).

        Its cover is the weight of the training rows in each leaf, computed unless it is given.
        """
        if cover is None:
            cover = np.asarray(np.bincount(self.leaf, weights, minlength=self.n_leaves), np.float64)
        votes = np.ascontiguousarray(values.T, dtype=np.float32)
        at_leaves = cover.astype(np.float32)
        return SharedVotes(self.features, self.cuts, self.leaf_at, votes, at_leaves)


@dataclass(frozen=True, eq=False)
class GrownColumns:
    """One hypothesis per column, whose coefficients are not set yet.

    Parameters
    ----------
    made_of : tuple of arrays (features, cuts), each (n_columns, n_places), Carts, or list of models
    signs_at : int8 array of shape (n_columns, n_places)
    places : uint8 array of shape (n_samples, n_columns)
        Place of each training row, 0 if it is masked.
    parents : ColumnParents, optional
        Given if there is a mask.
    """

    made_of: Any
    signs_at: NDArray[np.int8]
    places: NDArray[np.uint8]
    parents: ColumnParents | None

    def sums(self, signed: Sums) -> tuple[Sums, Sums]:
        """Return the positive and negative weight at every place: (n_columns, n_places) each."""
        from palmette.boosting._votes import leaf_sums

        positive, negative = np.zeros(self.signs_at.shape), np.zeros(self.signs_at.shape)
        leaf_sums(signed, self.places, positive, negative)
        return positive, negative

    def signs(self, positive: Sums, negative: Sums) -> Sums:
        """Return the votes before coefficients, (n_columns, n_places)."""
        return self.signs_at.astype(np.float64)

    def reweigh(self, signed: Sums, values: Sums, mass: Sums) -> None:
        """Multiply weights by exp(-vote * sign), and write their sums by column to `mass`."""
        from palmette.boosting._votes import reweigh

        reweigh(signed, self.places, np.ascontiguousarray(values), mass)

    def votes(self, values: Sums) -> Sums:
        """Return the votes for the training rows: (n_samples, n_columns)."""
        return values[np.arange(len(values)), self.places]

    def hypothesis(
        self, values: Sums, weights: Floats, mass: Sums
    ) -> ClassTrees | ClassModels | CartVotes:
        """Return the hypothesis with the votes `values`, (n_columns, n_places).

        Its cover is the share of each place in the weight of the column in this round, `mass`.
        """
        values = np.ascontiguousarray(values)
        if isinstance(self.made_of, list):
            return ClassModels(self.made_of, self.signs_at, values, self.parents)
        if isinstance(self.made_of, Carts):
            return CartVotes(self.made_of, values, self.parents)
        totals = np.maximum(mass.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        features, cuts = self.made_of
        cover = (mass / totals).astype(np.float32)
        return ClassTrees(features, cuts, self.signs_at, values, cover, self.parents)


def regrow(hypothesis: Any, samples: Samples) -> GrownTree | GrownColumns:
    """Return a hypothesis as it was grown, with the places of the training rows."""
    from palmette.boosting._heap_tree import find_class_leaves, shared_leaf

    if isinstance(hypothesis, SharedVotes):
        features, cuts, leaf_at = hypothesis.features, hypothesis.cuts, hypothesis.leaf_at
        leaf = shared_leaf(samples.codes, features, cuts, leaf_at)
        return GrownTree(features, cuts, leaf_at, leaf, len(hypothesis.values))
    if isinstance(hypothesis, ClassModels):
        made_of: Any = hypothesis.models
        places = hypothesis.places(samples.X)
    elif isinstance(hypothesis, CartVotes):
        made_of, places = hypothesis.carts, hypothesis.places(samples)
    else:
        features, cuts = made_of = hypothesis.features, hypothesis.cuts
        places = np.empty((len(samples.codes), len(features)), dtype=np.uint8)
        find_class_leaves(samples.codes, features, cuts, places)
        if hypothesis.parents is not None:
            mask_by_parents(places, hypothesis.signs, hypothesis.parents)
    return GrownColumns(made_of, hypothesis.signs, places, hypothesis.parents)


def majority(positive: Sums, negative: Sums) -> NDArray[np.int8]:
    """Return +1 if the positive weight is larger, else -1; ties up to rounding give -1."""
    lead = positive - negative > _CLEARLY * (positive + negative)
    return np.where(lead, 1, -1).astype(np.int8)


class WeakLearner(BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of weak learners, which grow a hypothesis from signed weights."""

    votes: str
    by_column = True  # whether the hypothesis of a column does not depend on other columns

    @abstractmethod
    def grow(
        self, rows: TrainingRows, signed: Floats, chosen: IntArray | None, seed: int
    ) -> GrownTree | GrownColumns:
        """Grow a hypothesis.

        Parameters
        ----------
        rows : TrainingRows
        signed : float array of shape (n_samples, n_columns)
            Weight of each row and column, with the sign of its label.
        chosen : int array, optional
            Rows to use; all by default.
        seed : int
        """

    def check(self) -> None:
        """Raise an error for invalid parameters."""
        if self.votes not in ("sign", "confidence"):
            raise PalmetteError(f"votes={self.votes!r}: expected 'sign' or 'confidence'.")


def check_parameters(learner: WeakLearner, checks: list[tuple[str, bool, str]]) -> None:
    """Raise an error for the first invalid parameter.

    Parameters
    ----------
    learner : WeakLearner
    checks : list of (name, is_valid, expected)
    """
    for name, is_valid, expected in checks:
        if not is_valid:
            raise PalmetteError(f"{name}={getattr(learner, name)!r}: expected {expected}.")


class SharedTree(WeakLearner):
    """One tree per round whose leaves vote for all labels.

    A split is chosen by its gain for the gradients of all labels together.

    Parameters
    ----------
    max_depth : int
        Maximum depth of the tree, 1 to 12.
    max_features : int, float, "sqrt" or None
        Features considered at a node: a number, a share, the square root of all, or all.
    thresholds : "random" or "best"
        One threshold per feature, drawn uniformly from the bins at the node, or the best one.
    min_samples_leaf : int
        Minimum number of rows in a leaf.
    votes : "confidence" or "sign"
        Votes of the leaves: half the log-odds of their weights, or the majority.
    criterion : "squared" or "absolute"
        Whether the gain uses squares or absolute values of the sums of gradients on each side.
    sketch : int, "auto" or None
        Number of labels by which splits are chosen, drawn by the size of their gradients; by
        default 128 if there are more than 512. None for all.

    Examples
    --------
    >>> SharedTree(max_depth=3)
    SharedTree(max_depth=3)
    """

    by_column = False

    def __init__(
        self,
        max_depth: int = 6,
        *,
        max_features: int | float | str | None = "sqrt",
        thresholds: str = "random",
        min_samples_leaf: int = 1,
        votes: str = "confidence",
        criterion: str = "squared",
        sketch: int | str | None = "auto",
    ) -> None:
        self.max_depth = max_depth
        self.max_features = max_features
        self.thresholds = thresholds
        self.min_samples_leaf = min_samples_leaf
        self.votes = votes
        self.criterion = criterion
        self.sketch = sketch

    def check(self) -> None:
        """Raise an error for invalid parameters."""
        super().check()
        checks = [
            (
                "max_depth",
                is_count(self.max_depth) and self.max_depth <= 12,
                "an integer from 1 to 12",
            ),
            ("thresholds", self.thresholds in ("random", "best"), "'random' or 'best'"),
            ("min_samples_leaf", is_count(self.min_samples_leaf), "a positive integer"),
            ("criterion", self.criterion in ("squared", "absolute"), "'squared' or 'absolute'"),
            (
                "sketch",
                self.sketch in (None, "auto")
                or (isinstance(self.sketch, int) and self.sketch >= 1),
                "a positive integer, 'auto' or None",
            ),
        ]
        check_parameters(self, checks)
        count_features(self.max_features, 1)

    def grow(
        self, rows: TrainingRows, signed: Floats, chosen: IntArray | None, seed: int
    ) -> GrownTree:
        """Grow a tree; see `WeakLearner`."""
        if self.grows_in_blocks(signed):
            return self._grow_by_blocks(rows, signed, chosen, seed)
        from palmette.boosting._heap_tree import grow_heap_tree, shared_leaf

        order = np.arange(rows.n_samples, dtype=np.int32) if chosen is None else chosen.copy()
        bounds = np.zeros((2 ** (self.max_depth + 1), 2), dtype=np.int64)
        is_random = self.thresholds == "random"
        features, cuts = grow_heap_tree(
            rows.codes if is_random else None,
            None if is_random else rows.by_feature,
            self._sketched(signed, seed),
            rows.weights,
            None,
            np.arange(rows.n_features, dtype=np.int32),
            count_features(self.max_features, rows.n_features),
            is_random,
            self.criterion == "absolute",
            self.min_samples_leaf,
            np.array([seed], dtype=np.uint64),
            order,
            bounds,
        )
        leaves = np.flatnonzero((features < 0) & (bounds[:, 1] > bounds[:, 0]))
        leaf_at = np.full(len(features), -1, dtype=np.int32)
        leaf_at[leaves] = np.arange(len(leaves), dtype=np.int32)
        leaf = shared_leaf(rows.codes, features, cuts, leaf_at)
        return GrownTree(features, cuts, leaf_at, leaf, len(leaves))

    def grows_in_blocks(self, signed: Floats) -> bool:
        """Whether the data are large: they are then summed in float32, block by block."""
        is_large = signed.dtype == np.float32 and signed.size > _SMALL
        return is_large and self.thresholds == "random"

    def _grow_by_blocks(
        self, rows: TrainingRows, signed: Any, chosen: IntArray | None, seed: int
    ) -> GrownTree:
        from palmette.boosting._growing_rows import GrowingRows

        mask = None
        if chosen is not None:
            mask = np.zeros(rows.n_samples, np.bool_)
            mask[chosen] = True
        weights = np.asarray(rows.weights, dtype=np.float32)
        gradients = self._sketched(signed, seed, rows)
        growing = GrowingRows(rows.codes, weights, gradients, mask, rows.threads)
        return self.grow_on(growing, rows.ranges, rows.threads, seed)

    def grow_on(self, rows: Any, ranges: BinArray, threads: Threads, seed: int) -> GrownTree:
        """Grow a tree on rows in blocks; see `BlockGrower`."""
        from palmette.boosting._block_tree import BlockGrower

        grower = BlockGrower(
            ranges,
            self.max_depth,
            count_features(self.max_features, ranges.shape[1]),
            self.criterion == "absolute",
            self.min_samples_leaf,
            threads,
        )
        return GrownTree(*grower.grow(rows, seed))

    def _sketched(self, signed: Any, seed: int, rows: TrainingRows | None = None) -> Any:
        """Return some columns, drawn by the size of their gradients and scaled to represent all.

        With rows, the data are large.
        """
        kept = self.n_sketched(signed.shape[1])
        if kept is None:
            return signed
        if rows is None:
            sizes = np.einsum("ij,ij->j", signed, signed).astype(np.float64)
        else:
            from palmette.boosting._block_sums import column_squares, scaled_columns

            sizes = column_squares(signed, rows.threads)
        columns, scale = draw_columns(sizes, kept, self.criterion, seed)
        if rows is not None:
            some = rows.empty((len(signed), len(columns)), np.float32)
            return scaled_columns(signed, columns, scale, some, rows.threads)
        return np.multiply(signed[:, columns], scale, order="C")

    def n_sketched(self, n_columns: int) -> int | None:
        """Return the number of columns by which splits are chosen; None for all."""
        kept = self.sketch
        if kept == "auto":
            kept = 128 if n_columns > _MANY_COLUMNS else None
        return None if kept is None or int(kept) >= n_columns else int(kept)


def draw_columns(
    sizes: Sums, n_kept: int, criterion: str, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Draw columns by the size of their gradients.

    Parameters
    ----------
    sizes : array of shape (n_columns,)
        Sums of squares of the columns.
    n_kept : int
        Number of draws; the same column may be drawn several times.
    criterion : "squared" or "absolute"
    seed : int

    Returns
    -------
    columns : int32 array of shape (n_distinct,)
        Ascending.
    scale : float32 array of shape (n_distinct,)
        Factors by which the drawn columns represent all.
    """
    if not sizes.any():
        return np.arange(n_kept, dtype=np.int32), np.ones(n_kept, np.float32)
    shares = sizes / sizes.sum()
    rng = np.random.default_rng([seed, 2])
    drawn = rng.choice(len(sizes), size=n_kept, p=shares)
    columns, times = np.unique(drawn, return_counts=True)
    # the expected sum over the drawn columns equals the sum over all
    scale = times / (n_kept * shares[columns])
    if criterion == "squared":
        scale = np.sqrt(scale)
    return columns.astype(np.int32), scale.astype(np.float32)
