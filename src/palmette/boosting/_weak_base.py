"""What weak learners see and what they give back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from palmette._arrays import BinArray
from palmette.base._fitting import Threads
from palmette.boosting._hypotheses import (
    CartVotes,
    ClassModels,
    ClassTrees,
    ColumnParents,
    Samples,
    SharedTree,
    mask_by_parents,
)
from palmette.exceptions import PalmetteError
from palmette.trees._carts import Carts

__all__ = [
    "ColumnMask",
    "GrownColumns",
    "GrownTree",
    "TrainingRows",
    "WeakLearner",
    "check_parameters",
    "count_features",
    "majority",
    "regrow",
]

Floats = NDArray[np.float32] | NDArray[np.float64]
Sums = NDArray[np.float64]

_CLEARLY = 1e-9


@dataclass(frozen=True, eq=False)
class ColumnMask:
    """When children are masked by their parents' hypotheses.

    Parameters
    ----------
    parents : ColumnParents
    levels : list of int arrays
        Columns by depth, parents before children.
    in_search : bool
        Whether a child is searched for on the rows only that its parents let through; else the
        mask is put on what was found without it (eq. 7 to the letter).
    """

    parents: ColumnParents
    levels: list[NDArray[np.int32]]
    in_search: bool


class TrainingRows:
    """The rows that a model learns from, as weak learners need them.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features)
    n_bins : int array of shape (n_features,)
    weights : float32 array of shape (n_samples,)
    X : array or sparse matrix of shape (n_samples, n_features)
    mask : ColumnMask, optional
    threads : Threads
    """

    def __init__(
        self,
        codes: BinArray,
        n_bins: NDArray[np.int64],
        weights: Floats,
        X: Any = None,
        mask: ColumnMask | None = None,
        threads: Threads | None = None,
    ) -> None:
        self.codes = codes
        self.n_bins = n_bins
        self.weights = weights
        self.X = X
        self.mask = mask
        self.threads = threads or Threads(1)

    @cached_property
    def by_feature(self) -> BinArray:
        """Codes with a contiguous row for every feature: (n_features, n_samples)."""
        return np.ascontiguousarray(self.codes.T)

    @cached_property
    def content_hash(self) -> NDArray[np.uint64]:
        """A number for every row that follows from its codes: copies of a row share it."""
        from palmette.trees._carts import hash_rows

        return hash_rows(self.codes)

    @cached_property
    def by_content(self) -> NDArray[np.int32]:
        """All rows in an order that follows from their codes: copies of a row stand together."""
        return np.argsort(self.content_hash, kind="stable").astype(np.int32)

    @cached_property
    def content_rank(self) -> NDArray[np.int64]:
        """Where each row stands in `by_content`."""
        ranks = np.empty(self.n_samples, dtype=np.int64)
        ranks[self.by_content] = np.arange(self.n_samples)
        return ranks

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.weights)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_bins)


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree for all columns whose votes are still to be set.

    Parameters
    ----------
    features, cuts, leaf_at : arrays of shape (n_places,)
    leaf : int32 array of shape (n_samples,)
        Leaf of every training row.
    n_leaves : int
    """

    features: NDArray[np.int32]
    cuts: BinArray
    leaf_at: NDArray[np.int32]
    leaf: NDArray[np.int32]
    n_leaves: int

    def sums(self, signed: Sums) -> tuple[Sums, Sums]:
        """Positive and negative weight in every leaf: two arrays (n_columns, n_leaves)."""
        from palmette.boosting._votes import shared_leaf_sums

        positive = np.zeros((self.n_leaves, signed.shape[1]))
        negative = np.zeros_like(positive)
        shared_leaf_sums(signed, self.leaf, positive, negative)
        return positive.T, negative.T

    def signs(self, positive: Sums, negative: Sums) -> Sums:
        """Votes by majority, (n_columns, n_leaves)."""
        return majority(positive, negative).astype(np.float64)

    def reweigh(self, signed: Sums, values: Sums, mass: Sums) -> None:
        """Multiply weights by exp(-vote * sign), and sum them by column into `mass`."""
        from palmette.boosting._votes import reweigh_shared

        reweigh_shared(signed, self.leaf, np.ascontiguousarray(values.T), mass)

    def votes(self, values: Sums) -> Sums:
        """Votes for the training rows: (n_samples, n_columns)."""
        return values.T[self.leaf]

    def hypothesis(self, values: Sums, weights: Floats, mass: Sums | None = None) -> SharedTree:
        """Make the hypothesis with votes `values`, (n_columns, n_leaves).

        Its cover is the weight of the training rows in each leaf.
        """
        cover = np.bincount(self.leaf, weights, minlength=self.n_leaves).astype(np.float32)
        votes = np.ascontiguousarray(values.T, dtype=np.float32)
        return SharedTree(self.features, self.cuts, self.leaf_at, votes, cover)


@dataclass(frozen=True, eq=False)
class GrownColumns:
    """A hypothesis for every column whose coefficients are still to be set.

    Parameters
    ----------
    made_of : tuple of arrays (features, cuts), each (n_columns, n_places), Carts, or list of models
    signs_at : int8 array of shape (n_columns, n_places)
    places : uint8 array of shape (n_samples, n_columns)
        Place of every training row, 0 where it is masked.
    parents : ColumnParents, optional
        If there is a mask.
    """

    made_of: Any
    signs_at: NDArray[np.int8]
    places: NDArray[np.uint8]
    parents: ColumnParents | None

    def sums(self, signed: Sums) -> tuple[Sums, Sums]:
        """Positive and negative weight at every place: two arrays (n_columns, n_places)."""
        from palmette.boosting._votes import leaf_sums

        positive, negative = np.zeros(self.signs_at.shape), np.zeros(self.signs_at.shape)
        leaf_sums(signed, self.places, positive, negative)
        return positive, negative

    def signs(self, positive: Sums, negative: Sums) -> Sums:
        """The hypotheses, (n_columns, n_places)."""
        return self.signs_at.astype(np.float64)

    def reweigh(self, signed: Sums, values: Sums, mass: Sums) -> None:
        """Multiply weights by exp(-vote * sign), and sum them by column into `mass`."""
        from palmette.boosting._votes import reweigh

        reweigh(signed, self.places, np.ascontiguousarray(values), mass)

    def votes(self, values: Sums) -> Sums:
        """Votes for the training rows: (n_samples, n_columns)."""
        return values[np.arange(len(values)), self.places]

    def hypothesis(
        self, values: Sums, weights: Floats, mass: Sums
    ) -> ClassTrees | ClassModels | CartVotes:
        """Make the hypothesis with votes `values`, (n_columns, n_places).

        Its cover is the share of each place in the column's weight at this round, `mass`.
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
    """Return what a hypothesis was made of, with the places of training rows found again."""
    from palmette.trees._heap_tree import shared_leaf, walk_class_trees

    if isinstance(hypothesis, SharedTree):
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
        walk_class_trees(samples.codes, features, cuts, places)
        if hypothesis.parents is not None:
            mask_by_parents(places, hypothesis.signs, hypothesis.parents)
    return GrownColumns(made_of, hypothesis.signs, places, hypothesis.parents)


def majority(positive: Sums, negative: Sums) -> NDArray[np.int8]:
    """Return +1 where the positive weight is larger, else -1; rounding does not decide a draw."""
    lead = positive - negative > _CLEARLY * (positive + negative)
    return np.where(lead, 1, -1).astype(np.int8)


class WeakLearner(BaseEstimator, ABC):  # type: ignore[misc]
    """Grows a hypothesis from signed weights."""

    votes: str
    by_column = True  # whether every column has a hypothesis that does not look at the others

    @abstractmethod
    def grow(
        self, rows: TrainingRows, signed: Floats, chosen: NDArray[np.int32] | None, seed: int
    ) -> GrownTree | GrownColumns:
        """Grow a hypothesis.

        Parameters
        ----------
        rows : TrainingRows
        signed : float array of shape (n_samples, n_columns)
            Weight of every row for every column, with the sign of its label.
        chosen : int array, optional
            Rows to look at; all by default.
        seed : int
        """

    def check(self) -> None:
        """Refuse parameters that cannot be."""
        if self.votes not in ("sign", "confidence"):
            raise PalmetteError(f"votes={self.votes!r}: expected 'sign' or 'confidence'.")


def check_parameters(learner: WeakLearner, checks: list[tuple[str, bool, str]]) -> None:
    """Raise an error for the first parameter that is not as expected.

    Parameters
    ----------
    learner : WeakLearner
    checks : list of (name, is_fine, expected)
    """
    for name, is_fine, expected in checks:
        if not is_fine:
            raise PalmetteError(f"{name}={getattr(learner, name)!r}: expected {expected}.")


def count_features(wanted: int | float | str | None, n_features: int) -> int:
    """Number of features that a share, a number, "sqrt" or None (all) comes to."""
    if wanted is None:
        return n_features
    if wanted == "sqrt":
        number = int(np.sqrt(n_features))
    elif isinstance(wanted, int | np.integer) and not isinstance(wanted, bool) and wanted > 0:
        number = int(wanted)
    elif isinstance(wanted, float | np.floating) and wanted > 0:
        number = int(wanted * n_features)
    else:
        raise PalmetteError(
            f"max_features={wanted!r}: expected a positive number or share, 'sqrt' or None."
        )
    return min(max(number, 1), n_features)
