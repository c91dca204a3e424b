"""BinaryRelevance: one binary classifier per label, with balancing of rare labels."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state, get_tags

from palmette._arrays import FloatArray, seed_each, take_rows
from palmette.base._column_units import Kind, unit_kind_of
from palmette.base._fitting import run_jobs
from palmette.base._foreign import Where, anywhere, at_node, margins_of
from palmette.base._multilabel import MultilabelClassifier
from palmette.base._parameters import check_classifier
from palmette.base._presets import Preset, preset, presets
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy
from palmette.multilabel._c45 import MULAN, SOSHF_TABLE, j48
from palmette.multilabel._members import (
    fit_member,
    in_threads,
    positive_proba,
    rows_to_fit,
    rows_to_predict,
)
from palmette.multilabel._trees import forest_proba, is_forest

_NEIGHBOURS = 5  # of ADASYN and SMOTE, as published
_HALF_IS_ENOUGH = float(np.nextafter(0.5, 0.0))  # a threshold that one half exceeds
_BALANCES = ("none", "cost", "down", "adasyn")
_C_IS_OURS = "C is not printed; 0.1 reproduces the figures."
_ROWS_AND_FEATURES = (
    "Rows are drawn with replacement, and features at every node: scikit-learn draws in no other "
    "way. The paper draws both once for each tree, without replacement."
)


def _svm() -> LinearSVC:
    """Return the SVM of one label; the paper does not state C, and 0.1 reproduces its figures."""
    return LinearSVC(C=0.1, max_iter=5000)


def _forest(**parameters: Any) -> RandomForestClassifier:
    """Return the forest of one label: 50 trees on three quarters of the rows and features.

    The paper draws features once per tree, scikit-learn at every node.
    """
    return RandomForestClassifier(
        50,
        criterion="entropy",
        min_samples_leaf=3,
        max_samples=0.75,
        max_features=0.75,
        **parameters,
    )


class BinaryRelevance(MultilabelClassifier):
    """Binary relevance: one independent binary classifier per label.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier of scikit-learn; logistic regression by default. If it has no probabilities,
        a margin m is converted to (1 + m / (1 + abs(m))) / 2, which is one half at 0 and strictly
        increasing in floating point too.
    balance : {"none", "cost", "down", "adasyn"}
        How the two classes of a label are balanced. ``"cost"``: both have the same total weight, by
        ``class_weight="balanced"`` if the estimator has it, else by sample weights. ``"down"``: the
        larger class is undersampled to the size of the smaller one. ``"adasyn"``: the smaller class
        is oversampled by ADASYN of imbalanced-learn, or by SMOTE if ADASYN fails; a single row is
        copied.
    hierarchy : Hierarchy, optional
        Ancestors of labels are labels too, and every node below the root has a classifier.
    decoding : "auto", number, name or rule of `palmette.decoding`
        ``"auto"`` is a threshold of one half; with an estimator that has out-of-bag scores
        (``oob_score=True``) and a balance of "none" or "cost" it is the threshold per label that
        `palmette.decoding.ShrunkF` finds on these scores.
    n_jobs : int, optional
        Number of labels fitted at a time, in threads. It does not change the result.
    random_state : int, RandomState or None
        With a number every classifier gets a seed of its own. None keeps that of the estimator.
    verbose : int
        Passed to joblib: positive numbers print the progress.

    Attributes
    ----------
    estimators_ : list of n_columns classifiers
        Columns as in ``nodes_``; a column that is true for all rows has a constant classifier.
    thresholds_ : array of shape (n_classes,)
        Thresholds of the labels, if they were tuned on out-of-bag scores.
    oob_decision_function_ : array of shape (n_samples, n_columns)
        Out-of-bag scores, if thresholds are tuned on them. A row that is in every bag has the
        scores of the whole model.

    Notes
    -----
    X is validated once for all labels. It is made dense for estimators without sparse support.

    A label with a score of exactly one half is not predicted. In MULAN, and by its preset, it is:
    ``decoding=np.nextafter(0.5, 0.0)``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    >>> y = [{"right"} if a else set() for a, _ in X]
    >>> y = [labels | {"up"} if b else labels for labels, (_, b) in zip(y, X)]
    >>> [sorted(labels) for labels in BinaryRelevance(balance="cost").fit(X, y).predict(X[:4])]
    [[], ['up'], ['right'], ['right', 'up']]
    """

    preset, presets = classmethod(preset), classmethod(presets)
    _presets: ClassVar = {
        "svm-cost": Preset(
            "linear SVMs, both classes of a label have the same total weight",
            {"estimator": _svm(), "balance": "cost"},
            SOSHF_TABLE,
            _C_IS_OURS,
        ),
        "svm-down": Preset(
            "linear SVMs on as many negative rows as positive ones",
            {"estimator": _svm(), "balance": "down"},
            SOSHF_TABLE,
            _C_IS_OURS,
        ),
        "svm-adasyn": Preset(
            "linear SVMs, smaller class oversampled by ADASYN",
            {"estimator": _svm(), "balance": "adasyn"},
            SOSHF_TABLE,
            _C_IS_OURS,
        ),
        "rf-cost": Preset(
            "random forests, thresholds by F1 out of bag",
            {"estimator": _forest(oob_score=True), "decoding": "f1"},
            SOSHF_TABLE,
            _ROWS_AND_FEATURES,
        ),
        "rf-down": Preset(
            "random forests on as many negative rows as positive ones",
            {"estimator": _forest(), "balance": "down"},
            SOSHF_TABLE,
            _ROWS_AND_FEATURES,
        ),
        "rf-adasyn": Preset(
            "random forests, smaller class oversampled by ADASYN",
            {"estimator": _forest(), "balance": "adasyn"},
            SOSHF_TABLE,
            _ROWS_AND_FEATURES,
        ),
        "mulan": Preset(
            "J48's trees, and labels with a score of one half, as in MULAN",
            {"estimator": j48(), "decoding": _HALF_IS_ENOUGH},
            MULAN,
        ),
        "hist-gradient-boosting": Preset(
            "gradient boosting of histogram trees; for rare labels in ThresholdedMultilabel",
            {"estimator": HistGradientBoostingClassifier()},
        ),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        balance: str = "none",
        hierarchy: Hierarchy | None = None,
        decoding: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.balance = balance
        self._set_shared(hierarchy, decoding, n_jobs, random_state)
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_classifier(self.estimator)
        if self.balance not in _BALANCES:
            raise PalmetteError(
                f"balance={self.balance!r} is unknown: expected one of {list(_BALANCES)}."
            )

    def _base(self) -> Any:
        return LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator

    # ------------------------------------------------------------------ fitting

    def _fit_nodes(self, X: Any, Y: sparse.csr_array, weights: FloatArray | None) -> None:
        models = self._unfitted(Y.shape[1])
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=len(models))
        X = self._prepared(X)
        by_label = sparse.csc_array(Y)
        # resampling needs the original rows; otherwise they are converted for trees only once
        rows = rows_to_fit(X, self._tree_inside() if self._keeps_rows() else self._base())

        def jobs() -> Iterator[Any]:
            for j, (model, seed) in enumerate(zip(models, seeds.tolist(), strict=True)):
                target = by_label[:, [j]].toarray()[:, 0].astype(np.int64)
                yield model, rows, target, weights, self.balance, seed

        # forests use threads of their own, so their fits are not nested in other threads
        outside = 1 if self._threads_inside() else self.n_jobs
        with config_context(assume_finite=True):  # X has been validated
            self.estimators_ = run_jobs(_fit_label, jobs(), outside, "threads", self.verbose)
        self.__dict__.pop("oob_decision_function_", None)
        if self._tunes_itself():
            self.oob_decision_function_ = self._scores_out_of_bag(X)

    def _unfitted(self, count: int) -> list[Any]:
        """Return copies of the estimator with their seeds, and with class weights if possible."""
        base = self._base()
        if self.balance == "cost":
            base = clone(base).set_params(**dict.fromkeys(_class_weight_names(base), "balanced"))
        if self._threads_inside():
            base = clone(base).set_params(n_jobs=self.n_jobs)
        models = [clone(base) for _ in range(count)]
        if self.random_state is not None:
            seed_each(models, self.random_state)
        return models

    def _kind_of_units(self) -> Kind:
        kind = unit_kind_of(self._base())
        return "rows" if self.balance == "adasyn" and kind in ("order", "columns") else kind

    def _keeps_rows(self) -> bool:
        return self.balance in ("none", "cost")

    def _threads_inside(self) -> bool:
        base = self._base()
        return is_forest(base) and base.n_jobs is None

    def _tree_inside(self) -> Any:
        """Return the estimator, or the tree of a forest, which determines the type of X."""
        base = self._base()
        return base.estimator if is_forest(base) else base

    def _prepared(self, X: Any) -> Any:
        dense_only = sparse.issparse(X) and not get_tags(self._base()).input_tags.sparse
        return X.toarray() if dense_only else X

    # ------------------------------------------------------------------ out of bag

    def _tunes_itself(self) -> bool:
        parameters = self._base().get_params(deep=False)
        has_scores = bool(parameters.get("oob_score")) and bool(parameters.get("bootstrap"))
        return has_scores and self._keeps_rows()

    def _scores_out_of_bag(self, X: Any) -> FloatArray:
        rows = rows_to_predict(X, self._tree_inside())
        return np.column_stack([_out_of_bag_scores(model, rows) for model in self.estimators_])

    def _out_of_bag_proba(self) -> FloatArray:
        return self.oob_decision_function_

    # ------------------------------------------------------------------ predicting

    def _node_proba_of(self, X: Any) -> FloatArray:
        rows = rows_to_predict(self._prepared(X), self._tree_inside())
        places = [at_node(self.hierarchy_, int(node)) for node in self.nodes_]
        jobs = ((model, rows, at) for model, at in zip(self.estimators_, places, strict=True))
        return np.column_stack(in_threads(_positive_score, jobs, self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self._base())
        tags.input_tags.allow_nan = base.input_tags.allow_nan and self.balance != "adasyn"
        return tags


# ---------------------------------------------------------------------- one label


def _fit_label(
    model: Any,
    X: Any,
    target: NDArray[np.int64],
    weights: FloatArray | None,
    balance: str,
    seed: int,
) -> Any:
    if (target == target[0]).all():
        return fit_member(model, X[:1], target[:1])
    if balance == "down":
        X, target, weights = down_sample(X, target, weights, seed)
    elif balance == "adasyn":
        X, target, weights = over_sample(X, target, weights, seed)
    elif balance == "cost" and not _class_weight_names(model):
        weights = balanced_weights(target, weights)
    return fit_member(model, X, target, weights)


def _class_weight_names(estimator: Any) -> list[str]:
    """Return the names of the parameters ``class_weight``, in a pipeline those of its steps."""
    names = estimator.get_params(deep=True)
    return [name for name in names if name.split("__")[-1] == "class_weight"]


def _positive_score(model: Any, X: Any, where: Where = anywhere) -> FloatArray:
    """Return the probability of a label, or its margin mapped to (0, 1): (n_samples,)."""
    if is_forest(model):
        return forest_proba(model, X)[:, 0]
    if hasattr(model, "predict_proba") or not hasattr(model, "decision_function"):
        return positive_proba(model, X, where)
    margins = margins_of(model, X, where)
    shares: FloatArray = 0.5 + 0.5 * margins / (1 + np.abs(margins))
    return shares


def _out_of_bag_scores(model: Any, X: Any) -> FloatArray:
    """Return the out-of-bag scores of the training rows of a model, of shape (n_samples,)."""
    by_class = getattr(model, "oob_decision_function_", None)
    if by_class is None:  # a label that is true for all rows
        return _positive_score(model, X)
    missing = np.flatnonzero(~(by_class.sum(axis=1) > 0)).astype(np.int32)  # 0 or nan: in every bag
    scores = np.array(by_class[:, 1], dtype=np.float64)
    if len(missing):
        scores[missing] = _positive_score(model, take_rows(X, missing))
    return scores


# ---------------------------------------------------------------------- balancing


class BalancedRows(NamedTuple):
    """Rows, their targets and their weights."""

    X: Any
    target: NDArray[np.int64]
    weights: FloatArray | None


def balanced_weights(target: NDArray[np.int64], weights: FloatArray | None) -> FloatArray:
    """Return weights with the same total for both classes; the overall total is unchanged.

    Examples
    --------
    >>> balanced_weights(np.array([1, 0, 0, 0]), None).round(3)
    array([2.   , 0.667, 0.667, 0.667])
    """
    each = np.ones(len(target)) if weights is None else weights
    sides = np.bincount(target, each, minlength=2)
    balanced: FloatArray = each * (each.sum() / (2 * sides))[target]
    return balanced


def down_sample(
    X: Any, target: NDArray[np.int64], weights: FloatArray | None, seed: int | None
) -> BalancedRows:
    """Undersample the larger class, without replacement, to the size of the smaller one."""
    rng = check_random_state(seed)
    sides = [np.flatnonzero(target == side) for side in (0, 1)]
    size = min(map(len, sides))
    kept = [rows if len(rows) == size else rng.choice(rows, size, replace=False) for rows in sides]
    rows = np.sort(np.concatenate(kept))
    return BalancedRows(
        take_rows(X, rows), target[rows], None if weights is None else weights[rows]
    )


def over_sample(
    X: Any, target: NDArray[np.int64], weights: FloatArray | None, seed: int | None
) -> BalancedRows:
    """Oversample the smaller class to the size of the larger one by ADASYN.

    If ADASYN fails, because no row of the smaller class has a neighbour of the other class or
    because it would generate no rows, SMOTE is used; a class of a single row is copied. Small
    classes have fewer neighbours. Synthetic rows get the mean weight of their class.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    target : 0/1 array of shape (n_rows,)
    weights : array of shape (n_rows,), optional
    seed : int, optional

    Returns
    -------
    BalancedRows
        The rows given, then the synthetic ones.
    """
    counts = np.bincount(target, minlength=2)
    if counts[0] == counts[1]:
        return BalancedRows(X, target, weights)
    smaller = int(np.argmin(counts))
    rows, targets = _oversampled(X, target, int(counts[smaller]), seed)
    if weights is not None:
        mean = weights[target == smaller].mean()
        weights = np.concatenate([weights, np.full(len(targets) - len(target), mean)])
    return BalancedRows(rows, targets, weights)


def _oversampled(X: Any, target: NDArray[np.int64], n_smaller: int, seed: int | None) -> Any:
    samplers = _import_imblearn()
    if n_smaller == 1:
        return samplers.RandomOverSampler(random_state=seed).fit_resample(X, target)
    n_near = min(_NEIGHBOURS, n_smaller - 1)
    try:
        adasyn = samplers.ADASYN(n_neighbors=n_near, random_state=seed)
        return adasyn.fit_resample(X, target)
    except (ValueError, RuntimeError):  # raised if it can generate no rows
        smote = samplers.SMOTE(k_neighbors=n_near, random_state=seed)
        return smote.fit_resample(X, target)


def _import_imblearn() -> Any:
    try:
        return importlib.import_module("imblearn.over_sampling")
    except ImportError as error:
        raise ImportError(
            "balance='adasyn' needs imbalanced-learn, which is not installed: "
            "pip install 'palmette[imbalance]'"
        ) from error
