"""A tree for all columns at once; and weak learners by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from palmette.boosting._class_trees import StumpPerClass, TreePerClass
from palmette.boosting._weak_answers import CartPerClass, EstimatorPerClass
from palmette.boosting._weak_base import (
    ColumnMask,
    Floats,
    GrownColumns,
    GrownTree,
    TrainingRows,
    WeakLearner,
    check_parameters,
    count_features,
)
from palmette.exceptions import PalmetteError

__all__ = [
    "CartPerClass",
    "ColumnMask",
    "EstimatorPerClass",
    "GrownColumns",
    "GrownTree",
    "SharedTreeLearner",
    "StumpPerClass",
    "TrainingRows",
    "TreePerClass",
    "WeakLearner",
    "resolve_weak_learner",
]


_MANY_COLUMNS = 512  # from here on a split is judged by a sample of the columns


class SharedTreeLearner(WeakLearner):
    """One tree a round whose leaves vote for every label.

    Splits compete by how well they part the gradients of all labels together.

    Parameters
    ----------
    max_depth : int
        1 to 12.
    max_features : int, float, "sqrt" or None
        Features that compete at a node: a number, a share, the square root of all, or all.
    thresholds : "random" or "best"
        One threshold a feature, drawn evenly from the bins at the node, or the best one.
    min_samples_leaf : int
    votes : "confidence" or "sign"
        What leaves vote: half the log-odds of the weights in them, or the majority.
    criterion : "squared" or "absolute"
        How the sums of gradients on the two sides count.
    sketch : int, "auto" or None
        Labels by which splits are judged, drawn by the size of their gradients; by default 128
        where there are more than 512. None for all.

    Examples
    --------
    >>> SharedTreeLearner(max_depth=3)
    SharedTreeLearner(max_depth=3)
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
        """Refuse parameters that cannot be."""
        super().check()
        checks = [
            ("max_depth", 1 <= self.max_depth <= 12, "an integer from 1 to 12"),
            ("thresholds", self.thresholds in ("random", "best"), "'random' or 'best'"),
            ("min_samples_leaf", self.min_samples_leaf >= 1, "a positive integer"),
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
        self, rows: TrainingRows, signed: Floats, chosen: NDArray[np.int32] | None, seed: int
    ) -> GrownTree:
        """Grow a tree; see `WeakLearner`."""
        from palmette.trees._heap_tree import grow_heap_tree, shared_leaf

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

    def _sketched(self, signed: Floats, seed: int) -> Floats:
        """Some columns, drawn by the size of their gradients and scaled to stand for all."""
        n_columns = signed.shape[1]
        kept = self.sketch
        if kept == "auto":
            kept = 128 if n_columns > _MANY_COLUMNS else None
        if kept is None or kept >= n_columns:
            return signed
        sizes = np.einsum("ij,ij->j", signed, signed).astype(np.float64)
        if not sizes.any():
            some: Floats = signed[:, : int(kept)].copy(order="C")
            return some
        shares = sizes / sizes.sum()
        rng = np.random.default_rng([seed, 2])
        drawn = rng.choice(n_columns, size=int(kept), p=shares)
        columns, times = np.unique(drawn, return_counts=True)
        # the expected sum over the drawn columns is that over all
        scale = times / (kept * shares[columns])
        if self.criterion == "squared":
            scale = np.sqrt(scale)
        scaled: Floats = np.multiply(signed[:, columns], scale.astype(np.float32), order="C")
        return scaled


_BY_NAME = {
    "cart": CartPerClass,
    "shared_tree": SharedTreeLearner,
    "stump": StumpPerClass,
    "tree": TreePerClass,
}


def resolve_weak_learner(weak_learner: Any) -> WeakLearner:
    """Return the weak learner that a name, an object or a scikit-learn classifier stands for.

    Examples
    --------
    >>> resolve_weak_learner("stump")
    StumpPerClass()
    """
    if isinstance(weak_learner, WeakLearner):
        learner = weak_learner
    elif isinstance(weak_learner, str) and weak_learner in _BY_NAME:
        learner = _BY_NAME[weak_learner]()
    elif hasattr(weak_learner, "fit") and is_classifier(weak_learner):
        learner = EstimatorPerClass(weak_learner)
    else:
        raise PalmetteError(
            f"weak_learner={weak_learner!r} is unknown: expected one of {sorted(_BY_NAME)}, an "
            "object of palmette.weak, or a scikit-learn classifier that takes sample_weight."
        )
    learner.check()
    return learner
