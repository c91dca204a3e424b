"""AdaBoostMIClassifier: every label by itself, against all others."""

from __future__ import annotations

from typing import ClassVar

from palmette.boosting.flat_ada import FlatAdaBoostClassifier
from palmette.engine.presets import Preset
from palmette.engine.weak import StumpPerClass

__all__ = ["AdaBoostMIClassifier"]


class AdaBoostMIClassifier(FlatAdaBoostClassifier):
    """AdaBoost.MI: one binary AdaBoost for every label, against all others.

    Every label has a distribution of weights and coefficients of its own; scores are divided by the
    sums of the coefficients, so that labels can be compared.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        Where given, or where y holds paths, all nodes are labels alike; the hierarchy matters for
        the answers only.
    weak_learner : "stump", "tree", "cart", "shared_tree", object of `palmette.weak`, or classifier
        What a round grows: a stump or a tree for every label, one tree for all of them, or any
        scikit-learn classifier whose `fit` takes `sample_weight`, one for every label.
    n_estimators : int
        Rounds.
    learning_rate : float
        Share of each round's coefficient that is taken.
    dag_rule : "all" or "any"
        Whether a node of a DAG needs all of its parents to be true, or one.
    subsample : float
        Share of the rows that a round looks at.
    weight_trim : float
        Share of the weight that a round may leave out: the rows of the smallest weights.
    max_bins : int
        Bins of a feature, at most 255. Missing values have a bin of their own and go right.
    decoding : str or object of `palmette.decoding`
        How to decide; see `HierarchicalAdaBoostClassifier`.
    n_iter_no_change, validation_fraction, tol
        Early stopping; see `HierarchicalAdaBoostClassifier`.
    warm_start : bool
        Whether `fit` adds rounds to those of the last call, on the same data.
    n_jobs : int, optional
        Threads.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    nodes_ : int array of shape (n_columns,)
    rounds_ : list
    edges_ : array of shape (n_rounds,)
    train_loss_ : array of shape (n_rounds,)

    References
    ----------
    Freund and Schapire, A decision-theoretic generalization of on-line learning and an application
    to boosting, Journal of Computer and System Sciences 55, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    >>> AdaBoostMIClassifier(n_estimators=20).fit(X, Y).predict(X)
    array([[1, 0],
           [1, 1],
           [0, 1],
           [0, 0]])
    """

    _coefficient = "per_class"
    _presets: ClassVar = {
        "paper": Preset(
            "one binary AdaBoost of stumps for every label",
            {"weak_learner": StumpPerClass(), "learning_rate": 1.0},
            "Freund and Schapire, Journal of Computer and System Sciences 55, 1997",
        )
    }
