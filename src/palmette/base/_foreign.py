"""Fitting and asking classifiers of other libraries, whose answers are checked.

Whoever fits a classifier that the user passed, or reads its answers, does it by these functions. An
answer that cannot be used is an error that names the classifier, and not a wrong prediction.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.dummy import DummyClassifier

from palmette._arrays import FloatArray, count_rows
from palmette.exceptions import PalmetteError
from palmette.hierarchy._hierarchy import Hierarchy

Where = Callable[[], str]  # writes where a classifier stands, such as " at node 'a/b'"

_FAR = 1e-3  # from 0, 1 or a sum of 1: more than rounding in single precision


def is_pipeline(estimator: Any) -> bool:
    """Whether an estimator is a `Pipeline` of scikit-learn."""
    # its module imports half of SciPy; while nobody has imported it, there is no pipeline
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(estimator, module.Pipeline)


def anywhere() -> str:
    """Write nothing, for a classifier that has no place."""
    return ""


def at_node(hierarchy: Hierarchy, node: int) -> Where:
    """Return the writer of the place of a node."""
    return lambda: f" at node {str(hierarchy.path_strings[node])!r}" if node else " at the root"


def at_level(depth: int) -> Where:
    """Return the writer of the place of a level."""
    return lambda: f" at level {depth}"


# ---------------------------------------------------------------------- fitting


def fit_foreign(estimator: Any, X: Any, target: Any, **weights: FloatArray) -> Any:
    """Fit a classifier; where all rows are equal, one that answers the shares of the classes.

    There is then nothing to tell classes apart by, and some classifiers divide by the variance.

    Parameters
    ----------
    estimator : unfitted classifier
        Fitted in place unless all rows are equal.
    X : rows
    target : array of shape (n_samples,) or (n_samples, n_outputs)
    **weights : array of shape (n_samples,)
        By the keyword of `fit` for weights; at most one.

    Returns
    -------
    fitted classifier
    """
    if _all_rows_equal(X):
        own = next(iter(weights.values()), None)
        return DummyClassifier(strategy="prior").fit(X, target, sample_weight=own)
    fitted = estimator.fit(X, target, **weights)
    if target.ndim == 1:
        classes_of(fitted, target)
    return fitted


def _all_rows_equal(X: Any) -> bool:
    """Return whether all rows are equal; False for tables, texts and lists."""
    if sparse.issparse(X):
        if not X.shape[0] or X.dtype.kind not in "fiub":
            return False
        first, last = X[[0]], X[[X.shape[0] - 1]]
        if (first != last).nnz:
            return False
        low, high = X.min(axis=0), X.max(axis=0)
        return not (low != high).nnz
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiub" or not len(X):
        return False
    return bool((X[0] == X[-1]).all() and (X[0] == X).all())


# ---------------------------------------------------------------------- asking


def classes_of(estimator: Any, options: NDArray[Any], where: Where = anywhere) -> NDArray[Any]:
    """Return the classes of a fitted classifier, after a check that they are among the options."""
    classes = np.asarray(getattr(estimator, "classes_", ()))
    if classes.ndim != 1 or not len(classes) or not np.isin(classes, options).all():
        raise PalmetteError(
            f"{_name(estimator)}{where()} has classes_ = {_short(classes)}: expected labels that "
            f"it was fitted on, which are {_short(np.unique(options))}. Its `fit` has to set "
            "classes_ to the sorted labels of y."
        )
    return classes


def proba_of(
    estimator: Any, X: Any, where: Where = anywhere, n_classes: int | None = None
) -> FloatArray:
    """Return the probabilities of a fitted classifier: (n_samples, n_classes).

    Parameters
    ----------
    estimator : fitted classifier
        With `predict_proba`.
    X : rows
    where : callable, optional
        Writes where the classifier stands, for errors.
    n_classes : int, optional
        By default that of its ``classes_``.

    Raises
    ------
    PalmetteError
        If they are not one number per row and class, not finite, or rows do not sum to one.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0.0], [0.0]], ["a", "b"])
    >>> proba_of(model, [[1.0]]).tolist()
    [[0.5, 0.5]]
    """
    n_classes = len(estimator.classes_) if n_classes is None else n_classes
    who = f"{_name(estimator)}.predict_proba"
    values = _numbers(estimator.predict_proba(X), (count_rows(X), n_classes), who, where)
    sums = values.sum(axis=1)
    if not (np.abs(sums - 1.0) <= _FAR).all() or values.min(initial=0.0) < -_FAR:
        _check_finite(values, who, where)
        raise PalmetteError(
            f"{who}{where()} gave rows with values from {values.min():.3g} and sums from "
            f"{sums.min():.3g} to {sums.max():.3g}: expected probabilities of its {n_classes} "
            "classes, which sum to 1. Use a classifier with probabilities, or calibrate it by "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    return values


def margins_of(estimator: Any, X: Any, where: Where = anywhere) -> FloatArray:
    """Return the margins of a fitted classifier.

    Parameters
    ----------
    estimator, X, where
        As in `proba_of`; with `decision_function`.

    Returns
    -------
    array of shape (n_samples, n_classes), or (n_samples,)
        One-dimensional with two classes: the margins of the second.
    """
    n_classes = len(estimator.classes_)
    who = f"{_name(estimator)}.decision_function"
    given = estimator.decision_function(X)
    shape: tuple[int, ...] = (count_rows(X), n_classes)
    if np.ndim(given) == 1 and n_classes <= 2:
        shape = shape[:1]
    elif np.ndim(given) == 2 and np.shape(given)[1] != n_classes:
        raise PalmetteError(
            f"{who}{where()} gave {np.shape(given)[1]} columns for {n_classes} classes: expected "
            "one per class. Set decision_function_shape='ovr'."
        )
    values = _numbers(given, shape, who, where)
    _check_finite(values, who, where)
    return values


def predicted_by(estimator: Any, X: Any, where: Where = anywhere) -> NDArray[Any]:
    """Return the predictions of a fitted classifier, each one of its classes: (n_samples,)."""
    found = np.asarray(estimator.predict(X))
    is_known = np.isin(found, estimator.classes_)
    if found.shape != (count_rows(X),) or not is_known.all():
        strange = found[~is_known] if found.ndim == 1 else found
        raise PalmetteError(
            f"{_name(estimator)}.predict{where()} gave {_short(strange)} in an array of shape "
            f"{found.shape}: expected one of {_short(np.asarray(estimator.classes_))} for each of "
            f"{count_rows(X)} rows. Use another classifier."
        )
    return found


def outputs_of(estimator: Any, X: Any, n_outputs: int, where: Where = anywhere) -> FloatArray:
    """Return the probabilities of 1 of a classifier of several outputs: (n_samples, n_outputs).

    Without probabilities, the logistic function of its margins, or its predictions.

    Parameters
    ----------
    estimator, X, where
        As in `proba_of`. Probabilities may be a list with two columns per output, or a matrix.
    n_outputs : int
    """
    methods = ("predict_proba", "decision_function", "predict")
    method = next(name for name in methods if hasattr(estimator, name))
    who = f"{_name(estimator)}.{method}"
    given = getattr(estimator, method)(X)
    if method == "predict_proba" and isinstance(given, list):
        pair = (count_rows(X), 2)
        given = np.column_stack([_numbers(table, pair, who, where)[:, 1] for table in given])
    given = given.toarray() if sparse.issparse(given) else np.asarray(given)
    if n_outputs == 1 and given.ndim == 2 and given.shape[1] == 2:
        given = given[:, 1:]
    values = _numbers(given, (count_rows(X), n_outputs), who, where)
    _check_finite(values, who, where)
    return np.asarray(expit(values)) if method == "decision_function" else values


# ---------------------------------------------------------------------- checks


def _numbers(given: Any, shape: tuple[int, ...], who: str, where: Where) -> FloatArray:
    """Return an answer as an array of numbers of a shape."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        values = None
    if values is None or values.shape != shape:
        came = f"a {type(given).__name__}" if values is None else f"shape {values.shape}"
        raise PalmetteError(
            f"{who}{where()} gave {came}: expected an array of numbers of shape {shape}, one "
            "column per class. Use another classifier."
        )
    return values


def _check_finite(values: FloatArray, who: str, where: Where) -> None:
    is_bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if is_bad.any():
        raise PalmetteError(
            f"{who}{where()} gave NaN or infinity for {is_bad.sum()} of {len(values)} rows: "
            "expected finite numbers. Change its settings, such as its smoothing, scale the "
            "columns, remove those that are constant, or use another classifier."
        )


def _name(estimator: Any) -> str:
    return type(estimator).__name__


def _short(values: NDArray[Any]) -> str:
    """Write the first of some values."""
    listed = np.unique(values.astype(str)).tolist() if values.dtype == object else values.tolist()
    return f"{listed[:5]}"[:-1] + (", ...]" if len(listed) > 5 else "]")
