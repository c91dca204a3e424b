"""Hypotheses: the votes that the rounds of boosting add to the scores, stored as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import BinArray, FloatArray, IntArray
from palmette.base._foreign import predicted_by
from palmette.persistence.checks import check_starts, numbers, require, same_shapes, within
from palmette.trees._carts import Carts


@dataclass(frozen=True, eq=False)
class Samples:
    """The rows that hypotheses vote for.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features)
    X : array or sparse matrix of shape (n_samples, n_features), optional
        The features before binning; only estimators of other libraries use them.
    """

    codes: BinArray
    X: Any = None


@dataclass(frozen=True, eq=False)
class ColumnParents:
    """Parents of every column, for the mask of eq. 7.

    Parameters
    ----------
    starts : int64 array of shape (n_columns + 1,)
    columns : int32 array of shape (n_edges,)
        Parents of column ``k`` are ``columns[starts[k]:starts[k + 1]]``; parents precede their
        children. Children of the root have no parents and are never masked.
    need_all : bool
        Whether all parents of a node have to be positive, or any of them.
    """

    starts: NDArray[np.int64]
    columns: IntArray
    need_all: bool = True

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        columns = numbers(self.columns, np.int32, 1, "parents of columns")
        numbers(self.starts, np.int64, 1, "starts of parents")
        sizes = check_starts(self.starts, None, len(columns), "starts of parents")
        child = np.repeat(np.arange(len(sizes)), sizes)
        require(within(columns, len(sizes)), "a column has a parent that does not exist")
        require(columns < child, "a column comes before its parent")
        require(isinstance(self.need_all, bool), "need_all is neither true nor false")


def mask_by_parents(
    places: NDArray[np.uint8], signs: NDArray[np.int8], parents: ColumnParents
) -> None:
    """Set the place of rows to 0 in columns whose parents do not vote +1 for them (eq. 7).

    Parameters
    ----------
    places : uint8 array of shape (n_samples, n_columns), in and out
    signs : int8 array of shape (n_columns, n_places)
    parents : ColumnParents
    """
    from palmette.boosting._heap_tree import mask_places

    mask_places(places, signs, parents.starts, parents.columns, parents.need_all)


class Hypothesis(Protocol):
    """The votes of one round."""

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add the votes for rows to scores of shape (n_samples, n_columns)."""

    def table(self) -> FloatArray:
        """Return the votes by column and leaf: (n_columns, n_leaves)."""

    def extent(self) -> tuple[int, int]:
        """Return the number of columns, and the largest feature used, -1 for none."""


@dataclass(frozen=True, eq=False)
class SharedTree:
    """One tree for all columns.

    Parameters
    ----------
    features : int32 array of shape (n_places,)
        Feature that splits each place of the heap; -1 at leaves.
    cuts : uint8 array of shape (n_places,)
        Codes up to the cut go left.
    leaf_at : int32 array of shape (n_places,)
        Row of `values` for every leaf.
    values : float32 array of shape (n_leaves, n_columns)
        Votes that a leaf adds to the scores.
    cover : float32 array of shape (n_leaves,)
        Weight of the training rows in each leaf.
    """

    kind: ClassVar[str] = "shared_tree"
    features: IntArray
    cuts: BinArray
    leaf_at: IntArray
    values: NDArray[np.float32]
    cover: NDArray[np.float32]

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        from palmette.boosting._heap_tree import add_tree_scores

        add_tree_scores(samples.codes, self.features, self.cuts, self.leaf_at, self.values, scores)

    def table(self) -> FloatArray:
        """Return the votes by column and leaf; see `Hypothesis`."""
        return self.values.T.astype(np.float64)

    def extent(self) -> tuple[int, int]:
        """Return the number of columns and the largest feature; see `Hypothesis`."""
        return self.values.shape[1], int(self.features.max(initial=-1))

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        features = numbers(self.features, np.int32, 1, "features")
        leaf_at = numbers(self.leaf_at, np.int32, 1, "leaf_at")
        same_shapes(features, numbers(self.cuts, np.uint8, 1, "cuts"), leaf_at)
        n_leaves = len(numbers(self.values, np.float32, 2, "values"))
        cover = numbers(self.cover, np.float32, 1, "cover")
        require(len(cover) == n_leaves, "leaves and their weights do not fit together")
        is_inner = _check_heaps(features[None])[0]
        places = np.arange(len(features))
        is_leaf = ~is_inner & ((places == 1) | is_inner[places // 2])
        is_leaf[0] = False  # a heap begins at place 1
        require(leaf_at < n_leaves, "a tree ends at a leaf that does not exist")
        require(leaf_at[is_leaf] >= 0, "a tree ends at a leaf that does not exist")


@dataclass(frozen=True, eq=False)
class ClassTrees:
    """One tree per column; stumps are trees of depth one.

    Parameters
    ----------
    features : int32 array of shape (n_columns, n_places)
        Feature that splits each place of each heap; -1 at leaves.
    cuts : uint8 array of shape (n_columns, n_places)
    signs : int8 array of shape (n_columns, n_places)
        Votes before coefficients; -1 at place 0, the place of masked rows.
    values : float64 array of shape (n_columns, n_places)
        Signs times coefficients, or confidence-rated votes.
    cover : float32 array of shape (n_columns, n_places)
        Weight of the training rows at each leaf.
    parents : ColumnParents, optional
        If given, a column votes only for rows that its parents vote +1 for (eq. 7).
    """

    kind: ClassVar[str] = "class_trees"
    features: IntArray
    cuts: BinArray
    signs: NDArray[np.int8]
    values: FloatArray
    cover: NDArray[np.float32]
    parents: ColumnParents | None = None

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        add_class_trees([self], samples, scores)

    def table(self) -> FloatArray:
        """Return the votes by column and leaf; see `Hypothesis`."""
        return self.values

    def extent(self) -> tuple[int, int]:
        """Return the number of columns and the largest feature; see `Hypothesis`."""
        return len(self.features), int(self.features.max(initial=-1))

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        features = numbers(self.features, np.int32, 2, "features")
        same_shapes(
            features,
            numbers(self.cuts, np.uint8, 2, "cuts"),
            numbers(self.signs, np.int8, 2, "signs"),
            numbers(self.values, np.float64, 2, "values"),
            numbers(self.cover, np.float32, 2, "cover"),
        )
        _check_heaps(features)
        require(features.shape[1] <= 256, "a tree has more than 256 places")
        _check_parents(self.parents, len(features))


def add_class_trees(rounds: list[ClassTrees], samples: Samples, scores: NDArray[Any]) -> None:
    """Add the votes of many rounds at once, which is faster than one by one."""
    from palmette.boosting._heap_tree import add_class_tree_scores, add_masked_class_tree_scores

    parents = rounds[0].parents
    features, cuts, values = (
        np.stack([getattr(each, name) for each in rounds])
        for name in ("features", "cuts", "values")
    )
    if parents is None:
        add_class_tree_scores(samples.codes, features, cuts, values, scores)
        return
    signs = np.stack([each.signs for each in rounds])
    add_masked_class_tree_scores(
        samples.codes,
        features,
        cuts,
        values,
        signs,
        parents.starts,
        parents.columns,
        parents.need_all,
        scores,
    )


@dataclass(frozen=True, eq=False)
class ClassModels:
    """One fitted scikit-learn classifier per column.

    Parameters
    ----------
    models : list of estimators, one per column
        Each predicts -1 or +1.
    signs : int8 array of shape (n_columns, 3)
        Votes by place: 0 for masked rows, 1 and 2 for the predictions -1 and +1.
    values : float64 array of shape (n_columns, 3)
    parents : ColumnParents, optional
    """

    kind: ClassVar[str] = "class_models"
    models: list[Any]
    signs: NDArray[np.int8]
    values: FloatArray
    parents: ColumnParents | None = None

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        places = self.places(samples.X)
        scores += self.values[np.arange(len(self.models)), places]

    def places(self, X: Any) -> NDArray[np.uint8]:
        """Return the place of every row in every column, (n_samples, n_columns), masked."""
        places = np.empty((X.shape[0], len(self.models)), dtype=np.uint8)
        for k, model in enumerate(self.models):
            places[:, k] = 1 + (predicted_by(model, X) > 0)
        if self.parents is not None:
            mask_by_parents(places, self.signs, self.parents)
        return places

    def table(self) -> FloatArray:
        """Return the votes by column and leaf; see `Hypothesis`."""
        return self.values

    def extent(self) -> tuple[int, int]:
        """Return the number of columns and the largest feature; see `Hypothesis`."""
        return len(self.models), -1

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.models, list), "the models of a round are not a list")
        shape = numbers(self.values, np.float64, 2, "values").shape
        require(shape == (len(self.models), 3), "models and votes do not fit together")
        same_shapes(self.values, numbers(self.signs, np.int8, 2, "signs"))
        _check_parents(self.parents, len(self.models))


@dataclass(frozen=True, eq=False)
class Coloured:
    """A binary hypothesis for a colouring of the columns.

    Parameters
    ----------
    binary : hypothesis with one column
    code : int8 array of shape (n_columns,)
        Colour of every column, -1 or +1.
    """

    kind: ClassVar[str] = "coloured"
    binary: Any
    code: NDArray[np.int8]

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        vote = np.zeros((len(samples.codes), 1), dtype=np.float64)
        self.binary.add_scores(samples, vote)
        scores += vote * self.code

    def table(self) -> FloatArray:
        """Return the votes by column and leaf; see `Hypothesis`."""
        return np.asarray(self.binary.table())

    def extent(self) -> tuple[int, int]:
        """Return the number of columns and the largest feature; see `Hypothesis`."""
        return len(self.code), extent_of(self.binary)[1]

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        numbers(self.code, np.int8, 1, "code")
        require(not _has_parts(self.binary), "a coloured round has rounds in rounds")
        require(extent_of(self.binary)[0] == 1, "a coloured round has more than one column")


@dataclass(frozen=True, eq=False)
class Bundle:
    """Hypotheses of one round, each for a block of columns.

    Parameters
    ----------
    parts : tuple of hypotheses
    bounds : int array of shape (n_parts + 1,)
        Boundaries of the blocks.
    """

    kind: ClassVar[str] = "bundle"
    parts: tuple[Any, ...]
    bounds: NDArray[np.int64]

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        for part, start, stop in zip(self.parts, self.bounds[:-1], self.bounds[1:], strict=True):
            part.add_scores(samples, scores[:, start:stop])

    def extent(self) -> tuple[int, int]:
        """Return the number of columns and the largest feature; see `Hypothesis`."""
        return int(self.bounds[-1]), max(extent_of(part)[1] for part in self.parts)

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.parts, tuple) and len(self.parts) > 0, "a round has no parts")
        require(not any(map(_has_parts, self.parts)), "a part of a round has parts")
        ends = np.cumsum([0, *(extent_of(part)[0] for part in self.parts)])
        bounds = numbers(self.bounds, np.int64, 1, "bounds")
        require(np.array_equal(bounds, ends), "the parts of a round do not fit their bounds")


@dataclass(frozen=True, eq=False)
class CartVotes:
    """One full tree per column.

    Parameters
    ----------
    carts : Carts
        One tree per column.
    values : float64 array of shape (n_columns, 3)
        Votes by place: 0 for masked rows, 1 and 2 for the predictions -1 and +1.
    parents : ColumnParents, optional
    """

    kind: ClassVar[str] = "carts"
    carts: Carts
    values: FloatArray
    parents: ColumnParents | None = None

    @property
    def signs(self) -> NDArray[np.int8]:
        """Votes by place before coefficients: (n_columns, 3)."""
        return answer_signs(len(self.values))

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        scores += self.values[np.arange(len(self.values)), self.places(samples)]

    def places(self, samples: Samples) -> NDArray[np.uint8]:
        """Return the place of every row in every column, (n_samples, n_columns), masked."""
        places = self.carts.places(samples.codes)
        if self.parents is not None:
            mask_by_parents(places, self.signs, self.parents)
        return places

    def table(self) -> FloatArray:
        """Return the votes by column and leaf; see `Hypothesis`."""
        return self.values

    def extent(self) -> tuple[int, int]:
        """Return the number of columns and the largest feature; see `Hypothesis`."""
        return len(self.values), int(self.carts.features.max(initial=-1))

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        require(isinstance(self.carts, Carts), "the trees of a round are not Carts")
        shape = numbers(self.values, np.float64, 2, "values").shape
        require(shape == (len(self.carts.starts) - 1, 3), "trees and votes do not fit together")
        _check_parents(self.parents, len(self.values))


def answer_signs(n_columns: int) -> NDArray[np.int8]:
    """Return the votes by place of binary predictions: masked rows, -1 and +1."""
    return np.tile(np.array([-1, -1, 1], dtype=np.int8), (n_columns, 1))


# ---------------------------------------------------------------------- files


def _has_parts(hypothesis: Any) -> bool:
    return isinstance(hypothesis, Bundle | Coloured)


def extent_of(hypothesis: Any) -> tuple[int, int]:
    """Return the number of columns that a round votes for and the largest feature it uses.

    Parameters
    ----------
    hypothesis : object
        Read from a file: it may have any type.

    Raises
    ------
    ValueError
        If it is not a hypothesis.
    """
    kinds = (SharedTree, ClassTrees, ClassModels, Coloured, Bundle, CartVotes)
    require(type(hypothesis) in kinds, f"a round has the type {type(hypothesis).__name__}")
    found: tuple[int, int] = hypothesis.extent()
    return found


def _check_heaps(features: IntArray) -> NDArray[np.bool_]:
    """Require that inner places of heaps have both children; return which places are inner."""
    require(features.shape[1] > 1, "a tree has no places")
    is_inner = features >= 0
    is_inner[:, 0] = False  # place 0 is not part of a heap
    inner = np.flatnonzero(is_inner.any(axis=0))
    require(2 * inner + 1 < features.shape[1], "a tree leads to a place that does not exist")
    return is_inner


def _check_parents(parents: Any, n_columns: int) -> None:
    if parents is not None:
        require(isinstance(parents, ColumnParents), "the parents are not a ColumnParents")
        require(len(parents.starts) == n_columns + 1, "the parents belong to other columns")
