"""Unwrap tables and columns of pandas, polars and pyarrow, and wrap predictions again.

No library is imported unless one of its objects is passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.core import columns as one_column
from palmette.core.values import shown
from palmette.exceptions import LabelError

__all__ = ["Container", "column_names", "row_index", "unwrap"]


@dataclass(frozen=True)
class Container:
    """The type of object that held `y`, without its values.

    Parameters
    ----------
    library : {"numpy", "list", "sparse", "pandas", "polars", "pyarrow"}
    kind : type or None
        Class of the object, if the library has several.
    columns : tuple or None
        Column names of a table; None for a single column.
    is_numbered : bool
        Whether the column names are default numbers that the user did not choose.
    name : object
        Name of a single column.
    dtype : object
        Type of the column in its own library, or tuple of the column types of a table.
    """

    library: str
    kind: Any = None
    columns: tuple[Any, ...] | None = None
    is_numbered: bool = False
    name: Any = None
    dtype: Any = None

    def wrap(self, values: NDArray[Any], index: Any = None) -> Any:
        """Put a 1-D or 2-D array into an object of this type."""
        if self.library == "pandas":
            return self._wrap_pandas(values, index)
        if self.library == "polars":
            return self._wrap_polars(values)
        if self.library == "pyarrow":
            return self._wrap_pyarrow(values)
        if self.library == "list":
            return (self.kind or list)(values.tolist())
        return values

    def _wrap_pandas(self, values: NDArray[Any], index: Any) -> Any:
        import pandas as pd

        if self.columns is None:
            return one_column.to_pandas(values, self.dtype, index, self.name)
        names, dtypes = self._fit_columns(values.shape[1])
        if all(dtype == values.dtype for dtype in dtypes):
            frame = pd.DataFrame(values, index=index, dtype=values.dtype)
        else:
            series = [one_column.to_pandas(values[:, i], d, index) for i, d in enumerate(dtypes)]
            frame = pd.DataFrame(dict(enumerate(series)), index=index)
        frame.columns = pd.RangeIndex(len(names)) if self.is_numbered else pd.Index(names)
        return frame

    def _wrap_polars(self, values: NDArray[Any]) -> Any:
        import polars as pl

        if self.columns is None:
            return one_column.to_polars(values, self.dtype, self.name)
        names, dtypes = self._fit_columns(values.shape[1])
        parts = zip(values.T, dtypes, names, strict=True)
        return pl.DataFrame([one_column.to_polars(*part) for part in parts])

    def _wrap_pyarrow(self, values: NDArray[Any]) -> Any:
        import pyarrow as pa

        if self.columns is None:
            array = one_column.to_pyarrow(values, self.dtype)
            return pa.chunked_array([array]) if self.kind is pa.ChunkedArray else array
        names, dtypes = self._fit_columns(values.shape[1])
        arrays = [one_column.to_pyarrow(c, d) for c, d in zip(values.T, dtypes, strict=True)]
        return self.kind.from_arrays(arrays, names=names)

    def _fit_columns(self, width: int) -> tuple[list[Any], list[Any]]:
        """Return names and types of `width` columns, which may be more than `y` had."""
        columns = self.columns or ()
        more = range(len(columns), width)
        return [*columns, *map("level_{}".format, more)], [*(self.dtype or ()), *[None] * len(more)]


def unwrap(y: Any) -> tuple[Any, Container]:
    """Split `y` into plain values and their container.

    Returns
    -------
    values : array, list or sparse array
        Columns as in `palmette.core.columns`.
    container : Container
    """
    if sparse.issparse(y):
        if y.ndim != 2:
            raise LabelError(f"y is a sparse array of shape {y.shape}: expected 2 dimensions.")
        return sparse.csr_array(y), Container("sparse", kind=type(y))
    read = _READERS.get(type(y).__module__.partition(".")[0])
    found = None if read is None else read(y)
    if found is not None:
        return found
    if isinstance(y, np.ma.MaskedArray):
        values = np.array(y.data, dtype=object)
        values[np.ma.getmaskarray(y)] = None
        return values, Container("numpy")
    if isinstance(y, list | tuple):
        return list(y), Container("list", kind=tuple if isinstance(y, tuple) else list)
    if hasattr(y, "__array__"):
        try:
            return np.asarray(y), Container("numpy")
        except Exception as error:  # this runs code of other libraries
            raise LabelError(f"y of type {type(y).__name__} has no array: {error}") from error
    if isinstance(y, Sequence) and not isinstance(y, str | bytes | bytearray | memoryview):
        return list(y), Container("list", kind=list)
    raise LabelError(
        f"y is {shown(y)} of type {type(y).__name__}: expected one label per row, such as a list, "
        "an array or a column of a table."
    )


# ---------------------------------------------------------------------- one reader per library


def _unwrap_pandas(y: Any) -> tuple[NDArray[Any], Container] | None:
    import pandas as pd

    if isinstance(y, pd.DataFrame):
        columns = [one_column.from_pandas(y.iloc[:, i]) for i in range(y.shape[1])]
        container = Container(
            "pandas",
            columns=tuple(y.columns),
            is_numbered=isinstance(y.columns, pd.RangeIndex),
            dtype=tuple(y.dtypes),
        )
        return one_column.stack_columns(columns, len(y)), container
    if isinstance(y, pd.Series):
        return one_column.from_pandas(y), Container("pandas", name=y.name, dtype=y.dtype)
    return None  # an index or an extension array, which __array__ converts


def _unwrap_polars(y: Any) -> tuple[NDArray[Any], Container] | None:
    import polars as pl

    if isinstance(y, pl.DataFrame):
        columns = [one_column.from_polars(column) for column in y.get_columns()]
        container = Container("polars", columns=tuple(y.columns), dtype=tuple(y.dtypes))
        return one_column.stack_columns(columns, y.height), container
    if isinstance(y, pl.Series):
        return one_column.from_polars(y), Container("polars", name=y.name, dtype=y.dtype)
    return None


def _unwrap_pyarrow(y: Any) -> tuple[NDArray[Any], Container] | None:
    import pyarrow as pa

    if isinstance(y, pa.Table | pa.RecordBatch):
        columns = [one_column.from_pyarrow(column) for column in y.columns]
        container = Container(
            "pyarrow", type(y), columns=tuple(y.column_names), dtype=tuple(y.schema.types)
        )
        return one_column.stack_columns(columns, y.num_rows), container
    if isinstance(y, pa.Array | pa.ChunkedArray):
        return one_column.from_pyarrow(y), Container("pyarrow", type(y), dtype=y.type)
    return None


_READERS: dict[str, Callable[[Any], tuple[Any, Container] | None]] = {
    "pandas": _unwrap_pandas,
    "polars": _unwrap_polars,
    "pyarrow": _unwrap_pyarrow,
}


# ---------------------------------------------------------------------- columns and rows of a table


def column_names(table: Any) -> list[Any] | None:
    """Return the column names of a pandas, polars or pyarrow table, None for anything else."""
    names = getattr(table, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None else list(names)


def row_index(table: Any) -> Any:
    """Return the row index of a pandas table or column, None for anything else."""
    if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "iloc"):
        return table.index
    return None
