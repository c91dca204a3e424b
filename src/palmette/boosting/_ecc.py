"""AdaBoostECCClassifier: AdaBoost.ECC, with a random colouring of the labels in every round."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from palmette._arrays import FloatArray, IntArray
from palmette.base._presets import Preset, preset, presets
from palmette.base._scratch import Empty
from palmette.boosting._base import BoostedClassifier
from palmette.boosting._boost import RowChoice
from palmette.boosting._class_trees import StumpPerClass
from palmette.boosting._flat_ada import as_compared
from palmette.boosting._objectives import ColouringWeights
from palmette.boosting._weak_answers import resolve_weak_learner
from palmette.decisions._rules import BestPath
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.trees._binning import MAX_BINS


class AdaBoostECCClassifier(BoostedClassifier):
    """AdaBoost.ECC: boosting with a random error-correcting output code.

    Every round assigns two colours to random halves of the labels, and fits one binary hypothesis
    that predicts the colour. The score of a label is the sum of the votes for its colours.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        A tree. If it is given, or if y contains paths, the most specific labels are coloured; the
        hierarchy has an effect on the predictions only.
    weak_learner : "tree", "cart", "stump", "shared_tree", object of `palmette.weak`, or classifier
        The weak learner of the binary problem of a round.
    n_estimators : int
        Number of rounds.
    learning_rate : float
        Factor of the votes of each round.
    subsample : float
        Share of the rows that a round uses.
    weight_trim : float
        Share of the total weight that a round may omit: the rows of the smallest weights.
    max_bins : int
        Maximum number of bins per feature, up to 255. Missing values have their own bin and go
        right at a split.
    decoding : str or object of `palmette.decoding`
        Decision rule; "auto" is "best_path", the label with the largest score.
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
    rounds_ : list
        One hypothesis per round.
    edges_ : array of shape (n_rounds,)
        Edge of each round in its binary problem.
    train_loss_ : array of shape (n_rounds,)
        Mean exponential loss of the wrong labels before each round.

    References
    ----------
    V. Guruswami, A. Sahai (1999). Multiclass learning, boosting, and error-correcting codes. COLT
    1999, 145-155. doi:10.1145/307400.307429

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> clf = AdaBoostECCClassifier(n_estimators=30, random_state=0)
    >>> clf.fit(X, ["a", "b", "c", "d"]).predict(X).tolist()
    ['a', 'b', 'c', 'd']
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "paper": Preset(
            "one stump per round",
            {"weak_learner": StumpPerClass(), "learning_rate": 1.0},
            "Guruswami and Sahai, COLT 1999, doi:10.1145/307400.307429",
        ),
        "adaboost-bhc": as_compared(),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        weak_learner: Any = "tree",
        n_estimators: int = 400,
        learning_rate: float = 1.0,
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
        self.subsample = subsample
        self.weight_trim = weight_trim
        self.max_bins = max_bins
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self._set_rounds(n_iter_no_change, validation_fraction, tol, warm_start, verbose)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        resolve_weak_learner(self.weak_learner)

    def _takes_several_now(self) -> bool:
        return False

    def _objective(self, targets: IntArray, weights: FloatArray, empty: Empty) -> ColouringWeights:
        return ColouringWeights(targets, weights, self.space_.n_classes, self.learning_rate)

    def _learner(self) -> Any:
        return resolve_weak_learner(self.weak_learner)

    def _row_choice(self) -> RowChoice:
        return RowChoice(self.subsample, self.weight_trim)

    def _loss_on(self, targets: IntArray, weights: FloatArray) -> Any:
        rows, shares = np.arange(len(targets)), weights / weights.sum()

        def loss(scores: FloatArray) -> float:
            behind = np.exp(0.5 * (scores - scores[rows, targets][:, None]))
            return float(shares @ (behind.sum(axis=1) - 1) / max(scores.shape[1] - 1, 1))

        return loss

    def _class_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        return np.asarray(softmax(scores, axis=1))

    def _decision_rule(self) -> Any:
        self._check_decoding(False)
        return BestPath() if self.decoding == "auto" else super()._decision_rule()

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of the labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns as in ``classes_``; with two labels the difference, of shape (n_samples,).
        """
        scores = self._scores_of(self._read_rows(X))
        return np.asarray(self._answers.margins(scores))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags
