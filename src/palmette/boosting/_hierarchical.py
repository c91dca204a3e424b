"""HierarchicalBoostingClassifier: trees for all labels at once, boosted on a softmax."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from palmette.base._fitting import Preset, preset, presets
from palmette.boosting._base import BoostedClassifier
from palmette.boosting._boost import BundledLearner, BundledObjective, RowChoice
from palmette.boosting._members import LOSSES, Member
from palmette.boosting._weak import SharedTreeLearner
from palmette.decisions._rules import Marginal
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.trees._binning import MAX_BINS

__all__ = ["HierarchicalBoostingClassifier"]

FloatArray = NDArray[np.float64]

_AUTO = Marginal(0.4, 1.0, partial=False)  # by cross-validation on three sets of images


class HierarchicalBoostingClassifier(BoostedClassifier):
    """Boosting of trees that all labels share, with the hierarchy in the decision.

    Every round grows one shallow tree whose leaves hold a vote for every label. Its splits compete
    by how well they separate the gradients of all labels together; their thresholds are drawn at
    random, which is as accurate as searching for the best ones and far cheaper. With one path a row
    the scores pass through a softmax over the labels, and the probability of a node is the sum of
    those below it; with several paths a row, or a DAG, every node has a probability of its own.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        A tree or DAG. By default taken from the paths in y, or a star.
    loss : str, or tuple of str
        "auto" is "leaf_softmax" with one path a row and "logistic" otherwise. "leaf_softmax" scores
        labels, "path_softmax" nodes whose scores add up along paths, "logistic" every node for
        itself, "exponential" is that of AdaBoost. Of several losses a model each is boosted, and
        their log-probabilities are averaged.
    n_bags : int
        Models of every loss, from seeds of their own.
    n_estimators : int
        Rounds.
    learning_rate : float, optional
        Share of each tree's step that is taken; by default 0.1, 0.07 for "path_softmax", 0.05 for
        "logistic" (but 0.1 with more than 1,024 nodes) and 0.3 for "exponential".
    max_depth : int, optional
        Depth of the trees, 1 to 12; by default 5, 8 for "logistic" (but 5 with
        more than 1,024 nodes) and 6 for "exponential".
    max_features : int, float, "sqrt" or None
        Features that compete at a node: a number, a share, the square root of all, or all.
    thresholds : "random" or "best"
        One threshold a feature, drawn evenly from the bins at a node, or the best one.
    min_samples_leaf : int
        Least rows of a leaf.
    subsample : float
        Share of the rows that a round looks at.
    max_bins : int
        Bins of a feature, at most 255. Missing values have a bin of their own and go right.
    dag_rule : "all" or "any"
        Whether a node of a DAG needs all of its parents to be true, or one.
    decoding : str or object of `palmette.decoding`
        How to decide; ``"auto"`` is the label on whose path the nodes' probabilities are most
        above 0.4, ``Marginal(0.4, 1.0, partial=False)``; or with several paths a row the nodes of a
        probability above 0.5.
    n_iter_no_change : int, optional
        Stop where the loss on rows kept aside has not improved for as many rounds.
    validation_fraction : float
        Share of the rows kept aside.
    tol : float
        Improvement that counts.
    warm_start : bool
        Whether `fit` adds rounds to those of the last call, on the same data; the result is that of
        one longer fit.
    n_jobs : int, optional
        Threads; each grows the tree of another model, so they serve bags.
    random_state : int, RandomState or None

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels seen in training.
    rounds_ : list
        One hypothesis a round.
    train_loss_ : array of shape (n_rounds,)
        Mean loss before each round.
    validation_loss_ : array of shape (n_rounds,)
        After each round, with early stopping.
    bins_ : BinMapper

    Notes
    -----
    Holds the codes (one byte a value) and, while fitting, scores and gradients: two float32 arrays
    of shape (n_samples, n_columns), where columns are labels or nodes. The model holds as many
    float32 numbers as rounds x leaves x columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> clf = HierarchicalBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> clf.predict(X)
    [('animal', 'cat'), ('animal', 'dog'), ('plant', 'oak'), ('plant', 'fern')]
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _may_be_none = ("learning_rate",)
    _presets: ClassVar = {
        "accurate": Preset(
            "two models of labels and two of paths, log-probabilities averaged",
            {"loss": ("leaf_softmax", "path_softmax"), "n_bags": 2},
        ),
    }

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        loss: str | tuple[str, ...] = "auto",
        n_bags: int = 1,
        n_estimators: int = 800,
        learning_rate: float | None = None,
        max_depth: int | None = None,
        max_features: int | float | str | None = "sqrt",
        thresholds: str = "random",
        min_samples_leaf: int = 1,
        subsample: float = 1.0,
        max_bins: int = MAX_BINS,
        dag_rule: str = "all",
        decoding: Any = "auto",
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.loss = loss
        self.n_bags = n_bags
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_features = max_features
        self.thresholds = thresholds
        self.min_samples_leaf = min_samples_leaf
        self.subsample = subsample
        self.max_bins = max_bins
        self.dag_rule = dag_rule
        self.decoding = decoding
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting

    def _check_parameters(self) -> None:
        super()._check_parameters()
        known, named = {"auto", *LOSSES}, self._losses()
        if not named or not known.issuperset(named):
            raise PalmetteError(
                f"loss={self.loss!r}: expected 'auto', one of {sorted(LOSSES)}, or a tuple of "
                "these."
            )
        if not isinstance(self.n_bags, int) or self.n_bags < 1:
            raise PalmetteError(f"n_bags={self.n_bags!r}: expected a positive integer.")
        self._tree(LOSSES["leaf_softmax"]).check()

    def _losses(self) -> tuple[str, ...]:
        return tuple(self.loss) if isinstance(self.loss, tuple | list) else (self.loss,)

    def _takes_several_now(self) -> bool:
        """Whether all losses are defined for several paths per row."""
        named = [name for name in self._losses() if name in LOSSES]
        return all(LOSSES[name].several for name in named)

    def _members(self) -> list[Member]:
        """One member for every model: the losses, each as often as there are bags."""
        auto = "logistic" if self.several_paths_ else "leaf_softmax"
        kinds = [LOSSES[auto if name == "auto" else name] for name in self._losses()]
        return [kind(self) for kind in kinds for _ in range(self.n_bags)]

    def _objective(self, targets: Any, weights: FloatArray) -> Any:
        objectives = [
            member.objective(targets, weights, self.learning_rate or member.learning_rate)
            for member in self._members()
        ]
        return objectives[0] if len(objectives) == 1 else BundledObjective(objectives)

    def _learner(self) -> Any:
        trees = [self._tree(member) for member in self._members()]
        return trees[0] if len(trees) == 1 else BundledLearner(trees)

    def _tree(self, kind: Member | type[Member]) -> SharedTreeLearner:
        return SharedTreeLearner(
            kind.max_depth if self.max_depth is None else self.max_depth,
            max_features=self.max_features,
            thresholds=self.thresholds,
            min_samples_leaf=self.min_samples_leaf,
            criterion=kind.criterion,
        )

    def _row_choice(self) -> RowChoice:
        return RowChoice(self.subsample)

    def _loss_on(self, targets: Any, weights: FloatArray) -> Any:
        members = self._members()
        losses = [member.mean_loss(targets, weights) for member in members]
        return lambda scores: float(
            np.mean(
                [loss(part) for loss, part in zip(losses, _blocks(members, scores), strict=True)]
            )
        )

    # ------------------------------------------------------------------ answering

    def _decision_rule(self) -> Any:
        if self.decoding == "auto" and self.space_.depth.max() > 1:
            return _AUTO
        return super()._decision_rule()

    def _class_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        members = self._members()
        logs = [
            member.log_proba(part)
            for member, part in zip(members, _blocks(members, scores), strict=True)
        ]
        return np.asarray(softmax(sum(logs) / len(logs), axis=1))

    def _node_proba_from(self, scores: FloatArray, n_rounds: int) -> FloatArray:
        members = self._members()
        parts = [
            member.node_proba(part)
            for member, part in zip(members, _blocks(members, scores), strict=True)
        ]
        # never quite sure, as scikit-learn asks of probabilities of several labels
        return np.clip(sum(parts) / len(parts), 1e-12, 1 - 1e-12)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._takes_several_now()
        return tags


def _blocks(members: list[Member], scores: FloatArray) -> list[FloatArray]:
    """Scores of every member, (n_samples, n_columns) each."""
    return np.split(scores, np.cumsum([member.n_columns for member in members])[:-1], axis=1)
