"""Convert columns of pandas, polars and pyarrow to arrays and back.

A column of numbers becomes a numeric array; any other column, or one with missing numbers, becomes
an object array. Converted back, the column has its former type if that type can represent the
values: the name of an internal node does not fit in a column of integers.
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
    """Return the values of a pandas Series."""
    if isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy())
    values = np.asarray(column.astype(object).to_numpy() if column.hasnans else column.to_numpy())
    return values if values.dtype.kind in _NUMBERS else values.astype(object)


def to_pandas(values: NDArray[Any], dtype: Any, index: Any, name: Any = None) -> Any:
    """Make a pandas Series; if `dtype` is None, pandas infers one."""
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
    # some types change the values, as string types do
    as_came = values[there].astype(object) == restored[there].astype(object).to_numpy()
    return restored if np.all(as_came) else column


def from_polars(column: Any) -> NDArray[Any]:
    """Return the values of a polars Series."""
    dtype = column.dtype
    is_number = dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
    if not is_number or column.null_count():
        return object_array(column.to_list())
    values = np.asarray(column.to_numpy())
    return values if values.dtype.kind in _NUMBERS else object_array(column.to_list())


def to_polars(values: NDArray[Any], dtype: Any, name: str) -> Any:
    """Make a polars Series; if `dtype` is None, polars infers one."""
    import polars as pl

    cells = values.tolist()
    for choice in (dtype, None):
        try:
            return pl.Series(name, cells, dtype=choice, strict=True)
        except (*_REFUSALS, pl.exceptions.PolarsError):
            continue
    return pl.Series(name, cells, dtype=pl.Object)


def from_pyarrow(column: Any) -> NDArray[Any]:
    """Return the values of a pyarrow Array or ChunkedArray."""
    import pyarrow as pa

    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    if column.null_count or not any(is_kind(column.type) for is_kind in kinds):
        return object_array(column.to_pylist())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def to_pyarrow(values: NDArray[Any], dtype: Any) -> Any:
    """Make a pyarrow Array; if `dtype` is None, pyarrow infers one."""
    import pyarrow as pa

    cells = values.tolist()
    for choice in (dtype, None):
        try:
            return pa.array(cells, type=choice)
        except _REFUSALS:
            continue
    return pa.array([None if is_padding(cell) else str(cell) for cell in cells])


def stack_columns(columns: list[NDArray[Any]], n_rows: int) -> NDArray[Any]:
    """Stack columns to a table: numeric if all columns are of one numeric kind, else objects."""
    kinds = {column.dtype.kind for column in columns}
    if columns and kinds <= _NUMBERS:
        stacked = np.column_stack(columns)
        # integers that are names must not become floats; zeros and ones of an indicator may
        if kinds == {"f"} or stacked.dtype.kind != "f" or np.isin(stacked, (0, 1)).all():
            return stacked
    table = np.empty((n_rows, len(columns)), dtype=object)
    for i, column in enumerate(columns):
        is_date = column.dtype.kind in "mM"  # tolist would return integers of nanoseconds
        table[:, i] = object_array(list(column) if is_date else column.tolist())
    return table
