"""One column of pandas, polars or pyarrow as a plain array, and an array as such a column.

A column of numbers becomes an array of them; one of anything else, or with missing numbers, an
array of objects. On the way back the column has its former type wherever that type can hold the
values: the name of an internal node cannot stand in a column of integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palmette.core.values import is_padding, object_array

__all__ = [
    "from_pandas",
    "from_polars",
    "from_pyarrow",
    "stack_columns",
    "to_pandas",
    "to_polars",
    "to_pyarrow",
]

_NUMBERS = frozenset("biuf")  # kinds of numpy types that are numbers or flags
_REFUSALS = (TypeError, ValueError, OverflowError, NotImplementedError)


def from_pandas(column: Any) -> NDArray[Any]:
    """Values of a pandas Series."""
    if isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy())
    values = np.asarray(column.astype(object).to_numpy() if column.hasnans else column.to_numpy())
    return values if values.dtype.kind in _NUMBERS else values.astype(object)


def to_pandas(values: NDArray[Any], dtype: Any, index: Any, name: Any = None) -> Any:
    """Make a pandas Series; without a type pandas infers one."""
    import pandas as pd

    column = pd.Series(values, index=index, name=name, dtype=values.dtype)
    if dtype is None:
        return column.infer_objects()
    there = ~pd.isna(values)
    is_category = isinstance(dtype, pd.CategoricalDtype)
    if dtype == values.dtype or (is_category and not column[there].isin(dtype.categories).all()):
        return column
    try:
        restored = column.astype(dtype)
    except _REFUSALS:
        return column
    # a type may also take other values for those that came, as one of strings does
    as_came = values[there].astype(object) == restored[there].astype(object).to_numpy()
    return restored if np.all(as_came) else column


def from_polars(column: Any) -> NDArray[Any]:
    """Values of a polars Series."""
    dtype = column.dtype
    is_number = dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
    if not is_number or column.null_count():
        return object_array(column.to_list())
    values = np.asarray(column.to_numpy())
    return values if values.dtype.kind in _NUMBERS else object_array(column.to_list())


def to_polars(values: NDArray[Any], dtype: Any, name: str) -> Any:
    """Make a polars Series; without a type polars infers one."""
    import polars as pl

    cells = values.tolist()
    for choice in (dtype, None):
        try:
            return pl.Series(name, cells, dtype=choice, strict=True)
        except (*_REFUSALS, pl.exceptions.PolarsError):
            continue
    return pl.Series(name, cells, dtype=pl.Object)


def from_pyarrow(column: Any) -> NDArray[Any]:
    """Values of a pyarrow Array or ChunkedArray."""
    import pyarrow as pa

    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    if column.null_count or not any(is_kind(column.type) for is_kind in kinds):
        return object_array(column.to_pylist())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def to_pyarrow(values: NDArray[Any], dtype: Any) -> Any:
    """Make a pyarrow Array; without a type pyarrow infers one."""
    import pyarrow as pa

    cells = values.tolist()
    for choice in (dtype, None):
        try:
            return pa.array(cells, type=choice)
        except _REFUSALS:
            continue
    return pa.array([None if is_padding(cell) else str(cell) for cell in cells])


def stack_columns(columns: list[NDArray[Any]], n_rows: int) -> NDArray[Any]:
    """Make a table: of numbers where all columns are of one kind, else of objects."""
    kinds = {column.dtype.kind for column in columns}
    if columns and kinds <= _NUMBERS:
        stacked = np.column_stack(columns)
        # integers would become floats: names must not, zeros and ones of an indicator may
        if kinds == {"f"} or stacked.dtype.kind != "f" or np.isin(stacked, (0, 1)).all():
            return stacked
    table = np.empty((n_rows, len(columns)), dtype=object)
    for i, column in enumerate(columns):
        is_date = column.dtype.kind in "mM"  # tolist makes bare numbers of nanoseconds
        table[:, i] = object_array(list(column) if is_date else column.tolist())
    return table
