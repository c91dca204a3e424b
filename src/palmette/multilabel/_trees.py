"""TreesMultilabel: one forest of scikit-learn for all labels."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, count_rows, take_rows
from palmette.base._multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.multilabel._members import in_threads, rows_to_fit, rows_to_predict

_KINDS = {"extra_trees": ExtraTreesClassifier, "random_forest": RandomForestClassifier}
_FOREST_PARAMETERS = (
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
    """Multi-output forest: trees whose splits depend on all labels jointly.

    The forest is scikit-learn's, with one 0/1 output per label that varies.

    Parameters
    ----------
    kind : {"extra_trees", "random_forest"}
        Type of the forest.
    n_estimators : int
        Number of trees.
    criterion : {"gini", "entropy", "log_loss"}
        Criterion of the splits.
    max_depth : int, optional
        Maximum depth of a tree.
    min_samples_leaf : int or float
        Minimum number or proportion of rows in a leaf.
    max_features : "sqrt", "log2", int, float or None
        Number or proportion of features considered at a node.
    bootstrap : bool
        Whether trees are fitted on bootstrap samples. Otherwise there are no out-of-bag scores.
    max_samples : int, float or None
        Number or proportion of rows drawn per tree; None draws as many as there are.
    hierarchy : Hierarchy, optional
        Ancestors of labels are labels too, and every node below the root is an output.
    decoding : "auto", number, name or rule of `palmette.decoding`
        ``"auto"`` is the threshold per label that `palmette.decoding.ShrunkF` finds on the
        out-of-bag scores, or one half without out-of-bag scores.
    n_jobs : int, optional
        Number of trees grown at a time, in threads. It does not change the result.
    random_state : int, RandomState or None
    verbose : int
        Passed to the forest.

    Attributes
    ----------
    forest_ : ExtraTreesClassifier or RandomForestClassifier
        None if no label varies.
    thresholds_ : array of shape (n_classes,)
        Thresholds of the labels, if they were tuned.
    oob_decision_function_ : array of shape (n_samples, n_columns)
        Out-of-bag probabilities, with ``bootstrap=True``. A row that is in every bag has the
        probabilities of all trees.
    feature_importances_ : array of shape (n_features,)

    Notes
    -----
    A tree stores two float64 numbers per label and node.

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
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
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
            # model files cannot store the function that was passed as oob_score
            self.forest_.set_params(oob_score=bool(self.bootstrap))
        if self.bootstrap:
            self.oob_decision_function_ = self._scores_out_of_bag(X, Y.shape)

    def _unfitted(self) -> Any:
        parameters = {name: getattr(self, name) for name in _FOREST_PARAMETERS}
        # only oob_decision_function_ is needed: skip the computation of the score
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

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        proba = np.ones((count_rows(X), len(self.nodes_)))
        if self.forest_ is None:
            return proba
        rows = rows_to_predict(X, self.forest_.estimator)
        # threads process different rows, not trees: the order of the sums does not depend on n_jobs
        chunks = np.array_split(
            np.arange(len(proba), dtype=np.int32), effective_n_jobs(self.n_jobs)
        )
        jobs = [(self.forest_, take_rows(rows, chunk)) for chunk in chunks if len(chunk)]
        proba[:, self._varies] = np.concatenate(in_threads(forest_proba, jobs, self.n_jobs))
        return proba

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean decrease in impurity of each feature, of shape (n_features,)."""
        check_is_fitted(self)
        if self.forest_ is None:
            return np.zeros(self.n_features_in_)
        importances: FloatArray = self.forest_.feature_importances_
        return importances


def is_forest(model: Any) -> bool:
    """Return whether a model is a forest of scikit-learn."""
    return isinstance(model, RandomForestClassifier | ExtraTreesClassifier)


def forest_proba(forest: Any, X: Any) -> FloatArray:
    """Return the mean over the trees of the probability of label 1, as `predict_proba` does.

    The method of the forest adds the trees in the order in which threads finish, so that rounding
    errors are random; and its calls from several threads interfere with each other's warnings.

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
    >>> forest_proba(forest, X)
    array([[0., 1.],
           [1., 0.]])
    """
    total = np.zeros((X.shape[0], forest.n_outputs_))
    for tree in forest.estimators_:
        total += tree.tree_.predict(X).reshape(X.shape[0], -1, 2)[:, :, 1]
    return total / len(forest.estimators_)


def _no_score(truth: Any, answers: Any) -> float:
    return float("nan")
