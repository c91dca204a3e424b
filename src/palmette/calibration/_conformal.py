"""ConformalHierarchicalClassifier: answers that hold the truth with a chosen probability."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from palmette._arrays import count_rows, take_rows
from palmette.base._adapters import final_step, fitted_hierarchy
from palmette.base._fitting import check_weights
from palmette.base._wrapping import WrappedClassifier
from palmette.calibration._base import (
    Fold,
    WrappingClassifier,
    check_folds,
    held_out_part,
    random_folds,
    take_labels,
    used_part,
)
from palmette.calibration._conformal_answers import (
    CalibrationScores,
    ConformalAnswers,
    MissedShares,
    check_coverage,
)
from palmette.calibration._nonconformity import LABEL_SCORES, strange_labels, strange_sets
from palmette.decisions._coherence import make_coherent
from palmette.decisions._rules import BestPath
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels

__all__ = ["ConformalHierarchicalClassifier"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

_CHOICES = {
    "answer": ("node", "set"),
    "method": ("split", "cross", "prefit"),
    "set_score": tuple(LABEL_SCORES),
    "control": ("row", "label"),
}


class ConformalHierarchicalClassifier(ConformalAnswers, WrappingClassifier):
    """Answer with the deepest node, or the smallest set, that holds the truth with a probability.

    Rows that the model did not learn from tell how strange the truth looks to it. A new row's
    label looks no stranger than a quantile of them with the chosen probability, whatever the model
    and the data are, as long as rows are exchangeable. The probability is that over calibration
    rows and new rows together; it does not hold for every label or node by itself.

    Parameters
    ----------
    estimator : classifier, optional
        As in `CalibratedHierarchicalClassifier`, which may be one.
    coverage : float
        Probability with which an answer holds the truth. It may be changed after `fit`, and at
        every answer.
    answer : {"node", "set"}
        What `predict_careful` answers with, and what ``quantile_`` is about.
    method : {"split", "cross", "prefit"}
        ``"split"``: a part of the rows, drawn at random, is kept from the model: coverage is
        guaranteed. ``"cross"``: the rows of every fold are judged by a model of the others, and a
        new row by all of these models: every row is learnt from, and coverage is about the one
        chosen, but guaranteed is one less twice the error, less a term that vanishes with more
        rows. ``"prefit"``: the estimator is fitted already, and `fit` is given rows that it has
        not seen: guaranteed as with ``"split"``.
    set_score : {"lac", "aps"}
        How sets are made: of the labels above one probability for all rows, which makes the
        smallest sets on average; or of the most probable labels up to some sum, not randomised,
        which makes sets that are larger where a row is hard. The most probable label is always in.
    control : {"row", "label"}
        What is held, where rows have several paths: all labels of a row with the probability, or
        the share of labels in expectation.
    calibration_size : float or int
        Share or number of rows that ``"split"`` keeps from the model.
    cv : int
        Folds of ``"cross"``.
    hierarchy, n_jobs, random_state
        As in `CalibratedHierarchicalClassifier`.
    decoding : "auto", name or rule of `palmette.decoding`
        Of `predict`, which makes no promise: ``"auto"`` is the rule of the estimator.

    Attributes
    ----------
    estimator_ : classifier
        Fitted; with ``method="cross"`` the first of them.
    estimators_ : list of classifiers
        All models: one, or one a fold.
    calibration_scores_ : array of shape (n_calibration,)
        How strange the truth of the calibration rows looked, for `answer`, ascending.
    quantile_ : float
        Of these scores, at `coverage`; infinite where there are too few rows.
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    Notes
    -----
    With sample weights coverage is that over rows drawn in proportion to their weights,
    approximately. With several paths a row there are sets only, and not by ``method="cross"``.

    Coverage holds whatever the probabilities are, but good ones make small answers: forests, whose
    zeros cannot be told apart, and margins, which are no probabilities, are better calibrated
    before, by a `CalibratedHierarchicalClassifier` inside.

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer (2005). Algorithmic learning in a random world. Springer.
    R. F. Barber, E. J. Candes, A. Ramdas, R. J. Tibshirani (2021). Predictive inference with the
    jackknife+. Annals of Statistics 49.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> kind = np.where(X[:, 0] > 0, "animal", "plant")
    >>> name = np.where(X[:, 1] + rng.normal(size=400) > 0, "big", "small")
    >>> clf = ConformalHierarchicalClassifier(coverage=0.9, random_state=0)
    >>> clf = clf.fit(X, list(zip(kind.tolist(), name.tolist())))
    >>> clf.predict([[2.0, 0.1], [2.0, 4.0]])
    [('animal', 'big'), ('animal', 'big')]
    >>> clf.predict_node([[2.0, 0.1], [2.0, 4.0]])  # whether it is big cannot be known
    [('animal',), ('animal', 'big')]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        coverage: float = 0.9,
        answer: str = "node",
        method: str = "split",
        set_score: str = "lac",
        control: str = "row",
        calibration_size: float = 0.25,
        cv: int = 5,
        hierarchy: Hierarchy | None = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.answer = answer
        self.method = method
        self.set_score = set_score
        self.control = control
        self.calibration_size = calibration_size
        self.cv = cv
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ConformalHierarchicalClassifier:
        """Fit the estimator on some rows, and see how strange the truth of the others looks to it.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of texts, of n_samples rows
            Whatever the estimator takes.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads.
        sample_weight : array-like of shape (n_samples,), optional
            For the estimator and the quantiles. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        n_used = count_rows(X) if weights is None else int(np.count_nonzero(weights))
        folds = self._draw_folds(n_used)
        ready = self._ready_estimator(X, y, weights, folds)
        labels = self._read_labelled(X, y, weights, along=fitted_hierarchy(ready))
        if self.several_paths_ and self.method == "cross":
            raise PalmetteError(
                "method='cross' is for one path a row, but y has several, or its hierarchy is a "
                "DAG: expected 'split' or 'prefit'."
            )
        X, weights = used_part(X, weights)
        if ready is not None:
            self._models = [self._adopt(ready)]
        else:
            self._models = self._fit_models(folds, X, labels, weights)
        self.estimators_ = [model.estimator for model in self._models]
        self.estimator_ = self.estimators_[0]
        self._judge(folds, X, labels, weights)
        self._warn_if_few(self.coverage)
        return self

    def _check_parameters(self) -> None:
        self._check_base()
        check_coverage(self.coverage)
        check_folds(self.cv)
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise PalmetteError(
                    f"{name}={getattr(self, name)!r} is unknown: expected one of "
                    f"{', '.join(choices)}."
                )

    def _draw_folds(self, n_rows: int) -> list[Fold]:
        """Rows to learn from and rows to judge on, for every model."""
        if self.method == "prefit":
            return [(np.arange(0), np.arange(n_rows))]
        if self.method == "cross":
            return random_folds(self.cv, n_rows, self.random_state)
        return [held_out_part(self.calibration_size, n_rows, self.random_state)]

    def _ready_estimator(
        self, X: Any, y: Any, weights: FloatArray | None, folds: list[Fold]
    ) -> Any:
        """Estimator that has to be fitted before y is read, since it finds the hierarchy."""
        if self.method == "prefit":
            return self._base()
        if not self._learns_tree(y):
            return None
        if self.method == "cross":
            raise PalmetteError(
                "method='cross' needs one hierarchy for all folds, but the estimator learns its "
                "own. Use method='split', or learn the hierarchy before."
            )
        # rows that are judged must not be learnt from
        seen = np.ones(count_rows(X)) if weights is None else weights.copy()
        used = np.flatnonzero(seen)
        seen[used[folds[0][1]]] = 0.0
        return self._fit_tree_learner(X, y, seen, is_weighted=weights is not None)

    def _fit_models(
        self, folds: list[Fold], X: Any, labels: NodeLabels, weights: FloatArray | None
    ) -> list[WrappedClassifier]:
        def jobs() -> Any:
            for model, (train, _) in zip(self._unfitted(len(folds)), folds, strict=True):
                share = None if weights is None else weights[train]
                yield model, take_rows(X, train), take_labels(labels, train), share

        several = self.several_paths_
        return list(
            Parallel(n_jobs=self.n_jobs)(
                delayed(_fit_model)(*job, several=several) for job in jobs()
            )
        )

    def _judge(
        self, folds: list[Fold], X: Any, labels: NodeLabels, weights: FloatArray | None
    ) -> None:
        """Set the calibration scores, by every model of the rows that it did not learn from."""
        held = np.concatenate([test for _, test in folds])
        scale = 1.0 if weights is None else float(weights[held].mean())
        shares = [
            np.ones(len(test)) if weights is None else weights[test] / scale for _, test in folds
        ]
        parts = [
            self._judge_rows(model, take_rows(X, test), take_labels(labels, test))
            for model, (_, test) in zip(self._models, folds, strict=True)
        ]
        self._scores = {
            name: CalibrationScores([part[name] for part in parts], shares)
            for name in (("set",) if self.several_paths_ else ("node", "set"))
        }
        self._missed = None
        if self.several_paths_:
            lengths = np.diff(labels.closed[held][:, self.nodes_].indptr)
            self._missed = MissedShares(parts[0]["label"], lengths, shares[0])

    def _judge_rows(
        self, model: WrappedClassifier, X: Any, labels: NodeLabels
    ) -> dict[str, FloatArray]:
        """How strange the truth looks, some rows at a time."""
        parts, start = [], 0
        for rows in self._parts(X):
            stop = start + count_rows(rows)
            true = take_labels(labels, np.arange(start, stop))
            start = stop
            if self.several_paths_:
                proba = model.node_proba(rows, self.nodes_)
                proba = make_coherent(proba, self._answers.columns, self._dag_rule())
                parts.append(strange_sets(proba, true.closed[:, self.nodes_]))
            else:
                proba = model.class_proba(rows, self.space_)
                parts.append(strange_labels(proba, true.terminals, self.space_, self.set_score))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _warn_if_few(self, coverage: float) -> None:
        scores = self._scores["set"]
        if not scores.suffices(coverage):
            needed = int(np.ceil(coverage / (1 - coverage) - 1e-9))
            warnings.warn(
                f"{scores.total:.0f} calibration rows are too few for coverage={coverage}: it "
                f"takes {needed} at least. Nodes are the root and sets hold every label.",
                stacklevel=3,
            )

    # ------------------------------------------------------------------ probabilities

    def _class_proba_of(self, X: Any) -> FloatArray:
        proba = [model.class_proba(X, self.space_) for model in self._models]
        return np.asarray(sum(proba[1:], proba[0]) / len(proba))

    def _node_proba_of(self, X: Any) -> FloatArray:
        return self._models[0].node_proba(X, self.nodes_)

    def _decision_rule(self) -> Any:
        if self.decoding != "auto":
            return super()._decision_rule()
        last = final_step(self.estimator_)
        if not hasattr(last, "_decision_rule") or "tree" in last.get_params(deep=False):
            return BestPath()  # what any classifier answers itself
        return last._decision_rule()

    def _threshold_rule(self) -> Any:
        last = final_step(getattr(self, "estimator_", None))
        is_auto = isinstance(self.decoding, str) and self.decoding == "auto"
        if is_auto and getattr(last, "several_paths_", False):
            return last._threshold_rule()
        return super()._threshold_rule()


def _fit_model(
    model: WrappedClassifier,
    X: Any,
    labels: NodeLabels,
    weights: FloatArray | None,
    *,
    several: bool,
) -> WrappedClassifier:
    return model.fit(X, labels, weights, several=several)
