"""Answers of scikit-learn's forests for labels of 0 and 1, summed in one order."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import count_rows, take_rows
from palmette.base._multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.multilabel._members import in_threads, rows_to_ask, rows_to_fit

__all__ = ["TreesMultilabel", "forest_shares", "is_forest"]


def is_forest(model: Any) -> bool:
    """Whether a model is a forest of scikit-learn."""
    return isinstance(model, RandomForestClassifier | ExtraTreesClassifier)


def forest_shares(forest: Any, X: Any) -> NDArray[np.float64]:
    """Mean over the trees of the share of label 1: what `predict_proba` says of it.

    The forest's own method shares trees out to threads and adds up as they end, so that sums depend
    on chance, if by little; and calls of it from several threads meddle with each other's warnings.

    Parameters
    ----------
    forest : fitted RandomForestClassifier or ExtraTreesClassifier
        All of its outputs have the values 0 and 1.
    X : float32 array or CSR matrix of shape (n_samples, n_features)

    Returns
    -------
    array of shape (n_samples, n_outputs)

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]], dtype=np.float32)
    >>> forest = RandomForestClassifier(5, bootstrap=False).fit(X, [[0, 1], [1, 0]])
    >>> forest_shares(forest, X)
    array([[0., 1.],
           [1., 0.]])
    """
    total = np.zeros((X.shape[0], forest.n_outputs_))
    for tree in forest.estimators_:
        total += tree.tree_.predict(X).reshape(X.shape[0], -1, 2)[:, :, 1]
    return total / len(forest.estimators_)


FloatArray = NDArray[np.float64]

_KINDS = {"extra_trees": ExtraTreesClassifier, "random_forest": RandomForestClassifier}
_OF_THE_FOREST = (
    "n_estimators",
    "criterion",
    "max_depth",
    "min_samples_leaf",
    "max_features",
    "bootstrap",
    "max_samples",
    "n_jobs",
    "random_state",
    "verbose",
)


class TreesMultilabel(MultilabelClassifier):
    """Learn all labels by one forest, whose trees split for all labels together.

    The forest is scikit-learn's, with a 0/1 output for every label that varies.

    Parameters
    ----------
    kind : {"extra_trees", "random_forest"}
    n_estimators : int
        Trees.
    criterion : {"gini", "entropy", "log_loss"}
    max_depth : int, optional
    min_samples_leaf : int or float
    max_features : "sqrt", "log2", int, float or None
        Features tried at a node.
    bootstrap : bool
        Grow each tree on rows drawn with replacement. Without it there are no out-of-bag scores.
    max_samples : int, float or None
        Rows drawn for a tree, as many as there are where None.
    hierarchy : Hierarchy, optional
        Labels are closed upwards, and every node below the root is an output.
    decoding : "auto", number, name or rule of `palmette.decoding`
        ``"auto"`` is for each label the threshold with the best F1 on the out-of-bag scores, and
        one half where there are none.
    n_jobs : int, optional
        Trees grown at a time, in threads. It changes no result.
    random_state : int, RandomState or None
    verbose : int
        Passed to the forest.

    Attributes
    ----------
    forest_ : ExtraTreesClassifier or RandomForestClassifier
        None where no label varies.
    thresholds_ : array of shape (n_classes,)
        Where they were tuned.
    oob_decision_function_ : array of shape (n_samples, n_columns)
        Shares of the trees that a row was left out of, with ``bootstrap=True``. A row that no tree
        left out has those of all trees.
    feature_importances_ : array of shape (n_features,)

    Notes
    -----
    A tree holds two float64 numbers for every label in each of its nodes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    >>> clf = TreesMultilabel(n_estimators=50, random_state=0).fit(X, X.astype(int))
    >>> clf.predict(X[:4]).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> clf.thresholds_.shape, clf.oob_decision_function_.shape
    ((2,), (20, 2))
    """

    def __init__(
        self,
        kind: str = "extra_trees",
        n_estimators: int = 200,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_leaf: int | float = 1,
        max_features: int | float | str | None = "sqrt",
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        hierarchy: Hierarchy | None = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kind = kind
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.hierarchy = hierarchy
        self.decoding = decoding
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        if self.kind not in _KINDS:
            raise PalmetteError(f"kind={self.kind!r} is unknown: expected one of {list(_KINDS)}.")
        if not isinstance(self.n_estimators, Integral) or self.n_estimators < 1:
            raise PalmetteError(f"n_estimators={self.n_estimators!r}: expected a positive integer.")

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        self.__dict__.pop("oob_decision_function_", None)  # of an earlier fit
        counts = np.asarray(Y.sum(axis=0)).ravel()
        self._varies = np.flatnonzero(counts < Y.shape[0])  # every column has a true row
        self.forest_ = None
        if len(self._varies):
            targets = Y[:, self._varies].toarray().astype(np.int8)
            self.forest_ = self._unfitted()
            tree = self.forest_.estimator
            targets = targets if targets.shape[1] > 1 else targets[:, 0]
            self.forest_.fit(rows_to_fit(X, tree), targets, sample_weight=weights)
            # a function is no part of a model, and files cannot hold one
            self.forest_.set_params(oob_score=bool(self.bootstrap))
        if self.bootstrap:
            self.oob_decision_function_ = self._scores_out_of_bag(X, Y.shape)

    def _unfitted(self) -> Any:
        parameters = {name: getattr(self, name) for name in _OF_THE_FOREST}
        # its score, a share of exact rows, is no use here: the scores of labels are what is asked
        oob_score = _no_score if self.bootstrap else False
        return _KINDS[self.kind](**parameters, oob_score=oob_score)

    # ------------------------------------------------------------------ out of bag

    def _tunes_itself(self) -> bool:
        return bool(self.bootstrap)

    def _scores_out_of_bag(self, X: Any, shape: tuple[int, int]) -> FloatArray:
        scores = np.ones(shape)
        if self.forest_ is None:
            return scores
        by_class = self.forest_.oob_decision_function_.reshape(shape[0], 2, -1)
        scores[:, self._varies] = by_class[:, 1]
        is_missing = by_class[:, :, 0].sum(axis=1) == 0  # in the bag of every tree
        missing = np.flatnonzero(is_missing).astype(np.int32)
        if len(missing):
            scores[missing] = self._node_proba_of(take_rows(X, missing))
        return scores

    def _out_of_bag_proba(self) -> FloatArray:
        return self.oob_decision_function_

    # ------------------------------------------------------------------ answering

    def _node_proba_of(self, X: Any) -> FloatArray:
        proba = np.ones((count_rows(X), len(self.nodes_)))
        if self.forest_ is None:
            return proba
        rows = rows_to_ask(X, self.forest_.estimator)
        # threads share out rows, not trees: sums are made in one order, whatever n_jobs is
        chunks = np.array_split(
            np.arange(len(proba), dtype=np.int32), effective_n_jobs(self.n_jobs)
        )
        jobs = [(self.forest_, take_rows(rows, chunk)) for chunk in chunks if len(chunk)]
        proba[:, self._varies] = np.concatenate(in_threads(forest_shares, jobs, self.n_jobs))
        return proba

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean decrease in impurity of each feature, of shape (n_features,)."""
        check_is_fitted(self)
        if self.forest_ is None:
            return np.zeros(self.n_features_in_)
        importances: FloatArray = self.forest_.feature_importances_
        return importances


def _no_score(truth: Any, answers: Any) -> float:
    return float("nan")
