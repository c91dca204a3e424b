"""Rows of binary files: Parquet and workbooks, which may be larger than their bytes tell."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from palmette._arrays import free_memory
from palmette._text import listed
from palmette.exceptions import ReadError
from palmette.table._delimited import (
    MAX_CELLS,
    Part,
    numbered_columns,
    refuse,
    require_distinct,
)
from palmette.table._sources import TableSource

if TYPE_CHECKING:
    import pandas as pd

_EXACT = 2**53  # integers up to which floats hold all

# ---------------------------------------------------------------------- Parquet


def parquet_parts(source: TableSource, rows: int) -> Iterator[Part]:
    """Read Parquet in chunks; see `palmette.table._reading.read_parts`."""
    import pandas as pd
    import pyarrow.parquet as pq

    with pq.ParquetFile(source.open_seekable()) as file:
        names = [str(name) for name in file.schema_arrow.names]
        require_distinct(names, source.title)
        first_row = 1
        for batch in file.iter_batches(batch_size=rows):
            kept = np.ones(len(batch), dtype=bool)
            columns = [
                _column(column, name, source, first_row, kept)
                for name, column in zip(names, batch.columns, strict=True)
            ]
            frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
            yield Part(frame if kept.all() else frame[kept])
            first_row += len(batch)


def _column(
    column: Any, name: str, source: TableSource, first_row: int, kept: NDArray[np.bool_]
) -> pd.Series[Any]:
    """Return a column of pandas; `kept` gets False where bytes are no text."""
    import pandas as pd
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) and column.null_count:
        found = column.to_pandas()
        is_exact = not found.abs().max() > _EXACT  # as a float, which has place for missing values
        return found if is_exact else pd.Series(column.to_pylist(), dtype=object)
    try:
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            column.validate(full=True)
        return column.to_pandas()
    except pa.ArrowException:
        is_large = pa.types.is_large_string(kind)
        if not (is_large or pa.types.is_string(kind)):
            raise
    texts: list[str | None] = []
    encoding = source.encoding or "utf-8"
    raw = column.view(pa.large_binary() if is_large else pa.binary())
    for row, cell in enumerate(raw.to_pylist()):
        try:
            texts.append(None if cell is None else cell.decode(encoding))
        except UnicodeDecodeError as error:
            texts.append(None)
            kept[row] = False
            byte = f"byte 0x{cell[error.start]:02x}"
            refuse(
                source, None, f"the column {name!r} of row {first_row + row} is not text in "
                f"{encoding} ({byte})", "Pass its encoding, such as --encoding latin-1", repr(cell),
            )  # fmt: skip
    return pd.Series(texts, dtype=object)


# ---------------------------------------------------------------------- workbooks

_MAX_SHEET_ROWS = 2**20  # of spreadsheets
_STRING_MEMORY = 8  # bytes of memory per byte of the texts of a workbook
_PIECE = 2**20
_SHEET_NAME = re.compile(r"<(?:\w+:)?sheet\s[^<>]*?\bname=\"([^\"]*)\"")
_SHEET = re.compile(r"xl/worksheets/[^/]*\.xml", re.IGNORECASE)
_ROW = re.compile(rb"<(?:\w+:)?row\b(?:[^<>]*?\sr=[\"'](\d+))?")
_COLUMN = re.compile(rb"<(?:\w+:)?c\s[^<>]*?\br=[\"']([A-Za-z]+)")


def other_sheets(source: TableSource) -> list[str]:
    """Return the sheets of a workbook behind the first one, if that is read since none is named.

    Parameters
    ----------
    source : TableSource
    """
    if source.format != "excel" or source.sheet is not None or len(source.parts()) > 1:
        return []
    with suppress(KeyError, OSError, zipfile.BadZipFile):
        with zipfile.ZipFile(source.open_seekable()) as archive:
            text = archive.read("xl/workbook.xml").decode("utf-8", "replace")
        return [html.unescape(name) for name in _SHEET_NAME.findall(text)][1:]
    return []


def workbook_parts(source: TableSource, rows: int) -> Iterator[Part]:
    """Read a sheet in chunks; see `palmette.table._reading.read_parts`. It is read whole before."""
    import pandas as pd

    stream = source.open_seekable()
    _check_sizes(stream, source.title)
    sheet = 0 if source.sheet is None else source.sheet
    # only an empty cell is empty: words such as NA and None may be labels
    workbook = pd.ExcelFile(stream, engine="openpyxl")
    grid = pd.read_excel(
        workbook, sheet_name=sheet, header=None, dtype=object, keep_default_na=False, na_values=[""]
    )
    if not len(grid):
        others = [name for name in workbook.sheet_names[1:] if source.sheet is None]
        advice = f". Others are {listed(others)}: pass --sheet {others[0]!r}" if others else ""
        raise ReadError(f"the {'first ' * bool(others)}sheet is empty{advice}", path=source.title)
    if source.header:
        named = enumerate(grid.iloc[0])
        names = [f"column {i + 1}" if pd.isna(name) else str(name) for i, name in named]
        frame = grid.iloc[1:].set_axis(names, axis=1)
    else:
        frame = grid.set_axis(numbered_columns(grid.shape[1]), axis=1)
    lines = frame.index.to_numpy(dtype=np.int64) + 1
    for start in range(0, len(frame), rows):
        yield Part(frame.iloc[start : start + rows], lines[start : start + rows])


def _check_sizes(stream: Any, title: str) -> None:
    """Raise an error for a workbook that is too large for the memory, before it is read."""
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            if member.filename.lower() == "xl/sharedstrings.xml":
                if member.file_size * _STRING_MEMORY > free_memory():
                    raise ReadError(
                        f"the texts of the workbook have {member.file_size:,} bytes, which need "
                        "more memory than is free. Save it as CSV",
                        path=title,
                    )
            elif _SHEET.fullmatch(member.filename):
                _check_extent(*_extent(archive, member), title)
    if hasattr(stream, "seek"):
        stream.seek(0)


def _check_extent(n_rows: int, n_columns: int, title: str) -> None:
    if n_rows > _MAX_SHEET_ROWS or n_rows * n_columns > MAX_CELLS:
        raise ReadError(
            f"a sheet reaches to row {n_rows:,} and column {n_columns:,}: expected at most "
            f"{_MAX_SHEET_ROWS:,} rows, and {MAX_CELLS:,} cells. Delete cells far below or beside "
            "the table, or save it as CSV",
            path=title,
        )


def _extent(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[int, int]:
    """Return the numbers of rows and columns of a sheet, of which most may be empty."""
    n_rows, last_row, columns, rest = 0, 0, {b"A"}, b""
    with archive.open(member) as stream:
        while piece := stream.read(_PIECE):
            piece = rest + piece
            end = max(piece.rfind(b"<"), 0)
            found = _ROW.findall(piece, 0, end)
            n_rows += len(found)
            last_row = max([last_row, *(int(row[:9]) for row in found if row)])
            columns.update(_COLUMN.findall(piece, 0, end))
            rest = piece[end:][-_PIECE:]
            if n_rows > _MAX_SHEET_ROWS:  # enough to refuse it
                break
    return max(n_rows, last_row), max(map(_column_number, columns))


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper()[:9]:
        number = 26 * number + letter - ord("A") + 1
    return number
