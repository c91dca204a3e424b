"""Reading tables whole or in chunks of rows: CSV, TSV, JSON lines, Parquet, Excel."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from palmette.exceptions import PalmetteError, ReadError
from palmette.table._sources import TableSource, reading

if TYPE_CHECKING:
    import pandas as pd

CHUNK_ROWS = 20_000
_MAX_CELLS = 2**28  # of a table that is read whole
_DELIMITERS = ",;\t|"
_PEEK = 2**16  # bytes that are inspected before reading
_MAX_CELL_CHARACTERS = min(2**28, sys.maxsize)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


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

    Cells of CSV and TSV files stay text; empty ones are missing.
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
    """Read a table in chunks of rows, one in memory at a time; Excel files are read whole.

    Parameters
    ----------
    source : TableSource
    rows : int
        Maximum number of rows of a chunk.

    Yields
    ------
    pandas.DataFrame
        At least one row each, all with the same columns. A table without rows is an error.
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
    """Raise an error for two columns of the same name, or no columns."""
    twice = [name for i, name in enumerate(names) if name in names[:i]] if names else []
    if twice:
        raise ReadError(f"two columns have the name {twice[0]!r}: rename one", path=title)
    if not names:
        raise ReadError("the table has no columns", path=title)


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


# ---------------------------------------------------------------------- CSV and TSV


def delimited_chunks(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    """Read CSV or TSV in chunks; see `read_chunks`. Cells stay text."""
    import pandas as pd

    with source.open() as binary:
        text = _as_text(binary, source)
        reader: Any = None
        try:
            reader = _reader(text, source)
            with _long_cells():
                header = _header(next(reader))
            filled = _rows_of(reader, len(header), source)
            while lines := _take(filled, rows):
                columns = enumerate(zip(*lines, strict=True))
                cells = {i: [cell or None for cell in column] for i, column in columns}
                yield pd.DataFrame(cells, dtype=object).set_axis(header, axis=1)
        except csv.Error as error:
            raise ReadError(
                f"the row cannot be read ({error})", path=source.title, line=reader.line_num
            ) from error
        except UnicodeDecodeError as error:
            raise ReadError(
                f"the text near this line is not {error.encoding} (byte "
                f"0x{error.object[error.start]:02x}). Pass its encoding, such as --encoding "
                "latin-1",
                path=source.title,
                line=1 if reader is None else reader.line_num + 1,
            ) from error


@contextmanager
def _long_cells() -> Iterator[None]:
    """Allow long cells, and restore the limit, which the whole process shares."""
    before = csv.field_size_limit(_MAX_CELL_CHARACTERS)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _take(lines: Iterator[list[str]], rows: int) -> list[list[str]]:
    with _long_cells():
        return list(islice(lines, rows))


def likely_delimiter(line: str) -> str:
    """Return the most likely delimiter of a header; a comma by default.

    Examples
    --------
    >>> likely_delimiter("title;price, net;kind")
    ';'
    """
    counts = {mark: line.count(mark) for mark in _DELIMITERS}
    return max(_DELIMITERS, key=lambda mark: counts[mark])


def _as_text(binary: Any, source: TableSource) -> io.TextIOWrapper:
    buffered = _peekable(binary)
    start = buffered.peek(_PEEK)[:_PEEK]
    encoding = source.encoding or next(
        (name for mark, name in _BYTE_ORDER_MARKS if start.startswith(mark)), "utf-8"
    )
    if b"\0" in start and not encoding.replace("-", "").lower().startswith(("utf16", "utf32")):
        raise ReadError("this is a binary file: expected a table in text", path=source.title)
    return io.TextIOWrapper(buffered, encoding=encoding, newline="")


def _reader(text: io.TextIOWrapper, source: TableSource) -> Any:
    """Return a reader of rows, from the first line on, which determines the delimiter."""
    first = text.readline()
    while first and not first.strip():
        first = text.readline()
    if not first:
        raise ReadError("the file is empty: expected a line with column names", path=source.title)
    if source.delimiter is not None:
        delimiter = source.delimiter
    else:
        delimiter = "\t" if source.format == "tsv" else likely_delimiter(first)

    def lines() -> Iterator[str]:
        yield first
        yield from text

    return csv.reader(lines(), delimiter=delimiter, strict=True)


def _header(cells: list[str]) -> list[str]:
    return [cell.strip() or f"column {i + 1}" for i, cell in enumerate(cells)]


def _rows_of(reader: Any, width: int, source: TableSource) -> Iterator[list[str]]:
    for row in reader:
        if len(row) == width:
            yield row
        elif row:
            raise ReadError(
                f"the row has {len(row)} cells, but the first line has {width} columns. Put "
                "cells that contain the delimiter in double quotes, or correct the row",
                path=source.title,
                line=reader.line_num,
            )


def _peekable(binary: Any) -> Any:
    return binary if hasattr(binary, "peek") else io.BufferedReader(binary)


# ---------------------------------------------------------------------- JSON lines


def json_chunks(source: TableSource, rows: int) -> Iterator[pd.DataFrame]:
    """Read JSON objects in chunks, one per line or in one list; see `read_chunks`.

    The columns are the keys of the first chunk. Objects may lack some of them, which are then
    missing values; a new key in a later chunk is an error.
    """
    import pandas as pd

    with source.open() as binary:
        buffered = _peekable(binary)
        is_list = buffered.peek(_PEEK)[:_PEEK].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        text = io.TextIOWrapper(buffered, encoding=source.encoding or "utf-8-sig")
        objects = _listed(text, source) if is_list else _by_line(text, source)
        names: list[str] | None = None
        while part := list(islice(objects, rows)):
            keys = dict.fromkeys(key for _, record in part for key in record)
            if names is None:
                names = list(keys)
            for key in keys:
                if key not in names:
                    line = next(number for number, record in part if key in record)
                    raise ReadError(
                        f"the key {key!r} does not occur in the first rows "
                        f"({', '.join(names[:10])}). Add it to the first object, as null",
                        path=source.title,
                        line=line,
                    )
            yield pd.DataFrame(
                {i: [record.get(name) for _, record in part] for i, name in enumerate(names)},
                dtype=object,
            ).set_axis(names, axis=1)


def _by_line(text: Any, source: TableSource) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            column = getattr(error, "colno", 1) - 1
            raise ReadError(
                f"this is not a JSON object ({getattr(error, 'msg', 'too deep')})",
                path=source.title,
                line=number,
                text=line,
                column=column,
            ) from error
        yield number, _require_object(record, number, source)


def _listed(text: Any, source: TableSource) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        records = json.load(text)
    except json.JSONDecodeError as error:
        raise ReadError(
            f"this is not a JSON list ({error.msg})", path=source.title, line=error.lineno
        ) from error
    for number, record in enumerate(records, start=1):
        yield number, _require_object(record, number, source)


def _require_object(record: Any, number: int, source: TableSource) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise ReadError(
            f'expected an object, such as {{"title": "..."}}, got a {type(record).__name__}',
            path=source.title,
            line=number,
        )
    return record


_READERS = {
    "csv": delimited_chunks,
    "tsv": delimited_chunks,
    "jsonl": json_chunks,
    "parquet": _parquet,
    "excel": _excel,
}
