"""NMFTree: parts of non-negative factorisations, several classes a leaf (RNMF)."""

from __future__ import annotations

from typing import Any

from palmette.class_tree.base import ClassTreeLearner
from palmette.partition.nmf import NMFPartition

__all__ = ["NMFTree"]


class NMFTree(ClassTreeLearner):
    """Divide the classes by non-negative matrix factorisation, again and again.

    Parameters
    ----------
    branching : int
        Groups that a group is divided into.
    leaf_size : int
        Groups of up to as many classes are not divided.
    max_iter : int
        Steps of a factorisation.
    tol : float
        Change at which they end.
    min_side : float
        Least share of the classes in each part of a division in two: smaller parts give way to
        halves.
    max_depth : int, optional
    random_state : int, RandomState or None
        For the start of the factorisations.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    See Also
    --------
    palmette.partition.nmf.NMFPartition : What is done at a node; how X is made non-negative.

    References
    ----------
    L. Liu, P. M. Comar, S. Saha, P.-N. Tan, A. Nucci (2012). Recursive NMF: efficient label tree
    learning for large multi-class problems.

    Examples
    --------
    >>> X = [[9, 0, 1], [8, 0, 2], [7, 1, 0], [0, 9, 1], [1, 8, 0], [0, 7, 2]]
    >>> tree = NMFTree(leaf_size=3, random_state=0).fit(X, list("abcdef"))
    >>> [group.tolist() for group in tree.tree_.groups]
    [[0, 1, 2, 3, 4, 5], [0, 1, 2], [3, 4, 5]]
    """

    def __init__(
        self,
        branching: int = 2,
        *,
        leaf_size: int = 4,
        max_iter: int = 200,
        tol: float = 1e-4,
        min_side: float = 0.0,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.leaf_size = leaf_size
        self.max_iter = max_iter
        self.tol = tol
        self.min_side = min_side
        self.max_depth = max_depth
        self.random_state = random_state

    def _partition(self) -> NMFPartition:
        return NMFPartition(self.branching, max_iter=self.max_iter, tol=self.tol)
