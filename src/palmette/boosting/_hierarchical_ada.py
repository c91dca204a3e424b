"""HierarchicalAdaBoostClassifier: H-Ada.MH, and AdaBoost.MH over the nodes of a hierarchy."""

from __future__ import annotations

from typing import Any, ClassVar

from palmette.base._parameters import from_paper
from palmette.base._presets import Preset, preset, presets
from palmette.boosting._ada import NodeBoostingClassifier
from palmette.boosting._class_trees import TreePerClass
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.trees._binning import MAX_BINS

_PAPER = (
    "Chelmis and Qi, Hierarchical Multiclass AdaBoost, IEEE Big Data 2021, "
    "doi:10.1109/BigData52589.2021.9671291"
)
_STUMPS = (
    "Whether the sides of a one-layer tree must have different votes is not printed: here, as in "
    "the authors' script, they may be equal. 600 rounds are for ImageCLEF; the paper has 200 for "
    "Diatoms. Eq. 8 is smoothed: 1 / (n m) is added to 1 + r and to 1 - r."
)


class HierarchicalAdaBoostClassifier(NodeBoostingClassifier):
    """AdaBoost.MH over the nodes of a hierarchy, with hierarchical initial weights (H-Ada.MH).

    Every node is a binary problem. Errors on (row, node) pairs increase the weights of these pairs;
    initial weights are larger for nodes near the root. By default each round grows one tree with
    random thresholds for all nodes together and confidence-rated votes, which is more accurate than
    the published stumps, and much faster than one tree per node. ``preset("paper")`` is the
    algorithm as published.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        A tree or DAG. By default it is built from the paths in y, or has one level.
    weak_learner : "shared_tree", "stump", "tree", object of `palmette.weak`, or classifier
        Weak learner: one tree for all nodes, one stump or tree per node, or one classifier per node
        of any scikit-learn class whose `fit` accepts `sample_weight`.
    n_estimators : int
        Number of rounds.
    learning_rate : float
        Factor of the coefficient of each round.
    initial_weights : "hierarchical", "uniform", mapping or array of shape (n_nodes,)
        Initial weights of the nodes: eq. 5-6, all equal, or given.
    mask : "none", "search" or "literal"
        Whether a node votes only for rows that its parents vote +1 for (eq. 7); with "search" its
        hypothesis is also fitted on those rows only, with "literal" on all rows. Requires a weak
        learner with one hypothesis per node.
    coefficient : "global" or "per_class"
        One coefficient per round (eq. 8-9), or one per node.
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
        Decision rule: "auto" is "best_path", the label whose path has the largest score; "sign" is
        the best path of positive scores (eq. 12). With several paths per row a threshold on the
        probabilities of nodes, 0.5 by default.
    n_iter_no_change : int, optional
        Stop if the loss on validation rows has not improved for this number of rounds.
    validation_fraction : float
        Share of the rows used for validation.
    tol : float
        Minimum improvement of the loss.
    warm_start : bool
        Whether `fit` adds rounds to those of the last call, on the same data; the result equals
        that of one longer fit.
    n_jobs : int, optional
        Number of threads.
    random_state : int, RandomState or None
        Seed of the random draws.
    verbose : int
        Print the training loss: 1 about ten times during the fit, 2 in every round.

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels of the training rows.
    nodes_ : int array of shape (n_columns,)
        Nodes with a training row; others are never predicted.
    rounds_ : list
        One hypothesis per round.
    edges_ : array of shape (n_rounds,)
        Edge r of each round (eq. 9).
    train_loss_ : array of shape (n_rounds,)
        Exponential loss before each round.
    validation_loss_ : array of shape (n_rounds,)
        Loss on the validation rows after each round, with early stopping.
    bins_ : BinMapper

    Notes
    -----
    Eq. 8 is smoothed: with n rows and m nodes, 1 / (n m) is added to 1 + r and to 1 - r, so that a
    round without mistakes has a finite coefficient.

    Memory: the codes (one byte per value) and, while fitting, one float64 and one float32 array of
    shape (n_samples, n_columns).

    References
    ----------
    C. Chelmis, W. Qi (2021). Hierarchical Multiclass AdaBoost. IEEE Big Data 2021, 5063-5070.
    doi:10.1109/BigData52589.2021.9671291

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> clf = HierarchicalAdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> clf.predict(X)
    [('animal', 'cat'), ('animal', 'dog'), ('plant', 'oak'), ('plant', 'fern')]
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "paper": Preset(
            "stumps, weights of eq. 5-6, mask of eq. 7 as published, signs (eq. 12)",
            {
                "weak_learner": "stump",
                "n_estimators": 600,
                "learning_rate": 1.0,
                "mask": "literal",
                "decoding": "sign",
            },
            f"{_PAPER}; eq. 5 to 12",
            f"{_STUMPS} `predict_signs` gives the signs of eq. 12 as they are; `predict` follows "
            "them along one path.",
        ),
        "paper-search": Preset(
            "stumps fitted under the mask, one coefficient per node, best path",
            {
                "weak_learner": "stump",
                "n_estimators": 600,
                "learning_rate": 1.0,
                "mask": "search",
                "coefficient": "per_class",
            },
            f"{_PAPER}; eq. 5 to 7",
            f"{_STUMPS} The mask of eq. 7 is also in the search, eq. 8 and 9 are taken for each "
            "node, and the best path is predicted: to the letter boosting soon stops.",
        ),
        "adaboost-mh": Preset(
            "the baseline of the paper: stumps, equal weights of nodes, no mask, best path",
            {
                "weak_learner": "stump",
                "n_estimators": 600,
                "learning_rate": 1.0,
                "initial_weights": "uniform",
            },
            "Schapire and Singer, Machine Learning 37, 1999, doi:10.1023/A:1007614523901",
            "The best path is predicted; `predict_signs` gives the signs as published.",
        ),
        "trees": Preset(
            "one tree of depth 3 per node on a fifth of the features",
            {"weak_learner": TreePerClass(), "n_estimators": 600, "learning_rate": 1.0},
            "",
        ),
    }

    @from_paper(T="n_estimators")
    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        weak_learner: Any = "shared_tree",
        n_estimators: int = 800,
        learning_rate: float = 0.3,
        initial_weights: Any = "hierarchical",
        mask: str = "none",
        coefficient: str = "global",
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
        self.initial_weights = initial_weights
        self.mask = mask
        self.coefficient = coefficient
        self.dag_rule = dag_rule
        self.subsample = subsample
        self.weight_trim = weight_trim
        self.max_bins = max_bins
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self._set_rounds(n_iter_no_change, validation_fraction, tol, warm_start, verbose)
