"""BHCTree: the hierarchy of the binary hierarchical classifier."""

from __future__ import annotations

from typing import Literal

from palmette.class_tree.base import ClassTreeLearner
from palmette.partition.fisher import FisherPartition

__all__ = ["BHCTree"]


class BHCTree(ClassTreeLearner):
    """Divide classes again and again by soft Fisher discriminants.

    Works from weights, means and scatters of the classes, so that rows are read once. Constant
    features are left out; others are standardised.

    Parameters
    ----------
    start : {"eigenvector", "first_class"}
        Where the search for two sides starts: from the leading eigenvector of the scatter between
        classes, or, as published, from the first class. The latter gives another tree for another
        order of the classes.
    T0, cooling, theta_H : float
        First temperature, its factor, and the entropy at which the search ends.
    ridge : float
        Added to covariances, as a share of the mean variance of a feature.
    covariance : {"auto", "scatter", "diagonal", "pooled"}
        What is kept of the classes' scatter; see `FisherPartition`. "auto" takes less than all of
        it, with a warning, where that would pass 512 MiB.
    leaf_size : int
        Groups of up to as many classes are not divided.
    min_side : float
        Least share of a group's classes on either side, which bounds the depth; 0 to .5.
    max_depth : int, optional
        Groups at this depth are not divided.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
    tree_ : GrownTree

    References
    ----------
    G. Jun, J. Ghosh (2009). Multi-class boosting with class hierarchies. MCS 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> tree = BHCTree().fit(*load_iris(return_X_y=True))
    >>> print(tree.hierarchy_.draw())
    root
    ├─ 0
    └─ group 2
       ├─ 1
       └─ 2
    """

    def __init__(
        self,
        start: Literal["eigenvector", "first_class"] = "eigenvector",
        *,
        T0: float = 1.0,
        cooling: float = 0.8,
        theta_H: float = 0.05,
        ridge: float = 1e-3,
        covariance: Literal["auto", "scatter", "diagonal", "pooled"] = "auto",
        leaf_size: int = 1,
        min_side: float = 0.05,
        max_depth: int | None = None,
    ) -> None:
        self.start = start
        self.T0 = T0
        self.cooling = cooling
        self.theta_H = theta_H
        self.ridge = ridge
        self.covariance = covariance
        self.leaf_size = leaf_size
        self.min_side = min_side
        self.max_depth = max_depth

    def _partition(self) -> FisherPartition:
        return FisherPartition(
            self.start,
            T0=self.T0,
            cooling=self.cooling,
            theta_H=self.theta_H,
            ridge=self.ridge,
            covariance=self.covariance,
            min_side=self.min_side,
        )
