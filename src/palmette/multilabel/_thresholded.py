"""ThresholdedMultilabel: tuned thresholds for any multi-label estimator with probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, get_tags

from palmette._arrays import FloatArray, seed_each, take_rows
from palmette._text import caller_level
from palmette.base._fitting import run_jobs
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._wrapping import LabelScorer, check_scores, has_out_of_bag, with_out_of_bag
from palmette.decisions._thresholds import LabelRule
from palmette.decisions._tuned import TunedRule, resolve_label_rule
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.multilabel._binary_relevance import BinaryRelevance
from palmette.multilabel._splits import IterativeStratifiedKFold


class ThresholdedMultilabel(MultilabelClassifier):
    """Wrap a multi-label estimator with one threshold per label, tuned on held-out rows.

    The best thresholds of rare labels are low, and depend on the estimator. They are tuned on
    out-of-bag scores or on cross-validated scores; then the estimator is fitted on all rows.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier with `predict_proba`: one of this library, whose `hierarchy` is used, or one of
        scikit-learn for 0/1 matrices, such as MultiOutputClassifier, OneVsRestClassifier,
        ClassifierChain, a forest or nearest neighbours. `BinaryRelevance` by default.
    rule : "shrunk_f1", "f1", "youden" or tuned rule of `palmette.decoding`
        Criterion that thresholds are chosen by: `palmette.decoding.ShrunkF`, `BestF`, `Youden`.
    cv : int, splitter or iterable of (train, test)
        Number of iterative stratified folds, with the same proportion of every label; or any splits
        that test every row once.
    method : {"auto", "oob", "cv"}
        Scores that thresholds are tuned on; ``"auto"``: out-of-bag scores if the estimator has
        them, which need no further fits, else cross-validated scores.
    hierarchy : Hierarchy, optional
        Ancestors of labels are labels too, and predictions are coherent; by default the hierarchy
        of the estimator.
    decoding : "auto", number, name or rule of `palmette.decoding`
        ``"auto"`` uses the tuned thresholds. Another rule, which is not tuned, may be set later.
    n_jobs : int, optional
        Number of folds fitted at a time, in processes.
    random_state : int, RandomState or None
        Seed of the folds. With a number, every model gets a seed of its own too.
    verbose : int
        Passed to joblib: positive numbers print the progress over the folds.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows. An estimator of this library is fitted on the nodes of ``hierarchy_``,
        others on the columns of ``nodes_`` that vary. None if no column varies.
    thresholds_ : array of shape (n_classes,)
        Thresholds of the labels in ``classes_``.

    Notes
    -----
    If y has one label per row there is nothing to tune: a warning is issued, and the most probable
    label is predicted.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = make_multilabel_classification(100, n_classes=3, random_state=0)
    >>> clf = ThresholdedMultilabel(KNeighborsClassifier(10), random_state=0).fit(X, y)
    >>> clf.thresholds_.round(2)
    array([0.51, 0.52, 0.45])
    """

    _takes_tables = True
    _auto_before = ""  # the rule is a parameter

    def __init__(
        self,
        estimator: Any = None,
        *,
        rule: Any = "shrunk_f1",
        cv: Any = 5,
        method: str = "auto",
        hierarchy: Hierarchy | None = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.cv = cv
        self.method = method
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    # ------------------------------------------------------------------ parameters

    def _base(self) -> Any:
        return BinaryRelevance() if self.estimator is None else self.estimator

    def _hierarchy_setting(self) -> Any:
        return (
            getattr(self._base(), "hierarchy", None) if self.hierarchy is None else self.hierarchy
        )

    def _several_rule(self) -> LabelRule | TunedRule:
        return resolve_label_rule(self.rule if self._decides_by_default() else self.decoding)

    def _dag_rule(self) -> str:
        return getattr(self._base(), "dag_rule", "all")

    def _tunes_itself(self) -> bool:
        return True

    def _check_parameters(self) -> None:
        check_scores(self._base())
        if not isinstance(resolve_label_rule(self.rule), TunedRule):
            raise PalmetteError(
                f"rule={self.rule!r} is not tuned: expected 'shrunk_f1', 'f1', 'youden' or "
                "palmette.decoding's ShrunkF, BestF or Youden. Pass rules that need no tuning as "
                "decoding."
            )
        if self.method not in ("auto", "oob", "cv"):
            raise PalmetteError(
                f"method={self.method!r} is unknown: expected 'auto', 'oob' or 'cv'."
            )
        if self.method == "oob" and not has_out_of_bag(self._base()):
            raise PalmetteError(
                f"method='oob', but {self._base()!r} has no out-of-bag scores: expected a forest "
                "with bootstrap=True. Use method='cv'."
            )
        if isinstance(self.cv, Integral) and (isinstance(self.cv, bool) or self.cv < 2):
            raise PalmetteError(f"cv={self.cv!r}: expected at least 2 folds.")

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(
        self, X: Any, Y: sparse.csr_array, weights: FloatArray | None
    ) -> FloatArray | None:
        if not self.several_paths_:
            warnings.warn(
                "y has one label per row: there are no thresholds to tune, and the most probable "
                "label is predicted. Pass y as sets or a 0/1 matrix for any number of labels.",
                stacklevel=caller_level(),
            )
        tunes = self.several_paths_ and isinstance(self._several_rule(), TunedRule)
        uses_bag = tunes and self.method != "cv" and has_out_of_bag(self._base())
        folds = self._folds(Y) if tunes and not uses_bag else []
        base = with_out_of_bag(self._base()) if uses_bag else self._base()
        whole, *scorers = self._unfitted(base, 1 + len(folds))
        scores = self._cross_scores(scorers, folds, X, Y, weights) if folds else None
        self._scorer = whole.fit(X, Y, weights)
        self.estimator_ = whole.estimator
        return whole.out_of_bag(X) if uses_bag else scores

    def _unfitted(self, base: Any, count: int) -> list[LabelScorer]:
        models = [clone(base) for _ in range(count)]
        if self.random_state is not None:
            seed_each(models, self.random_state)
        return [LabelScorer(model, self.hierarchy_, self.nodes_) for model in models]

    def _folds(self, Y: sparse.csr_array) -> list[Any]:
        n_rows = Y.shape[0]
        if isinstance(self.cv, Integral):
            if n_rows < self.cv:
                raise PalmetteError(
                    f"cv={self.cv} folds, but there are {n_rows} rows with positive weight: "
                    "expected at least as many rows as folds. Use fewer folds."
                )
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            cv: Any = IterativeStratifiedKFold(int(self.cv), shuffle=True, random_state=seed)
        else:
            cv = check_cv(self.cv)
        folds = list(cv.split(np.zeros((n_rows, 1)), Y.astype(np.int8)))
        tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=n_rows)
        if (tested != 1).any():
            row = int(np.flatnonzero(tested != 1)[0])
            raise PalmetteError(
                f"cv tests row {row} {tested[row]} times: expected splits that test every row once."
            )
        return folds

    def _cross_scores(
        self,
        scorers: list[LabelScorer],
        folds: list[Any],
        X: Any,
        Y: sparse.csr_array,
        weights: FloatArray | None,
    ) -> FloatArray:
        """Return the scores of every row by the model of the fold that left it out."""

        def jobs() -> Iterator[Any]:
            for scorer, (train, test) in zip(scorers, folds, strict=True):
                share = None if weights is None else weights[train]
                yield scorer, take_rows(X, train), Y[train], share, take_rows(X, test)

        parts = run_jobs(_scores_of_fold, jobs(), self.n_jobs, verbose=self.verbose)
        scores = np.empty(Y.shape)
        for (_, test), part in zip(folds, parts, strict=True):
            scores[test] = part
        return scores

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        return self._scorer.scores(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self._base()).input_tags
        tags.input_tags.sparse = base.sparse
        tags.input_tags.allow_nan = base.allow_nan
        return tags


def _scores_of_fold(
    scorer: LabelScorer, X: Any, Y: sparse.csr_array, weights: FloatArray | None, new_rows: Any
) -> FloatArray:
    return scorer.fit(X, Y, weights).scores(new_rows)
