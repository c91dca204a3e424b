"""CalibratedHierarchicalClassifier: calibrated probabilities of nodes."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, IntArray, count_rows, row_chunks, take_rows
from palmette.base._adapters import fitted_hierarchy
from palmette.base._answers import OnePath
from palmette.base._fitting import check_weights, run_jobs, used_rows
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

FoldScores = dict[int, FamilyScores] | NDArray[np.float32]  # on true paths, or of all nodes

_PRIOR = 50.0  # rows of a node at which its own curve and that of its level weigh the same
_METHODS = ("isotonic", "sigmoid", "temperature")


class CalibratedHierarchicalClassifier(WrappingClassifier):
    """Calibrate the node probabilities of any classifier on rows that it was not fitted on.

    The training rows are scored by cross-validation, curves from scores to probabilities are fitted
    on these scores, and the estimator is then fitted on all rows. With one path per row the
    conditional probabilities of the children of every node are calibrated and multiplied along the
    paths: children still sum to their parent. With several paths, or a DAG, every node is
    calibrated separately, and parents are raised to their children where needed.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier of Palmette, for one path per row or several; or any other classifier with
        `predict_proba` or `decision_function`, which is fitted on the labels and whose
        probabilities are summed over the hierarchy; or a pipeline that ends in either. Logistic
        regression by default.
    method : {"isotonic", "sigmoid", "temperature"}
        A non-decreasing curve, or Platt's sigmoid, for every node; or a temperature for every
        level, which keeps the order of siblings. Curves of nodes with few rows are shrunk towards
        the curve of all nodes of their level.
    cv : int, splitter, iterable of (train, test) or "prefit"
        Number of folds, stratified by label; or any splits that test every row once.
        ``"prefit"``: the estimator is fitted already, and `fit` gets rows that it has not seen.
    hierarchy : Hierarchy, optional
        By default that of the estimator, or the one that y contains.
    decoding : "auto", name or rule of `palmette.decoding`
        As in `LocalPerParentClassifier`; with several paths a threshold, one half by default.
    n_jobs : int, optional
        Number of folds fitted in parallel processes.
    random_state : int, RandomState or None
        Seed of the folds. With an int every model also gets a seed of its own.
    verbose : int
        Passed to joblib: positive numbers print the progress over the folds.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows; None where there is only one label.
    calibration_ : FamilyCalibration or NodeCalibration
        The calibration curves.
    hierarchy_ : Hierarchy
    classes_ : array of shape (n_classes,)

    Notes
    -----
    `fit` keeps in memory, in single precision, the scores of the children of the nodes on the true
    path of every row, or of all nodes where rows have several paths.

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
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CalibratedHierarchicalClassifier:
        """Fit the estimator, and the curves on scores of rows that it was not fitted on.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of texts, of n_samples rows
            Whatever the estimator takes.
        y : labels of n_samples rows
            In any form that `NodeLabels.encode` reads.
        sample_weight : array-like of shape (n_samples,), optional
            Weights for the estimator and the curves. Only their ratios count; rows of weight 0 are
            left out.

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
        model: WrappedClassifier | None
        if self._is_prefit():
            model = self._adopt(ready)
            scores = [_held_out_scores(model, X, labels, weights, self._columns())]
            folds = [(np.arange(0), np.arange(count_rows(X)))]
        else:
            model = None if ready is None else self._adopt(ready)
            folds = stratified_folds(self.cv, labels, self.random_state, used)
            first, *members = self._unfitted(1 + len(folds), learns_tree=ready is not None)
            scores = self._cross_scores(members, folds, X, labels, weights)
            if model is None:
                model = first.fit(X, labels, weights, several=self._answers.by_node)
        self._model: WrappedClassifier = model
        self.estimator_ = model.estimator
        self.calibration_: Any = self._fit_curves(scores, folds, labels, weights)
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
        """Return a fitted estimator where it finds the hierarchy, which reading y requires."""
        if self._is_prefit():
            return self._base()
        return self._fit_tree_learner(X, y, weights) if self._learns_tree(y) else None

    def _columns(self) -> LabelSpace | IntArray:
        """Return what models score: classes, or nodes where rows have several paths."""
        answers = self._answers
        return answers.space if isinstance(answers, OnePath) else answers.nodes

    def _cross_scores(
        self,
        members: list[WrappedClassifier],
        folds: list[Fold],
        X: Any,
        labels: NodeLabels,
        weights: FloatArray | None,
    ) -> list[FoldScores]:
        """Return the scores of every row by the model of the fold that left it out."""

        def part(rows: NDArray[np.intp]) -> tuple[Any, NodeLabels, FloatArray | None]:
            share = None if weights is None else weights[rows]
            return take_rows(X, rows), take_labels(labels, rows), share

        jobs = (
            (member, part(train), part(test), self._columns())
            for member, (train, test) in zip(members, folds, strict=True)
        )
        return run_jobs(_fit_and_score, jobs, self.n_jobs, verbose=self.verbose)

    def _fit_curves(
        self,
        scores: list[FoldScores],
        folds: list[Fold],
        labels: NodeLabels,
        weights: FloatArray | None,
    ) -> FamilyCalibration | NodeCalibration:
        columns = self._columns()
        if isinstance(columns, LabelSpace):
            families = merge_scores(cast("list[dict[int, FamilyScores]]", scores))
            return FamilyCalibration.fit(self.method, families, columns, _PRIOR)
        rows = np.concatenate([test for _, test in folds])
        truth = sparse.csr_array(labels.closed[rows][:, columns])
        weights = np.ones(len(rows)) if weights is None else weights[rows]
        merged = np.concatenate(cast("list[NDArray[np.float32]]", scores))
        return NodeCalibration.fit(
            self.method, merged, truth, self._answers.columns, weights, _PRIOR
        )

    # ------------------------------------------------------------------ answering

    def _route_of(self, X: Any) -> Route:
        route = RouteByMarginals(self.space_, self._model.class_proba(X, self.space_))
        return CalibratedRoute(route, self.calibration_, self.space_)

    def _class_proba_of(self, X: Any) -> FloatArray:
        return path_product(self.space_, self._route_of(X), count_rows(X))

    def _node_proba_of(self, X: Any) -> FloatArray:
        scores = self._model.node_proba(X, self.nodes_)
        return np.asarray(self.calibration_.apply(scores))


# ---------------------------------------------------------------------- one fold


def _fit_and_score(
    member: WrappedClassifier, train: Any, test: Any, columns: LabelSpace | IntArray
) -> FoldScores:
    member.fit(*train, several=not isinstance(columns, LabelSpace))
    X, labels, weights = test
    return _held_out_scores(member, X, labels, weights, columns)


def _held_out_scores(
    model: WrappedClassifier,
    X: Any,
    labels: NodeLabels,
    weights: FloatArray | None,
    columns: LabelSpace | IntArray,
) -> FoldScores:
    """Return the scores of rows that a model was not fitted on, some rows at a time.

    Returns
    -------
    dict of int to FamilyScores, or float32 array of shape (n_samples, n_columns)
    """
    n_rows = count_rows(X)
    if not isinstance(columns, LabelSpace):
        scores = np.empty((n_rows, len(columns)), dtype=np.float32)
        for chunk in row_chunks(n_rows, 4 * len(columns)):
            scores[chunk] = model.node_proba(take_rows(X, chunk), columns)
        return scores
    codes = np.searchsorted(columns.classes, labels.terminals).astype(np.int32)
    weights = np.ones(n_rows) if weights is None else weights
    return merge_scores(
        [
            scores_on_true_paths(
                columns,
                model.class_proba(take_rows(X, chunk), columns),
                codes[chunk],
                weights[chunk],
            )
            for chunk in row_chunks(n_rows, 2 * columns.n_active + columns.n_classes)
        ]
    )
