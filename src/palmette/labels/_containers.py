"""Unwrap tables and columns of pandas, polars and pyarrow, and wrap predictions again.

No library is imported unless one of its objects is passed. A column of numbers becomes a
numeric array; any other column, or one with missing numbers, becomes an object array. Converted
back, the column has its former type if that type can represent the values: the name of an
internal node does not fit in a column of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from palmette.exceptions import LabelError
from palmette.hierarchy._names import as_list, is_padding, object_array, shown

if TYPE_CHECKING:
    from palmette.hierarchy._hierarchy import Hierarchy

_NUMBERS = frozenset("biuf")  # kinds of numpy types that are numbers or flags
_REFUSALS = (TypeError, ValueError, OverflowError, NotImplementedError)


def from_pandas(column: Any) -> NDArray[Any]:
    """Return the values of a pandas Series."""
    if isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy())
    values = np.asarray(column.astype(object).to_numpy() if column.hasnans else column.to_numpy())
    return values if values.dtype.kind in _NUMBERS else object_array(as_list(values))


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
        table[:, i] = object_array(as_list(column))
    return table


class LabelArray(np.ndarray):
    """An array of labels that carries their hierarchy, which `fit` and metrics use.

    Rows that are taken from it carry the hierarchy too; results of computations are plain arrays.

    Parameters
    ----------
    labels : array, or list of sets, of n_samples rows
    hierarchy : Hierarchy
        Contains all labels.

    Examples
    --------
    >>> from palmette import Hierarchy
    >>> h = Hierarchy.from_paths([("animal", "cat"), ("animal", "dog")])
    >>> y = LabelArray(["cat", "dog", "cat"], h)
    >>> y[1:].tolist(), y[1:].hierarchy is h, y == "cat"
    (['dog', 'cat'], True, array([ True, False,  True]))
    """

    hierarchy: Hierarchy | None

    def __new__(cls, labels: Any, hierarchy: Hierarchy | None) -> LabelArray:
        values = object_array(labels) if isinstance(labels, list) else np.asarray(labels)
        array = values.view(cls)
        array.hierarchy = hierarchy
        return array

    def __array_finalize__(self, obj: Any) -> None:
        self.hierarchy = getattr(obj, "hierarchy", None)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array)[()] if return_scalar else np.asarray(array)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = super().__array_function__(func, types, args, kwargs)
        if func is np.concatenate and isinstance(found, np.ndarray):
            carried = {id(getattr(part, "hierarchy", None)) for part in args[0]}
            return LabelArray(found, self.hierarchy) if len(carried) == 1 else np.asarray(found)
        return found

    def __reduce__(self) -> Any:
        return LabelArray, (np.asarray(self), self.hierarchy)


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
            return to_pandas(values, self.dtype, index, self.name)
        names, dtypes = self._fit_columns(values.shape[1])
        if all(dtype == values.dtype for dtype in dtypes):
            frame = pd.DataFrame(values, index=index, dtype=values.dtype)
        else:
            series = [to_pandas(values[:, i], d, index) for i, d in enumerate(dtypes)]
            frame = pd.DataFrame(dict(enumerate(series)), index=index)
        frame.columns = pd.RangeIndex(len(names)) if self.is_numbered else pd.Index(names)
        return frame

    def _wrap_polars(self, values: NDArray[Any]) -> Any:
        import polars as pl

        if self.columns is None:
            return to_polars(values, self.dtype, self.name)
        names, dtypes = self._fit_columns(values.shape[1])
        parts = zip(values.T, dtypes, names, strict=True)
        return pl.DataFrame([to_polars(*part) for part in parts])

    def _wrap_pyarrow(self, values: NDArray[Any]) -> Any:
        import pyarrow as pa

        if self.columns is None:
            array = to_pyarrow(values, self.dtype)
            return pa.chunked_array([array]) if self.kind is pa.ChunkedArray else array
        names, dtypes = self._fit_columns(values.shape[1])
        arrays = [to_pyarrow(c, d) for c, d in zip(values.T, dtypes, strict=True)]
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
        Columns as in `palmette.labels._containers`.
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
        columns = [from_pandas(y.iloc[:, i]) for i in range(y.shape[1])]
        container = Container(
            "pandas",
            columns=tuple(y.columns),
            is_numbered=isinstance(y.columns, pd.RangeIndex),
            dtype=tuple(y.dtypes),
        )
        return stack_columns(columns, len(y)), container
    if isinstance(y, pd.Series):
        return from_pandas(y), Container("pandas", name=y.name, dtype=y.dtype)
    return None  # an index or an extension array, which __array__ converts


def _unwrap_polars(y: Any) -> tuple[NDArray[Any], Container] | None:
    import polars as pl

    if isinstance(y, pl.DataFrame):
        columns = [from_polars(column) for column in y.get_columns()]
        container = Container("polars", columns=tuple(y.columns), dtype=tuple(y.dtypes))
        return stack_columns(columns, y.height), container
    if isinstance(y, pl.Series):
        return from_polars(y), Container("polars", name=y.name, dtype=y.dtype)
    return None


def _unwrap_pyarrow(y: Any) -> tuple[NDArray[Any], Container] | None:
    import pyarrow as pa

    if isinstance(y, pa.Table | pa.RecordBatch):
        columns = [from_pyarrow(column) for column in y.columns]
        container = Container(
            "pyarrow", type(y), columns=tuple(y.column_names), dtype=tuple(y.schema.types)
        )
        return stack_columns(columns, y.num_rows), container
    if isinstance(y, pa.Array | pa.ChunkedArray):
        return from_pyarrow(y), Container("pyarrow", type(y), dtype=y.type)
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
