"""ColumnUnits: columns of any unit as numbers that floating point can tell apart.

Trees of scikit-learn, and some of ours, read rows in single precision and do not cut between values
that are less than 1e-7 apart. A column of Unix times, or one of 1e-9, is then constant to them.
Other methods square values, or end where a step is smaller than a tolerance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette._arrays import FloatArray, is_text, row_chunks, take_rows
from palmette.hierarchy._names import shown
from palmette.persistence.checks import numbers, require, same_shapes

Kind: TypeAlias = Literal["order", "columns", "rows", "own", "unknown"]
"""What a method makes of rows.

- "order": values of a column are only compared, in single precision;
- "columns": columns have coefficients, means or variances of their own;
- "rows": rows are compared by distances, to which all columns contribute in their units;
- "own": it reads any units, prepares rows by itself, or needs them as they are, such as counts;
- "unknown": nothing is known about it.
"""

# A column is left as it is if single precision keeps its differences to 2^-14 (of the 24 digits, 10
# are those of a centre of 2^10 spreads), and 1e-7, below which trees do not cut, is at most 1e-4 of
# them. Columns of usual tables are within these bounds by far. Words that are rare in long texts
# have shares of 1e-4, which nothing but trees must take for a matter of units.
_FAR = 2.0**10
_FINEST = {"order": -10, "columns": -20, "rows": -20, "unknown": -20}  # exponents of spreads
_COARSEST = 20
_LARGEST = 2.0**120  # sums of two values are finite in single precision
_MOST_EXPONENT = 1000
_LAST = 2**15  # above all exponents
_CELLS = 2**18  # of the rows that spreads are estimated from
_FEWEST_ROWS = 256
_CELLS_AT_ONCE = 2**22  # that are in double precision at a time


class ColumnUnits:
    """A centre to subtract from every column, and a power of two to multiply it by.

    They are needed where a column is far from zero for its spread, or where its spread is very
    small or large; then all columns get a spread of about one, so that they stay comparable. The
    map keeps the order of values, on which alone trees depend. It is exact where differences of
    values are. Columns of sparse matrices have no centre. Methods that compare rows by distances
    get one power of two for all columns, which multiplies all distances alike.

    Parameters
    ----------
    centres : array of shape (n_features,)
    exponents : int array of shape (n_features,)
    single : bool
        Whether rows in these units are in single precision.

    Examples
    --------
    >>> X = np.array([[1.7e9, 1.0], [1.7e9 + 1, 2.0], [1.7e9 + 2, 9.0]])
    >>> ColumnUnits.of(X).apply(X).tolist()
    [[-1.0, -1.0], [0.0, 0.0], [1.0, 7.0]]
    >>> print(ColumnUnits.of(X[:, 1:]))
    None
    """

    single: bool = True  # in models of files that do not know it

    def __init__(
        self, centres: FloatArray, exponents: NDArray[np.int64], single: bool = True
    ) -> None:
        self.centres = centres
        self.exponents = exponents
        self.single = single

    def check_arrays(self) -> None:
        """Check arrays that were read from a file; see `palmette.persistence.checks`."""
        centres = numbers(self.centres, np.float64, 1, "centres of columns")
        exponents = numbers(self.exponents, np.int64, 1, "exponents of columns")
        same_shapes(centres, exponents)
        require(isinstance(self.single, bool), "single is not a bool")
        require(np.abs(exponents) <= _MOST_EXPONENT, "an exponent of a column is too large")

    @classmethod
    def of(cls, X: Any, kind: Kind = "order", *, finest: int | None = None) -> ColumnUnits | None:
        """Find the units of training rows; None if every column can stay as it is.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Missing values are NaN. Texts, and tables with columns that are no numbers, stay as they
            are. Spreads are estimated from some of the rows of large data.
        kind : str
            What the method makes of rows; see `Kind`.
        finest : int, optional
            Exponent of the smallest spread of columns that stay as they are.
        """
        if kind == "own":
            return None
        finest = _FINEST[kind] if finest is None else finest
        if sparse.issparse(X):
            return cls._needed(np.zeros(X.shape[1]), _sparse_exponents(X), kind, finest)
        if is_text(X) or len(X.shape) != 2:
            return None
        n_rows, n_columns = X.shape
        step = -(-n_rows // max(_FEWEST_ROWS, _CELLS // max(n_columns, 1)))
        try:
            some = _as_numbers(X if step == 1 else take_rows(X, np.arange(0, n_rows, step)))
        except (ValueError, TypeError):  # the estimators have errors of their own
            return None
        centres, exponents = _moments(some)
        alike = np.isnan(exponents)
        if step > 1 and alike.any():  # constant in these rows, perhaps not in others
            whole = X if isinstance(X, np.ndarray) else _as_numbers(X)
            centres[alike], exponents[alike] = _moments(whole[:, alike])
        return cls._needed(centres, exponents, kind, finest)

    @classmethod
    def _needed(
        cls, centres: FloatArray, exponents: FloatArray, kind: Kind, finest: int
    ) -> ColumnUnits | None:
        """Return the units, given a middle value and the exponent of the spread, NaN if constant.

        None if all columns can stay as they are.
        """
        is_constant = np.isnan(exponents)
        exponents = np.where(is_constant, 0, np.rint(exponents)).astype(np.int64)
        spreads = np.ldexp(1.0, exponents)
        is_far = np.abs(centres) > np.where(is_constant, 2.0**_COARSEST, _FAR * spreads)
        if kind == "rows" and not is_constant.all():
            exponents = np.full_like(exponents, np.median(exponents[~is_constant]))
        is_odd = (exponents < finest) | (exponents > _COARSEST)
        if not (is_odd | is_far).any():
            return None
        whole = np.rint(centres / spreads) * spreads  # rows that are added hardly move it
        whole[~np.isfinite(whole)] = 0.0
        if kind != "order":
            whole = np.where(is_far, whole, 0.0)
        if kind == "rows" and not is_odd.any():
            exponents = np.zeros_like(exponents)
        return cls(whole, -exponents.clip(-_MOST_EXPONENT, _MOST_EXPONENT), kind == "order")

    def as_advice(self) -> str:
        """Return what to tell the user of a classifier that gets the columns as they are."""
        changed = np.flatnonzero((self.centres != 0) | (self.exponents != 0))
        return (
            f"columns {shown(changed.tolist())} of X are far from zero for their spread, or of "
            "other orders of magnitude than one, and it is not known whether the classifier can "
            "tell their values apart. Put sklearn.preprocessing.StandardScaler before it, in a "
            "pipeline."
        )

    def apply(self, X: Any) -> Any:
        """Return rows in these units: an array, or a CSR matrix if X is sparse.

        Values that are too large for single precision are cut, far beyond all training rows.
        """
        factors = np.ldexp(1.0, self.exponents)
        dtype = np.float32 if self.single else np.float64
        if sparse.issparse(X):
            rows = X.tocsr()
            data = _cut(rows.data * factors[rows.indices]).astype(dtype, copy=False)
            return type(rows)((data, rows.indices, rows.indptr), shape=X.shape)
        rows = _as_numbers(X)
        n_rows, n_columns = rows.shape
        found = np.empty(rows.shape, dtype=dtype)
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
    """Return the middle value of every column, and the median exponent of what differs from it."""
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
    ordered = np.sort(np.where(differs, _exponents(away), _LAST), axis=0)
    count = differs.sum(axis=0)
    middle = ordered[np.maximum(count - 1, 0) // 2, columns]  # few outliers hardly move it
    return centres, np.where(count > 0, middle, np.nan)


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


# ---------------------------------------------------------------------- what a method makes of rows

# by the start of the module of a class of scikit-learn, or of the class's full name
_OF_SKLEARN: dict[str, Kind] = {
    "sklearn.tree.": "order",
    "sklearn.ensemble._forest.": "order",
    "sklearn.ensemble._gb.": "order",
    "sklearn.ensemble._hist_gradient_boosting.": "own",
    "sklearn.dummy.": "own",
    "sklearn.naive_bayes.GaussianNB": "columns",
    "sklearn.naive_bayes.": "own",
    "sklearn.linear_model.": "columns",
    "sklearn.svm._classes.LinearSVC": "columns",
    "sklearn.discriminant_analysis.": "columns",
    "sklearn.neural_network.": "columns",
    "sklearn.svm.": "rows",
    "sklearn.neighbors.": "rows",
    "sklearn.gaussian_process.": "rows",
    "sklearn.impute._base.SimpleImputer": "order",
    "sklearn.decomposition._pca.": "rows",
    "sklearn.preprocessing._data.StandardScaler": "order",
    "sklearn.preprocessing._data.MinMaxScaler": "order",
    "sklearn.preprocessing._data.MaxAbsScaler": "order",
    "sklearn.preprocessing._data.RobustScaler": "order",
    "sklearn.preprocessing._data.QuantileTransformer": "order",
    "sklearn.feature_selection._univariate_selection.": "order",
}
_OF_TREES = ("BaggingClassifier", "AdaBoostClassifier")  # unless they have another estimator
_OF_DISTANCES = ("minkowski", "euclidean", "manhattan", "chebyshev", "l1", "l2", "cityblock")


def unit_kind_of(estimator: Any) -> Kind:
    """Return what an unfitted classifier makes of rows.

    Ensembles, searches and pipelines are what their parts are. Classifiers of Palmette over
    hierarchies take care of units by themselves.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> unit_kind_of(BaggingClassifier()), unit_kind_of(LogisticRegression())
    ('order', 'columns')
    >>> unit_kind_of(KNeighborsClassifier()), unit_kind_of(KNeighborsClassifier(metric="cosine"))
    ('rows', 'unknown')
    """
    own = getattr(estimator, "_kind_of_units", None)
    if own is not None:  # a method of classifiers over hierarchies, a constant of others
        return own if isinstance(own, str) else "own"  # type: ignore[return-value]
    name = _name_in_sklearn(estimator)
    if name and hasattr(estimator, "steps"):
        return _kind_of_pipeline([step for _, step in estimator.steps])
    if name and isinstance(getattr(estimator, "estimators", None), list):
        return joint_kind(part for _, part in estimator.estimators if part != "drop")
    if name and getattr(estimator, "estimator", None) is not None:
        kind = unit_kind_of(estimator.estimator)
        return "unknown" if kind == "rows" and _tries_distances(estimator) else kind
    if name.endswith(_OF_TREES):
        return "order"
    kind = next((kind for start, kind in _OF_SKLEARN.items() if name.startswith(start)), "unknown")
    return "unknown" if _has_absolute_units(estimator) else kind


def joint_kind(estimators: Iterable[Any]) -> Kind:
    """Return what several classifiers make of the same rows; "unknown" if there are none."""
    found = {unit_kind_of(estimator) for estimator in estimators}
    least: tuple[Kind, ...] = ("unknown", "own", "rows", "columns", "order")
    return next((kind for kind in least if kind in found), "unknown")


def _name_in_sklearn(estimator: Any) -> str:
    """Return the full name of the class of scikit-learn that an estimator is, or ""."""
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in type(estimator).__mro__)
    name = next((name for name in names if name.startswith("sklearn.")), "")
    return "" if name.startswith(("sklearn.base.", "sklearn.utils.")) else name


def _kind_of_pipeline(steps: list[Any]) -> Kind:
    """Return what the steps are together; "own" if one of the first prepares rows in its way."""
    steps = [step for step in steps if step not in (None, "passthrough")]
    first = joint_kind(steps[:-1]) if len(steps) > 1 else "order"
    return joint_kind(steps) if first in ("order", "rows") else "own"


def _has_absolute_units(estimator: Any) -> bool:
    """Return whether a parameter is a number in the units of X, or a metric needs its zero."""
    if any(isinstance(getattr(estimator, name, None), float | int) for name in ("gamma", "radius")):
        return True
    if getattr(estimator, "strategy", None) == "constant":
        return True
    return getattr(estimator, "metric", "euclidean") not in _OF_DISTANCES


def _tries_distances(search: Any) -> bool:
    """Return whether a search tries parameters that are in the units of X."""
    tried = getattr(search, "param_grid", getattr(search, "param_distributions", ""))
    return any(name in str(tried) for name in ("gamma", "radius", "metric"))
