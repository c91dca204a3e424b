"""DependenceTree: groups that depend on the features as much as groups can (RDM)."""

from __future__ import annotations

from typing import Any, Literal

from palmette.class_tree.base import ClassTreeLearner
from palmette.partition.dependence import DependencePartition

__all__ = ["DependenceTree"]


class DependenceTree(ClassTreeLearner):
    """Divide the classes by dependence maximisation (HSIC), again and again.

    Parameters
    ----------
    branching : int
        Groups that a group is divided into, at most.
    kernel : str or callable
        Of class means, as in `sklearn.metrics.pairwise.pairwise_kernels`.
    kernel_params : dict, optional
    of : {"mean", "sum"}
        Whether classes count alike, or by their weights.
    leaf_size : int
        Groups of up to as many classes are not divided.
    min_side : float
        Least share of the classes in each part of a division in two: smaller parts give way to
        halves.
    max_depth : int, optional
    random_state : int, RandomState or None
        For the start of the search.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    See Also
    --------
    palmette.partition.dependence.DependencePartition : What is done at a node; special cases.

    References
    ----------
    L. Song, A. Smola, A. Gretton, K. M. Borgwardt (2007). A dependence maximization view of
    clustering.

    Examples
    --------
    >>> tree = DependenceTree(random_state=0).fit([[0.0], [1.0], [7.0], [9.0]], list("abcd"))
    >>> print(tree.hierarchy_.draw())
    root
    ├─ group 1
    │  ├─ a
    │  └─ b
    └─ group 2
       ├─ c
       └─ d
    """

    def __init__(
        self,
        branching: int = 2,
        *,
        kernel: Any = "linear",
        kernel_params: dict[str, Any] | None = None,
        of: Literal["mean", "sum"] = "mean",
        leaf_size: int = 1,
        min_side: float = 0.0,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.branching = branching
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.of = of
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth
        self.random_state = random_state

    def _partition(self) -> DependencePartition:
        return DependencePartition(
            self.branching, kernel=self.kernel, kernel_params=self.kernel_params, of=self.of
        )
