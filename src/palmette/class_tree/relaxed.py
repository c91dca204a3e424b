"""RelaxedTree: confusing classes go to both sides (DRHL)."""

from __future__ import annotations

from typing import Any

from palmette.class_tree.base import ClassTreeLearner
from palmette.partition.relaxed import RelaxedPartition

__all__ = ["RelaxedTree"]


class RelaxedTree(ClassTreeLearner):
    """Divide the classes by colours that a large margin tells apart, with some on both sides.

    The hierarchy is a DAG unless ``max_copies=1``: a class may have several parents.

    Parameters
    ----------
    rho : float
        Cost of going to both sides, between 0 and 1, in mean hinge losses of a class: the smaller,
        the more classes do.
    imbalance : float
        Largest difference between the numbers of classes on one side only, as a share of the
        classes of the node.
    max_copies : float
        Average number of leaves that a class may have, at most.
    estimator : classifier, optional
        With `decision_function`, that tells the sides apart; a linear support vector machine by
        default.
    n_starts : int
        Colourings to begin with at a node; the best end is taken.
    max_iter : int
        Turns of colouring and classifying, at most, for each of them.
    leaf_size : int
        Groups of up to as many classes are not divided.
    max_depth : int, optional
    random_state : int, RandomState or None
        For the classifier used by default.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    See Also
    --------
    palmette.partition.relaxed.RelaxedPartition : What is done at a node; special cases.

    References
    ----------
    T. Gao, D. Koller (2011). Discriminative learning of relaxed hierarchy for large-scale visual
    recognition.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.tile([-4.0, 4.0], 4), np.full(4, -4.0), np.full(4, 4.0)])[:, None]
    >>> tree = RelaxedTree(random_state=0).fit(X, np.repeat(["both", "left", "right"], [8, 4, 4]))
    >>> sorted(tree.hierarchy_.names[tree.hierarchy_.leaves].tolist())
    ['both', 'left', 'right']
    >>> sorted(group.tolist() for group in tree.tree_.groups[1:3])
    [[0, 1], [0, 2]]
    """

    def __init__(
        self,
        rho: float = 0.7,
        *,
        imbalance: float = 0.4,
        max_copies: float = 2.0,
        estimator: Any = None,
        n_starts: int = 2,
        max_iter: int = 5,
        leaf_size: int = 1,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.rho = rho
        self.imbalance = imbalance
        self.max_copies = max_copies
        self.estimator = estimator
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.leaf_size = leaf_size
        self.max_depth = max_depth
        self.random_state = random_state

    def _partition(self) -> RelaxedPartition:
        return RelaxedPartition(
            self.rho,
            imbalance=self.imbalance,
            max_copies=self.max_copies,
            estimator=self.estimator,
            n_starts=self.n_starts,
            max_iter=self.max_iter,
        )
