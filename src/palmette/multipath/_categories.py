"""Features that are categories: which they are, and tables of them read as codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from palmette._arrays import FloatArray, is_missing, read_rows
from palmette.exceptions import PalmetteError
from palmette.labels._containers import column_names

Category: TypeAlias = str | int | float | bool

_UNKNOWN = -1.0  # code of a category that no row of the fit has
_OF_CATEGORIES = ("category", "categorical", "enum", "dictionary")  # beginnings of types' names


def find_categorical(given: Any, X: Any) -> NDArray[np.bool_] | None:
    """Return which features are categories.

    Parameters
    ----------
    given : "from_dtype", None or array-like
        "from_dtype": columns of a table whose type is a category. None: no features. Else a mask
        of shape (n_features,), or indices or names of features.
    X : array-like, table or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    bool array of shape (n_features,), or None if no feature is a category

    Examples
    --------
    >>> find_categorical([0, 2], np.zeros((5, 3)))
    array([ True, False,  True])
    """
    by_type = isinstance(given, str)
    if by_type and given != "from_dtype":
        raise PalmetteError(_expected(given))
    if given is None or (by_type and not hasattr(X, "columns")):
        return None
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:  # an error where X is read
        return None
    mask = np.zeros(shape[1], dtype=np.bool_)
    if by_type:
        for j in range(shape[1]):
            column = _column(X, j)
            kind = column.type if hasattr(X, "column_names") else column.dtype
            mask[j] = str(kind).lower().startswith(_OF_CATEGORIES)
    else:
        _mark(mask, np.asarray(given), given, X)
    if not mask.any():
        return None
    if sparse.issparse(X):
        raise PalmetteError(
            f"categorical_features={given!r} with a sparse matrix: expected dense rows. Pass "
            "X.toarray(), or encode the categories as columns of 0 and 1."
        )
    return mask


def _mark(mask: NDArray[np.bool_], chosen: NDArray[Any], given: Any, X: Any) -> None:
    """Set `mask` where features are chosen by a mask, by indices or by names."""
    n_features = len(mask)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "biuUO"):
        raise PalmetteError(_expected(given))
    if chosen.dtype.kind == "b":
        if len(chosen) != n_features:
            raise PalmetteError(
                f"categorical_features is a mask of {len(chosen)} features, but X has {n_features}."
            )
        mask[:] = chosen
    elif chosen.dtype.kind in "iu":
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < n_features:
            raise PalmetteError(
                f"categorical_features={given!r}: expected indices of at least 0 and below "
                f"{n_features}, the number of features of X."
            )
        mask[chosen] = True
    elif chosen.size:
        names = column_names(X) or []
        unknown = [name for name in chosen.tolist() if name not in names]
        if unknown:
            raise PalmetteError(
                f"categorical_features names {unknown[0]!r}, which is not a column of X. Names "
                "need a table with named columns; for arrays pass indices or a mask."
            )
        mask[[names.index(name) for name in chosen.tolist()]] = True


def _expected(given: Any) -> str:
    return (
        f"categorical_features={given!r}: expected 'from_dtype', None, a mask, or indices or names "
        "of features."
    )


@dataclass(frozen=True, eq=False)
class CategoryCodes:
    """Codes of the categories of a table, or of an array of objects.

    Parameters
    ----------
    features : list of int
        Features that are categories.
    categories : list of list
        The categories of each: strings and numbers, ascending. A code is a position in this list.
    """

    features: list[int]
    categories: list[list[Category]]

    @classmethod
    def find(cls, X: Any, categorical: NDArray[np.bool_] | None) -> CategoryCodes | None:
        """Find the categories of the rows of a fit; None if X is an array of numbers."""
        if categorical is None:
            return None
        if not hasattr(X, "columns"):
            X = np.asarray(X)
            if X.dtype.kind not in "OUS":
                return None
        features = np.flatnonzero(categorical).tolist()
        return cls(features, [_distinct(_values(X, j)) for j in features])

    def read(self, X: Any, estimator: Any, *, reset: bool, **options: Any) -> Any:
        """Check X, and return it with codes for categories.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_features)
        estimator : estimator
            Its number and names of features are set or compared.
        reset : bool
            Whether X has the rows of a fit.
        **options
            Of `check_array`.

        Returns
        -------
        float64 array of shape (n_samples, n_features)
            NaN for missing values.
        """
        if sparse.issparse(X):
            raise PalmetteError("X is sparse, but the model was fitted on a table of categories.")
        if not hasattr(X, "columns"):
            X = np.asarray(X, dtype=object)
            if X.ndim != 2:
                raise ValueError(f"X has shape {X.shape}: expected a table or a 2-D array.")
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if 0 in X.shape:
            raise ValueError(f"X has shape {X.shape}: expected at least one row and column.")
        rows = np.empty(X.shape)
        codes = dict(zip(self.features, self.categories, strict=True))
        for j in range(X.shape[1]):
            if j in codes:
                rows[:, j] = _coded(_values(X, j), codes[j])
            else:
                rows[:, j] = _as_numbers(_column(X, j), j)
        return read_rows(rows, named=estimator, reset=reset, **options)


def _distinct(values: Sequence[Any]) -> list[Category]:
    """Return the categories among values, numbers before strings, each ascending."""
    found = {key for key in map(_plain, values) if key is not None}
    return sorted(found, key=lambda key: (isinstance(key, str), key))


def _coded(values: Sequence[Any], categories: list[Category]) -> FloatArray:
    """Return the codes of values; NaN for missing ones."""
    code_of: dict[Category | None, float] = {key: i for i, key in enumerate(categories)}
    code_of[None] = np.nan
    return np.array([code_of.get(_plain(value), _UNKNOWN) for value in values], dtype=np.float64)


def _as_numbers(column: Any, j: int) -> FloatArray:
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PalmetteError(
            f"feature {getattr(column, 'name', j)!r} of X has values that are not numbers "
            f"({error}). Name it in categorical_features, or convert it to numbers."
        ) from error


def _column(X: Any, j: int) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.column(j) if hasattr(X, "column_names") else X[:, j]  # of pyarrow


def _values(X: Any, j: int) -> Sequence[Any]:
    column = _column(X, j)
    if hasattr(column, "to_pylist"):  # as an array, a chunk of a dictionary loses missing values
        column = column.to_pylist()
    values: Sequence[Any] = np.asarray(column, dtype=object).tolist()
    return values


def _plain(value: Any) -> Category | None:
    """Return a category as a string or number, which a file can hold; None if it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | int):
        return value
    if is_missing(value):
        return None
    return value if isinstance(value, float) else str(value)
