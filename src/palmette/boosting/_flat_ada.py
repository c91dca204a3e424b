"""What AdaBoost.MH and AdaBoost.MI share: labels that are boosted alike, without a hierarchy."""

from __future__ import annotations

from typing import Any, ClassVar

from palmette.base._fitting import Preset, preset, presets
from palmette.boosting._ada import NodeBoostingClassifier
from palmette.boosting._class_trees import StumpPerClass
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.trees._binning import MAX_BINS

__all__ = ["AdaBoostMHClassifier", "AdaBoostMIClassifier", "FlatAdaBoostClassifier"]


class FlatAdaBoostClassifier(NodeBoostingClassifier):
    """Base of AdaBoost over labels; a subclass says whose the coefficients are."""

    preset, presets = classmethod(preset), classmethod(presets)
    _coefficient: ClassVar[str]

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        weak_learner: Any = "stump",
        n_estimators: int = 200,
        learning_rate: float = 1.0,
        dag_rule: str = "all",
        subsample: float = 1.0,
        weight_trim: float = 0.0,
        max_bins: int = MAX_BINS,
        decoding: Any = "auto",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.dag_rule = dag_rule
        self.subsample = subsample
        self.weight_trim = weight_trim
        self.max_bins = max_bins
        self.decoding = decoding
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settings(self) -> dict[str, Any]:
        return {"initial_weights": "uniform", "mask": "none", "coefficient": self._coefficient}


class AdaBoostMHClassifier(FlatAdaBoostClassifier):
    """AdaBoost.MH: flat multi-class and multi-label classification by the Hamming loss.

    Every label is a yes-or-no question about every row, and all (row, label) pairs share one
    distribution of weights and one coefficient a round.

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
    Schapire and Singer, Improved boosting algorithms using confidence-rated predictions, Machine
    Learning 37, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    >>> AdaBoostMHClassifier(n_estimators=20).fit(X, Y).predict(X)
    array([[1, 0],
           [1, 1],
           [0, 1],
           [0, 0]])
    """

    _coefficient = "global"
    _presets: ClassVar = {
        "paper": Preset(
            "a stump for every label, one coefficient a round",
            {"weak_learner": StumpPerClass(), "learning_rate": 1.0},
            "Schapire and Singer, Machine Learning 37, 1999",
        )
    }


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
