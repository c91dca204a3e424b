"""Unwrap tables and columns of pandas, polars and pyarrow, and wrap answers again.

No library is imported unless an object of it came in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core.graph import is_padding

__all__ = ["Container", "column_names", "row_index", "unwrap"]


@dataclass(frozen=True)
class Container:
    """The kind of object that `y` came in, apart from the values in it.

    Parameters
    ----------
    library : {"numpy", "list", "sparse", "pandas", "polars", "pyarrow"}
    columns : tuple or None
        Column names of a table; None for a single column.
    name : object
        Name of a single column.
    dtype : object
        The column's type in its own library, where it must be restored.
    """

    library: str
    columns: tuple[Any, ...] | None = None
    name: Any = None
    dtype: Any = None

    def wrap(self, values: Any, index: Any = None) -> Any:
        """Put plain values (array, list or sparse matrix) into such an object again."""
        if self.library == "pandas":
            return self._wrap_pandas(values, index)
        if self.library == "polars":
            return self._wrap_polars(values)
        if self.library == "pyarrow":
            return self._wrap_pyarrow(values)
        if self.library == "list":
            return values.tolist() if isinstance(values, np.ndarray) else list(values)
        return values

    def _wrap_pandas(self, values: Any, index: Any) -> Any:
        import pandas as pd

        if self.columns is not None:
            columns = _fit_columns(self.columns, values.shape[1])
            return pd.DataFrame(values, columns=columns, index=index)
        series = pd.Series(_as_objects(values), name=self.name, index=index)
        if self.dtype is None:
            return series
        try:
            return series.astype(self.dtype)
        except (TypeError, ValueError):  # an internal node's name in a column of integers
            return series

    def _wrap_polars(self, values: Any) -> Any:
        import polars as pl

        if self.columns is not None:
            columns = _fit_columns(self.columns, values.shape[1])
            data = {str(c): _plain(values[:, i]) for i, c in enumerate(columns)}
            return pl.DataFrame(data)
        return pl.Series(name=self.name, values=_plain(values))

    def _wrap_pyarrow(self, values: Any) -> Any:
        import pyarrow as pa

        if self.columns is not None:
            columns = _fit_columns(self.columns, values.shape[1])
            return pa.table({str(c): pa.array(_plain(values[:, i])) for i, c in enumerate(columns)})
        return pa.array(_plain(values))


def unwrap(y: Any) -> tuple[Any, Container]:
    """Split `y` into plain values and the container that they came in.

    Returns
    -------
    values : array, list or sparse matrix
        Missing cells of tables are None.
    container : Container
    """
    if sparse.issparse(y):
        return sparse.csr_array(y), Container("sparse")
    library = type(y).__module__.partition(".")[0]
    if library == "pandas":
        return _unwrap_pandas(y)
    if library in ("polars", "pyarrow"):
        return _unwrap_arrow_like(y, library)
    if isinstance(y, np.ndarray):
        return y, Container("numpy")
    if isinstance(y, list | tuple):
        return list(y), Container("list")
    if hasattr(y, "__array__"):
        return np.asarray(y), Container("numpy")
    return y, Container("list")


def _unwrap_pandas(y: Any) -> tuple[Any, Container]:
    if hasattr(y, "columns"):
        if all(dtype.kind in "biuf" for dtype in y.dtypes if hasattr(dtype, "kind")):
            values = y.to_numpy()
        else:
            values = y.astype(object).where(y.notna(), None).to_numpy(dtype=object)
        return values, Container("pandas", columns=tuple(y.columns))
    if hasattr(y, "to_series") and not hasattr(y, "iloc"):  # an Index
        return np.asarray(y), Container("numpy")
    dtype = y.dtype
    if isinstance(dtype, np.dtype):
        return y.to_numpy(), Container("pandas", name=y.name, dtype=None)
    values = y.astype(object).where(y.notna(), None).to_numpy(dtype=object)
    return values, Container("pandas", name=y.name, dtype=dtype)


def _unwrap_arrow_like(y: Any, library: str) -> tuple[Any, Container]:
    names = column_names(y)
    if names is None:
        values = y.to_list() if library == "polars" else y.to_pylist()
        return _as_objects(values), Container(library, name=getattr(y, "name", None))
    columns = [y[c].to_list() if library == "polars" else y[c].to_pylist() for c in names]
    flat = {type(v) for column in columns for v in column}
    if flat <= {int, bool}:
        return np.column_stack([np.asarray(c) for c in columns]), Container(library, tuple(names))
    table = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
    for i, column in enumerate(columns):
        table[:, i] = column
    return table, Container(library, columns=tuple(names))


def column_names(table: Any) -> list[Any] | None:
    """Return column names of a pandas, polars or pyarrow table; None for anything else."""
    names = getattr(table, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None else list(names)


def row_index(table: Any) -> Any:
    """Return the row index of a pandas object, None for anything else."""
    if type(table).__module__.partition(".")[0] == "pandas":
        return table.index
    return None


def _fit_columns(columns: tuple[Any, ...], width: int) -> list[Any]:
    """Column names for a table that may have become wider than the one that came."""
    return [*columns[:width], *(f"level_{i}" for i in range(len(columns), width))]


def _as_objects(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _plain(values: Any) -> list[Any]:
    cells = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [None if is_padding(cell) else cell for cell in cells]
