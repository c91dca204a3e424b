"""ColumnUnits: columns of any unit as numbers that single precision can tell apart.

Trees of scikit-learn, and some of ours, read rows in single precision and do not cut between values
that are less than 1e-7 apart. A column of Unix times, or one of 1e-9, is then constant to them.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import BaseDecisionTree

from palmette._arrays import FloatArray, is_text, row_chunks, take_rows
from palmette.persistence.checks import numbers, require, same_shapes

# A column is left as it is if single precision keeps its differences to 2^-14 (of the 24 digits, 10
# are those of a centre of 2^10 spreads), and 1e-7, below which trees do not cut, is at most 1e-4 of
# them. Columns of usual tables are within these bounds by far.
_FAR = 2.0**10
FINEST, _COARSEST = -10, 20  # exponents of spreads
_LARGEST = 2.0**120  # sums of two values are finite in single precision
_MOST_EXPONENT = 1000
_CELLS = 2**18  # of the rows that spreads are estimated from
_FEWEST_ROWS = 256
_CELLS_AT_ONCE = 2**22  # that are in double precision at a time


class ColumnUnits:
    """A centre to subtract from every column, and a power of two to multiply it by.

    They are needed where a column is far from zero for its spread, or where its spread is very
    small or large; then all columns get a spread of about one, so that they stay comparable. The
    map keeps the order of values, on which alone trees depend. It is exact where differences of
    values are. Columns of sparse matrices have no centre.

    Parameters
    ----------
    centres : array of shape (n_features,)
    exponents : int array of shape (n_features,)

    Examples
    --------
    >>> X = np.array([[1.7e9, 1.0], [1.7e9 + 1, 2.0], [1.7e9 + 2, 9.0]])
    >>> ColumnUnits.of(X).apply(X).tolist()
    [[-1.0, -0.5], [0.0, 0.0], [1.0, 3.5]]
    >>> print(ColumnUnits.of(X[:, 1:]))
    None
    """

    def __init__(self, centres: FloatArray, exponents: NDArray[np.int64]) -> None:
        self.centres = centres
        self.exponents = exponents

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        centres = numbers(self.centres, np.float64, 1, "centres of columns")
        exponents = numbers(self.exponents, np.int64, 1, "exponents of columns")
        same_shapes(centres, exponents)
        require(np.abs(exponents) <= _MOST_EXPONENT, "an exponent of a column is too large")

    @classmethod
    def of(cls, X: Any, *, finest: int = FINEST) -> ColumnUnits | None:
        """Find the units of training rows; None if every column can stay as it is.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Missing values are NaN. Texts, and tables with columns that are no numbers, stay as they
            are. Spreads are estimated from some of the rows of large data.
        finest : int
            Exponent of the smallest spread of columns that stay as they are.
        """
        if sparse.issparse(X):
            return cls._needed(np.zeros(X.shape[1]), _sparse_exponents(X), finest)
        if is_text(X) or X.ndim != 2:
            return None
        n_rows, n_columns = X.shape
        step = -(-n_rows // max(_FEWEST_ROWS, _CELLS // max(n_columns, 1)))
        try:
            some = _as_numbers(X if step == 1 else take_rows(X, np.arange(0, n_rows, step)))
        except (ValueError, TypeError):  # the trees have errors of their own
            return None
        centres, exponents = _moments(some)
        alike = np.isnan(exponents)
        if step > 1 and alike.any():  # constant in these rows, perhaps not in others
            whole = X if isinstance(X, np.ndarray) else _as_numbers(X)
            centres[alike], exponents[alike] = _moments(whole[:, alike])
        return cls._needed(centres, exponents, finest)

    @classmethod
    def _needed(cls, centres: FloatArray, exponents: FloatArray, finest: int) -> ColumnUnits | None:
        """Return the units, given a middle value and the exponent of the spread, NaN if constant.

        None if all columns can stay as they are.
        """
        is_constant = np.isnan(exponents)
        exponents = np.where(is_constant, 0, np.rint(exponents)).astype(np.int64)
        spreads = np.ldexp(1.0, exponents)
        most = np.where(is_constant, 2.0**_COARSEST, _FAR * spreads)
        is_odd = (exponents < finest) | (exponents > _COARSEST)
        if not (is_odd | (np.abs(centres) > most)).any():
            return None
        whole = np.rint(centres / spreads) * spreads  # rows that are added hardly move it
        return cls(whole, -exponents.clip(-_MOST_EXPONENT, _MOST_EXPONENT))

    def apply(self, X: Any) -> Any:
        """Return rows in these units in single precision: an array, or a CSR matrix if X is sparse.

        Values that are too large for single precision are cut, far beyond all training rows.
        """
        factors = np.ldexp(1.0, self.exponents)
        if sparse.issparse(X):
            rows = X.tocsr()
            data = _cut(rows.data * factors[rows.indices]).astype(np.float32)
            return type(rows)((data, rows.indices, rows.indptr), shape=X.shape)
        rows = _as_numbers(X)
        n_rows, n_columns = rows.shape
        found = np.empty(rows.shape, dtype=np.float32)
        with np.errstate(over="ignore"):
            for part in row_chunks(n_rows, n_columns, at_once=_CELLS_AT_ONCE):
                found[part] = _cut(_minus(rows[part], self.centres) * factors)
        return found


def _cut(values: FloatArray) -> FloatArray:
    return np.clip(values, -_LARGEST, _LARGEST, out=values)


def _minus(rows: NDArray[Any], centres: FloatArray) -> FloatArray:
    """Return rows less their centres; those of integers are exact beyond 2^53, as nanoseconds."""
    if rows.dtype == np.int64:
        low, high = rows.min(axis=0, initial=0), rows.max(axis=0, initial=0)
        own = centres.clip(-(2.0**62), 2.0**62).astype(np.int64)
        fits = (own == centres).all() and max(-float(low.min()), float(high.max())) < 2.0**62
        if fits:
            return np.asarray(rows - own, dtype=np.float64)
    return rows.astype(np.float64) - centres


def _as_numbers(X: Any) -> NDArray[Any]:
    """Return an array or table as an array of numbers."""
    from sklearn.utils.validation import check_array

    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return X
    return np.asarray(check_array(X, dtype="numeric", ensure_all_finite=False))


def _moments(rows: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Return the middle value of every column, and the mean exponent of what differs from it."""
    values = np.array(rows, dtype=np.float64)
    values.sort(axis=0)
    known = len(values) - np.isnan(values).sum(axis=0)
    columns = np.arange(values.shape[1])
    centres = np.where(known > 0, values[np.maximum(known - 1, 0) // 2, columns], 0.0)
    if rows.dtype == np.int64:  # differences of nanoseconds
        values = np.sort(rows, axis=0)
        away = np.abs(_minus(values, centres))
    else:
        away = np.abs(values - centres)
    differs = away > 0.0  # not of missing values
    total = np.where(differs, _exponents(away), 0).sum(axis=0)
    count = differs.sum(axis=0)
    nothing = np.full(len(count), np.nan)
    return centres, np.divide(total, count, out=nothing, where=count > 0)


def _sparse_exponents(X: Any) -> FloatArray:
    """Return the mean exponent of the nonzero values of every column, NaN where there are none."""
    rows = X.tocsr()
    exponents = _exponents(rows.data.astype(np.float64, copy=False))
    count = np.bincount(rows.indices, minlength=X.shape[1])
    total = np.bincount(rows.indices, exponents, minlength=X.shape[1])
    return np.divide(total, count, out=np.full(X.shape[1], np.nan), where=count > 0)


def _exponents(values: FloatArray) -> NDArray[np.int32]:
    """Return the exponents of the powers of two at or below the values."""
    return np.asarray(np.frexp(values)[1] - 1)


def compares_columns(estimator: Any) -> bool:
    """Return whether a classifier only compares values of a column: trees of scikit-learn.

    Ensembles and searches over them count too. They have the same answers in any units that keep
    the order of values, and need those of `ColumnUnits`.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> compares_columns(BaggingClassifier()), compares_columns(KNeighborsClassifier())
    (True, False)
    """
    own = getattr(estimator, "_compares_columns", False)  # a method of classifiers over hierarchies
    if isinstance(estimator, BaseDecisionTree) or own is True:
        return True
    ensemble: Any = sys.modules.get("sklearn.ensemble")
    if ensemble is not None:
        if isinstance(estimator, ensemble.GradientBoostingClassifier):
            return True
        if isinstance(estimator, ensemble.BaggingClassifier | ensemble.AdaBoostClassifier):
            return estimator.estimator is None or compares_columns(estimator.estimator)
    inner = getattr(estimator, "estimator", None)
    is_of_sklearn = type(estimator).__module__.startswith("sklearn.")
    return inner is not None and is_of_sklearn and compares_columns(inner)
