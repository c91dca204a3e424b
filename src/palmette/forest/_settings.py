"""How a structured tree is grown, as kernels take it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ADAM", "AXIS", "LOGISTIC_ROUTER", "OWLQN", "ROUTERS", "TreeSettings"]

ADAM, OWLQN, LOGISTIC_ROUTER, AXIS = 0, 1, 2, 3
ROUTERS = {
    "hellinger-adam": ADAM,
    "hellinger-owlqn": OWLQN,
    "logistic": LOGISTIC_ROUTER,
    "axis": AXIS,
}


class TreeSettings(NamedTuple):
    """How a tree is grown. Values keep the types that they have here: kernels are compiled by them.

    Attributes
    ----------
    router : int
        One of ``ROUTERS``.
    idf : bool
        Whether labels are weighed by Eq. 1 before they are clustered; else all alike.
    beta : float
        How much of Eq. 1 is global.
    n_starts, cluster_iterations : int
        Of 2-means.
    feature_share : float
        The share of the tree's features that is drawn anew at every node.
    rho : float
        Weight of sparsity (Eq. 10); negative: ``min(log(1 + features / rows), 0.4)``.
    alpha_first, alpha_factor, alpha_last, alpha_stage : float, float, float, int
        The sigmoid's sharpness: from the first, times the factor every so many iterations, to
        the last.
    eta : float
        Of the smooth l1 norm (adam).
    learning_rate, batch_size : float, int
        Of adam.
    max_iterations, tolerance : int, float
        Of each of the two minimisations; adam knows no tolerance.
    scale_iterations : int
        Of the first minimisation, without penalty, which finds the scale of gamma (owlqn; adam
        takes ``max_iterations`` for both).
    start_iterations, start_tolerance : int, float
        Conjugate-gradient steps towards the least-squares start, and the factor by which the
        residual of its equations has shrunk when there are enough.
    ridge : float
        l2 penalty (logistic).
    refit_bias : bool
        Whether the bias is moved to the best true Hellinger distance in the end.
    min_samples_leaf, min_samples_split, max_depth : int
        In rows, whatever they weigh; a negative depth is none.
    label_share : float
        The share of the tree's labels that is drawn anew for the clusters of every node; all where
        those drawn are the same in all rows of it.
    prune : float
        Weights below this part of the split's largest are dropped in the end (owlqn), before the
        bias is moved.
    min_column_rows : int
        Rows of a node in which a sparse feature is other than zero, so that the split may use it.
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
