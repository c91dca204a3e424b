"""Preprocessing of features for a model: texts, categories, missing values, scale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from palmette._arrays import is_text
from palmette.exceptions import PalmetteError
from palmette.models._registry import ModelSpec

MAX_DENSE = 2**28  # numbers: 2 GiB
_LARGEST = 1e100

# columns with more distinct strings, and at least so many words per string, are texts
_MAX_CATEGORIES = 40
_MIN_WORDS = 3.0


def prepare(model: Any, spec: ModelSpec, *parts: Any, categorical: Any = None) -> Any:
    """Return a pipeline of the preprocessing that the features need, and a model.

    Parameters
    ----------
    model : estimator
    spec : ModelSpec
        Kinds of features that the model supports.
    *parts : features of training rows, and of test rows
        Used only to find their kind, and missing values.
    categorical : bool array of shape (n_features,), optional
        Columns of an array with categories as numbers.

    Returns
    -------
    estimator
    """
    from sklearn.pipeline import make_pipeline

    X = parts[0]
    if is_text(X):
        steps = [_text_vectorizer()]
    elif hasattr(X, "columns"):
        steps = _table_steps(X, spec)
    elif sparse.issparse(X):
        steps = list(_sparse_steps(spec))
    else:
        has_missing = any(_has_missing(part) for part in parts if part is not None)
        steps = _array_steps(spec, has_missing, categorical)
    return make_pipeline(*steps, model) if steps else model


def _text_vectorizer() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, min_df=2)


# ---------------------------------------------------------------------- arrays


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


# ---------------------------------------------------------------------- tables


def _table_steps(X: Any, spec: ModelSpec) -> list[Any]:
    """Return steps: tf-idf of text columns, numbers without missing values of others."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    X = _without_zeros(X)
    texts = [name for name in X.columns if is_text_column(X[name])]
    rest = [name for name in X.columns if name not in texts]
    branches: list[Any] = [
        (
            f"words of {name}",
            make_pipeline(FunctionTransformer(fill_texts), _text_vectorizer()),
            name,
        )
        for name in texts
    ]
    schema = _schema_of(X[rest])
    if schema.kinds:
        # with text columns the table is sparse, where models do not support missing values
        fill = bool(texts) or not spec.takes_missing
        branches.append(("columns", _column_steps(schema, spec, fill), schema.names()))
    if not branches:
        raise PalmetteError("no column of the table has a value: expected features.")
    steps: list[Any] = [ColumnTransformer(branches)]
    if not spec.takes_sparse:
        steps.append(FunctionTransformer(make_dense, accept_sparse=True))
    return [FunctionTransformer(_without_zeros), *steps]


def _column_steps(schema: Any, spec: ModelSpec, fill: bool) -> Any:
    """Return a pipeline that gives numbers, in double precision, for columns other than texts."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    from palmette.table._features import TableFeatures
    from palmette.table._schema import Schema

    plain = schema.names("number")
    coded = [name for name in schema.names() if name not in plain]
    branches: list[Any] = []
    if plain:
        steps = list(_number_steps(spec, fill))
        branches.append(("numbers", make_pipeline(*steps) if steps else "passthrough", plain))
    if coded:
        encoder = TableFeatures(Schema({name: schema.kinds[name] for name in coded}))
        branches.append(("others", make_pipeline(encoder, *_number_steps(spec, False)), coded))
    read = FunctionTransformer(_read_columns, kw_args={"schema": schema})
    return make_pipeline(read, ColumnTransformer(branches))


def _schema_of(frame: Any) -> Any:
    """Return the schema of all columns that have a value, also identifiers."""
    from pandas.api import types

    from palmette.table._kinds import EMPTY, Guess, guess_kind
    from palmette.table._schema import Schema

    def guess(column: Any) -> Guess:
        is_number = types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype)
        return Guess("number") if is_number else guess_kind(column)

    guesses = {name: guess(frame[name]) for name in frame.columns}
    guesses = {name: each for name, each in guesses.items() if each.why != EMPTY}
    numbers = {name: each.number.form for name, each in guesses.items() if each.number}
    return Schema(
        {n: g.kind if g.kind in ("number", "date") else "category" for n, g in guesses.items()},
        {name: each.dates.formats for name, each in guesses.items() if each.dates},
        {name: form.decimal for name, form in numbers.items()},
        {name: form.unit for name, form in numbers.items()},
    )


def _read_columns(frame: Any, schema: Any) -> Any:
    """Return numbers of which sums of squares are finite, dates, and strings."""
    from palmette.table._schema import Unread

    read = schema.cast(frame, unread=Unread())
    numbers = schema.names("number")
    read[numbers] = read[numbers].clip(-_LARGEST, _LARGEST)
    return read


def _without_zeros(frame: Any) -> Any:
    """Return a table with names by which numpy, and so scikit-learn, can tell its columns apart."""
    if not any("\0" in str(name) for name in frame.columns):
        return frame
    return frame.set_axis([str(i) for i in range(frame.shape[1])], axis=1)


def is_text_column(values: Iterable[Any]) -> bool:
    """Return whether a column has texts: many different strings of several words each.

    Examples
    --------
    >>> is_text_column(["red", "green", None] * 50)
    False
    >>> is_text_column([f"a thing called {i}" for i in range(50)])
    True
    """
    texts = [value for value in islice(values, 2000) if isinstance(value, str)]
    if len(set(texts)) <= _MAX_CATEGORIES:
        return False
    return sum(len(text.split()) for text in texts) >= _MIN_WORDS * len(texts)


def fill_texts(values: Iterable[Any]) -> list[str]:
    """Return a column as a list of texts, with "" for missing values."""
    return [value if isinstance(value, str) else "" for value in values]
