"""TreeSettings: the settings of a structured tree, as the compiled functions take them."""

from __future__ import annotations

from typing import NamedTuple

ADAM, OWLQN, LOGISTIC_ROUTER, AXIS = 0, 1, 2, 3
ROUTERS = {
    "hellinger-adam": ADAM,
    "hellinger-owlqn": OWLQN,
    "logistic": LOGISTIC_ROUTER,
    "axis": AXIS,
}


class TreeSettings(NamedTuple):
    """Settings of a structured tree; the types are fixed, since kernels are compiled for them.

    Attributes
    ----------
    router : int
        One of ``ROUTERS``.
    idf : bool
        Whether labels are weighted by Eq. 1 in the clustering; otherwise all have weight 1.
    beta : float
        Weight of the global part of Eq. 1.
    n_starts, cluster_iterations : int
        Number of initialisations and maximum number of iterations of 2-means.
    feature_share : float
        Proportion of the tree's features that is drawn anew at every node.
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
        Of each of the two minimisations; adam has no tolerance.
    scale_iterations : int
        Of the first minimisation, without penalty, which sets the scale of gamma (owlqn; adam uses
        ``max_iterations`` for both).
    start_iterations, start_tolerance : int, float
        Maximum number of conjugate-gradient steps of the least-squares initialisation, and the
        factor by which the residual of the normal equations must shrink to stop earlier.
    ridge : float
        l2 penalty (logistic).
    refit_bias : bool
        Whether the bias is finally set to the value with the best true Hellinger distance.
    min_samples_leaf, min_samples_split, max_depth : int
        Counted in rows, whatever their weights; a negative depth means no limit.
    label_share : float
        Proportion of the tree's labels that is drawn anew for the clusters of every node. If the
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
    ridge: float = 1e-4
    refit_bias: bool = True
    min_samples_leaf: int = 3
    min_samples_split: int = 2
    max_depth: int = -1
    label_share: float = 1.0
    prune: float = 0.1
    min_column_rows: int = 1
