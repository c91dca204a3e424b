"""The boosting loop: a loss gives gradients, a tree for all labels follows them, scores move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from palmette.core.dtypes import BinArray

__all__ = ["BoostLoss", "SharedTree", "SharedTreeLearner", "boost", "tree_scores"]

Floats = NDArray[np.float32]


class BoostLoss(Protocol):
    """What a loss gives to the loop."""

    def start(self) -> Floats:
        """Return the scores that all rows begin with, of shape (n_labels,)."""

    def gradients(self, scores: Floats, out: Floats) -> float:
        """Write weighted gradients of shape (n_samples, n_labels), and return the loss."""


@dataclass(frozen=True)
class SharedTree:
    """One tree for all labels.

    Parameters
    ----------
    features : int32 array of shape (n_places,)
        Feature that splits each place of the heap; -1 at leaves.
    cuts : uint8 array of shape (n_places,)
        Codes up to the cut go left.
    leaf_at : int32 array of shape (n_places,)
        Row of `values` for leaves.
    values : float32 array of shape (n_leaves, n_labels)
        What a leaf adds to the scores.
    """

    features: NDArray[np.int32]
    cuts: BinArray
    leaf_at: NDArray[np.int32]
    values: Floats


@dataclass(frozen=True)
class SharedTreeLearner:
    """Grows a tree for all labels, its thresholds drawn at random.

    Parameters
    ----------
    max_depth, n_draws, min_leaf : int
        Depth; features drawn at a node; least rows of a leaf.
    shrinkage : float
        Step along a leaf's Newton direction.
    max_step : float
        Largest step of a leaf before shrinkage.
    """

    max_depth: int
    n_draws: int
    min_leaf: int
    shrinkage: float
    max_step: float = 4.0

    def grow(
        self, codes: BinArray, gradients: Floats, weights: Floats, seed: int, scores: Floats
    ) -> SharedTree:
        """Grow a tree and move the scores of the training rows by it.

        Parameters
        ----------
        codes : uint8 array of shape (n_samples, n_features)
        gradients : float32 array of shape (n_samples, n_labels)
        weights : float32 array of shape (n_samples,)
        seed : int
        scores : float32 array of shape (n_samples, n_labels), in and out
        """
        from palmette._kernels.shared_tree import add_leaf_values, grow_random_tree, sum_leaf

        n_samples, n_labels = gradients.shape
        rows = np.arange(n_samples, dtype=np.int32)
        bounds = np.zeros((2 ** (self.max_depth + 1), 2), dtype=np.int64)
        features, cuts = grow_random_tree(
            codes,
            gradients,
            weights,
            self.n_draws,
            self.min_leaf,
            np.array([seed], np.uint64),
            rows,
            bounds,
        )
        leaves = np.flatnonzero((features < 0) & (bounds[:, 1] > bounds[:, 0]))
        leaf_at = np.full(len(features), -1, dtype=np.int32)
        leaf_at[leaves] = np.arange(len(leaves), dtype=np.int32)
        values = np.empty((len(leaves), n_labels), dtype=np.float32)
        sums, curvature = np.empty(n_labels), np.empty(n_labels)
        for value, (start, stop) in zip(values, bounds[leaves], strict=True):
            sum_leaf(gradients, weights, rows[start:stop], sums, curvature)
            # one is added to the curvature, as of a prior row, so that pure leaves stay bounded
            step = np.clip(sums / (curvature + 1.0), -self.max_step, self.max_step)
            value[:] = self.shrinkage * step
            add_leaf_values(rows[start:stop], value, scores)
        return SharedTree(features, cuts, leaf_at, values)


def boost(
    codes: BinArray,
    loss: BoostLoss,
    learner: SharedTreeLearner,
    weights: Floats,
    seed: int,
    trees: list[SharedTree] | None = None,
) -> Iterator[tuple[SharedTree, float]]:
    """Yield one tree a round, with the training loss before it, for as long as it is asked.

    Round ``t`` uses a seed made of (seed, t) alone: going on from given trees leads to the same
    model as never having stopped.

    Parameters
    ----------
    codes : uint8 array of shape (n_samples, n_features)
    loss : BoostLoss
    learner : SharedTreeLearner
    weights : float32 array of shape (n_samples,)
    seed : int
    trees : list of SharedTree, optional
        Rounds done before.

    Yields
    ------
    tree : SharedTree
    loss : float
    """
    done = list(trees or [])
    start = loss.start()
    scores = np.tile(start, (len(codes), 1))
    for tree in done:
        _add(codes, tree, scores)
    gradients = np.empty_like(scores)
    turn = len(done)
    while True:
        value = loss.gradients(scores, gradients)
        round_seed = int(np.random.SeedSequence([seed, turn]).generate_state(1, np.uint64)[0])
        yield learner.grow(codes, gradients, weights, round_seed, scores), value
        turn += 1


def tree_scores(codes: BinArray, trees: list[SharedTree], start: Floats) -> Any:
    """Sum of the trees' scores of new rows: float64 array of shape (n_samples, n_labels)."""
    scores = np.tile(start.astype(np.float64), (len(codes), 1))
    for tree in trees:
        _add(codes, tree, scores)
    return scores


def _add(codes: BinArray, tree: SharedTree, scores: Any) -> None:
    from palmette._kernels.shared_tree import add_tree_scores

    add_tree_scores(codes, tree.features, tree.cuts, tree.leaf_at, tree.values, scores)
