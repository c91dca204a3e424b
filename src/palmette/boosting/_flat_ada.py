"""AdaBoostMHClassifier and AdaBoostMIClassifier: AdaBoost over labels without a hierarchy."""

from __future__ import annotations

from typing import Any, ClassVar

from palmette.base._presets import Preset, preset, presets
from palmette.boosting._ada import NodeBoostingClassifier
from palmette.boosting._class_trees import StumpPerClass
from palmette.boosting._weak_answers import CartPerClass
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.trees._binning import MAX_BINS


def as_compared() -> Preset:
    """Return the preset of a method that AdaBoost.BHC is compared with."""
    return Preset(
        "100 rounds of unpruned trees of resampled rows, as in the comparison of AdaBoost.BHC",
        {
            "weak_learner": CartPerClass(max_features=None),
            "n_estimators": 100,
            "learning_rate": 1.0,
        },
        "Jun and Ghosh, Multi-class boosting with class hierarchies, MCS 2009, "
        "doi:10.1007/978-3-642-02326-2_4; Tables 1 and 3, Figures 2 to 8",
        "How the trees take weights is not printed: rows are drawn by weight, since unpruned trees "
        "make no mistakes on all rows. Features have 255 bins at most.",
    )


class FlatAdaBoostClassifier(NodeBoostingClassifier):
    """Base class of AdaBoost over labels; a subclass sets `_coefficient`."""

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
        verbose: int = 0,
    ) -> None:
        self.weak_learner = weak_learner
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.dag_rule = dag_rule
        self.subsample = subsample
        self.weight_trim = weight_trim
        self.max_bins = max_bins
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self._set_rounds(n_iter_no_change, validation_fraction, tol, warm_start, verbose)

    def _settings(self) -> dict[str, Any]:
        return {"initial_weights": "uniform", "mask": "none", "coefficient": self._coefficient}


class AdaBoostMHClassifier(FlatAdaBoostClassifier):
    """AdaBoost.MH: flat multi-class and multi-label classification by the Hamming loss.

    Every label is a binary problem, and all (row, label) pairs share one distribution of weights
    and one coefficient per round.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        If it is given, or if y contains paths, all nodes are labels; the hierarchy has an effect on
        the predictions only.
    weak_learner : "stump", "tree", "cart", "shared_tree", object of `palmette.weak`, or classifier
        Weak learner: one stump or tree per label, one tree for all labels, or one classifier per
        label of any scikit-learn class whose `fit` accepts `sample_weight`.
    n_estimators : int
        Number of rounds.
    learning_rate : float
        Factor of the coefficient of each round.
    dag_rule : "all" or "any"
        Whether a node of a DAG requires all of its parents to be true, or one of them.
    subsample : float
        Share of the rows that a round uses.
    weight_trim : float
        Share of the total weight that a round may omit: the rows of the smallest weights.
    max_bins : int
        Maximum number of bins per feature, up to 255. Missing values have their own bin and go
        right at a split.
    decoding : str or object of `palmette.decoding`
        Decision rule; see `HierarchicalAdaBoostClassifier`.
    n_iter_no_change, validation_fraction, tol
        Early stopping; see `HierarchicalAdaBoostClassifier`.
    warm_start : bool
        Whether `fit` adds rounds to those of the last call, on the same data.
    n_jobs : int, optional
        Number of threads.
    random_state : int, RandomState or None
        Seed of the random draws.
    verbose : int
        Print the training loss: 1 about ten times during the fit, 2 in every round.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels of the training rows.
    nodes_ : int array of shape (n_columns,)
        Nodes with a training row.
    rounds_ : list
        One hypothesis per round.
    edges_ : array of shape (n_rounds,)
        Edge of each round.
    train_loss_ : array of shape (n_rounds,)
        Exponential loss before each round.

    References
    ----------
    R. E. Schapire, Y. Singer (1999). Improved boosting algorithms using confidence-rated
    predictions. Machine Learning 37, 297-336. doi:10.1023/A:1007614523901

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
            "one stump per label, one coefficient per round",
            {"weak_learner": StumpPerClass(), "learning_rate": 1.0},
            "Schapire and Singer, Machine Learning 37, 1999, doi:10.1023/A:1007614523901",
        ),
        "adaboost-bhc": as_compared(),
    }


class AdaBoostMIClassifier(FlatAdaBoostClassifier):
    """AdaBoost.MI: one binary AdaBoost per label, against all others.

    Every label has its own distribution of weights and its own coefficients; scores are divided by
    the sums of the coefficients, so that labels can be compared.

    Parameters
    ----------
    hierarchy, weak_learner, n_estimators, learning_rate, dag_rule, subsample, weight_trim
        As in `AdaBoostMHClassifier`.
    max_bins, decoding, n_iter_no_change, validation_fraction, tol, warm_start, n_jobs
        As in `AdaBoostMHClassifier`.
    random_state, verbose
        As in `AdaBoostMHClassifier`.

    Attributes
    ----------
    classes_, nodes_, rounds_, edges_, train_loss_
        As in `AdaBoostMHClassifier`.

    References
    ----------
    S. Abney, R. E. Schapire, Y. Singer (1999). Boosting applied to tagging and PP attachment.
    EMNLP 1999, 38-45. https://aclanthology.org/W99-0606

    Y. Freund, R. E. Schapire (1997). A decision-theoretic generalization of on-line learning and an
    application to boosting. Journal of Computer and System Sciences 55, 119-139.
    doi:10.1006/jcss.1997.1504

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
            "one binary AdaBoost of stumps per label",
            {"weak_learner": StumpPerClass(), "learning_rate": 1.0},
            "Abney, Schapire and Singer, EMNLP 1999, https://aclanthology.org/W99-0606",
        ),
        "adaboost-bhc": as_compared(),
    }
