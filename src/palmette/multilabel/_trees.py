"""TreesMultilabel: one forest of scikit-learn for all labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from palmette._arrays import FloatArray, count_rows, take_rows
from palmette._text import caller_level
from palmette.base._column_units import Kind
from palmette.base._multilabel import MultilabelClassifier
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.multilabel._leaf_shares import LeafShares
from palmette.multilabel._members import rows_to_fit, rows_to_predict
from palmette.persistence.checks import integers, require, within

_KINDS = {"extra_trees": ExtraTreesClassifier, "random_forest": RandomForestClassifier}
_FOREST_PARAMETERS = (
    "criterion",
    "max_depth",
    "min_samples_leaf",
    "max_features",
    "bootstrap",
    "max_samples",
    "n_jobs",
    "verbose",
)
_TREE = DecisionTreeClassifier()  # forests take rows as it does
_BYTES_AT_ONCE = 2**26  # of the trees that are grown before they are packed

Flags = NDArray[np.bool_]


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
    forest_ : LeafShares
        The trees in flat arrays: their splits, and the shares of the labels in their leaves. None
        if no label varies.
    thresholds_ : array of shape (n_classes,)
        Thresholds of the labels, if they were tuned.
    oob_decision_function_ : array of shape (n_samples, n_columns)
        Out-of-bag probabilities, with ``bootstrap=True``. A row that is in every bag has the
        probabilities of all trees.
    feature_importances_ : array of shape (n_features,)

    Notes
    -----
    A tree of scikit-learn holds two float64 numbers per label and node. Few of them are grown at a
    time; the model keeps only the shares of leaves that are not zero, 12 bytes each.

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
        if not isinstance(self.kind, str) or self.kind not in _KINDS:
            raise PalmetteError(f"kind={self.kind!r} is unknown: expected one of {list(_KINDS)}.")
        if not isinstance(self.n_estimators, Integral) or self.n_estimators < 1:
            raise PalmetteError(f"n_estimators={self.n_estimators!r}: expected a positive integer.")

    # ------------------------------------------------------------------ fitting

    def _kind_of_units(self) -> Kind:
        return "order"

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        self.__dict__.pop("oob_decision_function_", None)  # of an earlier fit
        counts = np.asarray(Y.sum(axis=0)).ravel()
        self._varies = np.flatnonzero(counts < Y.shape[0])  # every column has a true row
        self.forest_ = None
        out_of_bag = np.zeros((Y.shape[0], self.n_estimators if self.bootstrap else 0), dtype=bool)
        if len(self._varies):
            targets = Y[:, self._varies].toarray().astype(np.int8)
            self.forest_ = LeafShares.of(self._grown_trees(X, targets, weights, out_of_bag))
        if self.bootstrap:
            self.oob_decision_function_ = self._scores_out_of_bag(X, Y.shape, out_of_bag)

    def _grown_trees(
        self, X: Any, targets: NDArray[np.int8], weights: FloatArray | None, out_of_bag: Flags
    ) -> Iterator[Any]:
        """Grow the trees of one forest of scikit-learn, few at a time, and forget them.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        targets : int8 array of shape (n_samples, n_outputs)
        weights : array of shape (n_samples,), optional
        out_of_bag : bool array of shape (n_samples, n_estimators), OUT
            Which rows each tree has not seen; without columns if there are no bags.

        Yields
        ------
        DecisionTreeClassifier or ExtraTreeClassifier
        """
        per_tree = 2 * targets.size * 2 * 8  # two numbers per label, and up to two nodes per row
        at_once = max(effective_n_jobs(self.n_jobs), _BYTES_AT_ONCE // per_tree, 1)
        rng = check_random_state(self.random_state)  # forests take their seeds from it in turn
        rows = rows_to_fit(X, _TREE)
        targets = targets if targets.shape[1] > 1 else targets[:, 0]
        parameters = {name: getattr(self, name) for name in _FOREST_PARAMETERS}
        for first in range(0, self.n_estimators, at_once):
            size = min(at_once, self.n_estimators - first)
            forest = _KINDS[self.kind](n_estimators=size, random_state=rng, **parameters)
            forest.fit(rows, targets, sample_weight=weights)
            if self.bootstrap:
                for tree, bag in enumerate(forest.estimators_samples_, start=first):
                    out_of_bag[:, tree] = True
                    out_of_bag[bag, tree] = False
            grown, forest = forest.estimators_[::-1], None
            while grown:
                yield grown.pop()

    # ------------------------------------------------------------------ out of bag

    def _tunes_itself(self) -> bool:
        return bool(self.bootstrap)

    def _scores_out_of_bag(self, X: Any, shape: tuple[int, int], used: Flags) -> FloatArray:
        scores = np.ones(shape)
        if self.forest_ is None:
            return scores
        rows = rows_to_predict(X, _TREE)
        n_used = used.sum(axis=1)
        sums = self.forest_.sums(rows, self.n_jobs, used)
        sums /= np.maximum(n_used, 1)[:, None]
        missing = np.flatnonzero(n_used == 0).astype(np.int32)  # in the bag of every tree
        if len(missing):
            warnings.warn(
                "Some inputs do not have OOB scores: all trees were fitted on them, and give them "
                "scores that are too good. More trees leave out more rows.",
                UserWarning,
                stacklevel=caller_level(),
            )
            sums[missing] = self.forest_.proba(take_rows(rows, missing), self.n_jobs)
        scores[:, self._varies] = sums
        return scores

    def _out_of_bag_proba(self) -> FloatArray:
        return self.oob_decision_function_

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        proba = np.ones((count_rows(X), len(self.nodes_)))
        if self.forest_ is not None:
            rows = rows_to_predict(X, _TREE)
            proba[:, self._varies] = self.forest_.proba(rows, self.n_jobs)
        return proba

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean decrease in impurity of each feature, of shape (n_features,)."""
        check_is_fitted(self)
        if self.forest_ is None:
            return np.zeros(self.n_features_in_)
        importances: FloatArray = self.forest_.importances.copy()
        return importances

    # ------------------------------------------------------------------ files

    def __setstate__(self, state: dict[str, Any]) -> None:
        forest: Any = state.get("forest_")
        if is_forest(forest):  # files of earlier versions hold that of scikit-learn
            state = {**state, "forest_": LeafShares.of(forest.estimators_)}
        super().__setstate__(state)

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        forest: Any = getattr(self, "forest_", None)
        if forest is None:
            return
        require(isinstance(forest, LeafShares), "forest_ is not of type LeafShares")
        forest.check_arrays()
        varies = integers(self._varies, "_varies")
        require(within(varies, len(self.nodes_)), "a label of the forest does not exist")
        require(len(varies) == forest.n_outputs_, "the forest has other labels")
        require(len(forest.importances) == self.n_features_in_, "the forest has other features")


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
