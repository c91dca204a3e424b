"""Reading tables whole or by chunks of rows, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from palmette.exceptions import PalmetteError, ReadError
from palmette.table.delimited import delimited_chunks
from palmette.table.json_lines import json_chunks
from palmette.table.sources import TableSource, reading

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CHUNK_ROWS", "as_frame", "read_chunks", "read_whole"]

CHUNK_ROWS = 20_000
_MAX_CELLS = 2**28  # of a table that is read whole


def as_frame(table: Any) -> pd.DataFrame:
    """Return a table as a pandas DataFrame: a frame, the name of a file, or a `TableSource`.

    Parameters
    ----------
    table : DataFrame of pandas, polars or pyarrow, path-like, dict of columns or TableSource

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> as_frame({"price": [2.5, 30.0]}).shape
    (2, 1)
    """
    import pandas as pd

    if isinstance(table, TableSource):
        return read_whole(table)
    if isinstance(table, str | os.PathLike):
        return read_whole(TableSource.of(table))
    if isinstance(table, pd.DataFrame):
        frame = table
    elif isinstance(table, dict):
        frame = pd.DataFrame(table)
    elif hasattr(table, "to_pandas"):  # polars, pyarrow
        frame = table.to_pandas()
    else:
        raise PalmetteError(
            f"table is a {type(table).__name__}: expected a DataFrame or the name of a file."
        )
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    require_distinct(list(frame.columns), "the table")
    return frame


def read_whole(source: TableSource) -> pd.DataFrame:
    """Read all rows of a table.

    Cells of CSV and TSV files stay text, as they are written; empty ones are missing.
    """
    import pandas as pd

    parts, cells = [], 0
    for part in read_chunks(source, rows=50_000):
        parts.append(part)
        cells += part.size
        if cells > _MAX_CELLS:
            raise ReadError(
                f"the table has more than {_MAX_CELLS:,} cells. Split it, or drop columns",
                path=source.title,
            )
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def read_chunks(source: TableSource, rows: int = CHUNK_ROWS) -> Iterator[pd.DataFrame]:
    """Read a table by chunks of rows; one chunk at a time is in memory, but Excel comes whole.

    Parameters
    ----------
    source : TableSource
    rows : int
        Most rows of a chunk.

    Yields
    ------
    pandas.DataFrame
        At least one row each, all with the same columns; a table without rows is an error.
    """
    if rows < 1:
        raise PalmetteError(f"rows={rows!r}: expected a positive number of rows.")
    source.require()
    found = 0
    with reading(source):
        for frame in _READERS[source.format](source, rows):
            if not found:
                require_distinct(list(frame.columns), source.title)
            found += len(frame)
            if len(frame):
                yield frame.reset_index(drop=True)
    if not found:
        raise ReadError("the table has no rows", path=source.title)


def require_distinct(names: list[str], title: str) -> None:
    """Refuse a table in which two columns have one name."""
    twice = [name for i, name in enumerate(names) if name in names[:i]] if names else []
    if twice:
        raise ReadError(f"two columns are called {twice[0]!r}: rename one", path=title)
    if not names:
        raise ReadError("the table has no columns", path=title)


def _delimited(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    return delimited_chunks(source, rows)


def _json(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    return json_chunks(source, rows)


def _parquet(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.open_seekable()) as file:
        names = [str(name) for name in file.schema_arrow.names]
        require_distinct(names, source.title)
        for batch in file.iter_batches(batch_size=rows):
            yield batch.to_pandas().set_axis(names, axis=1)


def _excel(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    import pandas as pd

    sheet = 0 if source.sheet is None else source.sheet
    grid = pd.read_excel(
        source.open_seekable(), sheet_name=sheet, header=None, dtype=object, engine="openpyxl"
    )
    if not len(grid):
        raise ReadError("the sheet is empty", path=source.title)
    names = [
        f"column {i + 1}" if pd.isna(name) else str(name) for i, name in enumerate(grid.iloc[0])
    ]
    frame = grid.iloc[1:].set_axis(names, axis=1)
    for start in range(0, len(frame), rows):
        yield frame.iloc[start : start + rows]


_READERS = {
    "csv": _delimited,
    "tsv": _delimited,
    "jsonl": _json,
    "parquet": _parquet,
    "excel": _excel,
}
