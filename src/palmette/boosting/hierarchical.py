"""HierarchicalBoostingClassifier: trees for all labels at once, boosted on a softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils import check_random_state

from palmette.core.binning import MAX_BINS, BinMapper
from palmette.core.decoding import Decoding, RoutedDecoding
from palmette.core.hierarchy import Hierarchy
from palmette.core.rows import count_rows, take_rows
from palmette.engine.boost import SharedTreeLearner, boost, tree_scores
from palmette.engine.single_path import SinglePathClassifier
from palmette.engine.weights import check_weights
from palmette.exceptions import PalmetteError

__all__ = ["HierarchicalBoostingClassifier"]


class HierarchicalBoostingClassifier(SinglePathClassifier):
    """Boosting of trees that all labels share, with the hierarchy in the decision.

    Every round grows one shallow tree whose leaves hold a vote for every label. Its splits compete
    by how well they separate the gradients of all labels together; their thresholds are drawn at
    random, which is as accurate as searching for the best ones and far cheaper. The scores pass
    through a softmax over the labels, and the probability of a node is the sum of those below it.

    Parameters
    ----------
    hierarchy : Hierarchy, optional
        A tree. By default taken from the paths in y, or a star.
    n_estimators : int
        Rounds.
    learning_rate : float
        Share of each tree's step that is taken.
    max_depth : int
        Depth of the trees, 1 to 12.
    max_features : int, float, "sqrt" or None
        Features that compete at a node: a number, a share, the square root of all, or all.
    min_samples_leaf : int
        Least rows of a leaf.
    max_bins : int
        Bins of a feature, at most 255. Missing values have a bin of their own and go right.
    decoding : str or object of `palmette.decoding`
        How to decide; ``"auto"`` is the label of best expected hierarchical F1.
    warm_start : bool
        Whether `fit` adds rounds to those of the last call, on the same data; the result is that of
        one longer fit.
    random_state : int, RandomState or None

    Attributes
    ----------
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)
        Labels seen in training.
    trees_ : list of SharedTree
        One a round.
    train_loss_ : array of shape (n_estimators,)
        Mean negative log-likelihood before each round.
    bins_ : BinMapper

    Notes
    -----
    Holds the codes (one byte a value) and, while fitting, scores and gradients: two float32 arrays
    of shape (n_samples, n_classes).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    >>> y = [("animal", "cat"), ("animal", "dog"), ("plant", "oak"), ("plant", "fern")]
    >>> clf = HierarchicalBoostingClassifier(n_estimators=50, random_state=0).fit(X, y)
    >>> clf.predict(X)
    [('animal', 'cat'), ('animal', 'dog'), ('plant', 'oak'), ('plant', 'fern')]
    """

    def __init__(
        self,
        hierarchy: Hierarchy | None = None,
        *,
        n_estimators: int = 800,
        learning_rate: float = 0.1,
        max_depth: int = 5,
        max_features: int | float | str | None = "sqrt",
        min_samples_leaf: int = 1,
        max_bins: int = MAX_BINS,
        decoding: str | Decoding | RoutedDecoding = "auto",
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.decoding = decoding
        self.warm_start = warm_start
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> HierarchicalBoostingClassifier:
        """Grow the trees.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Numbers; NaN is missing.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads, one path a row.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._numbers(self._read_features(X, reset=True))
        weights = check_weights(sample_weight, count_rows(X))
        used = None if weights is None else weights > 0
        before = getattr(self, "classes_", None)
        targets = self._read_target(X, y, used)
        if used is not None:
            X, weights = take_rows(X, np.flatnonzero(used)), weights[used]
        else:
            weights = np.ones(len(targets))
        if not self._goes_on(before):
            self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            self.bins_ = BinMapper.fit(X, self.max_bins, self._seed)
            self.start_, self.trees_, self.train_loss_ = None, [], np.empty(0)
        self._run(self.bins_.transform(X), targets, weights)
        return self

    def _run(self, codes: Any, targets: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
        loss = SoftmaxLoss(targets, weights, self.space_.n_classes)
        if self.start_ is None:
            self.start_ = loss.start()
        rounds = boost(codes, loss, self._learner(), loss.weights, self._seed, self.trees_)
        values = self.train_loss_.tolist()
        # one label has nothing to be told from, and every tree would be a leaf of zeros
        missing = self.n_estimators - len(self.trees_) if self.space_.n_classes > 1 else 0
        for _ in range(missing):
            tree, value = next(rounds)
            self.trees_.append(tree)
            values.append(value / weights.sum())
        self.train_loss_ = np.asarray(values)

    def _learner(self) -> SharedTreeLearner:
        n_features = self.n_features_in_
        drawn = self.max_features
        if drawn is None:
            n_draws = n_features
        elif drawn == "sqrt":
            n_draws = int(np.sqrt(n_features))
        elif isinstance(drawn, float):
            n_draws = int(drawn * n_features)
        else:
            n_draws = int(drawn)
        return SharedTreeLearner(
            self.max_depth,
            min(max(n_draws, 1), n_features),
            self.min_samples_leaf,
            self.learning_rate,
        )

    def _goes_on(self, classes_before: Any) -> bool:
        """Whether rounds are added to those of an earlier fit, which must be of the same labels."""
        if not self.warm_start or not getattr(self, "trees_", None):
            return False
        if classes_before.tolist() != self.classes_.tolist():
            raise PalmetteError(
                f"warm_start=True goes on with {len(classes_before)} labels, but y has other ones "
                f"({len(self.classes_)}). Fit on the same data, or set warm_start=False."
            )
        if self.n_estimators < len(self.trees_):
            raise PalmetteError(
                f"n_estimators={self.n_estimators} is less than the {len(self.trees_)} rounds that "
                "warm_start=True would go on from. Ask for more, or set warm_start=False."
            )
        return True

    def _check_parameters(self) -> None:
        checks = [
            ("n_estimators", self.n_estimators >= 1, "a positive integer"),
            ("learning_rate", self.learning_rate > 0, "a positive number"),
            ("max_depth", 1 <= self.max_depth <= 12, "an integer from 1 to 12"),
            ("min_samples_leaf", self.min_samples_leaf >= 1, "a positive integer"),
            (
                "max_features",
                self.max_features in (None, "sqrt")
                or (isinstance(self.max_features, int | float) and self.max_features > 0),
                "a positive number or share, 'sqrt' or None",
            ),
        ]
        for name, fine, wanted in checks:
            if not fine:
                raise PalmetteError(f"{name}={getattr(self, name)!r}: expected {wanted}.")

    # ------------------------------------------------------------------ answering

    def _class_proba_of(self, X: Any) -> NDArray[np.float64]:
        codes = self.bins_.transform(self._numbers(X))
        return np.asarray(softmax(tree_scores(codes, self.trees_, self.start_), axis=1))

    def _numbers(self, X: Any) -> Any:
        """Features as an array of numbers, or a sparse matrix."""
        if hasattr(X, "nnz"):
            return X
        try:
            return np.asarray(X, dtype=np.float64)
        except ValueError:
            raise PalmetteError(
                f"{type(self).__name__} takes numbers only, but X holds texts or categories. "
                "Encode them first, for example with skrub.TableVectorizer or TfidfVectorizer."
            ) from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class SoftmaxLoss:
    """Log-likelihood of a softmax over the labels.

    Parameters
    ----------
    targets : int32 array of shape (n_samples,)
    weights : float array of shape (n_samples,)
        Positive.
    n_labels : int
    """

    def __init__(
        self, targets: NDArray[np.int32], weights: NDArray[np.float64], n_labels: int
    ) -> None:
        self._targets = targets
        self._prior = np.bincount(targets, weights, minlength=n_labels) / weights.sum()
        self.weights = weights.astype(np.float32)

    def start(self) -> NDArray[np.float32]:
        """Return the logarithms of the labels' shares."""
        return np.log(self._prior).astype(np.float32)

    def gradients(self, scores: NDArray[np.float32], out: NDArray[np.float32]) -> float:
        """Write the gradients; see `BoostLoss`."""
        from palmette._kernels.softmax import softmax_gradients

        return float(softmax_gradients(scores, self._targets, self.weights, out))
