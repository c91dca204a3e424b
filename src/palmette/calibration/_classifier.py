"""CalibratedHierarchicalClassifier: probabilities of nodes that can be believed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from palmette._arrays import count_rows, row_chunks, take_rows
from palmette.base._adapters import fitted_hierarchy
from palmette.base._fitting import check_weights, used_rows
from palmette.base._wrapping import WrappedClassifier
from palmette.calibration._base import (
    Fold,
    WrappingClassifier,
    check_folds,
    stratified_folds,
    take_labels,
    used_part,
)
from palmette.calibration._curves import FamilyScores
from palmette.calibration._nodes import (
    CalibratedRoute,
    FamilyCalibration,
    NodeCalibration,
    merge_scores,
    scores_on_true_paths,
)
from palmette.decisions._decode import Route, RouteByMarginals, path_product
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.labels._labels import NodeLabels
from palmette.labels._space import LabelSpace

__all__ = ["CalibratedHierarchicalClassifier"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
FoldScores = dict[int, FamilyScores] | NDArray[np.float32]  # along true paths, or of all nodes

_PRIOR = 50.0  # rows of a node at which its own curve weighs as much as that of its level
_METHODS = ("isotonic", "sigmoid", "temperature")


class CalibratedHierarchicalClassifier(WrappingClassifier):
    """Calibrate the probabilities of nodes of any classifier, on rows that it did not see.

    Scores of the training rows come from models of cross-validation; curves from scores to
    probabilities are fitted on them, and the estimator then on all rows. With one path a row the
    shares of every family's options are calibrated, given that a row comes to the family, and
    multiplied along the paths: children sum to their parent as before. With several paths, or a
    DAG, every node is calibrated by itself, and parents are raised to their children where needed.

    Parameters
    ----------
    estimator : classifier, optional
        One of ours, for one path a row or several; or any other with `predict_proba` or
        `decision_function`, which learns the labels as they are and whose probabilities are summed
        up the hierarchy; or a pipeline that ends in either. Logistic regression by default.
    method : {"isotonic", "sigmoid", "temperature"}
        A curve that never falls, or Platt's sigmoid, for every node; or a temperature for every
        level, which changes no node's rank among its siblings. Curves of nodes with few rows lean
        towards that of all nodes of their level.
    cv : int, splitter, iterable of (train, test) or "prefit"
        Number of folds, which hold every label in nearly the same shares; or any splits that test
        every row once. ``"prefit"``: the estimator is fitted already, and `fit` is given rows that
        it has not seen.
    hierarchy : Hierarchy, optional
        By default that of the estimator, or what y holds.
    decoding : "auto", name or rule of `palmette.decoding`
        As in `LocalPerParentClassifier`; with several paths a threshold, one half by default.
    n_jobs : int, optional
        Folds fitted at a time, in processes.
    random_state : int, RandomState or None
        Of the folds. With a number every model, too, gets a seed of its own.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows; None where there is but one label.
    calibration_ : FamilyCalibration or NodeCalibration
        The curves.
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    Notes
    -----
    While it is fitted, memory holds the scores of the options along every row's true path, or of
    all nodes where rows have several paths, in single precision.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1))
    >>> y = np.where(X[:, 0] + rng.normal(size=300) > 0, "warm", "cold")
    >>> from sklearn.naive_bayes import GaussianNB
    >>> thrice = np.hstack([X, X, X])  # naive Bayes counts the same evidence three times
    >>> GaussianNB().fit(thrice, y).predict_proba([[2.0, 2.0, 2.0]]).round(2)
    array([[0., 1.]])
    >>> clf = CalibratedHierarchicalClassifier(GaussianNB(), method="sigmoid", random_state=0)
    >>> clf.fit(thrice, y).predict_proba([[2.0, 2.0, 2.0]]).round(2)
    array([[0.04, 0.96]])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "isotonic",
        cv: Any = 5,
        hierarchy: Hierarchy | None = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CalibratedHierarchicalClassifier:
        """Fit the estimator, and the curves on scores of rows that it did not see.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of texts, of n_samples rows
            Whatever the estimator takes.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads.
        sample_weight : array-like of shape (n_samples,), optional
            For the estimator and the curves. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._read_features(X, reset=True)
        weights = check_weights(sample_weight, count_rows(X))
        ready = self._ready_estimator(X, y, weights)
        labels = self._read_labelled(X, y, weights, along=fitted_hierarchy(ready))
        used = used_rows(weights)
        X, weights = used_part(X, weights)
        model = None if ready is None else self._adopt(ready)
        if self._is_prefit():
            scores = [self._judge(model, X, labels, weights)]
            folds = [(np.arange(0), np.arange(count_rows(X)))]
        else:
            folds = stratified_folds(self.cv, labels, self.random_state, used)
            first, *members = self._unfitted(1 + len(folds), learns_tree=ready is not None)
            scores = self._cross_scores(members, folds, X, labels, weights)
            if model is None:
                model = first.fit(X, labels, weights, several=self.several_paths_)
        self._model, self.estimator_ = model, model.estimator
        self.calibration_ = self._fit_curves(scores, folds, labels, weights)
        return self

    def _check_parameters(self) -> None:
        self._check_base()
        if self.method not in _METHODS:
            raise PalmetteError(
                f"method={self.method!r} is unknown: expected one of {', '.join(_METHODS)}."
            )
        check_folds(self.cv)

    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _ready_estimator(self, X: Any, y: Any, weights: FloatArray | None) -> Any:
        """Estimator that has to be fitted before y is read, since it finds the hierarchy."""
        if self._is_prefit():
            return self._base()
        return self._fit_tree_learner(X, y, weights) if self._learns_tree(y) else None

    def _asked(self) -> LabelSpace | IntArray:
        """What models are asked about: classes, or nodes where rows have several paths."""
        return self.nodes_ if self.several_paths_ else self.space_

    def _judge(
        self, model: WrappedClassifier, X: Any, labels: NodeLabels, weights: FloatArray | None
    ) -> FoldScores:
        return _scores_of(model, X, labels, weights, self._asked())

    def _cross_scores(
        self,
        members: list[WrappedClassifier],
        folds: list[Fold],
        X: Any,
        labels: NodeLabels,
        weights: FloatArray | None,
    ) -> list[FoldScores]:
        """Scores of every row by the model of the fold that left it out."""

        def part(rows: NDArray[np.intp]) -> tuple[Any, NodeLabels, FloatArray | None]:
            share = None if weights is None else weights[rows]
            return take_rows(X, rows), take_labels(labels, rows), share

        return list(
            Parallel(n_jobs=self.n_jobs)(
                delayed(_fit_and_judge)(member, part(train), part(test), self._asked())
                for member, (train, test) in zip(members, folds, strict=True)
            )
        )

    def _fit_curves(
        self,
        scores: list[FoldScores],
        folds: list[Fold],
        labels: NodeLabels,
        weights: FloatArray | None,
    ) -> FamilyCalibration | NodeCalibration:
        if not self.several_paths_:
            return FamilyCalibration.fit(self.method, merge_scores(scores), self.space_, _PRIOR)
        rows = np.concatenate([test for _, test in folds])
        truth = sparse.csr_array(labels.closed[rows][:, self.nodes_])
        weights = np.ones(len(rows)) if weights is None else weights[rows]
        together = np.concatenate(scores)
        return NodeCalibration.fit(
            self.method, together, truth, self._answers.columns, weights, _PRIOR
        )

    # ------------------------------------------------------------------ answering

    def _route_of(self, X: Any) -> Route:
        route = RouteByMarginals(self.space_, self._model.class_proba(X, self.space_))
        return CalibratedRoute(route, self.calibration_, self.space_)

    def _class_proba_of(self, X: Any) -> FloatArray:
        return path_product(self.space_, self._route_of(X), count_rows(X))

    def _node_proba_of(self, X: Any) -> FloatArray:
        return self.calibration_.apply(self._model.node_proba(X, self.nodes_))


# ---------------------------------------------------------------------- one fold


def _fit_and_judge(
    member: WrappedClassifier, learnt: Any, held: Any, asked: LabelSpace | IntArray
) -> FoldScores:
    member.fit(*learnt, several=not isinstance(asked, LabelSpace))
    return _scores_of(member, *held, asked)


def _scores_of(
    model: WrappedClassifier,
    X: Any,
    labels: NodeLabels,
    weights: FloatArray | None,
    asked: LabelSpace | IntArray,
) -> FoldScores:
    """Scores of rows that a model has not seen, some rows at a time.

    Returns
    -------
    dict of int to FamilyScores, or float32 array of shape (n_samples, n_columns)
    """
    n_rows = count_rows(X)
    if not isinstance(asked, LabelSpace):
        scores = np.empty((n_rows, len(asked)), dtype=np.float32)
        for chunk in row_chunks(n_rows, 4 * len(asked)):
            scores[chunk] = model.node_proba(take_rows(X, chunk), asked)
        return scores
    codes = np.searchsorted(asked.classes, labels.terminals).astype(np.int32)
    weights = np.ones(n_rows) if weights is None else weights
    return merge_scores(
        [
            scores_on_true_paths(
                asked,
                model.class_proba(take_rows(X, chunk), asked),
                codes[chunk],
                weights[chunk],
            )
            for chunk in row_chunks(n_rows, 2 * asked.n_active + asked.n_classes)
        ]
    )
