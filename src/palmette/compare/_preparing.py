"""Features of a model: a table's as `fit_table` makes them, an array's without gaps and scaled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from palmette.exceptions import PalmetteError
from palmette.models._registry import ModelSpec

MAX_DENSE = 2**28  # numbers: 2 GiB


def prepare(
    model: Any, spec: ModelSpec, *parts: Any, categorical: Any = None, schema: Any = None
) -> Any:
    """Return a pipeline of what makes the features, and a model.

    Parameters
    ----------
    model : estimator
    spec : ModelSpec
        Kinds of features that the model supports.
    *parts : features of training rows, and of test rows
        Used only to find their kind, and missing values.
    categorical : bool array of shape (n_features,), optional
        Columns of an array with categories as numbers.
    schema : Schema, optional
        Columns of a table that it was read with; its features are those of `fit_table`.

    Returns
    -------
    estimator
    """
    from sklearn.pipeline import make_pipeline

    if schema is not None:
        from palmette.table._features import TableFeatures

        return make_pipeline(TableFeatures(schema), model)
    if sparse.issparse(parts[0]):
        steps = list(_sparse_steps(spec))
    else:
        has_missing = any(_has_missing(part) for part in parts if part is not None)
        steps = _array_steps(spec, has_missing, categorical)
    return make_pipeline(*steps, model) if steps else model


def _sparse_steps(spec: ModelSpec) -> Iterator[Any]:
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    if spec.scale:
        yield StandardScaler(with_mean=False)
    if not spec.takes_sparse:
        yield FunctionTransformer(make_dense, accept_sparse=True)


def make_dense(X: Any) -> Any:
    """Convert a sparse matrix to a dense one, unless it is too large."""
    if not sparse.issparse(X):
        return X
    n_rows, n_columns = X.shape
    if n_rows * n_columns > MAX_DENSE:
        raise PalmetteError(
            f"the features are a sparse matrix of {n_rows:,} x {n_columns:,}, but the model needs "
            f"a dense one, of at most {MAX_DENSE:,} numbers. Choose a model that supports "
            "sparse matrices."
        )
    return X.toarray()


def _array_steps(spec: ModelSpec, has_missing: bool, categorical: Any) -> list[Any]:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    numbers = list(_number_steps(spec, has_missing and not spec.takes_missing))
    if categorical is None or not np.any(categorical) or spec.takes_codes:
        return numbers
    codes = np.flatnonzero(categorical)
    rest = np.flatnonzero(~np.asarray(categorical, dtype=bool))
    branches = [("codes", OneHotEncoder(handle_unknown="ignore", sparse_output=False), codes)]
    if len(rest):
        branches.append(("numbers", make_pipeline(*numbers) if numbers else "passthrough", rest))
    return [ColumnTransformer(branches)]


def _number_steps(spec: ModelSpec, fill: bool) -> Iterator[Any]:
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    if fill:
        yield SimpleImputer(keep_empty_features=True)
    if spec.scale:
        yield StandardScaler()


def _has_missing(X: Any) -> bool:
    array = np.asarray(X)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())
