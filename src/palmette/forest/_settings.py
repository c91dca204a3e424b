"""TreeSettings: the settings of a structured tree; and what the compiled functions take of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ADAM, OWLQN, LOGISTIC_ROUTER, AXIS = 0, 1, 2, 3
ROUTERS = {
    "hellinger-adam": ADAM,
    "hellinger-owlqn": OWLQN,
    "logistic": LOGISTIC_ROUTER,
    "axis": AXIS,
}


class TreeSettings(NamedTuple):
    """Settings of a structured tree; the types are fixed, since kernels are compiled for them.

    A kernel gets a part of them: `ClusterSettings`, and the settings of one kind of splits.

    Attributes
    ----------
    router : int
        One of ``ROUTERS``.
    idf : bool
        Whether labels are weighted by Eq. 1 in the clustering; otherwise all have weight 1.
    beta : float
        Weight of the global part of Eq. 1.
    n_starts, cluster_iterations : int
        Number of initializations and maximum number of iterations of 2-means.
    cluster_rows, start_rows : int
        Largest number of a node's rows that the centres of 2-means, and the least-squares
        initialization, are learned from; negative: all.
    feature_share : float
        Proportion of the tree's features that is drawn again at every node.
    rho : float
        Strength of the sparsity penalty (Eq. 10); negative: ``min(log(1 + features / rows), 0.4)``.
    alpha_first, alpha_factor, alpha_last, alpha_stage : float, float, float, int
        Slope of the sigmoid: its first value, the factor applied after every stage, its maximum,
        and the number of iterations per stage.
    eta : float
        Sharpness of the smooth l1 norm (adam).
    learning_rate, batch_size : float, int
        Of adam.
    max_iterations, tolerance : int, float
        Of each of the two minimizations; adam has no tolerance.
    scale_iterations : int
        Of the first minimization, without penalty, which sets the scale of gamma (owlqn; adam uses
        ``max_iterations`` for both).
    start_iterations, start_tolerance : int, float
        Maximum number of conjugate-gradient steps of the least-squares initialization, and the
        factor by which the residual of the normal equations must shrink to stop earlier.
    ridge : float
        l2 penalty (logistic).
    refit_bias : bool
        Whether the bias is finally set to the value with the best true Hellinger distance.
    min_samples_leaf, min_samples_split, max_depth : int
        Counted in rows, whatever their weights; a negative depth means no limit.
    label_share : float
        Proportion of the tree's labels that is drawn again for the clusters of every node. If the
        labels drawn do not vary within the node, all labels are used.
    prune : float
        Weights smaller than this fraction of the split's largest weight are set to zero at the end
        (owlqn), before the bias is refitted.
    min_column_rows : int
        Minimum number of a node's rows with a nonzero value for a sparse feature to be used.
    """

    router: int = OWLQN
    idf: bool = True
    beta: float = 0.5
    n_starts: int = 3
    cluster_iterations: int = 20
    cluster_rows: int = -1
    feature_share: float = 0.5
    rho: float = -1.0
    alpha_first: float = 1.0
    alpha_factor: float = 1.5
    alpha_last: float = 1.0
    alpha_stage: int = 10
    eta: float = 1e6
    learning_rate: float = 0.05
    batch_size: int = 1000
    max_iterations: int = 8
    tolerance: float = 1e-3
    scale_iterations: int = 2
    start_iterations: int = 4
    start_tolerance: float = 1e-5
    start_rows: int = -1
    ridge: float = 1e-4
    refit_bias: bool = True
    min_samples_leaf: int = 3
    min_samples_split: int = 2
    max_depth: int = -1
    label_share: float = 1.0
    prune: float = 0.1
    min_column_rows: int = 1

    def of_clusters(self) -> ClusterSettings:
        """Return the settings of the clustering of label sets."""
        return ClusterSettings(
            self.idf,
            self.beta,
            self.n_starts,
            self.cluster_iterations,
            self.label_share,
            self.cluster_rows,
        )

    def of_splits(self) -> SplitArguments:
        """Return the settings of splits: the first arguments of `split_nodes`."""
        common = SplitSettings(self.min_samples_leaf, self.min_column_rows, self.feature_share)
        if self.router == AXIS:
            return SplitArguments(common, axis=True)
        start = StartSettings(
            self.start_iterations, self.start_tolerance, self.start_rows, self.refit_bias
        )
        if self.router == LOGISTIC_ROUTER:
            logistic = LogisticSettings(self.ridge, self.max_iterations, self.tolerance)
            return SplitArguments(common, start=start, logistic=logistic)
        slopes = self.alpha_first, self.alpha_factor, self.alpha_last, self.alpha_stage
        hellinger = self.rho, *slopes, self.max_iterations
        if self.router == ADAM:
            adam = AdamSettings(*hellinger, self.eta, self.learning_rate, self.batch_size)
            return SplitArguments(common, start=start, adam=adam)
        owlqn = OwlqnSettings(*hellinger, self.tolerance, self.scale_iterations, self.prune)
        return SplitArguments(common, start=start, owlqn=owlqn)


# ------------------------------------------------------------------ parts, as the kernels take them


class ClusterSettings(NamedTuple):
    """Settings of the clustering of label sets; see `TreeSettings`."""

    idf: bool
    beta: float
    n_starts: int
    iterations: int
    label_share: float
    max_rows: int


class SplitSettings(NamedTuple):
    """Settings of the splits by any router; see `TreeSettings`."""

    min_samples_leaf: int
    min_column_rows: int
    feature_share: float


class StartSettings(NamedTuple):
    """Settings of the splits by a direction, before and after it is fitted; see `TreeSettings`."""

    iterations: int
    tolerance: float
    max_rows: int
    refit_bias: bool


class AdamSettings(NamedTuple):
    """Settings of the sparse Hellinger loss minimized by Adam; see `TreeSettings`."""

    rho: float
    alpha_first: float
    alpha_factor: float
    alpha_last: float
    alpha_stage: int
    max_iterations: int
    eta: float
    learning_rate: float
    batch_size: int


class OwlqnSettings(NamedTuple):
    """Settings of the sparse Hellinger loss minimized by OWL-QN; see `TreeSettings`."""

    rho: float
    alpha_first: float
    alpha_factor: float
    alpha_last: float
    alpha_stage: int
    max_iterations: int
    tolerance: float
    scale_iterations: int
    prune: float


class LogisticSettings(NamedTuple):
    """Settings of logistic regression; see `TreeSettings`."""

    ridge: float
    max_iterations: int
    tolerance: float


class SplitArguments(NamedTuple):
    """Settings of splits. What the router does not use is None: numba leaves out its code."""

    common: SplitSettings
    axis: bool | None = None
    start: StartSettings | None = None
    adam: AdamSettings | None = None
    owlqn: OwlqnSettings | None = None
    logistic: LogisticSettings | None = None


class Nodes(NamedTuple):
    """The nodes of a tree that grows, level by level; arrays of shape (max_nodes,).

    Attributes
    ----------
    first, last : int64 arrays
        Rows of the node as a part of the order of rows, ``order[first:last]``.
    seed : uint64 array
        Depends on the path to the node.
    state : uint64 array
        State of the random numbers after the clustering.
    is_split : bool array
    left, right : int32 arrays
        Children, -1 at leaves.
    bias : float32 array
    weight_starts : int64 array of shape (max_nodes + 1,)
        First weight of each node among those of all nodes.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    seed: NDArray[np.uint64]
    state: NDArray[np.uint64]
    is_split: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    bias: NDArray[np.float32]
    weight_starts: NDArray[np.int64]
