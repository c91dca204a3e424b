"""Full classification trees for two classes, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.dtypes import BinArray
from palmette.persistence.checks import check_starts, numbers, require, same_shapes

__all__ = ["Carts"]


@dataclass(frozen=True, eq=False)
class Carts:
    """Full trees for two classes, one after the other, as `_kernels.carts` grows them.

    Parameters
    ----------
    starts : int64 array of shape (n_trees + 1,)
        Where each tree begins.
    features, cuts, left, says : int32, uint8, int32 and int8 arrays of shape (n_places,)
        What splits a place, where its left child is within the tree, and what its rows are: -1 or
        +1. A leaf leads to itself.
    """

    starts: NDArray[np.int64]
    features: NDArray[np.int32]
    cuts: BinArray
    left: NDArray[np.int32]
    says: NDArray[np.int8]

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        left = numbers(self.left, np.int32, 1, "left")
        same_shapes(
            left,
            numbers(self.features, np.int32, 1, "features"),
            numbers(self.cuts, np.uint8, 1, "cuts"),
            numbers(self.says, np.int8, 1, "says"),
        )
        numbers(self.starts, np.int64, 1, "starts")
        sizes = check_starts(self.starts, None, len(left))
        require(sizes > 0, "a tree has no places")
        places = np.arange(len(left)) - np.repeat(self.starts[:-1], sizes)
        # a leaf leads to itself, whatever the code of a row: no code is above the largest cut
        is_leaf = (left == places) & (self.cuts == 255)
        leads_on = (left > places) & (left + np.int64(1) < np.repeat(sizes, sizes))
        require(is_leaf | leads_on, "a tree leads to a place that does not exist")
        require(self.features >= 0, "a tree uses a feature that does not exist")

    @classmethod
    def of(cls, trees: Iterable[tuple[NDArray[Any], ...]]) -> Carts:
        """Put trees one after the other, each (features, cuts, left, says)."""
        parts = list(zip(*trees, strict=True))
        starts = np.zeros(len(parts[0]) + 1, dtype=np.int64)
        np.cumsum([len(features) for features in parts[0]], out=starts[1:])
        return cls(starts, *(np.concatenate(part) for part in parts))

    def split_features(self, tree: int) -> NDArray[np.int32]:
        """Feature of every split of a tree."""
        own = slice(*self.starts[tree : tree + 2].tolist())
        splits = self.left[own] != np.arange(own.stop - own.start)
        return np.asarray(self.features[own][splits])

    def places(self, codes: BinArray) -> NDArray[np.uint8]:
        """What every tree says to rows, (n_samples, n_trees): 1 for -1, and 2 for +1."""
        from palmette._kernels.carts import ask_carts

        asked = np.arange(len(codes), dtype=np.int32)
        places = np.empty((len(asked), len(self.starts) - 1), dtype=np.uint8)
        parts = (self.starts, self.features, self.cuts, self.left, self.says)
        ask_carts(codes, asked, *parts, places)
        return places
