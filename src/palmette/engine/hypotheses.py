"""What a round of boosting adds to the scores, as plain arrays: what prediction walks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from palmette.core.dtypes import BinArray
from palmette.engine.carts import Carts

__all__ = [
    "Bundle",
    "CartVotes",
    "ClassModels",
    "ClassTrees",
    "Coloured",
    "ColumnParents",
    "Hypothesis",
    "Samples",
    "SharedTree",
    "add_class_trees",
    "answer_signs",
    "mask_by_parents",
    "pack",
    "unpack",
]


@dataclass(frozen=True, eq=False)
class Samples:
    """Rows as hypotheses see them.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features)
    X : array or sparse matrix of shape (n_samples, n_features), optional
        What the codes were made of; only models of other libraries look at it.
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
        Parents of column ``k`` are ``columns[starts[k]:starts[k + 1]]``; parents come first in the
        order of columns. Children of the root have none and are never masked.
    need_all : bool
        Whether a node needs all of its parents to be positive, or any of them.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    need_all: bool = True


def mask_by_parents(
    places: NDArray[np.uint8], signs: NDArray[np.int8], parents: ColumnParents
) -> None:
    """Put rows at place 0 of every column whose parents do not vote +1 for them (eq. 7).

    Parameters
    ----------
    places : uint8 array of shape (n_samples, n_columns), in and out
    signs : int8 array of shape (n_columns, n_places)
    parents : ColumnParents
    """
    from palmette._kernels.class_trees import mask_places

    mask_places(places, signs, parents.starts, parents.columns, parents.need_all)


class Hypothesis(Protocol):
    """The votes of one round."""

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add the votes for new rows to scores of shape (n_samples, n_columns)."""

    def table(self) -> NDArray[np.float64]:
        """Votes by column and leaf: (n_columns, n_leaves)."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that make the hypothesis, for files."""


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
        Row of `values` for leaves.
    values : float32 array of shape (n_leaves, n_columns)
        What a leaf adds to the scores.
    cover : float32 array of shape (n_leaves,)
        Weight of the training rows in each leaf.
    """

    kind: ClassVar[str] = "shared_tree"
    features: NDArray[np.int32]
    cuts: BinArray
    leaf_at: NDArray[np.int32]
    values: NDArray[np.float32]
    cover: NDArray[np.float32]

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        from palmette._kernels.shared_tree import add_tree_scores

        add_tree_scores(samples.codes, self.features, self.cuts, self.leaf_at, self.values, scores)

    def table(self) -> NDArray[np.float64]:
        """Votes by column and leaf; see `Hypothesis`."""
        return self.values.T.astype(np.float64)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for files; see `Hypothesis`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, eq=False)
class ClassTrees:
    """A tree for every column; stumps are trees of depth one.

    Parameters
    ----------
    features : int32 array of shape (n_columns, n_places)
        Feature that splits each place of each heap; -1 at leaves.
    cuts : uint8 array of shape (n_columns, n_places)
    signs : int8 array of shape (n_columns, n_places)
        The hypotheses themselves, before coefficients; -1 at place 0, where masked rows stand.
    values : float64 array of shape (n_columns, n_places)
        Signs times coefficients, or votes by confidence.
    cover : float32 array of shape (n_columns, n_places)
        Weight of the training rows at each leaf.
    parents : ColumnParents, optional
        Where given, a column votes only for rows to which its parents vote +1 (eq. 7).
    """

    kind: ClassVar[str] = "class_trees"
    features: NDArray[np.int32]
    cuts: BinArray
    signs: NDArray[np.int8]
    values: NDArray[np.float64]
    cover: NDArray[np.float32]
    parents: ColumnParents | None = None

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        add_class_trees([self], samples, scores)

    def table(self) -> NDArray[np.float64]:
        """Votes by column and leaf; see `Hypothesis`."""
        return self.values

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for files; see `Hypothesis`."""
        names = [field.name for field in fields(self) if field.name != "parents"]
        return {name: getattr(self, name) for name in names}


def add_class_trees(rounds: list[ClassTrees], samples: Samples, scores: NDArray[Any]) -> None:
    """Add the votes of many rounds at once, which is faster than one after the other."""
    from palmette._kernels import class_trees as kernels

    parents = rounds[0].parents
    features, cuts, values = (
        np.stack([getattr(each, name) for each in rounds])
        for name in ("features", "cuts", "values")
    )
    if parents is None:
        kernels.add_class_tree_scores(samples.codes, features, cuts, values, scores)
        return
    signs = np.stack([each.signs for each in rounds])
    kernels.add_masked_class_tree_scores(
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
    """A fitted scikit-learn classifier for every column.

    Parameters
    ----------
    models : list of estimators, one a column
        Each predicts -1 or +1; None where a column had one sign only, which it then votes for.
    signs : int8 array of shape (n_columns, 3)
        Votes by place: 0 for masked rows, 1 and 2 for the answers -1 and +1.
    values : float64 array of shape (n_columns, 3)
    parents : ColumnParents, optional
    """

    kind: ClassVar[str] = "class_models"
    models: list[Any]
    signs: NDArray[np.int8]
    values: NDArray[np.float64]
    parents: ColumnParents | None = None

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        places = self.places(samples.X)
        scores += self.values[np.arange(len(self.models)), places]

    def places(self, X: Any) -> NDArray[np.uint8]:
        """Place of every row in every column, (n_samples, n_columns), the mask applied."""
        places = np.empty((X.shape[0], len(self.models)), dtype=np.uint8)
        for k, model in enumerate(self.models):
            places[:, k] = 1 + (model.predict(X) > 0)
        if self.parents is not None:
            mask_by_parents(places, self.signs, self.parents)
        return places

    def table(self) -> NDArray[np.float64]:
        """Votes by column and leaf; see `Hypothesis`."""
        return self.values

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Models of other libraries are no arrays."""
        from palmette.exceptions import PalmetteError

        raise PalmetteError(
            f"a checkpoint holds arrays only, but the weak learner is {self.models[0]!r}. Use a "
            "weak learner of palmette.weak, or fit without Checkpoint."
        )


@dataclass(frozen=True, eq=False)
class Coloured:
    """A binary hypothesis about a colouring of the columns.

    Parameters
    ----------
    binary : hypothesis with one column
    code : int8 array of shape (n_columns,)
        Colour, -1 or +1, of every column.
    """

    kind: ClassVar[str] = "coloured"
    binary: Any
    code: NDArray[np.int8]

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        vote = np.zeros((len(samples.codes), 1), dtype=np.float64)
        self.binary.add_scores(samples, vote)
        scores += vote * self.code

    def table(self) -> NDArray[np.float64]:
        """Votes by column and leaf; see `Hypothesis`."""
        return self.binary.table()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for files; see `Hypothesis`."""
        return {"code": self.code, **self.binary.arrays()}


@dataclass(frozen=True, eq=False)
class Bundle:
    """Hypotheses of one round, each about a block of columns.

    Parameters
    ----------
    parts : tuple of hypotheses
    bounds : int array of shape (n_parts + 1,)
        Where the blocks begin and end.
    """

    kind: ClassVar[str] = "bundle"
    parts: tuple[Any, ...]
    bounds: NDArray[np.int64]

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        for part, start, stop in zip(self.parts, self.bounds[:-1], self.bounds[1:], strict=True):
            part.add_scores(samples, scores[:, start:stop])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for files; see `Hypothesis`."""
        return {
            f"{i}/{name}": array
            for i, part in enumerate(self.parts)
            for name, array in part.arrays().items()
        }


@dataclass(frozen=True, eq=False)
class CartVotes:
    """A full tree for every column.

    Parameters
    ----------
    carts : Carts
        One a column.
    values : float64 array of shape (n_columns, 3)
        Votes by place: 0 for masked rows, 1 and 2 for the answers -1 and +1.
    parents : ColumnParents, optional
    """

    kind: ClassVar[str] = "carts"
    carts: Carts
    values: NDArray[np.float64]
    parents: ColumnParents | None = None

    @property
    def signs(self) -> NDArray[np.int8]:
        """Votes by place before coefficients: (n_columns, 3)."""
        return answer_signs(len(self.values))

    def add_scores(self, samples: Samples, scores: NDArray[Any]) -> None:
        """Add votes; see `Hypothesis`."""
        scores += self.values[np.arange(len(self.values)), self.places(samples)]

    def places(self, samples: Samples) -> NDArray[np.uint8]:
        """Place of every row in every column, (n_samples, n_columns), the mask applied."""
        places = self.carts.places(samples.codes)
        if self.parents is not None:
            mask_by_parents(places, self.signs, self.parents)
        return places

    def table(self) -> NDArray[np.float64]:
        """Votes by column and leaf; see `Hypothesis`."""
        return self.values

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for files; see `Hypothesis`."""
        return {**vars(self.carts), "values": self.values}


def answer_signs(n_columns: int) -> NDArray[np.int8]:
    """Votes of columns that have two answers, by place: masked rows, -1 and +1."""
    return np.tile(np.array([-1, -1, 1], dtype=np.int8), (n_columns, 1))


def pack(hypotheses: list[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of many rounds, stacked or concatenated, under few names.

    Rounds of one fit are of one kind, so that a handful of arrays holds them all.
    """
    parts = [hypothesis.arrays() for hypothesis in hypotheses]
    if not parts:
        return {}
    return {
        f"{name}.{what}": array
        for name in parts[0]
        for what, array in (
            ("values", np.concatenate([part[name] for part in parts])),
            ("lengths", np.array([len(part[name]) for part in parts], dtype=np.int64)),
        )
    }


def unpack(arrays: dict[str, NDArray[Any]], parents: ColumnParents | None) -> list[Any]:
    """Make the rounds of arrays that `pack` returned."""
    names = sorted({name.rpartition(".")[0] for name in arrays})
    if not names:
        return []
    pieces = {
        name: np.split(arrays[f"{name}.values"], np.cumsum(arrays[f"{name}.lengths"])[:-1])
        for name in names
    }
    rounds = [dict(zip(pieces, parts, strict=True)) for parts in zip(*pieces.values(), strict=True)]
    return [_rebuild(parts, parents) for parts in rounds]


def _rebuild(parts: dict[str, NDArray[Any]], parents: ColumnParents | None) -> Any:
    if any("/" in name for name in parts):
        return _rebuild_bundle(parts, parents)
    code = parts.pop("code", None)
    if "leaf_at" in parts:
        hypothesis: Any = SharedTree(**parts)
    elif "says" in parts:
        values = parts.pop("values")
        hypothesis = CartVotes(Carts(**parts), values, parents)
    else:
        hypothesis = ClassTrees(**parts, parents=parents)
    return hypothesis if code is None else Coloured(hypothesis, code)


def _rebuild_bundle(parts: dict[str, NDArray[Any]], parents: ColumnParents | None) -> Bundle:
    members: dict[int, dict[str, NDArray[Any]]] = {}
    for name, array in parts.items():
        number, _, own = name.partition("/")
        members.setdefault(int(number), {})[own] = array
    trees = [_rebuild(members[number], parents) for number in sorted(members)]
    return Bundle(tuple(trees), np.cumsum([0, *(tree.values.shape[1] for tree in trees)]))
