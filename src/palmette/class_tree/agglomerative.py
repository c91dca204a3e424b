"""AgglomerativeTree: the dendrogram of class means."""

from __future__ import annotations

from palmette.class_tree.base import ClassTreeLearner
from palmette.partition.agglomerative import AgglomerativePartition

__all__ = ["AgglomerativeTree"]


class AgglomerativeTree(ClassTreeLearner):
    """Join the nearest classes, then the nearest groups, by the means of their rows.

    Parameters
    ----------
    method : str
        Of `scipy.cluster.hierarchy.linkage`, such as "ward", "average" or "complete".
    metric : str
        Between means: "euclidean", "cosine" or another of `scipy.spatial.distance.pdist`. "ward",
        "centroid" and "median" need "euclidean".
    branching : int
        Groups that a group is divided into: as many merges less one are undone at once.
    leaf_size : int
        Groups of up to as many classes are not divided.
    min_side : float
        Least share of a group's classes on either side, 0 to .5, which bounds the depth. With 0,
        the default, the tree is the dendrogram, which may be a chain.
    max_depth : int, optional
        Groups at this depth are not divided.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree

    Examples
    --------
    >>> tree = AgglomerativeTree().fit([[0.0], [9.0], [1.0]], ["ant", "whale", "bee"])
    >>> print(tree.hierarchy_.draw())
    root
    ├─ group 1
    │  ├─ ant
    │  └─ bee
    └─ whale
    """

    def __init__(
        self,
        method: str = "ward",
        metric: str = "euclidean",
        *,
        branching: int = 2,
        leaf_size: int = 1,
        min_side: float = 0.0,
        max_depth: int | None = None,
    ) -> None:
        self.method = method
        self.metric = metric
        self.branching = branching
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth

    def _partition(self) -> AgglomerativePartition:
        return AgglomerativePartition(
            self.method, self.metric, branching=self.branching, min_side=self.min_side
        )
