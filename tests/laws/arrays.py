"""Laws about the arrays of X and y: their storage, sizes and types, and who keeps them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from tests.laws.problems import problem
from tests.laws.shared import one_of
from tests.spies import Keeper

from palmette import BinaryRelevance, LabelError
from palmette.feature_selection import HierarchicalFeatureSelector

__all__ = ["ON_ARRAYS", "messy", "unchanged"]

# what a scale that cannot be used is refused with: our words, or those of scikit-learn's trees
_REFUSED = r"largest absolute value of X is .*expected|too large for"


def small() -> tuple[np.ndarray, np.ndarray]:
    """Return few rows, and names of four classes."""
    X, paths = problem(n_each=5)
    return np.abs(np.where(np.abs(X) < 0.5, 0.0, X)), np.array([path[0] for path in paths])


def answers_of(fitted: BaseEstimator, X: Any) -> list[Any]:
    """Return everything that a fitted estimator says about rows, as arrays."""
    if isinstance(fitted, HierarchicalFeatureSelector):
        return [fitted.node_supports_.toarray(), fitted.node_scores_.toarray()]
    if not hasattr(fitted, "predict"):
        return [fitted.hierarchy_.names, fitted.hierarchy_.edges]
    found = [np.asarray(fitted.predict(X))]
    if hasattr(fitted, "predict_proba"):
        found.append(np.asarray(fitted.predict_proba(X)))
    return found


# ---------------------------------------------------------------------- sparse rows


def messy(X: np.ndarray) -> Iterator[Any]:
    """Yield the same sparse rows, stored in valid but unusual ways; the first is the worst.

    Entries are twice there, in descending order, with stored zeros and 64-bit indices, in a matrix
    that claims to be in order.
    """
    rows, columns = np.nonzero(np.ones_like(X))
    halves = np.repeat(X.ravel() / 2.0, 2)
    places = np.repeat(columns.astype(np.int64), 2)
    ends = 2 * X.shape[1] * np.arange(len(X) + 1)
    order = np.lexsort((-places, np.repeat(rows, 2)))
    parts = halves[order], places[order], ends
    worst = sparse.csr_array(parts, shape=X.shape)
    worst.has_canonical_format = True
    yield worst
    yield sparse.csr_matrix(parts, shape=X.shape)  # twice, and not in order
    yield sparse.csr_array((X.ravel(), columns, ends // 2), shape=X.shape)  # zeros
    last = sparse.csr_array(X)[:, ::-1]
    yield sparse.csr_array((last.data, X.shape[1] - 1 - last.indices, last.indptr), shape=X.shape)
    yield sparse.csc_array(sparse.coo_array((halves, (np.repeat(rows, 2), places)), X.shape))
    twice = sparse.coo_matrix((halves, (np.repeat(rows, 2), places)), X.shape)
    twice.has_canonical_format = True
    yield twice
    yield sparse.bsr_array(X)
    yield sparse.dia_array(X)


def unchanged(matrix: Any) -> Callable[[], bool]:
    """Return a function that tells whether a sparse matrix is what it is now, byte by byte."""

    def state() -> dict[str, tuple[int, bytes]]:
        names = [name for name in ("data", "indices", "indptr", "offsets") if hasattr(matrix, name)]
        arrays = {name: getattr(matrix, name) for name in names}
        if hasattr(matrix, "coords"):
            arrays |= {str(axis): array for axis, array in enumerate(matrix.coords)}
        return {name: (id(array), array.tobytes()) for name, array in arrays.items()}

    before = state()
    return lambda: state() == before


def the_way_sparse_rows_are_stored_changes_nothing(estimator: BaseEstimator) -> None:
    if not get_tags(estimator).input_tags.sparse:
        return
    X, y = small()
    worst, *others = messy(X)
    is_same = unchanged(worst)
    fitted = _short(estimator).fit(worst, y)
    assert is_same()
    plain = _short(estimator).fit(sparse.csr_array(X), y)
    expected = answers_of(plain, sparse.csr_array(X))
    for rows in (worst, *one_of(others, estimator)):  # all of them in `test_arrays`
        is_same = unchanged(rows)
        for one, other in zip(answers_of(fitted, rows), expected, strict=True):
            assert np.array_equal(one, other)
        assert is_same()


def _short(estimator: BaseEstimator) -> BaseEstimator:
    """Return an unfitted copy of few rounds that always draws the same numbers."""
    few = {"random_state": 0, "n_estimators": 2, "n_epochs": 2}
    takes = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{key: few[key] for key in few if key in takes})


# ---------------------------------------------------------------------- sizes of values


def values_that_overflow_are_used_or_refused(estimator: BaseEstimator) -> None:
    X, y = small()
    fitted = _short(estimator).fit(X, y)
    for factor in (1e154, 1e300, 1e-300):
        _check_finite(lambda rows: answers_of(_short(estimator).fit(rows, y), rows), X * factor)
        _check_finite(lambda rows: answers_of(fitted, rows), X * factor)


def _check_finite(answer: Callable[[Any], list[Any]], X: np.ndarray) -> None:
    """Assert that answers are finite, without a warning of an overflow, or refused by an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            found = answer(X)
        except ValueError as error:
            if not re.search(_REFUSED, str(error)):
                raise
            return
    assert all(np.isfinite(each).all() for each in found if each.dtype.kind == "f")


# ---------------------------------------------------------------------- types of labels


def labels_of_several_types_are_labels(estimator: BaseEstimator) -> None:
    X, y = small()
    number_of = {"a": 1, "b": "b", "c": 2.5, "d": "d"}
    mixed = [number_of[label] for label in y.tolist()]
    fitted = _short(estimator).fit(X, mixed)
    assert set(fitted.hierarchy_.names[fitted.hierarchy_.leaves].tolist()) == {1, 2.5, "b", "d"}
    if hasattr(fitted, "predict"):
        assert {type(label) for label in fitted.predict(X)} <= {int, float, str}
    for nothing in (None, np.nan):
        given = np.array([nothing, *mixed[1:]], dtype=object)
        with pytest.raises(LabelError, match=r"y\[0\] is missing"):
            clone(estimator).fit(X, given)
    with pytest.raises(LabelError, match=r"of type dict|one label per row|rows of one type"):
        clone(estimator).fit(X, [{"a": 1}, *mixed[1:]])


# ---------------------------------------------------------------------- rows that are kept


def of_keepers(estimator: BaseEstimator) -> BaseEstimator | None:
    """Return an unfitted copy that fits `Keeper` inside; None if it fits no classifier."""
    name = type(estimator).__name__
    place = next((place for place, names in _PLACES.items() if name in names), "estimator")
    if place not in estimator.get_params(deep=False):
        return None
    inside = BinaryRelevance(Keeper()) if name == "ThresholdedMultilabel" else Keeper()
    return clone(estimator).set_params(**{place: inside})


_SETS: dict[str, set[str]] = {"a": {"x"}, "b": {"x", "y"}, "c": {"y", "z"}, "d": {"z"}}

# parameters that take a classifier, other than `estimator`
_PLACES = {
    "router": {"ClassTreeClassifier", "ClassTreeEnsemble", "MFTreeClassifier"},
    "weak_learner": {
        "AdaBoostMHClassifier",
        "AdaBoostMIClassifier",
        "HierarchicalAdaBoostClassifier",
    },
}


def arrays_given_to_a_classifier_never_change(estimator: BaseEstimator) -> None:
    model = of_keepers(estimator)
    if model is None:
        return
    X, y = small()
    tags = get_tags(model).classifier_tags
    if tags is not None and tags.multi_label and "router" not in model.get_params(deep=False):
        y = [_SETS[label] for label in y.tolist()]
    with Keeper.watching() as kept:
        fitted = _short(model).fit(X, y, sample_weight=1.0 + np.arange(len(X)) % 2)
        assert len(kept) > 1
        assert all(is_same() for is_same in kept)
        if hasattr(fitted, "predict"):
            fitted.predict(X)
        assert all(is_same() for is_same in kept)


ON_ARRAYS: list[Callable[[BaseEstimator], None]] = [
    the_way_sparse_rows_are_stored_changes_nothing,
    values_that_overflow_are_used_or_refused,
    labels_of_several_types_are_labels,
    arrays_given_to_a_classifier_never_change,
]
