"""LabelEmbeddingTree: classes that are confused stay together (CMTL)."""

from __future__ import annotations

from typing import Any, Literal

from palmette.class_tree.base import ClassTreeLearner
from palmette.partition.confusion import ConfusionPartition

__all__ = ["LabelEmbeddingTree"]


class LabelEmbeddingTree(ClassTreeLearner):
    """Divide the classes by spectral clustering of a held-out confusion matrix.

    Parameters
    ----------
    branching : int
        Groups that a group is divided into.
    estimator : classifier, optional
        Whose confusions count, any of scikit-learn's; a fast linear one by default.
    n_folds : int
        Number of folds by which every row is predicted by a classifier that did not see it.
    confusion : {"hard", "soft"}
        Whether predicted classes count, as published, or shares in the scores.
    smoothing : float
        Similarity added between all classes of a node, as a multiple of their average similarity.
    leaf_size : int
        Groups of up to as many classes are not divided.
    min_side : float
        Least share of the classes in each part of a division in two: smaller parts give way to
        halves.
    max_depth : int, optional
    n_jobs : int, optional
        Folds at a time.
    random_state : int, RandomState or None
        For the folds, the estimator used by default, and the clustering.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    See Also
    --------
    palmette.partition.confusion.ConfusionPartition : What is done at a node; special cases.

    References
    ----------
    S. Bengio, J. Weston, D. Grangier (2010). Label embedding trees for large multi-class tasks.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0.0], [0.1], [5.0], [5.1]], 8, axis=0) + np.tile([-0.2, 0.2], 16)[:, None]
    >>> tree = LabelEmbeddingTree(random_state=0).fit(X, np.repeat(list("abcd"), 8))
    >>> [group.tolist() for group in tree.tree_.groups[1:3]]
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        branching: int = 2,
        *,
        estimator: Any = None,
        n_folds: int = 3,
        confusion: Literal["hard", "soft"] = "hard",
        smoothing: float = 0.1,
        leaf_size: int = 1,
        min_side: float = 0.0,
        max_depth: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.estimator = estimator
        self.n_folds = n_folds
        self.confusion = confusion
        self.smoothing = smoothing
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _partition(self) -> ConfusionPartition:
        return ConfusionPartition(
            self.branching,
            estimator=self.estimator,
            n_folds=self.n_folds,
            confusion=self.confusion,
            smoothing=self.smoothing,
        )
