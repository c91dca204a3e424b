"""Rows of a fit that one worker of a cluster has: codes, and scores and gradients of every model.

A worker has whole blocks of rows. Its methods return the sums of each block, which are added here
or there in the same order: the model does not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from palmette.base._fitting import Threads
from palmette.boosting._block_sums import leaf_parts, scaled_columns, square_parts
from palmette.boosting._growing_rows import GrowingRows, ranges_of_codes
from palmette.boosting._hypotheses import Samples
from palmette.boosting._objectives import gradients_of_blocks

Codes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float32]
Indices: TypeAlias = NDArray[np.int32]
Sums: TypeAlias = NDArray[np.float64]


@dataclass(eq=False)
class _Model:
    """One model of a fit: its loss, scores and gradients, and the tree that grows."""

    loss: Any
    scores: Floats
    gradients: Floats
    growing: GrowingRows | None = None
    leaf: Indices | None = None  # of the last tree, whose votes are still to add


class WorkerRows:
    """The rows of one worker.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features), or a list of arrays of its rows
    weights : float32 array of shape (n_samples,)
    losses : sequence of Loss
        One per model, of these rows.
    starts : sequence of float32 arrays of shape (n_columns,)
        Initial scores of every model.
    n_threads : int
        Threads that divide the blocks among them.
    """

    def __init__(
        self,
        codes: Any,
        weights: Floats,
        losses: Sequence[Any],
        starts: Sequence[Floats],
        n_threads: int = 1,
    ) -> None:
        self._codes = _own(codes if isinstance(codes, np.ndarray) else np.concatenate(codes))
        self._weights = _own(weights)
        self._threads = Threads(1)
        self._threads.n_threads = n_threads  # joblib would allow one inside of a worker
        self._models = []
        for loss, start in zip(losses, starts, strict=True):
            shape = len(weights), len(start)
            scores, gradients = np.empty(shape, np.float32), np.empty(shape, np.float32)
            scores[:] = start
            self._models.append(_Model(_own_loss(loss), scores, gradients))

    def all_ranges(self) -> Codes:
        """Return the ranges of the codes of all features; see `ranges_of_codes`."""
        return ranges_of_codes(self._codes, self._threads)

    def gradients(self, number: int, values: Floats | None, n_rows: int) -> list[float]:
        """Add the votes of the last tree of a model, compute gradients, return losses of blocks.

        Parameters
        ----------
        number : int
            Of the model.
        values : float32 array of shape (n_leaves, n_columns) or None
            Votes of the leaves; None if there are none to add.
        n_rows : int
            Rows of a block.
        """
        model = self._models[number]
        last = None
        if values is not None:
            assert model.leaf is not None  # the tree was grown here
            last = model.leaf, _own(values)
        model.leaf, model.growing = None, None
        return gradients_of_blocks(
            model.loss, model.scores, model.gradients, last, n_rows, self._threads
        )

    def squares(self, number: int, n_rows: int) -> Sums:
        """Return the sums of squares of the columns over blocks; see `square_parts`."""
        return square_parts(self._models[number].gradients, n_rows, self._threads)

    def begin(self, number: int, chosen: Codes | None, columns: Any, scale: Any) -> None:
        """Begin a tree that grows on some rows, or by some columns.

        Parameters
        ----------
        number : int
        chosen : uint8 array or None
            One bit per row, as from `np.packbits`: whether the tree grows on it. None for all.
        columns, scale : int32 and float32 arrays of shape (n_some,), or None
            Columns by which splits are chosen, and their factors; None for all.
        """
        model = self._models[number]
        mask = None if chosen is None else np.unpackbits(chosen, count=len(self._codes)) > 0
        some = model.gradients
        if columns is not None:
            some = np.empty((len(self._codes), len(columns)), np.float32)
            scaled_columns(model.gradients, _own(columns), _own(scale), some, self._threads)
        model.growing = GrowingRows(self._codes, self._weights, some, mask, self._threads)

    def _growing(self, number: int) -> GrowingRows:
        if self._models[number].growing is None:
            self.begin(number, None, None, None)
        growing = self._models[number].growing
        assert growing is not None
        return growing

    def move(self, number: int, *given: Any) -> Codes:
        """Move rows down; see `GrowingRows.move`."""
        return self._growing(number).move(*map(_own, given))

    def ranges(self, number: int, *given: Any) -> Codes:
        """Find ranges of all features; see `GrowingRows.ranges`."""
        return self._growing(number).ranges(*map(_own, given))

    def sums(self, number: int, *given: Any) -> tuple[Floats, Sums]:
        """Sum gradients over blocks; see `GrowingRows.sums`."""
        return self._growing(number).sums(*map(_own, given))

    def leaf_sums(
        self,
        number: int,
        features: Indices,
        cuts: Codes,
        leaf_at: Indices,
        n_leaves: int,
        n_rows: int,
    ) -> tuple[Floats, Sums]:
        """Move rows to the leaves of a tree, and return sums over blocks; see `leaf_parts`."""
        model = self._models[number]
        model.leaf = self._growing(number).leaves(*map(_own, (features, cuts, leaf_at)))
        model.growing = None
        return leaf_parts(
            model.gradients, self._weights, model.leaf, n_leaves, n_rows, self._threads
        )

    def replay(self, number: int, tree: Any) -> None:
        """Add the votes of a tree of an earlier round."""
        tree.add_scores(Samples(self._codes, None), self._models[number].scores)


def _own(given: Any) -> Any:
    """Return an array that may be written, since kernels would be compiled again for others.

    Arrays that come in a message may be read-only. Anything else is returned unchanged.
    """
    return (
        np.require(given, requirements=["C", "W", "A"]) if isinstance(given, np.ndarray) else given
    )


def _own_loss(loss: Any) -> Any:
    made = copy(loss)
    made.__dict__.update({name: _own(value) for name, value in vars(loss).items()})
    return made
