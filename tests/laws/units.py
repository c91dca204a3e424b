"""A law about the units of columns: a X + b in place of X changes nothing, or little for a reason.

Values are multiples of a power of two, so that sums with large numbers are exact: a method that
compares values, or centres and scales them in double precision first, has the same answers.
Estimators whose definition has units are named with the reason; their answers are still as good.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from tests.laws.learners import families, groups_of, seeded
from tests.laws.own_tree import learns_over_labels
from tests.laws.problems import problem

from palmette.feature_selection import HierarchicalFeatureSelector

__all__ = [
    "BY_DEFINITION",
    "CHANGES",
    "ON_UNITS",
    "tables_and_sparse_rows_have_any_units",
    "units_change_nothing",
]

_FINE = 2.0**-6  # values are multiples of it

# what is done to columns, by name
CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "1e-30": lambda rows: rows * 2.0**-100,
    "1e-12": lambda rows: rows * 2.0**-40,
    "1e-8": lambda rows: rows * 2.0**-27,
    "1e9": lambda rows: rows * 2.0**30,
    "1e30": lambda rows: rows * 2.0**100,
    "+ 1.7e9": lambda rows: rows + 1.7e9,
    "+ 1e9 spreads": lambda rows: rows + 2.0**34,
    "1e-12 + 1e-3": lambda rows: rows * 2.0**-40 + 2.0**-10,
    "one 1e9": lambda rows: rows * [1.0, 2.0**30, 1.0, 1.0],
    "each": lambda rows: rows * 2.0 ** np.array([-100, -33, 33, 100]),
}
SCALED = ("1e-30", "1e-12", "1e-8", "1e9", "1e30")
SHIFTED = ("+ 1.7e9", "+ 1e9 spreads", "1e-12 + 1e-3")
EACH = ("one 1e9", "each")

_DISTANCES = dict.fromkeys(EACH, "distances between means are sums over columns in their units")
_PENALTY = dict.fromkeys(CHANGES, "the penalty is on coefficients in the units of the columns")
_DRAWS = dict.fromkeys(CHANGES, "rows are drawn in the order of hashes of their values")
_SPARSE_PENALTY = {"sparse": "the penalty is on coefficients; sparse rows are not standardized"}

# estimators whose answers depend on units by definition: in which changes, and why
BY_DEFINITION: dict[str, dict[str, str]] = {
    "AgglomerativeTree": _DISTANCES,
    "BalancedTree": _DISTANCES,
    "COCOA": {**_DRAWS, "sparse": _DRAWS["1e-30"]},
    "ClassTreeClassifier": _SPARSE_PENALTY,
    "ClassTreeEnsemble": _SPARSE_PENALTY,
    "DAGSVMClassifier": {**_PENALTY, **_SPARSE_PENALTY},
    "DependenceTree": dict.fromkeys(EACH, "inner products are sums over columns in their units"),
    "GlobalNaiveBayesClassifier": {"sparse": "alpha is a number of words"},
    "LabelEmbeddingTree": _SPARSE_PENALTY,
    "LinearMultilabel": {**_PENALTY, **_SPARSE_PENALTY},
    "MFTree": dict.fromkeys(EACH, "inner products are sums over columns in their units"),
    "MFTreeClassifier": _SPARSE_PENALTY,
    "NMFTree": dict.fromkeys(EACH, "residuals are sums over columns in their units"),
    "RelaxedTree": dict.fromkeys(EACH, "rows are of unit length over all columns"),
    "StructuredForestClassifier": {**_DRAWS, "sparse": _DRAWS["1e-30"]},
}


def units_change_nothing(
    estimator: BaseEstimator, changes: tuple[str, ...] = tuple(CHANGES)
) -> None:
    model = seeded(estimator)
    X, y = _rows_for(model)
    first = _answers(model, X, y)
    for change in changes:
        other = _answers(model, CHANGES[change](X), y)
        _compare(type(model).__name__, change, change, (first, other), y)


def tables_and_sparse_rows_have_any_units(estimator: BaseEstimator) -> None:
    model = seeded(estimator)
    X, y = _rows_for(model)
    for change in ("1e-30", "+ 1.7e9", "one 1e9"):
        rows = CHANGES[change](X)
        assert _answers(model, pd.DataFrame(rows), y) == _answers(model, rows, y)
    if get_tags(model).input_tags.sparse:
        thin = np.where(X > 1.0, X, 0.0)
        first = _answers(model, sparse.csr_array(thin), y)
        for change in ("1e-30", "1e9"):
            other = _answers(model, sparse.csr_array(CHANGES[change](thin)), y)
            _compare(type(model).__name__, "sparse", change, (first, other), y)


def _compare(
    name: str, case: str, change: str, answers: tuple[list[Any], list[Any]], y: Any
) -> None:
    first, other = answers
    if case in BY_DEFINITION.get(name, {}):
        found, before = _right(other, y), _right(first, y)
        assert found >= before - 0.05, f"{case} {change}: {found:.2f} are right, not {before:.2f}"
    else:
        differ = sum(a != b for a, b in zip(first, other, strict=True))
        assert not differ, f"{case} {change}: {differ} of {len(first)} answers differ"


def _rows_for(model: BaseEstimator) -> tuple[np.ndarray, Any]:
    """Return rows of four columns, and labels."""
    is_selector = isinstance(model, HierarchicalFeatureSelector)
    takes_names = not hasattr(model, "predict") or learns_over_labels(model)
    X, y = families() if takes_names and not is_selector else problem()
    return np.rint(X[:, :4] / _FINE) * _FINE, y


def _answers(model: BaseEstimator, X: Any, y: Any) -> list[Any]:
    """Fit on every other row; return the labels of all rows, groups of classes or features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        part = X.iloc[::2] if isinstance(X, pd.DataFrame) else X[::2]
        fitted: Any = clone(model).fit(part, y[::2])
        if isinstance(fitted, HierarchicalFeatureSelector):
            return list(fitted.node_supports_.toarray().tolist())
        if not hasattr(fitted, "predict"):
            return sorted(sorted(map(str, leaves)) for leaves in groups_of(fitted.hierarchy_))
        if hasattr(fitted, "predict_proba"):
            assert np.isfinite(fitted.predict_proba(X)).all()
        return list(fitted.predict(X))


def _right(answers: list[Any], y: Any) -> float:
    """Return the share of labels that are right; 1 for groups and features."""
    if len(answers) != len(y):
        return 1.0
    return float(np.mean([a == b for a, b in zip(answers, y, strict=True)]))


ON_UNITS: list[Callable[[BaseEstimator], None]] = [
    units_change_nothing,
    tables_and_sparse_rows_have_any_units,
]
